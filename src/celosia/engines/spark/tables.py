"""Spark as an engine for tables: groups, recodes and writes on as many machines as it has."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.engines.duckdb import Groups, SizeCounts
from celosia.engines.spark.drafts import (
    HadoopDraft,
    LocalDraft,
    SparkDraft,
    TableDraft,
    count_sizes,
)
from celosia.engines.spark.execution import run, sent
from celosia.engines.spark.paths import (
    HadoopFiles,
    file_exists,
    local_path,
    spark_place,
    stamps,
    stamps_elsewhere,
)
from celosia.engines.spark.recoding import (
    RecodedRows,
    by_combinations,
    by_digits,
    digits_of,
    one_zero,
    place,
)
from celosia.engines.spark.session import spark_session
from celosia.engines.spark.types import (
    check_files,
    map_arrow,
    plain_table,
    plain_type,
    polars_types,
    spark_type,
)
from celosia.engines.tables import (
    Batch,
    Draft,
    Order,
    Output,
    Place,
    RecodingMap,
    TableEngine,
    changed_source,
    names_files,
    not_found,
    same_place,
    table_exists,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def check_draws(function: object) -> None:
    """Refuse a function that holds a seeded source: every worker would draw the same from it.

    Raises:
        InputError: CEL-E078 see above.
    """
    from pyspark.cloudpickle import CloudPickler

    found = []

    class Watching(CloudPickler):
        def persistent_id(self, each: object) -> None:
            if isinstance(each, Source) and each.simulation:
                found.append(each)

    pickler: Any = Watching
    pickler(io.BytesIO()).dump(function)
    if found:
        raise InputError("CEL-E078")


def map_rows(
    function: Batch,
    types: dict[str, pl.DataType],
    columns: dict[str, pl.DataType],
    word: str,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """On a worker: what a function makes of batches; its errors in a form that comes through."""
    try:
        for batch in batches:
            frame = pl.DataFrame(pl.from_arrow(batch))
            given = pl.DataFrame(
                [
                    frame.to_series(n).cast(kind).alias(name)
                    for n, (name, kind) in enumerate(types.items())
                ]
            )
            made = function(given)
            shown = [made[name].cast(plain_type(kind)) for name, kind in columns.items()]
            named = [each.alias(place(number)) for number, each in enumerate(shown)]
            yield from plain_table(pl.DataFrame(named)).to_batches()
    except Exception as error:
        failure = sent(error, word)
    else:
        return
    raise failure


ORDER = "o"
"""The column by which rows are sorted."""
FEW, MANY = 2**17, 2**20
"""Rows of a file, while there are few files and when there are many."""


def number_of_files(rows: int, usual: int) -> int:
    """How many files; told by the number of released rows, and by nothing of the source.

    What Spark would choose goes by the size of what it shuffles, and so by the order of rows.

    >>> [number_of_files(rows, 200) for rows in (0, 1000, 10**6, 10**8, 10**9)]
    [1, 1, 8, 200, 954]
    """
    return max(1, -(-rows // MANY), min(-(-rows // FEW), usual))


def sort_rows(frame: DataFrame, order: Order, parts: int) -> DataFrame:
    """The rows by a hash of all that they hold, or as they come.

    Equal rows cannot be told apart, and different ones are sorted by what they show: so neither the
    order nor the files say anything of the order that the rows had. No random number is needed.
    """
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    if order == "kept":
        return frame
    # The hash leaves empty cells out: (NULL, 1) would have the same as (1, NULL).
    empty = [F.col(each).isNull() for each in frame.columns]
    hashed = frame.withColumn(ORDER, F.xxhash64(*frame.columns, *empty))
    return hashed.repartition(parts, ORDER).sortWithinPartitions(ORDER).drop(ORDER)


def shown_columns(
    rows: DataFrame, found: RecodedRows, names: Sequence[str], keep: Sequence[str]
) -> DataFrame:
    """The released columns, in their order."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    each = [found.shown.get(name, F.col(place(names.index(name)))) for name in keep]
    numbered = [column.alias(f"s{number}") for number, column in enumerate(each)]
    return rows.select(*numbered).toDF(*keep)


SETTINGS = {
    "spark.sql.caseSensitive": "true",  # names that differ in case alone are two columns
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # Where a machine is lost, rows of a function that draws would be drawn again, and some of the
    # first draws be written beside the second: such work is begun anew, or fails.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "true",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "true",
}
T = TypeVar("T")


class SparkTables(TableEngine):
    """Spark: from Parquet or tables of its catalogue to the same, see `TableEngine`.

    A Parquet target is a folder of files. Released rows are put in the order of a hash of what they
    show, and cut into files by it: order and files depend on nothing but the set of released rows.

    Args:
        url: as for `spark_session`.
        settings: Spark's own, as there.

    Raises:
        EngineError: CEL-E050 to CEL-E053, as `spark_session`.
    """

    name: ClassVar[str] = "spark"
    writes_partitions: ClassVar[bool] = True

    def __init__(
        self, url: str | None = None, *, settings: Mapping[str, str] | None = None
    ) -> None:
        self._session = spark_session(url, settings=dict(settings or {}) | SETTINGS)
        self._seen: dict[Place, tuple[tuple[object, ...], ...]] = {}
        self._types: dict[Place, dict[str, pl.DataType]] = {}
        self._rows: dict[Place, int] = {}

    def columns(self, source: Place) -> dict[str, pl.DataType]:
        """Names and types, see `TableEngine.columns`."""
        if source not in self._types:
            self._seen[source] = self._stamps(source)
            if self._local(source) is not None:
                check_files(source, self._seen[source])
            self._types[source] = polars_types(self._read(source).schema)
        return dict(self._types[source])

    def check_target(self, source: Place, target: Place, *, overwrite: bool) -> None:
        """Refuse a target that could not be written, see `TableEngine.check_target`."""
        if not names_files(target):
            if not names_files(source) and str(source).lower() == str(target).lower():
                raise same_place(target)
            exists = run(self._session, lambda: self._session.catalog.tableExists(str(target)))
            if exists and not overwrite:
                raise table_exists(target)
            return
        path, origin = local_path(self._session, target), self._local(source)
        if path is None:
            files = HadoopFiles(self._session)
            exists, parent = run(self._session, lambda: files.exists(str(target))), True
            same = str(source).rstrip("/") == str(target).rstrip("/")
        else:
            exists, parent = path.exists(), path.absolute().parent.is_dir()
            within = [] if origin is None else [origin, *origin.parents]
            same = exists and any(each.exists() and each.samefile(path) for each in within)
        if same:
            raise same_place(target)
        if exists and not overwrite:
            raise file_exists(target)
        if not parent:
            raise InputError("CEL-I005.folder_of", path=str(target))

    def count_groups(self, source: Place, columns: Sequence[str]) -> Groups:
        """Group by some columns, see `TableEngine.count_groups`."""
        types = self.columns(source)
        places = [place(list(types).index(name)) for name in columns]
        table = run(self._session, lambda: self._scan(source).groupBy(*places).count().toArrow())
        self._check_unchanged(source)
        found = pl.DataFrame(pl.from_arrow(table))
        values = [
            found.to_series(number).cast(types[name]).alias(name)
            for number, name in enumerate(columns)
        ]
        sizes = found.to_series(len(places)).to_numpy().astype(np.int64)
        self._rows[source] = int(sizes.sum())
        return Groups(pl.DataFrame(values), sizes)

    def count_distinct(self, source: Place, column: str) -> tuple[int, int]:
        """Count on the cluster, see `TableEngine.count_distinct`."""
        from pyspark.sql import functions as F  # noqa: N812 - its usual name

        cell = place(list(self.columns(source)).index(column))
        counted = run(
            self._session,
            lambda: self._scan(source).agg(F.count(cell), F.count_distinct(cell)).collect(),
        )
        return int(counted[0][0]), int(counted[0][1])

    def count_sizes(
        self, source: Place, columns: Sequence[str], unit: str | None = None
    ) -> SizeCounts:
        """Count the sizes of groups, see `TableEngine.count_sizes`."""
        names = list(self.columns(source))
        places = [place(names.index(name)) for name in columns]
        units = None if unit is None else place(names.index(unit))
        found = count_sizes(self._scan(source), places, units)
        self._check_unchanged(source)
        return found

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
        from pyspark.sql import Observation
        from pyspark.sql import functions as F  # noqa: N812 - its usual name

        names = list(self.columns(source))
        digits = digits_of(recoding) if set(recoding.names) <= set(keep) else None
        seen = Observation()
        parts = self._parts(recoding.released_rows(drop=drop_suppressed))

        def released() -> DataFrame:
            frame = self._scan(source)
            if digits is None:
                found = by_combinations(self._session, frame, names, recoding)
            else:
                found = by_digits(
                    self._session,
                    frame,
                    names,
                    digits,
                    recoding,
                    every=not names_files(source),
                    drop=drop_suppressed,
                )
            frame = found.frame
            if drop_suppressed:
                frame = frame.observe(seen, F.count(F.lit(1)).alias("rows"))
                frame = frame if found.hidden is None else frame.where(~found.hidden)
            rows = self._narrow(source, replace(found, frame=frame), keep)
            return shown_columns(sort_rows(rows, output.order, parts), found, names, keep)

        draft = self._written(source, output, released)
        try:
            total = run(self._session, lambda: seen.get["rows"]) if drop_suppressed else draft.rows
            if total != recoding.rows:
                raise changed_source()
        except BaseException:
            draft.close()
            raise
        return draft

    def map_batches(
        self, source: Place, output: Output, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> Draft:
        """Write what a function makes of the rows, see `TableEngine.map_batches`."""
        check_draws(function)
        word = token_hex(16)
        if source not in self._rows:
            self._rows[source] = run(self._session, lambda: self._scan(source).count())
        parts = self._parts(self._rows[source])

        def released() -> DataFrame:
            rows = self._mapped(source, function, columns, word)
            return sort_rows(rows, output.order, parts).toDF(*columns)

        return self._written(source, output, released, word=word)

    def collect_batches(
        self, source: Place, function: Batch, columns: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """What a function makes of the rows, see `TableEngine.collect_batches`."""
        word = token_hex(16)
        mapped = run(
            self._session,
            lambda: self._mapped(source, function, columns, word).toArrow(),
            word=word,
        )
        self._check_unchanged(source)
        found = pl.DataFrame(pl.from_arrow(mapped))
        cast = (found.to_series(n).cast(kind) for n, kind in enumerate(columns.values()))
        return pl.DataFrame(list(cast), schema=list(columns))

    def _mapped(
        self, source: Place, function: Batch, columns: Mapping[str, pl.DataType], word: str
    ) -> DataFrame:
        """What a function makes of the rows on the workers."""
        from pyspark.sql.types import StructField, StructType

        fields = [
            StructField(place(number), spark_type(name, kind))
            for number, (name, kind) in enumerate(columns.items())
        ]
        mapping = partial(map_rows, function, self.columns(source), dict(columns), word)
        return map_arrow(self._scan(source), mapping, StructType(fields))

    def close(self) -> None:
        """Forget what was read; the Spark of the process runs on, for others may use it."""
        self._seen.clear()
        self._types.clear()
        self._rows.clear()

    def _local(self, source: Place) -> Path | None:
        return local_path(self._session, source) if names_files(source) else None

    def _read(self, source: Place) -> DataFrame:
        """The source as it is.

        Raises:
            EngineError: CEL-E020 Spark is gone, CEL-E021 there is no such source.
        """

        def read() -> DataFrame:
            if names_files(source):
                return self._session.read.parquet(spark_place(self._session, source))
            return self._session.table(str(source))

        found = self._tried(read)
        if found is None:
            raise not_found(source)
        return found

    def _tried(self, work: Callable[[], T]) -> T | None:
        """What some work gives; None where Spark knows no such place."""
        from pyspark.errors import AnalysisException

        def attempt() -> T | None:
            try:
                return work()
            except AnalysisException:
                return None

        return run(self._session, attempt)

    def _scan(self, source: Place) -> DataFrame:
        """The source with columns c0, c1, ...: names of users may be anything."""
        found = self._read(source)
        if list(polars_types(found.schema).items()) != list(self.columns(source).items()):
            raise changed_source()
        from pyspark.sql import functions as F  # noqa: N812 - its usual name

        places = [place(number) for number in range(len(found.columns))]
        # Metadata of columns, such as comments or all labels there are, would be written along.
        plain = [F.col(each).alias(each, metadata={}) for each in places]
        return found.toDF(*places).select(*plain)

    def _narrow(self, source: Place, found: RecodedRows, keep: Sequence[str]) -> DataFrame:
        """The columns that are shuffled: the recoded ones as they are carried, then the others."""
        types = self.columns(source)
        names = list(types)
        passed = {name: place(names.index(name)) for name in keep if name not in found.shown}
        carried = found.carried | {
            here: one_zero(here, types[name]) for name, here in passed.items()
        }
        return found.frame.select(*(each.alias(here) for here, each in carried.items()))

    def _parts(self, rows: int) -> int:
        usual = self._session.conf.get("spark.sql.shuffle.partitions")
        return number_of_files(rows, int(usual or 200))

    def _written(
        self,
        source: Place,
        output: Output,
        released: Callable[[], DataFrame],
        *,
        word: str | None = None,
    ) -> SparkDraft:
        """What Spark has written, checked and counted."""
        draft = self._draft(output.place, overwrite=output.overwrite)
        try:
            run(self._session, lambda: draft.write(released(), output.partition_by), word=word)
            self._check_unchanged(source)
            draft.rows = run(self._session, lambda: draft.read().count())
            draft.columns = polars_types(draft.read().schema)
        except BaseException:
            draft.close()
            raise
        return draft

    def _draft(self, target: Place, *, overwrite: bool) -> SparkDraft:
        if not names_files(target):
            return TableDraft(self._session, target, overwrite=overwrite)
        path = local_path(self._session, target)
        if path is None:
            return HadoopDraft(self._session, str(target), overwrite=overwrite)
        return LocalDraft(self._session, path.absolute(), overwrite=overwrite)

    def _stamps(self, source: Place) -> tuple[tuple[object, ...], ...]:
        """What tells one state of a source from another; of a table, the names of its files."""
        path = self._local(source)
        if path is not None:
            return stamps(path)
        if not names_files(source):
            return tuple((each,) for each in sorted(self._read(source).inputFiles()))
        found = self._tried(lambda: stamps_elsewhere(self._session, str(source)))
        if found is None:
            raise not_found(source)
        return found

    def _check_unchanged(self, source: Place) -> None:
        if self._stamps(source) != self._seen[source]:
            raise changed_source()
