"""Engines that run a query where the owner's tables are, and return a small table of numbers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, Protocol

from celosia.core.errors import EngineError
from celosia.core.resources import Closeable, WorkFolder
from celosia.engines.sqlite_files import copy_tables, is_sqlite

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from sqlglot import exp


def duckdb_settings(
    overflow: WorkFolder, memory: str | None = None, threads: int | None = None
) -> dict[str, Any]:
    """The settings of every DuckDB of ours.

    Raw rows that do not fit in memory go to a private folder, never to the working one, and nothing
    is ever fetched from elsewhere.
    """
    limits = {"memory_limit": memory, "threads": threads}
    return {
        "temp_directory": overflow.name,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    } | {name: limit for name, limit in limits.items() if limit is not None}


def attach(connection: duckdb.DuckDBPyConnection, path: str | Path | None) -> bool:
    """Put the tables of the owner's file beside those of other files, under their own names.

    Returns:
        Whether all of them are stored in this file, and none is computed, as views and generated
        columns are.
    """
    from sqlglot import exp  # 0.1 s, only where an engine is wanted

    if path is None:
        return True
    if is_sqlite(path):
        copy_tables(connection, path)
        return False  # its newest rows may be in another file, whose stamp nobody looks at
    place = exp.Literal.string(str(Path(path).resolve(strict=True))).sql("duckdb")
    connection.execute(f"ATTACH {place} AS celosia_owner (READ_ONLY)")
    tables = connection.execute(
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_catalog = 'celosia_owner' AND table_schema = 'main'"
    ).fetchall()
    for (table,) in tables:
        parts = (table, "main", "celosia_owner")
        names = [exp.to_identifier(part, quoted=True) for part in parts]
        there = exp.Table(this=names[0], db=names[1], catalog=names[2])
        create(connection, "VIEW", table, there)
    computed = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE database_name = 'celosia_owner' "
        "AND NOT internal UNION ALL "
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'celosia_owner' "
        "AND sql ILIKE '%generated always%'"
    )
    return computed.fetchone() is None


def add_files(
    connection: duckdb.DuckDBPyConnection, files: Mapping[str, str | Path]
) -> tuple[Path, ...]:
    """Make files tables: a CSV file is read now, a Parquet file stays where it is.

    Returns:
        The Parquet files, which are read by every query.
    """
    from sqlglot import exp  # 0.1 s, only where an engine is wanted

    reachable = []
    for table, file in files.items():
        found = Path(file).resolve(strict=True)
        is_parquet = found.suffix.lower() in (".parquet", ".pq")
        options: list[exp.Expr] = [exp.Literal.string(str(found))]
        if is_parquet:
            reachable.append(found)
        else:
            # All rows are looked at for types, so that none can surprise later.
            size = exp.Literal.number(-1)
            options.append(exp.PropertyEQ(this=exp.var("sample_size"), expression=size))
        reader = exp.Anonymous(
            this="read_parquet" if is_parquet else "read_csv", expressions=options
        )
        kind = "VIEW" if is_parquet else "TABLE"
        create(connection, kind, table, exp.Table(this=reader))
    # As text: to bind a value, DuckDB loads pandas where there is one, for a third of a second.
    paths = exp.Array(expressions=[exp.Literal.string(str(each)) for each in reachable])
    connection.execute(f"SET allowed_paths = {paths.sql('duckdb')}")
    return tuple(reachable)


def create(
    connection: duckdb.DuckDBPyConnection, kind: str, name: str, source: exp.Table | exp.Select
) -> None:
    """Make a table or a view of what a query finds."""
    from sqlglot import exp  # loaded already

    made = exp.Create(
        this=exp.Table(this=exp.to_identifier(name, quoted=True)),
        kind=kind,
        replace=True,
        expression=source if isinstance(source, exp.Select) else exp.select("*").from_(source),
    )
    connection.execute(made.sql("duckdb"))


Rows = list[tuple[Any, ...]]
Reader = Callable[["exp.Expr"], Rows]
"""Runs one query after the other in one state of the data."""
Timeout = float | Callable[[], float]
"""Seconds, or what tells them."""
INTERRUPTED = 0.02
"""Seconds after which a query that is out of time is interrupted once more."""
REST = 10.0
"""Seconds since the last change of a file, at least: clocks of file systems tick in up to two."""
FETCHED = 10_000
"""Rows that are taken from a result at once: no other thread runs while they become Python's."""


class SqlEngine(Protocol):
    """A database that may be read and nothing else.

    Whatever goes wrong in it while it reads data is one fixed error: what the engine says may hold
    values of rows.
    """

    dialect: str

    def run(self, query: exp.Expr, *, timeout: float) -> Rows:
        """The rows of a query.

        Args:
            query: one SELECT, as a tree.
            timeout: the seconds after which the engine is stopped.

        Raises:
            EngineError: CEL-E010 it failed, CEL-E011 out of time, CEL-E012 not a SELECT.
        """

    def arrow(self, query: exp.Expr, *, timeout: float) -> pa.Table:
        """The same as an Arrow table, for results of millions of rows."""

    def understands(self, query: exp.Expr, *, timeout: float) -> bool:
        """Whether the engine accepts a query; it is not run, and no row is read.

        Raises:
            EngineError: CEL-E010 it cannot be reached, CEL-E011 out of time, CEL-E012 no SELECT.
        """

    def snapshot(self, *, timeout: Timeout) -> AbstractContextManager[Reader]:
        """One read-only transaction: all queries in it see the same rows.

        Args:
            timeout: the seconds after which each query is stopped, or a function that tells them
                when a query begins.

        Raises:
            EngineError: CEL-E010 to CEL-E012 as for `run`; CEL-E016 rows changed all the same.
        """

    @property
    def version(self) -> object | None:
        """The same as long as no row can have changed; None where that cannot be told."""

    @property
    def state(self) -> object | None:
        """What tells the state of all rows from any other one; None where nothing can.

        Equal values at two moments prove that every query in between saw the same rows. So what
        was found of the rows may be remembered with the state; `version` allows no such proof.
        """

    def close(self) -> None:
        """Let go of the database."""


class DuckDBEngine(Closeable):
    """DuckDB over its own file, or over CSV and Parquet files, or both; read only.

    After the tables are set up nothing outside of them can be reached, whatever a query says:
    other files, the network, extensions and settings are locked.

    Args:
        path: a DuckDB file of the owner's, which is opened read-only, or a SQLite file, which is
            copied now; None for files only.
        files: tables that are CSV or Parquet files. A CSV file is read once, here, so that a cell
            which does not fit the type of its column fails now and not in a later query.
        views: tables that are made of others, each with its SELECT.
        memory: the most memory, such as "4GB"; DuckDB's own limit if None. What does not fit goes
            to a private folder.
        threads: the most cores; all if None.

    Raises:
        EngineError: CEL-E013, a database or file cannot be opened, or DuckDB's extension for SQLite
            is not installed.
    """

    dialect = "duckdb"

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        files: Mapping[str, str | Path] | None = None,
        views: Mapping[str, exp.Select] | None = None,
        memory: str | None = None,
        threads: int | None = None,
    ) -> None:
        import duckdb  # 0.1 s, only where an engine is wanted

        self._overflow = WorkFolder()
        config = duckdb_settings(self._overflow, memory, threads) | {
            # Groups by a key of a known range of up to a million values, such as people, take an
            # array instead of a hash table: ten times faster, for some 20 MB a core.
            "perfect_ht_threshold": 20,
            # What stands twice in a query would be computed once, and before the TRY around it:
            # TRY(x * x + x * x) would then fail on a row, and tell of it.
            "disabled_optimizers": "common_subexpressions",
        }
        opened, fault = None, False
        self._files: tuple[Path, ...] = ()
        self.is_fixed = not views
        """Whether all rows are those of files: views may depend on the day, or on chance."""
        try:
            opened = duckdb.connect(config=config)
            self.is_fixed &= attach(opened, path)
            self._files = add_files(opened, files or {})
            for table, view in (views or {}).items():
                create(opened, "VIEW", table, view)
            opened.execute("SET enable_external_access = false")
            opened.execute("SET lock_configuration = true")
        except (duckdb.Error, OSError):
            fault = True
        except EngineError:  # what it says is ours
            self._overflow.cleanup()
            raise
        if fault or opened is None:  # outside the handler: the cause may quote cells
            self._overflow.cleanup()
            raise EngineError("CEL-E013.policy")
        self._connection: duckdb.DuckDBPyConnection = opened
        self._busy: set[duckdb.DuckDBPyConnection] = set()

    def run(self, query: exp.Expr, *, timeout: float) -> Rows:
        """The rows of a query, see `SqlEngine.run`."""
        rows: Rows = self._within(timeout, query, _all_rows)
        return rows

    def arrow(self, query: exp.Expr, *, timeout: float) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return self._within(timeout, query, lambda cursor, _: cursor.to_arrow_table())

    def understands(self, query: exp.Expr, *, timeout: float) -> bool:
        """Whether DuckDB accepts a query, see `SqlEngine.understands`.

        DESCRIBE finds names and types, which is all that DuckDB refuses a query for, and knows of
        tables no more than the catalogue does. No plan is made, of which the order of many joins
        takes longer to find than all else, and no row is read.
        """
        from sqlglot import exp  # 0.1 s, only where an engine is wanted

        cursor = self._opened()
        try:
            self._timed(cursor, timeout, query, _all_rows, before="DESCRIBE ")
        except EngineError as error:
            if error.code != "CEL-E010":
                raise
            for table in tables_of(query):  # one that cannot be read is no fault of the query
                whole = exp.select("*").from_(table)
                self._timed(cursor, timeout, whole, _all_rows, before="DESCRIBE ")
            return False
        finally:
            cursor.close()
        return True

    @contextmanager
    def snapshot(self, *, timeout: Timeout) -> Iterator[Reader]:
        """One state of the data for several queries, see `SqlEngine.snapshot`.

        Transactions do not hold Parquet files, so a file that was written meanwhile is an error.
        """
        before = self.version
        cursor = self._opened("BEGIN TRANSACTION READ ONLY")
        try:
            yield lambda query: self._timed(cursor, seconds_of(timeout), query, _all_rows)
        finally:
            cursor.close()  # which ends the transaction
        if self.version != before:
            raise changed()

    @property
    def version(self) -> object:
        """What tells one state of the Parquet files from another; all else cannot change.

        The owner's database is locked against writing while it is open here, and CSV files were
        read when it was opened.
        """
        return tuple(map(stamp_of, self._files))

    @property
    def state(self) -> object | None:
        """The version, where all rows are those of files at rest, see `SqlEngine.state`.

        A file that has just been written could be written again within one tick of its clock, so
        it has no state yet; nor has one on Windows, which keeps no time of the last change.
        """
        stamps = tuple(map(stamp_of, self._files))
        if not self.is_fixed or not all(stamps) or (stamps and os.name == "nt"):
            return None
        latest = max((moment for stamp in stamps for moment in stamp[3:]), default=0)
        return stamps if latest / 1e9 + REST <= time.time() else None

    def _within(
        self,
        timeout: float,
        query: exp.Expr,
        fetch: Callable[[duckdb.DuckDBPyConnection, Callable[[], bool]], Any],
    ) -> Any:
        cursor = self._opened()  # one for each call, so that threads may share us
        try:
            return self._timed(cursor, timeout, query, fetch)
        finally:
            cursor.close()

    def _opened(self, begin: str | None = None) -> duckdb.DuckDBPyConnection:
        """A cursor, in a transaction if one is begun."""
        import duckdb  # loaded already, by the constructor

        with suppress(duckdb.Error, RuntimeError):
            cursor = self._connection.cursor()
            return cursor if begin is None else cursor.execute(begin)
        raise failed()

    def _timed(
        self,
        cursor: duckdb.DuckDBPyConnection,
        timeout: float,
        query: exp.Expr,
        fetch: Callable[[duckdb.DuckDBPyConnection, Callable[[], bool]], Any],
        *,
        before: str = "",
    ) -> Any:
        import duckdb  # loaded already, by the constructor

        text = before + select_text(query, self.dialect)
        stopped, ended = False, Event()

        def stop() -> None:
            nonlocal stopped
            stopped = True
            while True:  # DuckDB forgets an interruption that comes before the query has begun
                try:
                    cursor.interrupt()
                except duckdb.Error:  # it has been closed, so the query has ended
                    return
                if ended.wait(INTERRUPTED):
                    return

        timer = Timer(timeout, stop)
        timer.daemon = True
        timer.start()
        self._busy.add(cursor)
        try:
            return fetch(cursor.execute(text), lambda: stopped)
        except (duckdb.Error, RuntimeError, MemoryError):
            pass  # what the engine says may hold values of rows
        finally:
            ended.set()
            self._busy.discard(cursor)
            timer.cancel()
        raise out_of_time() if stopped else failed()

    def close(self) -> None:
        """Stop what still runs, in whichever thread, and let go of the database."""
        for cursor in tuple(self._busy):
            cursor.interrupt()
        self._connection.close()
        self._overflow.cleanup()


def tables_of(query: exp.Expr) -> list[exp.Table]:
    """The tables that a query names, without those that it makes itself."""
    from sqlglot import exp  # 0.1 s, only where an engine is wanted

    made = {each.alias for each in query.find_all(exp.CTE)}
    named = {each.name: each for each in query.find_all(exp.Table) if each.name not in made}
    return [exp.Table(this=each.this.copy()) for each in named.values()]


def stamp_of(file: Path) -> tuple[int, ...]:
    """What changes when a file is written or replaced; empty where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _all_rows(cursor: duckdb.DuckDBPyConnection, is_stopped: Callable[[], bool]) -> Rows:
    """All rows, a few at a time: between them other threads may run, and the time is looked at."""
    rows: Rows = []
    while not is_stopped() and (some := cursor.fetchmany(FETCHED)):
        rows += some
    if is_stopped():
        raise RuntimeError
    return rows


def seconds_of(timeout: Timeout) -> float:
    """The seconds that a query has which begins now; at least a millisecond.

    >>> seconds_of(2), seconds_of(lambda: -1.0)
    (2, 0.001)
    """
    return max(0.001, timeout() if callable(timeout) else timeout)


def select_text(query: exp.Expr, dialect: str) -> str:
    """One SELECT as text, and nothing but a SELECT.

    Raises:
        EngineError: CEL-E012.
    """
    from sqlglot import exp  # the caller who gives a tree has loaded it

    if not isinstance(query, exp.Query) or query.find(exp.DDL, exp.DML, exp.Command, exp.Into):
        raise EngineError("CEL-E012")
    return query.sql(dialect=dialect)


def failed() -> EngineError:
    """The one error of every failure while data is read."""
    return EngineError("CEL-E010")


def out_of_time() -> EngineError:
    """The error of a query that was stopped."""
    return EngineError("CEL-E011")


def changed() -> EngineError:
    """The error of queries that did not see one state of the data."""
    return EngineError("CEL-E016")
