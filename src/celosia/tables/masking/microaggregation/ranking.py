"""Microaggregation of columns one at a time: individual ranking, or groups by another column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.tables.masking.method import (
    ORDER,
    MaskingMethod,
    MethodResult,
    Work,
    categories,
    check_columns,
    numbers,
    with_categories,
    with_numbers,
)
from celosia.tables.masking.microaggregation.joint import (
    MEAN,
    MODE,
    group_median_codes,
    group_medians,
    group_modes,
    whole_numbers,
)
from celosia.tables.masking.microaggregation.scale import (
    SMALLEST,
    check_varies,
    group_means,
    squared_error,
)
from celosia.tables.masking.microaggregation.univariate import fixed_groups, optimal_groups

OPTIMAL: Final = "optimal"
FIXED: Final = "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Microaggregation(MaskingMethod):
    """Each column on its own: values in groups of at least k, replaced by what represents them.

    Empty cells stay empty and are in no group. Decimals are kept, because cutting them would move
    the mean of the column.

    Guarantee: each value of a masked column occurs at least k times. Of one column this is
    k-anonymity on it; several columns, each grouped in its own way, are not k-anonymous together.

    Reference: Defays and Nanopoulos 1993 (individual ranking); Hansen and Mukherjee 2003.
    """

    method_name: ClassVar[str] = "microaggregation"
    randomised: ClassVar[bool] = False
    truthful: ClassVar[bool] = False
    # With the means of the groups these give the values of a group of two.
    confidential: ClassVar[tuple[str, ...]] = ("squared_error", "total_squares")

    k: int = parameter(3, least=SMALLEST, start=5)
    variant: Literal["optimal", "fixed"] = OPTIMAL
    representative: Literal["mean", "median", "mode"] = MEAN
    by: str | None = parameter(None, kind="column")
    order: tuple[str, ...] = parameter((), like=ORDER)
    integer: bool = parameter(False, is_main=True)
    truncate: bool = False

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_columns(frame, columns, self.method_name)
        if self.by is not None:
            check_columns(frame, [self.by], self.method_name)
        masked, facts = frame, {}
        for done, name in enumerate(columns):
            masked, facts[name] = self._one(frame, masked, name)
            work.progress(Step(Message("masking.stage.grouping_columns"), done + 1, len(columns)))
        return MethodResult(frame=masked, facts={"k": self.k, "columns": facts})

    def promise(self, columns: Sequence[str]) -> str | None:
        """Each value occurs k times, where there is one column."""
        if len(columns) != 1:
            return None
        return Message("masking.promise.k_values", column=columns[0], k=self.k)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        """That columns grouped one by one are not anonymous together."""
        empty = Message("masking.gap.empty_cells")
        if len(columns) == 1:
            return (Message("masking.gap.rest_of_record"), empty)
        return (
            Message("masking.gap.grouped_apart"),
            empty,
        )

    def _one(
        self, frame: pl.DataFrame, masked: pl.DataFrame, name: str
    ) -> tuple[pl.DataFrame, dict[str, Any]]:
        """The table with one column masked, and its facts."""
        series = frame[name]
        numeric = series.dtype.is_numeric() and not self.order and self.representative != MODE
        if numeric or self.representative == MEAN:
            column = numbers(frame, [name], self.method_name)[:, 0]
            present = ~np.isnan(column)
            values = column[present]
            check_varies(name, values)
            labels = self._labels(frame, name, present, values)
            means = group_means(values[:, np.newaxis], labels)[:, 0]
            chosen = means if self.representative == MEAN else group_medians(values, labels)
            column[present] = chosen[labels]
            whole = self.integer or self.truncate
            matrix = column[:, np.newaxis]
            if whole:
                matrix = whole_numbers(matrix, truncate=self.truncate, columns=[name])
            return with_numbers(masked, [name], matrix, integer=whole), _facts(values, labels)
        codes, labelled = categories(frame, name, self.order or None)
        present = codes >= 0
        check_varies(name, codes[present])
        labels = self._labels(frame, name, present, codes[present].astype(np.float64))
        chosen_codes = (group_modes if self.representative == MODE else group_median_codes)(
            codes[present], labels
        )
        facts = _facts(codes[present].astype(np.float64), labels)
        codes[present] = chosen_codes[labels]
        return with_categories(masked, name, codes, labelled), facts

    def _labels(
        self,
        frame: pl.DataFrame,
        name: str,
        present: NDArray[np.bool_],
        values: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """The groups of the cells that are not empty."""
        if self.by is None:
            groups = optimal_groups if self.variant == OPTIMAL else fixed_groups
            return groups(values, self.k)
        codes, _values = categories(frame, self.by)
        labels = np.unique(codes[present], return_inverse=True)[1].astype(np.int64)
        small = int((np.bincount(labels) < self.k).sum())
        if small:
            raise InputError("CEL-V107", by=self.by, k=self.k, name=name, groups=small)
        return labels


def _facts(values: NDArray[np.float64], labels: NDArray[np.int64]) -> dict[str, Any]:
    """Counts and the loss of one column."""
    sizes = np.bincount(labels)
    line = values[:, np.newaxis]
    inside = squared_error(line, labels)
    total = squared_error(line, np.zeros(len(values), dtype=np.int64))
    return {
        "groups": int(sizes.size),
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "squared_error": inside,
        "total_squares": total,
        "loss_percent": 100.0 * inside / total if total > 0 else 0.0,
    }
