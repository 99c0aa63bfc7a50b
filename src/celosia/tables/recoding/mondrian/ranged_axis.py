"""Numbers and dates: ordered by size, cut anywhere, released as closed ranges."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.tables.coded_table import CodedColumn
from celosia.tables.hierarchies import ROOT
from celosia.tables.recoding.mondrian.axis import Axis, Ranks


class RangedAxis(Axis):
    """A column released as `[21, 35]`, or as the value itself where a class has only one.

    Whatever has no place among the values comes after them: NaN, and last the empty cell. A class
    that holds such a one besides others is released as `*`, for no range says that.
    """

    def __init__(self, column: CodedColumn):
        order, self.ordered = _by_size(column)
        super().__init__(column.name, order)
        texts: list[str | None] = [column.hierarchy.leaves[leaf] for leaf in order]
        if column.has_missing:
            texts[-1] = None
        self._texts = pl.Series(texts, dtype=pl.String)
        """The label of each rank alone."""

    def labels(self, lowest: Ranks, highest: Ranks) -> pl.Series:
        """Ranges, values, or `*`."""
        parts = pl.DataFrame(
            {
                "low": self._texts.gather(lowest),
                "high": self._texts.gather(highest),
                "alone": lowest == highest,
                "ranged": highest < self.ordered,
            }
        )
        label = (
            pl.when("alone")
            .then("low")
            .when("ranged")
            .then(pl.format("[{}, {}]", "low", "high"))
            .otherwise(pl.lit(ROOT))
        )
        return parts.select(label.alias(self.name)).to_series()

    def label_keys(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """One number for each pair of ends."""
        pairs = lowest.astype(np.int64) * self.leaves + highest
        shown = (highest < self.ordered) | (lowest == highest)
        return np.where(shown, pairs, np.int64(-1))

    def covered(self, lowest: Ranks, highest: Ranks) -> NDArray[np.int64]:
        """The leaves whose value lies in the range; all for `*`."""
        shown = (highest < self.ordered) | (lowest == highest)
        return np.where(shown, highest.astype(np.int64) - lowest + 1, np.int64(self.leaves))


def is_ranged(column: CodedColumn) -> bool:
    """Whether a column has values by size: numbers, dates and times."""
    values = column.value_of_leaf
    return values is not None and (values.dtype.is_numeric() or values.dtype.is_temporal())


def _by_size(column: CodedColumn) -> tuple[NDArray[np.int32], int]:
    """The leaves by the size of their values, and how many of them have a size."""
    assert column.value_of_leaf is not None
    leaves = column.hierarchy.leaves
    known = (*leaves[:-1], None) if column.has_missing else leaves
    texts = pl.Series("text", known, dtype=pl.String)
    # A leaf that occurs has its value at hand; one that does not is known by its text only.
    sizes = _comparable(column.value_of_leaf).alias("value")
    named = pl.DataFrame([sizes, _parsed(texts, sizes.dtype).alias("named")])
    placed = named.select(pl.coalesce("value", "named").alias("size")).with_row_index("leaf")
    order = placed.sort("size", "leaf", nulls_last=True).get_column("leaf")
    return order.to_numpy().astype(np.int32), placed.height - placed["size"].null_count()


def _comparable(values: pl.Series) -> pl.Series:
    """The same order in a type that holds the numbers of any leaf; NaN has no place in it."""
    if values.dtype.is_integer():
        return values.cast(pl.Int128)
    return values.cast(pl.Float64).fill_nan(None) if values.dtype.is_float() else values


def _parsed(texts: pl.Series, kind: pl.DataType) -> pl.Series:
    if kind.is_float():
        return texts.cast(kind, strict=False).fill_nan(None)
    if kind.is_numeric():
        return texts.cast(kind, strict=False)
    if kind == pl.Date:
        return texts.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(kind, pl.Datetime) and kind.time_zone is None:
        return texts.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit=kind.time_unit, strict=False)
    return pl.Series([None], dtype=kind).new_from_index(0, len(texts))
