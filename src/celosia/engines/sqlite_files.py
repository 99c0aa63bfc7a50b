"""SQLite files as the owner's database: copied into DuckDB when they are opened.

A column of SQLite may hold values of any type. A query over the file itself would fail at the first
cell that does not fit, and so tell of a row. A copy fails when the database is opened, before any
question; and what is written to the file later is seen when it is opened again.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.core.errors import EngineError

if TYPE_CHECKING:
    import duckdb

_HEADER = b"SQLite format 3\x00"
_PACKAGE = "duckdb_extension_sqlite_scanner"
"""Holds the extension of DuckDB that reads SQLite; it is never imported."""


def is_sqlite(path: str | Path) -> bool:
    """Whether a file is one of SQLite, by its first bytes."""
    with Path(path).open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def copy_tables(connection: duckdb.DuckDBPyConnection, path: str | Path) -> None:
    """Make tables of all tables and views of a SQLite file, with its rows of one moment.

    Raises:
        EngineError: CEL-E013 the extension of DuckDB is not installed.
        duckdb.Error: the file cannot be read, or a cell does not fit the type of its column.
    """
    from sqlglot import exp  # 0.1 s, only where an engine is wanted

    from celosia.engines.sql import create

    connection.load_extension(_extension(connection))
    place = exp.Literal.string(str(Path(path).resolve(strict=True))).sql("duckdb")
    connection.execute(f"ATTACH {place} AS celosia_owner (TYPE sqlite, READ_ONLY)")
    connection.execute("BEGIN TRANSACTION")
    tables = connection.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'celosia_owner'"
    ).fetchall()
    for (table,) in tables:
        names = [exp.to_identifier(part, quoted=True) for part in (table, "main", "celosia_owner")]
        there = exp.Table(this=names[0], db=names[1], catalog=names[2])
        create(connection, "TABLE", table, there)
    connection.execute("COMMIT")
    connection.execute("DETACH celosia_owner")


def _extension(connection: duckdb.DuckDBPyConnection) -> str:
    ((version,),) = connection.execute("SELECT version()").fetchall()
    found = find_spec(_PACKAGE)
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder, "extensions", str(version), "sqlite_scanner.duckdb_extension")
        if path.is_file():
            return str(path)
    raise EngineError("CEL-E013.sqlite")
