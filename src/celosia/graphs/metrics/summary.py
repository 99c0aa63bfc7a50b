"""All metrics of a graph in one value, and the comparison of two graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded, Source, System
from celosia.core.report import Block, Heading, KeyFigure, KeyFigures, Notice, Paragraph, Table
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import agreement
from celosia.graphs.metrics.centrality import (
    MOST_STEPS,
    betweenness,
    coreness,
    distances,
    pagerank,
    sources_of,
)
from celosia.graphs.metrics.clustering import Communities, clustering, communities
from celosia.graphs.metrics.spectrum import spectral_metrics
from celosia.graphs.metrics.values import MetricValue, VertexVector


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMetrics:
    """Numbers that describe a whole graph. Distances are over the pairs that are connected."""

    order: MetricValue
    size: MetricValue
    mean_degree: MetricValue
    connected_pairs: MetricValue
    diameter: MetricValue
    average_distance: MetricValue
    harmonic_distance: MetricValue
    transitivity: MetricValue
    mean_clustering: MetricValue
    triangles: MetricValue
    modularity: MetricValue
    """Of the communities that were found."""
    largest_eigenvalue: MetricValue
    connectivity: MetricValue
    subgraph_centrality: MetricValue

    def items(self) -> list[tuple[str, MetricValue]]:
        """Names and numbers."""
        return [(each.name, getattr(self, each.name)) for each in fields(self)]

    def as_dict(self) -> dict[str, Any]:
        return {name: value.as_dict() for name, value in self.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.items())


@dataclass(frozen=True, slots=True, eq=False)
class _GraphDescription:
    """A graph measured once: the numbers of the whole, of each vertex, and its communities."""

    metrics: GraphMetrics
    vectors: Mapping[str, VertexVector]
    parts: Communities


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphUtility:
    """What a change of a graph kept."""

    before: GraphMetrics
    after: GraphMetrics
    distances: Mapping[str, MetricValue]
    """The root mean squared difference over the vertices, by the name of the vector."""
    edges: agreement.EdgeChanges
    """How many edges were kept, removed and added."""
    edge_intersection: float
    """The edges that both have, over those of the larger."""
    equal_coreness: float
    """The share of vertices whose core number is the same."""
    changed_degrees: float
    degree_total_variation: float
    degree_earth_mover: float
    hubs_kept: float
    communities_matched: float
    """The precision index."""
    communities_information: float
    """Normalised mutual information."""
    is_simulation: bool
    """Whether samples came from a seed, and come out the same again."""

    @property
    def errors(self) -> dict[str, MetricValue]:
        """How far each number of the whole graph moved, with its sign: below 0 it fell."""
        after = dict(self.after.items())
        return {name: value.difference(after[name]) for name, value in self.before.items()}

    @property
    def shares(self) -> dict[str, float]:
        """What both graphs have in common, and how far the degrees moved."""
        return {
            "edge_intersection": self.edge_intersection,
            "equal_coreness": self.equal_coreness,
            "changed_degrees": self.changed_degrees,
            "degree_total_variation": self.degree_total_variation,
            "degree_earth_mover": self.degree_earth_mover,
            "hubs_kept": self.hubs_kept,
            "communities_matched": self.communities_matched,
            "communities_information": self.communities_information,
        }

    def as_dict(self) -> dict[str, Any]:
        return {
            "before": self.before.as_dict(),
            "after": self.after.as_dict(),
            "errors": {name: value.as_dict() for name, value in self.errors.items()},
            "distances": {name: value.as_dict() for name, value in self.distances.items()},
            "edges": self.edges.as_dict(),
            **self.shares,
            "is_simulation": self.is_simulation,
        }

    def blocks(self) -> list[Block]:
        """The comparison as parts of a report."""
        return _blocks(self)

    def __str__(self) -> str:
        return say(
            "graphs.metric.line",
            edges=str(self.edges),
            distance_before=self.before.average_distance,
            distance_after=self.after.average_distance,
            transitivity_before=self.before.transitivity,
            transitivity_after=self.after.transitivity,
            eigenvalue=self.errors["largest_eigenvalue"].signed(),
            communities=self.communities_information,
        )


def measure(
    graph: Graph,
    *,
    rng: Source | None = None,
    most_steps: int = MOST_STEPS,
    progress: Progress = silent,
) -> GraphMetrics:
    """The numbers of one graph.

    Args:
        graph: any graph; one in several parts too.
        rng: where samples come from, the entropy of the system if not given.
        most_steps: how much walking is affordable; beyond it paths start from a sample.
        progress: called now and then.

    >>> from celosia.graphs.examples import g9
    >>> found = measure(g9(), rng=Seeded(1))
    >>> print(found.average_distance, found.diameter, found.largest_eigenvalue)
    1.91667 3 3.04652
    """
    return _describe(graph, System() if rng is None else rng, most_steps, progress).metrics


def compare(
    original: Graph,
    changed: Graph,
    *,
    rng: Source,
    numbers: NDArray[np.int64] | None = None,
    most_steps: int = MOST_STEPS,
    progress: Progress = silent,
) -> GraphUtility:
    """What a changed graph kept of the original.

    Both graphs are sampled with the same draws, so that a graph compared with itself has no error.

    Args:
        original: the graph before.
        changed: the graph after, its first vertices in the order of the original.
        rng: where samples and the order of visits come from.
        numbers: the number in `changed` of each vertex of the original, where that is another.
        most_steps: how much walking is affordable; beyond it paths start from a sample.
        progress: called now and then.

    Raises:
        InputError: CEL-G400 `numbers` does not name a different vertex for each.

    >>> from celosia.graphs.examples import g9
    >>> same = compare(g9(), g9(), rng=Seeded(1))
    >>> same.edge_intersection, any(error.value for error in same.errors.values())
    (1.0, False)
    """
    after = changed if numbers is None else align_vertices(changed, numbers)
    seed = int(rng.words(1)[0] >> np.uint64(1))
    old, new = (_describe(graph, Seeded(seed), most_steps, progress) for graph in (original, after))
    both = min(original.order, after.order)
    cores = [each.vectors["coreness"].values[:both] for each in (old, new)]
    parts = old.parts.of_vertex, new.parts.of_vertex
    return GraphUtility(
        before=old.metrics,
        after=new.metrics,
        distances={name: value.distance(new.vectors[name]) for name, value in old.vectors.items()},
        edges=agreement.edge_changes(original, after),
        edge_intersection=agreement.edge_intersection(original, after),
        equal_coreness=float(np.mean(cores[0] == cores[1])) if both else 1.0,
        changed_degrees=agreement.changed_degrees(original, after),
        degree_total_variation=agreement.degree_total_variation(original, after),
        degree_earth_mover=agreement.degree_earth_mover(original, after),
        hubs_kept=agreement.hub_retention(original, after),
        communities_matched=agreement.precision_index(*parts),
        communities_information=agreement.mutual_information(*parts),
        is_simulation=rng.simulation,
    )


def align_vertices(changed: Graph, numbers: NDArray[np.int64]) -> Graph:
    """The changed graph with the vertices of the original in their order, new ones after them.

    >>> align_vertices(Graph.of([(0, 2)]), np.array([2, 1])).edges.tolist()
    [[0, 2]]

    Raises:
        InputError: CEL-G400 two vertices have one number, or a number is not in the graph.
    """
    given = np.asarray(numbers, dtype=np.int64)
    back = np.full(changed.order, -1, dtype=np.int64)
    fits = given.ndim == 1 and given.size <= changed.order
    if fits and given.size:
        fits = bool(given.min() >= 0 and given.max() < changed.order)
    if fits:
        back[given] = np.arange(given.size)
    if not fits or np.count_nonzero(back >= 0) != given.size:
        raise InputError("CEL-G400", order=changed.order - 1)
    new = np.flatnonzero(back < 0)
    back[new] = np.arange(given.size, changed.order)
    return Graph.of(back[changed.edges], order=changed.order)


def _describe(graph: Graph, rng: Source, most_steps: int, progress: Progress) -> _GraphDescription:
    sources = sources_of(graph, rng, most_steps=most_steps)
    between = betweenness(graph, sources=sources, progress=progress)
    far = distances(graph, sources=sources, progress=progress)
    # One order of visits for all: a graph has one modularity, whoever measures it.
    parts = communities(graph, rng=Seeded(VISITS), progress=progress)
    waves = spectral_metrics(graph, rng=rng, most_steps=most_steps, progress=progress)
    corners = clustering(graph)
    others = max(graph.order - 1, 1)
    metrics = GraphMetrics(
        order=MetricValue(graph.order),
        size=MetricValue(graph.size),
        mean_degree=MetricValue(2 * graph.size / max(graph.order, 1)),
        connected_pairs=far.connected,
        diameter=far.diameter,
        average_distance=far.average,
        harmonic_distance=far.harmonic,
        transitivity=MetricValue(corners.transitivity),
        mean_clustering=MetricValue(corners.mean),
        triangles=MetricValue(corners.triangles),
        modularity=MetricValue(parts.modularity),
        largest_eigenvalue=waves.largest,
        connectivity=waves.connectivity,
        subgraph_centrality=waves.subgraph_centrality,
    )
    vectors = {
        "degree": VertexVector(graph.degrees / others),
        "betweenness": between,
        "closeness": far.closeness,
        "coreness": VertexVector(coreness(graph).astype(np.float64)),
        "pagerank": VertexVector(pagerank(graph)),
        "clustering": VertexVector(corners.local),
    }
    return _GraphDescription(metrics, vectors, parts)


VISITS = 1
"""The seed of the order in which communities are sought: no secret, and nothing is drawn by it."""

SAMPLED = ("average_distance", "harmonic_distance", "diameter", "subgraph_centrality")
"""What comes from a sample of a large graph; the others are exact, or an iteration with a bound."""

WORDS = {
    "order": Message("graphs.metric.vertices"),
    "size": Message("graphs.metric.edges"),
    "mean_degree": Message("graphs.metric.mean_degree"),
    "connected_pairs": Message("graphs.metric.connected"),
    "diameter": Message("graphs.metric.diameter"),
    "average_distance": Message("graphs.metric.average_distance"),
    "harmonic_distance": Message("graphs.metric.harmonic_distance"),
    "transitivity": Message("graphs.metric.transitivity"),
    "mean_clustering": Message("graphs.metric.mean_clustering"),
    "triangles": Message("graphs.metric.triangles"),
    "modularity": Message("graphs.metric.modularity"),
    "largest_eigenvalue": Message("graphs.metric.largest_eigenvalue"),
    "connectivity": Message("graphs.metric.connectivity"),
    "subgraph_centrality": Message("graphs.metric.subgraph_centrality"),
    "degree": Message("graphs.metric.degree_centrality"),
    "betweenness": Message("graphs.metric.betweenness"),
    "closeness": Message("graphs.metric.closeness"),
    "coreness": Message("graphs.metric.core_number"),
    "pagerank": "PageRank",
    "clustering": Message("graphs.metric.local_clustering"),
    "edge_intersection": Message("graphs.metric.edges_in_both"),
    "equal_coreness": Message("graphs.metric.same_core"),
    "changed_degrees": Message("graphs.metric.other_degree"),
    "degree_total_variation": Message("graphs.metric.degrees_variation"),
    "degree_earth_mover": Message("graphs.metric.degrees_earth_mover"),
    "hubs_kept": Message("graphs.metric.hubs_kept"),
    "communities_matched": Message("graphs.metric.matched_communities"),
    "communities_information": Message("graphs.metric.communities_information"),
}
"""What each number is called in a report."""


def _blocks(found: GraphUtility) -> list[Block]:
    """Tables of the graph before and after."""
    facts = found.as_dict()
    made: list[Block] = [Heading(say("graphs.report.kept_title")), _cards(found)]
    if any(not value.is_exact for name, value in found.before.items() if name in SAMPLED):
        made.append(Notice(say("graphs.report.sampled")))
        if found.is_simulation:
            made.append(Notice(say("graphs.report.seeded")))
    after, moved = dict(found.after.items()), found.errors
    made += [
        Paragraph(say("graphs.report.connected_pairs")),
        Table(
            [
                say("graphs.report.number"),
                say("graphs.report.original"),
                say("graphs.report.changed"),
                say("graphs.report.difference"),
            ],
            [
                [str(WORDS[name]), str(value), str(after[name]), moved[name].signed()]
                for name, value in found.before.items()
            ],
            say("graphs.report.whole_graph"),
            numeric=(1, 2, 3),
        ),
        Table(
            [say("graphs.report.number_of_vertex"), say("graphs.report.rms")],
            [[str(WORDS[name]), str(value)] for name, value in found.distances.items()],
            say("graphs.report.the_vertices"),
            numeric=(1,),
        ),
        Table(
            [say("graphs.report.both_have"), say("graphs.report.value")],
            [[str(WORDS[name]), f"{facts[name]:.4f}"] for name in found.shares],
            say("graphs.report.in_common"),
            numeric=(1,),
        ),
    ]
    return made


def _cards(found: GraphUtility) -> KeyFigures:
    return KeyFigures(
        [
            KeyFigure(
                say("graphs.report.edges_kept"),
                f"{found.edges.share_kept:.1%}",
                say_of("graphs.report.removed_added", found.edges),
            ),
            KeyFigure(
                say("graphs.report.degrees_changed"),
                f"{found.changed_degrees:.1%}",
                say("graphs.report.of_vertices"),
            ),
            KeyFigure(
                say("graphs.report.communities_kept"),
                f"{found.communities_information:.1%}",
                say("graphs.report.mutual_information"),
            ),
            KeyFigure(say("graphs.report.hubs_kept"), f"{found.hubs_kept:.0%}"),
        ]
    )
