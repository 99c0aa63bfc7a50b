"""Seedless matching: nobody is known, hubs are recognised and matches spread."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs import RandomSwitch
from celosia.graphs.attacks import attack_from_text, percolation, seedless
from celosia.graphs.attacks.method import AttackedGraph
from celosia.graphs.attacks.seedless import _nearest, agreements, profiles
from celosia.graphs.generators import power_law, ring
from celosia.graphs.graph import Graph
from celosia.graphs.relabelling import relabel

GRAPH = power_law(400, 3000, 2.8, Seeded(1))


@pytest.mark.parametrize(("amount", "least"), [(0.0, 0.8), (0.02, 0.4)])
def test_nearly_everybody_is_found_where_few_edges_changed(amount: float, least: float) -> None:
    changed = RandomSwitch(amount=amount).apply(GRAPH, rng=Seeded(2)).graph if amount else GRAPH
    made = relabel(changed, Seeded(3))
    found = seedless(GRAPH, made.graph, numbers=made.numbers)
    assert found.share_correct > least
    assert found.precision > 0.8
    assert found.as_dict()["name"] == "seedless"
    assert found.seeds.size == 0
    assert str(found).startswith("seedless matching:")
    used = found.matched[found.matched >= 0]
    assert np.unique(used).size == used.size, "nobody is matched twice"


def test_another_graph_tells_nothing_and_the_truth_is_not_used_to_match() -> None:
    other = power_law(400, 3000, 2.8, Seeded(9))
    found = seedless(GRAPH, other)
    assert found.share_correct < 0.05
    blind = seedless(GRAPH, other, numbers=np.full(400, -1))
    assert blind.matched.tolist() == found.matched.tolist()
    assert (blind.correct, blind.wrong, blind.unmatched) == (0, 0, 0)


def test_vertices_that_look_alike_are_no_seeds() -> None:
    assert len(_nearest(ring(50), ring(50), 50)) == 0
    assert seedless(ring(50), ring(50)).matched.max() == -1
    for graph in (Graph.of([], order=0), Graph.of([], order=1), Graph.of([], order=9)):
        assert seedless(graph, graph).correct == 0


def test_profiles_count_the_neighbours_by_degree_and_by_their_own_neighbours() -> None:
    star = Graph.of([(0, 1), (0, 2), (0, 3), (3, 4)])
    found = np.square(profiles(star, np.array([0, 4])))
    assert found.sum(axis=1).tolist() == pytest.approx([6, 2]), "each neighbour counts twice"
    assert found[0, :3].tolist() == pytest.approx([2, 0, 1]), "two of degree 1, one of degree 2"


def test_agreements_are_matched_contacts_that_are_contacts_of_the_match() -> None:
    made = relabel(GRAPH, Seeded(4))
    matched = made.numbers.copy()
    matched[::3] = -1
    plain = [
        0
        if matched[vertex] < 0
        else len(
            {int(matched[near]) for near in GRAPH.neighbours_of(vertex) if matched[near] >= 0}
            & set(made.graph.neighbours_of(int(matched[vertex])).tolist())
        )
        for vertex in range(GRAPH.order)
    ]
    assert agreements(GRAPH, made.graph, matched).tolist() == plain
    assert agreements(GRAPH, Graph.of([], order=400), matched).max() == 0


def test_the_attack_has_a_name_and_declared_parameters() -> None:
    method = attack_from_text("seedless:hubs=100,marks=2")
    made = relabel(GRAPH, Seeded(3))
    pair = AttackedGraph(original=GRAPH, release=made.graph, numbers=made.numbers)
    found = method.run(pair, rng=Seeded(1))
    twin = seedless(GRAPH, made.graph, hubs=100, marks=2, numbers=made.numbers)
    assert found.matched.tolist() == twin.matched.tolist()
    assert found.share_correct > 0.5
    known = percolation(GRAPH, made.graph, seeds=[0, 1], numbers=made.numbers)
    assert str(known.blocks()[-1]) != str(found.blocks()[-1]), "another attacker"
    with pytest.raises(InputError):
        attack_from_text("seedless:hubs=9999999")
