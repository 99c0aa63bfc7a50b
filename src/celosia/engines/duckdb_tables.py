"""DuckDB as an engine for tables: groups, recodes and writes what need not fit in memory."""

# ruff: noqa: S608 - names are quoted, and all else in a query is ours

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import EngineError
from celosia.core.files import check_writable
from celosia.core.resources import WorkFolder
from celosia.engines.drafts import DraftFolder
from celosia.engines.duckdb import Groups, SizeCounts, size_counts, sizes_query
from celosia.engines.duckdb_keys import (
    MOST_LISTED,
    Digit,
    coded,
    digit,
    is_simple,
    pack,
    recoding_query,
)
from celosia.engines.duckdb_relations import (
    Relation,
    as_type,
    check_days,
    quoted,
    relation,
    watched,
)
from celosia.engines.recoded_classes import Labels, fresh_table, number_rows, place_of
from celosia.engines.shuffling import buckets_for, shuffle_as
from celosia.engines.sinks import table_draft, write_parquet
from celosia.engines.sql import duckdb_settings
from celosia.engines.tables import (
    Batch,
    Draft,
    Output,
    Place,
    RecodingMap,
    TableEngine,
    changed_source,
    guarded,
    names_files,
    same_place,
    table_exists,
)
from celosia.frames.columns import without_minus_zero
from celosia.frames.sorting import sort_chunks

if TYPE_CHECKING:
    import duckdb

BATCH, LEAST_BATCH = 1_000_000, 50_000
"""Rows that are here at a time: fewer where they are wide."""


@dataclass(frozen=True, slots=True)
class _GroupedSource:
    """What `count_groups` leaves for `recode`."""

    relation: Relation
    tables: dict[str, str]
    """The tables in DuckDB of distinct values that could change on their way here and back."""
    values: dict[str, pl.Series] = field(repr=False)
    """The distinct values of each column, in the order of their places."""
    codes: dict[str, NDArray[np.int64]] = field(repr=False)
    """For each group, the place of its value among them."""


class DuckDBTables(TableEngine):
    """DuckDB, embedded: from Parquet files or its own tables to the same, see `TableEngine`.

    What does not fit in memory goes to a private folder. Nothing is ever fetched from elsewhere.

    Args:
        database: a DuckDB file, for sources and targets that are tables; Parquet needs none.
        memory: the most memory that DuckDB takes, such as "4GB"; its own limit if None.
        threads: the most cores; all if None.

    Raises:
        EngineError: CEL-E013 the database cannot be opened.
    """

    name: ClassVar[str] = "duckdb"

    def __init__(
        self,
        database: str | Path | None = None,
        *,
        memory: str | None = None,
        threads: int | None = None,
    ) -> None:
        import duckdb  # 0.1 s, only where an engine is wanted

        self._overflow = WorkFolder()
        config = duckdb_settings(self._overflow, memory, threads) | {
            "python_enable_replacements": False,  # a table is none of our variables
            "enable_external_file_cache": False,  # it would grow with the files that are read
        }
        opened = None
        try:
            opened = duckdb.connect(str(database) if database else ":memory:", config=config)
            opened.execute("SET TimeZone = 'UTC'")
            opened.execute("SET enable_progress_bar = false")
            # So much may wait here: with less, one thread would work and the others stand by.
            opened.execute("SET streaming_buffer_size = '64MB'")
            opened.execute("BEGIN")  # one state of all tables until the end
        except (duckdb.Error, OSError):
            pass
        if opened is None:  # outside the handler: the cause may quote what is in the file
            self._overflow.cleanup()
            raise EngineError("CEL-E013.database")
        self._connection: duckdb.DuckDBPyConnection = opened
        self._relations: dict[Place, Relation] = {}
        self._grouped: _GroupedSource | None = None

    @guarded("DuckDB")
    def columns(self, source: Place) -> dict[str, pl.DataType]:
        """Names and types, see `TableEngine.columns`."""
        return dict(self._relation(source).columns)

    @guarded("DuckDB")
    def check_target(self, source: Place, target: Place, *, overwrite: bool) -> None:
        """Refuse a target that could not be written, see `TableEngine.check_target`."""
        if names_files(target):
            goal = Path(target)
            check_writable(goal, overwrite=overwrite)
            if any(file.samefile(goal) for file in self._relation(source).stamps if goal.exists()):
                raise same_place(target)
            return
        if not names_files(source) and str(source).lower() == str(target).lower():
            raise same_place(target)
        if self._exists(target) and not overwrite:
            raise table_exists(target)

    @watched
    @guarded("DuckDB")
    def count_groups(self, source: Place, columns: Sequence[str]) -> Groups:
        """Group by some columns, see `TableEngine.count_groups`."""
        found = self._relation(source)
        keys = ", ".join(f"{found.column(name)} AS k{n}" for n, name in enumerate(columns))
        run = self._connection.execute
        run(
            f"CREATE OR REPLACE TEMP TABLE celosia_groups AS SELECT {keys}, "
            f"count(*) AS size FROM {found.text} GROUP BY ALL"
        )
        tables = {
            name: f"celosia_v{n}"
            for n, name in enumerate(columns)
            if not _is_exact(found.columns[name])
        }
        values = {name: self._values(table, found.columns[name]) for name, table in tables.items()}
        cells = [
            f"{tables[name]}.code AS k{n}" if name in tables else f"g.k{n}"
            for n, name in enumerate(columns)
        ]
        joins = "".join(
            f" JOIN {table} ON g.k{table[9:]} IS NOT DISTINCT FROM {table}.value"
            for table in tables.values()
        )
        query = f"SELECT {', '.join(cells)}, size FROM celosia_groups AS g{joins}"
        grouped = pl.DataFrame(run(query).to_arrow_table())
        run("DROP TABLE celosia_groups")
        found.check_unchanged()
        places = {}
        for n, name in enumerate(columns):
            if name in tables:
                places[name] = grouped[f"k{n}"].to_numpy().astype(np.int64)
            else:
                values[name], places[name] = coded(grouped[f"k{n}"], found.columns[name])
        for name in columns:
            check_days(name, values[name])
        self._grouped = _GroupedSource(found, tables, values, places)
        frame = pl.DataFrame([values[name].gather(places[name]).alias(name) for name in columns])
        return Groups(frame, grouped["size"].to_numpy().astype(np.int64))

    @watched
    @guarded("DuckDB")
    def count_distinct(self, source: Place, column: str) -> tuple[int, int]:
        """Count on the engine, see `TableEngine.count_distinct`."""
        found = self._relation(source)
        cell = found.column(column)
        query = f"SELECT count({cell}), count(DISTINCT {cell}) FROM {found.text}"
        cells, distinct = self._connection.execute(query).fetchall()[0]
        return int(cells), int(distinct)

    @watched
    @guarded("DuckDB")
    def count_sizes(
        self, source: Place, columns: Sequence[str], unit: str | None = None
    ) -> SizeCounts:
        """Count the sizes of groups, see `TableEngine.count_sizes`."""
        found = self._relation(source)
        keys = ", ".join(map(found.column, columns))
        units = "*" if unit is None else f"DISTINCT {found.column(unit)}"
        query = sizes_query(found.text, keys, units)
        counted = pl.DataFrame(self._connection.execute(query).to_arrow_table())
        found.check_unchanged()
        return size_counts(counted)

    @watched
    @guarded("DuckDB")
    def recode(
        self,
        source: Place,
        output: Output,
        recoding: RecodingMap,
        *,
        keep: Sequence[str],
        drop_suppressed: bool,
    ) -> Draft:
        """Write the recoded table, see `TableEngine.recode`."""
        grouped = self._grouped
        assert grouped is not None, "group the source first"
        found = grouped.relation
        passed = [name for name in keep if name not in recoding.names]
        # A list may hold a text that only dropped rows have, and would be written whole.
        whole = not (drop_suppressed and recoding.hidden.any())
        listed = self._listed(found, passed) if whole else {}
        labels = Labels(recoding, keep, drop=drop_suppressed, listed=listed)
        digits = [self._digit(f"r.k{n}", name, grouped) for n, name in enumerate(recoding.names)]
        codes = [grouped.codes[name][recoding.groups] for name in recoding.names]
        words = pack(digits, codes)
        columns = {f"w{n}": each for n, each in enumerate(words.values)}
        self._give("celosia_classes", pl.DataFrame({**columns, "class": labels.class_of}))
        query = recoding_query(
            found,
            recoding.names,
            digits=digits,
            words=words,
            keep=keep,
            listed=listed,
            order=output.order,
        )
        kinds = {
            place_of(n): found.columns[name]
            for n, name in enumerate(keep)
            if name in passed and name not in listed
        }
        stream = self._stream(query, kinds)
        places = [place_of(n) for n, name in enumerate(keep) if name in listed]
        chunks = number_rows(stream, recoding, drop=drop_suppressed, places=places)
        draft = self._written(found, output, chunks, labels.arrow, labels.frame, rows=recoding.rows)
        if draft.rows != recoding.released_rows(drop=drop_suppressed):
            with draft:
                raise changed_source()
        return draft

    @watched
    @guarded("DuckDB")
    def map_batches(
        self, source: Place, output: Output, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> Draft:
        """Write what a function makes of the rows, see `TableEngine.map_batches`."""
        found = self._relation(source)
        rows = self._connection.execute(f"SELECT count(*) FROM {found.text}").fetchone()
        made = (without_minus_zero(each) for each in self._mapped(found, function, columns))
        counted = rows[0] if rows else 0
        return self._written(found, output, made, fresh_table, lambda chunk: chunk, rows=counted)

    @watched
    @guarded("DuckDB")
    def collect_batches(
        self, source: Place, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """What a function makes of the rows, see `TableEngine.collect_batches`."""
        found = self._relation(source)
        made = pl.concat([pl.DataFrame(schema=columns), *self._mapped(found, function, columns)])
        found.check_unchanged()
        return made

    def _mapped(
        self, found: Relation, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> Iterator[pl.DataFrame]:
        """What a function makes of the rows, batch by batch."""
        names = list(found.columns)
        back = {place_of(number): name for number, name in enumerate(names)}
        cells = ", ".join(f"t.c{n} AS {place_of(n)}" for n in range(len(names)))
        kinds = {place_of(n): kind for n, kind in enumerate(found.columns.values())}
        stream = self._stream(f"SELECT {cells} FROM {found.text}", kinds)
        return (function(chunk.rename(back)).cast(pl.Schema(columns)) for chunk in stream)

    def close(self) -> None:
        """Let go of the database, and of all that has no name yet."""
        self._connection.close()
        self._overflow.cleanup()

    def _relation(self, place: Place) -> Relation:
        if place not in self._relations:
            self._relations[place] = relation(self._connection, place)
        return self._relations[place]

    def _exists(self, table: Place) -> bool:
        import duckdb  # loaded already, by the constructor

        name = ".".join(quoted(part) for part in str(table).split("."))
        try:
            self._connection.cursor().execute(f"SELECT * FROM {name} LIMIT 0")
        except duckdb.Error:
            return False
        return True

    def _values(self, table: str, kind: pl.DataType) -> pl.Series:
        """Number the distinct values of a column of the groups, in a table that stays."""
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT value, "
            "(row_number() OVER () - 1)::UINTEGER AS code "
            f"FROM (SELECT DISTINCT k{table[9:]} AS value FROM celosia_groups)"
        )
        found = self._connection.execute(f"SELECT value FROM {table} ORDER BY code")
        return as_type(pl.DataFrame(found.to_arrow_table()).to_series(), kind)

    def _digit(self, column: str, name: str, grouped: _GroupedSource) -> Digit:
        """How the values of a column are numbered, with the table that this may need."""
        values = grouped.values[name]
        table = grouped.tables.get(name, f"celosia_w{list(grouped.values).index(name)}")
        found = digit(column, table, values, listed=bool(grouped.relation.stamps))
        if found.join and name not in grouped.tables:
            numbers = np.arange(len(values), dtype=np.uint32)
            self._give(table, pl.DataFrame({"value": values, "code": numbers}))
        return found

    def _give(self, table: str, frame: pl.DataFrame) -> None:
        """Make a frame a table of DuckDB's."""
        self._connection.register("celosia_given", frame.to_arrow())
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM celosia_given"
        )
        self._connection.unregister("celosia_given")

    def _listed(self, found: Relation, names: Sequence[str]) -> dict[str, pl.Series]:
        """The texts of columns of Parquet that have few: rows are moved about as their places."""
        listed = {}
        for name in names:
            if found.stamps and found.columns[name] == pl.String:
                query = f"SELECT DISTINCT {found.column(name)} FROM {found.text}"
                table = self._connection.execute(f"{query} LIMIT {MOST_LISTED + 1}")
                texts = pl.DataFrame(table.to_arrow_table()).to_series().drop_nulls()
                if len(texts) <= MOST_LISTED and is_simple(texts):
                    listed[name] = texts.cast(pl.String).sort()
        return listed

    def _stream(self, query: str, kinds: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Run a query; its rows come in chunks as they are asked for."""
        rows = max(BATCH // (1 + len(kinds)), LEAST_BATCH)
        reader = self._connection.execute(query).to_arrow_reader(rows)

        def chunks() -> Iterator[pl.DataFrame]:
            names = reader.schema.names
            batches = iter(reader)
            while True:
                batch = next(batches, None)
                if batch is None:
                    return
                frame = pl.DataFrame(batch)
                yield without_minus_zero(
                    pl.DataFrame(
                        [as_type(frame[n], kinds[n]) if n in kinds else frame[n] for n in names]
                    )
                )

        return chunks()

    def _written(
        self,
        found: Relation,
        output: Output,
        chunks: Iterator[pl.DataFrame],
        as_arrow: Callable[[pl.DataFrame], Any],
        as_frame: Batch,
        *,
        rows: int,
    ) -> Draft:
        target = output.place
        beside = Path(target) if names_files(target) else Path(self._overflow.name) / "table"
        folder = DraftFolder(beside)
        draft: Draft | None = None
        try:
            made = as_arrow if names_files(target) else as_frame
            tables: Iterator[Any]
            if output.order == "shuffled":
                buckets = buckets_for(rows, BATCH)
                if output.sort:
                    shown = shuffle_as(as_frame, chunks, folder.path, buckets, output.rng)
                    sorted_rows = sort_chunks(shown, output.sort, folder.path, BATCH)
                    tables = map(fresh_table, sorted_rows)
                else:
                    tables = shuffle_as(made, chunks, folder.path, buckets, output.rng)
            else:
                tables = map(made, chunks)
            if names_files(target):
                draft = write_parquet(tables, folder, beside)
            else:
                draft = table_draft(self._connection.cursor(), tables, folder, str(target))
            found.check_unchanged()
        except BaseException:
            if draft is not None:
                draft.close()
            folder.close()
            raise
        return draft


def _is_exact(kind: pl.DataType) -> bool:
    """Whether a value is the same after it came here and went back to DuckDB."""
    return kind == pl.String or kind.is_integer()
