"""PostgreSQL as an engine for tables: the server groups, joins, shuffles and writes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from celosia.core.errors import EngineError
from celosia.core.files import check_writable
from celosia.engines.drafts import DraftFolder
from celosia.engines.duckdb import Groups, SizeCounts, size_counts, sizes_query
from celosia.engines.duckdb_relations import quoted
from celosia.engines.postgres_properties import read_properties, restore_properties
from celosia.engines.postgres_types import ServerColumn, server_column, server_type
from celosia.engines.recoded_classes import fresh_table, plain_text
from celosia.engines.sinks import write_parquet
from celosia.engines.tables import (
    Batch,
    Draft,
    Order,
    Output,
    Place,
    RecodingMap,
    TableEngine,
    changed_source,
    guarded,
    names_files,
    not_found,
    same_place,
    table_exists,
    unpublishable,
)
from celosia.frames.columns import without_minus_zero
from celosia.frames.sorting import sort_chunks

if TYPE_CHECKING:
    import psycopg


class TableDraft(Draft):
    """A table in a transaction that is still open, see `tables.Draft`."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        names: tuple[str, Place],
        rows: int,
        columns: dict[str, pl.DataType],
    ) -> None:
        self._connection = connection
        self._draft, self._target = names
        self.rows = rows
        self.columns = columns

    @guarded("PostgreSQL")
    def count_sizes(self) -> SizeCounts:
        """Count equal rows, see `tables.Draft`; as text, for some types cannot be compared."""
        query = sizes_query(f"{self._draft} AS t", "t::text")
        found = self._connection.execute(query.encode()).fetchall()
        return size_counts(pl.DataFrame(found, schema=["size", "number"], orient="row"))

    @guarded("PostgreSQL")
    def commit(self) -> None:
        """Give the table its name, in the place of one that has it, and end the transaction.

        Owner, grants, comments and indexes of the table that it replaces are kept.
        """
        last = str(self._target).split(".")[-1]
        properties = read_properties(self._connection, place_name(self._target))
        self._connection.execute(f"DROP TABLE IF EXISTS {place_name(self._target)}".encode())
        self._connection.execute(f"ALTER TABLE {self._draft} RENAME TO {quoted(last)}".encode())
        restore_properties(self._connection, properties)
        self._connection.commit()

    def close(self) -> None:
        """Undo what was not committed."""
        import psycopg  # loaded already, by the caller who has a connection

        with suppress(psycopg.Error):
            self._connection.rollback()


def to_file(
    chunks: Iterator[pl.DataFrame], names: Sequence[str], target: Place, sort: Sequence[str] = ()
) -> Draft:
    """Write chunks under these names, sorted if asked, into a file that waits for its own."""
    folder = DraftFolder(Path(target))
    try:
        named: Iterator[pl.DataFrame] = (
            without_minus_zero(pl.DataFrame(list(chunk), schema=list(names))) for chunk in chunks
        )
        if sort:
            named = sort_chunks(named, sort, folder.path, 20 * BATCH)
        return write_parquet(map(fresh_table, named), folder, Path(target))
    except BaseException:
        folder.close()
        raise


def place_name(place: Place) -> str:
    """The name of a table in SQL.

    >>> place_name("raw.people")
    '"raw"."people"'
    """
    return ".".join(quoted(part) for part in str(place).split("."))


# ruff: noqa: S608 - names are quoted, and all else in a query is ours


BATCH = 50_000
"""Rows that are here at a time."""

_TABLES = (b"r", b"p", b"m", "r", "p", "m")
"""Kinds of relations whose rows stay as they are within a transaction, and have a place."""

_STOP = "1 / (m.id IS NOT NULL)::int = 1"
"""Divides by zero at a row that was not judged: such a row must never be released."""

SETTINGS = ("timezone = 'UTC'", "datestyle = 'ISO, YMD'", "extra_float_digits = 1")
"""What a server or role may set otherwise, and what a result must not depend on."""


class PostgresTables(TableEngine):
    """A PostgreSQL server: from its tables to its tables, or to a Parquet file here.

    All work is one transaction, which sees one state of the data from its first query on, and whose
    tables appear at its end or not at all. The role needs SELECT on the source, TEMPORARY on the
    database and, for a table as target, CREATE on its schema. See `TableEngine`.

    Args:
        url: such as `postgresql://owner@host/database`; `$NAME` is read from the environment.

    Raises:
        EngineError: CEL-E014 no server answers, CEL-E015 psycopg is missing.
    """

    name: ClassVar[str] = "postgres"

    def __init__(self, url: str) -> None:
        self._connection = _connect(url)
        self._described: dict[Place, dict[str, ServerColumn]] = {}
        self._sources: dict[Place, str] = {}
        self._keys: dict[str, str] = {}

    @guarded("PostgreSQL")
    def columns(self, source: Place) -> dict[str, pl.DataType]:
        """Names and types, see `TableEngine.columns`."""
        return {name: column.kind for name, column in self._columns(source).items()}

    @guarded("PostgreSQL")
    def check_target(self, source: Place, target: Place, *, overwrite: bool) -> None:
        """Refuse a target that could not be written, see `TableEngine.check_target`."""
        if names_files(target):
            check_writable(Path(target), overwrite=overwrite)
            return
        query = "SELECT to_regclass(%s)::oid, to_regclass(%s)::oid"
        places = self._one(query, (place_name(source), place_name(target)))
        if places[0] == places[1]:
            raise same_place(target)
        if places[1] is not None and not overwrite:
            raise table_exists(target)

    @guarded("PostgreSQL")
    def count_groups(self, source: Place, columns: Sequence[str]) -> Groups:
        """Group by some columns on the server, see `TableEngine.count_groups`."""
        types = self._columns(source)
        keys = {name: f"k{number}" for number, name in enumerate(columns)}
        chosen = ", ".join(f"{types[name].compared} AS {key}" for name, key in keys.items())
        listed = ", ".join(keys.values())
        kinds = {keys[name]: types[name].kind for name in columns} | {"n": pl.Int64()}
        self._run("DROP TABLE IF EXISTS pg_temp.celosia_groups")
        self._run(
            "CREATE TEMP TABLE celosia_groups ON COMMIT DROP AS "
            f"SELECT (row_number() OVER ())::int - 1 AS id, {listed}, count(*) AS n "
            f"FROM (SELECT {chosen} FROM {self._source(source)}) AS g GROUP BY {listed}"
        )
        self._run("ANALYZE celosia_groups")
        self._refuse_strange("celosia_groups", {key: types[name] for name, key in keys.items()})
        query = f"SELECT {listed}, n FROM celosia_groups ORDER BY id"
        found = pl.concat([pl.DataFrame(schema=kinds), *self._rows(query, kinds)], how="vertical")
        self._keys = keys
        values = [found[key].alias(name) for name, key in keys.items()]
        return Groups(pl.DataFrame(values), found["n"].to_numpy())

    @guarded("PostgreSQL")
    def count_distinct(self, source: Place, column: str) -> tuple[int, int]:
        """Count on the server, see `TableEngine.count_distinct`."""
        cell = self._columns(source)[column].compared
        kinds = {"cells": pl.Int64(), "different": pl.Int64()}
        query = (
            "SELECT count(cell) AS cells, count(DISTINCT cell) AS different "
            f"FROM (SELECT {cell} AS cell FROM {self._source(source)}) AS c"
        )
        found = pl.concat(list(self._rows(query, kinds)))
        return int(found["cells"][0]), int(found["different"][0])

    @guarded("PostgreSQL")
    def count_sizes(
        self, source: Place, columns: Sequence[str], unit: str | None = None
    ) -> SizeCounts:
        """Count the sizes of groups on the server, see `TableEngine.count_sizes`."""
        types = self._columns(source)
        chosen = ", ".join(f"{types[name].compared} AS k{n}" for n, name in enumerate(columns))
        if unit is not None:
            chosen += f", {types[unit].compared} AS u"
        keys = ", ".join(f"k{number}" for number in range(len(columns)))
        kinds: dict[str, pl.DataType] = {"size": pl.Int64(), "number": pl.Int64()}
        rows = f"(SELECT {chosen} FROM {self._source(source)}) AS g"
        query = sizes_query(rows, keys, "*" if unit is None else "DISTINCT u")
        return size_counts(pl.concat([pl.DataFrame(schema=kinds), *self._rows(query, kinds)]))

    @guarded("PostgreSQL")
    def recode(
        self,
        source: Place,
        output: Output,
        recoding: RecodingMap,
        *,
        keep: Sequence[str],
        drop_suppressed: bool,
    ) -> Draft:
        """Write the recoded table, see `TableEngine.recode`.

        The server shuffles by its system's own entropy, so `rng` has no part in it.
        """
        import psycopg  # loaded already, by the constructor

        assert self._keys, "group the source first"
        types = self._columns(source)
        texts = [
            each.name for each in map(plain_text, recoding.released) if each.dtype == pl.String
        ]
        cells = []
        for number, name in enumerate(keep):
            if name not in recoding.names:
                cell = types[name].passed
            elif name in texts:
                cell = f"m.r{texts.index(name)}"
            else:  # every row keeps its value
                cell = f"m.{self._keys[name]}"
            cells.append(f"{cell} AS c{number}")
        kinds = {
            f"c{n}": recoding.released[name].dtype if name in recoding.names else types[name].kind
            for n, name in enumerate(keep)
        }
        same = " AND ".join(
            _equal(types[name].compared, f"m.{self._keys[name]}", recoding.combinations[name])
            for name in recoding.names
        )
        shown = "NOT m.hidden" if drop_suppressed else "true"
        target = output.place
        if names_files(target):
            passed = {f"t.{quoted(name)}": types[name] for name in keep}
            self._refuse_strange(self._source(source), passed)
        self._load(recoding, texts)
        query = _ordered(
            f"SELECT {', '.join(cells)}",
            f"{self._source(source)} LEFT JOIN celosia_map AS m ON {same} "
            f"WHERE CASE WHEN m.id IS NULL THEN {_STOP} ELSE {shown} END",
            output.order,
            kinds,
        )
        draft: Draft | None = None
        with suppress(psycopg.errors.DivisionByZero):
            if names_files(target):
                draft = to_file(self._rows(query, kinds), keep, target, output.sort)
            else:
                draft = self._to_table(query, target, dict(zip(keep, kinds.values(), strict=True)))
        if draft is None:
            raise changed_source()
        # One state of the data cannot lose rows; one that is damaged, or a join by another equality
        # than that of the groups, would.
        if draft.rows != recoding.released_rows(drop=drop_suppressed):
            with draft:
                raise changed_source()
        return draft

    @guarded("PostgreSQL")
    def map_batches(
        self, source: Place, output: Output, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> Draft:
        """Write what a function makes of the rows, see `TableEngine.map_batches`."""
        made = map(without_minus_zero, self._mapped(source, output.order, function, columns))
        target = output.place
        if names_files(target):
            return to_file(made, list(columns), target)
        draft = self._new_table(target)
        listed = ", ".join(f"{quoted(n)} {server_type(kind)}" for n, kind in columns.items())
        self._run(f"CREATE TABLE {draft} ({listed})")
        rows = 0
        for chunk in made:
            self._copy(draft, chunk)
            rows += chunk.height
        return TableDraft(self._connection, (draft, target), rows, dict(columns))

    @guarded("PostgreSQL")
    def collect_batches(
        self, source: Place, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """What a function makes of the rows, see `TableEngine.collect_batches`."""
        made = self._mapped(source, "kept", function, columns)
        return pl.concat([pl.DataFrame(schema=columns), *made])

    def _mapped(
        self, source: Place, order: Order, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> Iterator[pl.DataFrame]:
        """What a function makes of the rows, batch by batch."""
        types = self._columns(source)
        kinds = {f"c{number}": column.kind for number, column in enumerate(types.values())}
        cells = ", ".join(f"{c.passed} AS c{n}" for n, c in enumerate(types.values()))
        rows_of = self._source(source)
        self._refuse_strange(rows_of, {f"t.{quoted(name)}": each for name, each in types.items()})
        query = _ordered(f"SELECT {cells}", rows_of, order, kinds)
        back = dict(zip(kinds, types, strict=True))
        for chunk in self._rows(query, kinds):
            yield function(chunk.rename(back)).cast(pl.Schema(columns))

    def close(self) -> None:
        """End the transaction, and let go of the server."""
        self._connection.close()

    def _run(self, query: str) -> None:
        self._connection.execute(query.encode())

    def _one(self, query: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
        found = self._connection.execute(query.encode(), values).fetchone()
        assert found is not None
        row: tuple[Any, ...] = found
        return row

    def _columns(self, source: Place) -> dict[str, ServerColumn]:
        import psycopg  # loaded already, by the constructor

        if source not in self._described:
            described, enums = None, set()
            with suppress(psycopg.Error):
                found = self._connection.execute(
                    f"SELECT * FROM {place_name(source)} LIMIT 0".encode()
                )
                described = found.description or []
                listed = self._connection.execute("SELECT oid FROM pg_type WHERE typtype = 'e'")
                enums = {number for (number,) in listed}
            if described is None:
                with suppress(psycopg.Error):
                    self._connection.rollback()
                raise not_found(source)
            columns = [server_column(each, enums) for each in described]
            self._described[source] = {column.name: column for column in columns}
        return self._described[source]

    def _source(self, source: Place) -> str:
        """What comes after FROM: the table as t, or a copy of what a view gives."""
        if source not in self._sources:
            name = place_name(source)
            kind = self._one("SELECT relkind FROM pg_class WHERE oid = to_regclass(%s)", (name,))
            if kind[0] not in _TABLES:
                # It may draw at random or ask elsewhere, and its rows have no place of their own:
                # only a copy is the same in every pass.
                copy = f"pg_temp.celosia_view_{token_hex(8)}"
                self._run(f"CREATE TEMP TABLE {copy} ON COMMIT DROP AS SELECT * FROM {name}")
                name = copy
            self._sources[source] = f"{name} AS t"
        return self._sources[source]

    def _refuse_strange(self, rows_of: str, columns: Mapping[str, ServerColumn]) -> None:
        """Refuse columns with values that have no counterpart here, before they are fetched.

        Raises:
            EngineError: CEL-E022.
        """
        strange = {cell: each.strange for cell, each in columns.items() if each.strange}
        if not strange:
            return
        tests = ", ".join(f"bool_or({test.format(cell)})" for cell, (_, test) in strange.items())
        found = self._one(f"SELECT {tests} FROM {rows_of}", ())
        for (cell, (described, _)), holds in zip(strange.items(), found, strict=True):
            if holds:
                raise unpublishable(columns[cell].name, described)

    def _rows(self, query: str, kinds: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """The rows of a query in chunks, read as they are asked for; at least one chunk."""
        with self._connection.cursor(name=f"celosia_{token_hex(4)}") as cursor:
            cursor.execute(query.encode())
            rows, first = cursor.fetchmany(BATCH), True
            while rows or first:
                yield pl.DataFrame(rows, schema=dict(kinds), orient="row")
                rows, first = cursor.fetchmany(BATCH) if rows else [], False

    def _load(self, recoding: RecodingMap, texts: Sequence[str]) -> None:
        """Give the server what each combination becomes, beside its values there."""
        listed = "".join(f", r{number} text" for number in range(len(texts)))
        self._run("DROP TABLE IF EXISTS pg_temp.celosia_given, pg_temp.celosia_map")
        self._run(
            f"CREATE TEMP TABLE celosia_given (id int, hidden boolean{listed}) ON COMMIT DROP"
        )
        self._copy(
            "celosia_given",
            pl.DataFrame(
                [
                    pl.Series("id", recoding.groups),
                    pl.Series("hidden", recoding.hidden),
                    *(recoding.released[n].alias(f"r{p}") for p, n in enumerate(texts)),
                ]
            ),
        )
        self._run(
            "CREATE TEMP TABLE celosia_map ON COMMIT DROP AS "
            "SELECT * FROM celosia_groups JOIN celosia_given USING (id)"
        )
        self._run("ANALYZE celosia_map")

    def _copy(self, table: str, frame: pl.DataFrame) -> None:
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy,
        ):
            for row in frame.iter_rows():
                copy.write_row(row)

    def _new_table(self, target: Place) -> str:
        *within, _ = str(target).split(".")
        return place_name(".".join([*within, f"celosia_draft_{token_hex(8)}"]))

    def _to_table(self, query: str, target: Place, columns: dict[str, pl.DataType]) -> TableDraft:
        draft = self._new_table(target)
        names = ", ".join(quoted(name) for name in columns)
        made = self._connection.execute(f"CREATE TABLE {draft} ({names}) AS {query}".encode())
        return TableDraft(self._connection, (draft, target), made.rowcount, columns)


def _ordered(select: str, rest: str, order: Order, kinds: Mapping[str, pl.DataType]) -> str:
    """A query with its rows shuffled or kept.

    Random numbers of the server's system: `gen_random_uuid` has 122 such bits, so that no two rows
    of any table have the same, and every order is equally likely.
    """
    listed = ", ".join(kinds)
    if order == "shuffled":
        return (
            f"SELECT {listed} FROM ({select}, gen_random_uuid() AS o FROM {rest}) AS q ORDER BY o"
        )
    # Parts of a table count their places each for itself.
    return (
        f"SELECT {listed} FROM ({select}, t.tableoid AS p, t.ctid AS o FROM {rest}) AS q "
        "ORDER BY p, o"
    )


def _equal(left: str, right: str, values: pl.Series) -> str:
    """A condition that the server can hash, which IS NOT DISTINCT FROM is not."""
    if values.null_count() == 0:
        return f"{left} = {right}"
    return f"coalesce('v' || ({left})::text, '') = coalesce('v' || {right}::text, '')"


def _connect(url: str) -> psycopg.Connection[Any]:
    reason = None
    try:
        import psycopg  # 0.1 s, only where an engine is wanted
    except ImportError:
        reason = EngineError("CEL-E015")
    if reason is None:
        given = os.environ.get(url[1:], "") if url.startswith("$") else url
        address = given.replace("postgresql+psycopg://", "postgresql://")
        with suppress(psycopg.Error, ValueError):
            if address:
                connection: psycopg.Connection[Any] = psycopg.connect(
                    address, prepare_threshold=None
                )
                connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                for setting in SETTINGS:
                    connection.execute(f"SET {setting}".encode())
                connection.commit()
                return connection
        reason = EngineError("CEL-E014.url")
    raise reason
