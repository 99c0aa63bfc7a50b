"""Random changes: what they keep, how much they change, and that a seed repeats them."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia import graphs as ways
from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.graphs.examples import g9, karate
from celosia.graphs.generators import power_law, random_graph, ring
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod
from celosia.graphs.perturbation.relevance import neighbourhood_centrality

METHODS: dict[str, GraphMethod[Graph]] = {
    "add-delete": ways.RandomAddDelete(amount=0.3),
    "switch": ways.RandomSwitch(amount=0.3),
    "perturbation": ways.RandomPerturbation(amount=0.3),
    "sparsification": ways.RandomSparsification(probability=0.3),
    "spectral-switch": ways.SpectralSwitch(amount=10),
    "spectral-add-delete": ways.SpectralAddDelete(amount=10),
    "relevance": ways.Relevance(amount=0.3),
    "relevance-lowest": ways.Relevance(amount=0.3, selection="lowest"),
}
SWITCHES = ("switch", "spectral-switch")


def simple(graph: Graph) -> bool:
    pairs = graph.edges.tolist()
    return all(u < v < graph.order for u, v in pairs) and pairs == sorted(
        map(list, set(map(tuple, pairs)))
    )


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_a_change_keeps_what_it_says(name: str, seed: int) -> None:
    before = karate()
    edges = before.edges.copy()
    changed = METHODS[name].apply(before, rng=Seeded(seed))
    after = changed.graph
    assert np.array_equal(before.edges, edges), "the given graph changed"
    assert simple(after)
    assert after.order == before.order
    assert after.labels is not None
    assert after.labels.to_list() == list(range(1, 35))
    if name != "sparsification":
        assert after.size == before.size
        assert "number of vertices and of edges" in changed.kept
    if name in SWITCHES:
        assert after.degrees.tolist() == before.degrees.tolist()
        assert "degree of every vertex" in changed.kept
    old, new = set(map(tuple, before.edges.tolist())), set(map(tuple, after.edges.tolist()))
    assert changed.facts["edges deleted"] == len(old - new)
    assert changed.facts["edges added"] == len(new - old)
    assert new != old


@pytest.mark.parametrize("name", METHODS)
def test_a_seed_repeats_a_change_and_another_does_not(name: str) -> None:
    one, same, other = (METHODS[name].apply(karate(), rng=Seeded(s)).graph for s in (7, 7, 8))
    assert one.same_edges(same)
    assert not one.same_edges(other)


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_promised_and_the_reader_is_told_what_stays_open(name: str) -> None:
    method = METHODS[name]
    assert method.promise(karate()) is None
    assert method.leaves_open()
    assert method.as_dict()["method"] == method.method_name
    assert method.randomised


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.data())
def test_perturbation_changes_exactly_the_amount_each_way(order: int, data: st.DataObject) -> None:
    pairs = order * (order - 1) // 2
    size = data.draw(st.integers(0, pairs))
    amount = data.draw(st.integers(0, min(size, pairs - size)))
    before = random_graph(order, size, Seeded(data.draw(st.integers(0, 99))))
    changed = ways.RandomPerturbation(amount=amount).apply(before, rng=Seeded(1))
    assert changed.facts["edges deleted"] == changed.facts["edges added"] == amount
    assert simple(changed.graph)


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 9), st.integers(0, 10**6), st.data())
def test_random_exchanges_keep_their_invariants_on_any_graph(
    order: int, seed: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, order * (order - 1) // 2 - 1))
    before = random_graph(order, size, Seeded(seed))
    moved = ways.RandomAddDelete(amount=20).apply(before, rng=Seeded(seed))
    assert moved.graph.size == size
    assert simple(moved.graph)
    assert moved.facts["done"] == 20
    if possible_switches(frozenset(map(tuple, before.edges.tolist()))):
        switched = ways.RandomSwitch(amount=20).apply(before, rng=Seeded(seed)).graph
        assert switched.degrees.tolist() == before.degrees.tolist()
        assert simple(switched)
    else:
        with pytest.raises(InputError, match=r"switch|exchanged"):
            ways.RandomSwitch(amount=20).apply(before, rng=Seeded(seed))


def possible_switches(edges: frozenset[tuple[int, int]]) -> Counter[frozenset[tuple[int, int]]]:
    """Every ordered pair of edges in both orientations, by brute force."""
    found: Counter[frozenset[tuple[int, int]]] = Counter()
    for one in edges:
        for other in edges:
            for k, p in (other, other[::-1]):
                i, j = one
                new, also = tuple(sorted((i, p))), tuple(sorted((k, j)))
                if len({i, j, k, p}) == 4 and new not in edges and also not in edges:
                    found[(edges - {one, other}) | {new, also}] += 1  # type: ignore[arg-type]
    return found


@pytest.mark.statistical
def test_one_switch_is_uniform_over_the_possible_ones() -> None:
    before = g9()
    edges = frozenset(map(tuple, before.edges.tolist()))
    weights = possible_switches(edges)
    total = sum(weights.values())
    runs, rng = 6000, Seeded(2026)
    method = ways.RandomSwitch(amount=1)
    seen = Counter(
        frozenset(map(tuple, method.apply(before, rng=rng).graph.edges.tolist()))
        for _ in range(runs)
    )
    assert set(seen) <= set(weights)
    square = sum(
        (seen[key] - runs * w / total) ** 2 / (runs * w / total) for key, w in weights.items()
    )
    free = len(weights) - 1  # chi-square: mean f, variance 2f; 7 standard deviations
    assert abs(square - free) < 7 * np.sqrt(2 * free)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "before", [ring(6), Graph.of([(0, 1), (2, 3)], order=6)], ids=["dense", "sparse"]
)
def test_one_move_takes_every_edge_and_every_free_pair_alike(before: Graph) -> None:
    edges = set(map(tuple, before.edges.tolist()))
    free = [(u, v) for u in range(6) for v in range(u + 1, 6) if (u, v) not in edges]
    runs, rng = 4000, Seeded(2026)
    seen: Counter[tuple[object, object]] = Counter()
    for _ in range(runs):
        after = ways.RandomAddDelete(amount=1).apply(before, rng=rng).graph
        now = set(map(tuple, after.edges.tolist()))
        seen[(edges - now).pop(), (now - edges).pop()] += 1
    cells = len(edges) * len(free)
    expected = runs / cells
    square = sum((seen[gone, come] - expected) ** 2 / expected for gone in edges for come in free)
    assert abs(square - (cells - 1)) < 7 * np.sqrt(2 * (cells - 1))


@pytest.mark.statistical
def test_sparsification_deletes_each_edge_with_its_chance() -> None:
    before = random_graph(2000, 40_000, Seeded(1))
    deleted = (
        ways.RandomSparsification(probability=0.25)
        .apply(before, rng=Seeded(2))
        .facts["edges deleted"]
    )
    spread = np.sqrt(40_000 * 0.25 * 0.75)
    assert abs(deleted - 10_000) < 6 * spread
    assert abs(deleted - 8_000) > 6 * spread  # 0.8 of the chance would be seen
    assert abs(deleted - 12_500) > 6 * spread


def test_sparsification_keeps_what_is_known_of_the_edges_that_stay() -> None:
    import polars as pl

    before = karate()
    known = pl.DataFrame({"key": before.keys})
    given_graph = Graph(order=before.order, edges=before.edges, edge_attributes=known)
    after = ways.RandomSparsification(probability=0.5).apply(given_graph, rng=Seeded(1)).graph
    assert after.edge_attributes is not None
    assert after.edge_attributes["key"].to_list() == after.keys.tolist()


def test_the_neighbourhood_centrality_of_figure_9_is_that_of_the_text() -> None:
    graph = g9()
    found = dict(
        zip(
            [(u + 1, v + 1) for u, v in graph.edges.tolist()],
            neighbourhood_centrality(graph, graph.edges).tolist(),
            strict=True,
        )
    )
    assert found.pop((1, 2)) == 0.375
    assert [found.pop(pair) for pair in ((2, 3), (7, 8))] == [0.5, 0.5]
    assert [found.pop(pair) for pair in ((1, 3), (1, 5), (6, 9))] == [0.625] * 3
    assert set(found.values()) == {0.75}
    assert len(found) == 6


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_neighbourhood_centrality_equals_sets_of_python(order: int, seed: int) -> None:
    graph = random_graph(order, order * (order - 1) // 4, Seeded(seed))
    pairs = np.array([(u, v) for u in range(order) for v in range(u + 1, order)])
    around = [set(graph.neighbours_of(v).tolist()) for v in range(order)]
    most = max(map(len, around))
    wanted = [len(around[u] ^ around[v]) / max(2 * most, 1) for u, v in pairs.tolist()]
    assert neighbourhood_centrality(graph, pairs).tolist() == pytest.approx(wanted)


def test_the_lowest_selection_deletes_the_least_central_edges() -> None:
    before = karate()
    central = neighbourhood_centrality(before, before.edges)
    after = ways.Relevance(amount=20, selection="lowest").apply(before, rng=Seeded(1)).graph
    gone = ~np.isin(before.keys, after.keys)
    assert gone.sum() == 20
    assert central[gone].max() <= central[~gone].min()


def test_relevance_prefers_edges_of_little_centrality() -> None:
    before = power_law(400, 2000, 2.5, Seeded(1))
    central = neighbourhood_centrality(before, before.edges)
    deleted = []
    for seed in range(20):
        after = ways.Relevance(amount=0.1).apply(before, rng=Seeded(seed)).graph
        deleted.append(central[~np.isin(before.keys, after.keys)].mean())
    # 200 of 2,000 edges by lot alone: the mean over 20 runs spreads by sd / sqrt(4,000).
    assert np.mean(deleted) < central.mean() - 6 * central.std() / np.sqrt(4000)


def refusals() -> list[tuple[str, GraphMethod[Graph], Graph, str]]:
    full = Graph.of([(u, v) for u in range(5) for v in range(u)], order=5)
    star = Graph.of([(0, v) for v in range(1, 6)])
    none = Graph.of([], order=4)
    return [
        ("complete, perturbation", ways.RandomPerturbation(amount=1), full, "CEL-G050"),
        ("complete, add-delete", ways.RandomAddDelete(amount=1), full, "CEL-G054"),
        ("complete, switch", ways.RandomSwitch(amount=1), full, "CEL-G054"),
        ("complete, spectral", ways.SpectralSwitch(amount=1), full, "CEL-G054"),
        ("complete, relevance", ways.Relevance(amount=1), full, "CEL-G050"),
        ("star, switch", ways.RandomSwitch(amount=1), star, "CEL-G054"),
        ("star, spectral", ways.SpectralSwitch(amount=1), star, "CEL-G054"),
        ("no edge, switch", ways.RandomSwitch(amount=1), none, "CEL-G054"),
        ("no edge, add-delete", ways.RandomAddDelete(amount=1), none, "CEL-G054"),
        ("too many", ways.RandomPerturbation(amount=7), star, "CEL-G056"),
        ("too many, relevance", ways.Relevance(amount=7), star, "CEL-G056"),
    ]


@pytest.mark.parametrize(
    ("name", "method", "graph", "code"), refusals(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_graph_that_does_not_allow_the_change_is_refused(
    name: str, method: GraphMethod[Graph], graph: Graph, code: str
) -> None:
    with pytest.raises(InputError) as error:
        method.apply(graph, rng=Seeded(1))
    assert error.value.code == code


@pytest.mark.parametrize("amount", [-1, -0.1, 1.5, float("nan"), True, "3", None], ids=str)
def test_an_amount_is_a_number_or_a_share(amount: object) -> None:
    with pytest.raises(InputError, match="amount") as error:
        ways.RandomSwitch(amount=amount)  # type: ignore[arg-type]
    assert error.value.code == "CEL-I060"


def test_other_parameters_are_checked_on_creation() -> None:
    for make in (
        lambda: ways.RandomSparsification(probability=1.1),
        lambda: ways.RandomSparsification(probability=1e-30),  # finer than a draw can be
        lambda: ways.SpectralSwitch(amount=1, every=0),
        lambda: ways.SpectralAddDelete(amount=1, patience=0),
        lambda: ways.Relevance(amount=1, selection="best"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError) as error:
            make()
        assert error.value.code == "CEL-I060"


@pytest.mark.parametrize("name", METHODS)
def test_an_amount_of_nothing_changes_nothing(name: str) -> None:
    method = METHODS[name]
    field = "probability" if name == "sparsification" else "amount"
    nothing = type(method)(**{field: 0})
    assert nothing.apply(karate(), rng=Seeded(1)).graph.same_edges(karate())


def test_switches_that_run_out_of_tries_are_told_in_the_facts() -> None:
    # Two edges on five vertices: every switch is possible, so all are done; a near-star has few.
    path = Graph.of([(0, 1), (0, 2), (0, 3), (3, 4)])
    facts = ways.RandomSwitch(amount=50).apply(path, rng=Seeded(1)).facts
    assert facts["asked for"] == 50
    assert 0 < facts["done"] <= 50
    assert facts["tries"] <= 5000


def test_progress_is_told_and_can_stop_the_work() -> None:
    steps: list[Step] = []
    ways.RandomSwitch(amount=100).apply(karate(), rng=Seeded(1), progress=steps.append)
    assert steps
    assert steps[0].total == 100


def test_large_graphs_take_the_same_ways_as_networkx_expects() -> None:
    before = power_law(3000, 15_000, 2.5, Seeded(4))
    after = ways.RandomSwitch(amount=10_000).apply(before, rng=Seeded(5)).graph
    oracle = nx.Graph(after.edges.tolist())
    assert oracle.number_of_edges() == before.size
    assert [oracle.degree(v) if v in oracle else 0 for v in range(3000)] == before.degrees.tolist()
