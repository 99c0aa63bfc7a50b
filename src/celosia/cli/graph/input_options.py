"""Options for reading a graph, shared by the commands of `celosia graph`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.graphs.readers import Format, ReadResult

GraphFile = Annotated[
    Path,
    typer.Argument(
        help="The graph: an edge list (.edges, .txt, .csv, .tsv), GraphML, GML, Pajek (.net) or "
        "JSON; also packed (.gz)."
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="The key file that `celosia graph publish --key` wrote."),
]


class LoopRule(StrEnum):
    """The treatment of loops."""

    DROP = "drop"
    REFUSE = "refuse"


class RepeatedEdgeRule(StrEnum):
    """The treatment of repeated edges."""

    MERGE = "merge"
    REFUSE = "refuse"


class DirectionRule(StrEnum):
    """The treatment of directions."""

    UNDIRECT = "undirect"
    MUTUAL = "mutual"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a graph file is read."""

    vertices: Annotated[
        Path | None,
        typer.Option(help="With an edge list: a table of all vertices, names in the first column."),
    ] = None
    loops: Annotated[
        LoopRule, typer.Option(help="How to treat loops (edges from a vertex to itself).")
    ] = LoopRule.DROP
    repeated: Annotated[RepeatedEdgeRule, typer.Option(help="How to treat repeated edges.")] = (
        RepeatedEdgeRule.MERGE
    )
    directed: Annotated[
        DirectionRule,
        typer.Option(help="How to treat directions: drop them, keep only mutual edges, or refuse."),
    ] = DirectionRule.UNDIRECT
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="edges, csv, tsv, graphml, gml, pajek or json. Default: from the file name.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of an edge list has column names. Default: detected.",
        ),
    ] = None

    def read(self, path: Path, progress: Progress) -> ReadResult:
        """The graph of a file, and what these rules did to it."""
        from celosia.graphs.readers import read

        return read(
            path,
            format=cast("Format | None", self.format_name),
            loops=self.loops.value,
            repeated=self.repeated.value,
            directed=self.directed.value,
            vertices=self.vertices,
            header=self.header,
            progress=progress,
        )


def command(app: typer.Typer, name: str, work: Callable[..., None]) -> None:
    """Add a command that has its own options and those of reading; `work` gets them as `rules`."""
    own = list(signature(work, eval_str=True).parameters.values())[1:]
    shared = [*signature(Rules, eval_str=True).parameters.values()]
    names = {each.name for each in fields(Rules)}

    def run(**given: Any) -> None:
        rules = Rules(**{name: given.pop(name) for name in names})
        work(rules, **given)

    run.__doc__ = work.__doc__
    run.__signature__ = Signature(  # type: ignore[attr-defined]
        [each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*own, *shared)]
    )
    app.command(name)(run)
