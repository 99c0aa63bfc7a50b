"""Positions and moves by local differential privacy: devices report one cell or move each."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.mechanisms.statistics.contributions import at_most
from celosia.traces.declaration import Declaration
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.private.mechanism import (
    cell_names,
    check_size,
    check_traces,
    grid_keys,
    grid_sides,
)
from celosia.traces.private.synthetic_traces import draw_trips
from celosia.traces.private.trips import END, MOVES, transitions_of, trips_of
from celosia.traces.private.walks import ChainWalker
from celosia.traces.release import MethodOutcome, TraceRelease

if TYPE_CHECKING:
    from celosia.collect import Estimates, OptimisedUnary, Protocol

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


MOST_FOR_MOVES = 16
"""Cells along a side for moves: a report has about ten bits for each cell."""


def transition_places(size: int) -> list[tuple[int, int]]:
    """All transitions that a trip may have, as rows and columns of the model of trips."""
    cells = size * size
    found = [(cells, cell) for cell in range(cells)]
    for cell in range(cells):
        x, y = cell % size, cell // size
        for move, (dx, dy) in enumerate(MOVES):
            if 0 <= x + dx < size and 0 <= y + dy < size:
                found.append((cell, move))
        found.append((cell, END))
    return found


def transition_names(size: int) -> list[str]:
    """The same by name: cells are numbered from the south-west, along rows.

    >>> transition_names(2)[:6]
    ['start > 0', 'start > 1', 'start > 2', 'start > 3', '0 > 1', '0 > 2']
    """
    names = []
    for cell, move in transition_places(size):
        if cell == size * size:
            names.append(f"start > {move}")
        elif move == END:
            names.append(f"{cell} > end")
        else:
            dx, dy = MOVES[move]
            names.append(f"{cell} > {cell + dy * size + dx}")
    return names


def transition_protocol(*, epsilon: float, size: int = 8) -> OptimisedUnary:
    """The protocol of a report of one transition: its domain is all that the grid allows.

    Args:
        epsilon: of one report.
        size: cells along a side.
    """
    from celosia.collect import OptimisedUnary

    check_size(size, "size", most=MOST_FOR_MOVES)
    names: tuple[Hashable, ...] = tuple(transition_names(size))
    return OptimisedUnary(epsilon=epsilon, domain=names, key="transitions")


def random_transitions(
    traces: Traces, *, size: int = 8, max_steps: int = 12, rng: Source | None = None
) -> list[str]:
    """One random transition of one random trip of each person: what a device holds.

    A trip begins with a step from the start and ends with one to the end, so that one of l cells
    has l + 1 transitions, each as likely. One report tells of one of them: a report of every step
    would cost epsilon for each.
    """
    check_size(size, "size", most=MOST_FOR_MOVES)
    check_size(max_steps, "max_steps")
    traces = check_traces(traces, "person")
    source = System() if rng is None else rng
    found = trips_of(traces, size, max_steps)
    owner = traces.units()[np.unique(traces.trips, return_index=True)[1]]
    names = dict(zip(transition_places(size), transition_names(size), strict=True))
    held = []
    for trip in np.flatnonzero(at_most(owner, 1, rng=source)).tolist():
        walk = found.cells[found.starts[trip] : found.starts[trip + 1]].tolist()
        places = transitions_of(walk, size)
        held.append(names[places[int(source.integers(len(places), 1)[0])]])
    return held


@dataclass(frozen=True, eq=False)
class Transitions:
    """Estimated shares of the transitions of all trips, each trip having the same weight."""

    size: int
    shares: NDArray[np.float64]
    """One row for each cell, its eight neighbours and the end; the last row is the start."""
    error: float
    """The standard error of a share."""
    reports: int
    epsilon: float
    """Of one report."""


def collect_transitions(
    traces: Traces,
    *,
    epsilon: float,
    size: int = 8,
    max_steps: int = 12,
    rng: Source | None = None,
) -> Transitions:
    """Moves by local differential privacy: each person reports one random transition.

    Reference: after Du et al. 2023 (LDPTrace), with a declared region and length, and one report a
    person.
    """
    source = System() if rng is None else rng
    held = random_transitions(traces, size=size, max_steps=max_steps, rng=source)
    protocol = transition_protocol(epsilon=epsilon, size=size)
    reports = protocol.client(rng=source).privatise(held)
    return transitions_from(
        protocol.server().absorb(reports).estimate(transition_names(size)), protocol
    )


def transitions_from(estimate: Estimates, protocol: Protocol) -> Transitions:
    """What a collection of `transition_protocol` estimates, asked for its whole domain.

    Raises:
        InputError: CEL-J037 the protocol is of something else than moves.
    """
    size = size_of_moves(protocol)
    count = max(1, estimate.users)
    cells = size * size
    shares = np.zeros((cells + 1, max(END + 1, cells)))
    rows, columns = np.array(transition_places(size)).T
    shares[rows, columns] = estimate.counts / count
    error = float(np.max(estimate.errors)) / count
    return Transitions(size, shares, error, count, float(protocol.epsilon))


def size_of_moves(protocol: Protocol) -> int:
    """Cells along a side of the grid whose moves a protocol reports.

    Raises:
        InputError: CEL-J037 the protocol is of something else than moves.
    """
    domain = list(getattr(protocol, "domain", None) or ())
    # A trip begins in any of the cells, and no other name begins so.
    size = math.isqrt(sum(str(name).startswith("start > ") for name in domain))
    if not 0 < size <= MOST_FOR_MOVES or domain != transition_names(size):
        raise InputError("CEL-J037")
    return size


def synthetic_from(
    transitions: Transitions,
    declaration: Declaration,
    *,
    trips: int = 1000,
    max_steps: int = 12,
    step_minutes: float = 10.0,
    rng: Source | None = None,
    progress: Progress = silent,
) -> TraceRelease:
    """New trips from collected transitions: nothing else is read.

    Guarantee: what each device reported has epsilon-local differential privacy for its person, and
    the trips are computed from the reports alone.

    Args:
        transitions: as they were estimated.
        declaration: its region is that of the grid.
        trips: how many are drawn.
        max_steps: the longest trip in cells.
        step_minutes: between two points.
        rng: where randomness comes from; a seed makes the release a simulation.
        progress: called as the work proceeds.

    Raises:
        PrivacyError: CEL-J030 the region was measured on the data.
    """
    check_size(trips, "trips")
    check_size(max_steps, "max_steps")
    if declaration.is_measured:
        raise PrivacyError("CEL-J030")
    counts = transitions.shares * transitions.reports
    walker = ChainWalker(counts, transitions.size, max_steps)
    source = System() if rng is None else rng
    samples = draw_trips(
        walker, declaration.plane, trips, step_minutes, rng=source, progress=progress
    )
    epsilon = transitions.epsilon
    return TraceRelease(
        data=samples.frame(declaration.plane, declaration.zone),
        guarantee=Guarantee(
            promise=Message("traces.promise.collected", epsilon=epsilon),
            unit="person",
            protects=Message("traces.protects.collected", factor=math.exp(epsilon)),
            neighbours=Message("traces.neighbours.collected"),
            assumes=(Message("traces.assumes.region"), Message("traces.assumes.one_report")),
            leaves_open=(
                Message("traces.open.one_budget"),
                Message("traces.open.bounded", per_person=1),
            ),
            simulation=source.simulation,
        ),
        provenance=Provenance.now(
            "celosia.traces.private.synthetic_from",
            {
                "trips": trips,
                "max_steps": max_steps,
                "step_minutes": step_minutes,
                "size": transitions.size,
                "epsilon": epsilon,
                "reports": transitions.reports,
                "declaration": declaration.as_dict(),
            },
            seed=source.seed,
        ),
        outcome=MethodOutcome(
            "collected-moves",
            {"trips": trips, "epsilon": epsilon},
            Message("traces.kept.collected"),
        ),
        figures={},
        samples=samples,
    )
