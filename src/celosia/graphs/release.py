"""A published graph with its methods, its guarantee and its measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.release import Release
from celosia.core.report import Document
from celosia.frames.formats import open_bytes
from celosia.graphs import report
from celosia.graphs.account import GraphAccount
from celosia.graphs.generalisation import GeneralisedGraph, read_generalised, write_generalised
from celosia.graphs.graph import Graph
from celosia.graphs.readers import format_of, read
from celosia.graphs.uncertain import UncertainGraph, read_uncertain, write_uncertain
from celosia.graphs.writers import write

Content = Graph | UncertainGraph | GeneralisedGraph
"""What can be published."""


EDGE_LISTS = ("edges", "csv", "tsv")
_LOOK = 1 << 12
"""Bytes of an edge list in which a second line begins, if there is one: names are numbers."""

_ENDINGS = {
    UncertainGraph: (".csv", "CEL-G024.uncertain"),
    GeneralisedGraph: (".json", "CEL-G024.generalised"),
}
"""How a sort of graph must end, and the error for another ending."""


def check_ending(content: type[Content], path: Path) -> None:
    """Refuse a name that says nothing about the format, or the wrong one.

    Raises:
        InputError: CEL-G002 what the name says; CEL-G024 another format than this sort of graph
            is written in.
    """
    found = format_of(path)
    ending, key = _ENDINGS.get(content, ("", ""))
    if ending and found != ending[1:]:
        raise InputError(key, path=path, ending=ending)


@dataclass(frozen=True, slots=True)
class MethodOutcome:
    """One method, and what it has to say."""

    method: str
    facts: dict[str, Any]
    kept: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"method": self.method, "facts": self.facts, "kept": self.kept}

    def __str__(self) -> str:
        numbers = ", ".join(
            f"{str(name).replace('_', ' ')} {value:,.6g}"
            for name, value in self.facts.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        )
        return (
            say("graphs.release.method", method=self.method, numbers=numbers, kept=self.kept)
            if numbers
            else self.method
        )


@dataclass(frozen=True, kw_only=True)
class GraphRelease(Release):
    """A graph, an uncertain graph or a graph of super-vertices, to be published."""

    kind: ClassVar[str] = "graph"

    data: Content = field(repr=False)
    methods: tuple[MethodOutcome, ...]
    account: GraphAccount = field(repr=False)
    """What was measured against the original; empty in a release that was loaded."""
    figures: dict[str, Any]
    """What of it may be published beside the graph."""
    left_out: dict[str, Any] = field(default_factory=dict)
    """What was given and is not published: names of attributes, and counts of records that became
    no edge of their own."""
    key: NDArray[np.int64] | None = field(default=None, repr=False)
    """The number in the release of each vertex of the original, for the curator alone: it is in no
    file. None where vertices keep their names, and for super-vertices."""

    def write_data(self, path: Path) -> None:
        """Write the graph: by its suffix, an uncertain one as CSV, super-vertices as JSON."""
        if isinstance(self.data, Graph):
            # The certificate tells how many vertices there are: those without an edge are not lost,
            # where numbers are their names.
            bare = self.data.attributes is None and self.data.labels is None
            write(self.data, path, partial=bare)
        elif isinstance(self.data, UncertainGraph):
            write_uncertain(self.data, path)
        else:
            write_generalised(self.data, path)

    def check_path(self, path: Path) -> None:
        """Refuse a name that says nothing about the format, or the wrong one."""
        check_ending(type(self.data), path)

    def data_facts(self) -> dict[str, Any]:
        """What sort of graph it is, and how many vertices it has."""
        return {"content": type(self.data).__name__, "vertices": self.data.order}

    def measures(self) -> dict[str, Any]:
        """The methods, and the figures that may be published."""
        return {
            "methods": [each.as_dict() for each in self.methods],
            "figures": self.figures,
            "left_out": self.left_out,
        }

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Any) -> Self:
        """Rebuild a release from its data file and certificate."""
        return cls(
            data=_content(path, facts["data"]),
            methods=tuple(MethodOutcome(**each) for each in facts["measures"]["methods"]),
            account=GraphAccount(),
            figures=facts["measures"]["figures"],
            left_out=facts["measures"].get("left_out", {}),
            **common,
        )

    def document(self) -> Document:
        """The report: what was done, what is promised, what risk and what use is left."""
        return report.document(
            self.guarantee,
            self.provenance,
            self.warnings,
            [(each.method, each.facts, each.kept) for each in self.methods],
            self.account,
            left_out=self.left_out,
            published=str(self.data),
        )

    def __str__(self) -> str:
        """The one line that matters most."""
        # Without figures to publish, as beside a differentially private graph, none is shown here.
        attacks = [str(each) for each in self.account.attacks[:1]] if self.figures else []
        return "; ".join([f"{self.guarantee.promise}: {self.data}", *attacks])


def _content(path: Path, about: dict[str, Any]) -> Content:
    if about["content"] == UncertainGraph.__name__:
        return read_uncertain(path)
    if about["content"] == GeneralisedGraph.__name__:
        return read_generalised(path)
    if format_of(path) in EDGE_LISTS and not _has_edges(path):
        return Graph.of([], order=about["vertices"])
    graph = read(path).graph
    if graph.order == about["vertices"]:
        return graph
    # Vertices without an edge are not in an edge list; the numbers of the others are their names.
    names = np.arange(graph.order) if graph.labels is None else graph.labels.cast(int).to_numpy()
    return Graph.of(names[graph.edges], order=about["vertices"])


def _has_edges(path: Path) -> bool:
    """Whether an edge list has a line below its header; with none, all vertices are alone."""
    with open_bytes(path) as stream:
        return len(stream.read(_LOOK).splitlines()) > (format_of(path) != "edges")
