"""The interface of a ledger's database: transactions, plain statements, and its failures.

`sqlite_file` and `postgres_server` are the two that there are. Neither is loaded for the other: a
ledger in a file does without SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

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
