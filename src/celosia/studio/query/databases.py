"""Databases that visitors bring as one file: the tables of SQLite, one Parquet file each."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

from celosia.core.errors import InputError
from celosia.queries.policy.database import DatabaseKeys
from celosia.studio.uploads import check_table

SUFFIXES = (".sqlite", ".sqlite3", ".db")
MOST_TABLES = 60


def read_sqlite(path: Path) -> dict[str, pl.DataFrame]:
    """The tables of a SQLite file that have rows, by names that questions can use.

    Views and virtual tables are left out: they run what the file says.

    Raises:
        InputError: CEL-W094, the file is no such database, or has no table, or too many.
    """
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as base:
            base.execute("PRAGMA trusted_schema = OFF")
            names = [
                name
                for name, text in base.execute(
                    "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
                )
                if not name.startswith("sqlite_")
                and not (text or "").upper().startswith("CREATE VIRTUAL")
            ]
            if not 0 < len(names) <= MOST_TABLES:
                raise InputError("CEL-W094", most=MOST_TABLES)
            found = {table_name(name): _table(base, name) for name in names}
    except (sqlite3.Error, UnicodeDecodeError, pl.exceptions.PolarsError, TypeError):
        raise InputError("CEL-W094", most=MOST_TABLES) from None
    filled = {name: frame for name, frame in found.items() if frame.height}
    if not filled or len(found) < len(names):  # two names that only differ in their signs
        raise InputError("CEL-W094", most=MOST_TABLES)
    return filled


def read_sqlite_keys(path: Path) -> DatabaseKeys:
    """The primary and foreign keys of one column that the tables of a SQLite file declare.

    Raises:
        InputError: CEL-W094, the file is no such database.
    """
    unique, references = set(), list[tuple[str, str, str, str]]()
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as base:
            names = [
                name
                for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            for name in names:
                primary = base.execute("SELECT name FROM pragma_table_info(?) WHERE pk", (name,))
                if len(keys := primary.fetchall()) == 1:
                    unique.add((name, str(keys[0][0])))
            for name in names:
                found = base.execute(
                    'SELECT "from", "table", "to" FROM pragma_foreign_key_list(?) '
                    "GROUP BY id HAVING COUNT(*) = 1 ORDER BY id",
                    (name,),
                )
                for column, target, key in found:
                    own = [each for table, each in unique if table == target]
                    references += [(name, column, target, key or each) for each in own]
    except (sqlite3.Error, UnicodeDecodeError):
        raise InputError("CEL-W094", most=MOST_TABLES) from None
    return DatabaseKeys(
        unique=frozenset((table_name(name), column) for name, column in unique),
        references=tuple(
            (table_name(name), column, table_name(target), key)
            for name, column, target, key in references
        ),
    )


def _table(base: sqlite3.Connection, name: str) -> pl.DataFrame:
    quoted = name.replace('"', '""')
    rows = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - a name, quoted
    columns = [each[0] for each in rows.description]
    cells = rows.fetchall()
    frame = pl.DataFrame(
        {column: [row[at] for row in cells] for at, column in enumerate(columns)}, strict=False
    )
    if frame.height:
        check_table(frame)
    return frame


def table_name(name: str) -> str:
    """A name of small letters, digits and _.

    >>> table_name("Order Lines"), table_name("2024")
    ('order_lines', 't_2024')
    """
    plain = re.sub(r"[^a-z0-9_]", "_", name.lower())[:38]
    return plain if plain[:1].isalpha() else f"t_{plain}"
