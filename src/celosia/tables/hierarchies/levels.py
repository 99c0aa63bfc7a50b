"""How a hierarchy narrows from its leaves to its root, in counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from celosia.tables.hierarchies.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class LevelSummary:
    """One level in counts; no label, so that it may be shown to anybody."""

    level: int
    labels: int
    """How many different labels the level has."""
    smallest: int
    """The fewest leaves under one label."""
    largest: int
    """The most leaves under one label."""


def summary(hierarchy: Hierarchy) -> tuple[LevelSummary, ...]:
    """The levels from the raw values to the root, in counts.

    >>> tree = Hierarchy.from_paths([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")])
    >>> summary(tree)[1]
    LevelSummary(level=1, labels=2, smallest=1, largest=2)
    """
    sizes = [np.bincount(nodes) for nodes in hierarchy.nodes]
    return tuple(
        LevelSummary(level, len(counts), int(counts.min()), int(counts.max()))
        for level, counts in enumerate(sizes)
    )
