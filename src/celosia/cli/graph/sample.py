"""`celosia graph sample`: possible worlds of an uncertain or a generalised graph."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console
from celosia.cli.frame import FileOutputs, check_outputs
from celosia.core.errors import InputError
from celosia.core.messages import Message, say


def sample(
    release: Annotated[
        Path, "argument", "The uncertain graph (.csv) or the generalised graph (.json)."
    ],
    outputs: FileOutputs,
    output: Annotated[
        Path, "--output -o", "File for the world; with several, -1, -2 ... is added to the name."
    ],
    worlds: Annotated[int, typer.Option(min=1, max=10_000, help="Number of worlds to draw.")] = 1,
    seed: Annotated[int | None, "Seed for the random draws."] = None,
) -> None:
    """Sample plain graphs (possible worlds) from an uncertain or a generalised graph.

    A vertex without an edge is not in an edge list: choose GraphML or JSON to keep it.

    **Examples**

    `celosia graph sample safe.csv -o world.edges --worlds 20`

    `celosia graph sample groups.json -o world.graphml --seed 7`
    """
    from celosia.core.files import replacing
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.graphs import Graph, write
    from celosia.graphs.matching import open_release, world_of
    from celosia.graphs.readers import format_of

    format_of(output)
    places: dict[str, Path] = {
        Message("cli.output.world", number=number + 1): _place(output, number, worlds)
        for number in range(worlds)
    }
    check_outputs(places, inputs=(release,), overwrite=outputs.overwrite)
    rng = source(seed)
    with outputs.working(None) as progress, ExitStack() as files:
        content = open_release(release, progress=progress).content
        if isinstance(content, Graph):
            raise InputError("CEL-G030", release=release)
        sizes = []
        for number, path in enumerate(places.values()):  # all worlds take their names, or none
            progress(Step(Message("cli.step.drawing_worlds"), number, worlds))
            world = world_of(content, rng)
            write(
                world,
                files.enter_context(replacing(path, overwrite=outputs.overwrite)),
                partial=True,
            )
            sizes.append(world.size)
    written = [str(path) for path in places.values()]

    def lines() -> None:
        for name, size in zip(written, sizes, strict=True):
            console.show(say("cli.graph.edges", name=name, size=size))

    outputs.show(
        lambda: {"vertices": content.order, "edges": sizes, "files": written},
        lines,
        say("cli.graph.possible_worlds", worlds=worlds, content=content),
    )


def _place(output: Path, number: int, worlds: int) -> Path:
    if worlds == 1:
        return output
    stem, dot, rest = output.name.partition(".")
    return output.with_name(f"{stem}-{number + 1}{dot}{rest}")
