"""Figure 10: degrees that two vertices share, by moved edges and by a new vertex."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded
from celosia.graphs import examples
from celosia.graphs.generators import ring
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.method import KDegree
from celosia.graphs.kdegree.realisation import supergraph
from celosia.graphs.kdegree.sequence import anonymous_degrees, microaggregated_degrees
from celosia.graphs.kdegree.vertex_addition import VertexAddition, least_raises
from celosia.graphs.metrics import edge_intersection, measure
from celosia.graphs.perturbation.relevance import neighbourhood_centrality
from celosia.graphs.verification import contains, degree_anonymity
from celosia.lab.findings import Row, compare
from celosia.lab.graphs.figure_graphs import figure_10, in_words
from celosia.lab.graphs.publication import ANONYMOUS_METRICS, METRIC_NAMES
from celosia.lab.masking.equivalence_classes import format_groups
from celosia.lab.mechanisms.cells import comparing
from celosia.lab.tolerance import at_least
from celosia.tables.masking.microaggregation import optimal_groups

compare_equal, compare_printed = comparing("program")

_RUNS = (
    Message("lab.graphs.figure_10a"),
    Message("lab.graphs.figure_10b_an_edge_moved"),
    Message("lab.graphs.figure_10c_a_vertex_added"),
)
_EDITS = (None, examples.G10_EDGE_CHANGE, examples.G10_VERTEX_ADDED)
Whole = NDArray[np.int64]


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    return [*_figure(), *_raised(), *_refused(), *_averaged(), *_grown()]


def _figure() -> Iterator[Row]:
    graphs = figure_10()
    degrees = ("2 4 2 1 3 2 2 2 2", *(in_words(edit.degrees) for edit in _EDITS if edit))
    for place, (run, graph) in enumerate(zip(_RUNS, graphs, strict=True)):
        yield compare_equal(
            run, "lab.graphs.degrees", degrees[place], in_words(graph.degrees.tolist()), kind=None
        )
        k = degree_anonymity(graph)
        yield compare_equal(run, "lab.graphs.k_by_degree", (1, 2, 2)[place], k, kind=None)
        order, size = (9, 9, 10)[place], (10, 10, 12)[place]
        yield compare_equal(run, "lab.graphs.vertices", order, graph.order, kind=None)
        yield compare_equal(run, "lab.graphs.edges", size, graph.size, kind=None)
        found = dict(measure(graph, rng=Seeded(10)).items())
        for name, texts in ANONYMOUS_METRICS.items():
            yield compare_printed(run, METRIC_NAMES[name], texts[place], float(found[name].value))
    for place, text in ((1, "0.9000"), (2, "0.8333")):
        shared = edge_intersection(graphs[0], graphs[place])
        yield compare_printed(_RUNS[place], "lab.graphs.edges_in_both", text, shared)
    stays = "yes" if contains(graphs[0], graphs[2]) else "no"
    yield compare_equal(_RUNS[2], "lab.graphs.the_original_is_in_it", "yes", stays, kind=None)


def _raised() -> Iterator[Row]:
    """The text speaks of integer programming; the method is a dynamic program (erratum 9)."""
    stated: dict[str, dict[int, tuple[int, str | None]]] = {
        "G10": {
            2: (2, "4 4 2 2 2 2 2 2 2"),
            3: (4, "4 4 4 2 2 2 2 2 2"),
            4: (6, "4 4 4 4 2 2 2 2 2"),
        },
        "G9": {2: (2, None), 3: (2, "4 4 4 4 2 2 2 2 2"), 4: (2, "4 4 4 4 2 2 2 2 2")},
    }
    graphs = {"G10": examples.g10(), "G9": examples.g9()}
    for name, by_k in stated.items():
        degrees = graphs[name].degrees
        for k, (cost, targets) in by_k.items():
            run = Message("lab.graphs.degrees_raised_for_k", name=name, k=k)
            for way in ("raise", "greedy") if name == "G10" else ("raise",):
                found = anonymous_degrees(degrees, k, target_rule=way)
                yield compare_equal(
                    run,
                    Message("lab.graphs.raises", ways=_WAYS[way]),
                    cost,
                    int((found - degrees).sum()),
                )
                if targets is not None:
                    ranked = in_words(sorted(found.tolist(), reverse=True))
                    yield compare_equal(
                        run, Message("lab.graphs.targets", ways=_WAYS[way]), targets, ranked
                    )
            least = _least_raises_of_all(tuple(sorted(degrees.tolist(), reverse=True)), k)
            yield compare_equal(run, "lab.graphs.raises_all_groupings_tried", cost, least)
    total = int(anonymous_degrees(graphs["G9"].degrees, 2).sum())
    yield compare_equal(
        "lab.graphs.g9_degrees_raised_for_k_2", "lab.graphs.sum_of_the_targets", 26, total
    )
    run = Message("lab.graphs.g9_with_the_edge_1_9")
    joined = Graph.of([*graphs["G9"].edges.tolist(), (0, 8)])
    yield compare_equal(
        run, "lab.graphs.degrees", "4 2 4 4 2 4 2 2 2", in_words(joined.degrees.tolist())
    )
    yield compare_equal(run, "lab.graphs.k_by_degree", 4, degree_anonymity(joined))
    yield compare_equal(
        run, "lab.graphs.edges_in_both", 12 / 13, edge_intersection(graphs["G9"], joined)
    )


_WAYS = {
    "raise": Message("lab.graphs.by_dynamic_programming_erratum_9"),
    "greedy": Message("lab.graphs.greedy"),
}


@cache
def _least_raises_of_all(ranked: tuple[int, ...], k: int) -> int:
    """The least sum of raises over every way to cut falling degrees into groups of k or more."""
    whole = sum(ranked[0] - each for each in ranked)
    cuts = (
        sum(ranked[0] - each for each in ranked[:size]) + _least_raises_of_all(ranked[size:], k)
        for size in range(k, len(ranked) - k + 1)
    )
    return min([whole, *cuts])


def _refused() -> Iterator[Row]:
    run = Message("lab.graphs.supergraph_of_g10_k_2")
    graph = examples.g10()
    targets = anonymous_degrees(graph.degrees, 2)
    needy = (np.flatnonzero(targets - graph.degrees) + 1).tolist()
    yield compare_equal(run, "lab.graphs.vertices_that_need_an_edge", "4 5", in_words(needy))
    joined = "yes" if graph.has_edges(np.array([[3, 4]]))[0] else "no"
    yield compare_equal(run, "lab.graphs.they_are_joined_already", "yes", joined)
    try:
        supergraph(graph, targets, rng=Seeded(10))
        outcome = "made"
    except PrivacyError as error:
        outcome = error.code
    yield compare_equal(run, "lab.graphs.what_supergraph_says", "CEL-G101", outcome)
    probed = KDegree(k=2, variant="liu-terzi").apply(graph, rng=Seeded(10)).graph
    reached = degree_anonymity(probed)
    cell = Message("lab.graphs.k_with_probing_at_least")
    yield compare(run, cell, 2, reached, at_least(2), kind="promise")
    stays = "yes" if contains(graph, probed) else "no"
    yield compare_equal(run, "lab.graphs.with_probing_the_original_is_in", "yes", stays)


def _averaged() -> Iterator[Row]:
    """Univariate microaggregation of the degrees (UMGA)."""
    stated = {
        ("G10", 2): "{1,2} {2,2} {2,2,2} {3,4}",
        ("G9", 3): "{1,2,2} {2,2,3} {4,4,4}",
    }
    graphs = {"G10": examples.g10(), "G9": examples.g9()}
    for name, k, least in (("G10", 2, 0), ("G9", 2, 0), ("G9", 3, 0), ("G9", 4, 2)):
        run = Message("lab.graphs.degrees_averaged_for_k", name=name, k=k)
        degrees = graphs[name].degrees
        made = microaggregated_degrees(degrees, k)
        yield compare_equal(
            run, "lab.graphs.sum_of_the_changes", least, abs(int((made - degrees).sum()))
        )
        groups, zero = _even_solutions(degrees, k)
        best = min(abs(change) for change in zero)
        yield compare_equal(run, "lab.graphs.the_same_all_roundings_tried", least, best)
        if (name, k) in stated:
            yield compare_equal(run, "lab.graphs.groups", stated[name, k], groups)
        if (name, k) == ("G10", 2):
            yield compare_equal(
                run, "lab.graphs.roundings_that_keep_the_sum", "1224 2223", in_words(zero[0])
            )
            reached = in_words(made.tolist())
            figure = in_words(examples.G10_EDGE_CHANGE.degrees)
            yield compare_equal(run, "lab.graphs.degrees_of_figure_10b", figure, reached)
        if (name, k) == ("G9", 3):
            yield compare_equal(
                run,
                "lab.graphs.degrees_rising",
                "2 2 2 2 2 2 4 4 4",
                in_words(sorted(made.tolist())),
            )
    yield from _pivots()
    for variant in ("umga-random", "umga-centrality"):
        changed = KDegree(k=2, variant=variant).apply(examples.g10(), rng=Seeded(10)).graph
        found = in_words(changed.degrees.tolist())
        stated_degrees = in_words(examples.G10_EDGE_CHANGE.degrees)
        yield compare_equal(
            f"G10, {variant}", "lab.graphs.degrees_of_figure_10b", stated_degrees, found
        )
        yield compare_equal(f"G10, {variant}", "lab.graphs.edges", 10, changed.size)


def _even_solutions(degrees: Whole, k: int) -> tuple[str, dict[int, list[str]]]:
    """The groups, and all roundings of their means by the sum of changes, where that is even."""
    codes = optimal_groups(degrees, k)
    parts = [sorted(degrees[codes == code].tolist()) for code in range(int(codes.max()) + 1)]
    parts.sort()
    means = [sorted({sum(part) // len(part), -(-sum(part) // len(part))}) for part in parts]
    found: dict[int, list[str]] = {}
    for choice in product(*means):
        change = sum(
            value * len(part) - sum(part) for value, part in zip(choice, parts, strict=True)
        )
        if change % 2 == 0:
            found.setdefault(change, []).append("".join(map(str, choice)))
    return format_groups(parts), found


def _pivots() -> Iterator[Row]:
    """The edge end to be moved from 2 to 4 may turn around 1, 3 or 6."""
    run = Message("lab.graphs.g10_one_end_moved_from_2")
    graph = examples.g10()
    for pivot, value in ((1, 0.875), (3, 0.875), (6, 1.125)):
        pairs = np.array([[2, pivot], [pivot, 4]]) - 1
        found = float(neighbourhood_centrality(graph, pairs).sum())
        yield compare_equal(run, Message("lab.graphs.centrality_around", pivot=pivot), value, found)


def _grown() -> Iterator[Row]:
    run = Message("lab.graphs.g10_vertex_addition_k_2")
    graph = examples.g10()
    made = VertexAddition(k=2).apply(graph, rng=Seeded(10)).graph
    new = (made.neighbours_of(9) + 1).tolist() if made.order == 10 else []
    yield compare_equal(
        run, "lab.graphs.greatest_raise", 1, int(least_raises(graph.degrees, 2).max())
    )
    yield compare_equal(run, "lab.graphs.vertices", 10, made.order)
    yield compare_equal(run, "lab.graphs.the_fake_is_joined_with", "4 5", in_words(new))
    yield compare_equal(run, "lab.graphs.k_the_fake_counted", 2, degree_anonymity(made))
    run = Message("lab.graphs.a_ring_of_7_with_a")
    chorded = Graph.of([*ring(7).edges.tolist(), (0, 3)])
    raised = np.flatnonzero(least_raises(chorded.degrees, 3))
    faked = Graph.of([*chorded.edges.tolist(), *((vertex, 7) for vertex in raised.tolist())])
    counts = np.unique(faked.degrees[:7], return_counts=True)[1]
    yield compare_equal(run, "lab.graphs.k_of_the_real_vertices_with", 3, int(counts.min()))
    yield compare_equal(run, "lab.graphs.k_with_the_fake_in_the", 1, degree_anonymity(faked))
    ours = degree_anonymity(VertexAddition(k=3).apply(chorded, rng=Seeded(10)).graph)
    cell = Message("lab.graphs.k_of_vertex_addition_fakes_counted")
    yield compare(run, cell, 3, ours, at_least(3), kind="promise")
