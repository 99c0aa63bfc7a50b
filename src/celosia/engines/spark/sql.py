"""Spark SQL: queries over files and over the tables of its catalogue, read only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from celosia.core.errors import EngineError
from celosia.core.resources import Closeable
from celosia.engines.spark.paths import FileTable, quoted
from celosia.engines.spark.session import spark_session
from celosia.engines.sql import (
    Reader,
    Rows,
    Timeout,
    changed,
    failed,
    out_of_time,
    seconds_of,
    select_text,
    tables_of,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from sqlglot import exp


PAUSE = 0.2
"""Seconds between two attempts: what is still being planned has no work to stop yet."""


@contextmanager
def time_limit(
    session: SparkSession, seconds: float, *, through_connect: bool
) -> Iterator[Callable[[], bool]]:
    """Stop what this thread has Spark do inside the block, once the time is up.

    Args:
        session: whose work it is.
        seconds: after which it is stopped.
        through_connect: whether the session is one of Spark Connect, which knows work by tags;
            elsewhere it is known by the group of its jobs. Both belong to a thread, so threads may
            share a session.

    Spark's tasks notice between batches of rows that they are stopped: the caller has its error at
    once, but a task in a join of everything with everything may keep its core for a while.

    Yields:
        Tells whether the time was up.
    """
    word = f"celosia-{uuid4().hex}"
    done, late = Event(), Event()

    def stop() -> None:
        with suppress(Exception):
            if through_connect:
                session.interruptTag(word)
            else:
                session.sparkContext.cancelJobGroup(word)

    def watch() -> None:
        if done.wait(seconds):
            return
        late.set()
        stop()
        while not done.wait(PAUSE):
            stop()

    if through_connect:
        session.addTag(word)
    else:
        session.sparkContext.setJobGroup(word, "celosia", interruptOnCancel=True)
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield late.is_set
    finally:
        done.set()
        watcher.join()
        with suppress(Exception):
            if through_connect:
                session.removeTag(word)
            else:
                session.sparkContext.setLocalProperty("spark.jobGroup.id", "")


SETTINGS = {
    # Off, so that nothing fails on a row: a cast, a division or an index that cannot be is NULL.
    # What would then be wrong in silence, whole numbers that overflow, is written with functions
    # that give NULL (see `queries.emission.spark`), and sums are widened below.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.caseSensitive": "false",
    # A text such as '${env:HOME}' in a query is only a text.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.runSQLOnFiles": "false",  # no file but those of the tables
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    # A product of decimals has all its places or is NULL; else Spark rounds it to fewer.
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    # What a view of the catalogue was made with does not count: it may fail on rows.
    "spark.sql.legacy.useCurrentConfigsForView": "true",
    # Rows that cannot be read are an error, never left out.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Dates before 1582 are read as they are; by default old files fail on the first of them.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
"""What a cluster may set otherwise, and what a result must not depend on."""


class SparkEngine(Closeable):
    """Spark over Parquet and CSV files, over the tables of its catalogue, or both; read only.

    Spark has no transactions. What holds instead: the files behind every table that is asked are
    noted before and after, by name, and where they are on this machine also by size and time; if
    they changed meanwhile, the answer is thrown away (CEL-E016).

    Args:
        url: where Spark runs, as for `spark_session`.
        files: tables that are Parquet files or folders of them, or CSV files.
        settings: Spark's own.

    Raises:
        EngineError: CEL-E013 a file cannot be read, CEL-E050 to CEL-E053 no Spark.
    """

    dialect = "spark"

    def __init__(
        self,
        url: str | None = None,
        *,
        files: Mapping[str, str | Path] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._session = spark_session(url, settings=settings)
        self._remote = url is not None and "sc://" in url
        self._closed = False
        self._files: dict[str, FileTable] = {}
        fault = False
        try:
            for name, value in SETTINGS.items():
                if self._session.conf.isModifiable(name):
                    self._session.conf.set(name, value)
            for table, file in (files or {}).items():
                self._files[table.lower()] = FileTable(self._session, table, file)
            # In words: the call for it fails on the tables that Spark's own writer has made.
            listed = self._session.sql("SHOW TABLES").collect()
            self._catalogued = [each.tableName for each in listed if not each.isTemporary]
        except Exception:
            fault = True
        if fault:  # outside the handler: the cause may quote cells
            raise EngineError("CEL-E013.spark")

    def run(self, query: exp.Expr, *, timeout: float) -> Rows:
        """The rows of a query, see `SqlEngine.run`; decimals that are whole come as integers."""
        rows: Rows = self._within(timeout, query, _all_rows)
        return rows

    def arrow(self, query: exp.Expr, *, timeout: float) -> pa.Table:
        """The rows of a query as an Arrow table."""
        return self._within(timeout, query, lambda frame: frame.toArrow())

    def understands(self, query: exp.Expr, *, timeout: float) -> bool:
        """Whether Spark accepts a query, see `SqlEngine.understands`.

        It is analysed: names and types are found. Nothing is optimised or run.
        """
        from sqlglot import exp  # the caller who gives a tree has loaded it

        try:
            self._within(timeout, query, _types)
        except EngineError as error:
            if error.code != "CEL-E010":
                raise
            for table in tables_of(query):  # one that cannot be read is no fault of the query
                self._within(timeout, exp.select("*").from_(table), _types)
            return False
        return True

    def columns(self) -> dict[str, dict[str, str]]:
        """The tables, with the type of each column as Spark writes it. No row is read.

        Raises:
            EngineError: CEL-E010.
        """
        with suppress(Exception):
            frames = {each.name: each.frame for each in self._files.values()}
            for name in self._catalogued:
                if name.lower() not in self._files:
                    frames[name] = self._session.table(quoted(name))
            return {
                name: {each.name: each.dataType.simpleString() for each in frame.schema}
                for name, frame in frames.items()
            }
        raise failed()

    @contextmanager
    def snapshot(self, *, timeout: Timeout) -> Iterator[Reader]:
        """Several queries of one state of the files, see `SqlEngine.snapshot`."""
        before: dict[str, object] = {}

        def read(query: exp.Expr) -> Rows:
            for table in tables_of(query):
                before.setdefault(table.name.lower(), self._stamp(table.name.lower()))
            return self.run(query, timeout=seconds_of(timeout))

        if self._closed:
            raise failed()
        yield read
        if any(self._stamp(table) != stamp for table, stamp in before.items()):
            raise changed()

    @property
    def version(self) -> object | None:
        """What tells one state of the files from another; None where they are elsewhere.

        Of tables of the catalogue, and of files in other places, no more is known than names.
        """
        if self._catalogued or not all(each.is_local for each in self._files.values()):
            return None
        return tuple(each.stamp() for each in self._files.values())

    @property
    def state(self) -> None:
        """Not known: files are listed again by every query."""
        return

    def _stamp(self, table: str) -> object:
        """The files of a table as they are now."""
        if table in self._files:
            return self._files[table].stamp()
        with suppress(Exception):
            self._session.catalog.refreshTable(quoted(table))
            return sorted(self._session.table(quoted(table)).inputFiles())
        raise failed()

    def _within(self, timeout: float, query: exp.Expr, work: Callable[[DataFrame], Any]) -> Any:
        text = select_text(_widened(query), self.dialect)
        late = False
        try:
            if not self._closed:
                with time_limit(self._session, timeout, through_connect=self._remote) as is_late:
                    try:
                        for each in self._files.values():
                            each.refresh()
                        found = work(self._session.sql(text))
                    finally:
                        late = is_late()
                if not late:
                    return found
        except Exception:  # noqa: S110 - what Spark says may hold values of rows
            pass
        raise out_of_time() if late else failed()

    def close(self) -> None:
        """Let go of the tables; the Spark of this process stays for others."""
        if self._closed:
            return
        self._closed = True
        with suppress(Exception):
            for each in self._files.values():
                each.drop()
            if self._remote:
                self._session.stop()


def _widened(query: exp.Expr) -> exp.Expr:
    """The query with sums and places that cannot overflow.

    Spark adds up BIGINT within 64 bits. Beside a decimal zero whole numbers become decimal ones,
    of which a sum has 38 digits: more than 2^64 rows of 62 bits need. Doubles stay doubles.

    ROW_NUMBER has 32 bits and would go round, so that rows beyond a cap came below it; a running
    count has 64.
    """
    from sqlglot import exp  # the caller who gives a tree has loaded it

    def wide(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber):
            node.set("this", exp.Count(this=exp.Star()))
            ends = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}
            node.set("spec", exp.WindowSpec(kind="ROWS", **ends))
            return node
        if not isinstance(node, exp.Sum) or isinstance(node.this, exp.Distinct):
            return node
        zero = exp.cast(exp.Literal.number(0), exp.DataType.build("DECIMAL(27, 0)"))
        return exp.Sum(this=exp.Add(this=exp.Paren(this=node.this), expression=zero))

    return query.transform(wide)


def _types(frame: DataFrame) -> object:
    return frame.schema


def _all_rows(frame: DataFrame) -> Rows:
    return [tuple(_plain(value) for value in row) for row in frame.collect()]


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    return value
