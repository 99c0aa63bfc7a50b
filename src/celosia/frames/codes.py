"""A column as small integers, which is how the algorithms see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.frames.writing import ARROW_LEVEL


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
    own = series.alias("value")  # a user's name may be a pattern to Polars
    plain = own.cast(pl.String) if named else own
    codes, values = _of_text(plain) if plain.dtype == pl.String else _of_others(plain)
    empty = series.null_count()
    assert np.count_nonzero(codes < 0) == empty, "a cell lost its value"
    return Codes(
        codes=codes,
        values=(values.cast(series.dtype) if named else values).alias(series.name),
        missing=empty > 0,
    )


def _of_text(series: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """By Arrow's dictionary, which looks at each text once; two columns can be coded at a time."""
    coded = series.to_arrow(compat_level=ARROW_LEVEL).dictionary_encode()
    found = pl.Series(series.name, coded.dictionary, dtype=pl.String)
    order = found.arg_sort()
    code_of = np.full(len(found) + 1, -1, dtype=np.int32)  # the last entry is for empty cells
    code_of[order.to_numpy()] = np.arange(len(found), dtype=np.int32)
    indices = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return code_of[indices], found.gather(order)


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
