"""PostgreSQL: queries in read-only transactions, each of which sees one state of the data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING, Any

from celosia.core.errors import EngineError
from celosia.core.resources import Closeable
from celosia.engines.sql import (
    FETCHED,
    Reader,
    Rows,
    Timeout,
    failed,
    out_of_time,
    seconds_of,
    select_text,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import Connection
    from sqlglot import exp

SETTINGS = {
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "extra_float_digits": "1",
    "jit": "off",  # to compile dozens of expressions takes longer than to run them
    "search_path": "",  # filled in below: the schema that is asked, and nobody's temporary tables
}
"""What a server or role may set otherwise, and what a result must not depend on."""


_STATE = """
WITH RECURSIVE watched AS (
    SELECT c.oid FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = %(schema)s AND c.relname = ANY(%(tables)s)
    UNION
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN watched ON watched.oid = i.inhparent
), plain AS (
    SELECT count(*) FILTER (WHERE n.nspname = %(schema)s AND c.relname = ANY(%(tables)s)) AS found,
        bool_and(
            NOT c.relrowsecurity
            AND (c.relkind = 'p' OR (c.relkind = 'r' AND a.amname = 'heap'))
        ) AS stored
    FROM watched JOIN pg_catalog.pg_class AS c ON c.oid = watched.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am AS a ON a.oid = c.relam
)
SELECT pg_catalog.pg_current_snapshot()::text, s.pid, s.backend_start
FROM plain, pg_catalog.pg_stat_activity AS s
WHERE s.pid = pg_catalog.pg_backend_pid() AND NOT pg_catalog.pg_is_in_recovery()
    AND plain.stored AND plain.found = %(number)s
"""
"""The state of the rows of some tables; no row where none can be told, see `PostgresEngine.state`.
"""
WATCHED = 5_000
"""Milliseconds that the server may take to tell its state."""


class PostgresEngine(Closeable):
    """A PostgreSQL server, asked through SQLAlchemy and psycopg.

    Every query runs in a transaction that is read-only and repeatable-read, with a statement
    timeout of its own. Use a role that may only SELECT: a second lock on the same door.

    Args:
        url: such as `postgresql://reader@host/database`; `$NAME` is read from the environment.
        schema: where the tables are.
        tables: whose rows `state` is about; without any, no state is known.

    Raises:
        EngineError: CEL-E014 no server answers, CEL-E015 psycopg is missing.
    """

    dialect = "postgres"

    def __init__(self, url: str, *, schema: str = "public", tables: Iterable[str] = ()) -> None:
        from sqlalchemy import create_engine, make_url  # 0.2 s, where wanted
        from sqlalchemy.exc import SQLAlchemyError

        self._schema = schema
        self._tables = sorted(set(tables))
        self._witness: Connection | None = None
        self._watching = Lock()
        opened = None
        try:
            import psycopg  # noqa: F401

            given = os.environ.get(url[1:], "") if url.startswith("$") else url
            address = make_url(given).set(drivername="postgresql+psycopg")
            opened = create_engine(
                address,
                isolation_level="REPEATABLE READ",
                pool_pre_ping=True,
                hide_parameters=True,
                execution_options={"postgresql_readonly": True},
            )
            with opened.connect():
                pass
        except ImportError:
            reason = _missing()
        except (SQLAlchemyError, ValueError):
            reason = _unreachable()
        else:
            self._engine = opened
            return
        if opened is not None:
            opened.dispose()
        raise reason

    def run(self, query: exp.Expr, *, timeout: float) -> Rows:
        """The rows of a query, see `SqlEngine.run`; decimals that are whole come as integers."""
        return _rows(self._within(timeout, query, _all_rows))

    def arrow(self, query: exp.Expr, *, timeout: float) -> pa.Table:
        """The rows of a query as an Arrow table."""
        import pyarrow as pa  # 0.15 s, only where wanted

        def table(cursor: Any, text: str) -> pa.Table:
            cursor.execute(text)
            names = [each.name for each in cursor.description]
            columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
            arrays = [pa.array([_plain(value) for value in column]) for column in columns]
            return pa.Table.from_arrays(arrays, names=names)

        return self._within(timeout, query, table)

    def understands(self, query: exp.Expr, *, timeout: float) -> bool:
        """Whether the server accepts a query, see `SqlEngine.understands`.

        It is prepared, as a statement without a name: names and types are found, and nothing is
        planned or run. So neither rows nor what the server knows of their values take part.
        """
        import psycopg  # loaded already, by the constructor

        def prepared(cursor: Any, text: str) -> bool:
            found = cursor.connection.pgconn.prepare(b"", text.encode())
            if found.status == psycopg.pq.ExecStatus.COMMAND_OK:
                return True
            error = psycopg.errors.error_from_result(found)
            if isinstance(error, psycopg.OperationalError):  # out of time, or gone
                raise error
            return False

        accepted: bool = self._within(timeout, query, prepared)
        return accepted

    @contextmanager
    def snapshot(self, *, timeout: Timeout) -> Iterator[Reader]:
        """One state of the data for several queries, see `SqlEngine.snapshot`."""
        from sqlalchemy.exc import SQLAlchemyError

        connection = None
        with suppress(SQLAlchemyError):
            connection = self._engine.connect()
        if connection is None:
            raise failed()
        # The transaction begins with the first query, and what that sees all others see.
        with connection:
            yield lambda query: _rows(
                self._execute(connection, seconds_of(timeout), query, _all_rows)
            )

    @property
    def version(self) -> None:
        """Not known: others may write at any time."""
        return

    @property
    def state(self) -> object | None:
        """The snapshot of the whole server, and who has told it, see `SqlEngine.state`.

        A snapshot names the first transaction that it may not see, the one after the last that it
        may, and those between that have not ended. Whatever changes rows, tables or partitions is
        a transaction with a number of its own: INSERT, TRUNCATE and COPY FREEZE, ALTER TABLE and
        ATTACH PARTITION. When it ends, it either leaves the list or moves the upper end, and no
        later transaction undoes that. So where two snapshots are equal, no transaction that writes
        has ended between them, in any database of the server, and all queries between them saw the
        same rows: also a query that sees more than its own snapshot, such as after a TRUNCATE.

        Numbers are given again after a crash that lost commits, on a restored copy, or on a server
        that took over. So both snapshots must come from one process of the server, known by its
        number and the time of its start: it ends with the server that it belongs to. What a
        standby shows leaves out transactions that have not ended there: no state is known of it.

        Rows must be stored, and change by transactions only. So no state is known if a table is a
        view, whose functions may depend on time, a foreign table, one with row-level security,
        whose rules may, or one with storage of another kind than PostgreSQL's own. Not seen are
        repairs of damaged pages past all transactions (the extension pg_surgery): restart the
        vault after these.
        """
        if not self._tables:
            return None
        with self._watching:
            for _ in range(2):  # the process of the server may be gone: then a new one is asked
                with suppress(Exception):
                    return self._told_state()
                self._dismiss()
        return None

    def _told_state(self) -> object | None:
        if self._witness is None:
            self._witness = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            cursor = self._witness.connection.cursor()
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", (str(WATCHED),))
        cursor = self._witness.connection.cursor()
        tables = self._tables
        given = {"schema": self._schema, "tables": tables, "number": len(tables)}
        cursor.execute(_STATE, given)
        found: object | None = cursor.fetchone()
        return found

    def _dismiss(self) -> None:
        """Let go of the connection that tells the state."""
        witness, self._witness = self._witness, None
        if witness is not None:
            with suppress(Exception):
                witness.invalidate()
            with suppress(Exception):
                witness.close()

    def _within(self, timeout: float, query: exp.Expr, work: Callable[[Any, str], Any]) -> Any:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._engine.connect() as connection:
                return self._execute(connection, timeout, query, work)
        except SQLAlchemyError:
            pass
        raise failed()

    def _execute(
        self,
        connection: Connection,
        timeout: float,
        query: exp.Expr,
        work: Callable[[Any, str], Any],
    ) -> Any:
        import psycopg  # loaded already, by the constructor

        text = select_text(query, self.dialect)
        settings = SETTINGS | {
            "search_path": f"{_quoted(self._schema)}, pg_temp",
            "statement_timeout": str(max(1, round(timeout * 1000))),
        }
        late = False
        try:
            # The driver's own cursor: it leaves a % in a query alone.
            cursor = connection.connection.cursor()
            for name, value in settings.items():
                cursor.execute("SELECT set_config(%s, %s, true)", (name, value))
            return work(cursor, text)
        except psycopg.errors.QueryCanceled:
            late = True
        except Exception:  # noqa: S110 - what the server or driver says may hold values of rows
            pass
        raise out_of_time() if late else failed()

    def close(self) -> None:
        """Let go of the server."""
        with self._watching:
            self._dismiss()
        self._engine.dispose()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _all_rows(cursor: Any, text: str) -> Any:
    """All rows, a few at a time, as those of DuckDB are fetched."""
    rows: list[Any] = []
    cursor.execute(text)
    while some := cursor.fetchmany(FETCHED):
        rows += some
    return rows


def _rows(found: Any) -> Rows:
    return [tuple(_plain(value) for value in row) for row in found]


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    return value


def _unreachable() -> EngineError:
    return EngineError("CEL-E014.policy")


def _missing() -> EngineError:
    return EngineError("CEL-E015")
