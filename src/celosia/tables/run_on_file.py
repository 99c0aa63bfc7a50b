"""Publish from file to file, for tables larger than memory.

In a first pass the engine groups the quasi-identifiers; the search runs on their distinct
combinations, as in memory; in a second pass each chunk is recoded by looking its combinations up. A
shuffled release goes through temporary files: each row is sent to one of them at random and each is
shuffled on its own, which makes every order of the whole equally likely.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.core.files import check_writable
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.engines import DuckDB, Groups
from celosia.engines.shuffling import buckets_for, shuffle
from celosia.tables.account import account
from celosia.tables.coded_table import code_table
from celosia.tables.metrics import Metric
from celosia.tables.model_resolution import check_schema
from celosia.tables.models import Model
from celosia.tables.options import PublishOptions
from celosia.tables.protection import protect
from celosia.tables.recoding_map import build_recoding_map, recode_chunks
from celosia.tables.release import FileRelease
from celosia.tables.run import check_table
from celosia.tables.schema import Role, Schema


def publish_file(
    source: str | Path,
    target: str | Path,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.05,
    metric: Metric | str | None = None,
    local: bool = False,
    levels: Mapping[str, int] | None = None,
    time_limit: float | None = None,
    keep_order: bool = False,
    drop_suppressed: bool = False,
    rng: Source | None = None,
    progress: Progress = silent,
    chunk_rows: int = 250_000,
    overwrite: bool = True,
    **reading: Any,
) -> FileRelease:
    """Publish a file of any size to another file; as `publish` otherwise.

    Memory holds one chunk and the distinct combinations of the quasi-identifiers. The release and
    its certificate appear together at the end.

    Args:
        source: the table to protect, in any format that can be read in chunks.
        target: where the release goes, in any format that can be written in chunks.
        schema: as for `publish`.
        models: as for `publish`.
        suppression: as for `publish`.
        metric: as for `publish`.
        local: as for `publish`.
        levels: as for `publish`.
        time_limit: as for `publish`.
        keep_order: as for `publish`.
        drop_suppressed: as for `publish`.
        rng: as for `publish`.
        progress: as for `publish`.
        chunk_rows: how many rows are in memory at a time.
        overwrite: whether an existing target may be replaced.
        reading: options of `frames.read_chunks`, such as `delimiter`.
    """
    check_schema(schema)
    options = PublishOptions.of(
        models,
        schema,
        suppression=suppression,
        metric=metric,
        local=local,
        levels=levels,
        time_limit=time_limit,
        keep_order=keep_order,
        drop_suppressed=drop_suppressed,
        rng=rng,
    )
    goal = Path(target)
    _check_places(Path(source), goal, overwrite=overwrite)
    file = _File(Path(source), chunk_rows, {"types": schema.types(), **reading}, progress)
    groups = _group(file, schema, options.sensitive)
    table = code_table(groups.values, schema, options.sensitive, groups=groups, progress=progress)
    protection = protect(table, options, progress)
    recoding = build_recoding_map(schema, groups, protection)
    statements = account("celosia.tables.publish_file", options, schema, protection)
    with tempfile.TemporaryDirectory(dir=goal.parent, prefix=f".{goal.stem}-") as folder:
        draft = Path(folder) / f"release{''.join(goal.suffixes)}"
        chunks = recode_chunks(
            file.chunks(Message("tables.stage.recoding_file")),
            recoding,
            schema,
            drop=options.drop_suppressed,
        )
        if not options.keep_order:
            buckets = buckets_for(protection.scale.rows, chunk_rows)
            chunks = shuffle(chunks, Path(folder), buckets, options.rng)
        text_columns = _write(chunks, draft)
        release = FileRelease(path=draft, text_columns=text_columns, **statements)
        release.save(goal, overwrite=overwrite)
    return replace(release, path=goal)


def _check_places(source: Path, goal: Path, *, overwrite: bool) -> None:
    """Refuse, before any work, what could not be read or written at its end."""
    check_writable(goal, overwrite=overwrite)
    frames.open_writer(goal)  # refuses a format that cannot grow in chunks
    frames.check_readable(source)
    if goal.exists() and goal.samefile(source):
        raise InputError("CEL-I007.file", place=goal)


@dataclass(frozen=True, slots=True)
class _File:
    """The source, to be read from the start as often as needed."""

    path: Path
    chunk_rows: int
    reading: dict[str, Any]
    progress: Progress

    def chunks(self, stage: str) -> Iterator[pl.DataFrame]:
        done = 0
        for chunk in frames.read_chunks(self.path, rows=self.chunk_rows, **self.reading):
            done += chunk.height
            yield chunk
            self.progress(Step(stage, done))


def _group(file: _File, schema: Schema, sensitive: Sequence[str]) -> Groups:
    checked = _checked(file.chunks(Message("tables.stage.grouping_file")), schema)
    with DuckDB() as engine:
        groups = engine.count_groups(checked, [*schema.named(Role.QUASI_IDENTIFIER), *sensitive])
    # An empty file has no groups; sensitive columns among them have been checked by now.
    check_table(groups.values, Schema(schema.quasi_identifiers, Role.SENSITIVE))
    return groups


def _checked(chunks: Iterator[pl.DataFrame], schema: Schema) -> Iterator[pl.DataFrame]:
    """The chunks, refused before any work if their columns do not fit the schema."""
    for chunk in chunks:
        schema.check_columns(chunk.columns)
        yield chunk


def _write(chunks: Iterator[pl.DataFrame], path: Path) -> tuple[str, ...]:
    """Write all chunks; returns which columns are text."""
    text: tuple[str, ...] = ()
    with frames.open_writer(path) as writer:
        for chunk in chunks:
            writer.write(chunk)
            kinds = (pl.String, pl.Categorical, pl.Enum)
            text = tuple(name for name, kind in chunk.schema.items() if isinstance(kind, kinds))
    return text
