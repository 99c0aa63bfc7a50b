"""Recoded rows as numbers of their combination, which are shuffled and written without their text.

A number takes four bytes whatever a row shows. The text is looked up at the very end, and even then
as places in a list of labels: that is how Parquet stores it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.engines.tables import RecodingMap, changed_source
from celosia.frames import ARROW_LEVEL, bare, encode
from celosia.frames.columns import without_minus_zero

if TYPE_CHECKING:
    import pyarrow as pa

CLASS = "class"
"""The column of a chunk that has the number of each row's class."""

DROPPED = 2**32 - 1
"""The class of combinations that are left out."""


class Labels:
    """What each row shows in each column, as places in a list of labels.

    Args:
        recoding: what becomes of each combination.
        keep: the columns to release, in order.
        drop: whether suppressed combinations are left out: then no label of theirs is listed.
        listed: the distinct texts of columns that are not recoded, where a chunk has their places.
    """

    def __init__(
        self,
        recoding: RecodingMap,
        keep: Sequence[str],
        *,
        drop: bool,
        listed: Mapping[str, pl.Series] | None = None,
    ):
        kept = ~recoding.hidden if drop else np.ones(recoding.hidden.size, dtype=np.bool_)
        self.keep = tuple(keep)
        self._listed = listed or {}
        self._values: dict[str, pl.Series] = {}
        codes = []
        for series in recoding.released:
            coded = encode(plain_text(series.filter(kept)))
            self._values[series.name] = without_minus_zero(coded.values.to_frame()).to_series()
            codes.append(coded.codes)
        # Combinations that show the same are one class: fewer, so that looking up is fast.
        firsts, classes = _distinct(codes)
        self.class_of = np.full(kept.size, DROPPED, dtype=np.uint32)
        """The class of each combination."""
        self.class_of[kept] = classes
        self._codes = {
            name: _short(each[firsts]) for name, each in zip(self._values, codes, strict=True)
        }

    def frame(self, chunk: pl.DataFrame) -> pl.DataFrame:
        """A chunk as it is released."""
        cells = (self._cell(number, name, chunk) for number, name in enumerate(self.keep))
        return pl.DataFrame(
            [
                cell if places is None else cell.gather(pl.Series(places).replace(-1, None))
                for cell, places in cells
            ],
            schema=list(self.keep),
        )

    def arrow(self, chunk: pl.DataFrame) -> pa.Table:
        """The same as an Arrow table, with text as places in a list."""
        import pyarrow as pa  # 0.15 s, only where an engine is wanted

        columns: list[Any] = []
        for number, name in enumerate(self.keep):
            cell, places = self._cell(number, name, chunk)
            if places is None:
                columns.append(fresh_arrow(cell))
            elif cell.dtype != pl.String:
                columns.append(fresh_arrow(cell.gather(pl.Series(places).replace(-1, None))))
            else:
                empty = places < 0
                known = pa.array(places, mask=empty if empty.any() else None)
                columns.append(pa.DictionaryArray.from_arrays(known, fresh_arrow(cell)))
        return pa.Table.from_arrays(columns, names=list(self.keep))

    def _cell(
        self, number: int, name: str, chunk: pl.DataFrame
    ) -> tuple[pl.Series, NDArray[Any] | None]:
        """A column itself, or its distinct values and the place of each row among them."""
        if name in self._codes:
            return self._values[name], self._codes[name][chunk[CLASS].to_numpy()]
        cells = chunk[place_of(number)]
        if name in self._listed:
            places = cells.to_numpy()
            return self._listed[name], np.where(places == len(self._listed[name]), -1, places)
        return cells, None


def _distinct(columns: Sequence[NDArray[np.int32]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each distinct combination of codes, and the combination of each row."""
    combined, product = np.zeros(columns[0].size, dtype=np.int64), 1
    for codes in columns:
        size = int(codes.max(initial=-1)) + 2  # with a place for empty cells, whose code is -1
        if product > (1 << 62) // size:  # no sum overflows: fewer than 2**31 rows are left
            _, combined = np.unique(combined, return_inverse=True)
            product = combined.size + 1
        combined = combined * size + (codes + 1)
        product *= size
    _, firsts, classes = np.unique(combined, return_index=True, return_inverse=True)
    return firsts, classes


def _short(codes: NDArray[np.int32]) -> NDArray[Any]:
    """The same codes in as few bytes as they need."""
    kinds = (np.int8, np.int16, np.int32)
    most = int(codes.max(initial=0))
    return codes.astype(next(kind for kind in kinds if most <= np.iinfo(kind).max))


def place_of(number: int) -> str:
    """What a chunk calls a column that is not recoded: names may be patterns to Polars.

    >>> place_of(3)
    'p3'
    """
    return f"p{number}"


def number_rows(
    chunks: Iterator[pl.DataFrame], recoding: RecodingMap, *, drop: bool, places: Sequence[str] = ()
) -> Iterator[pl.DataFrame]:
    """The chunks without the rows that are dropped, refused unless all that were counted come.

    Args:
        chunks: rows with their class.
        recoding: by which they have it.
        drop: whether rows of the class `DROPPED` go.
        places: columns that hold the place of a text in a list, which every text has.

    Raises:
        EngineError: CEL-E002 the rows are not those that were counted.
    """
    rows, kept = 0, 0
    for chunk in chunks:
        rows += chunk.height
        # A row that was not judged must never be released as it is.
        if any(chunk[name].null_count() for name in (CLASS, *places)):
            raise changed_source()
        passed = chunk.filter(pl.col(CLASS) != DROPPED) if drop else chunk
        kept += passed.height
        yield passed
    if rows != recoding.rows or kept != recoding.released_rows(drop=drop):
        raise changed_source()


def plain_text(series: pl.Series) -> pl.Series:
    """The same, with text for named categories."""
    named = (pl.Categorical, pl.Enum)
    return series.cast(pl.String) if isinstance(series.dtype, named) else series


def fresh_arrow(series: pl.Series) -> Any:
    """A column as an Arrow array that holds its cells and nothing else."""
    frame = bare(pl.DataFrame([plain_text(series).alias("cell")]))
    return frame.to_arrow(compat_level=ARROW_LEVEL).column(0).combine_chunks()


def fresh_table(frame: pl.DataFrame) -> Any:
    """A frame as an Arrow table that holds its cells and nothing else."""
    return bare(pl.DataFrame([plain_text(column) for column in frame])).to_arrow(
        compat_level=ARROW_LEVEL
    )
