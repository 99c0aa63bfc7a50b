"""Figures 5 to 9: what neighbours tell, and how three small changes move degrees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
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
from celosia.lab.findings import Kind, Row
from celosia.lab.graphs.figure_graphs import figure_10, in_words, name_groups
from celosia.lab.graphs.publication import FINGERPRINTS, REFINEMENT
from celosia.lab.masking.equivalence_classes import format_groups
from celosia.lab.mechanisms.cells import comparing

compare_equal, _ = comparing("program")


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    return [
        *_followers(),
        *_dan(),
        *_primitives(),
        *_candidates(),
        *_neighbourhoods(),
        *_verifiers(),
    ]


def _followers() -> Iterator[Row]:
    run = Message("lab.graphs.figure_5_who_follows_whom")
    arcs = examples.ARCS
    after = sorted(head for tail, head in arcs if tail == "D")
    before = sorted(tail for tail, head in arcs if head == "D")
    yield compare_equal(run, "lab.graphs.in_degree_of_d", 3, len(before))
    yield compare_equal(run, "lab.graphs.out_degree_of_d", 3, len(after))
    yield compare_equal(run, "lab.graphs.successors_of_d", "A E F", in_words(after))
    yield compare_equal(run, "lab.graphs.predecessors_of_d", "A B C", in_words(before))
    graph = examples.graph_of_names(arcs)
    yield compare_equal(run, "lab.graphs.edges_without_direction_a_and_d", 5, graph.size)
    alone = int(examples.vertices(graph, ["D"])[0])
    yield compare_equal(
        run, "lab.graphs.neighbours_of_d_without_direction", 5, int(graph.degrees[alone])
    )


def _dan() -> Iterator[Row]:
    run = Message("lab.graphs.figure_7_dan")
    graph = examples.dan()
    names = graph.labels.to_list() if graph.labels is not None else []
    degrees = dict(zip(names, graph.degrees.tolist(), strict=True))
    stated = {"Dan": 4, "Joe": 4, "Amy": 2, "Bob": 2, "Eva": 2, "Tim": 2, "Lis": 2}
    for name, number in {**stated, "Tom": 1, "Ann": 1}.items():
        kind: Kind | None = None if name == "Dan" else "program"
        cell = Message("lab.graphs.degree_of", name=name)
        yield compare_equal(run, cell, number, degrees[name], kind=kind)
    yield compare_equal(run, "lab.graphs.k_by_degree", 2, degree_anonymity(graph))
    found = checked_classes(graph)
    called = sorted(sorted(names[vertex] for vertex in group) for group in found)
    stated_classes = "{Amy,Bob} {Ann,Tom} {Dan} {Eva,Lis,Tim} {Joe}"
    yield compare_equal(
        run, "lab.graphs.classes_by_neighbourhood", stated_classes, format_groups(called)
    )
    by_degree, by_contacts = degree(graph, graph), neighbourhood(graph, graph)
    yield compare_equal(run, "lab.graphs.found_by_degree", 0, by_degree.exposed.size)
    exposed = sorted(names[vertex] for vertex in by_contacts.exposed.tolist())
    yield compare_equal(run, "lab.graphs.found_by_neighbourhood", "Dan Joe", in_words(exposed))
    yield compare_equal(run, "lab.graphs.k_by_neighbourhood", 1, neighbourhood_anonymity(graph).k)


_PRIMITIVES = {
    "add-delete": Message("lab.graphs.add_delete"),
    "rotation": Message("lab.graphs.rotation"),
    "switch": Message("lab.graphs.switch"),
}


def _primitives() -> Iterator[Row]:
    """On G9: {1,5} goes and {6,7} comes; {1,5} turns to {1,9}; {1,2} and {4,5} cross."""
    run = Message("lab.graphs.figure_8_primitives")
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
        yield compare_equal(
            run,
            Message("lab.graphs.degrees_that_a_changes", kind=_PRIMITIVES[kind]),
            stated,
            changed,
            kind=None,
        )
        yield compare_equal(
            run, Message("lab.graphs.edges_after_a", kind=_PRIMITIVES[kind]), 12, after.size
        )
        if changed:
            moving.append(kind)
    cell = Message("lab.graphs.which_ones_change_degrees_not_rotation")
    yield compare_equal(
        run,
        cell,
        "add-delete rotation",
        in_words(moving),
        printed=_PRIMITIVES["rotation"],
        wrong=Message("lab.wrong.only_a_switch_keeps_degrees"),
    )


def _candidates() -> Iterator[Row]:
    run = Message("lab.graphs.figure_9_candidates")
    graph = examples.g9()
    for rounds, stated in enumerate(REFINEMENT, 1):
        (codes,) = refinement_classes(graph, rounds=rounds)
        yield compare_equal(
            run,
            Message("lab.graphs.classes_by_h", rounds=rounds),
            stated,
            name_groups(groups(codes)),
        )
    (codes,) = classes(graph.degrees)
    yield compare_equal(
        run, "lab.graphs.classes_by_degree_are_those_by", REFINEMENT[0], name_groups(groups(codes))
    )
    hubs = examples.vertices(graph, [3, 4, 6]).tolist()
    for reach, stated in FINGERPRINTS.items():
        found = fingerprints(graph, hubs, reach=reach)
        marks = in_words("".join(map(str, row)) for row in found.tolist())
        yield compare_equal(
            run, Message("lab.graphs.distances_to_3_4_6_within", reach=reach), stated, marks
        )


def _neighbourhoods() -> Iterator[Row]:
    run = Message("lab.graphs.neighbourhoods_of_figures_9_and_10")
    plain, moved, added = figure_10()
    stated = (
        (Message("lab.graphs.figure_9"), examples.g9(), "{1} {2} {3} {4,6} {5,7,8} {9}"),
        (Message("lab.graphs.figure_10a_2"), plain, "{1,3} {2} {4} {5} {6,7,8,9}"),
        (Message("lab.graphs.figure_10b"), moved, "{1,3,4,6,7,8,9} {2,5}"),
        (Message("lab.graphs.figure_10c_a_as_10"), added, "{1,3,4,10} {2,5} {6,7,8,9}"),
    )
    for name, graph, printed_classes in stated:
        codes, undecided = neighbourhood_classes(graph)
        yield compare_equal(
            run,
            Message("lab.graphs.classes_of", name=name),
            printed_classes,
            name_groups(groups(codes[0])),
        )
        yield compare_equal(
            run,
            Message("lab.graphs.classes_of_checked_apart", name=name),
            printed_classes,
            name_groups(checked_classes(graph)),
        )
        yield compare_equal(
            run, Message("lab.graphs.comparisons_of_left_undecided", name=name), 0, undecided
        )
    yield compare_equal(run, "lab.graphs.k_of_figure_10b", 2, neighbourhood_anonymity(moved).k)
    yield compare_equal(run, "lab.graphs.k_of_figure_10c", 2, neighbourhood_anonymity(added).k)


def _verifiers() -> Iterator[Row]:
    run = Message("lab.graphs.graphs_that_look_the_same_from")
    path, star = Graph.of([(0, 1), (1, 2)]), Graph.of([(0, leaf) for leaf in range(1, 6)])
    triangles = Graph.of(np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]]))
    yield compare_equal(
        run, "lab.graphs.a_ring_of_6_is_6", "yes", _yes(is_k_automorphic(ring(6), 6))
    )
    yield compare_equal(run, "lab.graphs.a_path_of_3_is_2", "no", _yes(is_k_automorphic(path, 2)))
    yield compare_equal(
        run, "lab.graphs.two_triangles_are_2_isomorphic", "yes", _yes(is_k_isomorphic(triangles, 2))
    )
    yield compare_equal(run, "lab.graphs.k_by_degree_of_a_ring", 7, degree_anonymity(ring(7)))
    yield compare_equal(run, "lab.graphs.k_by_degree_of_a_star", 1, degree_anonymity(star))


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
