"""The methods k-degree and vertex-addition: what they promise, keep, tell and refuse."""

from collections import Counter
from typing import get_args

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import Cancelled, InputError, PrivacyError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.graphs.examples import dan, g9, g10, karate, vertices
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree import realisation
from celosia.graphs.kdegree.method import KDegree, Variant, confirm
from celosia.graphs.kdegree.realisation import construct_graph
from celosia.graphs.kdegree.sequence import microaggregated_degrees
from celosia.graphs.kdegree.vertex_addition import VertexAddition, even_degrees
from celosia.graphs.method import METHODS, GraphMethod
from celosia.graphs.readers import as_graph
from celosia.graphs.verification import degree_anonymity

VARIANTS: tuple[Variant, ...] = get_args(Variant)
WAYS: dict[str, GraphMethod[Graph]] = {
    **{variant: KDegree(k=3, variant=variant) for variant in VARIANTS},
    "vertex-addition": VertexAddition(k=3),
}


def rarest(graph: Graph) -> int:
    degrees = Counter(graph.edges.ravel().tolist())
    return min(Counter(degrees[v] for v in range(graph.order)).values())


def pairs(graph: Graph) -> set[tuple[int, int]]:
    return {(u, v) for u, v in graph.edges.tolist()}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_every_degree_comes_k_times_and_the_facts_are_true(name: str, seed: int) -> None:
    before = karate()
    edges = before.edges.copy()
    changed = WAYS[name].apply(before, rng=Seeded(seed))
    after, facts = changed.graph, changed.facts
    assert np.array_equal(before.edges, edges), "the given graph changed"
    assert rarest(after) == facts["k reached"] >= 3
    assert facts["edges added"] == len(pairs(after) - pairs(before))
    assert facts["edges deleted"] == len(pairs(before) - pairs(after))
    changes = facts["edges added"] + facts["edges deleted"]
    assert facts["gap"] == changes - facts["least edge changes possible"] >= 0
    assert changed.kept
    if name.startswith("liu-terzi") or name == "vertex-addition":
        assert pairs(before) <= pairs(after)
    if name.startswith("umga"):
        assert after.size == before.size
    if name != "vertex-addition":
        assert after.order == before.order
        assert after.labels is not None
        assert after.labels.to_list() == list(range(1, 35))


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 14), st.integers(0, 10**6), st.sampled_from(VARIANTS), st.data())
def test_a_promise_is_kept_on_any_graph(
    order: int, seed: int, variant: Variant, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, order * (order - 1) // 2))
    k = data.draw(st.integers(2, order))
    before = random_graph(order, size, Seeded(seed))
    # Each round of probing raises a degree, and all of at most 14 * 13 raises lead to the complete
    # graph, so that 500 rounds always find some graph.
    changed = KDegree(k=k, variant=variant).apply(before, rng=Seeded(seed))
    assert rarest(changed.graph) >= k
    if variant.startswith("liu-terzi"):
        assert pairs(before) <= pairs(changed.graph)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 16), st.integers(0, 10**6), st.data())
def test_fake_vertices_leave_the_real_ones_alone_on_any_graph(
    order: int, seed: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, order * (order - 1) // 2))
    k = data.draw(st.integers(2, order))
    before = random_graph(order, size, Seeded(seed))
    changed = VertexAddition(k=k).apply(before, rng=Seeded(seed))
    after = changed.graph
    assert rarest(after) >= k
    assert {pair for pair in pairs(after) if pair[1] < order} == pairs(before)
    assert changed.facts["fake vertices"] == after.order - order


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25).map(lambda n: 2 * n + 1), st.data())
def test_fakes_are_evened_out_without_a_double_edge(fakes: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(1, fakes - 1))
    ends = Counter(dict.fromkeys(range(low), -1))
    extra = even_degrees(list(range(low)), list(range(low, fakes)))
    for one, other in extra:
        ends[one] += 1
        ends[other] += 1
    assert len({ends[v] for v in range(fakes)}) == 1
    assert len({frozenset(pair) for pair in extra}) == len(extra)
    assert all(one != other for one, other in extra)


def test_figure_10c_is_one_fake_joined_with_4_and_5() -> None:
    changed = VertexAddition(k=2).apply(g10(), rng=Seeded(1))
    new = pairs(changed.graph) - pairs(g10())
    assert new == {(int(v), 9) for v in vertices(g10(), [4, 5])}
    assert changed.facts["fake vertices"] == 1
    assert changed.facts["k reached"] == 2
    assert changed.graph.labels is not None
    assert changed.graph.labels.to_list() == [*range(1, 10), None]


def test_fakes_have_no_attributes() -> None:
    known = Graph.of(g10().edges, order=9, attributes=pl.DataFrame({"age": range(9)}))
    after = VertexAddition(k=2).apply(known, rng=Seeded(1)).graph
    assert after.attributes is not None
    assert after.attributes["age"].to_list() == [*range(9), None]


def test_figure_10_without_probing_is_refused_and_with_it_is_reached() -> None:
    with pytest.raises(PrivacyError) as error:
        KDegree(k=2, variant="liu-terzi", probes=0).apply(g10(), rng=Seeded(1))
    assert error.value.code == "CEL-G102"
    changed = KDegree(k=2, variant="liu-terzi").apply(g10(), rng=Seeded(1))
    assert changed.facts["probes"] >= 1
    assert rarest(changed.graph) >= 2


@pytest.mark.parametrize("name", WAYS)
def test_a_graph_that_is_anonymous_already_stays_as_it_is(name: str) -> None:
    complete = Graph.of([(u, v) for u in range(6) for v in range(u)])
    for graph in (complete, ring(6), Graph.of([], order=6)):
        changed = WAYS[name].apply(graph, rng=Seeded(1))
        assert changed.graph.same_edges(graph)
        assert changed.facts["edges added"] == 0


@pytest.mark.parametrize("name", WAYS)
def test_k_above_the_number_of_vertices_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="2 vertices") as error:
        WAYS[name].apply(Graph.of([(0, 1)]), rng=Seeded(1))
    assert error.value.code == "CEL-G100"


@pytest.mark.parametrize("name", WAYS)
def test_disconnected_graphs_are_taken(name: str) -> None:
    parts = Graph.of([(0, 1), (2, 3), (3, 4), (5, 6), (6, 7), (6, 8)], order=12)
    assert rarest(WAYS[name].apply(parts, rng=Seeded(1)).graph) >= 3


@pytest.mark.parametrize("name", WAYS)
def test_the_method_tells_its_promise_and_what_it_leaves_open(name: str) -> None:
    method = WAYS[name]
    assert "k = 3" in (method.promise(karate()) or "")
    assert method.leaves_open()
    assert method.as_dict()["method"] == method.method_name
    assert type(method) is METHODS[method.method_name]


@pytest.mark.parametrize("name", WAYS)
def test_a_seed_repeats_the_change(name: str) -> None:
    one, same = (WAYS[name].apply(karate(), rng=Seeded(7)).graph for _ in range(2))
    assert one.same_edges(same)


@pytest.mark.parametrize(
    "parameters",
    [{"variant": "best"}, {"probes": -1}, {"probes": 1.5}, {"probes": None}],
    ids=str,
)
def test_other_parameters_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(InputError) as error:
        KDegree(k=2, **parameters)  # type: ignore[arg-type]
    assert error.value.code == "CEL-I060"


def test_the_check_after_the_method_refuses_a_graph_that_breaks_the_promise() -> None:
    with pytest.raises(PrivacyError) as error:
        confirm(g9(), 2)
    assert error.value.code == "CEL-G105"
    assert confirm(dan(), 2).order == 9


def test_work_can_be_stopped() -> None:
    def stop(step: Step) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        KDegree(k=3).apply(karate(), rng=Seeded(1), progress=stop)


@pytest.mark.parametrize("name", WAYS)
def test_hubs_of_a_larger_graph_are_hidden(name: str) -> None:
    before = power_law(3000, 12_000, 2.5, Seeded(4))
    assert rarest(before) == 1
    changed = WAYS[name].apply(before, rng=Seeded(5))
    assert rarest(changed.graph) >= 3
    if name.startswith("umga"):
        # Each rotation moves one end, and no more ends are moved than the targets ask for.
        assert changed.facts["edges deleted"] == changed.facts["edges added"]
        assert changed.facts["edges added"] <= 2 * changed.facts["least edge changes possible"]


def test_where_groups_of_k_have_an_odd_sum_somewhat_greater_ones_are_taken() -> None:
    refused = 0
    for seed in range(12):
        graph = power_law(60, 120, 2.5, Seeded(seed))
        for k in (2, 4, 8):
            try:
                microaggregated_degrees(graph.degrees, k)
            except PrivacyError:
                refused += 1
                assert rarest(KDegree(k=k).apply(graph, rng=Seeded(1)).graph) >= k
    assert refused > 0  # or nothing was tested


def nearly_regular() -> Graph:
    """Degrees of 10 and 11, but for one of 7 and three of 8: as the games of teams in leagues."""
    degrees = np.array([7] + [8] * 3 + [10] * 10 + [11] * 13)
    graph = construct_graph(degrees, rng=Seeded(3))
    assert graph is not None
    return graph


def test_groups_without_an_even_sum_do_not_stop_the_default_variant() -> None:
    graph = nearly_regular()
    for least in (2, 3, 4):
        with pytest.raises(PrivacyError) as error:
            microaggregated_degrees(graph.degrees, least)
        assert error.value.code == "CEL-G103"
    changed = KDegree(k=2).apply(graph, rng=Seeded(1))
    assert rarest(changed.graph) >= 2
    assert changed.facts["edges deleted"] == 0
    assert changed.facts["edges added"] <= 2
    assert changed.kept == "the vertices and every edge; edges are only added"


def league() -> Graph:
    """Degrees as in the network of American college football (Girvan, Newman 2002)."""
    counts = {7: 1, 8: 3, 9: 5, 10: 28, 11: 66, 12: 12}
    degrees = np.repeat(list(counts), list(counts.values()))
    graph = construct_graph(degrees, rng=Seeded(3))
    assert graph is not None
    assert (graph.order, graph.size) == (115, 613)
    return graph


@pytest.mark.parametrize("name", VARIANTS)
def test_no_variant_refuses_a_league_of_nearly_equal_degrees(name: Variant) -> None:
    graph = league()
    for k in range(2, 11):
        changed = KDegree(k=k, variant=name).apply(graph, rng=Seeded(k))
        assert rarest(changed.graph) >= k


@pytest.mark.parametrize("name", VARIANTS)
def test_no_variant_refuses_a_tiny_graph(name: Variant) -> None:
    for order in range(2, 7):
        full = [(u, v) for u in range(order) for v in range(u)]
        star = [(0, v) for v in range(1, order)]
        path = [(v - 1, v) for v in range(1, order)]
        missing = [pair for pair in full if pair != (1, 0)]
        for edges in (full, star, path, missing, path[:1]):
            graph = Graph.of(np.array(edges, dtype=np.int64).reshape(-1, 2), order=order)
            for k in range(2, order + 1):
                changed = KDegree(k=k, variant=name).apply(graph, rng=Seeded(1))
                assert rarest(changed.graph) >= k


def test_degrees_that_no_graph_has_do_not_stop_the_default_variant() -> None:
    path = Graph.of([(0, 1), (0, 2), (2, 3)], order=5)
    changed = KDegree(k=2).apply(path, rng=Seeded(1))
    assert rarest(changed.graph) >= 2


def test_a_refusal_names_the_k_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        return None

    monkeypatch.setattr(realisation, "try_supergraph", none)
    monkeypatch.setattr(realisation, "construct_graph", none)
    with pytest.raises(PrivacyError, match="k = 2 ") as error:
        KDegree(k=2, probes=1, variant="umga-random").apply(nearly_regular(), rng=Seeded(1))
    assert error.value.code == "CEL-G102"
    assert error.value.fix == (  # neither a k below 2, nor the variant that was chosen
        "Allow more rounds (probes), or choose another variant or method vertex-addition."
    )


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", ["karate", "hubs", "nearly regular"])
def test_the_default_changes_no_more_edges_than_any_single_algorithm(name: str, k: int) -> None:
    hubs = as_graph(nx.barabasi_albert_graph(60, 2, seed=1)).graph
    graph = {"karate": karate(), "hubs": hubs, "nearly regular": nearly_regular()}[name]
    costs = {}
    for variant in get_args(Variant):
        made = KDegree(k=k, variant=variant).apply(graph, rng=Seeded(k)).graph
        costs[variant] = np.setxor1d(graph.keys, made.keys).size
    assert costs["least-change"] == min(costs.values())


def test_nearly_regular_graphs_are_never_refused() -> None:
    for seed in range(12):  # as the network of football teams: degrees of 7 to 12 on 115 vertices
        graph = as_graph(nx.planted_partition_graph(12, 9, 0.9, 0.03, seed=seed)).graph
        made = KDegree(k=2).apply(graph, rng=Seeded(seed)).graph
        assert degree_anonymity(made) >= 2
