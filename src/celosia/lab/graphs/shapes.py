"""Figures 5 to 9: what neighbours tell, and how three small changes move degrees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from celosia.graphs import examples
from celosia.graphs.attacks import (
    classes,
    degree,
    fingerprints,
    groups,
    neighbourhood,
    refinement_classes,
)
from celosia.graphs.attacks.isomorphism import neighbourhood_classes
from celosia.graphs.generators import ring
from celosia.graphs.graph import Graph
from celosia.graphs.primitives import EditSession
from celosia.graphs.verification import (
    degree_anonymity,
    is_k_automorphic,
    is_k_isomorphic,
    neighbourhood_anonymity,
)
from celosia.graphs.verification import neighbourhood_classes as checked_classes
from celosia.lab.findings import Row
from celosia.lab.graphs.figure_graphs import figure_10, in_words, name_groups
from celosia.lab.graphs.publication import FINGERPRINTS, REFINEMENT
from celosia.lab.masking.equivalence_classes import format_groups
from celosia.lab.mechanisms.cells import compare_equal


def rows() -> Iterator[Row]:
    """All of them."""
    yield from _followers()
    yield from _dan()
    yield from _primitives()
    yield from _candidates()
    yield from _neighbourhoods()
    yield from _verifiers()


def _followers() -> Iterator[Row]:
    run = "Figure 5, who follows whom"
    arcs = examples.ARCS
    after = sorted(head for tail, head in arcs if tail == "D")
    before = sorted(tail for tail, head in arcs if head == "D")
    yield compare_equal(run, "in-degree of D", 3, len(before))
    yield compare_equal(run, "out-degree of D", 3, len(after))
    yield compare_equal(run, "successors of D", "A E F", in_words(after))
    yield compare_equal(run, "predecessors of D", "A B C", in_words(before))
    graph = examples.graph_of_names(arcs)
    yield compare_equal(run, "edges without direction: A and D follow each other", 5, graph.size)
    alone = int(examples.vertices(graph, ["D"])[0])
    yield compare_equal(run, "neighbours of D without direction", 5, int(graph.degrees[alone]))


def _dan() -> Iterator[Row]:
    run = "Figure 7, Dan"
    graph = examples.dan()
    names = graph.labels.to_list() if graph.labels is not None else []
    degrees = dict(zip(names, graph.degrees.tolist(), strict=True))
    stated = {"Dan": 4, "Joe": 4, "Amy": 2, "Bob": 2, "Eva": 2, "Tim": 2, "Lis": 2}
    for name, number in {**stated, "Tom": 1, "Ann": 1}.items():
        yield compare_equal(run, f"degree of {name}", number, degrees[name])
    yield compare_equal(run, "k by degree", 2, degree_anonymity(graph))
    found = checked_classes(graph)
    called = sorted(sorted(names[vertex] for vertex in group) for group in found)
    stated_classes = "{Amy,Bob} {Ann,Tom} {Dan} {Eva,Lis,Tim} {Joe}"
    yield compare_equal(run, "classes by neighbourhood", stated_classes, format_groups(called))
    by_degree, by_contacts = degree(graph, graph), neighbourhood(graph, graph)
    yield compare_equal(run, "found by degree", 0, by_degree.exposed.size)
    exposed = sorted(names[vertex] for vertex in by_contacts.exposed.tolist())
    yield compare_equal(run, "found by neighbourhood", "Dan Joe", in_words(exposed))
    yield compare_equal(run, "k by neighbourhood", 1, neighbourhood_anonymity(graph).k)


def _primitives() -> Iterator[Row]:
    """On G9: {1,5} goes and {6,7} comes; {1,5} turns to {1,9}; {1,2} and {4,5} cross."""
    run = "Figure 8, primitives"
    graph = examples.g9()
    moving = []
    for kind, stated in (("add-delete", 4), ("rotation", 2), ("switch", 0)):
        session = EditSession(graph)
        if kind == "add-delete":
            session.add_delete((0, 4), (5, 6))
        elif kind == "rotation":
            session.rotate(0, 4, 8)
        else:
            session.switch((0, 1), (4, 3))
        after = session.graph
        changed = int((after.degrees != graph.degrees).sum())
        yield compare_equal(run, f"degrees that a {kind} changes", stated, changed)
        yield compare_equal(run, f"edges after a {kind}", 12, after.size)
        if changed:
            moving.append(kind)
    cell = "which ones change degrees: not rotation alone, as the text says (erratum 8)"
    yield compare_equal(run, cell, "add-delete rotation", in_words(moving))


def _candidates() -> Iterator[Row]:
    run = "Figure 9, candidates"
    graph = examples.g9()
    for rounds, stated in enumerate(REFINEMENT, 1):
        (codes,) = refinement_classes(graph, rounds=rounds)
        yield compare_equal(run, f"classes by H{rounds}", stated, name_groups(groups(codes)))
    (codes,) = classes(graph.degrees)
    yield compare_equal(
        run, "classes by degree are those by H1", REFINEMENT[0], name_groups(groups(codes))
    )
    hubs = examples.vertices(graph, [3, 4, 6]).tolist()
    for reach, stated in FINGERPRINTS.items():
        found = fingerprints(graph, hubs, reach=reach)
        marks = in_words("".join(map(str, row)) for row in found.tolist())
        yield compare_equal(run, f"distances to 3, 4, 6 within {reach}", stated, marks)


def _neighbourhoods() -> Iterator[Row]:
    run = "Neighbourhoods of figures 9 and 10"
    plain, moved, added = figure_10()
    stated = (
        ("figure 9", examples.g9(), "{1} {2} {3} {4,6} {5,7,8} {9}"),
        ("figure 10a", plain, "{1,3} {2} {4} {5} {6,7,8,9}"),
        ("figure 10b", moved, "{1,3,4,6,7,8,9} {2,5}"),
        ("figure 10c, a as 10", added, "{1,3,4,10} {2,5} {6,7,8,9}"),
    )
    for name, graph, printed_classes in stated:
        codes, undecided = neighbourhood_classes(graph)
        yield compare_equal(
            run, f"classes of {name}", printed_classes, name_groups(groups(codes[0]))
        )
        yield compare_equal(
            run,
            f"classes of {name}, checked apart",
            printed_classes,
            name_groups(checked_classes(graph)),
        )
        yield compare_equal(run, f"comparisons of {name} left undecided", 0, undecided)
    yield compare_equal(run, "k of figure 10b", 2, neighbourhood_anonymity(moved).k)
    yield compare_equal(run, "k of figure 10c", 2, neighbourhood_anonymity(added).k)


def _verifiers() -> Iterator[Row]:
    run = "Graphs that look the same from several places"
    path, star = Graph.of([(0, 1), (1, 2)]), Graph.of([(0, leaf) for leaf in range(1, 6)])
    triangles = Graph.of(np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]]))
    yield compare_equal(
        run, "a ring of 6 is 6-automorphic", "yes", _yes(is_k_automorphic(ring(6), 6))
    )
    yield compare_equal(run, "a path of 3 is 2-automorphic", "no", _yes(is_k_automorphic(path, 2)))
    yield compare_equal(
        run, "two triangles are 2-isomorphic", "yes", _yes(is_k_isomorphic(triangles, 2))
    )
    yield compare_equal(run, "k by degree of a ring of 7", 7, degree_anonymity(ring(7)))
    yield compare_equal(run, "k by degree of a star with 5 rays", 1, degree_anonymity(star))


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
