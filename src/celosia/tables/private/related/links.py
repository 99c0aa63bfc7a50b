"""Whose each row is, and which of them count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.tables.private.related.declaration import RelatedTable, RelatedTables

Places = NDArray[np.int64]

_ROW, _PARENT, _KEY, _ORDER = "row", "parent", "key", "order"


@dataclass(frozen=True, slots=True, eq=False)
class LinkedTable:
    """The rows of a table that count, each with its person."""

    frame: pl.DataFrame
    parents: Places
    """The row of the parent table, among those that count there."""
    persons: Places
    """The row of the table of persons."""


def link(
    tables: Mapping[str, pl.DataFrame], declaration: RelatedTables, rng: Source
) -> dict[str, LinkedTable]:
    """The rows that count: of each person at most as many as are declared.

    A person is a key of the first table. What counts of a person follows from the first row with
    that key and from the other tables, never from the row of another person: that is what makes a
    person a privacy unit. Further rows with the same key, below the same parent, are left out; a
    row whose foreign key names several parents belongs to each; a row whose parent is not there
    counts nowhere. No key is refused, because a refusal would tell of it.

    Args:
        tables: by name.
        declaration: how they hang together.
        rng: chooses among too many rows of one parent, where they are kept at random.
    """
    found: dict[str, LinkedTable] = {}
    for name, table in declaration.tables.items():
        frame = tables[name]
        rows = pl.DataFrame({_ROW: np.arange(frame.height, dtype=np.int64)})
        if table.key is not None:
            rows = rows.with_columns(_text(frame, table.key, _KEY))
        if table.parent is None:
            rows = rows.with_columns(pl.lit(0, pl.Int64).alias(_PARENT))
        else:
            rows = _with_parents(rows, frame, table, found[table.parent], declaration)
        if table.key is not None:
            rows = rows.drop_nulls(_KEY).unique([_PARENT, _KEY], keep="first", maintain_order=True)
        if table.parent is not None:
            rows = _capped(rows, table, rng)
        places = rows[_ROW].to_numpy()
        parents = rows[_PARENT].to_numpy()
        persons = (
            np.arange(rows.height, dtype=np.int64)
            if table.parent is None
            else found[table.parent].persons[parents]
        )
        found[name] = LinkedTable(frame[places], parents, persons)
    return found


def _text(frame: pl.DataFrame, column: str, name: str) -> pl.Series:
    return frame.get_column(column).cast(pl.String, strict=False).alias(name)


def _with_parents(
    rows: pl.DataFrame,
    frame: pl.DataFrame,
    table: RelatedTable,
    parent: LinkedTable,
    declaration: RelatedTables,
) -> pl.DataFrame:
    """Each row with the rows of the parent table that its foreign key names."""
    key = declaration.tables[str(table.parent)].key
    known = pl.DataFrame(
        {
            "foreign": _text(parent.frame, str(key), "foreign"),
            _PARENT: np.arange(parent.frame.height, dtype=np.int64),
        }
    )
    named = rows.with_columns(_text(frame, str(table.foreign_key), "foreign"))
    return named.join(known, on="foreign", how="inner", maintain_order="left_right").drop("foreign")


def _capped(rows: pl.DataFrame, table: RelatedTable, rng: Source) -> pl.DataFrame:
    """At most so many rows of each parent: the first ones, or drawn evenly among them."""
    if table.keep == "random":
        # 64 random bits a row: two of one parent are equal too seldom to matter.
        rows = rows.with_columns(pl.Series(_ORDER, rng.words(rows.height), dtype=pl.UInt64))
        rows = rows.sort(_ORDER).drop(_ORDER)
    return rows.filter(pl.int_range(pl.len()).over(_PARENT) < int(table.most_rows or 1))
