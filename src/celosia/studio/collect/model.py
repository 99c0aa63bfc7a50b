"""Collections to play: data, protocols, and what to show of them; it knows no toolkit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass
from math import ceil, sqrt
from typing import Any
from urllib.parse import urlencode

import numpy as np

from celosia import datasets
from celosia.collect import Protocol, choose
from celosia.collect.simulation.protocol_fit import fit_protocol
from celosia.core.errors import InputError
from celosia.core.methods import PlainValues
from celosia.core.randomness import Seeded

DATA = ("letters", "exponential", "normal", "anglicisms")
"""Made-up values that come with Celosía."""
PROTOCOLS = ("hcms", "cms", "rappor", "dbitflip", "grr", "oue", "sue", "olh", "hr", "ss", "pgr")
"""Those that estimate how common given values are."""
SHOWN = 16
"""Values that are drawn, the most common ones."""
MOST_DEVICES = 1_000_000
SNAPSHOTS = 24
EPSILONS = tuple(round(0.5 * 1.25**step, 2) for step in range(13))
"""From 0.5 to 7.3, as many to a doubling everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(PlainValues):
    """The state of a collection after some devices have reported."""

    devices: int
    shares: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    error: float
    """Root of the mean squared difference of all shown shares from the truth."""
    expected: float
    """The same as the protocol's own standard errors foretell it."""


@dataclass(slots=True, kw_only=True)
class CollectionForm:
    """What is to be played: made-up values, devices and their protocol; a page changes it."""

    data: str = "letters"
    protocol: str = "hcms"
    epsilon: float = 2.0
    """Of one report."""
    devices: int = 50_000
    seed: int = 1
    """Which values and which coins."""

    def nearest(self) -> CollectionForm:
        """What can be played, where an address asks for something else.

        >>> CollectionForm(devices=10**9, protocol="none").nearest()
        CollectionForm(data='letters', protocol='hcms', epsilon=2.0, devices=1000000, seed=1)
        """
        return CollectionForm(
            data=self.data if self.data in DATA else DATA[0],
            protocol=self.protocol if self.protocol in PROTOCOLS else PROTOCOLS[0],
            epsilon=min(max(self.epsilon, 0.1), 10.0),
            devices=min(max(self.devices, 100), MOST_DEVICES),
            seed=min(max(self.seed, 0), 10**6),
        )

    @property
    def query(self) -> str:
        """The same in an address."""
        return urlencode(asdict(self))

    @property
    def command(self) -> str:
        """The command that plays the same collection to its end."""
        return (
            f"celosia collect simulate --data {self.data}:{self.devices} "
            f"--protocol {self.protocol} --epsilon {self.epsilon:g} --seed {self.seed}"
        )

    @property
    def python(self) -> str:
        """The Python that does the same."""
        return f"""from celosia import datasets
from celosia.collect import simulate
from celosia.collect.simulation.protocol_fit import fit_protocol

values = datasets.load("{self.data}", rows={self.devices}, seed={self.seed})["value"].to_list()
protocol = fit_protocol("{self.protocol}", values, epsilon={self.epsilon:g})
print(simulate(values, protocol=protocol, seed={self.seed}))
"""


class Collection:
    """Devices with made-up values that report one after the other.

    Raises:
        InputError: CEL-W080 no such data, protocol or number of devices; or what the protocol
            refuses.
    """

    def __init__(self, form: CollectionForm) -> None:
        known = form.data in DATA and form.protocol in PROTOCOLS
        if not known or not 1 <= form.devices <= MOST_DEVICES:
            raise InputError("CEL-W080", most=MOST_DEVICES)
        self.form, devices = form, form.devices
        made = datasets.load(form.data, rows=devices, seed=form.seed)["value"]
        counts = Counter(made.to_list())
        self.candidates: tuple[Hashable, ...] = tuple(
            value for value, _count in counts.most_common(SHOWN)
        )
        self.truth = tuple(counts[each] / devices for each in self.candidates)
        self._values: Any = made.to_numpy() if made.dtype.is_numeric() else made.to_list()
        self._asked = self.candidates
        if form.protocol == "dbitflip":  # it knows buckets by their numbers only
            place = {value: at for at, value in enumerate(sorted(counts))}
            self._values = np.array([place[each] for each in made.to_list()])
            self._asked = tuple(place[each] for each in self.candidates)
        self.protocol: Protocol = fit_protocol(form.protocol, self._values, epsilon=form.epsilon)

    def play(self) -> Iterator[Snapshot]:
        """The estimates as devices report: often at first, when they change most."""
        server = self.protocol.server()
        client = self.protocol.client(rng=Seeded(self.form.seed))
        done = 0
        for edge in edges(self.form.devices):
            server.absorb(client.privatise(self._values[done:edge]))
            done = edge
            yield self._state(server.estimate(self._asked), done)

    def _state(self, found: Any, done: int) -> Snapshot:
        low, high = found.interval(0.95)
        shares = found.shares
        errors = np.where(np.isfinite(found.errors), found.errors, 0.0) / done
        off = shares - np.array(self.truth)
        return Snapshot(
            devices=done,
            shares=tuple(shares.tolist()),
            low=tuple((low / done).tolist()),
            high=tuple((high / done).tolist()),
            error=sqrt(float(np.mean(off**2))),
            expected=sqrt(float(np.mean(errors**2))),
        )

    def one_report(self, seed: int) -> list[int]:
        """The bits of the report that the first device might have sent."""
        reports = self.protocol.client(rng=Seeded(seed)).privatise(self._values[:1])
        bits: list[int] = np.unpackbits(reports.packed[0], bitorder="little").tolist()
        return bits[: self.protocol.report_bits]  # the rest fills up the last byte


def edges(devices: int) -> list[int]:
    """After how many devices to look: some looks that grow evenly in their logarithm.

    >>> edges(1000)[:3], edges(1000)[-1], edges(3)
    ([21, 25, 30], 1000, [2, 3])
    """
    first = max(1, min(devices, ceil(devices / 50) + 1))
    steps = np.geomspace(first, devices, SNAPSHOTS)
    return sorted({*np.ceil(steps).astype(int).tolist(), devices})


def compared(*, users: int, domain: int) -> dict[str, list[tuple[float, float, int]]]:
    """For each protocol, its error (as a share) and bits of a report at every epsilon.

    No data is read: the errors are those of a rare value, by the exact variances.
    """
    found: dict[str, list[tuple[float, float, int]]] = {}
    for epsilon in EPSILONS:
        for each in choose(users=users, domain=domain, epsilon=epsilon).ranked:
            found.setdefault(each.label, []).append((epsilon, each.share, each.report_bits))
    return found


def recommended(*, users: int, domain: int, epsilon: float) -> list[dict[str, Any]]:
    """The protocols that fit, the best first, as plain values."""
    return [each.as_dict() for each in choose(users=users, domain=domain, epsilon=epsilon).ranked]
