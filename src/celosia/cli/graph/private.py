"""`celosia graph release`: one differentially private statistic of a graph."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.graph import telling as graph_telling
from celosia.cli.graph.reading import GraphFile, Rules
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.graphs import Graph
    from celosia.mechanisms import Answer


class Statistic(StrEnum):
    """What is asked about a graph."""

    EDGES = "edges"
    DEGREES = "degrees"
    HISTOGRAM = "histogram"
    TRIANGLES = "triangles"
    STARS = "stars"
    JOINT = "joint"


class Level(StrEnum):
    """What is hidden."""

    EDGE = "edge"
    VERTEX = "vertex"


class Way(StrEnum):
    """How a histogram is drawn."""

    CUMULATIVE = "cumulative"
    BINS = "bins"


_OPTIONS = {
    Statistic.EDGES: {"level", "cap", "confidence"},
    Statistic.DEGREES: {"confidence"},
    Statistic.HISTOGRAM: {"level", "cap", "way", "confidence"},
    Statistic.TRIANGLES: {"delta"},
    Statistic.STARS: {"delta", "k"},
    Statistic.JOINT: {"cap", "confidence"},
}
"""Which options each statistic takes beside epsilon."""


def release(
    rules: Rules,
    statistic: Annotated[Statistic, typer.Argument(help="What is asked about the graph.")],
    graph: GraphFile,
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="The price: 0.1 to 1 for one answer.")
    ],
    level: Annotated[
        Level | None,
        typer.Option(help="Of edges and histogram: hide an edge (so without it), or a vertex."),
    ] = None,
    cap: Annotated[
        int | None,
        typer.Option(help="A degree: how many edges of a vertex count; not from the data."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", help="Of stars: the number of edges of a k-star; 2.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Of triangles and stars: smooth sensitivity instead.")
    ] = None,
    way: Annotated[Way | None, typer.Option(help="Of histogram: how noise is added.")] = None,
    confidence: Annotated[
        float | None, typer.Option(help="How often the interval holds the exact answer; 0.95.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the answer goes: .json, or a table (.csv)."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeat the noise; makes the answer a simulation.")
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Release one differentially private number, or a table of them, about a graph.

    **Examples**

    `celosia graph release edges friends.edges --epsilon 0.5`

    `celosia graph release edges friends.edges --epsilon 1 --level vertex --cap 50`

    `celosia graph release histogram friends.edges -e 1 -o degrees.csv --report degrees.html`

    `celosia graph release stars friends.edges -e 1 --k 3 --json`

    `celosia graph release joint friends.edges -e 1 --cap 8`
    """
    from celosia.cli.release import telling
    from celosia.core.release import certificate_path
    from celosia.frames import format_of

    places = {
        "the answer": output,
        "its certificate": None if output is None else certificate_path(output),
        "the report": report,
    }
    options.check_output_paths(places, inputs=(graph, rules.vertices), overwrite=overwrite)
    if output is not None and output.suffix.lower() != ".json":
        format_of(output)
    wish = {
        "level": None if level is None else level.value,
        "cap": cap,
        "k": k,
        "delta": delta,
        "way": None if way is None else way.value,
        "confidence": confidence,
    }
    wish = {name: value for name, value in wish.items() if value is not None}
    _check(statistic, wish)
    with console.progress_bar(quiet=as_json) as progress:
        reading = rules.read(graph, progress)
        answer = _asked(statistic, reading.graph, epsilon, wish, seed)
    graph_telling.unweighted(reading, graph)
    if output is not None:
        answer.save(output, overwrite=overwrite)
    if report is not None:
        answer.report(report, overwrite=overwrite)
    telling.warn(answer)
    if as_json:
        console.show_json(answer.certificate())
    else:
        telling.answer(answer, output=output, report=report)


def _check(statistic: Statistic, wish: dict[str, Any]) -> None:
    idle = sorted(wish.keys() - _OPTIONS[statistic])
    missing = statistic is Statistic.JOINT and "cap" not in wish
    if idle or missing:
        raise InputError(
            "CEL-G031",
            f"{statistic} takes no --{', --'.join(idle)}." if idle else f"{statistic} needs --cap.",
            why="An option that is ignored would promise what is not done."
            if idle
            else "Ends of an edge with so many edges, or more, are counted together.",
            fix=f"It takes {', '.join(f'--{name}' for name in sorted(_OPTIONS[statistic]))}.",
        )


def _asked(
    statistic: Statistic, graph: Graph, epsilon: float, wish: dict[str, Any], seed: int | None
) -> Answer:
    from celosia.core.randomness import source
    from celosia.graphs import private

    ask: dict[Statistic, Any] = {
        Statistic.EDGES: private.edge_count,
        Statistic.DEGREES: private.degree_sequence,
        Statistic.HISTOGRAM: private.degree_histogram,
        Statistic.TRIANGLES: private.triangle_count,
        Statistic.STARS: private.star_count,
        Statistic.JOINT: private.joint_degrees,
    }
    answer: Answer = ask[statistic](graph, epsilon=epsilon, rng=source(seed), **wish)
    return answer
