"""Microaggregation over columns together: every method that makes them k-anonymous at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress
from celosia.tables.masking.method import (
    TEXTS,
    MaskingMethod,
    MethodResult,
    Work,
    categories,
    check_columns,
    check_order,
    numbers,
    with_categories,
    with_numbers,
)
from celosia.tables.masking.microaggregation.scale import (
    SMALLEST,
    check_records,
    check_varies,
    group_means,
    squared_error,
    standard_scores,
)

WIDEST = 1_000
"""Categories that the nominal columns of a step may have together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The columns of a table as points, and what is needed to write them back."""

    matrix: NDArray[np.float64] = field(repr=False)
    """One row a record; the cells of an empty one are NaN."""
    column_of: NDArray[np.int64]
    """Which of the columns each coordinate belongs to."""
    values: NDArray[np.float64] = field(repr=False)
    """The numbers of numeric columns and the codes of the others, NaN where empty."""
    categories: Mapping[str, pl.Series] = field(repr=False)
    """The values of each column of categories, by code."""


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """Which columns are categories, and the order of those that have one."""

    nominal: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse a name that is no column of the step, or that is of two kinds."""
        named = set(self.nominal) | set(self.ordinal)
        strange = (named - set(columns)) | (set(self.nominal) & set(self.ordinal))
        strange |= set(self.orders) - set(self.ordinal)
        if strange:
            first = min(strange)
            raise InputError("CEL-V110", column=first)


def as_points(
    frame: pl.DataFrame, columns: Sequence[str], *, kinds: ColumnKinds, method: str
) -> Points:
    """The columns of a table as points.

    Numeric columns alone are standardised. Beside categories every column spans one, as in Gower's
    distance: numbers are divided by their range, ordered categories are evenly spaced ranks, and
    two nominal values are at distance one or zero (each category is a coordinate of its own).
    """
    check_columns(frame, columns, method)
    kinds.check(columns)
    parts, owners, names = [], [], {}
    values = np.empty((frame.height, len(columns)))
    for place, name in enumerate(columns):
        if name in kinds.nominal or name in kinds.ordinal:
            codes, names[name] = categories(frame, name, kinds.orders.get(name))
            values[:, place] = np.where(codes < 0, np.nan, codes)
        else:
            values[:, place] = numbers(frame, [name], method)[:, 0]
        present = ~np.isnan(values[:, place])
        check_varies(name, values[present, place])
        wide = len(names[name]) if name in kinds.nominal else 1
        part = np.full((frame.height, wide), np.nan)
        part[present] = _coordinates(
            values[present, place],
            wide if name in kinds.nominal else 0,
            gower=bool(kinds.nominal or kinds.ordinal),
        )
        parts.append(part)
        owners += [place] * wide
        _check_width(len(owners))
    return Points(
        matrix=np.hstack(parts),
        column_of=np.array(owners, dtype=np.int64),
        values=values,
        categories=names,
    )


def _coordinates(values: NDArray[np.float64], wide: int, *, gower: bool) -> NDArray[np.float64]:
    """The coordinates of the filled cells of one column; `wide` categories, 0 for none."""
    if wide:
        spread = np.zeros((values.size, wide))
        # Two different corners are at squared distance one half twice, which is one.
        spread[np.arange(values.size), values.astype(np.int64)] = np.sqrt(0.5)
        return spread
    if not gower:
        return standard_scores(values[:, np.newaxis])
    # Halves first: the range of huge numbers of both signs must not overflow.
    least, most = values.min() / 2.0, values.max() / 2.0
    spanned: NDArray[np.float64] = (values / 2.0 - least) / (most - least)
    return spanned[:, np.newaxis]


def _check_width(wide: int) -> None:
    if wide > WIDEST:
        raise InputError("CEL-V111", widest=WIDEST)


Number = TypeVar("Number", np.float64, np.int64)

MEAN: Final = "mean"
MEDIAN: Final = "median"
MODE: Final = "mode"

_WHOLE = 2.0**53
"""From here on a float skips whole numbers, and a cast to 64 bits could overflow."""


def group_medians(values: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median of each group; of an even number, the mean of the two in the middle."""
    lower, upper = _middle(values, labels)
    return lower + (upper - lower) / 2.0


def group_median_codes(codes: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The median of the ordered categories of each group, the lower of two in the middle."""
    return _middle(codes, labels)[0]


def group_modes(codes: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent category of each group; the lowest code of those equally frequent.

    >>> group_modes(np.array([2, 1, 2, 1, 0]), np.array([0, 0, 0, 1, 1])).tolist()
    [2, 0]
    """
    counted = (
        pl.DataFrame({"label": labels, "code": codes})
        .group_by("label", "code")
        .len()
        .sort(["label", "len", "code"], descending=[False, True, False])
        .unique("label", keep="first", maintain_order=True)
    )
    return counted["code"].to_numpy().astype(np.int64)


def whole_numbers(
    matrix: NDArray[np.float64], *, truncate: bool, columns: list[str]
) -> NDArray[np.float64]:
    """Means as whole numbers: the nearest, or with `truncate` the one towards zero.

    Rounding half to even is what `numpy.rint` does; it moves the mean of a column least.
    """
    wide = [
        name
        for place, name in enumerate(columns)
        if np.nanmax(np.abs(matrix[:, place]), initial=0.0) >= _WHOLE
    ]
    if wide:
        raise InputError("CEL-V106", column=wide[0])
    return np.trunc(matrix) if truncate else np.rint(matrix)


def _middle(
    values: NDArray[Number], labels: NDArray[np.int64]
) -> tuple[NDArray[Number], NDArray[Number]]:
    """The two values in the middle of each group; the same one twice where the size is odd."""
    order = np.lexsort((values, labels))
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    ordered = values[order]
    return ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]


REFUSE: Final = "refuse"
EMPTY: Final = "empty"


def _check_orders(value: Any) -> dict[str, tuple[Any, ...]]:
    return {name: check_order(order) for name, order in value.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class JointMicroaggregation(MaskingMethod):
    """Records in groups of at least k; in all the columns a record takes what stands for its group.

    Empty cells stay empty: records are grouped apart by which of their cells are empty, each kind
    over the columns it has. Numbers become the mean (or median) of the group on their own scale,
    ordered categories the median, nominal ones the mode.

    Guarantee: each combination of values in the columns, an empty cell being a value too, is shared
    by at least k records: the table is k-anonymous on these columns.
    """

    randomised: ClassVar[bool] = False
    truthful: ClassVar[bool] = False
    # With the means of the groups these give the values of a group of two.
    confidential: ClassVar[tuple[str, ...]] = ("squared_error", "total_squares")

    k: int = parameter(3, least=SMALLEST, start=5)
    nominal: tuple[str, ...] = parameter((), like=TEXTS, kind="columns")
    ordinal: tuple[str, ...] = parameter((), like=TEXTS, kind="columns")
    """Which columns are categories in the order of their values, unless `orders` has another."""
    orders: Mapping[str, Sequence[str]] | None = parameter(
        None,
        check=_check_orders,
        allowed="tables.must_be.texts_by_column",
        example='{ size = ["S", "M", "L"] }',
    )
    representative: Literal["mean", "median"] = MEAN
    rare_patterns: Literal["refuse", "empty"] = REFUSE
    integer: bool = parameter(False, is_main=True)
    truncate: bool = False

    @abstractmethod
    def groups(self, matrix: NDArray[np.float64], *, progress: Progress) -> NDArray[np.int64]:
        """The group of each record, given as a point on a common scale."""

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        kinds = ColumnKinds(self.nominal, self.ordinal, self.orders or {})
        points = as_points(frame, columns, kinds=kinds, method=self.method_name)
        check_records(frame.height, self.k)
        patterns, emptied = self._patterns(points)
        labels = np.full(frame.height, -1, dtype=np.int64)
        for filled, rows in patterns:
            coordinates = np.isin(points.column_of, np.flatnonzero(filled))
            part = points.matrix[np.ix_(rows, coordinates)]
            labels[rows] = self.groups(part, progress=work.progress) + labels.max() + 1
        masked = self._written(frame, columns, points, patterns, labels)
        facts = _facts(points, patterns, labels)
        return MethodResult(frame=masked, facts={"k": self.k, **facts, "emptied_cells": emptied})

    def promise(self, columns: Sequence[str]) -> str | None:
        """The columns are k-anonymous together."""
        return Message("masking.promise.k_combinations", columns=list(columns), k=self.k)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        """That other columns, and a group that agrees on them, may tell."""
        return (Message("masking.gap.other_columns"),)

    def _patterns(
        self, points: Points
    ) -> tuple[list[tuple[NDArray[np.bool_], NDArray[np.int64]]], int]:
        """The records by which cells they have, without the wholly empty; and the cells emptied."""
        kinds, kind_of = _kinds(~np.isnan(points.values))
        sizes = np.bincount(kind_of, minlength=len(kinds))
        some = kinds.any(axis=1)
        rare = (sizes > 0) & (sizes < self.k)
        kept = some & (sizes >= self.k)
        refused = int(sizes[rare].sum())
        if self.rare_patterns == EMPTY and kept.any():
            joined = int(sizes[rare | ~some].sum())  # all of them are wholly empty then
            refused = joined if joined < self.k else 0
        if refused:
            raise InputError("CEL-V112", k=self.k, records=refused)
        emptied = int((kinds.sum(axis=1) * sizes)[rare].sum())
        found = [(kinds[kind], np.flatnonzero(kind_of == kind)) for kind in np.flatnonzero(kept)]
        return found, emptied

    def _written(
        self,
        frame: pl.DataFrame,
        columns: Sequence[str],
        points: Points,
        patterns: list[tuple[NDArray[np.bool_], NDArray[np.int64]]],
        labels: NDArray[np.int64],
    ) -> pl.DataFrame:
        """The table with what stands for each group in its records."""
        out = np.full(points.values.shape, np.nan)
        for filled, rows in patterns:
            own = labels[rows] - labels[rows].min()
            for place in np.flatnonzero(filled):
                chosen = self._represent(columns[int(place)], points.values[rows, place], own)
                out[rows, place] = chosen[own]
        numeric = [name for name in columns if name not in points.categories]
        matrix = out[:, [list(columns).index(name) for name in numeric]]
        whole = self.integer or self.truncate
        if whole:
            matrix = whole_numbers(matrix, truncate=self.truncate, columns=numeric)
        masked = with_numbers(frame, numeric, matrix, integer=whole)
        for name, values in points.categories.items():
            codes = np.nan_to_num(out[:, list(columns).index(name)], nan=-1.0).astype(np.int64)
            masked = with_categories(masked, name, codes, values)
        return masked

    def _represent(
        self, name: str, values: NDArray[np.float64], labels: NDArray[np.int64]
    ) -> NDArray[Any]:
        """What stands for each group in one column."""
        if name in self.nominal:
            return group_modes(values.astype(np.int64), labels)
        if name in self.ordinal:
            return group_median_codes(values.astype(np.int64), labels)
        if self.representative == MEDIAN:
            return group_medians(values, labels)
        return group_means(values[:, np.newaxis], labels)[:, 0]


def _kinds(filled: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The different rows, the full one first, and which of them each row is."""
    gaps = np.flatnonzero(~filled.all(axis=1))  # few as a rule, and only these need a sort
    kind_of = np.zeros(len(filled), dtype=np.int64)
    kinds, found = np.unique(filled[gaps], axis=0, return_inverse=True)
    kind_of[gaps] = found.reshape(-1) + 1
    return np.vstack([np.ones((1, filled.shape[1]), dtype=np.bool_), kinds]), kind_of


def _facts(
    points: Points,
    patterns: list[tuple[NDArray[np.bool_], NDArray[np.int64]]],
    labels: NDArray[np.int64],
) -> dict[str, Any]:
    """Counts and the loss over the filled cells of the records that are in groups."""
    inside = 0.0
    for filled, rows in patterns:
        coordinates = np.isin(points.column_of, np.flatnonzero(filled))
        part = points.matrix[np.ix_(rows, coordinates)]
        inside += squared_error(part, labels[rows] - labels[rows].min())
    total = 0.0
    grouped = labels >= 0
    for coordinate in range(points.matrix.shape[1]):
        column = points.matrix[grouped, coordinate]
        column = column[~np.isnan(column)]
        total += squared_error(column[:, np.newaxis], np.zeros(column.size, dtype=np.int64))
    sizes = np.bincount(labels[grouped])
    return {
        "groups": int(sizes.size),
        "smallest_group": int(sizes.min()) if sizes.size else 0,
        "largest_group": int(sizes.max()) if sizes.size else 0,
        "patterns_of_empty_cells": len(patterns),
        "squared_error": inside,
        "total_squares": total,
        "loss_percent": 100.0 * inside / total if total > 0 else 0.0,
    }
