"""The entropy check, against plain oracles, and the method that is built on it."""

from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from celosia.core.errors import InputError, PrivacyError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.graphs.examples import UNCERTAIN, g9, karate, uncertain_original
from celosia.graphs.generators import power_law, random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.method import METHODS
from celosia.graphs.uncertain import _kernels as kernels
from celosia.graphs.uncertain.entropy import degree_distributions, obfuscation, recounted_failures
from celosia.graphs.uncertain.graph import UncertainGraph
from celosia.graphs.uncertain.method import (
    KObfuscation,
    UncertainGraphSampler,
    uniqueness,
    weight_classes,
)

FIGURE_11 = UncertainGraph.of({(u - 1, v - 1): p for (u, v), p in UNCERTAIN.items()}, order=4)


def plain_entropies(uncertain: UncertainGraph, original: Graph) -> list[float]:
    """By the definition: the posterior of each vertex, one by one."""
    table = degree_distributions(uncertain)
    found = []
    for degree in original.degrees.tolist():
        column = table[:, degree] if degree < table.shape[1] else np.zeros(len(table))
        total = column.sum()
        posterior = column / total if total > 1e-9 else np.ones(1)
        found.append(-sum(y * log2(y) for y in posterior.tolist() if y > 0))
    return found


def test_figure_11_is_obfuscated_as_the_text_says() -> None:
    original = uncertain_original()
    found = obfuscation(FIGURE_11, original, k=3)
    assert original.degrees.tolist() == [3, 2, 2, 1]
    assert found.entropies == pytest.approx([0.4690, 1.7420, 1.7420, 1.6881], abs=1e-3)
    assert found.failing.tolist() == [0]
    assert found.holds(0.25)
    assert not found.holds(0.2)
    assert not obfuscation(FIGURE_11, original, k=4).holds(0.9)
    assert obfuscation(FIGURE_11, original, k=2).failing.tolist() == [0]
    assert found.as_dict()["share"] == 0.25
    assert str(found) == "1 vertex is hidden among fewer than 3 (25 %)"


def test_degree_0_of_figure_11_has_the_entropy_of_the_text() -> None:
    lonely = Graph.of([(1, 2)], order=4)  # vertex 0 has degree 0
    assert obfuscation(FIGURE_11, lonely, k=2).entropies[0] == pytest.approx(1.2483, abs=1e-3)


@pytest.mark.parametrize(("k", "failing"), [(2, 2), (3, 2), (4, 5)])
def test_a_certain_graph_hides_each_vertex_among_those_of_its_degree(k: int, failing: int) -> None:
    graph = g9()
    found = obfuscation(UncertainGraph.certain(graph), graph, k=k)
    alike = np.bincount(graph.degrees)[graph.degrees]
    assert found.entropies == pytest.approx(np.log2(alike))
    assert found.failing.size == failing
    assert recounted_failures(UncertainGraph.certain(graph), graph, k=k).size == failing


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_both_checks_agree_with_the_definition(data: st.DataObject) -> None:
    order = data.draw(st.integers(2, 8))
    every = [*combinations(range(order), 2)]
    chances = data.draw(st.dictionaries(st.sampled_from(every), st.integers(0, 50)))
    uncertain = UncertainGraph.of(
        {pair: steps / 50 for pair, steps in chances.items()}, order=order, grid=50
    )
    original = Graph.of(data.draw(st.lists(st.sampled_from(every))), order=order)
    told = plain_entropies(uncertain, original)
    k = data.draw(st.integers(1, order))
    found = obfuscation(uncertain, original, k=k)
    assert found.entropies == pytest.approx(told, abs=1e-9)
    assert np.array_equal(recounted_failures(uncertain, original, k=k), found.failing)


def test_both_checks_agree_where_hubs_use_the_normal_curve() -> None:
    graph = power_law(3000, 30_000, 2.3, Seeded(4))
    made = UncertainGraphSampler(graph=graph, spared=0, target=60_000, uniform=0.5).draw(
        1.0, Seeded(5)
    )
    spread = made.probabilities * (1 - made.probabilities)
    variance = np.bincount(made.pairs[:, 0], weights=spread, minlength=3000)
    assert variance.max() > 225, "no hub is wide enough to try it"
    for k in (5, 20, 100):
        failing = obfuscation(made, graph, k=k).failing
        assert np.array_equal(failing, recounted_failures(made, graph, k=k))
        assert 0 < failing.size < graph.order


def test_the_check_refuses_other_vertices_and_a_k_beyond_them() -> None:
    for graph, k in ((g9(), 3), (uncertain_original(), 5), (uncertain_original(), 0)):
        with pytest.raises(InputError) as error:
            obfuscation(FIGURE_11, graph, k=k)
        assert error.value.code == "CEL-G201"


def test_uniqueness_is_the_inverse_of_a_sum_of_normal_densities() -> None:
    degrees = np.array([3, 2, 4, 4, 2, 4, 2, 2, 1])
    for sigma in (0.3, 2.0):
        told = [1 / sum(stats.norm.pdf(a - b, 0, sigma) for b in degrees) for a in degrees]
        assert uniqueness(degrees, sigma) == pytest.approx(told)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30))
def test_shares_pick_each_place_by_its_weight(weights: list[float]) -> None:
    ranked = np.sort(np.array(weights))[::-1]
    classes = weight_classes(ranked)
    shares = (np.arange(4000) + 0.5) / 4000
    picked = [kernels.pick(share, *classes) for share in shares.tolist()]
    found = np.bincount(picked, minlength=len(weights)) / 4000
    assert found == pytest.approx(ranked / ranked.sum(), abs=1.01 / 4000)
    assert picked == sorted(picked)


def test_half_normal_amounts_are_those_of_the_distribution_function() -> None:
    shares = np.concatenate([10.0 ** -np.arange(1, 16), np.linspace(0.001, 0.999, 60)])
    shares = np.concatenate([shares, 1 - 10.0 ** -np.arange(3, 16)])
    for width in (2.0**-30, 0.01, 0.13, 0.5, 3.0, 1024.0):
        inside = special.erf(1 / (width * np.sqrt(2)))
        told = np.minimum(-width * special.ndtri(0.5 - 0.5 * shares * inside), 1.0)
        found = [kernels.half_normal(share, width) for share in shares.tolist()]
        assert found == pytest.approx(told, rel=1e-12)


@pytest.mark.parametrize("width", [0.05, 0.4, 5.0])
def test_the_noise_is_half_normal_cut_at_one_but_for_a_uniform_share(width: float) -> None:
    count, grid = 20_000, 10**6
    real = np.arange(count) % 2 == 0
    pairs = np.stack([np.arange(count), np.arange(count) + 1], axis=1).astype(np.int32)
    steps = np.empty(count, dtype=np.int64)
    words = Seeded(9).words(count)
    weights = np.full(count + 1, 0.5)
    kept = kernels.blur(pairs, real, words, weights, width, 0.2, grid, steps)
    assert kept > count - 20, "only chances of 0 go"
    was_real = pairs[:kept, 0] % 2 == 0
    drawn = np.where(was_real, grid - steps[:kept], steps[:kept]) / grid
    inside = 2 * stats.norm.cdf(1 / width) - 1

    def told(x: np.ndarray) -> np.ndarray:
        half = (2 * stats.norm.cdf(x / width) - 1) / inside
        return np.asarray(0.2 * np.clip(x, 0, 1) + 0.8 * np.clip(half, 0, 1))

    for some in (drawn[was_real], drawn[~was_real]):
        assert stats.kstest(some, told).pvalue > 1e-6
        assert stats.kstest(some * 1.25, told).pvalue < 1e-6
        assert stats.kstest(some * 0.8, told).pvalue < 1e-6


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 30)), st.lists(st.integers(-1, 30)))
def test_sorted_numbers_are_merged_as_sets_are(some: set[int], more: list[int]) -> None:
    one, other = (np.array(sorted(each), dtype=np.int64) for each in (some, more))
    wanted = {number for number in more if number >= 0}
    drawn = kernels.unite(one, other)
    assert drawn.tolist() == sorted(some | wanted)
    again = np.array(sorted(wanted), dtype=np.int64)
    assert kernels.count_common(one, again) == len(some & wanted)
    keys, real = kernels.toggle(one, again)
    assert keys.tolist() == sorted(some ^ wanted)
    assert real.tolist() == [key in some for key in keys.tolist()]


class Recorder(Seeded):
    """A source that remembers the words that it gave."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.given: list[np.ndarray] = []

    def words(self, count: int) -> np.ndarray:
        self.given.append(super().words(count))
        return self.given[-1]


@pytest.mark.parametrize(("order", "size", "target"), [(60, 200, 400), (40, 600, 770), (9, 30, 36)])
def test_pairs_are_put_in_and_taken_out_one_after_the_other(
    order: int, size: int, target: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celosia.graphs.uncertain.method._FEW", 8)
    graph = random_graph(order, size, Seeded(1))
    stands_out = uniqueness(graph.degrees, 0.5)
    rng = Recorder(5)
    sampler = UncertainGraphSampler(graph=graph, spared=0, target=target, uniform=0.01)
    keys, real = sampler._pairs(stands_out, rng)
    chosen = np.argsort(-stands_out, kind="stable").astype(np.int32)
    classes = weight_classes(stands_out[chosen])
    held, drawn = set(graph.keys.tolist()), set()
    for words in rng.given:
        for one, other in words.reshape(-1, 2):
            ends = sorted(
                int(chosen[kernels.pick((float(word >> np.uint64(12)) + 0.5) / 2**52, *classes)])
                for word in (one, other)
            )
            key = ends[0] * order + ends[1]
            if ends[0] == ends[1] or key in drawn or len(held) == target:
                continue
            drawn.add(key)
            held ^= {key}
    assert keys.tolist() == sorted(held)
    assert real.tolist() == [key in set(graph.keys.tolist()) for key in keys.tolist()]


def test_candidates_are_edges_and_new_pairs_up_to_the_target() -> None:
    graph = random_graph(60, 200, Seeded(1))
    drawing = UncertainGraphSampler(graph=graph, spared=3, target=400, uniform=0.01)
    keys, real = drawing._pairs(uniqueness(graph.degrees, 0.5), Seeded(2))
    assert keys.size == 400 == np.unique(keys).size
    assert np.array_equal(real, np.isin(keys, graph.keys))
    spared = np.argsort(-uniqueness(graph.degrees, 0.5), kind="stable")[:3]
    assert not np.isin(np.divmod(keys[~real], 60), spared).any()
    assert np.isin(graph.keys[np.isin(graph.edges, spared).any(axis=1)], keys).all()


def test_a_target_that_cannot_be_reached_ends_all_the_same() -> None:
    graph = Graph.of([*combinations(range(5), 2)][:-1], order=5)
    made = UncertainGraphSampler(graph=graph, spared=0, target=30, uniform=0.01).draw(
        0.5, Seeded(1)
    )
    assert made.size <= 10


@pytest.mark.parametrize(("k", "tolerance"), [(2, 0.1), (3, 0.1), (5, 0.2)])
@pytest.mark.parametrize("seed", range(3))
def test_the_method_keeps_its_promise_on_the_club(k: int, tolerance: float, seed: int) -> None:
    graph = karate()
    changed = KObfuscation(k=k, tolerance=tolerance).apply(graph, rng=Seeded(seed))
    made = changed.graph
    told = plain_entropies(made, graph)
    failing = sum(bits < log2(k) - 1e-9 for bits in told)
    assert failing <= tolerance * graph.order
    assert changed.facts["exposed"] == changed.facts["exposed, recounted"] == failing
    assert made.steps.min() > 0
    assert made.steps.max() <= made.grid
    assert made.size <= 2 * graph.size
    keys = made.pairs[:, 0].astype(np.int64) * 34 + made.pairs[:, 1]
    assert (np.diff(keys) > 0).all(), "the pairs are not sorted"
    assert not np.array_equal(made.steps, np.full(made.size, made.grid)), "nothing is uncertain"


def test_more_is_asked_for_with_more_noise() -> None:
    graph = random_graph(200, 800, Seeded(3))
    widths = [
        KObfuscation(k=k, tolerance=0.05).apply(graph, rng=Seeded(1)).facts["width of the noise"]
        for k in (2, 40)
    ]
    assert widths[1] > widths[0]


def test_a_seed_repeats_the_method_and_progress_is_told() -> None:
    steps: list[Step] = []
    method = KObfuscation(k=3, tolerance=0.2)
    one = method.apply(karate(), rng=Seeded(7), progress=steps.append).graph
    same, other = (method.apply(karate(), rng=Seeded(seed)).graph for seed in (7, 8))
    assert np.array_equal(one.steps, same.steps)
    assert np.array_equal(one.pairs, same.pairs)
    assert not np.array_equal(one.steps, other.steps)
    assert steps


def test_a_graph_without_edges_is_all_alike() -> None:
    changed = KObfuscation(k=4, tolerance=0).apply(Graph.of([], order=5), rng=Seeded(1))
    assert (changed.graph.size, changed.facts["exposed"]) == (0, 0)


def test_a_wish_beyond_reach_is_refused() -> None:
    star = Graph.of([(0, leaf) for leaf in range(1, 30)])
    with pytest.raises(PrivacyError) as error:
        KObfuscation(k=25, tolerance=0, c=1, trials=1).apply(star, rng=Seeded(1))
    assert error.value.code == "CEL-G203"


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 1},
        {"k": 2.5},
        {"k": 3, "tolerance": 1},
        {"k": 3, "tolerance": -0.1},
        {"k": 3, "c": 0.5},
        {"k": 3, "q": 2},
        {"k": 3, "trials": 0},
    ],
    ids=lambda wrong: ", ".join(f"{name}={value}" for name, value in wrong.items()),
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError) as error:
        KObfuscation(**wrong)  # type: ignore[arg-type]
    assert error.value.code == "CEL-I060"


def test_k_above_the_number_of_vertices_is_refused() -> None:
    with pytest.raises(InputError) as error:
        KObfuscation(k=10).apply(g9(), rng=Seeded(1))
    assert error.value.code == "CEL-G201"


def test_the_method_says_what_it_promises_and_what_not() -> None:
    method = KObfuscation(k=20, tolerance=0.1)
    assert METHODS["k-obfuscation"] is KObfuscation
    assert method.as_dict() == {"method": "k-obfuscation", "k": 20, "tolerance": 0.1}
    promise = method.promise(karate())
    assert promise is not None
    assert "3 of 34" in promise
    assert method.leaves_open()
    assert method.randomised
