"""`celosia graph release`: one differentially private statistic of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from celosia.cli import options
from celosia.cli.frame import AnswerOutputs
from celosia.cli.graph import messages
from celosia.cli.graph.input_options import GraphFile, Rules
from celosia.cli.payment import Payment
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.graphs import Graph
    from celosia.mechanisms import NoisyAnswer


Statistic = Literal["edges", "degrees", "histogram", "triangles", "stars", "joint"]
"""A statistic of a graph."""


Level = Literal["edge", "vertex"]
"""The protected unit."""


HistogramStrategy = Literal["cumulative", "bins"]
"""The counts of a histogram that get noise."""


_OPTIONS = {
    "edges": {"level", "cap", "confidence"},
    "degrees": {"confidence"},
    "histogram": {"level", "cap", "strategy", "confidence"},
    "triangles": {"delta", "level", "cap"},
    "stars": {"delta", "k", "level", "cap"},
    "joint": {"cap", "confidence"},
}
"""Which options each statistic takes besides epsilon."""


def release(
    rules: Rules,
    statistic: Annotated[Statistic, "argument", "Statistic to release."],
    graph: GraphFile,
    epsilon: options.Epsilon,
    outputs: AnswerOutputs,
    payment: Payment,
    level: Annotated[
        Level | None,
        "edges, histogram, triangles, stars: protect one edge (default), or one vertex with its "
        "edges.",
    ] = None,
    cap: Annotated[
        int | None,
        "Bound of the degrees, or of the triangles of a vertex; do not choose it from the data.",
    ] = None,
    k: Annotated[int | None, "--k", "stars: number of rays of each star. Default: 2."] = None,
    delta: Annotated[
        float | None, "triangles, stars: use smooth sensitivity with this delta."
    ] = None,
    strategy: Annotated[
        HistogramStrategy | None, "histogram: add noise to cumulative counts (default) or to bins."
    ] = None,
    confidence: Annotated[
        float | None, "Probability that the interval holds the exact answer. Default: 0.95."
    ] = None,
    seed: options.NoiseSeed = None,
) -> None:
    """Release one differentially private statistic of a graph: a number or a table.

    **Examples**

    `celosia graph release edges friends.edges --epsilon 0.5`

    `celosia graph release edges friends.edges --epsilon 1 --level vertex --cap 50`

    `celosia graph release histogram friends.edges -e 1 -o degrees.csv --report degrees.html`

    `celosia graph release stars friends.edges -e 1 --k 3 --json`

    `celosia graph release triangles friends.edges -e 1 --level vertex --cap 64`

    `celosia graph release joint friends.edges -e 1 --cap 8`
    """
    from celosia.cli.release import display

    outputs.check(inputs=(graph, rules.vertices))
    chosen = {
        "level": level,
        "cap": cap,
        "k": k,
        "delta": delta,
        "strategy": strategy,
        "confidence": confidence,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    _check(statistic, chosen)
    with outputs.working(None) as progress, payment.budget(epsilon) as budget:
        reading = rules.read(graph, progress)
        answer = _release_statistic(
            statistic, reading.graph, epsilon, chosen | {"budget": budget}, seed
        )
        outputs.save(answer)
    messages.note_ignored(reading, graph)
    outputs.finish(answer, lambda: display.show_answer(answer))


def _check(statistic: Statistic, chosen: dict[str, Any]) -> None:
    idle = sorted(chosen.keys() - _OPTIONS[statistic])
    missing = statistic == "joint" and "cap" not in chosen
    if idle or missing:
        raise InputError(
            "CEL-G031.idle" if idle else "CEL-G031.no_cap",
            statistic=statistic,
            idle=[f"--{name}" for name in idle],
            options=[f"--{name}" for name in sorted(_OPTIONS[statistic])],
        )


def _release_statistic(
    statistic: Statistic, graph: Graph, epsilon: float, chosen: dict[str, Any], seed: int | None
) -> NoisyAnswer:
    from celosia.core.randomness import source
    from celosia.graphs import private

    functions: dict[Statistic, Any] = {
        "edges": private.edge_count,
        "degrees": private.degree_sequence,
        "histogram": private.degree_histogram,
        "triangles": private.triangle_count,
        "stars": private.star_count,
        "joint": private.joint_degrees,
    }
    answer: NoisyAnswer = functions[statistic](graph, epsilon=epsilon, rng=source(seed), **chosen)
    return answer
