"""Minimum, maximum, means and mode of a numeric column whose cells may be intervals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.meaning import SUPPRESSED
from celosia.core.errors import InputError
from celosia.core.messages import say_of
from celosia.core.methods import PlainValues
from celosia.frames import as_text

_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"
_POINT = re.compile(_NUMBER)
_INTERVAL = re.compile(
    rf"[\[\](]?\s*({_NUMBER})\s*(?:-|\u2013|,|;|\.\.|to)\s*({_NUMBER})\s*[\])\[]?"
)
_OPEN = re.compile(rf"(?:<=?|>=?|\u2264|\u2265)\s*({_NUMBER})")
FIRST = 1000
"""Cells that tell whether a column can be one of intervals."""


FRACTIONS = ("minimum", "maximum", "mean_lower", "mean_midpoint", "mean_upper")
"""The aggregates that are numbers of the column's own unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregates(PlainValues):
    """What a numeric column says when it is asked for one number.

    Means and limits are exact fractions; they are None when no cell holds a number (0 by the
    published rules).
    """

    cells: int
    numbers: int
    """Cells that hold a number or an interval; the others are `*` or empty."""
    minimum: Fraction | None
    """The least lower limit."""
    maximum: Fraction | None
    """The greatest upper limit."""
    mean_lower: Fraction | None
    """The mean of the lower limits."""
    mean_midpoint: Fraction | None
    """The mean of the midpoints."""
    mean_upper: Fraction | None
    """The mean of the upper limits."""
    mode: str | None
    """The label of the most cells, `*` included; of several, the first in the order of text."""
    mode_count: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: fractions become floats, whole ones integers."""
        return {
            "cells": self.cells,
            "numbers": self.numbers,
            **{name: _plain(getattr(self, name)) for name in FRACTIONS},
            "mode": self.mode,
            "mode_count": self.mode_count,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Aggregates:
        """The inverse of `as_dict`, as exact as a float is."""
        exact = {n: v if v is None else Fraction(v) for n, v in values.items() if n in FRACTIONS}
        return cls(**{**values, **exact})

    def __str__(self) -> str:
        names = ("minimum", "maximum", "mean_lower", "mean_midpoint")
        low, high, lower, middle = (_format(getattr(self, name)) for name in names)
        return say_of(
            "assess.line.aggregates", self, low=low, high=high, middle=middle, lower=lower
        )


def aggregates(column: pl.Series | Iterable[object], *, published: bool = False) -> Aggregates:
    """Ask a numeric column, raw or generalised, for its minimum, maximum, means and mode.

    Labels may be plain numbers or intervals such as `21-40`, `-5 to -1`, `[20, 30[` and `[21, 35]`,
    read by the limits that they name; of a label with one limit, `< 20` or `>= 60`, that limit
    stands for both. `*` and empty cells hold no number. All cells count for the mode, `*` as a
    value like any other; empty cells are none.

    Args:
        column: the cells.
        published: whole-number arithmetic as in the published experiments: midpoints and means are
            rounded down, and 0 stands where no number is left.

    Raises:
        InputError: CEL-A079 labels that name no number.

    >>> print(aggregates(["20-39", "20-39", "40-59", "*"]))
    minimum 20, maximum 59, mean 36.1667 (lower limits 26.6667), mode 20-39 (2)
    >>> print(aggregates(["20-39", "20-39", "40-59", "*"], published=True))
    minimum 20, maximum 59, mean 35 (lower limits 26), mode 20-39 (2)
    """
    series = column if isinstance(column, pl.Series) else pl.Series("column", list(column))
    cells = _count_labels(series)
    limits = {label: limits_of(label) for label in cells if label != SUPPRESSED}
    strange = sum(1 for found in limits.values() if found is None)
    if strange:
        raise InputError("CEL-A079.aggregates", strange=strange, column=series.name)
    return _aggregate(cells, limits, len(series), published=published)


def interval_aggregates(
    column: pl.Series, counts: NDArray[np.int64] | None = None
) -> Aggregates | None:
    """The aggregates of a released column that shows numbers as intervals; None of any other.

    Args:
        column: the cells, empty where a record was left out.
        counts: how many records each cell stands for; 1 if not given.

    >>> found = interval_aggregates(pl.Series(["20-39", "40-59", "*"]), np.array([2, 1, 5]))
    >>> print(found)
    minimum 20, maximum 59, mean 36.1667 (lower limits 26.6667), mode * (5)
    >>> interval_aggregates(pl.Series(["young", "old"])) is None
    True
    """
    if column.dtype.is_numeric() or not any(map(limits_of, _count_labels(column.head(FIRST)))):
        return None
    cells = _count_labels(column, counts)
    limits = {label: limits_of(label) for label in cells if label != SUPPRESSED}
    if None in limits.values() or all(low == high for low, high in filter(None, limits.values())):
        return None
    records = len(column) if counts is None else int(counts.sum())
    return _aggregate(cells, limits, records, published=False)


def _count_labels(column: pl.Series, counts: NDArray[np.int64] | None = None) -> dict[str, int]:
    """How many records show each label; empty cells are none."""
    frame = pl.DataFrame(
        {
            "label": as_text(column),
            "records": pl.repeat(1, len(column), dtype=pl.Int64, eager=True)
            if counts is None
            else counts,
        }
    )
    found = frame.drop_nulls("label").group_by("label").agg(pl.col("records").sum())
    return dict(found.filter(pl.col("records") > 0).iter_rows())


def _aggregate(
    cells: Mapping[str, int],
    limits: Mapping[str, tuple[Fraction, Fraction] | None],
    records: int,
    *,
    published: bool,
) -> Aggregates:
    known = [(found, cells[label]) for label, found in limits.items() if found is not None]
    numbers = sum(count for _, count in known)
    mode, mode_count = min(cells.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
    nothing = Fraction(0) if published else None
    lower = sum((low * count for (low, _), count in known), Fraction(0))
    middle = sum((_middle(*found, published) * count for found, count in known), Fraction(0))
    upper = sum((high * count for (_, high), count in known), Fraction(0))
    return Aggregates(
        cells=records,
        numbers=numbers,
        minimum=min((low for (low, _), _ in known), default=nothing),
        maximum=max((high for (_, high), _ in known), default=nothing),
        mean_lower=_mean(lower, numbers, published) if numbers else nothing,
        mean_midpoint=_mean(middle, numbers, published) if numbers else nothing,
        mean_upper=_mean(upper, numbers, published) if numbers else nothing,
        mode=mode,
        mode_count=mode_count,
    )


def limits_of(label: str) -> tuple[Fraction, Fraction] | None:
    """The lower and upper limit that a label names, or None when it names none.

    >>> limits_of("-20--11"), limits_of("[20, 30["), limits_of("young")
    ((Fraction(-20, 1), Fraction(-11, 1)), (Fraction(20, 1), Fraction(30, 1)), None)
    """
    text = label.strip()
    if _POINT.fullmatch(text):
        return Fraction(text), Fraction(text)
    if found := _INTERVAL.fullmatch(text):
        low, high = Fraction(found[1]), Fraction(found[2])
        return (low, high) if low <= high else None
    if found := _OPEN.fullmatch(text):
        return Fraction(found[1]), Fraction(found[1])
    return None


def _middle(low: Fraction, high: Fraction, published: bool) -> Fraction:
    return Fraction((low + high) // 2) if published else (low + high) / 2


def _mean(total: Fraction, count: int, published: bool) -> Fraction:
    return Fraction(total // count) if published else total / count


def _plain(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(value)


def _format(value: Fraction | None) -> str:
    return "none" if value is None else f"{float(value):g}"
