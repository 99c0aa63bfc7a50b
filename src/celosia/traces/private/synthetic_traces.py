"""Private synthetic traces: a model of trips learnt with noise, and new trips drawn from it.

One trip is a sequence of neighbouring cells of a declared grid, cut to a declared number of steps.
The model holds how many trips have which ends, how long trips are for the distance of their ends,
how they move from cell to cell, at which hour they begin in each quarter of the region, and where
inside the cells they pass, by a refined grid. A trip of l cells adds 1 / (l + 1) to each of its
l + 1 transitions, so that one trip adds at most 1 to all of them together.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from math import nextafter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.budget import Budget
from celosia.accounting.losses import PureLoss
from celosia.core.messages import Message
from celosia.core.methods import Method, parameter
from celosia.core.numbers import exactly
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee, Provenance
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.statistics.contributions import at_most
from celosia.mechanisms.statistics.quantiles import Quantile
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.private.grids import refined
from celosia.traces.private.mechanism import check_traces, one_unit
from celosia.traces.private.trips import UNIT, Model, Trips, count_model, cut_to, joined, trips_of
from celosia.traces.private.walks import ChainWalker, Learnt, Walker
from celosia.traces.release import MethodOutcome, TraceRelease
from celosia.traces.samples import Samples

USUAL = Fraction(19, 20)
"""The share of trips that a private longest trip is to leave whole."""
WEIGHTS = {"ends": 7, "lengths": 2, "transitions": 7, "hours": 2, "refined": 3, "longest": 1}
"""How the parts of the model share epsilon, those that are asked for."""
COUNTED = ("ends", "lengths", "transitions", "hours")


@dataclass(frozen=True, slots=True)
class SyntheticTraces(Method):
    """New trips that no person made, from a private model of all trips.

    Guarantee: epsilon-DP with delta 0 for one person, of whom at most `per_person` trips are used.
    The region, the grid and the longest trip are declared; with `private_length` the longest trip
    is a private quantile below what is declared. The parts of the model cost their shares; drawing
    from it is post-processing.

    Reference: after Gursoy, Liu, Truex, Yu, Wei 2018 (AdaTrace) and Wang et al. 2023 (PrivTrace),
    with weighted transitions, and with nothing that reads the data again.
    """

    method_name: ClassVar[str] = "synthetic-traces"

    epsilon: float = parameter(above=0, most=100, start=1, is_main=True)
    size: int = parameter(8, least=2, most=64, is_main=True)
    max_steps: int = parameter(12, least=1, most=200, is_main=True)
    per_person: int = parameter(1, least=1, most=1000, is_main=True)
    trips: int = parameter(1000, least=1, most=10_000_000)
    refine: bool = parameter(True)
    private_length: bool = parameter(False)
    step_minutes: float = parameter(10.0, above=0, unit="min")

    @property
    def price(self) -> Fraction:
        """Epsilon as the exact number that it is written as."""
        return exactly(self.epsilon)

    @property
    def shares(self) -> dict[str, Fraction]:
        """Epsilon of each part of the model for one trip; `per_person` times all is epsilon."""
        left_out = {"refined": not self.refine, "longest": not self.private_length}
        weights = {name: each for name, each in WEIGHTS.items() if not left_out.get(name)}
        whole = self.price / (self.per_person * sum(weights.values()))
        return {name: whole * each for name, each in weights.items()}

    def learn(self, traces: Traces, *, rng: Source) -> Learnt:
        """The model with noise: the only part that reads the data."""
        kept, points = self._kept(traces, rng)
        shares = self.shares
        longest = self.max_steps
        if self.private_length:
            longest = self._longest(np.diff(kept.starts), shares["longest"], rng)
            kept = cut_to(kept, longest)
        exact_model = count_model(kept, self.size, longest)
        noisy = {}
        for name in COUNTED:
            counts = getattr(exact_model, name)
            unit = UNIT if name == "transitions" else 1
            law = DiscreteLaplace(unit / shares[name])
            noisy[name] = counts + law.draw(counts.size, rng).reshape(counts.shape)
        places = (
            refined(traces, points, self.size, shares["refined"], rng=rng) if self.refine else None
        )
        return Learnt(Model(**noisy), longest, places)

    def _longest(self, lengths: NDArray[np.int64], share: Fraction, rng: Source) -> int:
        """A private quantile of the lengths, within what is declared."""
        if self.max_steps == 1:
            return 1
        mechanism = Quantile(
            epsilon=nextafter(float(share), 0.0),
            lower=1,
            upper=self.max_steps,
            q=USUAL,
            grid=Grid(1),
            may_be_empty=True,
        )
        return round(mechanism.measure(lengths, rng=rng).value)

    def _kept(self, traces: Traces, rng: Source) -> tuple[Trips, NDArray[np.int64]]:
        """At most `per_person` trips of each unit, uniformly chosen, and one point of each."""
        found = trips_of(traces, self.size, self.max_steps)
        first = np.unique(traces.trips, return_index=True)[1]
        owner = traces.units()[first]
        kept = np.nonzero(at_most(owner, self.per_person, rng=rng))[0] if owner.size else first
        parts = [found.cells[found.starts[one] : found.starts[one + 1]] for one in kept.tolist()]
        spans = np.diff(np.append(first, traces.size))[kept]
        points = first[kept] + rng.integers(2**32, kept.size) * spans // 2**32
        return joined(parts, found.hours[kept]), points


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
    walker = Walker(model, method.size)
    samples = draw_trips(
        walker, traces.plane, method.trips, method.step_minutes, rng=source, progress=progress
    )
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


def draw_trips(
    walker: Walker | ChainWalker,
    plane: Plane,
    trips: int,
    step_minutes: float,
    *,
    rng: Source,
    progress: Progress = silent,
) -> Samples:
    """Points of new trips: uniform in their cells, on the lattice, every few minutes."""
    trace, cells, times = [], [], []
    step = max(1, int(step_minutes * 60))
    for trip in range(trips):
        if trip % 1024 == 0:
            progress(Step(Message("traces.stage.walk"), trip, trips))
        walk = walker.walk(rng)
        begin = walker.hour(walk[0], rng) * 3600 + int(rng.integers(3600, 1)[0])
        trace += [trip] * len(walk)
        cells += walk
        times += [begin + step * number for number in range(len(walk))]
    cell = np.array(cells, dtype=np.int64)
    size = walker.size
    west, south, east, north = plane.bounds
    wide, high = east - west + 1, north - south + 1
    spread = rng.integers(2**20, 2 * cell.size).reshape(2, -1)
    column, row, cut = walker.inside(cell, rng)
    side = size * cut * 2**20
    x = west + ((cell % size * cut + column) * 2**20 + spread[0]) * wide // side
    y = south + ((cell // size * cut + row) * 2**20 + spread[1]) * high // side
    box = np.stack([x, y, x, y], axis=1).astype(np.int32)
    start = np.array(times, dtype=np.int64)
    return Samples(
        trace=np.array(trace, dtype=np.int64),
        start=start,
        end=start,
        box=box,
        owner=np.full(trips, -1, dtype=np.int64),
    )
