"""Numbers grouped into intervals, by equal widths or by cut points."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.methods import check_list, parameter
from celosia.tables.hierarchies.hierarchy import (
    ROOT,
    Builder,
    Hierarchy,
    check_multiples,
    distinct_texts,
    is_number,
    is_whole,
    misplaced,
)

_FORM = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?")
"""Three digits of exponent hold every float; more would let one cell fill the memory."""


class Decimal(NamedTuple):
    """The number `digits * 10**exponent`."""

    digits: int
    exponent: int

    def on_grid(self, places: int) -> int:
        """The number as a multiple of `10**-places`.

        >>> Decimal(125, -1).on_grid(2)
        1250
        """
        return int(self.digits * 10 ** (self.exponent + places))


def parse_number(text: str) -> Decimal | None:
    """The exact number that a text writes, or None when it writes none.

    >>> parse_number("12.50"), parse_number("1e3"), parse_number("twelve")
    (Decimal(digits=125, exponent=-1), Decimal(digits=1, exponent=3), None)
    """
    form = _FORM.fullmatch(text)
    if form is None or len(text) > 400:
        return None
    sign, whole, fraction, exponent = form.groups(default="")
    fraction = fraction.rstrip("0")
    digits = int(sign + whole + fraction)
    return Decimal(digits, int(exponent or 0) - len(fraction)) if digits else Decimal(0, 0)


def exact_number(number: float) -> Decimal:
    """The exact number that a parameter was written as.

    >>> exact_number(0.1), exact_number(20.0)
    (Decimal(digits=1, exponent=-1), Decimal(digits=20, exponent=0))
    """
    parsed = parse_number(repr(float(number) if isinstance(number, float) else int(number)))
    assert parsed is not None, "finite numbers are checked before"
    return parsed


def decimal_places(numbers: Iterable[Decimal]) -> int:
    """How many decimal places hold all the numbers exactly."""
    return max((-number.exponent for number in numbers if number.exponent < 0), default=0)


def plain_text(value: int, places: int) -> str:
    """A number of the grid without exponent and without idle zeros.

    >>> plain_text(1250, 2), plain_text(-5, 1), plain_text(40, 0)
    ('12.5', '-0.5', '40')
    """
    whole, fraction = divmod(abs(value), 10**places)
    tail = f"{fraction:0{places}}".rstrip("0") if places else ""
    return f"{'-' if value < 0 else ''}{whole}{'.' if tail else ''}{tail}"


MANY = 2_000
"""From this number of texts on they are read side by side, where whole numbers of 64 bits do."""
_PLAIN = r"^([+-]?)([0-9]{1,15})(?:\.([0-9]{0,15}))?$"
_LARGEST = 1 << 60
"""Differences of two such numbers fit into 64 bits."""


def many_on_grid(
    texts: list[str], parameters: Iterable[Decimal] = ()
) -> tuple[NDArray[np.int64], int] | None:
    """Many plain numbers as multiples of `10**-places`, with `places`; None where they need more.

    >>> numbers, places = many_on_grid(["12.50", "-3"] * 1000)
    >>> numbers[:2].tolist(), places
    ([125, -30], 1)
    """
    if len(texts) < MANY:
        return None
    parts = pl.Series("text", texts).str.extract_groups(_PLAIN).struct.unnest()
    sign, whole, fraction = parts.rename(dict(zip(parts.columns, "swf", strict=True))).get_columns()
    if whole.null_count():
        return None
    fraction = fraction.fill_null("").str.strip_chars_end("0")
    longest: int = fraction.str.len_bytes().max()  # type: ignore[assignment]
    places = max(longest, decimal_places(parameters))
    digits: int = whole.str.len_bytes().max()  # type: ignore[assignment]
    if digits + places > 18:
        return None
    found = (whole + fraction.str.pad_end(places, "0")).cast(pl.Int64).to_numpy()
    return np.where(sign.to_numpy() == "-", -found, found), places


Interval = tuple[int | None, int | None]
"""Lower end (inside) and upper end (outside) in steps of the grid; None where it is open."""
LARGEST_DOMAIN = 1_000_000
"""More leaves than this are a slip of the pen, and would only fill the memory."""


def _check_number(value: Any) -> float:
    if not is_number(value):
        raise ValueError
    number: float = value  # as it was written: a whole number stays one
    return number


def _check_numbers(value: Any) -> tuple[float, ...]:
    return tuple(map(_check_number, check_list(value)))


def _check_widths(value: Any) -> tuple[float, ...]:
    widths = _check_numbers(value)
    if min(widths, default=1) <= 0:
        raise ValueError
    return widths


def _check_bounds(value: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(map(_check_numbers, check_list(value)))


def _check_domain(value: Any) -> tuple[int, int]:
    low, high = check_list(value)
    if not (is_whole(low) and is_whole(high) and 0 <= high - low < LARGEST_DOMAIN):
        raise ValueError
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals(Builder):
    """Intervals of growing width above each number, closed on the left and open on the right.

    Ends are exact, in decimals as written: 0.3 is in [0.3, 0.4), whatever a float thinks.

    Args:
        widths: one width per level, each a multiple of the one before.
        start: with `widths`, where the first interval begins.
        bounds: instead of `widths`, one list of cut points per level, each a subset of the one
            below. The last cut is outside the last interval.
        open_below: adds a group such as '< 20' for everything before the first cut (or `start`).
        open_above: adds a group such as '>= 60' from the last cut on; only with `bounds`.
        domain: first and last whole number; the leaves are then all numbers between them, seen or
            not. Loss counts leaves, so this makes it independent of who happens to be in the data.
        style: 'range' for labels such as '21-40' (whole numbers, both ends inside; ' to ' instead
            of '-' when an end is negative), 'bracket' for '[20, 30['. By default, range if all
            values and cuts are whole numbers, else bracket.

    >>> age = Intervals(widths=(5, 10, 20), start=1, domain=(1, 100)).build(pl.Series([17, 40]))
    >>> [age.label("40", level=level) for level in range(age.levels)]
    ['40', '36-40', '31-40', '21-40', '*']
    >>> age = Intervals(bounds=((20, 30, 40, 60),), style="bracket").build(pl.Series([29, 30, 59]))
    >>> [age.label(leaf, level=1) for leaf in age.leaves]
    ['[20, 30[', '[30, 40[', '[40, 60[']
    """

    method_name: ClassVar[str] = "intervals"

    widths: Sequence[float] = parameter(
        (), check=_check_widths, allowed="tables.must_be.positive_numbers", start=(5, 10, 20)
    )
    start: float = parameter(0, kind="number", check=_check_number)
    bounds: Sequence[Sequence[float]] = parameter(
        (), check=_check_bounds, allowed="tables.must_be.lists_of_numbers"
    )
    open_below: bool = False
    open_above: bool = False
    domain: Sequence[int] | None = parameter(
        None, check=_check_domain, most=LARGEST_DOMAIN, allowed="tables.must_be.domain"
    )
    style: Literal["range", "bracket"] | None = None

    def check(self) -> None:
        """Refuse widths and bounds at once, levels that do not nest, and a domain outside them."""
        if bool(self.widths) == bool(self.bounds):
            raise InputError("CEL-H022.widths_or_bounds")
        if self.widths:
            self._check_nested_widths()
        else:
            self._check_nested_bounds()
        if self.domain is not None:
            self._check_domain_inside(*self.domain)

    def build(self, values: pl.Series) -> Hierarchy:
        """The values (or the whole domain) in numeric order, one level per width or list of cuts.

        Raises:
            InputError: CEL-H023 not a number, CEL-H024 outside the intervals or the domain,
                CEL-H025 a fraction under the style 'range'.
        """
        texts = distinct_texts(values)
        if self.domain is not None:
            texts = self._domain_texts(texts)
        parameters = self._parameters()
        many = many_on_grid(texts, parameters)
        if many is not None and self._fits(parameters, places=many[1]):
            return self._build_many(texts, *many)
        parsed = _parse(texts)
        places = decimal_places([*parsed, *parameters])
        numbers = [number.on_grid(places) for number in parsed]
        low, high = self._ends(places)
        _check_inside(
            at
            for at, number in enumerate(numbers)
            if (low is not None and number < low) or (high is not None and number >= high)
        )
        one = 10**places
        ranged = self._is_ranged([at for at, number in enumerate(numbers) if number % one])
        columns = [
            labels(level, places=places, ranged=ranged)
            for level in self._intervals(numbers, places)
        ]
        order = sorted(range(len(texts)), key=numbers.__getitem__)
        return Hierarchy.from_paths(
            (texts[at], *(column[at] for column in columns), ROOT) for at in order
        )

    def _build_many(self, texts: list[str], numbers: NDArray[np.int64], places: int) -> Hierarchy:
        """As `build` does, number beside number."""
        low, high = self._ends(places)
        outside = np.zeros(numbers.size, dtype=np.bool_)
        if low is not None:
            outside |= numbers < low
        if high is not None:
            outside |= numbers >= high
        _check_inside(np.flatnonzero(outside).tolist())
        ranged = self._is_ranged(np.flatnonzero(numbers % 10**places).tolist())
        order = np.argsort(numbers, kind="stable")
        rising = numbers[order]
        names = [tuple(pl.Series(texts).gather(order).to_list())]
        nodes = [np.arange(numbers.size)]
        for level, group in enumerate(self._groups(rising, places)):
            begins = np.append(True, np.diff(group) != 0)  # equal groups stand side by side
            intervals = self._intervals(rising[begins].tolist(), places)[level]
            names.append(tuple(labels(intervals, places=places, ranged=ranged)))
            nodes.append(np.cumsum(begins) - 1)
        nodes.append(np.zeros_like(nodes[0]))
        return Hierarchy((*names, (ROOT,)), np.stack(nodes).astype(np.int32))

    def _groups(self, rising: NDArray[np.int64], places: int) -> list[NDArray[np.int64]]:
        """For each level the group of each number: numbers of one interval have the same."""
        start = exact_number(self.start).on_grid(places)
        if self.widths:
            widths = [exact_number(width).on_grid(places) for width in self.widths]
            return [np.where(rising < start, -1, (rising - start) // each) for each in widths]
        bounds = [[exact_number(cut).on_grid(places) for cut in cuts] for cuts in self.bounds]
        return [np.searchsorted(cuts, rising, side="right") for cuts in bounds]

    @staticmethod
    def _fits(parameters: list[Decimal], *, places: int) -> bool:
        return all(abs(each.on_grid(places)) < _LARGEST for each in parameters)

    def _check_nested_widths(self) -> None:
        if self.open_above:
            raise InputError("CEL-H022.open_above")
        exact = [exact_number(width) for width in self.widths]
        places = decimal_places(exact)
        check_multiples(self.method_name, "widths", [width.on_grid(places) for width in exact])

    def _check_nested_bounds(self) -> None:
        if self.start != 0:
            raise InputError("CEL-H022.start")
        for level, cuts in enumerate(self.bounds, start=1):
            groups = len(cuts) - 1 + self.open_below + self.open_above
            if not cuts or groups < 1 or list(cuts) != sorted(set(cuts)):
                raise InputError("CEL-H022.cuts", level=level)
        for level in range(1, len(self.bounds)):
            below, above = self.bounds[level - 1], self.bounds[level]
            same_first = self.open_below or above[0] == below[0]
            same_last = self.open_above or above[-1] == below[-1]
            if not (set(above) <= set(below) and same_first and same_last):
                raise InputError("CEL-H021.cuts_not_nested", lower=level, level=level + 1)

    def _check_domain_inside(self, low: int, high: int) -> None:
        first = self.start if self.widths else self.bounds[0][0]
        last = high + 1 if self.widths else self.bounds[0][-1]
        if (low < first and not self.open_below) or (high >= last and not self.open_above):
            raise InputError("CEL-H022.domain")

    def _domain_texts(self, texts: list[str]) -> list[str]:
        assert self.domain is not None
        low, high = self.domain
        domain = [str(number) for number in range(low, high + 1)]
        known = set(domain)
        if outside := [at for at, text in enumerate(texts) if text not in known]:
            raise misplaced("CEL-H024.domain", outside, low=low, high=high)
        return domain

    def _parameters(self) -> list[Decimal]:
        cuts = [cut for level in self.bounds for cut in level]
        return [exact_number(number) for number in (*self.widths, self.start, *cuts)]

    def _is_ranged(self, broken: list[int]) -> bool:
        """Whether labels are ranges of whole numbers, given where numbers are not whole."""
        whole_cuts = all(number.exponent >= 0 for number in self._parameters())
        if self.style == "range" and not whole_cuts:
            raise InputError("CEL-H022.fractions")
        if self.style == "range" and broken:
            raise misplaced("CEL-H025", broken)
        return whole_cuts and not broken if self.style is None else self.style == "range"

    def _ends(self, places: int) -> tuple[int | None, int | None]:
        """Where the first interval begins and the last one ends; None where it is open."""
        first = self.start if self.widths else self.bounds[0][0]
        low = None if self.open_below else exact_number(first).on_grid(places)
        high = None
        if self.bounds and not self.open_above:
            high = exact_number(self.bounds[0][-1]).on_grid(places)
        return low, high

    def _intervals(self, numbers: list[int], places: int) -> list[list[Interval]]:
        start = exact_number(self.start).on_grid(places)
        widths = [exact_number(width).on_grid(places) for width in self.widths]
        bounds = [[exact_number(cut).on_grid(places) for cut in cuts] for cuts in self.bounds]
        if widths:
            return [[on_steps(n, start=start, width=width) for n in numbers] for width in widths]
        return [[between(n, cuts=cuts) for n in numbers] for cuts in bounds]


def _check_inside(outside: Iterable[int]) -> None:
    if misses := list(outside):
        raise misplaced("CEL-H024.intervals", misses)


def _parse(texts: list[str]) -> list[Decimal]:
    parsed = [parse_number(text) for text in texts]
    if strange := [at for at, number in enumerate(parsed) if number is None]:
        raise misplaced("CEL-H023", strange)
    return [number for number in parsed if number is not None]


def on_steps(number: int, *, start: int, width: int) -> Interval:
    """The interval of equal widths from `start` that holds a number.

    >>> on_steps(40, start=1, width=20), on_steps(0, start=1, width=20)
    ((21, 41), (None, 1))
    """
    if number < start:
        return None, start
    lower = number - (number - start) % width
    return lower, lower + width


def between(number: int, *, cuts: list[int]) -> Interval:
    """The interval between cut points that holds a number.

    >>> between(30, cuts=[20, 30, 60]), between(60, cuts=[20, 30, 60])
    ((30, 60), (60, None))
    """
    at = bisect_right(cuts, number)
    return cuts[at - 1] if at else None, cuts[at] if at < len(cuts) else None


def labels(intervals: list[Interval], *, places: int, ranged: bool) -> list[str]:
    """What each interval is called; equal intervals are named once.

    >>> labels([(21, 41), (None, 1)], places=0, ranged=True)
    ['21-40', '< 1']
    >>> labels([(15, 20)], places=1, ranged=False)
    ['[1.5, 2[']
    """
    name = {interval: _label(interval, places, ranged) for interval in set(intervals)}
    return [name[interval] for interval in intervals]


def _label(interval: Interval, places: int, ranged: bool) -> str:
    lower, upper = interval
    if lower is None:
        assert upper is not None, "an interval has an end"
        return f"< {plain_text(upper, places)}"
    if upper is None:
        return f">= {plain_text(lower, places)}"
    if not ranged:
        return f"[{plain_text(lower, places)}, {plain_text(upper, places)}["
    one = 10**places
    first, last = lower // one, upper // one - 1
    # '-5--1' would be a riddle, so negative ends are joined by a word.
    return str(first) if first == last else f"{first}{'-' if first >= 0 else ' to '}{last}"
