"""A table as it is released: each different cell of a column once, and which of them a row shows.

Text takes 16 bytes a cell in Polars whatever it says, and moving it is slow. So columns of few
different cells stay numbers of a byte or two until somebody asks for the table as a frame. Nothing
is kept but what the rows show: no label that no row has, and no earlier order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.frames import ARROW_LEVEL, bare, encode
from celosia.frames.columns import without_minus_zero

SLICE = 1 << 20
"""How many rows are text at a time while a table is written."""

Places = NDArray[Any]
"""Unsigned integers of the smallest type that holds them."""


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedColumn:
    """A column as it is released."""

    cells: pl.Series = field(repr=False)
    """Each different cell once; an empty one is the last."""
    place_of_row: Places = field(repr=False)
    """For each row, which of the cells it shows."""

    @classmethod
    def of(cls, cells: pl.Series, places: Places) -> ReleasedColumn:
        """The column of rows that show the cell at their place; cells may be equal, or unused.

        >>> column = ReleasedColumn.of(pl.Series(["b", "a", "b", "c"]), np.array([2, 0, 1]))
        >>> column.cells.to_list(), column.place_of_row.tolist()
        (['a', 'b'], [1, 1, 0])
        """
        shown = np.bincount(places, minlength=len(cells)) > 0
        coded = encode(_plain(cells.filter(pl.Series(shown, dtype=pl.Boolean))))
        values = coded.values
        if coded.missing:
            values = values.append(pl.Series([None], dtype=values.dtype))
        new = np.zeros(len(cells), dtype=np.min_scalar_type(max(1, len(values)) - 1))
        new[shown] = np.where(coded.codes < 0, len(values) - 1, coded.codes)
        return cls(values.alias(cells.name), new[places])

    @classmethod
    def of_series(cls, series: pl.Series) -> ReleasedColumn:
        """The column of a series, row by row."""
        coded = encode(series)
        cells = coded.values
        if coded.missing:
            cells = cells.append(pl.Series([None], dtype=cells.dtype))
        # An empty cell has code -1, which is the last.
        places = np.arange(len(cells), dtype=np.min_scalar_type(max(1, len(cells)) - 1))
        return cls.of(cells.alias(series.name), places[coded.codes])

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.cells.name

    def take(self, rows: NDArray[Any] | slice) -> ReleasedColumn:
        """Some rows, in this order."""
        return ReleasedColumn(self.cells, self.place_of_row[rows])

    def series(self) -> pl.Series:
        """The cell of each row."""
        return self.cells.gather(self.place_of_row)

    def records(self, counts: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """How many records show each cell; each row stands for one, or for so many as given."""
        places, number = self.place_of_row, len(self.cells)
        if counts is None:
            return np.bincount(places, minlength=number)
        records = np.zeros(number, dtype=np.int64)
        np.add.at(records, places, counts)
        return records

    def shows(self, text: str) -> NDArray[np.bool_]:
        """Which rows show this text."""
        if self.cells.dtype != pl.String:
            return np.zeros(self.place_of_row.size, dtype=np.bool_)
        found = (self.cells == text).fill_null(value=False).to_numpy()
        return np.asarray(found[self.place_of_row])


def _plain(cells: pl.Series) -> pl.Series:
    """Text instead of categories, which list what no row has; and one zero.

    -0.0 equals 0.0, and is another text in a file: a class of equal values would fall apart.
    """
    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        return cells.cast(pl.String)
    if cells.dtype.is_float():
        return cells.set((cells == 0).fill_null(value=False), 0.0)
    return cells


def class_numbers(columns: Sequence[ReleasedColumn]) -> NDArray[np.int64]:
    """The class of each row: rows that show the same in all columns have the same number."""
    places = pl.DataFrame(
        [pl.Series(f"c{number}", each.place_of_row) for number, each in enumerate(columns)]
    )
    group = places.select(pl.struct(pl.all()).rank("dense") - 1).to_series()
    return group.to_numpy().astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedTable:
    """All columns of a release, in the order of its rows."""

    columns: tuple[pl.Series | ReleasedColumn, ...] = field(repr=False)

    @classmethod
    def of(cls, frame: pl.DataFrame) -> ReleasedTable:
        """A table that is a frame already."""
        return cls(tuple(frame.iter_columns()))

    @property
    def text_columns(self) -> list[str]:
        """The names of the columns that are text."""
        cells = [each if isinstance(each, pl.Series) else each.cells for each in self.columns]
        return [each.name for each in cells if each.dtype == pl.String]

    @property
    def height(self) -> int:
        """Number of rows."""
        first = self.columns[0]
        return len(first) if isinstance(first, pl.Series) else first.place_of_row.size

    def frame(self) -> pl.DataFrame:
        """The whole table."""
        return pl.DataFrame(
            [each if isinstance(each, pl.Series) else each.series() for each in self.columns]
        )

    def slices(self) -> Iterator[pl.DataFrame]:
        """The table in parts, of which only one is text at a time; at least one."""
        for start in range(0, max(1, self.height), SLICE):
            part = slice(start, start + SLICE)
            yield ReleasedTable(
                tuple(
                    each[part] if isinstance(each, pl.Series) else each.take(part)
                    for each in self.columns
                )
            ).frame()

    def numbered(self) -> pl.DataFrame:
        """The same rows with numbers in place of cells: equal where the cells are equal."""
        return pl.DataFrame(
            {
                str(number): each if isinstance(each, pl.Series) else each.place_of_row
                for number, each in enumerate(self.columns)
            }
        )


def without_trace(table: pl.DataFrame) -> pl.DataFrame:
    """The same rows and nothing else, for callers who write or send the frame without our writers.

    Text in Polars points into buffers that still hold the original rows in their order, and a
    column of categories lists those that no row has any more.
    """
    named = (pl.Categorical, pl.Enum)
    texts = table.with_columns(
        column.cast(pl.String) for column in table if isinstance(column.dtype, named)
    )
    copied = pl.from_arrow(bare(without_minus_zero(texts)).to_arrow(compat_level=ARROW_LEVEL))
    assert isinstance(copied, pl.DataFrame)
    return copied
