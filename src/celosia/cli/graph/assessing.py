"""`celosia graph assess`: what a published graph kept of its original."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.graph import telling
from celosia.cli.graph.reading import GraphFile, KeyFile, Rules

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.core.randomness import Source
    from celosia.graphs import Graph
    from celosia.graphs.matching import Opened
    from celosia.graphs.metrics import GraphUtility

Release = Annotated[
    Path,
    typer.Argument(help="What was published: a graph, chances of edges, or super-vertices."),
]


def assess(
    rules: Rules,
    original: GraphFile,
    release: Release,
    key: KeyFile = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeat every sample.")] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare a published graph with its original: paths, clustering, spectrum, communities.

    Of chances of edges, and of super-vertices, one random world is compared; of the latter nobody
    knows which vertex is which, so that only numbers of the whole graph mean anything.

    **Examples**

    `celosia graph assess friends.edges safe.edges --key key.csv`

    `celosia graph assess friends.edges safe.json --report use.html --json`
    """
    from celosia.core.randomness import source
    from celosia.core.report import Block, Document, Notice
    from celosia.graphs.matching import open_release
    from celosia.graphs.report import UNMATCHED

    options.check_output_paths(
        {"the report": report}, inputs=(original, release, key, rules.vertices), overwrite=overwrite
    )
    with console.progress_bar(quiet=as_json) as progress:
        reading = rules.read(original, progress)
        opened = open_release(release, progress=progress)
        found, world, known = _compared(reading.graph, opened, key, source(seed), progress)
    telling.unweighted(reading, original)
    telling.unweighted(opened.reading, release)
    told = str(found) if known else telling.whole(found)
    if report is not None:
        warning: list[Block] = [] if known else [Notice(UNMATCHED, tone="warning")]
        page = Document("A graph and its release", f"{told}.", [*warning, *found.blocks()])
        options.write_text(report, page.html(), overwrite)
    if as_json:
        told_of = {"world": world, "matched": known, "reading": reading.as_dict()}
        console.show_json(found.as_dict() | told_of)
        return
    if world:
        console.note("The release is no plain graph: one random world of it was compared.")
    telling.utility(found, matched=known)
    telling.files({"report": report})
    console.show(told, strong=True)


def _compared(
    graph: Graph, opened: Opened, key: Path | None, rng: Source, progress: Progress
) -> tuple[GraphUtility, bool, bool]:
    """The comparison, whether of a random world, and whether vertices are known in it."""
    from celosia.graphs import GeneralisedGraph, Graph, compare
    from celosia.graphs.matching import matched

    if isinstance(opened.content, GeneralisedGraph):
        made = opened.content.sample_world(rng)
        return compare(graph, made, rng=rng, progress=progress), True, False
    both = matched(graph, opened, key=key, rng=rng)
    found = compare(graph, both.release, numbers=both.numbers, rng=rng, progress=progress)
    return found, not isinstance(opened.content, Graph), True
