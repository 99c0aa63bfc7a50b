"""A hierarchy chosen by looking at the values.

Dates, codes and numbers say by themselves how they group. Names of places, occupations and other
nominal texts do not: neighbours in the alphabet have nothing in common, and groups by frequency
tell how frequent each value is. Such texts get no level between the value and the root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from celosia.frames import stands_for_missing
from celosia.tables.hierarchies.classification import recognise
from celosia.tables.hierarchies.coordinates import Coordinates, read_point
from celosia.tables.hierarchies.date_formats import find_format
from celosia.tables.hierarchies.dates import Dates
from celosia.tables.hierarchies.hierarchy import Builder, Hierarchy, distinct_texts, is_number
from celosia.tables.hierarchies.intervals import (
    Intervals,
    decimal_places,
    exact_number,
    many_on_grid,
    parse_number,
    plain_text,
)
from celosia.tables.hierarchies.mask import Mask
from celosia.tables.hierarchies.ordered import Ordered

FEW = 8
"""Up to this number of different texts of equal shape are not taken for codes: it may be chance."""

CODE_LENGTHS = range(3, 13)
"""Texts of equal shape and such a length are taken for codes."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Automatic(Builder):
    """What `propose` chooses for the values: a start to be looked at, not a considered choice.

    >>> Automatic().build(pl.Series([17, 39, 90])).label("39", level=2)
    '30-39'
    """

    method_name: ClassVar[str] = "automatic"

    def build(self, values: pl.Series) -> Hierarchy:
        """The hierarchy that the proposed rule builds.

        Texts that stand for a missing value (`NA`, `?`) beside dates, codes or numbers are leaves
        of their own below the root.
        """
        rule = propose(values)
        return _beside_marks(values) if isinstance(rule, Automatic) else rule.build(values)


def propose(values: pl.Series) -> Builder:
    """A rule that fits the values, to be used as it is or edited.

    - Dates, or texts that are all dates in one of the usual formats (2026-11-30, 30/11/2026,
      30.11.26, 20261130, 30 Nov 2026): month, quarter, year and decade, less those in which all
      values fall together; days first if there are times. Where day and month cannot be told apart:
      years and decades.
    - Texts that a shipped classification knows (countries, states of the United States, Spanish
      provinces, levels of education, diagnoses of ICD-10): `Classification`.
    - Pairs of latitude and longitude: `Coordinates`.
    - Texts with the same length from 3 to 12 and with digits in the same places, at least one, and
      more than 8 of them: masked from the right. Numbers that are codes are not recognised: read
      postal codes as text.
    - Numbers, or texts that are all numbers: up to three intervals, the first a round number
      (1, 2 or 5 times a power of ten) that makes at most 20 groups, then twice and four times that.
    - The same beside texts that stand for a missing value (`NA`, `?`): `Automatic()`, which keeps
      those apart.
    - Other texts, or truth values: nothing but the root. Nothing in a text such as the name of a
      town says which values belong together; a hierarchy of your own (`Tree`, or a file) does.

    >>> propose(pl.Series([17, 39, 90]))
    Intervals(widths=(5, 10, 20), start=0, bounds=(), open_below=False, open_above=False, \
domain=None, style=None)
    >>> propose(pl.Series(["Male", "Female"]))
    Ordered(order=None, sizes=())
    """
    if (rule := _rule_by_content(values)) is not None:
        return rule
    return Automatic() if _rule_by_content(_split(values)[0]) is not None else Ordered()


def is_nominal(values: pl.Series) -> bool:
    """Whether the values are texts that do not say how they group: each is kept or hidden.

    Two values or fewer have no groups that a hierarchy could add.

    >>> is_nominal(pl.Series(["Lugo", "Vigo", "Ourense"])), is_nominal(pl.Series([17, 39, 90]))
    (True, False)
    """
    if (
        values.dtype not in (pl.String, pl.Categorical, pl.Enum)
        or _rule_by_content(values) is not None
    ):
        return False
    rest = _split(values)[0]
    return rest.n_unique() > 2 and _rule_by_content(rest) is None


def _rule_by_content(values: pl.Series) -> Builder | None:
    """A rule for values that say how they group: dates, codes and numbers; None for others."""
    texts = distinct_texts(values)
    if (dates := _dates(values, texts)) is not None:
        return dates
    if values.dtype == pl.String and (rule := _meaning(texts)) is not None:
        return rule
    if (many := many_on_grid(texts)) is not None:
        on_grid, places = many
        whole = not (on_grid % 10**places).any()
        return _intervals(int(on_grid.min()), int(on_grid.max()), whole, places, len(texts))
    numbers = [number for text in texts if (number := parse_number(text)) is not None]
    if not texts or len(numbers) < len(texts):
        return None
    places = decimal_places(numbers)
    exact = [number.on_grid(places) for number in numbers]
    whole = all(number % 10**places == 0 for number in exact)
    return _intervals(min(exact), max(exact), whole, places, len(texts))


def _split(values: pl.Series) -> tuple[pl.Series, list[str]]:
    """The values, and apart from them the texts that stand for a missing value."""
    if values.dtype != pl.String:
        return values, []
    marks = stands_for_missing(values)
    return values.filter(~marks), distinct_texts(values.filter(marks))


def _beside_marks(values: pl.Series) -> Hierarchy:
    rest, marks = _split(values)
    hierarchy = propose(rest).build(rest)
    root = hierarchy.labels[-1]
    return Hierarchy.from_paths(
        [*hierarchy.paths(), *((mark,) * hierarchy.height + root for mark in marks)]
    )


def _dates(values: pl.Series, texts: list[str]) -> Dates | None:
    form = None
    if values.dtype not in (pl.Date, pl.Datetime) and not _are_days(texts):
        plain = values.dtype == pl.String or values.dtype.is_integer()
        form = find_format(texts) if plain else None
        if form is None:
            return None
    names = ("day", "month", "quarter", "year", "decade")
    has_time = values.dtype == pl.Datetime or (form is not None and "%H" in form.format)
    levels: tuple[str, ...] = names if has_time else names[1:]
    if form is not None and not form.is_sure:
        levels = names[3:]  # the year is the same, whichever comes first: the day or the month
    written = None if form is None else form.format
    hierarchy = Dates(levels=levels, format=written).build(values)
    telling = [
        name for name, labels in zip(levels, hierarchy.labels[1:], strict=False) if len(labels) > 1
    ]
    return Dates(levels=tuple(telling or levels[:1]), format=written)


def _are_days(texts: list[str]) -> bool:
    if not texts or not all(map(_DAY.fullmatch, texts)):
        return False
    # The shape alone is not enough: there is no 31 February.
    return pl.Series(texts).str.to_date("%Y-%m-%d", strict=False).null_count() == 0


def _meaning(texts: list[str]) -> Builder | None:
    """A rule for texts that are known places, codes or positions, or look like codes."""
    if texts and all(read_point(text) is not None for text in texts):
        return Coordinates()
    if (known := recognise(texts)) is not None:
        return known
    return Mask() if _are_codes(texts) else None


def _are_codes(texts: list[str]) -> bool:
    shapes = {re.sub(r"[0-9]", "9", re.sub(r"[^0-9]", "x", text)) for text in texts}
    return (
        len(texts) > FEW
        and len(shapes) == 1
        and "9" in (shape := shapes.pop())
        and len(shape) in CODE_LENGTHS
    )


def _intervals(low: int, high: int, whole: bool, places: int, count: int) -> Builder:
    step = _round_step(high - low, least=2 * 10**places if whole else 1)
    widths = [step * factor for factor in (1, 2, 4) if step * factor <= high - low]
    if not widths:
        return Ordered()
    start = low - low % widths[-1]
    if not all(_fits_a_float(number, places) for number in (start, *widths)):
        return Ordered(sizes=_even_sizes(count))
    return Intervals(
        widths=tuple(_number(width, places) for width in widths), start=_number(start, places)
    )


def _round_step(span: int, *, least: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that cuts a span into at most 20 pieces."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if step >= least and step * 20 >= span:
                return step
        power *= 10


def _number(value: int, places: int) -> float:
    text = plain_text(value, places)
    return float(text) if "." in text else int(text)


def _fits_a_float(value: int, places: int) -> bool:
    """Whether a parameter can hold the number exactly: some of 20 digits would be rounded."""
    number = _number(value, places)
    return is_number(number) and exact_number(number) == parse_number(plain_text(value, places))


def _even_sizes(count: int) -> tuple[int, ...]:
    """Group sizes that split every group into about as many as the root is split into.

    >>> _even_sizes(41), _even_sizes(10_000)
    ((3, 9, 27), (10, 100, 1000))
    """
    factor = next(n for n in range(2, count + 2) if n**4 >= count)
    return tuple(size for size in (factor, factor**2, factor**3) if size < count)
