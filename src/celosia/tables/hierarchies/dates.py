"""Dates grouped by the calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, NamedTuple

import polars as pl

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import check_list, parameter
from celosia.tables.hierarchies.date_formats import read_date
from celosia.tables.hierarchies.hierarchy import (
    ROOT,
    Builder,
    Hierarchy,
    check_text,
    distinct_texts,
    is_whole,
    misplaced,
)


class Day(NamedTuple):
    """A day as three numbers, which may be a day that no calendar has (29 February 1900)."""

    year: int
    month: int
    day: int


def _years(width: int, day: Day) -> str:
    first = day.year - day.year % width
    return f"{first:04}-{first + width - 1:04}"


LABELS: dict[str, Callable[[Day], str]] = {
    "day": lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}",
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "5 years": partial(_years, 5),
    "decade": partial(_years, 10),
    "century": partial(_years, 100),
}
"""From fine to coarse. Each nests in the next; weeks are missing because they nest in no month."""


def _check_levels(value: Any) -> tuple[str, ...]:
    levels = check_list(value)
    names = list(LABELS)
    if not levels or list(levels) != sorted(set(levels), key=names.index):
        raise ValueError
    return levels


def _check_century(value: Any) -> int:
    if not is_whole(value) or value < 100 or value % 100:
        raise ValueError
    return int(value)


@dataclass(frozen=True, slots=True)
class Dates(Builder):
    """Months, quarters, years and longer periods above each date.

    Labels are '2026-11', '2026-Q4', '2026', '2025-2029' (5 years), '2020-2029' (decade) and
    '2000-2099' (century). Level 0 is the value as it stands; 'day' is for columns with a time.

    Args:
        levels: an increasing choice of day, month, quarter, year, 5 years, decade, century.
        format: how a text column writes its dates, as in '%d/%m/%Y'; by default ISO 8601. Months
            by name (%B, %b) may be English or Spanish. Not used for columns that hold dates.
        century: with a two-digit year (%y), the century all of them belong to, such as 1900.
            Without it Python decides: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068.

    >>> Dates(levels=("month", "year", "5 years"), format="%d/%m/%y", century=1900).build(
    ...     pl.Series(["19/08/63"])).paths()
    [('19/08/63', '1963-08', '1963', '1960-1964', '*')]
    """

    method_name: ClassVar[str] = "dates"

    levels: Sequence[str] = parameter(
        ("month", "quarter", "year", "decade"),
        kind="several",
        choices=tuple(LABELS),
        check=_check_levels,
        allowed="tables.must_be.periods_in_order",
        start=("month", "year", "decade"),
    )
    format: str | None = parameter(
        None, kind="text", check=check_text, allowed="tables.must_be.date_format"
    )
    century: int | None = parameter(
        None, kind="whole", check=_check_century, allowed="tables.must_be.century"
    )

    def check(self) -> None:
        """Refuse a format that does not lead to the levels, and a century that it does not need."""
        if self.format is not None:
            _check_format(self.format, self.levels)
        if self.century is not None and "%y" not in (self.format or ""):
            raise InputError("CEL-H041.century")

    def build(self, values: pl.Series) -> Hierarchy:
        """The dates in order, one level per period.

        Raises:
            InputError: CEL-H040 a value is no date, or not in the format.
        """
        texts = distinct_texts(values)
        written = None if values.dtype.is_temporal() else self.format
        days = [self._day(text, written) for text in texts]
        if strange := [at for at, day in enumerate(days) if day is None]:
            raise misplaced("CEL-H040.format" if written else "CEL-H040.iso", strange)
        dated = sorted((day, text) for day, text in zip(days, texts, strict=True) if day)
        rules = [LABELS[level] for level in self.levels]
        return Hierarchy.from_paths(
            (text, *(rule(day) for rule in rules), ROOT) for day, text in dated
        )

    def _day(self, text: str, written: str | None) -> Day | None:
        try:
            date = read_date(text, written) if written else datetime.fromisoformat(text)
        except ValueError:
            return None
        if written is None or self.century is None:
            return Day(date.year, date.month, date.day)
        return Day(self.century + date.year % 100, date.month, date.day)


def _check_format(form: str, levels: Sequence[str]) -> None:
    """Refuse a format that cannot be read, or that says too little for the finest level."""
    probe = datetime(2017, 11, 28)
    needs = {"year": probe.replace(year=2018)}
    if levels[0] in {"day", "month", "quarter"}:
        needs["month"] = probe.replace(month=5)
    if levels[0] == "day":
        needs["day"] = probe.replace(day=3)
    text = probe.strftime(form)
    missing = [name for name, other in needs.items() if other.strftime(form) == text]
    try:
        readable = not missing and datetime.strptime(text, form) is not None
    except (ValueError, re.error):  # unknown directive; the same directive twice
        readable = False
    if not readable:
        if not missing:
            raise InputError("CEL-H041.unreadable")
        names = {
            "year": Message("tables.date_parts.year"),
            "month": Message("tables.date_parts.month"),
            "day": Message("tables.date_parts.day"),
        }
        parts = [names[name] for name in missing]
        raise InputError("CEL-H041.incomplete", parts=parts)
