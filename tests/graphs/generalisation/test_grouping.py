"""SaNGreeA and the partition search: exact on small graphs, and never a group below k."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import lgamma
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.graphs.examples import g9, karate
from celosia.graphs.generalisation._kernels import carry, cost_of, list_members, shift, tally
from celosia.graphs.generalisation.attributes import code_attributes
from celosia.graphs.generalisation.clustering import SaNGreeA, greedy_blocks
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.partition import (
    blocks,
    count_worlds,
    log2_worlds,
    members,
    structural_loss,
    summarise,
)
from celosia.graphs.generalisation.partition_search import PartitionSearch, anneal_partition
from celosia.graphs.generalisation.verification import agrees, violations
from celosia.graphs.generators import power_law, ring
from celosia.graphs.graph import Graph
from celosia.graphs.method import METHODS, GraphMethod
from celosia.tables import Schema, Tree

CITIES = Tree({"Italy": ["Rome", "Pisa"], "France": ["Paris", "Lyon"]})
SCHEMA = Schema.of(
    quasi_identifiers={"age": None, "city": CITIES}, identifiers="name", sensitive="illness"
)


def with_people(graph: Graph, seed: int = 1) -> Graph:
    rng = np.random.default_rng(seed)
    count = graph.order
    return replace(
        graph,
        attributes=pl.DataFrame(
            {
                "name": [f"person {number}" for number in range(count)],
                "age": rng.integers(-60, -20, count),
                "city": rng.choice(["Rome", "Pisa", "Paris", "Lyon"], count),
                "illness": ["flu"] * count,
            }
        ),
    )


def set_partitions(items: list[int], least: int) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(least - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [item for item in rest if item not in others]
            for more in set_partitions(left, least):
                yield [[first, *others], *more]


def plain_clusters(graph: Graph, k: int, alpha: float = 0.0) -> list[list[int]]:
    """SaNGreeA as it is written down, with a full matrix and no shortcut."""
    order = graph.order
    linked = np.zeros((order, order), dtype=int)
    for u, v in graph.edges.tolist():
        linked[u, v] = linked[v, u] = 1
    ages = graph.attributes["age"].to_list() if alpha and graph.attributes is not None else []
    cities = graph.attributes["city"].to_list() if alpha and graph.attributes is not None else []
    country = {"Rome": 0, "Pisa": 0, "Paris": 1, "Lyon": 1}

    def apart(i: int, j: int) -> float:
        others = [v for v in range(order) if v not in (i, j)]
        return float(sum(linked[i, v] != linked[j, v] for v in others)) / max(order - 2, 1)

    def widened(group: list[int]) -> float:
        if not alpha:
            return 0.0
        own = [ages[v] for v in group]
        span = (max(own) - min(own)) / ((max(ages) - min(ages)) or 1)
        names = {cities[v] for v in group}
        height = 0 if len(names) == 1 else 1 if len({country[c] for c in names}) == 1 else 2
        return float(span + height / 2) / 2

    def cost(v: int, group: list[int]) -> float:
        mean = sum(apart(v, j) for j in group) / len(group)
        return round(alpha * widened([*group, v]) + (1 - alpha) * mean, 11)

    left = list(range(order))
    found: list[list[int]] = []
    while left:
        seed = max(left, key=lambda v: (linked[v].sum(), -v))
        group = [seed]
        left.remove(seed)
        while len(group) < k and left:
            best = min(left, key=lambda v: (cost(v, group), v))
            group.append(best)
            left.remove(best)
        if len(group) >= k:
            found.append(group)
        else:
            for v in sorted(group):
                min(found, key=lambda other: cost(v, other)).append(v)
    return found


@pytest.mark.parametrize(
    ("k", "groups", "worlds", "loss"),
    [
        (2, [[3, 2], [4, 8, 9], [6, 7], [1, 5]], 5184, 0.4722),
        (3, [[3, 2, 1], [4, 8, 9], [6, 7, 5]], 27_216, 0.4938),
        (4, [[3, 2, 1, 5], [4, 8, 9, 7, 6]], 4_309_200, 0.7093),
    ],
)
def test_sangreea_groups_g9_as_the_text_says(
    k: int, groups: list[list[int]], worlds: int, loss: float
) -> None:
    found = [[v + 1 for v in group] for group in members(greedy_blocks(g9(), k))]
    assert found == [sorted(group) for group in groups]
    made = SaNGreeA(k=k).apply(g9(), rng=Seeded(1)).graph
    assert count_worlds(made) == worlds
    assert structural_loss(made).normalised == pytest.approx(loss, abs=1e-4)


def test_figure_12_by_sangreea_has_the_edges_of_the_text() -> None:
    made = SaNGreeA(k=3).apply(g9(), rng=Seeded(1)).graph
    assert sorted(made.internal.tolist()) == [0, 0, 3]
    assert sorted(made.between.tolist()) == [1, 2, 6]


def test_the_least_number_of_worlds_is_that_of_all_491_partitions() -> None:
    graph = g9()
    every = [*set_partitions([*range(9)], 3)]
    assert len(every) == 491
    least = min(count_worlds(summarise(graph, blocks(groups))) for groups in every)
    assert least == 27_216
    start = np.zeros(9, dtype=np.int64)
    for seed in range(5):
        found = anneal_partition(graph, start, k=3, steps=5000, rng=Seeded(seed))
        assert count_worlds(summarise(graph, found)) == least


@pytest.mark.parametrize("k", [2, 4])
def test_the_search_finds_the_best_partition_of_small_graphs(k: int) -> None:
    graph = Graph.of([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (0, 6), (1, 5), (2, 7)])
    every = set_partitions([*range(8)], k)
    least = min(count_worlds(summarise(graph, blocks(groups))) for groups in every)
    made = PartitionSearch(k=k).apply(graph, rng=Seeded(3)).graph
    assert count_worlds(made) == least


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_sangreea_is_the_plain_algorithm(data: st.DataObject) -> None:
    order = data.draw(st.integers(2, 10))
    edges = data.draw(st.lists(st.sampled_from([*combinations(range(order), 2)])))
    graph = with_people(Graph.of(edges, order=order), data.draw(st.integers(0, 99)))
    k = data.draw(st.integers(2, order))
    alpha = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    attributes = code_attributes(graph, SCHEMA)
    found = greedy_blocks(graph, k, alpha=alpha, attributes=attributes if alpha else None)
    assert members(found) == [sorted(group) for group in plain_clusters(graph, k, alpha)]


@pytest.mark.parametrize("method", [SaNGreeA(k=5), PartitionSearch(k=5, steps=3000)], ids=str)
@pytest.mark.parametrize(
    "graph",
    [karate(), ring(23), Graph.of([(0, 1)], order=12), Graph.of([], order=7)],
    ids=["club", "ring", "disconnected", "no edge"],
)
def test_every_super_vertex_has_at_least_k_vertices(
    method: GraphMethod[GeneralisedGraph], graph: Graph
) -> None:
    edges = graph.edges.copy()
    changed = method.apply(graph, rng=Seeded(2))
    assert violations(changed.graph, graph, k=5) == ()
    assert changed.facts["least size"] >= 5
    assert np.array_equal(graph.edges, edges)
    promise = method.promise(graph)
    assert promise is not None
    assert "at least 5" in promise


def test_the_search_never_leaves_more_worlds_than_its_start() -> None:
    graph = power_law(300, 1200, 2.5, Seeded(1))
    start = SaNGreeA(k=4).apply(graph, rng=Seeded(1)).graph
    found = anneal_partition(graph, greedy_blocks(graph, 4), k=4, steps=20_000, rng=Seeded(1))
    made = summarise(graph, found)
    assert agrees(made, graph, members(found))
    assert min(map(len, members(found))) >= 4
    assert log2_worlds(made) < 0.97 * log2_worlds(start)
    still = PartitionSearch(k=4, steps=0).apply(graph, rng=Seeded(1)).graph
    assert log2_worlds(still) == log2_worlds(start)


def test_a_seed_repeats_the_search_and_progress_is_told() -> None:
    steps: list[Step] = []
    one = PartitionSearch(k=3).apply(karate(), rng=Seeded(5), progress=steps.append).graph
    same = PartitionSearch(k=3).apply(karate(), rng=Seeded(5)).graph
    assert one.between.tolist() == same.between.tolist()
    assert steps
    assert steps[-1].total == 20_000


@pytest.mark.parametrize(
    "method",
    [
        SaNGreeA(k=4, schema=SCHEMA),
        SaNGreeA(k=4, alpha=0.5, beta=0.5, schema=SCHEMA),
        PartitionSearch(k=4, schema=SCHEMA, steps=2000),
    ],
    ids=["greedy", "weighed", "search"],
)
def test_every_group_has_one_common_row_that_holds_all_its_vertices(
    method: GraphMethod[GeneralisedGraph],
) -> None:
    graph = with_people(karate())
    changed = method.apply(graph, rng=Seeded(1))
    rows = changed.graph.attributes
    assert rows is not None
    assert rows.columns == ["age", "city"], "identifiers and others are left out"
    assert len(rows) == len(changed.graph.sizes)
    assert changed.facts["quasi-identifiers"] == 2
    assert 0 < changed.facts["NGIL"] <= 1
    assert changed.facts["GIL"] == pytest.approx(changed.facts["NGIL"] * 34 * 2)


def test_labels_and_loss_are_those_of_a_plain_count() -> None:
    graph = with_people(g9(), seed=4)
    attributes = code_attributes(graph, SCHEMA)
    assert attributes is not None
    assert graph.attributes is not None
    groups = [[0, 1, 2], [3, 7, 8], [4, 5, 6]]
    rows = attributes.generalised(blocks(groups)).to_dicts()
    ages, cities = graph.attributes["age"].to_list(), graph.attributes["city"].to_list()
    country = {"Rome": "Italy", "Pisa": "Italy", "Paris": "France", "Lyon": "France"}
    told = 0.0
    for group, row in zip(groups, rows, strict=True):
        own = sorted(ages[v] for v in group)
        names = {cities[v] for v in group}
        countries = {country[name] for name in names}
        assert row["age"] == (f"[{own[0]}, {own[-1]}]" if own[0] < own[-1] else str(own[0]))
        height = 0 if len(names) == 1 else 1 if len(countries) == 1 else 2
        assert row["city"] == (min(names), min(countries), "*")[height]
        told += len(group) * ((own[-1] - own[0]) / (max(ages) - min(ages)) + height / 2)
    total, share = attributes.loss(blocks(groups))
    assert total == pytest.approx(told)
    assert share == pytest.approx(told / 18)


def test_weight_on_attributes_generalises_them_less() -> None:
    graph = with_people(power_law(200, 600, 2.5, Seeded(1)))
    losses = [
        SaNGreeA(k=5, alpha=alpha, beta=1 - alpha, schema=SCHEMA)
        .apply(graph, rng=Seeded(1))
        .facts["NGIL"]
        for alpha in (0.0, 0.5)
    ]
    assert losses[1] < losses[0] / 2


def test_a_schema_can_be_a_file_and_empty_numbers_a_value(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(
        '[table]\nother_columns = "identifier"\n'
        '[columns.age]\nrole = "quasi-identifier"\nmissing = "value"\n'
    )
    graph = with_people(g9())
    assert graph.attributes is not None
    ages = [None, *graph.attributes["age"].to_list()[1:]]
    graph = replace(graph, attributes=graph.attributes.with_columns(age=pl.Series(ages)))
    method = SaNGreeA(k=3, schema=str(path))
    rows = method.apply(graph, rng=Seeded(1)).graph.attributes
    assert rows is not None
    assert rows.columns == ["age"]
    assert method.as_dict()["schema"] == str(path)


def test_attributes_that_are_missing_are_refused_and_none_is_published_unasked() -> None:
    for graph, schema, code in (
        (g9(), SCHEMA, "CEL-G214"),
        (
            with_people(g9()),
            Schema.of(quasi_identifiers=[], other_columns="identifier"),
            "CEL-G214",
        ),
        (with_people(g9()), Schema.of(quasi_identifiers="job"), "CEL-S010"),
        (with_people(g9()), Schema.of(quasi_identifiers="age"), "CEL-S011"),
    ):
        with pytest.raises(InputError) as error:
            SaNGreeA(k=3, schema=schema).apply(graph, rng=Seeded(1))
        assert error.value.code == code
    assert SaNGreeA(k=3).apply(with_people(g9()), rng=Seeded(1)).graph.attributes is None


@pytest.mark.parametrize(("k", "code"), [(1, "CEL-I060"), (10, "CEL-G211"), (0, "CEL-I060")])
@pytest.mark.parametrize("kind", [SaNGreeA, PartitionSearch])
def test_k_must_fit_the_graph(
    kind: type[SaNGreeA] | type[PartitionSearch], k: int, code: str
) -> None:
    with pytest.raises(InputError) as error:
        kind(k=k).apply(g9(), rng=Seeded(1))
    assert error.value.code == code


def test_parameters_out_of_range_are_refused() -> None:
    clusterings: list[tuple[dict[str, Any], str]] = [
        ({"k": 3, "alpha": 0.5}, "CEL-G215"),
        ({"k": 3, "alpha": 0.5, "beta": 0.5}, "CEL-G215"),
        ({"k": 3, "alpha": -1, "beta": 2, "schema": SCHEMA}, "CEL-I060"),
        ({"k": 3, "schema": 7}, "CEL-I060"),
        ({"k": 2.5}, "CEL-I060"),
    ]
    for wrong, code in clusterings:
        with pytest.raises(InputError) as error:
            SaNGreeA(**wrong)
        assert error.value.code == code
    searches: list[dict[str, Any]] = [{"k": "3"}, {"k": 3, "steps": -1}, {"k": 3, "steps": 0.5}]
    for search in searches:
        with pytest.raises(InputError) as error:
            PartitionSearch(**search)
        assert error.value.code == "CEL-I060"


def test_a_search_goes_on_among_many_groups() -> None:
    graph = ring(14_000)
    start = Seeded(2).permutation(14_000) // 2
    found = anneal_partition(graph, start, k=2, steps=40_000, rng=Seeded(1))
    assert np.bincount(found).min() >= 2
    assert worlds_of(graph, found) < worlds_of(graph, start)


def worlds_of(graph: Graph, block: NDArray[np.int64]) -> float:
    """The logarithm of how many graphs have the numbers of a partition, by its definition."""
    sizes = np.bincount(block)
    ends = np.sort(block[graph.edges], axis=1)
    pairs, edges = np.unique(ends, axis=0, return_counts=True)
    one, other = sizes[pairs].T
    room = np.where(pairs[:, 0] == pairs[:, 1], one * (one - 1) // 2, one * other)
    return sum(
        lgamma(p + 1) - lgamma(e + 1) - lgamma(p - e + 1) for p, e in zip(room, edges, strict=True)
    )


def test_the_cost_of_two_groups_is_their_part_of_all_worlds_and_follows_moves() -> None:
    graph = power_law(60, 200, 2.5, Seeded(3))
    block = Seeded(4).integers(8, 60)
    sizes = np.bincount(block, minlength=8)
    lists = np.empty(2 * 60 + 8, dtype=np.int64)
    list_members(block, lists)
    touched = np.empty(8, dtype=np.int64)

    def tallied(one: int, other: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = np.zeros((2, 8), dtype=np.int64)
        rows = (graph.starts, graph.neighbours, block, lists, found, touched)
        count = tally((one, other), *rows)
        assert sorted(touched[:count].tolist()) == sorted(
            {one, other, *np.flatnonzero(found.any(axis=0)).tolist()}
        )
        return found, touched[:count].copy()

    def cost(one: int, other: int, tallies: NDArray[np.int64], thirds: NDArray[np.int64]) -> float:
        own = (int(sizes[one]), int(sizes[other]))
        return float(cost_of((one, other), own, sizes, tallies, thirds))

    for vertex in range(0, 60, 7):
        one, other = int(block[vertex]), int(block[(vertex + 11) % 60])
        if one == other:
            continue
        tallies, thirds = tallied(one, other)
        before = cost(one, other, tallies, thirds), worlds_of(graph, block)
        carry(vertex, 0, (one, other), graph.starts, graph.neighbours, block, tallies)
        block[vertex] = one
        shift(vertex, other, block, sizes, lists)
        assert sizes.tolist() == np.bincount(block, minlength=8).tolist()
        assert tallies.tolist() == tallied(one, other)[0].tolist()
        after = cost(one, other, tallies, thirds), worlds_of(graph, block)
        assert after[0] - before[0] == pytest.approx(after[1] - before[1])


def test_ten_thousand_vertices_are_grouped() -> None:
    graph = power_law(10_000, 50_000, 2.5, Seeded(1))
    changed = SaNGreeA(k=10).apply(graph, rng=Seeded(1))
    assert changed.facts["super-vertices"] == 1000
    assert violations(changed.graph, graph, k=10) == ()


def test_methods_say_what_they_do() -> None:
    names = {"sangreea": SaNGreeA, "partition-search": PartitionSearch}
    assert {name: METHODS[name] for name in names} == names
    assert SaNGreeA(k=3).as_dict() == {"method": "sangreea", "k": 3}
    told = PartitionSearch(k=3, schema=SCHEMA).as_dict()
    assert told["schema"] == {"quasi-identifiers": ["age", "city"]}
    assert SaNGreeA(k=3).leaves_open() == PartitionSearch(k=3).leaves_open()
