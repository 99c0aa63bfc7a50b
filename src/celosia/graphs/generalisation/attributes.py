"""Quasi-identifiers of vertices, generalised within each group."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.frames import as_text
from celosia.graphs.graph import Graph
from celosia.tables.coded_table import CodedColumn, code_column
from celosia.tables.schema import Column, Schema

Blocks = NDArray[np.int64]
"""The number of each vertex's group, 0 .. b-1, none empty. It is secret: never published."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Attributes:
    """The quasi-identifiers of all vertices, ready to be generalised group by group.

    A column of numbers without a hierarchy of its own becomes the range of a group, any other the
    lowest node of its hierarchy that holds the whole group.
    """

    names: tuple[str, ...]
    """All quasi-identifiers in the order of the schema."""
    ranged: tuple[pl.Series, ...] = ()
    trees: tuple[CodedColumn, ...] = ()

    @property
    def numbers(self) -> NDArray[np.float64]:
        """One row a column of numbers: each number as its share of the way from least to most."""
        vertices = self.ranged[0].len() if self.ranged else 0
        table = np.zeros((len(self.ranged), vertices))
        for row, series in zip(table, self.ranged, strict=True):
            values = series.cast(pl.Float64).to_numpy()
            row[:] = (values - values.min()) / ((values.max() - values.min()) or 1.0)
        return table

    @property
    def ancestors(self) -> NDArray[np.int32]:
        """`[column, level, vertex]`: the node of each vertex; short hierarchies repeat the root."""
        deepest = max((each.hierarchy.levels for each in self.trees), default=1)
        vertices = self.trees[0].leaf_of_row.size if self.trees else 0
        table = np.zeros((len(self.trees), deepest, vertices), dtype=np.int32)
        for row, each in zip(table, self.trees, strict=True):
            row[: each.hierarchy.levels] = each.hierarchy.nodes[:, each.leaf_of_row]
        return table

    @property
    def heights(self) -> NDArray[np.int64]:
        """The height of each hierarchy, at least 1."""
        return np.array([max(each.hierarchy.height, 1) for each in self.trees], dtype=np.int64)

    def generalised(self, block_of_vertex: Blocks) -> pl.DataFrame:
        """One row a group: what its vertices have in common."""
        found = {series.name: _ranges(series, block_of_vertex) for series in self.ranged}
        for tree, levels in zip(self.trees, self._levels(block_of_vertex), strict=True):
            first = np.unique(block_of_vertex, return_index=True)[1]
            labels = tree.labels_at(levels[block_of_vertex].astype(np.int16))
            found[tree.name] = labels.gather(first)
        return pl.DataFrame([found[name] for name in self.names])

    def loss(self, block_of_vertex: Blocks) -> tuple[float, float]:
        """GIL and NGIL: how far values are generalised, summed over vertices, and per cell.

        A range counts by its share of the full range, a node by its height over that of the
        hierarchy.

        Reference: Campan, Truta 2009, definitions 5 to 7.
        """
        sizes = np.bincount(block_of_vertex)
        total = 0.0
        for row in self.numbers:
            least, most = _extremes(row, block_of_vertex)
            total += float((sizes * (most - least)).sum())
        levels = self._levels(block_of_vertex)
        for height, level in zip(self.heights.tolist(), levels, strict=True):
            total += float((sizes * level).sum()) / height
        return total, total / max(block_of_vertex.size * len(self.names), 1)

    def _levels(self, block_of_vertex: Blocks) -> list[NDArray[np.int64]]:
        """For each tree, the level at which each group has one node."""
        found = []
        for tree in self.trees:
            level = np.zeros(int(block_of_vertex.max(initial=-1)) + 1, dtype=np.int64)
            for number in range(tree.hierarchy.levels):
                least, most = _extremes(
                    tree.hierarchy.nodes[number, tree.leaf_of_row].astype(np.float64),
                    block_of_vertex,
                )
                level[least != most] = number + 1  # the root is shared, so it ends there
            found.append(level)
        return found


def _extremes(
    values: NDArray[np.float64], block_of_vertex: Blocks
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    count = int(block_of_vertex.max(initial=-1)) + 1
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, block_of_vertex, values)
    np.maximum.at(most, block_of_vertex, values)
    return least, most


def _ranges(series: pl.Series, block_of_vertex: Blocks) -> pl.Series:
    """Each group as `[21, 35]`, or as the number itself where all have the same."""
    groups = pl.DataFrame([pl.Series("group", block_of_vertex), series.alias("value")])
    ends = groups.group_by("group").agg(
        pl.col("value").min().alias("low"), pl.col("value").max().alias("high")
    )
    ends = ends.sort("group")
    low, high = as_text(ends["low"]).alias("low"), as_text(ends["high"]).alias("high")
    label = (
        pl.when(pl.col("low") == pl.col("high"))
        .then("low")
        .otherwise(pl.format("[{}, {}]", "low", "high"))
    )
    return pl.DataFrame([low, high]).select(label.alias(series.name)).to_series()


def schema_parameter() -> Any:
    """The `schema` of a method: which attributes of vertices are quasi-identifiers."""
    return parameter(None, kind="text", check=_check_schema, allowed="words.schema", is_asked=False)


def _check_schema(given: Any) -> Schema | str:
    if not isinstance(given, Schema) and not (isinstance(given, str) and given):
        raise ValueError
    return given


def schema_of(given: Schema | str | None) -> Schema | None:
    """The schema itself, or the one in a file."""
    return Schema.load(Path(given)) if isinstance(given, str) else given


def code_attributes(graph: Graph, schema: Schema | None) -> Attributes | None:
    """The quasi-identifiers of a graph's vertices; None where there is no schema.

    Identifiers and all other columns are left out.

    Raises:
        InputError: CEL-G214 the graph has no attributes, or the schema no quasi-identifier;
            CEL-S010 and S011 as for tables, CEL-T010 and T011 for empty and unknown values.
    """
    if schema is None:
        return None
    if graph.attributes is None:
        raise InputError("CEL-G214.no_attributes")
    if not schema.quasi_identifiers:
        raise InputError("CEL-G214.no_quasi_identifier")
    schema.check_columns(graph.attributes.columns)
    ranged, trees = [], []
    for column in schema.quasi_identifiers:
        series = graph.attributes[column.name]
        if _is_ranged(series, column):
            ranged.append(series)
        else:
            trees.append(code_column(series, column))
    names = tuple(column.name for column in schema.quasi_identifiers)
    return Attributes(names=names, ranged=tuple(ranged), trees=tuple(trees))


def _is_ranged(series: pl.Series, column: Column) -> bool:
    numeric = column.hierarchy is None and series.dtype.is_numeric() and not series.null_count()
    return numeric and bool(series.cast(pl.Float64).is_finite().all())
