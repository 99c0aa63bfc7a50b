"""A column as small integers, which is how the algorithms see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

CLOSE, HUGE = 1 << 20, 1 << 62
"""Whole numbers within such a range are looked up in a table, unless they are too large for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """One code for each row, and what the codes stand for.

    >>> encode(pl.Series("zip", ["b", "a", None, "b"]))
    Codes(rows=4, distinct=2, missing=True)
    """

    codes: NDArray[np.int32]
    """The place of each row's value in `values`; -1 where it is missing."""
    values: pl.Series
    """The distinct values, sorted."""
    missing: bool
    """Whether a row has no value."""

    def decode(self) -> pl.Series:
        """The column that was encoded, type and missing values included."""
        places = pl.Series(self.codes, dtype=pl.Int32)
        if self.missing:
            places = places.replace(-1, None)
        return self.values.gather(places)

    def __repr__(self) -> str:
        # The values are private data; a representation ends up in logs and tracebacks.
        return f"Codes(rows={len(self.codes)}, distinct={len(self.values)}, missing={self.missing})"


def encode(series: pl.Series) -> Codes:
    """The column as integer codes, numbered in the sorted order of its values.

    >>> encode(pl.Series("zip", ["b", "a", None, "b"])).codes.tolist()
    [1, 0, -1, 1]
    """
    # Categories have an order of their own, which may depend on what was read first; text has not.
    named = isinstance(series.dtype, pl.Categorical | pl.Enum)
    plain = series.cast(pl.String) if named else series
    if plain.dtype == pl.String:
        codes, values = _of_text(plain)
    else:
        few = _of_few_numbers(plain) if plain.dtype.is_integer() else None
        codes, values = few or _of_others(plain)
    empty = series.null_count()
    assert np.count_nonzero(codes < 0) == empty, "a cell lost its value"
    return Codes(
        codes=codes,
        values=values.cast(series.dtype) if named else values,
        missing=empty > 0,
    )


def _of_text(series: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """By categories, which look at each text once and leave room for a second column at a time.

    The categories are our own, so that no list of texts outlives the column.
    """
    coded = series.cast(pl.Categorical(pl.Categories.random()))
    distinct = coded.unique().drop_nulls()
    values = distinct.cast(pl.String)
    order = values.arg_sort()
    places = distinct.to_physical().gather(order).to_numpy().astype(np.int64)
    empty = int(places.max(initial=-1)) + 1
    code_of = np.full(empty + 1, -1, dtype=np.int32)
    code_of[places] = np.arange(places.size, dtype=np.int32)
    return code_of[coded.to_physical().fill_null(empty).to_numpy()], values.gather(order)


def _of_few_numbers(series: pl.Series) -> tuple[NDArray[np.int32], pl.Series] | None:
    """By counting off, where the numbers lie close together; None where they do not."""
    low, high = series.min(), series.max()
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    if high - low >= CLOSE or not -HUGE < low <= high < HUGE:
        return None
    places = (series.cast(pl.Int64) - low).fill_null(high - low + 1).to_numpy()
    found = np.bincount(places, minlength=high - low + 2)[:-1] > 0
    code_of = np.append(np.cumsum(found) - 1, -1).astype(np.int32)
    values = pl.Series(series.name, np.flatnonzero(found) + low, dtype=series.dtype)
    return code_of[places], values


def _of_others(series: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """By a join with the values, which knows that -0.0 is 0.0 and that a NaN is like another."""
    values = series.drop_nulls().unique().sort()
    numbered = pl.DataFrame({"value": values, "code": np.arange(len(values), dtype=np.int32)})
    # A hash join beats np.unique tenfold, for it does not sort the rows.
    joined = series.to_frame("value").join(numbered, on="value", how="left", maintain_order="left")
    codes = np.array(joined.get_column("code").fill_null(-1), dtype=np.int32)
    if series.dtype.is_float() and values.is_nan().any():
        # A join of a sorted column does not find them.
        codes[series.is_nan().fill_null(value=False).to_numpy()] = np.argmax(values.is_nan())
    return codes, values
