"""Publish from file to file, for tables larger than memory.

In a first pass the engine groups the quasi-identifiers; the search runs on their distinct
combinations, as in memory; in a second pass each chunk is recoded by looking its combinations up. A
shuffled release goes through temporary files: each row is sent to one of them at random and each is
shuffled on its own, which makes every order of the whole equally likely.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia import frames
from celosia.assess.risk.combinations import CombinationCounter, StreamCounts, count_passing
from celosia.core.errors import InputError
from celosia.core.files import check_writable
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, Stopwatch, silent
from celosia.engines import DuckDB, Groups
from celosia.engines.shuffling import buckets_for, shuffle
from celosia.frames import ReadKeywords
from celosia.frames.sorting import sort_chunks
from celosia.tables.account import account, measure_raw, raw_sets
from celosia.tables.history.fingerprints import RecordHashes
from celosia.tables.models import Model
from celosia.tables.options import PublishKeywords, PublishOptions
from celosia.tables.recoding_map import build_recoding_map, recode_chunks
from celosia.tables.release import FileRelease
from celosia.tables.run import (
    check_out_of_core,
    code_groups,
    grouped_names,
    open_series,
    protect_once_more,
)
from celosia.tables.schema import Schema
from celosia.tables.units import check_one_record_each


def publish_file(
    source: str | Path,
    target: str | Path,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    reading: ReadKeywords | None = None,
    chunk_rows: int = 250_000,
    overwrite: bool = True,
    progress: Progress = silent,
    **keywords: Unpack[PublishKeywords],
) -> FileRelease:
    """Publish a file of any size to another file; as `publish` otherwise.

    Memory holds one chunk and the distinct combinations of the quasi-identifiers. The release and
    its certificate appear together at the end.

    Args:
        source: the table to protect, in any format that can be read in chunks.
        target: where the release goes, in any format that can be written in chunks.
        schema: as for `publish`.
        models: as for `publish`.
        reading: keywords of `frames.read`, such as `delimiter`.
        chunk_rows: how many rows are in memory at a time.
        overwrite: whether an existing target may be replaced.
        progress: called as the work proceeds; may raise `Cancelled`.
        keywords: as for `publish`; the method is `lattice` or `mondrian`.
    """
    return publish_to_file(
        source,
        target,
        PublishOptions.of(schema, models, **keywords),
        reading=reading,
        chunk_rows=chunk_rows,
        overwrite=overwrite,
        progress=progress,
    )


def publish_to_file(
    source: str | Path,
    target: str | Path,
    options: PublishOptions,
    *,
    reading: ReadKeywords | None = None,
    chunk_rows: int = 250_000,
    overwrite: bool = True,
    progress: Progress = silent,
) -> FileRelease:
    """As `publish_file`, with the options as one value."""
    options.check_population(given=False)
    check_out_of_core(options)
    goal = Path(target)
    _check_places(source, goal, overwrite=overwrite)
    stopwatch = Stopwatch()
    reads: ReadKeywords = {"types": options.schema.types(), **(reading or {})}
    file = _File(source, chunk_rows, reads, progress, stopwatch)
    counts = StreamCounts(
        lambda names: raw_sets(names, options),
        lambda: file.chunks(Message("tables.stage.raw_columns")),
        options.schema.unit_column,
    )
    with stopwatch.measure("coding"):
        groups = _group(file, options, counts)
        options.check_columns(counts.names)
    with (
        open_series(counts.names, options, file.identify, groups) as series,
        tempfile.TemporaryDirectory(dir=goal.parent, prefix=f".{goal.stem}-") as folder,
    ):
        if series is not None and series.split is not None:
            groups = series.split.groups
        with stopwatch.measure("coding"):
            table = code_groups(groups, options, progress)
        with stopwatch.measure("measuring"):
            raw = measure_raw(counts.names, options, counts)
        protection = protect_once_more(series, table, options, progress, stopwatch)
        with stopwatch.measure("recoding"):
            recoding = build_recoding_map(options.schema, groups, protection)
        draft = Path(folder) / f"release{''.join(goal.suffixes)}"
        published = CombinationCounter()
        recoded = recode_chunks(
            file.chunks(Message("tables.stage.recoding_file")),
            recoding,
            options.schema,
            drop=options.drop_suppressed,
        )
        chunks = count_passing(recoded, None if raw is None else published)
        if not options.keep_order:
            buckets = buckets_for(protection.records, chunk_rows)
            chunks = shuffle(chunks, Path(folder), buckets, options.rng)
        if options.sort:
            chunks = sort_chunks(chunks, options.sort, Path(folder), chunk_rows)
        chunks = stopwatch.measure_each("recoding", chunks)
        with stopwatch.measure("writing"):
            text_columns = _write(chunks, draft)
        with stopwatch.measure("measuring"):
            if raw is not None:
                raw = raw.with_published(published.uniqueness())
            statements = account("celosia.tables.publish_file", options, protection, raw)
        if series is not None:
            series.record(protection, statements["provenance"])
        timings = stopwatch.timings()
        release = FileRelease(path=draft, text_columns=text_columns, timings=timings, **statements)
        with stopwatch.measure("writing"):
            release.save(goal, overwrite=overwrite)
    return replace(release, path=goal, timings=stopwatch.timings())


def _check_places(source: str | Path, goal: Path, *, overwrite: bool) -> None:
    """Refuse, before any work, what could not be read or written at its end."""
    check_writable(goal, overwrite=overwrite)
    frames.open_writer(goal)  # refuses a format that cannot grow in chunks
    if frames.is_address(source):
        return
    frames.check_readable(Path(source))
    if goal.exists() and goal.samefile(source):
        raise InputError("CEL-I007.file", place=goal)


@dataclass(frozen=True, slots=True)
class _File:
    """The source, to be read from the start as often as needed."""

    path: str | Path
    chunk_rows: int
    reading: ReadKeywords
    progress: Progress
    stopwatch: Stopwatch

    def chunks(self, stage: str) -> Iterator[pl.DataFrame]:
        done = 0
        chunks = frames.read_chunks(self.path, rows=self.chunk_rows, **self.reading)
        for chunk in self.stopwatch.measure_each("reading", chunks):
            done += chunk.height
            yield chunk
            self.progress(Step(stage, done))

    def identify(self, hashes: RecordHashes) -> pl.DataFrame:
        """The hashes of all records, for the history of releases."""
        return pl.concat(map(hashes, self.chunks(Message("tables.stage.fingerprints"))))


def _group(file: _File, options: PublishOptions, counts: StreamCounts) -> Groups:
    checked = _checked(file.chunks(Message("tables.stage.grouping_file")), options.schema)
    with DuckDB() as engine:
        return engine.count_groups(counts.watch(checked), grouped_names(options))


def _checked(chunks: Iterator[pl.DataFrame], schema: Schema) -> Iterator[pl.DataFrame]:
    """The chunks, refused if their columns do not fit the schema or identifiers occur twice."""
    # 8 bytes a cell: with 64 bits two of 10 million cells share one by a chance of 3 in a million.
    seen: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in schema.undeclared_units}
    for chunk in chunks:
        schema.check_columns(chunk.columns)
        for name, hashes in seen.items():
            hashes.append(frames.as_text(chunk[name].drop_nulls()).hash().to_numpy())
        yield chunk
    for name, hashes in seen.items():
        cells = np.concatenate(hashes) if hashes else np.zeros(0, dtype=np.uint64)
        check_one_record_each(name, cells.size, np.unique(cells).size)


def _write(chunks: Iterator[pl.DataFrame], path: Path) -> tuple[str, ...]:
    """Write all chunks; returns which columns are text."""
    text: tuple[str, ...] = ()
    with frames.open_writer(path) as writer:
        for chunk in chunks:
            writer.write(chunk)
            kinds = (pl.String, pl.Categorical, pl.Enum)
            text = tuple(name for name, kind in chunk.schema.items() if isinstance(kind, kinds))
    return text
