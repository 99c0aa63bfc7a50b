"""What is asked of a sweep, and the points of its grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from celosia.collect.protocol import check_report_epsilon
from celosia.collect.registry import protocol_class
from celosia.collect.simulation.protocol_fit import RAPPOR_SETTINGS, TREES, settings_from_text
from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.core.methods import parameters
from celosia.core.numbers import whole

Setting = int | float | str
"""A value of a parameter."""
MOST_RUNS = 100_000
PIECES = "pieces"
"""The pieces that a fragment puzzle keeps at each position (T): of the search, not the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """A grid: every combination of what is listed here is simulated `repeats` times.

    A parameter of `vary` is varied for the protocols that have it; the others keep theirs.

    Args:
        protocol: names, each with fixed parameters if wanted: `cms`, `cms:width=64`.
        epsilon: of one report.
        users: how many report; without any, all values.
        vary: names of parameters and their values: `{"hashes": (16, 128), "width": (64, 256)}`;
            `pieces` is what a fragment puzzle keeps at each position (T).
        repeats: how often each point is run, with other hash functions and coins.
        seed: makes the sweep repeatable.

    Raises:
        InputError: CEL-R107 a list is empty or holds something else, or there are too many runs;
            CEL-I060, CEL-I061, CEL-I062 as for a single protocol.
    """

    protocol: tuple[str, ...] = ("hcms",)
    epsilon: tuple[float, ...] = (4.0,)
    users: tuple[float, ...] = ()
    vary: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)
    repeats: int = 1
    seed: int | None = None

    def __post_init__(self) -> None:
        if not self.protocol or not self.epsilon or not all(self.vary.values()):
            raise InputError("CEL-R107.empty")
        if (whole(self.repeats) or 0) < 1:
            raise InputError("CEL-R107.number", option="repeats")
        object.__setattr__(self, "users", tuple(map(_positive, self.users)))
        for price in self.epsilon:
            check_report_epsilon("sweep", price)
        self._check_parameters()
        runs = self.repeats * max(1, len(self.users)) * sum(1 for _ in self.grid())
        if runs > MOST_RUNS:
            raise InputError("CEL-R107.many", runs=runs, most=MOST_RUNS)

    def _check_parameters(self) -> None:
        known = sorted({each for name in self.protocol for each in varied_parameters(name)})
        for name in self.vary:
            if name not in known:
                raise InputError(
                    "CEL-I062" if known else "CEL-I062.none",
                    method=", ".join(self.protocol),
                    parameter=name,
                    hint=did_you_mean(name, known),
                    known=known,
                )

    def grid(self) -> Iterator[tuple[str, float, dict[str, Setting]]]:
        """Each protocol with each epsilon and each combination of the parameters that it has."""
        for text in self.protocol:
            name, fixed = settings_from_text(text)
            names = [each for each in self.vary if each in varied_parameters(text)]
            prices: Iterable[float] = [fixed.pop("epsilon")] if "epsilon" in fixed else self.epsilon
            for price in prices:
                for values in product(*(self.vary[each] for each in names)):
                    yield name, price, fixed | dict(zip(names, values, strict=True))

    def points(self, sizes: Mapping[str, int]) -> list[SweepPoint]:
        """Every point, for data sets of these numbers of values.

        Raises:
            InputError: CEL-R107 more users than a data set has.
        """
        found = []
        for data, size in sizes.items():
            if any(each > size for each in self.users):
                raise InputError("CEL-R107.users", data=data, size=size)
            for name, price, settings in self.grid():
                for users in self.users or (size,):
                    listed = tuple(sorted(settings.items()))
                    found.append(SweepPoint(data, name, float(price), int(users), listed))
        return list(dict.fromkeys(found))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "protocol": list(self.protocol),
            "epsilon": list(self.epsilon),
            "users": list(self.users),
            "vary": {name: list(values) for name, values in self.vary.items()},
            "repeats": self.repeats,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One combination of the grid."""

    data: str
    protocol: str
    epsilon: float
    users: int
    settings: tuple[tuple[str, Setting], ...] = ()

    def coordinates(self) -> dict[str, Setting]:
        """All that tells it from other points, by name."""
        return {
            "data": self.data,
            "protocol": self.protocol,
            "epsilon": self.epsilon,
            "users": self.users,
            **dict(self.settings),
        }


def varied_parameters(protocol: str) -> tuple[str, ...]:
    """The names of the parameters of a protocol that a sweep can vary.

    >>> varied_parameters("dbitflip")
    ('buckets', 'bits')
    """
    name, _ = settings_from_text(protocol)
    if name == "rappor":
        return tuple(each for each in RAPPOR_SETTINGS if each != "key")
    kind = protocol_class("pem" if name in TREES else name)
    own = tuple(
        each.name
        for each in parameters(kind)
        if each.name not in ("epsilon", "key", "domain", "alphabet", "variant")
    )
    return (*own, PIECES) if name == "sfp" else own


def values_from_list(text: str) -> tuple[Setting, ...]:
    """Values with commas between them; `a..b*f` is a, a f, a f^2 and so on up to b.

    >>> values_from_list("1,2.5,norm"), values_from_list("16..1024*4")
    ((1, 2.5, 'norm'), (16, 64, 256, 1024))

    Raises:
        InputError: CEL-R107 a range cannot be read.
    """
    found: list[Setting] = []
    for part in text.split(","):
        found += _range(part.strip()) if ".." in part else [_value(part.strip())]
    return tuple(found)


def numbers_from_list(text: str, option: str) -> tuple[float, ...]:
    """As `values_from_list`, where only numbers are allowed.

    Raises:
        InputError: CEL-R107 there is something else.
    """
    found = values_from_list(text)
    numbers = [each for each in found if not isinstance(each, str)]
    if len(numbers) < len(found):
        raise InputError("CEL-R107.number", option=option)
    return tuple(numbers)


def vary_from_texts(texts: Sequence[str]) -> dict[str, tuple[Setting, ...]]:
    """Parameters and their values from texts such as `hashes=16,128`.

    Raises:
        InputError: CEL-R107 a text has another form, or a parameter is given twice.
    """
    found: dict[str, tuple[Setting, ...]] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier() or name in found or not values:
            raise InputError("CEL-R107.vary")
        found[name] = values_from_list(values)
    return found


def _range(text: str) -> list[Setting]:
    low, _, rest = text.partition("..")
    high, _, factor = rest.partition("*")
    first, last, times = _value(low), _value(high), _value(factor or "2")
    if isinstance(first, str) or isinstance(last, str) or isinstance(times, str):
        raise InputError("CEL-R107.range", text=text)
    if first <= 0 or times <= 1 or last > first * times**64:
        raise InputError("CEL-R107.range", text=text)
    found: list[Setting] = []
    while first <= last:
        found.append(first)
        first *= times
    return found


def _positive(users: float) -> int:
    found = whole(users)
    if found is None or found < 1:
        raise InputError("CEL-R107.number", option="users")
    return found


def _value(text: str) -> Setting:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
