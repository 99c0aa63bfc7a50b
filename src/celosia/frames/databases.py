"""Tables and queries of databases as frames: SQLite files, SQLAlchemy addresses and ADBC drivers.

MySQL and MariaDB are read by PyMySQL, which is pure Python.

Nothing is written to the database: a file is opened to be read, and no transaction is committed.
What a database says of a failure may quote cells, so that only its kind is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.readers import as_frame

_NAME = re.compile(r"\w+(\.\w+)*")
_SELECT = re.compile(r"\s*(SELECT|WITH|VALUES|TABLE)\b[^;]*;?\s*", re.IGNORECASE)
_INTO = re.compile(r"\bINTO\b", re.IGNORECASE)
"""A SELECT with it writes: a table, or a file of the server."""
_MYSQL = re.compile(r"(mysql|mariadb)://")
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
)


def read_sqlite(path: Path, query: str | None) -> pl.DataFrame:
    """A table, a view or the rows of a SELECT of a SQLite file, which is opened to be read only.

    Raises:
        InputError: CEL-F030 no such table, or none is named and the file has several; CEL-F014
            not a SQLite file.
    """
    import sqlite3

    def connect() -> Any:
        return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)

    tables = _run(connect, _TABLES, "CEL-F014.sqlite", path=str(path))[1]
    asked = query or _only([str(row[0]) for row in tables], path)
    return _frame(*_run(connect, _select(asked), "CEL-F030.query", reason="sqlite3"))


def read_address(address: str, query: str | None) -> pl.DataFrame:
    """A table or the rows of a SELECT of the database at an address.

    `adbc+DRIVER:URI` is read by the package `adbc_driver_DRIVER`, anything else by SQLAlchemy.

    Raises:
        InputError: CEL-F030 no query, or one that fails; CEL-F029 no driver for the address.
    """
    if query is None:
        raise InputError("CEL-F030.none")
    if address.startswith("adbc+"):
        return _by_adbc(address.removeprefix("adbc+"), _select(query))
    return _frame(*_by_sqlalchemy(_MYSQL.sub(r"\1+pymysql://", address), query))


def _select(query: str, mark: str = '"') -> str:
    """A SELECT: the one given, or one for the table that is named; no other statement.

    Some databases commit a DROP by themselves, so that not to commit would not be enough.

    >>> _select("census.people")
    'SELECT * FROM "census"."people"'
    """
    if _NAME.fullmatch(query) is None:
        if _SELECT.fullmatch(query) is None or _INTO.search(query):
            raise InputError("CEL-F030.statement")
        return query
    return _all_of(*query.split("."), mark=mark)


def _all_of(*parts: str, mark: str = '"') -> str:
    """A SELECT of a table, by the parts of its name and the mark that quotes names."""
    quoted = ".".join(mark + part.replace(mark, mark * 2) + mark for part in parts)
    return f"SELECT * FROM {quoted}"  # noqa: S608 - quoted


def _only(tables: Sequence[str], path: Path) -> str:
    """The one table of a file."""
    if len(tables) != 1:
        raise InputError("CEL-F030.which", path=str(path), count=len(tables), tables=tables)
    return _all_of(tables[0])


Rows = tuple[list[str], list[Sequence[object]]]


def _run(connect: Callable[[], Any], statement: str, key: str, **fields: object) -> Rows:
    """The names and the rows of one statement, by the usual interface of Python's databases."""
    import sqlite3
    from contextlib import closing

    failed = None
    try:
        with closing(connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement)
            return [column[0] for column in cursor.description or ()], cursor.fetchall()
    except sqlite3.Error as error:
        failed = type(error).__name__
    raise InputError(key, **fields | {"reason": failed})


def _by_sqlalchemy(address: str, query: str) -> Rows:
    from sqlalchemy import create_engine, make_url, text
    from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

    failed: str | None = None
    try:
        engine = create_engine(make_url(address))
    except (SQLAlchemyError, ImportError, ValueError) as error:
        missing = isinstance(error, NoSuchModuleError | ImportError)
        driver = "CEL-F029.mysql" if "+pymysql:" in address else "CEL-F029.driver"
        failed = driver if missing else "CEL-F030.address"
    if failed is not None:
        raise InputError(failed, scheme=address.split(":", maxsplit=1)[0])
    mark = "`" if engine.dialect.name in ("mysql", "mariadb") else '"'
    # Text of a colon and a name would be taken for a parameter.
    statement = text(_select(query, mark).replace(":", "\\:"))
    try:
        with engine.connect() as connection:
            found = connection.execute(statement)
            return list(found.keys()), [tuple(row) for row in found]
    except (SQLAlchemyError, RuntimeError) as error:  # the latter where PyMySQL misses a package
        failed = type(error).__name__
    finally:
        engine.dispose()
    raise InputError("CEL-F030.query", reason=failed)


def _by_adbc(written: str, statement: str) -> pl.DataFrame:
    driver, _, uri = written.partition(":")
    try:
        module = import_module(f"adbc_driver_{driver}.dbapi")
    except ImportError:
        module = None
    if module is None:
        raise InputError("CEL-F029.driver", scheme=f"adbc+{driver}")
    failed: str | None = None
    try:
        with (
            module.connect(f"{driver}:{uri}" if uri.startswith("//") else uri) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
            return _from_adbc(cursor.fetch_arrow_table())
    except module.Error as error:
        failed = type(error).__name__
    raise InputError("CEL-F030.query", reason=failed)


def _from_adbc(table: Any) -> pl.DataFrame:
    """An Arrow table as a frame, with all digits of PostgreSQL's `numeric`.

    Its driver gives such numbers as text, of an opaque type that only says what they are.
    """
    kinds = {field.name: getattr(field.type, "type_name", None) for field in table.schema}
    texts = [name for name, kind in kinds.items() if kind == "numeric"]
    if not texts or len(kinds) < table.num_columns:  # a name that stands there twice is refused
        return as_frame(table)
    numbers = {
        name: [None if text is None else Decimal(text) for text in table[name].to_pylist()]
        for name in texts
    }
    parts = [as_frame(numbers)]
    if len(texts) < len(kinds):
        parts.append(as_frame(table.drop_columns(texts)))
    return pl.concat(parts, how="horizontal").select(*kinds)


def _frame(names: list[str], rows: list[Sequence[object]]) -> pl.DataFrame:
    """Rows of Python values as a frame; each column must hold one kind of value."""
    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [() for _ in names]
    if len(set(names)) < len(names):
        raise InputError("CEL-F030.twice")
    return as_frame({name: list(column) for name, column in zip(names, columns, strict=True)})
