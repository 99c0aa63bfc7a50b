"""Options that the commands of `celosia graph` share: how a graph is read, and its methods."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.graphs.method import GraphMethod
    from celosia.graphs.readers import Format, ReadResult

GraphFile = Annotated[
    Path,
    "argument",
    "The graph: an edge list (.edges, .txt, .csv, .tsv), GraphML, GML, Pajek (.net), "
    "JSON, METIS (.graph), MatrixMarket (.mtx), GEXF or KONECT (out.*); also packed (.gz).",
]
KeyFile = Annotated[Path | None, "--key", "The key file that `celosia graph publish --key` wrote."]


Methods = Annotated[
    list[str] | None,
    "--method NAME[:KEY=VALUE,...]",
    "Method with its parameters (list: celosia graph methods); repeat it for more.",
]


LoopRule = Literal["drop", "refuse"]
"""The treatment of loops."""


RepeatedEdgeRule = Literal["merge", "refuse"]
"""The treatment of repeated edges."""


DirectionRule = Literal["undirect", "mutual", "keep", "refuse"]
"""The treatment of directions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a graph file is read."""

    vertices: Annotated[
        Path | None, "With an edge list: a table of all vertices, names in the first column."
    ] = None
    loops: Annotated[LoopRule, "How to treat loops (edges from a vertex to itself)."] = "drop"
    repeated: Annotated[RepeatedEdgeRule, "How to treat repeated edges."] = "merge"
    directed: Annotated[
        DirectionRule,
        "How to treat directions: drop them, keep only mutual edges, keep them all, or refuse.",
    ] = "undirect"
    weight: Annotated[
        str | None, "--weight COLUMN", "Edge attribute to keep as a weight; repeated edges add up."
    ] = None
    time: Annotated[
        str | None, "--time COLUMN", "Edge attribute to keep as a time, cut into snapshots."
    ] = None
    snapshots: Annotated[
        int | None, "With --time: how many snapshots of equal length. Default: 4."
    ] = None
    bipartite: Annotated[
        bool,
        "--bipartite",
        "Keep two sides: the two columns of an edge list, or what the edges show.",
    ] = False
    format_name: Annotated[
        str | None,
        "--format",
        "edges, csv, tsv, graphml, gml, pajek, json, metis, mtx, gexf or konect. Default: from the "
        "file name.",
    ] = None
    header: Annotated[
        bool | None,
        "--header/--no-header",
        "Whether the first line of an edge list has column names. Default: detected.",
    ] = None
    ends: Annotated[
        str | None,
        "--ends COLUMN,COLUMN",
        "The two columns of an edge list that hold the vertices of an edge, by name or by number "
        "from 1. Default: those called so, such as source and target, or the first two.",
    ] = None

    def read(self, path: Path, progress: Progress) -> ReadResult:
        """The graph of a file, and what these rules did to it."""
        from celosia.graphs.readers import read

        return read(
            path,
            format=cast("Format | None", self.format_name),
            loops=self.loops,
            repeated=self.repeated,
            directed=self.directed,
            weight=self.weight,
            time=self.time,
            snapshots=self.snapshots,
            bipartite=self.bipartite,
            vertices=self.vertices,
            header=self.header,
            ends=None if self.ends is None else [each.strip() for each in self.ends.split(",")],
            progress=progress,
        )


def methods_from_options(
    written: list[str] | None, *, k_degree: int | None = None
) -> tuple[GraphMethod[Any], ...]:
    """The methods in the order in which they are given; k-degree by its short form comes last.

    Raises:
        InputError: as `core.methods.method_from_text` says.
    """
    from celosia.graphs.method import method_from, method_from_text

    made = [method_from_text(each) for each in written or ()]
    if k_degree is not None:
        made.append(method_from("k-degree", {"k": k_degree}))
    return tuple(made)
