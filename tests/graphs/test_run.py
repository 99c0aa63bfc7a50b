"""A published graph: its promise, its hidden names, and what of it may be told."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

from celosia import Seeded
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.progress import Step
from celosia.graphs import (
    GeneralisedGraph,
    Graph,
    KAutomorphism,
    KDegree,
    KObfuscation,
    PrivateGraph,
    RandomSwitch,
    Relabelling,
    SaNGreeA,
    UncertainGraph,
    VertexAddition,
    examples,
    generators,
    publish,
    to_networkx,
)
from celosia.tables import Schema
from celosia.tables.masking import Microaggregation, Recipe, Sampling

MARK = "planted-7391"
SCHEMA = Schema.of(quasi_identifiers=["age"], identifiers=["street"], other_columns="insensitive")


def network(order: int = 60, size: int = 150, seed: int = 1) -> Graph:
    """Named people with attributes, one of whom knows nobody."""
    made = generators.power_law(order - 1, size, 2.5, Seeded(seed))
    return Graph.of(
        made.edges,
        order=order,
        labels=pl.Series("name", [f"{MARK}-{number}" for number in range(order)]),
        attributes=pl.DataFrame(
            {
                "age": [20 + number % 50 for number in range(order)],
                "street": [f"{MARK} street {number}" for number in range(order)],
                "city": ["here" if number % 2 else "there" for number in range(order)],
            }
        ),
    )


def test_the_published_graph_keeps_the_promise_of_its_method() -> None:
    release = publish(network(), KDegree(k=6), rng=Seeded(1))
    assert release.guarantee.promise.startswith("k-degree anonymity, k = 6")
    assert isinstance(release.data, Graph)
    counts = np.unique(release.data.degrees, return_counts=True)[1]
    assert counts.min() >= 6
    assert release.guarantee.simulation


def test_names_and_attributes_are_not_published_unless_asked_for() -> None:
    release = publish(network(), KDegree(k=3), rng=Seeded(1))
    assert isinstance(release.data, Graph)
    assert release.data.labels is None
    assert release.data.attributes is None
    assert release.data.edge_attributes is None
    told = json.dumps(release.certificate()) + str(release) + repr(release)
    assert MARK not in told + release.document().html()


def test_numbers_are_a_random_permutation_and_the_key_undoes_it() -> None:
    graph = network()
    release = publish(graph, Relabelling(), rng=Seeded(1))
    assert release.key is not None
    assert sorted(release.key.tolist()) == list(range(graph.order))
    assert not np.array_equal(release.key, np.arange(graph.order))
    assert isinstance(release.data, Graph)
    mapping = dict(enumerate(release.key.tolist()))
    moved = nx.relabel_nodes(to_networkx(graph.without_names()), mapping)
    assert {frozenset(edge) for edge in moved.edges} == {
        frozenset(edge) for edge in release.data.edges.tolist()
    }
    keys = release.data.keys
    assert (np.diff(keys) > 0).all()  # sorted by the new numbers: nothing of the old order


def test_with_the_entropy_of_the_system_numbers_differ_each_time() -> None:
    graph = network()
    # By chance both are the same once in 60! cases.
    first, second = (publish(graph, Relabelling(), assess=False) for _ in range(2))
    assert first.key is not None
    assert second.key is not None
    assert not np.array_equal(first.key, second.key)
    assert not first.guarantee.simulation


def test_hiding_names_alone_is_told_to_expose_as_many_as_before() -> None:
    release = publish(network(), Relabelling(), rng=Seeded(1))
    assert release.guarantee.promise == "no formal guarantee"
    for before, after in zip(release.account.before, release.account.attacks, strict=True):
        assert after.exposed.tolist() == before.exposed.tolist()
    assert release.account.before[1].exposed.size > 0
    assert release.account.utility is not None
    assert release.account.utility.edge_intersection == 1.0


def test_only_the_last_promise_is_claimed() -> None:
    release = publish(
        network(), [KDegree(k=3), RandomSwitch(amount=10)], rng=Seeded(1), assess=False
    )
    assert release.guarantee.promise == "no formal guarantee"
    assert any("k-degree guarantees is not claimed" in gap for gap in release.guarantee.leaves_open)
    assert [each.method for each in release.methods] == ["k-degree", "random-switch"]
    other = publish(network(), [RandomSwitch(amount=10), KDegree(k=3)], rng=Seeded(1), assess=False)
    assert other.guarantee.promise.startswith("k-degree anonymity, k = 3")


def test_a_recipe_masks_the_attributes_and_drops_identifiers() -> None:
    graph = network()
    recipe = Recipe.of(SCHEMA, [(Microaggregation(k=10), ["age"])])
    release = publish(graph, KDegree(k=3), attributes=recipe, rng=Seeded(1))
    assert isinstance(release.data, Graph)
    known = release.data.attributes
    assert known is not None
    assert known.columns == ["age", "city"]
    assert known["age"].value_counts()["count"].min() >= 10  # type: ignore[operator]
    # Attributes go with their vertex: the city of an old number is that of its new one.
    assert graph.attributes is not None
    assert release.key is not None
    assert known["city"].gather(release.key).to_list() == graph.attributes["city"].to_list()
    assert any("vertex attributes" in gap for gap in release.guarantee.leaves_open)
    assert MARK not in json.dumps(release.certificate())


def test_a_recipe_that_moves_rows_or_finds_none_is_refused() -> None:
    wrong = Recipe.of(SCHEMA, [(Sampling(fraction=0.5), ["age"])])
    with pytest.raises(InputError, match="attributes of the vertices") as error:
        publish(network(), KDegree(k=3), attributes=wrong)
    assert error.value.code == "CEL-G022"
    right = Recipe.of(SCHEMA, [(Microaggregation(k=10), ["age"])])
    with pytest.raises(InputError) as error:
        publish(examples.g9(), KDegree(k=3), attributes=right)
    assert error.value.code == "CEL-G022"


def test_kept_names_are_warned_of_and_go_with_their_vertices() -> None:
    graph = network()
    with pytest.warns(PrivacyWarning, match="keep their names"):
        release = publish(graph, RandomSwitch(amount=5), keep_names=True, rng=Seeded(1))
    assert release.key is None
    assert isinstance(release.data, Graph)
    assert release.data.labels is not None
    assert release.data.labels.to_list() == graph.labels.to_list()  # type: ignore[union-attr]
    assert np.array_equal(release.data.degrees, graph.degrees)
    bare = examples.g9().without_names()
    with pytest.warns(PrivacyWarning, match="keep their numbers"):
        publish(bare, RandomSwitch(amount=1), keep_names=True, rng=Seeded(1))


@pytest.mark.parametrize(
    "method", [VertexAddition(k=3), KAutomorphism(k=2)], ids=lambda m: m.method_name
)
def test_vertices_that_a_method_makes_up_are_hidden_among_the_others(method: Any) -> None:
    graph = Graph.of(examples.g9().edges, order=9)
    release = publish(graph, method, rng=Seeded(3))
    assert isinstance(release.data, Graph)
    assert release.data.order > graph.order
    assert release.key is not None
    assert len(set(release.key.tolist())) == graph.order
    assert release.key.max() < release.data.order
    assert len(release.account.attacks[0].targets) == graph.order


def test_neither_names_nor_attributes_may_tell_which_vertices_are_made_up() -> None:
    graph, method = network(61), VertexAddition(k=7)
    recipe = Recipe.of(SCHEMA, [(Microaggregation(k=10), ["age"])])
    with pytest.raises(InputError, match="were added by a method") as error:
        publish(graph, method, attributes=recipe, rng=Seeded(1))
    assert error.value.code == "CEL-G023"
    for named in (graph, graph.without_names()):
        with pytest.raises(InputError, match="were added by a method"):
            publish(named, method, keep_names=True, rng=Seeded(1))


def test_vertices_of_a_private_graph_have_nobody_s_attributes() -> None:
    recipe = Recipe.of(SCHEMA, [(Microaggregation(k=10), ["age"])])
    with pytest.raises(InputError, match="not those of the graph") as error:
        publish(network(), PrivateGraph(epsilon=1.0), attributes=recipe, rng=Seeded(1))
    assert error.value.code == "CEL-G022"


def test_nothing_exact_stands_beside_a_private_release() -> None:
    release = publish(network(), PrivateGraph(epsilon=1.0), rng=Seeded(1))
    assert release.figures == {}
    assert release.account.utility is not None  # for the curator alone
    assert release.account.attacks == ()  # no vertex of the release is anybody
    assert release.key is None
    assert release.guarantee.unit == "edge"
    assert "1-differential privacy" in release.guarantee.promise
    facts = release.methods[0].facts
    assert facts["edges after"] == release.data.size
    assert not any("before" in name for name in facts)


def test_a_private_method_must_come_first() -> None:
    with pytest.raises(InputError, match="cannot follow k-degree") as error:
        publish(network(), [KDegree(k=3), PrivateGraph(epsilon=1.0)])
    assert error.value.code == "CEL-G023"
    after = publish(
        network(), [PrivateGraph(epsilon=1.0), KDegree(k=3)], rng=Seeded(1), assess=False
    )
    assert after.figures == {}
    assert after.guarantee.promise.endswith("k = 3: every degree is shared by at least 3 vertices")


def test_what_cannot_be_done_is_refused_before_any_work() -> None:
    def never(step: Step) -> None:
        raise AssertionError(step)

    graph = network()
    for methods in ([], [Relabelling()]):
        with pytest.raises(InputError) as error:
            publish(graph, methods, keep_names=True, progress=never)
        assert error.value.code in {"CEL-G021", "CEL-G023"}
    with pytest.raises(InputError, match="not a plain graph") as error:
        publish(graph, [KObfuscation(k=2, tolerance=0.3), KDegree(k=2)], rng=Seeded(1))
    assert error.value.code == "CEL-G021"


def test_other_sorts_of_graphs_are_published_too() -> None:
    uncertain = publish(network(), KObfuscation(k=2, tolerance=0.3), rng=Seeded(1))
    assert isinstance(uncertain.data, UncertainGraph)
    assert uncertain.data.labels is None
    assert uncertain.account.world
    assert uncertain.key is not None
    groups = publish(network(), SaNGreeA(k=4), rng=Seeded(1))
    assert isinstance(groups.data, GeneralisedGraph)
    assert groups.key is None
    assert groups.data.sizes.min() >= 4
    # Nobody knows which vertex is which, so nothing is said of vertices or edges in common.
    assert set(groups.figures["utility"]) == {"degree_total_variation", "degree_earth_mover"}
    assert "cannot be matched" in groups.document().html()


def test_graphs_of_other_libraries_are_taken() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        club = nx.Graph(nx.karate_club_graph().edges())  # without its weights
        release = publish(club, KDegree(k=4), rng=Seeded(1), assess=False)
    assert isinstance(release.data, Graph)
    assert release.data.order == 34


@pytest.mark.parametrize(
    "method", [KDegree(k=3), RandomSwitch(amount=9)], ids=lambda m: m.method_name
)
def test_a_seed_repeats_the_file_and_the_original_stays(method: Any, tmp_path: Path) -> None:
    graph = network()
    edges = graph.edges.copy()
    for name in ("a.edges", "b.edges"):
        publish(graph, method, rng=Seeded(5), assess=False).save(tmp_path / name)
    assert (tmp_path / "a.edges").read_bytes() == (tmp_path / "b.edges").read_bytes()
    assert np.array_equal(graph.edges, edges)
    publish(graph, method, rng=Seeded(6), assess=False).save(tmp_path / "c.edges")
    assert (tmp_path / "a.edges").read_bytes() != (tmp_path / "c.edges").read_bytes()


def test_what_only_sees_a_private_graph_does_not_undo_its_promise() -> None:
    release = publish(network(), [PrivateGraph(epsilon=1), KDegree(k=3)], rng=Seeded(2))
    assert "1-differential privacy" in release.guarantee.promise
    assert "k-degree anonymity, k = 3" in release.guarantee.promise
    assert release.guarantee.neighbours is not None
    assert release.figures == {}
