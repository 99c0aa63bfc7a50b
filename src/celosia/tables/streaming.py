"""Publish from file to file, for tables larger than memory.

Three passes in chunks: the engine groups the quasi-identifiers; the search runs on their distinct
combinations, as in memory; then every chunk is recoded by looking its combinations up. A shuffled
release goes through temporary files: each row is sent to one of them at random and each is shuffled
on its own, which makes every order of the whole equally likely.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import polars as pl

from celosia import frames
from celosia.core.errors import InputError
from celosia.core.files import check_writable
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.engines import DuckDB, Groups
from celosia.tables.account import Wish, account
from celosia.tables.coding import code_column
from celosia.tables.models import Classes, Model, hold_all
from celosia.tables.publishing import (
    as_list,
    check_schema,
    check_table,
    released_columns,
    released_names,
)
from celosia.tables.recoding import Lattice, optimum
from celosia.tables.release import FileRelease
from celosia.tables.schema import Role, Schema


def publish_file(  # noqa: PLR0913 - each is a choice that an officer answers for
    source: str | Path,
    target: str | Path,
    schema: Schema,
    models: Model | Iterable[Model],
    *,
    suppression: float = 0.05,
    keep_order: bool = False,
    drop_suppressed: bool = False,
    randomness: Source | None = None,
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
        keep_order: as for `publish`.
        drop_suppressed: as for `publish`.
        randomness: as for `publish`.
        progress: as for `publish`.
        chunk_rows: how many rows are in memory at a time.
        overwrite: whether an existing target may be replaced.
        reading: options of `frames.read_chunks`, such as `delimiter`.
    """
    wish = Wish(
        models=as_list(models),
        suppression=suppression,
        keep_order=keep_order,
        drop_suppressed=drop_suppressed,
        randomness=randomness or System(),
    )
    check_schema(schema)
    goal = Path(target)
    if goal.exists() and goal.samefile(source):
        raise InputError(
            "CEL-I007",
            f"{goal} is both source and target.",
            why="The original would be lost.",
            fix="Write the release to another file.",
        )
    check_writable(goal, overwrite=overwrite)
    frames.writer(goal)  # refuses a format that cannot grow in chunks, before any work
    file = _File(Path(source), chunk_rows, {"types": schema.types(), **reading}, progress)
    groups = _group(file, schema)
    columns = [
        code_column(groups.values[column.name], column, origin=groups)
        for column in schema.quasi_identifiers
    ]
    lattice = Lattice(columns, groups.sizes)
    found = optimum(lattice, wish.models, suppression=suppression, progress=progress)
    class_of, sizes = lattice.classes_of_rows(found.best.node)
    kept = hold_all(Classes(sizes), wish.models)
    hidden = ~kept[class_of]
    # Whoever is dropped needs no star, so columns left raw can keep their types.
    starred = hidden & (not drop_suppressed)
    released = released_columns(columns, found.best.node, starred)
    recoding = _Recoding(schema, groups.values, released, pl.Series(hidden))
    told = account(
        "celosia.tables.publish_file", wish, schema, lattice, found, kept_sizes=sizes[kept]
    )
    with tempfile.TemporaryDirectory(dir=goal.parent, prefix=f".{goal.stem}-") as folder:
        draft = Path(folder) / f"release{''.join(goal.suffixes)}"
        recoded = recoding.apply_all(file.chunks("Recoding the file"), drop=drop_suppressed)
        if keep_order:
            _write(recoded, draft)
        else:
            buckets = max(1, ceil(lattice.rows / chunk_rows))
            _write(_shuffled(recoded, Path(folder), buckets, wish.randomness), draft)
        release = FileRelease(path=draft, **told)
        release.save(goal, overwrite=overwrite)
    return replace(release, path=goal)


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


def _group(file: _File, schema: Schema) -> Groups:
    checked = _checked(file.chunks("Grouping the file"), schema)
    with DuckDB() as engine:
        groups = engine.count_groups(checked, schema.named(Role.QUASI_IDENTIFIER))
    check_table(groups.values, Schema(schema.quasi_identifiers))  # an empty file has no groups
    return groups


def _checked(chunks: Iterator[pl.DataFrame], schema: Schema) -> Iterator[pl.DataFrame]:
    """The chunks, refused before any work if their columns do not fit the schema."""
    for chunk in chunks:
        schema.check_columns(chunk.columns)
        yield chunk


@dataclass(frozen=True, slots=True)
class _Recoding:
    """What becomes of each combination of quasi-identifier values."""

    schema: Schema
    combinations: pl.DataFrame
    released: list[pl.Series]
    hidden: pl.Series

    def apply_all(self, chunks: Iterator[pl.DataFrame], *, drop: bool) -> Iterator[pl.DataFrame]:
        for chunk in chunks:
            yield self._apply(chunk, drop=drop)

    def _apply(self, chunk: pl.DataFrame, *, drop: bool) -> pl.DataFrame:
        # Names of our own: a user's may be patterns to Polars, or the very names used here.
        place = {name: f"c{number}" for number, name in enumerate(chunk.columns)}
        keys = [place[name] for name in self.combinations.columns]
        # The engine may have changed a type on its way (a category into text).
        raw = [series.cast(chunk[series.name].dtype) for series in self.combinations]
        table = pl.DataFrame(
            [
                *(series.alias(place[series.name]) for series in raw),
                *(series.alias(f"new {place[series.name]}") for series in self.released),
                self.hidden.alias("hidden"),
            ]
        )
        coded = chunk.rename(place)
        found = coded.join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")
        kept = found.filter(~pl.col("hidden")) if drop else found
        changed = {series.name for series in self.released}
        return pl.DataFrame(
            [
                kept[f"new {place[name]}" if name in changed else place[name]].alias(name)
                for name in released_names(chunk, self.schema)
            ]
        )


def _write(chunks: Iterator[pl.DataFrame], path: Path) -> None:
    with frames.writer(path) as writer:
        for chunk in chunks:
            writer.write(chunk)


def _shuffled(
    chunks: Iterator[pl.DataFrame], folder: Path, buckets: int, source: Source
) -> Iterator[pl.DataFrame]:
    paths = [folder / f"{number}.arrow" for number in range(buckets)]
    with ExitStack() as stack:
        writers = [stack.enter_context(frames.writer(path)) for path in paths]
        for chunk in chunks:
            aim = pl.Series(source.integers(buckets, chunk.height))
            for number, writer in enumerate(writers):
                writer.write(chunk.filter(aim == number))
    for path in paths:
        bucket = frames.read(path)
        path.unlink()
        yield bucket[source.permutation(bucket.height)]
