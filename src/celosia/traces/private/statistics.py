"""Private statistics of traces, each with interval and guarantee, paid from a budget."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import Unpack

from celosia.accounting.budget import Budget
from celosia.core.messages import Message
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee
from celosia.mechanisms.guarantees import guarantee_of, stated_epsilon_delta
from celosia.mechanisms.noisy_answer import (
    AnswerOptions,
    NoisyAnswer,
    ReleaseOptions,
    release_promised,
)
from celosia.mechanisms.values import format_rounded_up
from celosia.traces.points import Traces
from celosia.traces.private.areas import Flows, PlaceFlows, Visits
from celosia.traces.private.grids import (
    AdaptiveGrid,
    Quadtree,
    UniformGrid,
    advised_size,
    check_grid,
)
from celosia.traces.private.mechanism import (
    TraceMechanism,
    check_traces,
)

HUGE = 700
"""An epsilon whose power of e is beyond all decimals."""


def release(
    traces: Traces,
    mechanism: TraceMechanism,
    *,
    confidence: float = 0.95,
    budget: Budget | None = None,
    rng: Source | None = None,
) -> NoisyAnswer:
    """One answer about traces, with its interval and guarantee.

    Args:
        traces: stay as they are.
        mechanism: what to ask, with its price.
        confidence: of the interval, where there is one.
        budget: pays for the answer; made for the same neighbours.
        rng: where randomness comes from; a seed makes the answer a simulation.

    Raises:
        InputError: CEL-J031 no traces, or of another unit.
        PrivacyError: CEL-J030 the region was measured on the data.
        BudgetExceeded: the budget does not allow it.
    """
    options = ReleaseOptions(
        question=mechanism.question,
        confidence=confidence,
        budget=budget,
        rng=System() if rng is None else rng,
    )
    options.check_affordable(mechanism)
    promise = trace_promise(mechanism, simulation=options.rng.simulation)
    name = "celosia.traces.private.release"
    return release_promised(mechanism, check_traces(traces, mechanism.unit), options, promise, name)


def trace_promise(mechanism: TraceMechanism, *, simulation: bool = False) -> Guarantee:
    """What one answer about traces promises, in words that are true of traces."""
    made = guarantee_of(mechanism, simulation=simulation, bounded=True)
    epsilon, delta = stated_epsilon_delta(mechanism)
    assert epsilon is not None, "mechanisms of traces have an epsilon"
    factor = format_rounded_up(exp(min(epsilon, HUGE)), 4)
    return replace(
        made,
        protects=Message(
            "traces.protects.answer", unit=mechanism.unit, factor=factor, delta=delta or 0
        ),
        assumes=(Message("traces.assumes.region"), Message("traces.assumes.bound")),
        leaves_open=(
            Message("traces.open.one_budget"),
            Message("traces.open.bounded", per_person=mechanism.per_person),
            Message("traces.open.clamping"),
        ),
    )


def grid(
    traces: Traces,
    *,
    epsilon: float,
    per_person: int = 1,
    kind: str = "uniform",
    size: int | None = None,
    people: int | None = None,
    height: int = 5,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """A private map: the number of persons in each cell.

    Args:
        traces: stay as they are.
        epsilon: from 1e-9 to 100.
        per_person: how many cells of a person are counted; small numbers have little noise.
        kind: `uniform`, `quadtree` or `adaptive`.
        size: cells along a side of a uniform grid.
        people: a public guess of the number of persons, where the size shall follow from it.
        height: levels of the quadtree below its root.
        options: `confidence`, `budget` and `rng`, as of `release`.

    Raises:
        InputError: CEL-J032, CEL-J033 not a size, not a sort of grid.
    """
    check_grid(kind)
    unit = traces.declaration.unit
    mechanism: TraceMechanism
    if kind == "quadtree":
        mechanism = Quadtree(epsilon=epsilon, per_person=per_person, unit=unit, height=height)
    elif kind == "adaptive":
        mechanism = AdaptiveGrid(
            epsilon=epsilon, per_person=per_person, unit=unit, people=people or 1000
        )
    else:
        chosen = advised_size(people or 1000, epsilon) if size is None else size
        mechanism = UniformGrid(epsilon=epsilon, per_person=per_person, unit=unit, size=chosen)
    return release(traces, mechanism, **options)


def visits(
    traces: Traces,
    *,
    epsilon: float,
    per_person: int = 1,
    grid: int | None = None,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """The number of persons in each declared area, or in each cell of a grid; see `Visits`."""
    mechanism = Visits(
        epsilon=epsilon, per_person=per_person, unit=traces.declaration.unit, grid=grid
    )
    return release(traces, mechanism, **options)


def flows(
    traces: Traces,
    *,
    epsilon: float,
    per_person: int = 1,
    grid: int | None = None,
    delta: float | None = None,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """Origin-destination flows between declared areas, cells of a grid, or named places.

    Named places were declared by nobody, so that flows between them need a delta.

    Raises:
        PrivacyError: CEL-J035 named places without a delta.
    """
    unit = traces.declaration.unit
    declared = grid is not None or traces.declaration.areas is not None
    mechanism: TraceMechanism
    if declared:
        mechanism = Flows(epsilon=epsilon, per_person=per_person, unit=unit, grid=grid)
    else:
        mechanism = PlaceFlows(
            epsilon=epsilon, per_person=per_person, unit=unit, delta=delta or 0.0
        )
    return release(traces, mechanism, **options)
