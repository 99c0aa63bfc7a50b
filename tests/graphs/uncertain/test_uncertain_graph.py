"""Uncertain graphs: their pairs, their worlds, their statistics and their files."""

from collections import Counter
from itertools import combinations, product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.graphs.examples import UNCERTAIN, g9, karate
from celosia.graphs.graph import Graph
from celosia.graphs.uncertain._kernels import WIDE, convolve, near
from celosia.graphs.uncertain.entropy import degree_distribution, degree_distributions
from celosia.graphs.uncertain.graph import UncertainGraph, read_uncertain, write_uncertain
from celosia.graphs.uncertain.statistics import expected_statistics, sampled_statistics

FIGURE_11 = UncertainGraph.of({(u - 1, v - 1): p for (u, v), p in UNCERTAIN.items()}, order=4)


@st.composite
def uncertain_graphs(draw: st.DrawFn) -> UncertainGraph:
    order = draw(st.integers(1, 7))
    every = [*combinations(range(order), 2)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    chances = {pair: draw(st.integers(0, 20)) / 20 for pair in pairs}
    return UncertainGraph.of(chances, order=order, grid=20)


def worlds(graph: UncertainGraph) -> list[tuple[float, Graph]]:
    """Every world with its chance, by listing all sets of edges."""
    found = []
    for there in product([False, True], repeat=graph.size):
        chance = np.prod(np.where(there, graph.probabilities, 1 - graph.probabilities))
        found.append(
            (float(chance), Graph.of(graph.pairs[np.array(there, bool)], order=graph.order))
        )
    return found


def test_figure_11_has_the_degree_distributions_of_the_text() -> None:
    told = [
        [0.006, 0.092, 0.398, 0.504],
        [0.054, 0.348, 0.542, 0.056],
        [0.02, 0.26, 0.72, 0.0],
        [0.18, 0.74, 0.08, 0.0],
    ]
    assert np.allclose(degree_distributions(FIGURE_11), told, atol=1e-12)


def test_figure_11_has_the_expected_statistics_of_the_text() -> None:
    found = expected_statistics(FIGURE_11)
    assert found.edges == pytest.approx(3.3)
    assert found.degrees == pytest.approx([2.4, 1.6, 1.7, 0.9])
    assert found.mean_degree == pytest.approx(1.65)
    assert found.degree_variance == pytest.approx(0.46)
    assert found.as_dict()["edges"] == pytest.approx(3.3)
    assert str(found) == "3.3 edges, mean degree 1.65, variance 0.46"


@settings(max_examples=40, deadline=None)
@given(uncertain_graphs().filter(lambda graph: graph.size <= 9))
def test_statistics_and_degrees_are_those_of_all_worlds_listed(graph: UncertainGraph) -> None:
    every = worlds(graph)
    found = expected_statistics(graph)
    assert found.edges == pytest.approx(sum(c * w.size for c, w in every), abs=1e-9)
    assert found.degree_variance == pytest.approx(
        sum(c * w.degrees.var() for c, w in every), abs=1e-9
    )
    for vertex in range(graph.order):
        told = np.zeros(graph.order)
        for chance, world in every:
            told[world.degrees[vertex]] += chance
        own = degree_distribution(graph, vertex)
        assert np.allclose(own, told[: own.size], atol=1e-12)
        assert np.allclose(told[own.size :], 0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=60))
def test_coins_two_at_a_time_are_as_one_after_the_other(coins: list[float]) -> None:
    chances = np.array(coins)
    told = np.ones(1)
    for chance in coins:
        told = np.convolve(told, [1 - chance, chance])
    room = np.zeros(chances.size + 3)
    low, high, certain = convolve(chances, room)
    found = np.zeros(told.size)
    found[low + certain : high + certain + 1] = room[low : high + 1]
    assert np.allclose(found, told, rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("chance", [0.5, 0.1, 0.01, 0.9])
def test_the_normal_curve_of_hubs_is_within_the_stated_error(chance: float) -> None:
    count = int(WIDE / (chance * (1 - chance))) + 1
    chances = np.full(count, chance)
    room = np.zeros(count + 3)
    low, high, _ = convolve(chances, room)
    spread = count * chance * (1 - chance)
    cumulants = (
        spread * (1 - 2 * chance),
        spread * (1 - 6 * chance * (1 - chance)),
    )
    curve = np.array(
        [near(place, count * chance, spread, *cumulants) for place in range(low, high + 1)]
    )
    apart = np.abs(curve - room[low : high + 1])
    assert apart.max() < 1e-6
    assert apart.sum() / 2 < 3e-5


def test_a_sampled_world_has_each_pair_with_its_chance() -> None:
    rng, count = Seeded(30), 4000
    seen: Counter[tuple[int, int]] = Counter()
    sizes = []
    for _ in range(count):
        world = FIGURE_11.sample_world(rng)
        sizes.append(world.size)
        seen.update((u, v) for u, v in world.edges.tolist())
    variance = sum(p * (1 - p) for p in UNCERTAIN.values())
    assert abs(np.mean(sizes) - 3.3) < 4 * sqrt(variance / count)  # check 30
    for (u, v), p in UNCERTAIN.items():
        # Five standard errors: below 1e-5 for six pairs and one seed.
        assert abs(seen[u - 1, v - 1] / count - p) <= 5 * sqrt(p * (1 - p) / count)


def test_the_maximum_degree_is_estimated_with_its_error() -> None:
    found = sampled_statistics(FIGURE_11, worlds=4000, rng=Seeded(11))["maximum degree"]
    assert abs(found.mean - 2.47816) < 4 * found.error
    assert 0 < found.error < 0.02
    assert found.as_dict()["worlds"] == 4000
    both = sampled_statistics(
        FIGURE_11, {"edges": lambda world: world.size}, worlds=500, rng=Seeded(3)
    )
    assert abs(both["edges"].mean - 3.3) < 5 * both["edges"].error
    assert "500 worlds" in str(both["edges"])


def test_one_world_is_no_sample() -> None:
    with pytest.raises(InputError) as error:
        sampled_statistics(FIGURE_11, worlds=1, rng=Seeded(1))
    assert error.value.code == "CEL-G204"


@pytest.mark.parametrize(
    ("chances", "options"),
    [
        ({(0, 0): 0.5}, {}),
        ({(0, 1): 0.5, (1, 0): 0.2}, {}),
        ({(0, 1): 1.5}, {}),
        ({(0, 1): float("nan")}, {}),
        ({(0, -1): 0.5}, {}),
        ({(0, 5): 0.5}, {"order": 3}),
        ({(0, 1): 0.5}, {"grid": 0}),
        ({(0, 1): 0.5}, {"grid": 2.5}),
        ({(0, 1): 0.5}, {"grid": 2**31}),
    ],
    ids=[
        "loop",
        "twice",
        "above 1",
        "nan",
        "negative",
        "beyond n",
        "no grid",
        "half a grid",
        "too fine",
    ],
)
def test_what_is_no_uncertain_graph_is_refused(
    chances: dict[tuple[int, int], float], options: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as error:
        UncertainGraph.of(chances, **options)
    assert error.value.code == "CEL-G200"


def test_a_certain_graph_has_one_world_and_can_be_renumbered() -> None:
    graph = UncertainGraph.certain(karate())
    assert graph.sample_world(Seeded(1)).same_edges(karate())
    numbers = Seeded(2).permutation(34)
    moved = graph.renumbered(numbers)
    assert moved.labels is None
    assert moved.sample_world(Seeded(1)).degrees[numbers].tolist() == karate().degrees.tolist()
    assert graph.without_names().labels is None


@pytest.mark.parametrize("name", ["graph.csv", "graph.csv.gz"])
@settings(max_examples=20, deadline=None)
@given(graph=uncertain_graphs())
def test_a_file_gives_back_the_same_graph(
    tmp_path_factory: pytest.TempPathFactory, name: str, graph: UncertainGraph
) -> None:
    path = tmp_path_factory.mktemp("uncertain") / name
    write_uncertain(graph, path)
    again = read_uncertain(path)
    assert (again.order, again.grid) == (graph.order, graph.grid)
    assert np.array_equal(again.pairs, graph.pairs)
    assert np.array_equal(again.steps, graph.steps)
    assert [each.name for each in path.parent.iterdir()] == [name]


def test_names_with_commas_survive_a_file(tmp_path: Path) -> None:
    names = pl.Series("vertex", ['a, "b"', "c", "lonely", "d"])
    graph = UncertainGraph.of({(0, 1): 0.25, (1, 3): 1.0}, order=4, labels=names)
    write_uncertain(graph, tmp_path / "graph.csv")
    again = read_uncertain(tmp_path / "graph.csv")
    assert again.labels is not None
    assert again.labels.to_list() == names.to_list()
    assert np.array_equal(again.pairs, graph.pairs)
    write_uncertain(UncertainGraph.certain(g9()), tmp_path / "numbers.csv")
    labels = read_uncertain(tmp_path / "numbers.csv").labels
    assert labels is not None
    assert labels.to_list() == list(range(1, 10))


def test_a_plain_list_of_pairs_with_chances_is_read(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("u,v,p\n0,2,0.5\n1,2,1\n")
    graph = read_uncertain(tmp_path / "list.csv")
    assert (graph.order, graph.steps.tolist(), graph.grid) == (3, [500_000, 1_000_000], 10**6)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        "u,v,p\n0,1,often\n",
        "u,v,p\n0,x,0.5\n",
        "u,v,p\n0,1\n",
        "# not json\nu,v,p\n0,1,0.5\n",
        "# []\nu,v,p\n0,1,0.5\n",
        '# {"vertices": -1}\nu,v,p\n',
        '# {"vertices": 2, "names": ["a"]}\nu,v,p\na,a,0.5\n',
        '# {"vertices": 2, "names": ["a", "a"]}\nu,v,p\n',
        '# {"vertices": 2, "names": ["a", "b"]}\nu,v,p\na,c,0.5\n',
        '# {"vertices": 2, "names": ["a", 1]}\nu,v,p\na,1,0.5\n',
    ],
    ids=[
        "columns", "chance", "number", "cell", "json", "list", "order", "names", "twice", "unknown",
        "mixed",
    ],
)  # fmt: skip
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_uncertain(path)
    assert error.value.code == "CEL-G205"
