"""The tables of a ledger, in SQLite or PostgreSQL.

`sqlite_file` and `postgres_server` are the two that there are. Neither is loaded for the other: a
ledger in a file does without SQLAlchemy.

How long a question runs, and whether it fails, may depend on the rows. So an incident is no entry
of the chain, which analysts see in part and whose head every release prints: it is a row of a table
beside the chain.

A transaction is on disk before it ends, see `sqlite_file` and `postgres_server`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from celosia.accounting.ledger.chain import Entry, Head, broken_chain_error
from celosia.core.errors import EngineError, InputError, PrivacyError
from celosia.core.messages import say
from celosia.core.methods import PlainValues

Row = tuple[Any, ...]


class DatabaseUnavailableError(Exception):
    """The database cannot be read or written now; it may be later."""


class DatabaseDamagedError(Exception):
    """The file is not a database, or is one no longer."""


class DatabaseReplacedError(Exception):
    """The opened ledger is no longer at its location: it was deleted or replaced."""


class Connection(Protocol):
    """Runs statements within one transaction."""

    def execute(self, statement: str, **values: Any) -> Iterator[Row]:
        """Run a statement; `:name` stands for the value of that name."""

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""


class Database(Protocol):
    """A database that one thread at a time uses, in one process; its text names it for people."""

    def transaction(self, *, writing: bool) -> AbstractContextManager[Connection]:
        """A transaction that sees one state; what it writes is on disk when it ends well.

        Args:
            writing: whether to keep all others who write waiting from the beginning.

        Raises:
            DatabaseUnavailableError, DatabaseDamagedError: it failed, and wrote nothing.
            DatabaseReplacedError: the ledger that was opened is gone.
        """

    def close(self) -> None:
        """Let go of the connection."""

    def forget(self) -> None:
        """Drop the connection without a word to the database: it is that of another process."""


def parse_location(location: str | Path) -> Path | str:
    """The file of a ledger, or the address of the server that keeps it."""
    if isinstance(location, str) and "://" in location:
        from sqlalchemy import exc, make_url  # 0.2 s, only where there is a URL

        try:
            url = make_url(location)
        except (exc.ArgumentError, ValueError):
            raise InputError("CEL-Q116.unreadable_url") from None
        if url.get_backend_name() in {"postgres", "postgresql"}:
            return location
        if url.get_backend_name() != "sqlite" or url.query:
            raise InputError("CEL-Q116.other_database")
        location = url.database or ""
    if not str(location) or str(location) == ":memory:" or str(location).startswith("file:"):
        raise InputError("CEL-Q116.memory")
    path = Path(location).absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise InputError("CEL-Q116.folder", path=str(path))
    return path


def file_exists(location: str | Path) -> bool:
    """Whether the file of a location exists; True for a server, which only a connection can ask."""
    found = parse_location(location)
    return isinstance(found, str) or found.is_file()


EXCEEDED_DEADLINE = "exceeded-deadline"
"""The question was not answered by its deadline."""
FAILED_QUERY = "failed-query"
"""The database failed while the question was answered."""
COUNTED_KINDS = frozenset({EXCEEDED_DEADLINE, FAILED_QUERY})
"""The kinds that count against `exceeded_per_day`: both are answered by noise on zero, which may
tell that the question was too much for the rows."""

_KIND = re.compile(r"[a-z0-9-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(PlainValues):
    """One incident: when, who had asked, the entry that was charged, and what happened."""

    at: str
    """In universal time, as ISO 8601."""
    analyst: str
    entry: int
    kind: str

    def __str__(self) -> str:
        return say("queries.ledger.incident", **asdict(self))


def check_kind(kind: object) -> None:
    """Refuse a kind that is not a short word: a message may hold values of the data."""
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise InputError("CEL-Q303", example=EXCEEDED_DEADLINE)


def day_of(at: str) -> str:
    """The day of a time in universal time.

    >>> print(day_of("2026-03-01T23:59:59+00:00"))
    2026-03-01
    """
    return at[:10]


def now_in_utc() -> datetime:
    """The clock of a ledger."""
    return datetime.now(UTC)


ENTRIES = "celosia_ledger"
HEAD = "celosia_ledger_head"
"""The last entry once more: a chain alone does not tell that its end was cut off."""
INCIDENTS = "celosia_ledger_incidents"
"""Beside the chain, for the curator; ledgers of before this table get it when they are opened."""
TABLES = {
    ENTRIES: "sequence BIGINT NOT NULL, previous VARCHAR(64) NOT NULL, body TEXT NOT NULL, "
    "hash VARCHAR(64) NOT NULL, PRIMARY KEY (sequence)",
    HEAD: "id INTEGER NOT NULL CONSTRAINT one_head CHECK (id = 1), sequence BIGINT NOT NULL, "
    "hash VARCHAR(64) NOT NULL, PRIMARY KEY (id)",
    INCIDENTS: "entry BIGINT NOT NULL, kind VARCHAR(40) NOT NULL, at VARCHAR(40) NOT NULL, "
    "analyst TEXT NOT NULL, PRIMARY KEY (entry, kind)",
}


class Store:
    """The tables of one ledger; used by one thread at a time, in one process."""

    def __init__(
        self, location: str | Path, *, patience: float = 30.0, read_only: bool = False
    ) -> None:
        """Open or create the tables.

        Args:
            location: a file of SQLite, or the URL of a database.
            patience: seconds to wait for another process that writes.
            read_only: whether nothing may be made or written; there may then be no tables.
        """
        # A connection that a forked process shares would write two chains into one file.
        self._process = os.getpid()
        self._database = _database_at(location, patience=patience, read_only=read_only)
        if read_only:
            return
        try:
            with self.transaction(writing=True) as connection:
                for name, columns in TABLES.items():
                    if not connection.has_table(name):
                        connection.execute(f"CREATE TABLE {name} ({columns})")
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[Connection]:
        """A transaction that sees one state; what it writes is on disk when it ends well.

        Raises:
            EngineError: CEL-Q114 the database cannot be read or written; CEL-Q115 another process.
            PrivacyError: CEL-Q104 the file is damaged; CEL-Q104 it is no longer in its place.
        """
        if os.getpid() != self._process:
            raise EngineError("CEL-Q115.other_process")
        try:
            with self._database.transaction(writing=writing) as connection:
                yield connection
        except DatabaseUnavailableError as error:
            raise self._unavailable() from error
        except DatabaseDamagedError as error:
            raise PrivacyError("CEL-Q104.damaged_file") from error
        except DatabaseReplacedError as error:
            raise PrivacyError("CEL-Q104.replaced") from error

    def has_tables(self) -> bool:
        """Whether there is anything to read."""
        try:
            with self.transaction(writing=False) as connection:
                return connection.has_table(ENTRIES) and connection.has_table(HEAD)
        except PrivacyError:
            pass
        raise EngineError("CEL-Q114.no_database", location=str(self))

    def _unavailable(self) -> EngineError:
        return EngineError("CEL-Q114.unavailable", location=str(self))

    def read(
        self, connection: Connection, *, since: int = 0, most: int | None = None
    ) -> Iterator[Entry]:
        """The entries from a number on, in order."""
        found = connection.execute(
            f"SELECT sequence, previous, body, hash FROM {ENTRIES} "  # noqa: S608 - our own name
            "WHERE sequence >= :since ORDER BY sequence"
            + ("" if most is None else f" LIMIT {int(most)}"),
            since=since,
        )
        for sequence, previous, body, digest in found:
            if not all(isinstance(text, str) for text in (previous, body, digest)):
                raise broken_chain_error(sequence)
            yield Entry(sequence, previous, body, digest)

    def head(self, connection: Connection) -> Head | None:
        """The last entry, as it was noted beside the chain; None for a new ledger."""
        rows = list(connection.execute(f"SELECT sequence, hash FROM {HEAD}"))  # noqa: S608 - as above
        if len(rows) > 1:
            raise broken_chain_error(0)
        return Head(*rows[0]) if rows else None

    def append(self, connection: Connection, entry: Entry) -> None:
        """Write an entry, and note that it is the last.

        Both in the transaction of the caller: they are on disk together, or not at all.
        """
        connection.execute(
            f"INSERT INTO {ENTRIES} (sequence, previous, body, hash) "  # noqa: S608 - as above
            "VALUES (:sequence, :previous, :body, :hash)",
            **entry.as_dict(),
        )
        # The note beside the chain tells of entries cut off at its end, which no link would miss.
        noted = {"sequence": entry.sequence, "hash": entry.hash}
        if entry.sequence == 0:
            values = "(id, sequence, hash) VALUES (1, :sequence, :hash)"
            connection.execute(f"INSERT INTO {HEAD} {values}", **noted)
        else:
            values = "SET sequence = :sequence, hash = :hash"
            connection.execute(f"UPDATE {HEAD} {values}", **noted)

    def add_incident(self, connection: Connection, incident: Incident) -> None:
        """Keep an incident; the first of a kind of each entry stays."""
        same = connection.execute(
            f"SELECT at FROM {INCIDENTS} WHERE entry = :entry AND kind = :kind",  # noqa: S608 - as above
            entry=incident.entry,
            kind=incident.kind,
        )
        if next(same, None) is None:
            connection.execute(
                f"INSERT INTO {INCIDENTS} (entry, kind, at, analyst) "  # noqa: S608 - as above
                "VALUES (:entry, :kind, :at, :analyst)",
                **incident.as_dict(),
            )

    def incidents(self, connection: Connection) -> tuple[Incident, ...]:
        """All incidents in the order of their entries; none where there is no table of them."""
        if not connection.has_table(INCIDENTS):
            return ()
        found = connection.execute(
            f"SELECT entry, kind, at, analyst FROM {INCIDENTS} ORDER BY entry, kind"  # noqa: S608 - as above
        )
        return tuple(
            Incident(entry=entry, kind=kind, at=at, analyst=analyst)
            for entry, kind, at, analyst in found
        )

    def count_incidents(
        self, connection: Connection, *, analyst: str, day: str, kinds: Collection[str]
    ) -> int:
        """Count the questions of an analyst with an incident of these kinds in a day."""
        found = connection.execute(
            f"SELECT entry, kind FROM {INCIDENTS} WHERE analyst = :analyst "  # noqa: S608 - as above
            "AND substr(at, 1, :length) = :day",
            analyst=analyst,
            day=day,
            length=len(day),
        )
        return len({entry for entry, kind in found if kind in kinds})

    def close(self) -> None:
        """Give the connection back; in another process than the own one, only forget it."""
        if os.getpid() == self._process:
            self._database.close()
        else:
            self._database.forget()

    def __str__(self) -> str:
        return str(self._database)


def _database_at(location: str | Path, *, patience: float, read_only: bool) -> Database:
    found = parse_location(location)
    if isinstance(found, Path):
        from celosia.accounting.ledger.sqlite_file import SqliteFile  # one of two

        return SqliteFile(found, patience=patience, read_only=read_only)
    from celosia.accounting.ledger.postgres_server import PostgresServer  # SQLAlchemy

    return PostgresServer(found, patience=patience, read_only=read_only)
