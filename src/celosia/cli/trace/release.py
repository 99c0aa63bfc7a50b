"""`celosia trace release`: private maps, visits, flows and synthetic traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from celosia.cli import options
from celosia.cli.frame import AnswerOutputs
from celosia.cli.payment import Payment
from celosia.cli.trace.input_options import Seed, TraceFile, TraceInput
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.mechanisms import NoisyAnswer
    from celosia.traces import Traces


Statistic = Literal["grid", "visits", "flows", "synthetic"]
"""What is released."""


GridKind = Literal["uniform", "quadtree", "adaptive"]
"""How a map is cut into cells."""


_OPTIONS = {
    "grid": {"kind", "size", "people", "height", "confidence"},
    "visits": {"grid", "confidence"},
    "flows": {"grid", "delta", "confidence"},
    "synthetic": {"size", "max_steps", "trips", "refine", "private_length"},
}
"""Which options each statistic takes besides epsilon and per_person."""


def release(
    statistic: Annotated[Statistic, "argument", "What to release."],
    points: TraceFile,
    declared: TraceInput,
    epsilon: options.Epsilon,
    outputs: AnswerOutputs,
    payment: Payment,
    per_person: Annotated[
        int, "Cells, moves or trips of a person that are counted. Start with 1."
    ] = 1,
    kind: Annotated[GridKind | None, "grid: how the map is cut."] = None,
    size: Annotated[int | None, "grid, synthetic: cells along a side of the region."] = None,
    people: Annotated[
        int | None, "grid: a public guess of the number of persons, which sets the size."
    ] = None,
    height: Annotated[int | None, "grid: levels of a quadtree."] = None,
    grid: Annotated[
        int | None, "visits, flows: cells along a side where no areas are declared."
    ] = None,
    delta: Annotated[float | None, "flows: needed where places are named and not declared."] = None,
    max_steps: Annotated[int | None, "synthetic: the longest trip, in cells; declare it."] = None,
    trips: Annotated[int | None, "synthetic: how many trips to make."] = None,
    no_refine: Annotated[
        bool, "--no-refine", "synthetic: spend nothing on where inside the cells trips pass."
    ] = False,
    private_length: Annotated[
        bool,
        "--private-length",
        "synthetic: cut trips at a private quantile of their lengths, below --max-steps.",
    ] = False,
    confidence: Annotated[
        float | None, "Probability that the interval holds the exact answer. Default: 0.95."
    ] = None,
    seed: Seed = None,
) -> None:
    """Release a private map, visits, flows, or synthetic traces; one person is hidden.

    **Examples**

    `celosia trace release grid pings.csv --declare trace.toml --epsilon 1 -o map.csv`

    `celosia trace release grid pings.csv -d trace.toml -e 1 --kind adaptive --people 1000`

    `celosia trace release flows pings.csv -d trace.toml -e 1 --grid 4 --per-person 5`

    `celosia trace release visits pings.csv -d trace.toml -e 1 --grid 8 --ledger city.ledger`

    `celosia trace release synthetic pings.csv -d trace.toml -e 1 --trips 2000 -o new.csv`
    """
    from celosia.cli.release import display
    from celosia.core.randomness import source
    from celosia.traces import private

    outputs.check(inputs=(points, declared.declare))
    chosen: dict[str, Any] = {
        "kind": kind,
        "size": size,
        "people": people,
        "height": height,
        "grid": grid,
        "delta": delta,
        "max_steps": max_steps,
        "trips": trips,
        "confidence": confidence,
        "refine": False if no_refine else None,
        "private_length": True if private_length else None,
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    _check(statistic, given)
    asked = given | {"epsilon": epsilon, "per_person": per_person}
    with outputs.working() as progress, payment.budget(epsilon) as budget:
        traces = declared.read(points, progress)
        if statistic == "synthetic":
            made = private.synthetic(
                traces,
                private.SyntheticTraces(**asked),
                budget=budget,
                rng=source(seed),
                progress=progress,
            )
            outputs.save(made)
        else:
            answer = _answer(statistic, traces, asked | {"budget": budget}, seed)
            outputs.save(answer)
    if statistic == "synthetic":
        outputs.finish(made, lambda: None)
    else:
        outputs.finish(answer, lambda: display.show_answer(answer))


def _check(statistic: Statistic, given: dict[str, Any]) -> None:
    idle = sorted(given.keys() - _OPTIONS[statistic])
    if idle:
        raise InputError(
            "CEL-J036",
            statistic=statistic,
            idle=[f"--{name.replace('_', '-')}" for name in idle],
            options=[f"--{name.replace('_', '-')}" for name in sorted(_OPTIONS[statistic])],
        )


def _answer(
    statistic: Statistic, traces: Traces, asked: dict[str, Any], seed: int | None
) -> NoisyAnswer:
    from celosia.core.randomness import source
    from celosia.traces import private

    functions: dict[Statistic, Any] = {
        "grid": private.grid,
        "visits": private.visits,
        "flows": private.flows,
    }
    answer: NoisyAnswer = functions[statistic](traces, rng=source(seed), **asked)
    return answer
