"""Minimum, maximum, means and mode of a numeric column whose cells may be intervals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

from celosia.assess.meaning import SUPPRESSED
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.frames import as_text

_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"
_POINT = re.compile(_NUMBER)
_INTERVAL = re.compile(
    rf"[\[\](]?\s*({_NUMBER})\s*(?:-|\u2013|,|;|\.\.|to)\s*({_NUMBER})\s*[\])\[]?"
)
_OPEN = re.compile(rf"(?:<=?|>=?|\u2264|\u2265)\s*({_NUMBER})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregates:
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
    mode: str | None
    """The label of the most cells, `*` included; of several, the first in the order of text."""
    mode_count: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: fractions become floats, whole ones integers."""
        exact = ("minimum", "maximum", "mean_lower", "mean_midpoint")
        return {
            "cells": self.cells,
            "numbers": self.numbers,
            **{name: _plain(getattr(self, name)) for name in exact},
            "mode": self.mode,
            "mode_count": self.mode_count,
        }

    def __str__(self) -> str:
        names = ("minimum", "maximum", "mean_lower", "mean_midpoint")
        low, high, lower, middle = (_format(getattr(self, name)) for name in names)
        return say(
            "assess.line.aggregates",
            low=low,
            high=high,
            middle=middle,
            lower=lower,
            mode=self.mode,
            mode_count=self.mode_count,
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
    cells: Counter[str] = Counter(as_text(series).drop_nulls().to_list())
    limits = {label: limits_of(label) for label in cells if label != SUPPRESSED}
    strange = sum(1 for found in limits.values() if found is None)
    if strange:
        raise InputError("CEL-A079.aggregates", strange=strange, column=series.name)
    known = [(found, cells[label]) for label, found in limits.items() if found is not None]
    numbers = sum(count for _, count in known)
    mode, mode_count = min(cells.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
    nothing = Fraction(0) if published else None
    lower = sum((low * count for (low, _), count in known), Fraction(0))
    middle = sum((_middle(*found, published) * count for found, count in known), Fraction(0))
    return Aggregates(
        cells=len(series),
        numbers=numbers,
        minimum=min((low for (low, _), _ in known), default=nothing),
        maximum=max((high for (_, high), _ in known), default=nothing),
        mean_lower=_mean(lower, numbers, published) if numbers else nothing,
        mean_midpoint=_mean(middle, numbers, published) if numbers else nothing,
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
