"""What becomes of each combination of quasi-identifier values, for engines that recode the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from celosia.engines import Groups
from celosia.engines.tables import ColumnMap, RecodingMap, changed_source
from celosia.frames.columns import without_minus_zero
from celosia.tables.coded_table import CodedColumn
from celosia.tables.protection import Protection
from celosia.tables.schema import Role, Schema, released_names


def build_recoding_map(schema: Schema, groups: Groups, protection: Protection) -> RecodingMap:
    """The recoding that was chosen for the groups of a table."""
    # Names of our own: a user's may be patterns to Polars.
    named = [groups.values[name] for name in schema.named(Role.QUASI_IDENTIFIER)]
    first = np.ones(groups.values.height, dtype=np.bool_)
    if len(named) < groups.values.width:
        # Groups that differ only in a sensitive value share what becomes of them.
        places = pl.DataFrame([each.alias(f"q{number}") for number, each in enumerate(named)])
        distinct = places.select(pl.struct(pl.all()).is_first_distinct())
        first = distinct.to_series().to_numpy()
    maps, hidden_nodes = _column_maps(protection)
    return RecodingMap(
        combinations=pl.DataFrame([each.filter(first) for each in named]),
        released=pl.DataFrame([each.series().filter(first) for each in protection.released]),
        hidden=protection.hidden[first],
        groups=np.flatnonzero(first),
        rows=protection.records,
        maps=maps,
        hidden_nodes=hidden_nodes,
        hidden_rows=int(groups.sizes[protection.hidden].sum()),
    )


def recode_chunks(
    chunks: Iterator[pl.DataFrame], recoding: RecodingMap, schema: Schema, *, drop: bool
) -> Iterator[tuple[pl.DataFrame, pl.Series | None]]:
    """Chunks of a table as they are released, in their order; and the unit of each row, if any.

    Raises:
        EngineError: CEL-E002 the rows are not those that were counted.
    """
    rows = 0
    for chunk in chunks:
        rows += chunk.height
        yield recode_chunk(chunk, recoding, schema, drop=drop)
    if rows != recoding.rows:
        raise changed_source()


def recode_chunk(
    chunk: pl.DataFrame, recoding: RecodingMap, schema: Schema, *, drop: bool
) -> tuple[pl.DataFrame, pl.Series | None]:
    """Some rows as they are released, and the person or household of each, if these are counted.

    Raises:
        EngineError: CEL-E002 a row was not counted.
    """
    # Names of our own: a user's may be patterns to Polars, or the very names used here.
    place = {name: f"c{number}" for number, name in enumerate(chunk.columns)}
    keys = [place[name] for name in recoding.names]
    table = pl.DataFrame(
        [
            *(raw.alias(place[raw.name]) for raw in recoding.combinations),
            *(new.alias(f"new {place[new.name]}") for new in recoding.released),
            pl.Series("hidden", recoding.hidden),
        ]
    )
    found = chunk.rename(place).join(
        table, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    if found["hidden"].null_count():  # a row that was not judged must never be released
        raise changed_source()
    kept = found.filter(~pl.col("hidden")) if drop else found
    released = pl.DataFrame(
        [
            kept[f"new {place[name]}" if place[name] in keys else place[name]].alias(name)
            for name in released_names(chunk, schema)
        ]
    )
    unit = schema.unit_column
    return without_minus_zero(released), None if unit is None else kept[place[unit]]


def _column_maps(
    protection: Protection,
) -> tuple[tuple[ColumnMap, ...] | None, pl.DataFrame | None]:
    """What becomes of each value, and which classes are suppressed; None if that does not tell all.

    It does not where rows have levels of their own, or where some rows of a class are suppressed
    for an empty cell and others are not.
    """
    levels = protection.levels
    if levels is None:
        return None, None
    nodes = pl.DataFrame(
        [
            pl.Series(f"n{number}", column.hierarchy.nodes[level][column.leaf_of_row], pl.UInt32)
            for number, (column, level) in enumerate(zip(protection.columns, levels, strict=True))
        ]
    )
    hidden = pl.Series(protection.hidden)
    gone = nodes.filter(hidden).unique()
    if gone.height and nodes.filter(~hidden).join(gone, on=nodes.columns, how="semi").height:
        return None, None
    maps = tuple(
        _column_map(column, level, released.cells.dtype)
        for column, level, released in zip(
            protection.columns, levels, protection.released, strict=True
        )
    )
    names = dict(zip(nodes.columns, (column.name for column in protection.columns), strict=True))
    return maps, gone.rename(names)


def _column_map(column: CodedColumn, level: int, kind: pl.DataType) -> ColumnMap:
    leaves = np.unique(column.leaf_of_row)
    each = replace(column, leaf_of_row=leaves)
    stays = level == 0 and kind == each.raw().dtype
    return ColumnMap(
        values=each.raw(),
        released=each.raw() if stays else each.labels_at(level),
        nodes=pl.Series(column.hierarchy.nodes[level][leaves], dtype=pl.UInt32),
    )
