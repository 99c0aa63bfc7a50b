"""Publish a table where it is: on DuckDB, PostgreSQL or Spark, whatever its size.

The engine groups the quasi-identifiers, the search runs here on their distinct combinations, and
the engine recodes the rows and writes them. Memory here holds the combinations, not the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np
import polars as pl

from celosia.assess.risk.combinations import (
    CombinationCounter,
    Sets,
    Uniqueness,
    count_in,
    count_in_groups,
    hash_rows,
)
from celosia.core.errors import InputError
from celosia.core.files import check_writable
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, Stopwatch, silent
from celosia.core.release import certificate_path
from celosia.engines import Groups
from celosia.engines.tables import (
    Draft,
    Output,
    Place,
    RecodingMap,
    TableEngine,
    names_files,
)
from celosia.tables.account import RawColumns, account, measure_raw, raw_names
from celosia.tables.history.fingerprints import RecordHashes
from celosia.tables.models import Model
from celosia.tables.options import PublishKeywords, PublishOptions
from celosia.tables.protection import Protection
from celosia.tables.recoding_map import build_recoding_map, recode_chunk
from celosia.tables.release import EngineOutput, PublishedTable
from celosia.tables.run import (
    check_out_of_core,
    code_groups,
    grouped_names,
    open_series,
    protect_once_more,
)
from celosia.tables.schema import Schema, released_names
from celosia.tables.units import check_one_record_each


@dataclass(frozen=True, kw_only=True)
class EngineRelease(EngineOutput, PublishedTable):
    """A published table that lies where an engine has written it.

    A Parquet file with its certificate loads as `FileRelease` or `TableRelease`, too.
    """


def publish_on(
    engine: TableEngine,
    source: Place,
    target: Place,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    overwrite: bool = True,
    certificate: str | Path | None = None,
    partition_by: Sequence[str] = (),
    progress: Progress = silent,
    **keywords: Unpack[PublishKeywords],
) -> EngineRelease:
    """Publish a table of an engine to another place of it; as `publish` otherwise.

    The release and its certificate appear together at the end, or neither does.

    Args:
        engine: where the table is; it stays open.
        source: Parquet (a file, a folder or a pattern) or the name of a table.
        target: a Parquet file, or the name of a table.
        schema: as for `publish`.
        models: as for `publish`; none that needs a population.
        overwrite: whether an existing target may be replaced.
        certificate: where the certificate goes; beside a file of Parquet if not given.
        partition_by: columns of the release by whose values Spark splits a folder of Parquet; they
            come last in it, and are read as text.
        progress: called before each stage; may raise `Cancelled`.
        keywords: as for `publish`. The method is `lattice` or `mondrian`: relaxed cuts need every
            row in memory. With `keep_order` rows stay in the order in which the engine reads them.
            A seeded `rng` makes the release a simulation, but does not repeat its order: several
            cores read as they please.

    Raises:
        InputError: the table, the schema or a parameter is wrong; CEL-P111 a choice that needs all
            rows in memory, CEL-P112 a table as target and no place for the certificate.
        PrivacyError: no generalisation meets the models.
        EngineError: CEL-E002 and CEL-E020 to CEL-E022, see `TableEngine`.
    """
    return publish_on_engine(
        engine,
        source,
        target,
        PublishOptions.of(schema, models, **keywords),
        overwrite=overwrite,
        certificate=certificate,
        partition_by=partition_by,
        progress=progress,
    )


def publish_on_engine(
    engine: TableEngine,
    source: Place,
    target: Place,
    options: PublishOptions,
    *,
    overwrite: bool = True,
    certificate: str | Path | None = None,
    partition_by: Sequence[str] = (),
    progress: Progress = silent,
) -> EngineRelease:
    """As `publish_on`, with the options as one value."""
    check_out_of_core(options)
    paper = certificate_place(target, certificate)
    check_writable(paper, overwrite=overwrite)
    types = pl.DataFrame(schema=engine.columns(source))
    options.check_columns(types.columns)
    if options.sort and (engine.name == "spark" or not names_files(target)):
        raise InputError("CEL-P082.no_order", target=target)
    check_partitions(engine, target, partition_by, released_names(types, options.schema))
    engine.check_target(source, target, overwrite=overwrite)
    progress(Step(Message("tables.stage.grouping_engine"), 0))
    stopwatch = Stopwatch()
    with stopwatch.measure("reading"):
        for name in options.schema.undeclared_units:
            check_one_record_each(name, *engine.count_distinct(source, name))
        # Two passes over the rows. What is chosen depends on the combinations and their numbers
        # alone; the second pass refuses a row whose combination the first has not counted, and
        # another total.
        groups = engine.count_groups(source, grouped_names(options))

    def identify(hashes: RecordHashes) -> pl.DataFrame:
        progress(Step(Message("tables.stage.fingerprints"), 0))
        with stopwatch.measure("reading"):
            return engine.collect_batches(source, hashes, hashes.columns)

    with (
        open_series(types.columns, options, identify, groups) as series,
        ExitStack() as stack,
    ):
        if series is not None and series.split is not None:
            groups = series.split.groups
        with stopwatch.measure("coding"):
            table = code_groups(groups, options, progress)
        with stopwatch.measure("measuring"):
            raw = _measured(engine, source, types.columns, groups, options)
        protection = protect_once_more(series, table, options, progress, stopwatch)
        progress(Step(Message("tables.stage.recoding_engine"), 0))
        with stopwatch.measure("recoding"):
            recoding = build_recoding_map(options.schema, groups, protection)
            draft = stack.enter_context(
                engine.recode(
                    source,
                    Output(
                        place=target,
                        order="kept" if options.keep_order else "shuffled",
                        rng=options.rng,
                        overwrite=overwrite,
                        partition_by=tuple(partition_by),
                        sort=options.sort,
                    ),
                    recoding if series is None else series.as_counted(recoding),
                    keep=released_names(types, options.schema),
                    drop_suppressed=options.drop_suppressed,
                )
            )
        with stopwatch.measure("measuring"):
            if raw is not None:
                shown = _shown_in_groups(groups, protection, raw, options)
                shown = shown or _published(engine, source, draft, recoding, options)
                raw = raw.with_published(shown)
            statements = account("celosia.tables.publish_on", options, protection, raw)
        release = EngineRelease(
            engine=engine.name,
            target=target,
            rows_written=draft.rows,
            text_columns=text_columns(draft),
            certificate_file=paper,
            timings=stopwatch.timings(),
            **statements,
        )
        if series is not None:
            series.record(protection, statements["provenance"])
        with stopwatch.measure("writing"):
            release.finish(draft, overwrite=overwrite)
    return replace(release, timings=stopwatch.timings())


def _measured(
    engine: TableEngine,
    source: Place,
    names: Sequence[str],
    groups: Groups,
    options: PublishOptions,
) -> RawColumns | None:
    """How far the raw columns single records out; the engine counts what is not grouped yet."""
    unit = options.schema.unit_column
    if set(raw_names(names, options.schema)) <= set(groups.values.columns):
        return measure_raw(names, options, count_in_groups(groups, unit))

    def count(sets: Sets) -> list[Uniqueness]:
        return [Uniqueness.of(*engine.count_sizes(source, columns, unit)) for columns in sets]

    return measure_raw(names, options, count)


def _shown_in_groups(
    groups: Groups, protection: Protection, raw: RawColumns, options: PublishOptions
) -> Uniqueness | None:
    """How far all published columns single records out, where this follows from the groups."""
    names = [column.name for column in raw.columns]
    if not set(names) <= set(groups.values.columns):
        return None
    shown = pl.Series(~(protection.hidden & options.drop_suppressed))
    cells = [
        *(each.series() for each in protection.released),
        *(groups.values[name] for name in names),
    ]
    values = pl.DataFrame([series.filter(shown) for series in cells])
    unit = options.schema.unit_column
    if unit is None:
        count = count_in_groups(Groups(values, groups.sizes[shown.to_numpy()]))
    else:
        count = count_in(values, groups.values[unit].filter(shown))
    return count([values.columns])[0]


def _published(
    engine: TableEngine, source: Place, draft: Draft, recoding: RecodingMap, options: PublishOptions
) -> Uniqueness:
    """How far all published columns single records out, or people where these are counted."""
    if options.schema.unit_column is None:
        return Uniqueness.of(*draft.count_sizes())
    # The people are not in what is written: the rows are recoded once more, to hashes.
    function = partial(
        _hash_published, recoding=recoding, schema=options.schema, drop=options.drop_suppressed
    )
    found = engine.collect_batches(source, function, {"row": pl.Int64(), "unit": pl.Int64()})
    row, unit = (column.to_numpy().view(np.uint64) for column in found)
    counter = CombinationCounter()
    counter.add_hashes(row, unit, units=True)
    return counter.uniqueness()


def _hash_published(
    rows: pl.DataFrame, *, recoding: RecodingMap, schema: Schema, drop: bool
) -> pl.DataFrame:
    """A hash of what each row publishes, and one of its person or household."""
    released, units = recode_chunk(rows, recoding, schema, drop=drop)
    assert units is not None, "people are counted"
    made = {"row": hash_rows(released), "unit": hash_rows(units.to_frame())}
    return pl.DataFrame({name: hashes.view(np.int64) for name, hashes in made.items()})


def check_partitions(
    engine: TableEngine, target: Place, names: Sequence[str], released: Sequence[str]
) -> None:
    """Refuse columns by which a target cannot be split.

    Raises:
        InputError: CEL-P115.
    """
    if names and not engine.writes_partitions:
        raise InputError("CEL-P115.engine", engine=engine.name)
    if names and not names_files(target):
        # Renaming a table of the catalogue leaves its partitions where the draft was.
        raise InputError("CEL-P115.table", target=target)
    strange = [name for name in names if name not in released]
    if strange:
        raise InputError("CEL-P115.column", column=strange[0], columns=list(released))
    if names and set(names) == set(released):
        raise InputError("CEL-P115.all")


def certificate_place(target: Place, certificate: str | Path | None) -> Path:
    """Where the certificate goes: where it was asked for, or beside the file."""
    if certificate is not None:
        return Path(certificate)
    if names_files(target) and "://" not in str(target):
        return certificate_path(Path(target))
    raise InputError("CEL-P112", target=target)


def text_columns(draft: Draft) -> tuple[str, ...]:
    """Which columns are text: in a file of text they could be read as numbers."""
    kinds = (pl.String, pl.Categorical, pl.Enum)
    return tuple(name for name, kind in draft.columns.items() if isinstance(kind, kinds))
