"""Degree, refinement, neighbourhood, subgraph and hub attacks (checks 26 and 27)."""

import json
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.core.report import Document
from celosia.graphs import examples
from celosia.graphs.attacks import (
    GraphAttack,
    degree,
    fingerprints,
    groups,
    hub_fingerprint,
    neighbourhood,
    neighbourhood_classes,
    refinement,
    refinement_classes,
    subgraph,
    top_hubs,
)
from celosia.graphs.attacks.isomorphism import Shape
from celosia.graphs.attacks.subgraph import known_piece
from celosia.graphs.generators import power_law, ring
from celosia.graphs.graph import Graph
from celosia.graphs.perturbation.deletion import RandomPerturbation
from celosia.graphs.perturbation.exchange import RandomSwitch
from celosia.graphs.relabelling import relabel

G9, G10, DAN = examples.g9(), examples.g10(), examples.dan()


def named(codes: np.ndarray, graph: Graph) -> set[frozenset[object]]:
    assert graph.labels is not None
    names = graph.labels.to_list()
    return {frozenset(names[vertex] for vertex in group) for group in groups(codes)}


def sets(*members: tuple[object, ...]) -> set[frozenset[object]]:
    return {frozenset(each) for each in members}


edge_sets = st.sets(st.sampled_from(list(combinations(range(8), 2))), max_size=20)


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (0, sets(tuple(range(1, 10)))),
        (1, sets((1,), (2, 5, 7, 8), (3, 4, 6), (9,))),
        (2, sets((1,), (2, 5), (3,), (4,), (6,), (7, 8), (9,))),
        (3, sets(*((name,) for name in range(1, 10)))),
        (None, sets(*((name,) for name in range(1, 10)))),
    ],
)
def test_refinement_of_figure_9_gives_the_classes_listed(
    rounds: int | None, expected: set[frozenset[object]]
) -> None:
    assert named(refinement_classes(G9, rounds=rounds)[0], G9) == expected


def plain_refinement(graph: Graph, rounds: int) -> list[object]:
    value: list[object] = [()] * graph.order
    for _ in range(rounds):
        value = [
            tuple(sorted(repr(value[u]) for u in graph.neighbours_of(v).tolist()))
            for v in range(graph.order)
        ]
    return value


@given(edges=edge_sets, rounds=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_refinement_is_that_of_its_definition_and_refines_the_round_before(
    edges: set[tuple[int, int]], rounds: int
) -> None:
    graph = Graph.of(edges, order=8)
    codes = refinement_classes(graph, rounds=rounds)[0]
    plain = plain_refinement(graph, rounds)
    for one, other in combinations(range(8), 2):
        assert (codes[one] == codes[other]) == (plain[one] == plain[other])
    finer = refinement_classes(graph, rounds=rounds + 1)[0]
    assert len(set(zip(codes.tolist(), finer.tolist(), strict=True))) == len(set(finer.tolist()))
    last = refinement_classes(graph)[0]
    deep = refinement_classes(graph, rounds=9)[0]
    assert groups(last) == groups(deep)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (G9, sets((1,), (2,), (3,), (4, 6), (5, 7, 8), (9,))),
        (G10, sets((1, 3), (2,), (4,), (5,), (6, 7, 8, 9))),
        (DAN, sets(("Dan",), ("Joe",), ("Amy", "Bob"), ("Eva", "Lis", "Tim"), ("Ann", "Tom"))),
    ],
    ids=["G9", "G10", "Dan"],
)
def test_neighbourhoods_of_the_figures_give_the_classes_listed(
    graph: Graph, expected: set[frozenset[object]]
) -> None:
    codes, undecided = neighbourhood_classes(graph)
    assert named(codes[0], graph) == expected
    assert undecided == 0


def test_dan_is_hidden_by_degree_and_found_by_his_neighbourhood() -> None:
    assert degree(DAN, DAN).smallest == 2
    found = neighbourhood(DAN, DAN)
    assert found.smallest == 1
    assert set(found.exposed.tolist()) == set(examples.vertices(DAN, ["Dan", "Joe"]).tolist())


@given(edges=edge_sets)
@settings(max_examples=60, deadline=None)
def test_neighbourhood_classes_are_isomorphism_classes(edges: set[tuple[int, int]]) -> None:
    graph = Graph.of(edges, order=8)
    codes = neighbourhood_classes(graph)[0][0]
    whole = nx.Graph(graph.edges.tolist())
    whole.add_nodes_from(range(8))
    around = [whole.subgraph(list(whole[vertex])) for vertex in range(8)]
    for one, other in combinations(range(8), 2):
        assert (codes[one] == codes[other]) == nx.is_isomorphic(around[one], around[other])


def test_neighbourhoods_with_equal_colours_are_told_apart_exactly() -> None:
    # Colour refinement cannot tell one circle of six from two of three.
    one = [(0, at) for at in range(1, 7)] + [(at, at % 6 + 1) for at in range(1, 7)]
    triangles = [(1, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6)]
    two = [(7, 7 + at) for at in range(1, 7)] + [(7 + a, 7 + b) for a, b in triangles]
    codes = neighbourhood_classes(Graph.of([*one, *two]))[0][0]
    assert codes[0] != codes[7]


@given(edges=edge_sets, order=st.permutations(range(8)))
@settings(max_examples=40, deadline=None)
def test_a_renamed_graph_has_the_same_shape(edges: set[tuple[int, int]], order: list[int]) -> None:
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    assert Shape.of(8, pairs).same_shape(Shape.of(8, np.array(order)[pairs]))


def test_a_search_for_a_renaming_ends_when_it_takes_too_long() -> None:
    circles = [
        (3 * part + a, 3 * part + b) for part in range(4) for a, b in ((0, 1), (1, 2), (0, 2))
    ]
    large = ring(12).edges.astype(np.int64)
    one = Shape.of(12, np.array(circles))
    assert one.same_shape(Shape.of(12, large)) is False
    assert one.same_shape(Shape.of(12, large), most_steps=3) is None


def test_candidates_are_counted_in_the_release_and_judged_by_the_key() -> None:
    made = relabel(G9, Seeded(3))
    found = degree(G9, made.graph, numbers=made.numbers)
    assert found.sizes.tolist() == [1, 4, 3, 3, 4, 3, 4, 4, 1]
    assert found.hit.all()
    assert found.exposed.tolist() == [0, 8]
    assert found.share_unique == found.share_exposed == pytest.approx(2 / 9)
    # Four classes: each vertex of one is found with one over its size, so 4 of 9.
    assert found.chance == pytest.approx(4 / 9)
    assert found.buckets == {"none": 0, "1": 2, "2-4": 7, "5-10": 0, "11-20": 0, ">20": 0}


def test_the_smallest_candidate_set_by_degree_is_k_of_the_graph() -> None:
    graph = power_law(300, 900, 2.5, Seeded(4))
    assert degree(graph, graph).smallest == np.unique(graph.degrees, return_counts=True)[1].min()
    assert degree(ring(9), ring(9)).smallest == 9


def test_a_switch_does_not_hinder_the_degree_attack_and_perturbation_does() -> None:
    graph = power_law(300, 900, 2.5, Seeded(4))
    switched = RandomSwitch(amount=0.5).apply(graph, rng=Seeded(1)).graph
    perturbed = RandomPerturbation(amount=0.5).apply(graph, rng=Seeded(1)).graph
    before = degree(graph, graph)
    assert degree(graph, switched).exposed.tolist() == before.exposed.tolist()
    assert degree(graph, perturbed).chance < 0.5 * before.chance
    assert refinement(graph, switched).share_exposed < refinement(graph, graph).share_exposed


def test_a_wrong_single_candidate_exposes_nobody() -> None:
    star, other = Graph.of([(0, 1), (0, 2)]), Graph.of([(1, 0), (1, 2)])
    found = degree(star, other, targets=[0])
    assert found.sizes.tolist() == [1]
    assert not found.exposed.size
    assert found.chance == 0


@pytest.mark.parametrize(
    ("reach", "expected"),
    [
        (1, ["100", "100", "011", "101", "010", "110", "010", "001", "001"]),
        (2, ["122", "122", "011", "101", "212", "110", "212", "221", "221"]),
    ],
)
def test_hub_fingerprints_of_figure_9_are_those_listed(reach: int, expected: list[str]) -> None:
    found = fingerprints(G9, examples.vertices(G9, [3, 4, 6]), reach=reach)
    assert ["".join(map(str, row)) for row in found.tolist()] == expected


def test_an_open_world_leaves_more_candidates() -> None:
    hubs = examples.vertices(G9, [3, 4, 6])
    closed = hub_fingerprint(G9, G9, hubs=hubs, reach=1)
    opened = hub_fingerprint(G9, G9, hubs=hubs, reach=1, closed=False)
    assert closed.sizes.tolist() == [2, 2, 1, 1, 2, 1, 2, 2, 2]
    # (1,0,0) fits 1, 2, 4 and 6; (0,1,1) fits 3 alone.
    assert opened.sizes.tolist() == [4, 4, 1, 1, 4, 1, 4, 4, 4]
    assert opened.hit.all()


def test_the_hubs_are_the_vertices_of_most_neighbours_in_the_numbers_of_the_release() -> None:
    assert top_hubs(G9, 3).tolist() == examples.vertices(G9, [3, 4, 6]).tolist()
    made = relabel(G9, Seeded(8))
    found = hub_fingerprint(G9, made.graph, numbers=made.numbers)
    assert found.hit.all()
    assert found.sizes.tolist() == hub_fingerprint(G9, G9).sizes.tolist()


def plain_candidates(pattern_edges: list[tuple[int, int]], size: int, graph: Graph) -> list[int]:
    edges = {frozenset(pair) for pair in graph.edges.tolist()}
    return sorted(
        {
            image[0]
            for image in permutations(range(graph.order), size)
            if all(frozenset((image[a], image[b])) in edges for a, b in pattern_edges)
        }
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_subgraph_candidates_are_those_of_trying_every_embedding(count: int) -> None:
    release = RandomPerturbation(amount=2).apply(G9, rng=Seeded(5)).graph
    found = subgraph(G9, release, edges=count, rng=Seeded(9), targets=[0, 3, 8])
    rng = Seeded(9)
    for place, target in enumerate([0, 3, 8]):
        piece = known_piece(G9, target, count, rng)
        assert piece.needed.sum() == 2 * count
        pairs = [(int(a), int(b)) for a, b in np.argwhere(np.triu(piece.needed))]
        true = [(piece.vertices[a], piece.vertices[b]) for a, b in pairs]
        assert G9.has_edges(np.array(true)).all()
        plain = plain_candidates(pairs, len(piece.vertices), release)
        assert found.sizes[place] == len(plain)
        assert found.hit[place] == (target in plain)


def test_more_known_edges_leave_fewer_candidates() -> None:
    graph = power_law(150, 450, 2.5, Seeded(4))
    means = [
        subgraph(graph, graph, edges=count, rng=Seeded(1), targets=range(0, 150, 5)).sizes.mean()
        for count in (1, 6, 14)
    ]
    assert means[0] > means[1] > means[2]


def test_targets_are_drawn_where_a_graph_has_many() -> None:
    graph = power_law(300, 600, 2.5, Seeded(4))
    found = subgraph(graph, graph, edges=2, rng=Seeded(1))
    assert found.targets.size == 200
    assert found.hit.all()


def test_an_attack_is_told_in_plain_values_and_in_a_report() -> None:
    found = degree(DAN, DAN)
    told = json.dumps(found.as_dict())
    page = Document("t", "s", found.blocks()).html()
    for name in ("Amy", "Joe"):
        assert name not in told + page + repr(found) + str(found)
    assert "0 of 9 targets exposed" in page
    assert found.as_dict()["smallest"] == 2
    nobody = degree(Graph.of([]), Graph.of([]))
    assert isinstance(nobody, GraphAttack)
    assert (nobody.share_exposed, nobody.share_unique, nobody.chance, nobody.smallest) == (
        0,
        0,
        0,
        0,
    )


@pytest.mark.parametrize(
    ("code", "work"),
    [
        ("CEL-G401", lambda: degree(G9, G9, targets=[9])),
        ("CEL-G401", lambda: degree(G9, G9, targets=[0.5])),  # type: ignore[list-item]
        ("CEL-G402", lambda: degree(G9, G9, numbers=np.array([1, 2]))),
        ("CEL-G402", lambda: degree(G9, G9, numbers=np.full(9, 9))),
        ("CEL-I060", lambda: refinement(G9, G9, rounds=-1)),
        ("CEL-I060", lambda: subgraph(G9, G9, edges=0, rng=Seeded(1))),
        ("CEL-I060", lambda: subgraph(G9, G9, edges=21, rng=Seeded(1))),
        ("CEL-I060", lambda: hub_fingerprint(G9, G9, reach=0)),
        ("CEL-G406", lambda: hub_fingerprint(G9, G9, hubs=[])),
        ("CEL-G406", lambda: hub_fingerprint(G9, G9, hubs=[0], numbers=np.full(9, -1))),
    ],
    ids=["target", "fraction", "short", "range", "rounds", "none", "many", "reach", "hubs", "lost"],
)
def test_impossible_attacks_are_refused(code: str, work: object) -> None:
    with pytest.raises(InputError) as caught:
        work()  # type: ignore[operator]
    assert caught.value.code == code
