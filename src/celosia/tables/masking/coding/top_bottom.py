"""Top and bottom coding: the ends of a column are released as 'beyond a threshold'."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.numbers import exactly
from celosia.core.randomness import Source
from celosia.frames import as_text
from celosia.tables.masking.method import (
    NUMBER,
    CellFunction,
    MaskingMethod,
    MethodResult,
    Reach,
    Work,
    cells,
    numbers,
)
from celosia.tables.masking.value_counts import NumberCounts, ValueCounts


def format_number(number: float) -> str:
    """A number as people write it: no fraction of zero.

    >>> format_number(10.0), format_number(0.5), format_number(-3), format_number(1e20)
    ('10', '0.5', '-3', '100000000000000000000')
    """
    decimal = exactly(number)
    return str(decimal.numerator) if decimal.denominator == 1 else repr(float(number))


def interval_labels(breaks: tuple[float, ...]) -> tuple[str, ...]:
    """The labels of all intervals between breaks and beyond them, disjoint and exhaustive.

    >>> interval_labels((0, 10, 20))
    ('<0', '[0,10)', '[10,20)', '≥20')
    """
    ends = [format_number(each) for each in breaks]
    inner = [f"[{low},{high})" for low, high in pairwise(ends)]
    return (f"<{ends[0]}", *inner, f"≥{ends[-1]}")


Matrix = NDArray[np.float64]

FEWEST = 3
"""Fewer cells than this are nearly told by their mean or median; one is told exactly."""

Ends = Literal["top", "bottom"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopBottom(MaskingMethod):
    """Values above one threshold and below another become labels, or one number for each end.

    With labels the column becomes text. Empty cells stay empty.

    Args:
        top: values above it are coded.
        bottom: values below it are coded.
        top_quantile: instead of `top`, the quantile at which the threshold lies, such as 0.95.
        bottom_quantile: instead of `bottom`, such as 0.05.
        inclusive: values equal to a threshold are coded too: '≥10' and '≤0' in place of '>10' and
            '<0'.
        replace: 'label' writes the threshold; 'mean' and 'median' put that of the coded values,
            which keeps the column numeric ('mean' also its total) and is true of none of them.

    Guarantee: none. It takes away the values that stand out alone in this column.

    Reference: Willenborg & de Waal 2001.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"children": [0, 2, 15, None]})
    >>> TopBottom(top=10).apply(frame, ["children"], rng=Seeded(7)).frame["children"].to_list()
    ['0', '2', '>10', None]
    """

    method_name: ClassVar[str] = "top-bottom"
    randomised: ClassVar[bool] = False
    truthful: ClassVar[bool] = True
    reaches: ClassVar[tuple[Reach, ...]] = ("row", "facts")

    top: float | None = parameter(None, like=NUMBER, is_main=True)
    bottom: float | None = parameter(None, like=NUMBER, is_main=True)
    top_quantile: float | None = parameter(None, like=NUMBER, above=0, below=1, start=0.95)
    bottom_quantile: float | None = parameter(None, like=NUMBER, above=0, below=1, start=0.05)
    inclusive: bool = False
    replace: Literal["label", "mean", "median"] = parameter("label", is_main=True)

    def check(self) -> None:
        """Refuse two thresholds of one end, none at all, and ends that overlap."""
        for end in ("top", "bottom"):
            share = f"{end}_quantile"
            if getattr(self, end) is not None and getattr(self, share) is not None:
                raise InputError(
                    "CEL-V201.one_threshold", method=self.method_name, first=end, second=share
                )
        thresholds = (self.top, self.bottom, self.top_quantile, self.bottom_quantile)
        if all(each is None for each in thresholds):
            raise InputError("CEL-V201.no_threshold", method=self.method_name)
        self._check_ends(self.bottom, self.top)
        self._check_ends(self.bottom_quantile, self.top_quantile)

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        matrix = numbers(frame, columns, self.method_name)
        coded, facts = [], {}
        for place, name in enumerate(columns):
            values = matrix[:, place]
            ends = self._ends(partial(NumberCounts.of, values), name)
            coded.append(self._released(cells(frame, name), values, ends).alias(name))
            facts[name] = {end: int(rows.sum()) for end, rows in self._beyond(values, ends).items()}
        return MethodResult(frame=frame.with_columns(coded), facts=facts)

    @property
    def reach(self) -> Reach:
        """Quantiles, means and medians are those of the whole column."""
        given = self.top_quantile is None and self.bottom_quantile is None
        return "row" if given and self.replace == "label" else "facts"

    def cell_function(
        self, column: pl.Series, value_counts: Callable[[], ValueCounts]
    ) -> CellFunction:
        """Thresholds, and what stands for the values beyond them, from the whole column."""
        name = column.name
        numbers(
            column.to_frame(), [name], self.method_name
        )  # refuses text before anything is counted
        if self.reach == "row":
            return CellFunction(partial(_coded, self, self._ends(None, name)))
        counted = value_counts().as_numbers(name, self.method_name)
        ends = self._ends(lambda: counted, name)
        beyond = self._beyond(counted.values, ends)
        facts = {end: int(counted.sizes[rows].sum()) for end, rows in beyond.items()}
        return CellFunction(partial(_coded, self, ends), facts)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps = [Message("masking.gap.beyond_threshold")]
        if self.replace != "label":
            gaps.append(Message("masking.gap.average", average=self._average_name()))
        if self.top_quantile is not None or self.bottom_quantile is not None:
            gaps.append(Message("masking.gap.quantile_threshold"))
        return tuple(gaps)

    def _check_ends(self, low: float | None, high: float | None) -> None:
        if low is not None and high is not None and low >= high:
            raise InputError("CEL-V201.ends_overlap", method=self.method_name)

    def _ends(self, value_counts: Callable[[], NumberCounts] | None, name: str) -> _Ends:
        """The thresholds of a column, and what is released beyond them."""
        if self.reach == "row" or value_counts is None:
            return _Ends(self.bottom, self.top, {})
        counted = value_counts()
        low = self._threshold(counted, self.bottom, self.bottom_quantile, name)
        high = self._threshold(counted, self.top, self.top_quantile, name)
        self._check_ends(low, high)
        ends = _Ends(low, high, {})
        if self.replace == "label":
            return ends
        beyond = self._beyond(counted.values, ends)
        found = {end: self._average(counted.where(rows), end, name) for end, rows in beyond.items()}
        return _Ends(low, high, found)

    def _beyond(self, values: Matrix, ends: _Ends) -> dict[str, NDArray[np.bool_]]:
        """Which values lie beyond each end that has a threshold."""
        found = {}
        if ends.high is not None:
            found["top"] = values >= ends.high if self.inclusive else values > ends.high
        if ends.low is not None:
            found["bottom"] = values <= ends.low if self.inclusive else values < ends.low
        return found

    def _released(self, column: pl.Series, values: Matrix, ends: _Ends) -> pl.Series:
        """Some cells, and the same as numbers, after coding."""
        beyond = self._beyond(values, ends)
        if self.replace != "label":
            averaged = values.copy()
            for end, rows in beyond.items():
                averaged[rows] = ends.averages[end]
            return pl.Series(averaged).fill_nan(None)
        texts = as_text(column).scatter(np.flatnonzero(np.isnan(values)), None)
        for end, rows in beyond.items():
            texts = texts.scatter(np.flatnonzero(rows), self._label(end, ends))
        return texts

    def _label(self, end: str, ends: _Ends) -> str:
        threshold = ends.high if end == "top" else ends.low
        assert threshold is not None, "only ends that have one are coded"
        strict, loose = (">", "≥") if end == "top" else ("<", "≤")
        return f"{loose if self.inclusive else strict}{format_number(threshold)}"

    def _threshold(
        self, counted: NumberCounts, given: float | None, share: float | None, name: str
    ) -> float | None:
        if share is None:
            return given
        if counted.count == 0:
            raise InputError("CEL-V281", column=name)
        return counted.quantile(share)

    def _average_name(self) -> Message:
        if self.replace == "mean":
            return Message("masking.average.mean")
        return Message("masking.average.median")

    def _average(self, coded: NumberCounts, end: str, name: str) -> float:
        if coded.count == 0:
            return 0.0  # of no cell
        if coded.count < FEWEST:
            raise PrivacyError(
                "CEL-V280.top" if end == "top" else "CEL-V280.bottom",
                count=coded.count,
                replace=self._average_name(),
                fewest=FEWEST,
                column=name,
            )
        return coded.mean if self.replace == "mean" else coded.quantile(0.5)


@dataclass(frozen=True, slots=True)
class _Ends:
    """The thresholds of a column, and the numbers that stand for what lies beyond them."""

    low: float | None
    high: float | None
    averages: Mapping[str, float] = field(repr=False)


def _coded(method: TopBottom, ends: _Ends, column: pl.Series, _: Source) -> pl.Series:
    values = numbers(column.to_frame(), [column.name], method.method_name)[:, 0]
    return method._released(column.alias(""), values, ends)
