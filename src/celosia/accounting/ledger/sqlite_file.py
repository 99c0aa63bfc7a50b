"""A ledger in a file of SQLite: write-ahead log, full sync.

The write lock is taken at the beginning of a transaction (BEGIN IMMEDIATE), so that the sums that
were read cannot change before the charge is written. A commit returns after the write-ahead log was
synced to the disk: a charge that a power failure takes back could be spent again.

A process that has the file open would go on writing to it after it was deleted or replaced, and
no other process would ever see its charges. So each transaction compares the device and the inode
of the file with those of the file that was opened.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from celosia.accounting.ledger import store
from celosia.core.errors import InputError

_IN_THE_WAY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_PAUSE = 0.02
"""Seconds between two tries."""
_FORGOTTEN: list[sqlite3.Connection] = []
"""Connections of the parent process after a fork: SQLite forbids to close one in the child."""


class SqliteConnection:
    """A connection to the file; every statement passes through `execute`."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def execute(self, statement: str, **values: Any) -> Iterator[store.Row]:
        """Run a statement, see `database.Connection`."""
        return self.raw.execute(statement, values)

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        wanted = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name"
        return next(self.execute(wanted, name=name), None) is not None


class SqliteFile:
    """A file of SQLite; see `database.Database`."""

    def __init__(self, path: Path, *, patience: float, read_only: bool) -> None:
        """Make the file, unless it is only to be read; nothing is opened yet.

        Args:
            path: the file.
            patience: seconds to wait for another process that writes.
            read_only: whether nothing may be made or written.
        """
        self._path = path
        self._patience = patience
        self._read_only = read_only
        self._connection: SqliteConnection | None = None
        self._identity: tuple[int, int] | None = None
        if not read_only:
            _make_private(path)

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[SqliteConnection]:
        """A transaction, see `database.Database.transaction`."""
        try:
            connection = self._connected()
            # A deferred BEGIN would take the write lock at the first write only, after the sums
            # were read: another process could charge in between.
            begin = "BEGIN IMMEDIATE" if writing else "BEGIN"
            self._patiently(lambda: connection.execute(begin))
            try:
                self._check_identity()  # with the lock held, so that the sums are of this very file
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self._roll_back(connection)
                raise
        except (
            sqlite3.OperationalError,
            sqlite3.InterfaceError,
            sqlite3.IntegrityError,
        ) as error:
            self._check_identity()
            # The tables were made when the ledger was opened; without them it is another file.
            is_emptied = str(error).startswith("no such table")
            raise (
                store.DatabaseReplacedError if is_emptied else store.DatabaseUnavailableError
            ) from error
        except sqlite3.DatabaseError as error:
            raise store.DatabaseDamagedError from error

    def close(self) -> None:
        """Close the file; the last one who does empties the log of writes."""
        if self._connection is not None:
            self._connection.raw.close()
            self._connection = None

    def forget(self) -> None:
        """Drop the connection, which is that of another process."""
        if self._connection is not None:
            _FORGOTTEN.append(self._connection.raw)
            self._connection = None

    def __str__(self) -> str:
        return str(self._path)

    def _connected(self) -> SqliteConnection:
        if self._connection is None:
            before = _identity(self._path)  # a file that is swapped while it is opened is noticed
            raw = connect(self._path, patience=self._patience)
            try:
                prepare = _prepare_reading if self._read_only else _prepare_writing
                self._patiently(lambda: prepare(raw))
                if self._identity is None:  # the first file that was opened, also for reconnections
                    self._identity = before
                self._check_identity()
            except BaseException:
                raw.close()
                raise
            self._connection = SqliteConnection(raw)
        return self._connection

    def _check_identity(self) -> None:
        """Refuse to go on once the file of this name is another one, or none."""
        if self._identity is not None and _identity(self._path) != self._identity:
            raise store.DatabaseReplacedError

    def _roll_back(self, connection: SqliteConnection) -> None:
        """End a transaction that failed; a connection that cannot even do that is given up."""
        try:
            if connection.raw.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.close()

    def _patiently(self, prepare: Callable[[], object]) -> None:
        """Do what comes before anything is read or written, again while others are in the way.

        SQLite itself waits for a lock, but not where it takes two processes to be about to do the
        same: to begin the log of a new file, or to mend that of a process which was killed.
        """
        end = monotonic() + self._patience
        while True:
            try:
                prepare()
                return
            except sqlite3.OperationalError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code not in _IN_THE_WAY or monotonic() >= end:
                    raise
            sleep(_PAUSE)


def connect(path: Path, *, patience: float) -> sqlite3.Connection:
    """Open a file, whose transactions begin where we say and not where the driver does.

    Threads take turns with the connection: the ledger has a lock for that.
    """
    return sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of a file; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _make_private(path: Path) -> None:
    """Create the file for its owner only, before SQLite would: it holds analysts' questions."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except PermissionError:
        return  # SQLite will say whether it can be read at all


def _prepare_writing(raw: sqlite3.Connection) -> None:
    mode = raw.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    # NORMAL would sync the log at checkpoints only, and a power failure could take charges back.
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("PRAGMA fullfsync = ON")  # macOS keeps plain syncs in the cache of the disk
    if mode in {"off", "memory"}:  # what a file system without locks may leave
        raise InputError("CEL-Q116.no_journal")


def _prepare_reading(raw: sqlite3.Connection) -> None:
    raw.execute("PRAGMA query_only = ON")
