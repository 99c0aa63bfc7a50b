"""`celosia graph draw`: a graph, or two side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli.frame import FileOutputs
from celosia.cli.graph import messages
from celosia.cli.graph.input_options import GraphFile, KeyFile, Rules
from celosia.core.messages import Message

if TYPE_CHECKING:
    from celosia.graphs.readers import ReadResult
    from celosia.graphs.release import Content


def draw(
    rules: Rules,
    graph: GraphFile,
    outputs: FileOutputs,
    output: Annotated[Path, "--output -o", "The drawing (SVG)."],
    after: Annotated[Path | None, "argument", "The published graph, drawn beside it."] = None,
    key: KeyFile = None,
    names: Annotated[bool, "--names", "Write the names of up to 60 vertices."] = False,
    most: Annotated[int, "Number of vertices to draw: those with most edges."] = 500,
    seed: Annotated[int, "Seed for the layout: another seed gives other positions."] = 1,
) -> None:
    """Draw a graph, or the original beside its release: deleted edges dashed, new edges thick.

    For a generalised graph the groups are drawn, for an uncertain graph one random world. The
    drawing shows edges of the original: show it only to people who may see the original.

    **Examples**

    `celosia graph draw friends.edges -o friends.svg --most 60 --names`

    `celosia graph draw friends.edges safe.edges --key key.csv -o both.svg`
    """
    from celosia.core.randomness import Seeded
    from celosia.graphs import GeneralisedGraph, Graph, drawing
    from celosia.graphs.matching import graph_type_of, match_vertices, open_release, world_of
    from celosia.graphs.metrics.summary import align_vertices

    outputs.check(inputs=(graph, after, key, rules.vertices), drawing=output)
    rng = Seeded(seed)  # a place on paper is no secret
    readings: list[tuple[ReadResult | None, Path]] = []
    with outputs.working(None) as progress:
        if after is None:
            content: Content
            if graph_type_of(graph) is Graph:
                reading = rules.read(graph, progress)
                readings.append((reading, graph))
                content = reading.graph
            else:
                content = open_release(graph).content
            if isinstance(content, GeneralisedGraph):
                shown = content.to_graph()
            else:
                shown = world_of(content, rng)
            made, summary = drawing.draw_graph(shown, rng=rng, names=names, most=most), str(content)
        else:
            reading = rules.read(graph, progress)
            original, opened = reading.graph, open_release(after, progress=progress)
            readings += [(reading, graph), (opened.reading, after)]
            both = match_vertices(original, opened, key=key, rng=rng)
            release = align_vertices(both.release, both.numbers)
            made = drawing.draw_comparison(original, release, rng=rng, names=names, most=most)
            summary = Message("cli.graph.before_after", before=original, after=release)
    for each, path in readings:
        messages.note_ignored(each, path)
    outputs.write_text(output, lambda: made)
    outputs.show(lambda: {"drawing": str(output), "graph": summary}, None, f"{summary}: {output}")
