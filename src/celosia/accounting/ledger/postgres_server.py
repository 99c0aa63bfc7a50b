"""A ledger in PostgreSQL: one writer at a time by an advisory lock, and synchronous commit.

The check of the budget and the charge must be one step for all processes. The lock gives that
without SERIALIZABLE, whose failed transactions would have to be repeated. A server that loses
commits at a power failure (fsync = off) is refused: a lost charge could be spent again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from celosia.accounting.ledger.store import DatabaseReplacedError, DatabaseUnavailableError, Row
from celosia.core.errors import EngineError, InputError

LOCK = 0x63656C6F73696102
"""The advisory lock: `celosia` in ASCII, and a number."""
UNDEFINED_TABLE = "42P01"


class PostgresConnection:
    """A connection to the server, within a transaction."""

    def __init__(self, raw: sa.Connection) -> None:
        self.raw = raw

    def execute(self, statement: str, **values: Any) -> Iterator[Row]:
        """Run a statement, see `database.Connection`."""
        found = self.raw.execute(sa.text(statement), values)
        return iter(found) if found.returns_rows else iter(())

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        return sa.inspect(self.raw).has_table(name)


class PostgresServer:
    """A database of PostgreSQL; see `database.Database`."""

    def __init__(self, url: str, *, patience: float, read_only: bool) -> None:
        """Nothing is opened yet.

        Args:
            url: the address, as SQLAlchemy reads it.
            patience: seconds to wait for another process that writes.
            read_only: whether nothing may be made or written.
        """
        self._url = sa.make_url(url).set(drivername="postgresql+psycopg")
        self._patience = patience
        try:
            self._engine = sa.create_engine(
                self._url, pool_size=1, max_overflow=0, pool_pre_ping=True, hide_parameters=True
            )
        except ModuleNotFoundError as error:
            raise EngineError("CEL-Q101", package=error.name) from None
        if not read_only:
            sa.event.listen(self._engine, "connect", _prepare)

    @contextmanager
    def transaction(self, *, writing: bool) -> Iterator[PostgresConnection]:
        """A transaction, see `database.Database.transaction`."""
        try:
            with self._engine.connect() as raw, raw.begin():
                self._begin(raw, writing=writing)
                yield PostgresConnection(raw)
        except (exc.DBAPIError, exc.TimeoutError) as error:
            # The tables were made when the ledger was opened; without them it is another one.
            state = getattr(getattr(error, "orig", None), "sqlstate", None)
            raise (
                DatabaseReplacedError if state == UNDEFINED_TABLE else DatabaseUnavailableError
            ) from error

    def close(self) -> None:
        """Give the connection back."""
        self._engine.dispose()

    def forget(self) -> None:
        """Drop the connection, which is that of another process."""
        self._engine.dispose(close=False)

    def __str__(self) -> str:
        return self._url.render_as_string(hide_password=True)

    def _begin(self, raw: sa.Connection, *, writing: bool) -> None:
        if not writing:
            raw.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return
        # Each statement after the lock sees what was committed before it was obtained.
        raw.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        raw.exec_driver_sql(f"SET LOCAL lock_timeout = {int(self._patience * 1000)}")
        raw.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")


def _prepare(connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        kept = cursor.execute("SHOW fsync").fetchone()[0]
        cursor.execute("SET synchronous_commit = on")
    connection.commit()
    if kept != "on":
        raise InputError("CEL-Q116.no_sync")
