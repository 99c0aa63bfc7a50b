"""`celosia graph draw`: a graph, or two side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.graph import telling
from celosia.cli.graph.reading import GraphFile, KeyFile, Rules

if TYPE_CHECKING:
    from celosia.graphs.reading import Reading
    from celosia.graphs.release import Content


def draw(
    rules: Rules,
    graph: GraphFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The drawing (SVG).")],
    after: Annotated[
        Path | None, typer.Argument(help="What was published of it, drawn beside it.")
    ] = None,
    key: KeyFile = None,
    names: Annotated[
        bool, typer.Option("--names", help="Write the names of up to 60 vertices.")
    ] = False,
    most: Annotated[int, typer.Option(help="Vertices drawn: those with most edges.")] = 500,
    seed: Annotated[int, typer.Option(help="Another seed gives other places.")] = 1,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Draw a graph, or the original beside its release: dashed what went, thick what came.

    Of super-vertices the groups are drawn, of chances of edges a random world. The drawing shows
    edges of the original: it is for whoever may see that.

    **Examples**

    `celosia graph draw friends.edges -o friends.svg --most 60 --names`

    `celosia graph draw friends.edges safe.edges --key key.csv -o both.svg`
    """
    from celosia.core.randomness import Seeded
    from celosia.graphs import GeneralisedGraph, Graph, drawing
    from celosia.graphs.matching import matched, open_release, sort_of, world_of
    from celosia.graphs.metrics.summary import aligned

    inputs = (graph, after, key, rules.vertices)
    options.check_output_paths({"the drawing": output}, inputs=inputs, overwrite=overwrite)
    rng = Seeded(seed)  # a place on paper is no secret
    readings: list[tuple[Reading | None, Path]] = []
    with console.progress_bar(quiet=as_json) as progress:
        if after is None:
            content: Content
            if sort_of(graph) is Graph:
                reading = rules.read(graph, progress)
                readings.append((reading, graph))
                content = reading.graph
            else:
                content = open_release(graph).content
            if isinstance(content, GeneralisedGraph):
                shown = content.to_graph()
            else:
                shown = world_of(content, rng)
            made, told = drawing.drawn(shown, rng=rng, names=names, most=most), str(content)
        else:
            reading = rules.read(graph, progress)
            original, opened = reading.graph, open_release(after, progress=progress)
            readings += [(reading, graph), (opened.reading, after)]
            both = matched(original, opened, key=key, rng=rng)
            release = aligned(both.release, both.numbers)
            made = drawing.before_after(original, release, rng=rng, names=names, most=most)
            told = f"{original} before, {release} after"
    for each, path in readings:
        telling.unweighted(each, path)
    options.write_text(output, str(made), overwrite)
    if as_json:
        console.show_json({"drawing": str(output), "graph": told})
        return
    console.show(f"{told}: {output}", strong=True)
