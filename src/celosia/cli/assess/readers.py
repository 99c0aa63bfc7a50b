"""Readers of tables for `assess`: raw ones by their schema, released ones as labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.cli.options import Reading

if TYPE_CHECKING:
    import polars as pl

    from celosia.frames import ColumnType
    from celosia.tables import Schema


def read_released(path: Path | str, schema: Schema, reading: Reading | None = None) -> pl.DataFrame:
    """A released table: the labels of quasi-identifiers are texts, even if they look otherwise.

    A postal code that was released as it is would else lose its leading zeros.
    """
    from celosia.tables import Role

    types: dict[str, ColumnType] = {
        column.name: column.type
        for column in schema.columns
        if column.type is not None and column.role is not Role.IDENTIFIER
    }
    labels: dict[str, ColumnType] = dict.fromkeys(schema.named(Role.QUASI_IDENTIFIER), "string")
    return (reading or Reading()).read(path, types | labels)


def read_people(path: Path, schema: Schema) -> pl.DataFrame:
    """A table that has some of the columns of a schema, with the types that it declares."""
    from celosia.frames import read

    frame = read(path)
    types = {name: kind for name, kind in schema.types().items() if name in frame.columns}
    return read(path, types=types) if types else frame


def released_schema(schema: Schema, frame: pl.DataFrame) -> Schema:
    """The schema without the identifiers that a release, of course, does not have."""
    from celosia.tables import Role

    kept = (
        column
        for column in schema.columns
        if column.role is not Role.IDENTIFIER or column.name in frame.columns
    )
    return replace(schema, columns=tuple(kept))
