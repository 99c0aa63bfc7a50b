"""Spark as an engine for tables: groups, recodes and writes on as many machines as it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from celosia.core.errors import CelosiaError, InputError
from celosia.core.randomness import Source
from celosia.engines.duckdb import Groups
from celosia.engines.spark.arrow import map_arrow
from celosia.engines.spark.drafts import HadoopDraft, LocalDraft, SparkDraft, TableDraft
from celosia.engines.spark.places import HadoopFiles, local_path, spark_place, stamps
from celosia.engines.spark.recoding import (
    HIDDEN,
    KEY,
    by_combinations,
    by_digits,
    digits_of,
    place,
    starred,
)
from celosia.engines.spark.running import run, sent
from celosia.engines.spark.session import spark_session
from celosia.engines.spark.types import check_file, plain_table, plain_type, polars_types, spark_type
from celosia.engines.tables import (
    Batch,
    Draft,
    Order,
    Place,
    Recoding,
    changed_source,
    engine_failed,
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
        self._seen: dict[Place, tuple[object, ...]] = {}
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
        table = run(
            self._session, lambda: self._scan(source).groupBy(*places).count().toArrow()
        )
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
        randomness: Source,  # noqa: ARG002 - the order is one of the released rows alone
        overwrite: bool,
    ) -> Draft:
        """Write the recoded table, see `TableEngine.recode`."""
        from pyspark.sql import Observation  # noqa: PLC0415 - heavy
        from pyspark.sql import functions as F  # noqa: N812, PLC0415 - its usual name

        types = self.columns(source)
        seen = Observation()

        def released() -> DataFrame:
            frame, shown = self._recoded(source, recoding)
            if drop_suppressed:
                frame = frame.observe(seen, F.count(F.lit(1)).alias("rows"))
                frame = frame.where(F.col(KEY) != F.lit(HIDDEN))
            kept = {
                name: _one_zero(place(list(types).index(name)), types[name])
                for name in keep
                if name not in shown
            }
            raw = {
                name: F.col(place(list(types).index(name)))
                for name in shown
                if name in keep and shown[name] is None
            }
            return self._ordered(frame, shown, kept | raw, keep, order)

        draft = self._written(source, target, released, overwrite=overwrite)
        try:
            total = run(self._session, lambda: seen.get["rows"]) if drop_suppressed else draft.rows
            if total != recoding.rows:
                raise changed_source()
        except BaseException:
            draft.close()
            raise
        return draft
