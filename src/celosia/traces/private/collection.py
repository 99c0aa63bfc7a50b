"""Positions by local differential privacy: devices report one random cell each."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.core.randomness import Source, System
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.private.mechanism import (
    cell_names,
    check_size,
    check_traces,
    grid_keys,
    grid_sides,
)

if TYPE_CHECKING:
    from celosia.collect import OptimisedUnary

MOST = 64
"""Cells along a side: a report has a bit for each cell."""


def cell_protocol(plane: Plane, *, epsilon: float, size: int = 8) -> OptimisedUnary:
    """The protocol that devices and the server share: its domain is all cells of the region.

    Args:
        plane: of the declared region.
        epsilon: of one report.
        size: cells along a side.
    """
    from celosia.collect import OptimisedUnary

    check_size(size, "size", most=MOST)
    names: tuple[Hashable, ...] = tuple(cell_names(plane, grid_sides(size)))
    return OptimisedUnary(epsilon=epsilon, domain=names, key="cells")


def random_cells(traces: Traces, *, size: int = 8, rng: Source | None = None) -> list[str]:
    """One random point of each person, as the name of its cell: what a device holds."""
    check_size(size, "size", most=MOST)
    traces = check_traces(traces, "person")
    source = System() if rng is None else rng
    order = source.permutation(traces.size)
    _, first = np.unique(traces.person[order], return_index=True)
    names = cell_names(traces.plane, grid_sides(size))
    return [names[cell] for cell in grid_keys(traces, size)[order[first]].tolist()]


def collect_cells(
    traces: Traces, *, epsilon: float, size: int = 8, rng: Source | None = None
) -> dict[str, Any]:
    """Positions by local differential privacy: each person reports one random cell of a grid.

    The domain of the protocol (optimised unary encoding) is all cells of the declared region. A
    report is randomised on the device; the collector never sees a cell.

    Returns:
        The estimated number of persons by cell, the standard errors, and the reports counted.
    """
    source = System() if rng is None else rng
    held = random_cells(traces, size=size, rng=source)
    protocol = cell_protocol(traces.plane, epsilon=epsilon, size=size)
    reports = protocol.client(rng=source).privatise(held)
    names = list(protocol.domain)
    found = protocol.server().absorb(reports).estimate(names, post="norm-sub")
    return {
        "estimates": dict(zip(names, found.counts.tolist(), strict=True)),
        "errors": dict(zip(names, found.errors.tolist(), strict=True)),
        "reports": len(held),
    }
