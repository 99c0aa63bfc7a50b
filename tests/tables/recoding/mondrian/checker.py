"""What any Mondrian release must be, judged from the raw columns and the released labels alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from math import floor

import polars as pl

from celosia.frames import as_text
from celosia.tables.hierarchies import Hierarchy

Labels = tuple[str | None, ...]


def texts(series: pl.Series) -> list[str | None]:
    return as_text(series).to_list()


def classes(released: Sequence[pl.Series]) -> dict[Labels, list[int]]:
    """The rows that share each combination of released labels."""
    rows = defaultdict(list)
    for row, labels in enumerate(zip(*(texts(series) for series in released), strict=True)):
        rows[labels].append(row)
    return dict(rows)


def covered(label: str | None, hierarchy: Hierarchy, kind: pl.DataType) -> set[str | None]:
    """The leaves that a label may stand for, by the definition; None is the empty cell."""
    everything: set[str | None] = {*hierarchy.leaves, None}
    if label is None:
        return {None}
    if label == "*":
        return everything
    if not kind.is_numeric() and not kind.is_temporal():
        return {path[0] for path in hierarchy.paths() if label in path}
    if not label.startswith("["):
        return {label}
    low, high = label.strip("[]").split(", ")
    if kind == pl.Date:
        first, last = date.fromisoformat(low), date.fromisoformat(high)
        return {text for text in hierarchy.leaves if first <= date.fromisoformat(text) <= last}
    return {text for text in hierarchy.leaves if float(low) <= float(text) <= float(high)}


def plain_loss(
    released: Sequence[pl.Series], raw: Sequence[pl.Series], hierarchies: Sequence[Hierarchy]
) -> float:
    """The loss by the definition: shares of the domain, scaled, geometric mean shifted by one."""
    total = 1.0
    for labels, series, hierarchy in zip(released, raw, hierarchies, strict=True):
        leaves = len(hierarchy.leaves) + (series.null_count() > 0)
        without = {None} if series.null_count() == 0 else set()
        raised = sum(
            many * len(covered(label, hierarchy, series.dtype) - without) / leaves
            for label, many in Counter(texts(labels)).items()
        )
        least = len(series) / leaves
        span = len(series) - least
        loss = max(0.0, (raised - least) / span) if span else 0.0
        total *= (1 + floor(loss * 1e10) / 1e10) ** (1 / len(raw))
    return total - 1


def can_be_cut(values: Sequence[str | None], series: pl.Series, paths: list[tuple[str, ...]],
               k: int) -> bool:  # fmt: skip
    """Whether a class with these values in one column could still be cut along it."""
    if series.dtype.is_numeric() or series.dtype.is_temporal():
        order = texts(series.drop_nulls().unique().sort())
        ranks = sorted(len(order) if value is None else order.index(value) for value in values)
        cuts = [place for place in range(1, len(ranks)) if ranks[place - 1] < ranks[place]]
        return any(min(place, len(ranks) - place) >= k for place in cuts)
    path_of = {path[0]: path for path in paths}
    ways = [(None,) * (len(paths[0]) - 1) + ("*",) if v is None else path_of[v] for v in values]
    level = next(level for level in range(len(ways[0])) if len({way[level] for way in ways}) == 1)
    children = Counter(way[level - 1] for way in ways) if level else Counter()
    return any(many >= k and len(ways) - many >= k for many in children.values())
