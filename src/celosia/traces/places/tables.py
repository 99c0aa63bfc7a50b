"""Places and times as hierarchies of tables, so that every model of a table works on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celosia.tables.hierarchies import Hierarchy
from celosia.traces.places.areas import OUTSIDE
from celosia.traces.places.levels import ROOT, Level, Scheme, place_levels, time_levels
from celosia.traces.points import Traces


def place_hierarchy(traces: Traces, scheme: Scheme, *, base: float | None = None) -> Hierarchy:
    """The hierarchy of the cells in which there are points, for a schema of tables."""
    return _hierarchy(place_levels(traces, scheme, base=base))


def time_hierarchy(traces: Traces, *, base: str = "15min") -> Hierarchy:
    """The hierarchy of the windows of time in which there are points."""
    levels = time_levels(traces, base=base)
    everything = Level(
        np.zeros(traces.size, dtype=np.int64), (ROOT,), np.zeros((1, 2), dtype=np.int64), ROOT
    )
    return _hierarchy([*levels, everything])


def labels(level: Level) -> Any:
    """The name of each point's cell at a level."""
    names = np.array([*level.names, OUTSIDE], dtype=object)
    return names[level.codes]


def _hierarchy(levels: Sequence[Level]) -> Hierarchy:
    rows = np.unique(np.stack([each.codes for each in levels], axis=1), axis=0)
    paths = []
    for row in rows.tolist():
        path = [
            f"{level.title}|{level.names[code]}" if code >= 0 else f"{level.title}|{OUTSIDE}"
            for level, code in zip(levels[:-1], row[:-1], strict=True)
        ]
        paths.append((*path, ROOT))
    return Hierarchy.from_paths(paths)
