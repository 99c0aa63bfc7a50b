"""Private synthetic traces: a model of trips learnt with noise, and new trips drawn from it.

One trip is a sequence of neighbouring cells of a declared grid, cut to a declared number of steps.
The model holds how many trips have which ends, how long trips are for the distance of their ends,
how they move from cell to cell, and at which hour they begin. A trip of l cells adds 1 / (l + 1) to
each of its l + 1 transitions, so that one trip adds at most 1 to all of them together.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.budget import Budget
from celosia.accounting.losses import PureLoss
from celosia.core.messages import Message
from celosia.core.methods import Method, parameter
from celosia.core.numbers import exact
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.statistics.contributions import at_most
from celosia.traces.points import Traces
from celosia.traces.private.mechanism import check_traces, grid_keys, one_unit
from celosia.traces.release import MethodOutcome, TraceRelease
from celosia.traces.samples import Samples
from celosia.traces.zones import hours_of_day

UNIT = 2**20
"""Weights of transitions are whole multiples of 1 / UNIT."""
BANDS = 4
"""Bands of distance between the ends of a trip, for which lengths are learnt apart."""
MOVES = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dx, dy) != (0, 0)]
END = len(MOVES)
SHARES = {
    "ends": Fraction(7, 20),
    "lengths": Fraction(1, 10),
    "transitions": Fraction(2, 5),
    "hours": Fraction(3, 20),
}
"""How the parts of the model share epsilon."""


class Trips(NamedTuple):
    """Trips as sequences of cells: all cells, where each trip begins, and its first hour."""

    cells: NDArray[np.int64]
    starts: NDArray[np.int64]
    hours: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of trips."""
        return int(self.starts.size - 1)


class Model(NamedTuple):
    """Counts of the parts of the model, with or without noise."""

    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]
    transitions: NDArray[np.int64]
    """In units of 1 / UNIT: one row for each cell, its eight neighbours and the end; the last row
    is the beginning of trips."""
    hours: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SyntheticTraces(Method):
    """New trips that no person made, from a private model of all trips.

    Guarantee: epsilon-DP with delta 0 for one person, of whom at most `per_person` trips are used.
    The region, the grid and the longest trip are declared. The parts of the model cost their
    shares; drawing from it is post-processing.

    Reference: after Gursoy, Liu, Truex, Yu, Wei 2018 (AdaTrace) and Wang et al. 2023 (PrivTrace),
    with weighted transitions, and with nothing that reads the data again.
    """

    method_name: ClassVar[str] = "synthetic-traces"

    epsilon: float = parameter(above=0, most=100, start=1, is_main=True)
    size: int = parameter(8, least=2, most=64, is_main=True)
    max_steps: int = parameter(12, least=1, most=200, is_main=True)
    per_person: int = parameter(1, least=1, most=1000, is_main=True)
    trips: int = parameter(1000, least=1, most=10_000_000)
    step_minutes: float = parameter(10.0, above=0, unit="min")

    @property
    def price(self) -> Fraction:
        """Epsilon as the exact number that it is written as."""
        found = exact(self.epsilon)
        assert found is not None, "checked"
        return found

    def learn(self, traces: Traces, *, rng: Source) -> Model:
        """The model with noise: the only part that reads the data."""
        exact_model = count_model(self._kept(traces, rng), self.size, self.max_steps)
        noisy = {}
        for name, share in SHARES.items():
            counts = getattr(exact_model, name)
            unit = UNIT if name == "transitions" else 1
            law = DiscreteLaplace(self.per_person * unit / (self.price * share))
            noisy[name] = counts + law.draw(counts.size, rng).reshape(counts.shape)
        return Model(**noisy)

    def _kept(self, traces: Traces, rng: Source) -> Trips:
        """At most `per_person` trips of each unit, uniformly chosen."""
        found = trips_of(traces, self.size, self.max_steps)
        first = np.unique(traces.trips, return_index=True)[1]
        owner = traces.units()[first]
        kept = np.nonzero(at_most(owner, self.per_person, rng=rng))[0] if owner.size else first
        parts = [found.cells[found.starts[one] : found.starts[one + 1]] for one in kept.tolist()]
        sizes = [part.size for part in parts]
        return Trips(
            np.concatenate([np.zeros(0, dtype=np.int64), *parts]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            found.hours[kept],
        )


def trips_of(traces: Traces, size: int, max_steps: int) -> Trips:
    """The trips as paths of neighbouring cells, without immediate repeats, cut to `max_steps`."""
    cells = grid_keys(traces, size)
    starts = np.append(np.unique(traces.trips, return_index=True)[1], traces.size)
    hours = hours_of_day(traces.time, traces.declaration.zone)
    parts = [
        path(cells[start:end].tolist(), size)[:max_steps]
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    return Trips(
        np.array([cell for part in parts for cell in part], dtype=np.int64),
        np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64),
        hours[starts[:-1]],
    )


def path(cells: list[int], size: int) -> list[int]:
    """A walk through neighbouring cells that visits these in order.

    >>> path([0, 0, 10], 4)
    [0, 5, 10]
    """
    found = [cells[0]]
    for cell in cells[1:]:
        while found[-1] != cell:
            x, y = found[-1] % size, found[-1] // size
            x += (cell % size > x) - (cell % size < x)
            y += (cell // size > y) - (cell // size < y)
            found.append(y * size + x)
    return found


def band(start: int, end: int, size: int) -> int:
    """The band of the distance between two cells."""
    apart = max(abs(start % size - end % size), abs(start // size - end // size))
    return min(BANDS - 1, apart * BANDS // size)


def weight_of(length: int) -> int:
    """What a trip of so many cells adds to each of its transitions, in units of 1 / UNIT."""
    return UNIT // (length + 1)


def count_model(trips: Trips, size: int, max_steps: int) -> Model:
    """The exact counts of the model, which are private."""
    cells = size * size
    ends = np.zeros((cells, cells), dtype=np.int64)
    lengths = np.zeros((BANDS, max_steps), dtype=np.int64)
    transitions = np.zeros((cells + 1, max(END + 1, cells)), dtype=np.int64)
    for one in range(trips.size):
        walk = trips.cells[trips.starts[one] : trips.starts[one + 1]].tolist()
        ends[walk[0], walk[-1]] += 1
        lengths[band(walk[0], walk[-1], size), len(walk) - 1] += 1
        weight = weight_of(len(walk))
        transitions[cells, walk[0]] += weight
        for here, there in pairwise(walk):
            move = (there % size - here % size, there // size - here // size)
            transitions[here, MOVES.index(move)] += weight
        transitions[walk[-1], END] += weight
    return Model(ends, lengths, transitions, np.bincount(trips.hours, minlength=24))


def norm_sub(counts: NDArray[Any]) -> NDArray[np.float64]:
    """The nearest counts of at least 0 with the same total: negative ones are taken from all.

    >>> norm_sub(np.array([5, -1, -1])).tolist()
    [3.0, 0.0, 0.0]
    """
    values = counts.astype(np.float64).ravel()
    total = max(float(values.sum()), 1.0)
    ranked = np.sort(values)[::-1]
    sums = np.cumsum(ranked)
    ranks = np.arange(1, values.size + 1)
    kept = np.nonzero(ranked - (sums - total) / ranks > 0)[0]
    shift = (sums[kept[-1]] - total) / ranks[kept[-1]]
    found: NDArray[np.float64] = np.maximum(values - shift, 0).reshape(counts.shape)
    return found


class Walker:
    """Draws trips from a model; reads nothing but the model."""

    def __init__(self, model: Model, method: SyntheticTraces) -> None:
        self.size, self.max_steps = method.size, method.max_steps
        cells = self.size**2
        self.ends = norm_sub(model.ends).ravel()
        self.lengths = np.stack([norm_sub(row) for row in model.lengths])
        self.hours = norm_sub(model.hours)
        self.next = np.zeros((cells, cells))
        """The chance of each move between neighbouring cells."""
        for cell in range(cells):
            row = norm_sub(model.transitions[cell, : END + 1]) + 1e-9
            for move, (dx, dy) in enumerate(MOVES):
                x, y = cell % self.size + dx, cell // self.size + dy
                if 0 <= x < self.size and 0 <= y < self.size:
                    self.next[cell, y * self.size + x] = row[move]
            self.next[cell] /= self.next[cell].sum()
        self._messages: dict[int, list[NDArray[np.float64]]] = {}

    def backward(self, end: int) -> list[NDArray[np.float64]]:
        """For each number of moves, the chance to reach the end from every cell in so many."""
        if end not in self._messages:
            found = [np.zeros(self.size**2)]
            found[0][end] = 1.0
            for _ in range(self.max_steps):
                found.append(self.next @ found[-1])
            self._messages[end] = found
        return self._messages[end]

    def walk(self, rng: Source) -> list[int]:
        """One trip: its ends, its length, and a walk that is made to reach its end."""
        pair = _draw(self.ends, rng)
        start, end = divmod(pair, self.size**2)
        messages = self.backward(end)
        weights = self.lengths[band(start, end, self.size)].copy()
        weights *= [messages[moves][start] > 0 for moves in range(self.max_steps)]
        if not weights.any():
            return path([start, end], self.size)[: self.max_steps]
        moves = _draw(weights, rng)
        found = [start]
        for left in range(moves, 0, -1):
            found.append(_draw(self.next[found[-1]] * messages[left - 1], rng))
        return found


def _draw(weights: NDArray[np.float64], rng: Source) -> int:
    """One choice with chances as the weights, exactly for their multiples of 2^-32."""
    whole = np.floor(weights / weights.max() * 2**32).astype(np.int64)
    level = int(rng.integers(int(whole.sum()), 1)[0])
    return int(np.searchsorted(np.cumsum(whole), level, side="right"))


def synthetic(
    traces: Traces,
    method: SyntheticTraces,
    *,
    budget: Budget | None = None,
    rng: Source | None = None,
    progress: Progress = silent,
) -> TraceRelease:
    """Synthetic trips with differential privacy for one person.

    Args:
        traces: stay as they are.
        method: the model, its price, and how many trips to draw.
        budget: pays for the model.
        rng: where randomness comes from; a seed makes the release a simulation.
        progress: called as the work proceeds.

    Raises:
        PrivacyError: CEL-J030 the region was measured on the data.
        BudgetExceeded: the budget does not allow it.
    """
    source = System() if rng is None else rng
    traces = check_traces(traces, traces.declaration.unit)
    neighbours = one_unit(traces.declaration.unit)
    paid: AbstractContextManager[None] = nullcontext()
    if budget is not None:  # nothing leaves the block that was not charged
        label = Message("traces.statistic.synthetic")
        paid = budget.paying(PureLoss(method.price), label=label, neighbours=neighbours)
    with paid:
        model = method.learn(traces, rng=source)
    walker = Walker(model, method)
    samples = _samples(walker, method, traces, source, progress)
    unit = traces.declaration.unit
    return TraceRelease(
        data=samples.frame(traces.plane, traces.declaration.zone),
        guarantee=Guarantee(
            promise=Message("traces.promise.synthetic", epsilon=float(method.price), unit=unit),
            unit=unit,
            protects=Message("traces.protects.synthetic", unit=unit),
            neighbours=neighbours.message,
            assumes=(Message("traces.assumes.region"), Message("traces.assumes.bound")),
            leaves_open=(
                Message("traces.open.one_budget"),
                Message("traces.open.bounded", per_person=method.per_person),
            ),
            simulation=source.simulation,
        ),
        provenance=Provenance.now(
            "celosia.traces.private.synthetic",
            {"method": method.as_dict(), "declaration": traces.declaration.as_dict()},
            seed=source.seed,
        ),
        outcome=MethodOutcome(
            method.method_name,
            {"trips": method.trips, "epsilon": float(method.price)},
            Message("traces.kept.model"),
        ),
        figures={},
        samples=samples,
    )


def _samples(
    walker: Walker, method: SyntheticTraces, traces: Traces, rng: Source, progress: Progress
) -> Samples:
    """Points of new trips: uniform in their cells, on the lattice, every few minutes."""
    trace, cells, times = [], [], []
    step = max(1, int(method.step_minutes * 60))
    for trip in range(method.trips):
        if trip % 1024 == 0:
            progress(Step(Message("traces.stage.walk"), trip, method.trips))
        walk = walker.walk(rng)
        begin = _draw(walker.hours, rng) * 3600 + int(rng.integers(3600, 1)[0])
        trace += [trip] * len(walk)
        cells += walk
        times += [begin + step * number for number in range(len(walk))]
    cell = np.array(cells, dtype=np.int64)
    west, south, east, north = traces.plane.bounds
    wide, high = east - west + 1, north - south + 1
    spread = rng.integers(2**20, 2 * cell.size).reshape(2, -1)
    x = west + ((cell % method.size) * 2**20 + spread[0]) * wide // (method.size * 2**20)
    y = south + ((cell // method.size) * 2**20 + spread[1]) * high // (method.size * 2**20)
    box = np.stack([x, y, x, y], axis=1).astype(np.int32)
    start = np.array(times, dtype=np.int64)
    return Samples(
        trace=np.array(trace, dtype=np.int64),
        start=start,
        end=start,
        box=box,
        owner=np.full(method.trips, -1, dtype=np.int64),
    )
