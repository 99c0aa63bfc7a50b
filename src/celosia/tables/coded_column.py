"""Quasi-identifier columns as leaf numbers of their hierarchies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.engines import Groups
from celosia.frames import as_text, encode
from celosia.tables.hierarchies import MISSING, ROOT, Hierarchy
from celosia.tables.schema import Column


@dataclass(frozen=True, eq=False, slots=True)
class CodedColumn:
    """A column whose every cell is known by its place among the leaves of a hierarchy."""

    name: str
    hierarchy: Hierarchy
    leaf_of_row: NDArray[np.int32] = field(repr=False)
    has_missing: bool = False
    """Whether the last leaf stands for empty cells."""
    value_of_leaf: pl.Series | None = field(default=None, repr=False)
    """A raw value for each leaf that occurs, in the column's own type."""
    suppress_missing: bool = False
    """Whether records with an empty cell here are suppressed."""

    def raw(self) -> pl.Series:
        """The ungeneralised column: one value a leaf, though several may have the same text.

        -0.0 and 0.0 share a leaf; released as they are, one of them could stand alone.
        """
        assert self.value_of_leaf is not None
        return self.value_of_leaf.gather(self.leaf_of_row).alias(self.name)

    def labels_at(self, level: int | NDArray[np.int16]) -> pl.Series:
        """The released text of every record at a level, or at its own; empty cells stay empty."""
        texts: list[str | None] = []
        starts = []
        for number, labels in enumerate(self.hierarchy.labels):
            starts.append(len(texts))
            texts += labels
            if self.has_missing and number < self.hierarchy.height:
                texts[starts[-1] + self.hierarchy.nodes[number, -1]] = None
        places = np.array(starts)[level] + self.hierarchy.nodes[level, self.leaf_of_row]
        return pl.Series(self.name, texts, dtype=pl.String).gather(places)


def code_column(series: pl.Series, column: Column, *, origin: Groups | None = None) -> CodedColumn:
    """Find each cell of a quasi-identifier in its hierarchy.

    Where the table was grouped before, `origin` tells from which rows the cells come.

    Raises:
        InputError: CEL-T010 empty cells where the schema does not allow them, CEL-T011 values that
            the hierarchy does not cover.
    """
    codes = encode(series)
    if codes.missing and column.missing == "refuse":
        raise _empty_cells(column.name, codes.codes < 0, origin)
    if len(codes.values) == 0:  # nothing but empty cells, which are a value of their own
        nothing = Hierarchy.from_paths([(MISSING, ROOT)])
        empty = pl.Series([None], dtype=series.dtype)
        gone = column.missing == "suppress"
        return CodedColumn(column.name, nothing, np.zeros_like(codes.codes), True, empty, gone)
    texts = as_text(codes.values).to_list()
    if ROOT in texts and len(texts) > 1:  # a column of nothing else suppresses no record
        raise _starred(column.name)
    hierarchy = column.hierarchy_for(codes.values)
    leaf_of_value = np.array([hierarchy.index.get(text, -1) for text in texts], dtype=np.int32)
    if (leaf_of_value < 0).any():
        raise _uncovered(column.name, leaf_of_value < 0, codes.codes, origin)
    if codes.missing:
        hierarchy = hierarchy.with_missing()
    # Missing cells have code -1, which picks the last entry: the leaf that with_missing added.
    table = np.append(leaf_of_value, np.int32(len(hierarchy.leaves) - 1))
    place_of_leaf = np.full(len(hierarchy.leaves), -1)
    place_of_leaf[leaf_of_value] = np.arange(leaf_of_value.size)
    places = pl.Series(place_of_leaf).replace(-1, None)  # leaves that do not occur have no value
    return CodedColumn(
        column.name,
        hierarchy,
        table[codes.codes],
        codes.missing,
        codes.values.gather(places),
        codes.missing and column.missing == "suppress",
    )


def _empty_cells(name: str, empty: NDArray[np.bool_], origin: Groups | None) -> InputError:
    rows, first = _rows(empty, origin)
    place = "" if first is None else Message("tables.place.first_row", row=first)
    return InputError("CEL-T010", place=place, column=name, rows=rows, row=first)


def _uncovered(
    name: str, lost: NDArray[np.bool_], codes: NDArray[np.int32], origin: Groups | None
) -> InputError:
    # A trailing False keeps code -1 (an empty cell) out of the count.
    rows, first = _rows(np.append(lost, False)[codes], origin)
    place = "" if first is None else Message("tables.place.and_first_row", row=first)
    return InputError(
        "CEL-T011", place=place, column=name, values=int(lost.sum()), rows=rows, row=first
    )


def _starred(name: str) -> InputError:
    return InputError("CEL-T012", root=ROOT, column=name)


def _rows(bad: NDArray[np.bool_], origin: Groups | None) -> tuple[int, int | None]:
    """How many rows of the table are bad, and the first of them, counted from 1, if it is known."""
    if origin is None:
        return int(bad.sum()), int(np.argmax(bad)) + 1
    rows = int(origin.sizes[bad].sum())
    return rows, None if origin.first_rows is None else int(origin.first_rows[bad].min()) + 1
