"""Edges guessed from a perturbed release (check 36), and two releases matched."""

import json

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.core.report import Document
from celosia.graphs.attacks import (
    link_posterior,
    link_prediction,
    propagation,
    simulated_posterior,
    top_hubs,
)
from celosia.graphs.attacks._kernels import link_scores
from celosia.graphs.attacks.links import ranking_chance
from celosia.graphs.examples import g9, karate
from celosia.graphs.generators import power_law, ring
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.vertex_addition import VertexAddition
from celosia.graphs.perturbation.deletion import RandomPerturbation, RandomSparsification
from celosia.graphs.relabelling import relabel


def test_the_posterior_of_figure_9_is_that_of_the_text_and_of_a_simulation() -> None:
    formula = link_posterior(order=9, size=12, changed=2)
    assert formula.of_edge == pytest.approx(0.8333, abs=1e-4)
    assert formula.of_non_edge == pytest.approx(0.0833, abs=1e-4)
    counted = simulated_posterior(g9(), RandomPerturbation(amount=2), rng=Seeded(1), runs=50)
    assert counted.of_edge == pytest.approx(formula.of_edge)
    assert counted.of_non_edge == pytest.approx(formula.of_non_edge)


@pytest.mark.statistical
def test_one_published_pair_drawn_at_random_is_true_as_often_as_the_formula_says() -> None:
    rng, runs = Seeded(2), 2500
    graph, method = g9(), RandomPerturbation(amount=2)
    true = 0
    for _ in range(runs):
        changed = method.apply(graph, rng=rng).graph
        pair = changed.edges[rng.integers(changed.size, 1)]
        true += bool(graph.has_edges(pair)[0])
    # Four standard errors of a coin of 10 / 12: 0.03, so 0.8 and 0.87 would be rejected.
    assert true / runs == pytest.approx(10 / 12, abs=0.03)


@pytest.mark.parametrize(
    ("order", "size", "changed"), [(9, 12, 13), (4, 6, 1), (9, 12, -1), (9, 40, 1), (9, 1.5, 1)]
)
def test_a_change_that_cannot_be_has_no_posterior(order: int, size: int, changed: int) -> None:
    with pytest.raises(InputError) as caught:
        link_posterior(order=order, size=size, changed=changed)
    assert caught.value.code == "CEL-G409"


def test_scores_are_those_of_networkx_without_the_edge_itself() -> None:
    graph = karate()
    pairs = np.array([(u, v) for u in range(34) for v in range(u)], dtype=np.int64)
    found = link_scores(graph.starts, graph.neighbours, pairs, 0.05)
    whole = nx.Graph(graph.edges.tolist())
    for place, (one, other) in enumerate(pairs.tolist()):
        without = whole.copy()
        if without.has_edge(one, other):
            without.remove_edge(one, other)
        shared = list(nx.common_neighbors(without, one, other))
        assert found[place, 0] == len(shared)
        adamic = sum(1 / np.log(whole.degree(each)) for each in shared)
        assert found[place, 1] == pytest.approx(adamic)
        walks = sum(
            far != one and without.has_edge(far, other)
            for middle in without[one]
            for far in without[middle]
            if middle != other
        )
        assert found[place, 2] == pytest.approx(len(shared) + 0.05 * walks)


def test_the_chance_to_rank_is_the_area_of_scikit_learn() -> None:
    high = np.array([3.0, 1.0, 2.0, 2.0])
    low = np.array([0.0, 2.0, 1.0])
    expected = roc_auc_score([1] * 4 + [0] * 3, np.concatenate([high, low]))
    assert ranking_chance(high, low).value == pytest.approx(expected)
    assert ranking_chance(high + 10, low).value == 1.0


def test_clustered_graphs_betray_deleted_and_false_edges() -> None:
    graph = ring(400, reach=5)
    made = RandomPerturbation(amount=0.1).apply(graph, rng=Seeded(1)).graph
    found = link_prediction(graph, made, rng=Seeded(2))
    assert (found.edges_deleted, found.edges_added) == (200, 200)
    assert found.deleted["common neighbours"].value > 0.95
    assert found.false["common neighbours"].value > 0.95
    assert found.best > 0.95
    assert found.posterior.of_edge == pytest.approx(0.9)
    json.dumps(found.as_dict(), allow_nan=False)
    assert "Adamic-Adar" in Document("t", "s", found.blocks()).html()
    hidden = relabel(made, Seeded(3))
    again = link_prediction(graph, hidden.graph, rng=Seeded(2), numbers=hidden.numbers)
    assert again.deleted["Adamic-Adar"].value > 0.95


def test_a_score_that_ranks_the_wrong_way_round_tells_as_much() -> None:
    """New vertices of low degree are joined with hubs: their edges score higher than true ones."""
    graph = power_law(500, 2000, 2.5, Seeded(3))
    made = VertexAddition(k=5).apply(graph, rng=Seeded(1)).graph
    found = link_prediction(graph, made, rng=Seeded(2))
    chances = [each.value for each in (*found.deleted.values(), *found.false.values())]
    assert max(chances) < 0.5
    assert found.best == 1 - min(chances) > 0.9


def test_where_nothing_was_added_nothing_is_told_apart() -> None:
    graph = power_law(200, 800, 2.5, Seeded(1))
    made = RandomSparsification(probability=0.2).apply(graph, rng=Seeded(1)).graph
    found = link_prediction(graph, made, rng=Seeded(2))
    assert found.false == {}
    assert found.posterior.of_edge == 1.0
    assert "none added" in Document("t", "s", found.blocks()).html()
    same = link_prediction(graph, graph, rng=Seeded(2))
    assert (same.best, same.deleted) == (0.5, {})


NETWORK = power_law(800, 8000, 2.5, Seeded(1))


def test_matches_spread_over_two_naive_releases() -> None:
    made = relabel(NETWORK, Seeded(4))
    found = propagation(
        NETWORK, made.graph, seeds=top_hubs(NETWORK, 15), rng=Seeded(1), numbers=made.numbers
    )
    assert found.correct + found.wrong + found.unmatched == 800 - 15
    assert found.share_correct > 0.9
    assert found.precision > 0.95
    right = found.matched[found.exposed] == made.numbers[found.exposed]
    assert right.all()
    json.dumps(found.as_dict())
    assert "correct" in Document("t", "s", found.blocks()).html()


def test_strong_perturbation_stops_the_spread() -> None:
    changed = RandomPerturbation(amount=0.9).apply(NETWORK, rng=Seeded(2)).graph
    made = relabel(changed, Seeded(4))
    seeds = top_hubs(NETWORK, 15)
    found = propagation(NETWORK, made.graph, seeds=seeds, rng=Seeded(1), numbers=made.numbers)
    assert found.share_correct < 0.2


def test_no_vertex_is_matched_twice_and_a_high_threshold_matches_nobody() -> None:
    changed = RandomPerturbation(amount=0.3).apply(NETWORK, rng=Seeded(2)).graph
    found = propagation(NETWORK, changed, seeds=range(20), rng=Seeded(1))
    made = found.matched[found.matched >= 0]
    assert np.unique(made).size == made.size
    none = propagation(NETWORK, changed, seeds=range(20), rng=Seeded(1), threshold=1e9)
    assert (none.correct, none.wrong, none.precision) == (0, 0, 0.0)


def test_vertices_that_are_not_in_both_graphs_are_not_judged() -> None:
    numbers = np.arange(800)
    numbers[700:] = -1
    part = Graph.of(NETWORK.edges[(NETWORK.edges < 700).all(axis=1)], order=700)
    found = propagation(NETWORK, part, seeds=range(20), rng=Seeded(1), numbers=numbers)
    assert found.correct + found.wrong + found.unmatched == 680


@pytest.mark.parametrize("seeds", [[], [700]])
def test_seeds_must_be_in_both_graphs(seeds: list[int]) -> None:
    numbers = np.where(np.arange(800) < 700, np.arange(800), -1)
    with pytest.raises(InputError) as caught:
        propagation(NETWORK, NETWORK, seeds=seeds, rng=Seeded(1), numbers=numbers)
    assert caught.value.code == "CEL-G410"
