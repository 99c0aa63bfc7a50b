"""Spark as an engine for tables: groups, recodes and writes on as many machines as it has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.engines.duckdb import Groups
from celosia.engines.spark.arrow import map_arrow
from celosia.engines.spark.drafts import HadoopDraft, LocalDraft, SparkDraft, TableDraft
from celosia.engines.spark.places import HadoopFiles, local_path, spark_place, stamps
from celosia.engines.spark.recoding import (
    Recoded,
    by_combinations,
    by_digits,
    digits_of,
    place,
)
from celosia.engines.spark.running import run, sent
from celosia.engines.spark.session import spark_session
from celosia.engines.spark.types import (
    check_file,
    plain_table,
    plain_type,
    polars_types,
    spark_type,
)
from celosia.engines.tables import (
    Batch,
    Draft,
    Order,
    Place,
    Recoding,
    changed_source,
    names_files,
    not_found,
    same_place,
    table_exists,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

SETTINGS = {
    "spark.sql.caseSensitive": "true",  # names that differ in case alone are two columns
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}
ORDER = "o"
"""The column by which rows are sorted."""


class SparkTables:
    """Spark: from Parquet or tables of its catalogue to the same, see `TableEngine`.

    A Parquet target is a folder of files. Released rows are put in the order of a hash of what they
    show, and cut into files by it: order and files depend on nothing but the set of released rows.

    Args:
        url: as for `spark_session`.
        settings: Spark's own, as there.

    Raises:
        EngineError: CEL-E050 to CEL-E053, as `spark_session`.
    """

    name = "spark"

    def __init__(
        self, url: str | None = None, *, settings: Mapping[str, str] | None = None
    ) -> None:
        self._session = spark_session(url, settings=dict(settings or {}) | SETTINGS)
        self._seen: dict[Place, tuple[tuple[object, ...], ...]] = {}
        self._types: dict[Place, dict[str, pl.DataType]] = {}

    def columns(self, source: Place) -> dict[str, pl.DataType]:
        """Names and types, see `TableEngine.columns`."""
        if source not in self._types:
            path = self._local(source)
            if path is not None:
                self._seen[source] = stamps(path)
                _check_files(source, self._seen[source])
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
            raise InputError(
                "CEL-I004",
                f"{target} exists already.",
                why="It would be lost.",
                fix="Choose another name, or allow overwriting (--force).",
                path=str(target),
            )
        if not parent:
            raise InputError(
                "CEL-I005",
                f"the folder of {target} does not exist.",
                fix="Create it first, or choose another place.",
                path=str(target),
            )

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
        return Groups(pl.DataFrame(values), sizes)

    def recode(  # noqa: PLR0913 - as in the protocol
        self,
        source: Place,
        target: Place,
        recoding: Recoding,
        *,
        keep: Sequence[str],
        drop_suppressed: bool,
        order: Order,
        randomness: Source,
        overwrite: bool,
    ) -> Draft:
        """Write the recoded table, see `TableEngine.recode`."""
        from pyspark.sql import Observation  # noqa: PLC0415 - heavy
        from pyspark.sql import functions as F  # noqa: N812, PLC0415 - its usual name

        names = list(self.columns(source))
        digits = digits_of(recoding) if set(recoding.names) <= set(keep) else None
        seen = Observation()

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
                    every=source not in self._seen,
                    drop=drop_suppressed,
                )
            frame = found.frame
            if drop_suppressed:
                frame = frame.observe(seen, F.count(F.lit(1)).alias("rows"))
                frame = frame if found.hidden is None else frame.where(~found.hidden)
            return self._released(source, replace(found, frame=frame), keep, order)

        draft = self._written(source, target, released, overwrite=overwrite)
        try:
            total = run(self._session, lambda: seen.get["rows"]) if drop_suppressed else draft.rows
            if total != recoding.rows:
                raise changed_source()
        except BaseException:
            draft.close()
            raise
        return draft

    def map_batches(  # noqa: PLR0913 - as in the protocol
        self,
        source: Place,
        target: Place,
        function: Batch,
        *,
        columns: Mapping[str, pl.DataType],
        order: Order,
        randomness: Source,
        overwrite: bool,
    ) -> Draft:
        """Write what a function makes of the rows, see `TableEngine.map_batches`."""
        from pyspark.sql.types import StructField, StructType  # noqa: PLC0415 - heavy

        types = self.columns(source)
        fields = [
            StructField(place(number), spark_type(name, kind))
            for number, (name, kind) in enumerate(columns.items())
        ]
        mapping = partial(_mapped, function, types, dict(columns))

        def released() -> DataFrame:
            mapped = map_arrow(self._scan(source), mapping, StructType(fields))
            return _in_order(mapped, order).toDF(*columns)

        return self._written(source, target, released, overwrite=overwrite)

    def close(self) -> None:
        """Forget what was read; the Spark of the process runs on, for others may use it."""
        self._seen.clear()
        self._types.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _local(self, source: Place) -> Path | None:
        return local_path(self._session, source) if names_files(source) else None

    def _read(self, source: Place) -> DataFrame:
        """The source as it is.

        Raises:
            EngineError: CEL-E020 Spark is gone, CEL-E021 there is no such source.
        """
        from pyspark.errors import AnalysisException  # noqa: PLC0415 - heavy

        def read() -> DataFrame | None:
            try:
                if names_files(source):
                    return self._session.read.parquet(spark_place(self._session, source))
                return self._session.table(str(source))
            except AnalysisException:
                return None

        found = run(self._session, read)
        if found is None:
            raise not_found(source)
        return found

    def _scan(self, source: Place) -> DataFrame:
        """The source with columns c0, c1, ...: names of users may be anything."""
        found = self._read(source)
        if list(polars_types(found.schema).items()) != list(self.columns(source).items()):
            raise changed_source()
        return found.toDF(*[place(number) for number in range(len(found.columns))])

    def _released(
        self, source: Place, found: Recoded, keep: Sequence[str], order: Order
    ) -> DataFrame:
        """The released columns in their order, and the rows in theirs."""
        types = self.columns(source)
        names = list(types)
        passed = {name: place(names.index(name)) for name in keep if name not in found.shown}
        carried = found.carried | {
            here: _one_zero(here, types[name]) for name, here in passed.items()
        }
        narrow = found.frame.select(*(each.alias(here) for here, each in carried.items()))
        rows = _in_order(narrow, order)
        shown = found.shown | {name: rows[here] for name, here in passed.items()}
        numbered = [shown[name].alias(f"s{number}") for number, name in enumerate(keep)]
        return rows.select(*numbered).toDF(*keep)

    def _written(
        self,
        source: Place,
        target: Place,
        released: Callable[[], DataFrame],
        *,
        overwrite: bool,
    ) -> SparkDraft:
        """What Spark has written, checked and counted."""
        draft = self._draft(target, overwrite=overwrite)
        try:
            run(self._session, lambda: draft.write(released()))
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
            return HadoopDraft(self._session, str(target))
        return LocalDraft(self._session, path.absolute())

    def _check_unchanged(self, source: Place) -> None:
        path = self._local(source)
        if path is not None and stamps(path) != self._seen.get(source):
            raise changed_source()


def _in_order(frame: DataFrame, order: Order) -> DataFrame:
    """The rows by a hash of all that they hold, or as they come.

    Equal rows cannot be told apart, and different ones are sorted by what they show: so neither the
    order nor the files say anything of the order that the rows had. No random number is needed.
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - its usual name

    if order == "kept":
        return frame
    hashed = frame.withColumn(ORDER, F.xxhash64(*frame.columns))
    return hashed.repartition(ORDER).sortWithinPartitions(ORDER).drop(ORDER)


def _one_zero(here: str, kind: pl.DataType) -> Column:
    """A column that is not recoded; of the two zeros of floats one is left."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    column = F.col(here)
    if not kind.is_float():
        return column
    zero = F.lit(0.0).cast("float" if kind == pl.Float32() else "double")
    return F.when(column == zero, zero).otherwise(column)


def _mapped(
    function: Batch,
    types: dict[str, pl.DataType],
    columns: dict[str, pl.DataType],
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
        failure = sent(error)
    else:
        return
    raise failure


def _check_files(source: Place, seen: tuple[tuple[object, ...], ...]) -> None:
    """Look at the types in the first Parquet file, of which Spark would change some."""
    import pyarrow as pa  # noqa: PLC0415 - heavy
    from pyarrow import parquet  # noqa: PLC0415 - likewise

    first = next((str(each[0]) for each in seen if _is_data(Path(str(each[0])))), None)
    schema = None
    if first is not None:
        with suppress(pa.ArrowException, OSError):
            schema = parquet.read_schema(first)
    if schema is None:
        raise not_found(source)
    check_file(schema)


def _is_data(path: Path) -> bool:
    """As Spark sees it: what begins with a dot or a line below is not."""
    return not path.name.startswith((".", "_"))
