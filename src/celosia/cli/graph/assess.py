"""`celosia graph assess`: compare a published graph with its original."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import ReportOutputs
from celosia.cli.graph import messages
from celosia.cli.graph.input_options import GraphFile, KeyFile, Rules
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.core.randomness import Source
    from celosia.graphs import Graph, Network
    from celosia.graphs.matching import OpenedRelease
    from celosia.graphs.metrics import GraphUtility
    from celosia.graphs.networks import NetworkChanges

Release = Annotated[
    Path, "argument", "The published file: a plain, an uncertain or a generalised graph."
]


def assess(
    rules: Rules,
    original: GraphFile,
    release: Release,
    outputs: ReportOutputs,
    key: KeyFile = None,
    seed: Annotated[int | None, "Seed for the random samples."] = None,
) -> None:
    """Compare a published graph with its original: paths, clustering, spectrum, communities.

    For an uncertain or a generalised graph, one random possible world is compared. The vertices of
    a generalised graph cannot be matched with the original, so only measures of the whole graph are
    meaningful.

    **Examples**

    `celosia graph assess friends.edges safe.edges --key key.csv`

    `celosia graph assess friends.edges safe.json --report use.html --json`
    """
    from celosia.core.randomness import source
    from celosia.core.report import Block, Document, Notice
    from celosia.graphs import Network
    from celosia.graphs.matching import open_release

    outputs.check(inputs=(original, release, key, rules.vertices))
    with outputs.working(None) as progress:
        reading = rules.read(original, progress)
        opened = open_release(release, progress=progress)
        changes, world, known, rng = None, False, True, source(seed)
        if isinstance(reading.content, Network):
            changes, found = _compare_networks(reading.content, opened, key, rng, progress)
        else:
            found, world, known = _compare(reading.graph, opened, key, rng, progress)
    messages.note_ignored(reading, original)
    messages.note_ignored(opened.reading, release)
    summary = str(found) if known else messages.describe_graphs(found)
    warning: list[Block] = [] if known else [Notice(say("graphs.report.unmatched"), tone="warning")]
    if changes is not None:
        warning += [*changes.blocks(), Notice(say("graphs.report.below"))]
        summary = f"{changes}; {summary}"
    outputs.write_report(
        lambda: Document(say("cli.graph.and_release"), f"{summary}.", [*warning, *found.blocks()])
    )
    facts = {"world": world, "matched": known, "reading": reading.as_dict()}
    facts |= {} if changes is None else {"network": changes.as_dict()}

    def lines() -> None:
        if world:
            console.note(say("cli.graph.release_plain_graph_one"))
        messages.show_utility(found, matched=known)

    outputs.show(lambda: found.as_dict() | facts, lines, summary)


def _compare_networks(
    network: Network, opened: OpenedRelease, key: Path | None, rng: Source, progress: Progress
) -> tuple[NetworkChanges, GraphUtility]:
    """The comparison of two networks, and of the simple graphs below them."""
    import numpy as np

    from celosia.graphs import compare
    from celosia.graphs.matching import match_networks
    from celosia.graphs.networks import compare_networks

    release, numbers = match_networks(network, opened, key=key)
    back = release.renumbered(np.argsort(numbers))
    below = compare(network.simple, back.simple, rng=rng, progress=progress)
    return compare_networks(network, back), below


def _compare(
    graph: Graph, opened: OpenedRelease, key: Path | None, rng: Source, progress: Progress
) -> tuple[GraphUtility, bool, bool]:
    """The comparison, whether of a random world, and whether vertices are known in it."""
    from celosia.graphs import GeneralisedGraph, Graph, compare
    from celosia.graphs.matching import match_vertices

    if isinstance(opened.content, GeneralisedGraph):
        made = opened.content.sample_world(rng)
        return compare(graph, made, rng=rng, progress=progress), True, False
    both = match_vertices(graph, opened, key=key, rng=rng)
    found = compare(graph, both.release, numbers=both.numbers, rng=rng, progress=progress)
    return found, not isinstance(opened.content, Graph), True
