"""What a release is measured by: attacks before and after, use, and which of it may be told."""

from __future__ import annotations

import numpy as np
import pytest
from tests.graphs.test_run import network

from celosia import Seeded
from celosia.core.progress import silent
from celosia.graphs import (
    Graph,
    KDegree,
    RandomSwitch,
    UncertainGraph,
    VertexAddition,
    generators,
    publish,
)
from celosia.graphs import release as releases
from celosia.graphs.relabelling import relabel


def test_a_graph_compared_with_itself_loses_nothing_and_exposes_as_many() -> None:
    graph = network()
    found = releases.account(graph, graph, numbers=None, rng=Seeded(1), progress=silent)
    assert found.utility is not None
    assert found.utility.edge_intersection == 1
    assert not found.world
    names = [each.name for each in found.attacks]
    assert names == ["degree", "refinement H2", "neighbourhood"]
    assert [each.name for each in found.before] == names
    counts = np.unique(graph.degrees, return_counts=True)[1]
    assert found.attacks[0].exposed.size == int((counts == 1).sum())
    assert found.attacks[0].smallest == counts.min()


def test_random_numbers_change_nothing_of_the_account() -> None:
    graph = network()
    changed = RandomSwitch(amount=30).apply(graph, rng=Seeded(2)).graph
    moved = relabel(changed, Seeded(3))
    one = releases.account(graph, changed, numbers=None, rng=Seeded(1), progress=silent)
    other = releases.account(
        graph, moved.graph, numbers=moved.numbers, rng=Seeded(1), progress=silent
    )
    assert one.figures() == other.figures()
    assert one.drawn is not None
    assert other.drawn is not None
    assert other.drawn[1].same_edges(one.drawn[1])


def test_figures_hold_shares_and_no_vertex() -> None:
    graph = network()
    found = releases.account(graph, graph, numbers=None, rng=Seeded(1), progress=silent).figures()
    assert set(found) == {"degree", "refinement H2", "neighbourhood", "utility", "edges"}
    assert found["edges"] == {"kept": graph.size, "removed": 0, "added": 0}
    for name in ("degree", "refinement H2", "neighbourhood"):
        assert set(found[name]) == {"smallest", "share_exposed", "chance"}
    assert all(isinstance(value, float) for value in found["utility"].values())
    assert releases.GraphAccount().figures() == {}


def test_of_an_uncertain_graph_one_world_is_measured() -> None:
    graph = Graph.of(network().edges, order=60)
    certain = UncertainGraph.certain(graph)
    found = releases.account(graph, certain, numbers=None, rng=Seeded(1), progress=silent)
    assert found.world
    assert found.utility is not None
    assert found.utility.edge_intersection == 1  # all chances are 1: there is one world


def test_a_large_graph_is_neither_drawn_nor_compared_by_neighbourhoods(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = generators.ring(501)
    found = releases.account(graph, graph, numbers=None, rng=Seeded(1), progress=silent)
    assert found.drawn is None
    assert len(found.attacks) == 3
    monkeypatch.setattr(releases, "MOST_NEIGHBOURHOODS", 500)
    fewer = releases.account(graph, graph, numbers=None, rng=Seeded(1), progress=silent)
    assert [each.name for each in fewer.attacks] == ["degree", "refinement H2"]
    monkeypatch.setattr(releases, "MOST_COMPARED", 500)
    attacked = releases.account(graph, graph, numbers=None, rng=Seeded(1), progress=silent)
    assert attacked.utility is None
    assert "utility" not in attacked.figures()


@pytest.mark.parametrize("method", [KDegree(k=5, variant="liu-terzi"), VertexAddition(k=5)])
def test_a_method_that_only_adds_keeps_every_edge(method: KDegree | VertexAddition) -> None:
    graph = network()
    release = publish(graph, method, rng=Seeded(1))
    utility = release.account.utility
    assert utility is not None
    added = release.methods[0].facts["edges added"]
    assert added > 0
    assert utility.as_dict()["edges"] == {"kept": graph.size, "removed": 0, "added": added}
    told = f"100.0% of the edges kept ({graph.size} of {graph.size}), 0 removed, {added} added"
    assert str(utility).startswith(told)
    page = release.document().html()
    assert f"0 removed, {added} added" in page
