"""Recoded rows as numbers of their combination, which are shuffled and written without their text.

A number takes four bytes whatever a row shows. The text is looked up at the very end, and even then
as places in a list of labels: that is how Parquet stores it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.engines.tables import Recoding, changed_source
from celosia.frames import ARROW_LEVEL, bare, encode

if TYPE_CHECKING:
    import pyarrow as pa

CLASS = "class"
"""The column of a chunk that has the number of each row's combination."""


class Labels:
    """What each combination shows in each column, as places in a list of labels.

    Args:
        recoding: what becomes of each combination.
        keep: the columns to release, in order.
        drop: whether suppressed combinations are left out: then no label of theirs is listed.
    """

    def __init__(self, recoding: Recoding, keep: Sequence[str], *, drop: bool):
        kept = ~recoding.hidden if drop else np.ones(recoding.hidden.size, dtype=np.bool_)
        self.keep = tuple(keep)
        self._codes: dict[str, NDArray[np.int32]] = {}
        self._values: dict[str, pl.Series] = {}
        for series in recoding.released:
            coded = encode(_plain(series.filter(kept)))
            codes = np.full(kept.size, -1, dtype=np.int32)
            codes[kept] = coded.codes
            self._codes[series.name] = codes
            self._values[series.name] = coded.values

    def frame(self, chunk: pl.DataFrame) -> pl.DataFrame:
        """A chunk as it is released."""
        numbers = chunk[CLASS].to_numpy()
        return pl.DataFrame(
            [
                self._values[name].gather(self._places(name, numbers)).alias(name)
                if name in self._codes
                else chunk[place_of(number)].alias(name)
                for number, name in enumerate(self.keep)
            ]
        )

    def arrow(self, chunk: pl.DataFrame) -> pa.Table:
        """The same as an Arrow table, with text as places in a list."""
        import pyarrow as pa  # noqa: PLC0415 - 0.15 s, only where an engine is wanted

        numbers = chunk[CLASS].to_numpy()
        columns: list[Any] = []
        for number, name in enumerate(self.keep):
            if name not in self._codes:
                columns.append(fresh_arrow(chunk[place_of(number)]))
            elif self._values[name].dtype != pl.String:
                columns.append(fresh_arrow(self._values[name].gather(self._places(name, numbers))))
            else:
                codes = self._codes[name][numbers]
                empty = codes < 0 if (self._codes[name] < 0).any() else None
                columns.append(
                    pa.DictionaryArray.from_arrays(
                        pa.array(codes, mask=empty), fresh_arrow(self._values[name])
                    )
                )
        return pa.Table.from_arrays(columns, names=list(self.keep))

    def _places(self, name: str, numbers: NDArray[np.uint32]) -> pl.Series:
        places = pl.Series(self._codes[name][numbers])
        return places.replace(-1, None)


def place_of(number: int) -> str:
    """What a chunk calls a column that is not recoded: names may be patterns to Polars.

    >>> place_of(3)
    'p3'
    """
    return f"p{number}"


def numbered(
    chunks: Iterator[pl.DataFrame], recoding: Recoding, *, drop: bool
) -> Iterator[pl.DataFrame]:
    """The chunks without the rows that are dropped, refused unless all that were counted come.

    Raises:
        EngineError: CEL-E002 the rows are not those that were counted.
    """
    rows = 0
    for chunk in chunks:
        rows += chunk.height
        if chunk[CLASS].null_count():  # a row that nobody has judged must never pass as it is
            raise changed_source()
        yield chunk.filter(~recoding.hidden[chunk[CLASS].to_numpy()]) if drop else chunk
    if rows != recoding.rows:
        raise changed_source()


def _plain(series: pl.Series) -> pl.Series:
    named = (pl.Categorical, pl.Enum)
    return series.cast(pl.String) if isinstance(series.dtype, named) else series


def fresh_arrow(series: pl.Series) -> Any:
    """A column as an Arrow array that holds its cells and nothing else."""
    frame = bare(pl.DataFrame([_plain(series).alias("cell")]))
    return frame.to_arrow(compat_level=ARROW_LEVEL).column(0).combine_chunks()


def fresh_table(frame: pl.DataFrame) -> Any:
    """A frame as an Arrow table that holds its cells and nothing else."""
    return bare(pl.DataFrame([_plain(column) for column in frame])).to_arrow(
        compat_level=ARROW_LEVEL
    )
