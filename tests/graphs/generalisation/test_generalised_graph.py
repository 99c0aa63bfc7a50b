"""Generalised graphs: their numbers, their worlds and their files."""

import json
from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import G9_PARTITION, g9, vertices
from celosia.graphs.generalisation.graph import (
    GeneralisedGraph,
    read_generalised,
    write_generalised,
)
from celosia.graphs.generalisation.partition import (
    blocks,
    count_worlds,
    log2_worlds,
    members,
    structural_loss,
    summarise,
)
from celosia.graphs.generalisation.verification import agrees, check_promise, violations
from celosia.graphs.graph import Graph


def figure_12() -> GeneralisedGraph:
    graph = g9()
    return summarise(graph, blocks([vertices(graph, names) for names in G9_PARTITION]))


@st.composite
def partitions(draw: st.DrawFn) -> tuple[Graph, list[int]]:
    order = draw(st.integers(1, 9))
    every = [*combinations(range(order), 2)]
    edges = draw(st.lists(st.sampled_from(every))) if every else []
    groups = draw(st.lists(st.integers(0, 3), min_size=order, max_size=order))
    return Graph.of(edges, order=order), np.unique(groups, return_inverse=True)[1].tolist()


def test_figure_12_has_the_numbers_of_the_text() -> None:
    made = figure_12()
    assert sorted(zip(made.sizes, made.internal, strict=True)) == [(3, 2), (3, 2), (3, 3)]
    assert sorted(made.between.tolist()) == [1, 2, 2]
    assert (made.order, made.size) == (9, 12)
    assert count_worlds(made) == 104_976
    loss = structural_loss(made)
    assert loss.total == pytest.approx(10.667, abs=1e-3)
    assert loss.normalised == pytest.approx(0.5926, abs=1e-4)
    assert loss.as_dict() == {"SIL": loss.total, "NSIL": loss.normalised}
    assert str(made) == "3 super-vertices for 9 vertices and 12 edges"


def test_a_single_block_leaves_all_graphs_of_its_size() -> None:
    made = summarise(g9(), np.zeros(9, dtype=np.int64))
    assert count_worlds(made) == comb(36, 12) == 1_251_677_700
    assert 2 ** log2_worlds(made) == pytest.approx(1_251_677_700, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(partitions())
def test_the_numbers_are_those_of_a_plain_count(given: tuple[Graph, list[int]]) -> None:
    graph, groups = given
    made = summarise(graph, np.array(groups))
    made.check()
    assert agrees(made, graph, members(np.array(groups)))
    assert violations(made, graph, k=1) == ()
    assert made.order == graph.order
    assert made.size == graph.size
    exact = count_worlds(made)
    assert 2 ** log2_worlds(made) == pytest.approx(exact, rel=1e-9)
    shown = made.to_graph()
    assert shown.order == len(set(groups))
    assert shown.edge_attributes is not None
    assert shown.edge_attributes["edges"].to_list() == made.between.tolist()
    told = [
        edges / pairs if pairs else 0
        for edges, pairs in zip(
            [*made.internal.tolist(), *made.between.tolist()], made.capacities(), strict=True
        )
    ]
    assert made.densities() == pytest.approx(told)


@settings(max_examples=40, deadline=None)
@given(partitions())
def test_a_small_loss_is_that_of_the_plain_formulas(given: tuple[Graph, list[int]]) -> None:
    graph, groups = given
    told = 0.0
    sizes = Counter(groups)
    for one in sizes:
        for other in sizes:
            if one > other:
                continue
            pairs = sizes[one] * (sizes[one] - 1) / 2 if one == other else sizes[one] * sizes[other]
            edges = sum({groups[u], groups[v]} == {one, other} for u, v in graph.edges.tolist())
            told += 2 * edges * (1 - edges / pairs) if pairs else 0
    assert structural_loss(summarise(graph, np.array(groups))).total == pytest.approx(told)


def test_the_order_of_super_vertices_does_not_depend_on_that_of_groups() -> None:
    graph = g9()
    one, other = (
        summarise(graph, blocks([[v - 1 for v in group] for group in groups]))
        for groups in (((1, 2, 3), (4, 8, 9), (5, 6, 7)), ((5, 6, 7), (1, 2, 3), (4, 8, 9)))
    )
    assert one.sizes.tolist() == other.sizes.tolist()
    assert one.internal.tolist() == other.internal.tolist()
    assert one.between.tolist() == other.between.tolist()


def test_nothing_published_lists_vertices_or_their_edges() -> None:
    made = figure_12()
    held = {name: getattr(made, name) for name in GeneralisedGraph.__dataclass_fields__}
    for value in held.values():
        assert value is None or len(value) <= 3, "something is as long as the list of vertices"


@settings(max_examples=60, deadline=None)
@given(partitions(), st.integers(0, 2**32))
def test_a_sampled_world_has_the_published_numbers(
    given: tuple[Graph, list[int]], seed: int
) -> None:
    graph, groups = given
    made = summarise(graph, np.array(groups))
    world = made.sample_world(Seeded(seed))
    again = summarise(world, np.repeat(np.arange(len(made.sizes)), made.sizes))
    assert again.sizes.tolist() == made.sizes.tolist()
    assert sorted(again.internal.tolist()) == sorted(made.internal.tolist())
    assert agrees(made, world, members(np.repeat(np.arange(len(made.sizes)), made.sizes)))


def test_every_world_is_equally_likely() -> None:
    made = GeneralisedGraph.of(sizes=[3, 2], internal=[2, 1], between={(0, 1): 4})
    total = count_worlds(made)
    assert total == 3 * 1 * 15
    rng, draws = Seeded(12), 4500
    seen = Counter(made.sample_world(rng).keys.tobytes() for _ in range(draws))
    assert len(seen) == total
    expected = draws / total
    square = sum((count - expected) ** 2 / expected for count in seen.values())
    # Chi-square with 44 degrees of freedom: above 110 with a chance below 1e-7.
    assert square < 110
    rarest = min(seen, key=lambda world: seen[world])
    del seen[rarest]
    assert sum((c - expected) ** 2 / expected for c in seen.values()) + expected > 110


def test_a_large_world_is_sampled_and_counted_again() -> None:
    sizes = [60, 300, 5]
    made = GeneralisedGraph.of(
        sizes=sizes, internal=[1700, 20_000, 10], between={(0, 1): 17_000, (1, 2): 3}
    )
    world = made.sample_world(Seeded(1))
    assert agrees(made, world, members(np.repeat(np.arange(3), sizes)))


@pytest.mark.parametrize(
    "numbers",
    [
        {"sizes": [0], "internal": [0], "between": {}},
        {"sizes": [3], "internal": [4], "between": {}},
        {"sizes": [3], "internal": [-1], "between": {}},
        {"sizes": [2, 2], "internal": [0, 0], "between": {(0, 1): 5}},
        {"sizes": [2, 2], "internal": [0, 0], "between": {(0, 2): 1}},
        {"sizes": [2, 2], "internal": [0, 0], "between": {(1, 1): 1}},
        {"sizes": [2, 2], "internal": [0], "between": {}},
        {"sizes": [2**31, 2], "internal": [0, 0], "between": {}},
        {"sizes": [2, 2], "internal": [0, 0], "between": {(0, 1): 1, (1, 0): 1}},
        {
            "sizes": [2, 2],
            "internal": [0, 0],
            "between": {},
            "attributes": pl.DataFrame({"age": ["3"]}),
        },
    ],
    ids=["empty", "full", "negative", "between", "beyond", "loop", "short", "huge", "twice", "row"],
)
def test_numbers_that_no_graph_has_are_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(InputError) as error:
        GeneralisedGraph.of(**numbers)
    assert error.value.code == "CEL-G210"


def test_a_broken_promise_is_found() -> None:
    made = figure_12()
    assert violations(made, g9(), k=3) == ()
    assert len(violations(made, g9(), k=4)) == 1
    assert len(violations(made, Graph.of([(0, 1)], order=4), k=3)) == 2
    swollen = GeneralisedGraph(
        sizes=np.array([4, 5]),
        internal=np.array([7, 0]),
        super_edges=np.array([[0, 1]], dtype=np.int32),
        between=np.array([5]),
        attributes=pl.DataFrame({"age": ["3"]}),
    )
    assert len(violations(swollen, g9(), k=3)) == 2
    with pytest.raises(PrivacyError) as error:
        check_promise(made, g9(), k=4)
    assert error.value.code == "CEL-G212"
    assert not agrees(made, g9(), [[0, 1, 2, 3], [4, 5, 6, 7, 8]])
    assert not agrees(made, g9(), [[0, 1, 2]])


@pytest.mark.parametrize("name", ["graph.json", "graph.json.gz"])
def test_a_file_gives_back_the_same_graph(tmp_path: Path, name: str) -> None:
    for rows in (None, pl.DataFrame({"age": ["[1, 2]", "3", None], "city": ["*", "Ávila", "*"]})):
        made = figure_12()
        made = GeneralisedGraph.of(
            sizes=made.sizes,
            internal=made.internal,
            between={
                (u, v): count
                for (u, v), count in zip(made.super_edges.tolist(), made.between, strict=True)
            },
            attributes=rows,
        )
        write_generalised(made, tmp_path / name)
        again = read_generalised(tmp_path / name)
        assert again.sizes.tolist() == made.sizes.tolist()
        assert again.internal.tolist() == made.internal.tolist()
        assert again.super_edges.tolist() == made.super_edges.tolist()
        assert again.between.tolist() == made.between.tolist()
        assert rows is None or (again.attributes is not None and again.attributes.equals(rows))
        assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(format="other"),
        lambda plain: plain.update(vertices=8),
        lambda plain: plain.pop("super_edges"),
        lambda plain: plain["super_vertices"][0].update(size="3"),
        lambda plain: plain["super_vertices"][0].update(attributes={"age": "3"}),
        lambda plain: plain["super_vertices"][1].update(attributes={"age": "3"}),
        lambda plain: plain["super_edges"].append(plain["super_edges"][0]),
        lambda plain: plain["super_edges"][0].update(between=[0, 1, 2]),
        lambda plain: plain["super_edges"][0].update(edges=-1),
    ],
    ids=["format", "total", "edges", "text", "first", "second", "twice", "three", "negative"],
)
def test_a_changed_file_is_refused(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "graph.json"
    write_generalised(figure_12(), path)
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))
    with pytest.raises(InputError) as error:
        read_generalised(path)
    assert error.value.code == "CEL-G213"


@pytest.mark.parametrize("text", ["[1]", "{", '{"format": 1}'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "graph.json").write_text(text)
    with pytest.raises(InputError) as error:
        read_generalised(tmp_path / "graph.json")
    assert error.value.code == "CEL-G213"
