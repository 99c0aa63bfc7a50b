"""Where the entries are kept: two small tables in SQLite or PostgreSQL.

A transaction is on disk before it ends. SQLite: write-ahead log, full sync, the write lock taken at
the beginning, so that what was read cannot change before the write. PostgreSQL: an advisory lock
for the same purpose, synchronous commit.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from celosia.core.errors import CelosiaError, EngineError, InputError, PrivacyError
from celosia.queries.ledger.chain import Entry, Head, broken

LOCK = 0x63656C6F73696102
"""The advisory lock of PostgreSQL: `celosia` in ASCII, and a number."""

METADATA = sa.MetaData()
ENTRIES = sa.Table(
    "celosia_ledger",
    METADATA,
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
HEAD = sa.Table(
    "celosia_ledger_head",
    METADATA,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1", name="one_head"), primary_key=True),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
"""The last entry once more: a chain alone does not tell that its end was cut off."""

_IN_THE_WAY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_PAUSE = 0.02
"""Seconds between two tries."""


class Store:
    """The tables of one ledger; used by one thread at a time, in one process."""

    def __init__(
        self, place: str | Path, *, patience: float = 30.0, read_only: bool = False
    ) -> None:
        """Open or create the tables.

        Args:
            place: a file of SQLite, or the URL of a database.
            patience: seconds to wait for another process that writes.
            read_only: whether nothing may be made or written; there may then be no tables.
        """
        self._url = url_of(place)
        self._patience = patience
        self._process = os.getpid()
        self._postgres = self._url.get_backend_name() == "postgresql"
        self._read_only = read_only
        if read_only:
            self._engine = self._connected()
            return
        if self._url.database and not self._postgres:
            _make_private(Path(self._url.database))
        self._engine = self._connected()
        try:
            with self.transaction(writing=True) as connection:
                METADATA.create_all(connection)
        except BaseException:
            self.close()
            raise

    def _connected(self) -> sa.Engine:
        waits: dict[str, Any] = {} if self._postgres else {"timeout": self._patience}
        try:
            engine = sa.create_engine(
                self._url,
                pool_size=1,
                max_overflow=0,
                pool_pre_ping=self._postgres,
                hide_parameters=True,
                connect_args=waits,
            )
        except ModuleNotFoundError as error:
            raise EngineError(
                "CEL-Q101",
                f"a ledger in PostgreSQL needs the package {error.name}.",
                why="It speaks to the server.",
                fix="Install it: pip install 'psycopg[binary]'.",
            ) from None
        if self._postgres and not self._read_only:
            sa.event.listen(engine, "connect", _prepare_postgres)
        elif not self._postgres:
            prepare = _prepare_reading if self._read_only else _prepare_sqlite
            patience = self._patience
            sa.event.listen(engine, "connect", lambda raw, _: _patiently(patience, prepare, raw))
            sa.event.listen(engine, "begin", lambda it: _patiently(patience, _begin_sqlite, it))
        return engine

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[sa.Connection]:
        """A transaction that sees one state; what it writes is on disk when it ends well.

        Raises:
            EngineError: CEL-Q114 the database cannot be read or written; CEL-Q115 another process.
            PrivacyError: CEL-Q104 the file is damaged.
        """
        if os.getpid() != self._process:
            raise EngineError(
                "CEL-Q115",
                "this ledger was opened by another process.",
                why="A connection that two processes share can lose what either of them writes.",
                fix="Open the ledger in each process.",
            )
        try:
            with self._engine.connect() as connection:
                connection.execution_options(celosia_writing=writing)
                with connection.begin():
                    if self._postgres:
                        self._begin_postgres(connection, writing=writing)
                    yield connection
        except CelosiaError:
            raise
        except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as error:
            raise self._unavailable() from error
        except exc.IntegrityError as error:
            raise self._unavailable() from error
        except exc.DBAPIError as error:
            raise self._unavailable() if self._postgres else _damaged() from error

    def has_tables(self) -> bool:
        """Whether there is anything to read.

        Raises:
            EngineError: CEL-Q114 the database cannot be read; CEL-Q119 there is none.
        """
        try:
            with self.transaction(writing=False) as connection:
                found = sa.inspect(connection)
                return found.has_table(ENTRIES.name) and found.has_table(HEAD.name)
        except PrivacyError:
            pass
        raise EngineError(
            "CEL-Q119",
            f"{self} is no database.",
            why="A ledger is kept in one, and what was spent cannot be told.",
            fix="Check the place; or restore the ledger from a copy whose head matches the last "
            "release.",
        )

    def _begin_postgres(self, connection: sa.Connection, *, writing: bool) -> None:
        if not writing:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return
        # Each statement after the lock sees what was committed before it was obtained.
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(self._patience * 1000)}")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")

    def _unavailable(self) -> EngineError:
        return EngineError(
            "CEL-Q114",
            f"the ledger {self} cannot be read or written now.",
            why="Nothing is answered that cannot be charged first. The disk may be full, the file "
            "read-only, the server away, or another process may have kept it for too long.",
            fix="Make room or access, then ask again; what was charged before is kept.",
        )

    def read(
        self, connection: sa.Connection, *, since: int = 0, most: int | None = None
    ) -> Iterator[Entry]:
        """The entries from a number on, in order."""
        wanted = sa.select(ENTRIES).where(ENTRIES.c.sequence >= since).order_by(ENTRIES.c.sequence)
        if most is not None:
            wanted = wanted.limit(most)
        for sequence, previous, body, digest in connection.execute(wanted):
            if not all(isinstance(text, str) for text in (previous, body, digest)):
                raise broken(sequence)
            yield Entry(sequence, previous, body, digest)

    def head(self, connection: sa.Connection) -> Head | None:
        """The last entry, as it was noted beside the chain; None for a new ledger."""
        row = connection.execute(sa.select(HEAD.c.sequence, HEAD.c.hash)).one_or_none()
        return None if row is None else Head(row[0], row[1])

    def append(self, connection: sa.Connection, entry: Entry) -> None:
        """Write an entry, and note that it is the last."""
        connection.execute(sa.insert(ENTRIES).values(entry.as_dict()))
        noted = {"sequence": entry.sequence, "hash": entry.hash}
        if entry.sequence == 0:
            connection.execute(sa.insert(HEAD).values(id=1, **noted))
        else:
            connection.execute(sa.update(HEAD).values(noted))

    def close(self) -> None:
        """Give the connection back; in another process than the own one, only forget it."""
        self._engine.dispose(close=os.getpid() == self._process)

    def __str__(self) -> str:
        if not self._postgres:
            return str(self._url.database)
        return self._url.render_as_string(hide_password=True)


def url_of(place: str | Path) -> sa.URL:
    """The URL of a database, or that of a file.

    Raises:
        InputError: CEL-Q116 not a place that keeps anything.
    """
    if isinstance(place, str) and "://" in place:
        try:
            url = sa.make_url(place)
        except (exc.ArgumentError, ValueError):
            raise _no_place("the URL of the ledger cannot be read") from None
        if url.get_backend_name() in {"postgres", "postgresql"}:
            return url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() != "sqlite" or url.query:
            raise _no_place("a ledger is kept in a file of SQLite or in PostgreSQL")
        place = url.database or ""
    if not str(place) or str(place) == ":memory:" or str(place).startswith("file:"):
        raise _no_place("a ledger in memory forgets what was spent")
    path = Path(place).absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise _no_place(f"{path} is a folder, or its folder does not exist")
    return sa.URL.create("sqlite", database=str(path))


def has_file(place: str | Path) -> bool:
    """Whether the file of a place is there; a server may hold a ledger, which only it can tell."""
    url = url_of(place)
    return url.get_backend_name() != "sqlite" or Path(str(url.database)).is_file()


def _make_private(path: Path) -> None:
    """Make the file, for its owner only, before SQLite would; it holds what analysts asked."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except PermissionError:
        return  # SQLite will say whether it can be read at all


def _patiently(patience: float, prepare: Callable[[Any], None], connection: Any) -> None:
    """Do what comes before anything is read or written, again while others are in the way.

    SQLite itself waits for a lock, but not where it takes two processes to be about to do the same:
    to begin the log of a new file, or to mend that of a process which was killed.
    """
    end = monotonic() + patience
    while True:
        try:
            return prepare(connection)
        except (sqlite3.OperationalError, exc.OperationalError) as error:
            cause = error.orig if isinstance(error, exc.OperationalError) else error
            code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
            if code not in _IN_THE_WAY or monotonic() >= end:
                raise
        sleep(_PAUSE)


def _prepare_sqlite(connection: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver does
    cursor = connection.cursor()
    mode = cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA fullfsync = ON")  # macOS keeps plain syncs in the cache of the disk
    cursor.close()
    if mode in {"off", "memory"}:  # what a file system without locks may leave
        raise _no_place("the place of the ledger keeps no journal")


def _prepare_reading(connection: Any) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    writing = connection.get_execution_options().get("celosia_writing", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _prepare_postgres(connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        kept = cursor.execute("SHOW fsync").fetchone()[0]
        cursor.execute("SET synchronous_commit = on")
    connection.commit()
    if kept != "on":
        raise _no_place("the server runs with fsync off")


def _no_place(what: str) -> InputError:
    return InputError(
        "CEL-Q116",
        f"{what}.",
        why="A charge that can be forgotten can be spent again.",
        fix="Give the name of a file in a folder that exists, or postgresql://user@host/database.",
    )


def _damaged() -> PrivacyError:
    return PrivacyError(
        "CEL-Q104",
        "the file of the ledger is damaged, or is not a ledger.",
        why="What was spent can no longer be told.",
        fix="Restore the ledger from a copy whose head matches the last release.",
    )
