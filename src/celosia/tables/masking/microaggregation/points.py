"""Numbers and categories as points: distances of every kind of column on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.tables.masking.columns import categories, check_columns, numbers
from celosia.tables.masking.microaggregation.limits import check_varies
from celosia.tables.masking.microaggregation.scale import standard_scores

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
