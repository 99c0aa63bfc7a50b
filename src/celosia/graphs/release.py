"""A published graph with its methods, its guarantee and its account: the risk and use left."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.core.release import CommonParts, Release
from celosia.core.report import Document
from celosia.frames.formats import open_bytes
from celosia.graphs import report
from celosia.graphs.attacks import GraphAttack, degree, neighbourhood, refinement
from celosia.graphs.drawing import MOST_DRAWN
from celosia.graphs.generalisation.graph import (
    GeneralisedGraph,
    read_generalised,
    write_generalised,
)
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import GraphUtility, compare
from celosia.graphs.metrics.centrality import MOST_STEPS
from celosia.graphs.metrics.summary import align_vertices
from celosia.graphs.networks.account import NetworkChanges, compare_networks, profile_attack
from celosia.graphs.networks.files import SEPARATORS, network_facts, read_network, write_network
from celosia.graphs.networks.network import Network
from celosia.graphs.readers import format_of, read
from celosia.graphs.uncertain.graph import UncertainGraph, read_uncertain, write_uncertain
from celosia.graphs.writers import write

MOST_NEIGHBOURHOODS = 20_000
"""Vertices up to which neighbourhoods are compared: beyond, degrees and their refinement tell."""

MOST_CONTACTS = 4_000_000
"""Pairs of contacts of one vertex, over all vertices, up to which neighbourhoods are compared in
the account of a release: about a second."""

STEPS = MOST_STEPS // 15
"""How much walking a release is worth; `celosia graph assess` takes its time, and tells better."""

MOST_COMPARED = 2_000_000
"""Edges up to which a release is compared with its original by every metric: ten million take
minutes, and `celosia graph assess` can take them."""

WITHOUT_MATCH = ("degree_total_variation", "degree_earth_mover")
"""What compares two graphs without knowing which vertex is which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAccount:
    """The comparison of a published graph with its original."""

    utility: GraphUtility | None = None
    """None of a graph with more than two million edges, or where nothing was to be measured."""
    attacks: tuple[GraphAttack, ...] = field(default=())
    before: tuple[GraphAttack, ...] = field(default=())
    """The same attacks on the original itself, under numbers for names: what changed nothing."""
    drawn: tuple[Graph, Graph] | None = field(default=None, repr=False)
    """A small original and its release, vertex by vertex, for a drawing of both in the report."""
    matched: bool = True
    """Whether it is known which vertex is which: not of super-vertices, nor of a graph that is new,
    where only numbers of the whole graph mean anything."""
    network: NetworkChanges | None = None
    """What changed of directions, weights, sides and snapshots; None of a simple graph."""
    world: bool = False
    """Whether a random world of the release was compared, for the release is no plain graph."""

    def figures(self) -> dict[str, Any]:
        """What a certificate may hold: shares and counts of edges, no number of a vertex."""
        found: dict[str, Any] = {
            each.name: {
                "smallest": each.smallest,
                "share_exposed": each.share_exposed,
                "chance": each.chance,
            }
            for each in self.attacks
        }
        if self.utility is None:
            return found
        shares = self.utility.shares
        utility = shares if self.matched else {name: shares[name] for name in WITHOUT_MATCH}
        if self.network is not None:
            found["network"] = self.network.as_dict()
        if self.matched:
            found["edges"] = self.utility.edges.as_dict()
        return found | {"utility": utility}


def account(
    original: Graph,
    published: Graph | UncertainGraph | GeneralisedGraph,
    *,
    numbers: NDArray[np.int64] | None,
    matched: bool = True,
    rng: Source,
    progress: Progress,
) -> GraphAccount:
    """Compare a published graph with its original.

    Args:
        original: the graph before.
        published: what is released.
        numbers: the number in the release of each vertex of the original; None where it is the
            same, or where the release has no vertices.
        matched: False where no vertex of the release is one of the original.
        rng: where worlds and samples are drawn from.
        progress: called as the work proceeds.
    """
    progress(Step(Message("graphs.stage.measure"), 0))
    world = published if isinstance(published, Graph) else published.sample_world(rng)
    utility = None
    if max(original.size, world.size) <= MOST_COMPARED:
        utility = compare(
            original, world, rng=rng, numbers=numbers, most_steps=STEPS, progress=progress
        )
    if isinstance(published, GeneralisedGraph) or not matched:
        return GraphAccount(utility=utility, world=world is not published, matched=False)
    drawn = None
    if max(original.order, world.order) <= MOST_DRAWN:
        drawn = original, world if numbers is None else align_vertices(world, numbers)
    return GraphAccount(
        utility=utility,
        attacks=_attacks(original, world, numbers),
        before=_attacks(original, original, None),
        drawn=drawn,
        world=isinstance(published, UncertainGraph),
    )


def _attacks(
    original: Graph, world: Graph, numbers: NDArray[np.int64] | None
) -> tuple[GraphAttack, ...]:
    found = [
        degree(original, world, numbers=numbers),
        refinement(original, world, rounds=2, numbers=numbers),
    ]
    pairs = max(int(np.square(graph.degrees).sum()) for graph in (original, world))
    if original.order <= MOST_NEIGHBOURHOODS and pairs <= MOST_CONTACTS:
        found.append(neighbourhood(original, world, numbers=numbers))
    return tuple(found)


def network_account(
    original: Network,
    published: Network,
    *,
    numbers: NDArray[np.int64] | None,
    ratio: float,
    rng: Source,
    progress: Progress,
) -> GraphAccount:
    """Compare a published network with its original: as `account`, with their profiles and sums.

    Args:
        original: the network before.
        published: what is released.
        numbers: the number in the release of each vertex of the original; None for the same.
        ratio: how exactly the attacker knows weighted degrees.
        rng: where samples are drawn from.
        progress: called as the work proceeds.
    """
    progress(Step(Message("graphs.stage.measure"), 0))
    below = original.simple, published.simple
    utility = None
    if max(original.size, published.size) <= MOST_COMPARED:
        utility = compare(*below, rng=rng, numbers=numbers, most_steps=STEPS, progress=progress)
    back = published if numbers is None else published.renumbered(np.argsort(numbers))
    drawn = None
    if original.order <= MOST_DRAWN:
        drawn = below[0], below[1] if numbers is None else align_vertices(below[1], numbers)
    same = profile_attack(original, original, ratio=ratio)
    found = profile_attack(original, published, ratio=ratio, numbers=numbers)
    return GraphAccount(
        utility=utility,
        attacks=(found, refinement(*below, rounds=2, numbers=numbers)),
        before=(same, refinement(below[0], below[0], rounds=2)),
        drawn=drawn,
        network=compare_networks(original, back),
    )


Content = Graph | UncertainGraph | GeneralisedGraph | Network
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
    if content is Network and found not in SEPARATORS:
        raise InputError("CEL-G024.network", path=path, ending=".csv")
    ending, key = _ENDINGS.get(content, ("", ""))
    if ending and found != ending[1:]:
        raise InputError(key, path=path, ending=ending)


@dataclass(frozen=True, slots=True)
class MethodOutcome(PlainValues):
    """One method, and what it has to say."""

    method: str
    facts: dict[str, Any]
    kept: str

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
        elif isinstance(self.data, Network):
            write_network(self.data, path, format_of(path))
        elif isinstance(self.data, UncertainGraph):
            write_uncertain(self.data, path)
        else:
            write_generalised(self.data, path)

    def check_path(self, path: Path) -> None:
        """Refuse a name that says nothing about the format, or the wrong one."""
        check_ending(type(self.data), path)

    def data_facts(self) -> dict[str, Any]:
        """What sort of graph it is, and how many vertices it has."""
        found = {"content": type(self.data).__name__, "vertices": self.data.order}
        return found | (network_facts(self.data) if isinstance(self.data, Network) else {})

    def measures(self) -> dict[str, Any]:
        """The methods, and the figures that may be published."""
        return {
            "methods": [each.as_dict() for each in self.methods],
            "figures": self.figures,
            "left_out": self.left_out,
        }

    @classmethod
    def from_parts(cls, path: Path, facts: dict[str, Any], **common: Unpack[CommonParts]) -> Self:
        return cls(
            data=_content(path, facts["data"]),
            methods=tuple(MethodOutcome.from_dict(each) for each in facts["measures"]["methods"]),
            account=GraphAccount(),
            figures=facts["measures"]["figures"],
            left_out=facts["measures"].get("left_out", {}),
            **common,
        )

    def document(self) -> Document:
        return report.document(self)

    def __str__(self) -> str:
        # Without figures to publish, as beside a differentially private graph, none is shown here.
        attacks = [str(each) for each in self.account.attacks[:1]] if self.figures else []
        return "; ".join([f"{self.guarantee.promise}: {self.data}", *attacks])


def _content(path: Path, about: dict[str, Any]) -> Content:
    if about["content"] == UncertainGraph.__name__:
        return read_uncertain(path)
    if about["content"] == GeneralisedGraph.__name__:
        return read_generalised(path)
    if about["content"] == Network.__name__:
        return read_network(path, format_of(path), about["vertices"], about)
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
