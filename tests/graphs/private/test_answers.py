"""Answers about graphs: what they promise and cost, how far they err, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.graphs.private.small_graphs import all_edge_sets, without_vertex
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia.accounting import Budget
from celosia.assess.audit import audit
from celosia.core.errors import BudgetExceeded, CelosiaError, InputError, PrivacyError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.graphs.generators import power_law, random_graph
from celosia.graphs.graph import Graph
from celosia.graphs.private import (
    ONE_EDGE,
    ONE_VERTEX,
    BoundedDegreeHistogram,
    BoundedEdgeCount,
    DegreeHistogram,
    DegreeSequence,
    EdgeCount,
    GraphMechanism,
    JointDegrees,
    StarCount,
    TriangleCount,
    degree_histogram,
    degree_sequence,
    edge_count,
    joint_degrees,
    star_count,
    triangle_count,
)
from celosia.mechanisms import NoisyAnswer

UNTOUCHABLE = ForbiddenSource()
GRAPH = power_law(200, 600, 2.5, Seeded(1))
MECHANISMS: list[GraphMechanism[Any]] = [
    EdgeCount(epsilon=0.5),
    BoundedEdgeCount(epsilon=0.5, cap=4),
    BoundedEdgeCount(epsilon=0.5),
    DegreeSequence(epsilon=0.5),
    DegreeHistogram(epsilon=0.5),
    DegreeHistogram(epsilon=0.5, cap=5, strategy="bins"),
    BoundedDegreeHistogram(epsilon=0.5, cap=4),
    BoundedDegreeHistogram(epsilon=0.5, cap=(1, 2, 4), strategy="bins"),
    TriangleCount(epsilon=0.5),
    TriangleCount(epsilon=0.5, delta=1e-6),
    StarCount(epsilon=0.5),
    StarCount(epsilon=0.5, k=3, delta=1e-6),
    JointDegrees(epsilon=0.5, cap=4),
]
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)


@mechanisms
def test_every_mechanism_costs_what_it_says(mechanism: GraphMechanism[Any]) -> None:
    loss = mechanism.privacy_loss()
    delta = getattr(mechanism, "delta", None)
    if delta:
        assert loss.epsilon(delta) == 0.5
    else:
        assert loss.pure == pytest.approx(0.5, rel=1e-12)
        assert loss.pure >= 0.5


@mechanisms
def test_no_graph_is_refused_for_its_edges(mechanism: GraphMechanism[Any]) -> None:
    for order in (0, 1, 2, 3, 4, 30):
        pairs = np.stack(np.triu_indices(order, 1), axis=1)
        star = pairs[pairs[:, 0] == 0]
        for edges in (pairs[:0], pairs, star):
            mechanism.release(Graph.of(edges, order=order), rng=Seeded(order))


@mechanisms
def test_what_is_no_graph_is_refused_before_noise_is_drawn(
    mechanism: GraphMechanism[Any],
) -> None:
    with pytest.raises(InputError) as caught:
        mechanism.release([(0, 1)], rng=UNTOUCHABLE)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-G300"


@mechanisms
def test_accuracy_grows_with_epsilon(mechanism: GraphMechanism[Any]) -> None:
    finer = mechanism.with_accuracy(mechanism.accuracy(size=200) / 4, size=200)
    assert 0.5 < finer.epsilon < 4


ASKED = {
    "edge": lambda **more: edge_count(GRAPH, epsilon=1, **more),
    "vertex": lambda **more: edge_count(GRAPH, epsilon=1, level="vertex", cap=8, **more),
    "histogram": lambda **more: degree_histogram(GRAPH, epsilon=1, cap=20, **more),
    "vertex histogram": lambda **more: degree_histogram(
        GRAPH, epsilon=1, level="vertex", cap=[2, 4, 8], **more
    ),
    "sequence": lambda **more: degree_sequence(GRAPH, epsilon=1, **more),
    "triangles": lambda **more: triangle_count(GRAPH, epsilon=1, **more),
    "smooth": lambda **more: triangle_count(GRAPH, epsilon=1, delta=1e-6, **more),
    "stars": lambda **more: star_count(GRAPH, k=3, epsilon=1, **more),
    "joint": lambda **more: joint_degrees(GRAPH, epsilon=1, cap=3, **more),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_says_what_it_promises_and_can_be_kept(name: str, tmp_path: Path) -> None:
    told = ASKED[name](rng=Seeded(5))
    level = "vertex with its edges" if "vertex" in name else "edge"
    assert told.guarantee.neighbours == f"add or remove one {level}"
    assert told.guarantee.simulation
    assert "table" not in " ".join([told.guarantee.protects, *told.guarantee.leaves_open])
    assert told.epsilon == 1
    assert told.delta == (1e-6 if name == "smooth" else 0)
    assert "differential privacy" in str(told)
    told.report(tmp_path / "report.html")
    json.dumps(told.measures(), allow_nan=False)
    path = tmp_path / "answer.json"
    told.save(path)
    assert NoisyAnswer.load(path).value == told.value


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_is_paid_from_a_budget_for_the_same_neighbours(name: str) -> None:
    right, wrong = (ONE_VERTEX, ONE_EDGE) if "vertex" in name else (ONE_EDGE, ONE_VERTEX)
    budget = Budget(epsilon=1.5, delta=1e-5, filter="basic", neighbours=right)
    ASKED[name](budget=budget, rng=Seeded(1))
    assert float(budget.spent.as_dict()["epsilon"]) == pytest.approx(1)
    with pytest.raises(BudgetExceeded):
        ASKED[name](budget=budget, rng=UNTOUCHABLE)
    for other in (Budget(epsilon=9), Budget(epsilon=9, neighbours=wrong)):
        with pytest.raises(PrivacyError) as caught:
            ASKED[name](budget=other, rng=UNTOUCHABLE)
        assert caught.value.key == "CEL-B045.units"


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda: edge_count(GRAPH, epsilon=1, level="node", rng=UNTOUCHABLE), "CEL-G301"),  # type: ignore[arg-type]
        (lambda: edge_count(GRAPH, epsilon=1, cap=3, rng=UNTOUCHABLE), "CEL-G302"),
        (lambda: BoundedEdgeCount(epsilon=1, cap=0), "CEL-G302"),
        (lambda: BoundedEdgeCount(epsilon=1, cap=()), "CEL-G302"),
        (lambda: BoundedEdgeCount(epsilon=1, cap="8"), "CEL-G302"),  # type: ignore[arg-type]
        (lambda: BoundedEdgeCount(epsilon=1, share=1), "CEL-G302"),
        (lambda: DegreeHistogram(epsilon=1, cap=2.5), "CEL-G302"),  # type: ignore[arg-type]
        (lambda: JointDegrees(epsilon=1, cap=5000), "CEL-G302"),
        (lambda: DegreeHistogram(epsilon=1, strategy="plain"), "CEL-G305"),  # type: ignore[arg-type]
        (lambda: StarCount(epsilon=1, k=1), "CEL-G304"),
        (lambda: StarCount(epsilon=1, k=20).release(GRAPH, rng=UNTOUCHABLE), "CEL-G304"),
        (lambda: StarCount(epsilon=1e-6, k=9, delta=1e-6).release(GRAPH), "CEL-G304"),
        (lambda: TriangleCount(epsilon=1e-9, delta=1e-300), "CEL-G303"),
        (lambda: TriangleCount(epsilon=1, delta=0.9), "CEL-G303"),
        (lambda: TriangleCount(epsilon=1, delta=0), "CEL-I060"),
        (lambda: EdgeCount(epsilon=0), "CEL-I060"),
        (lambda: BoundedEdgeCount(epsilon=1e-9, share=0.99999, cap=(1, 2**20)), "CEL-M020"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(ask: Any, code: str) -> None:
    with pytest.raises(CelosiaError) as caught:
        ask()
    assert caught.value.code == code


def test_the_noise_of_the_number_of_edges_has_the_scale_of_one_edge() -> None:
    mechanism, size = EdgeCount(epsilon=0.1), 4000
    rng = Seeded(11)
    errors = [abs(mechanism.release(GRAPH, rng=rng) - GRAPH.size) for _ in range(size)]
    # The size of Laplace noise has mean and deviation 1 / epsilon; six standard errors.
    tolerance = 6 * 10 / np.sqrt(size)
    assert abs(np.mean(errors) - 10) < tolerance < min(10 - 0.8 * 10, 1.25 * 10 - 10)


@pytest.mark.parametrize(
    "mechanism",
    [
        EdgeCount(epsilon=1),
        DegreeSequence(epsilon=1),
        DegreeHistogram(epsilon=1),
        DegreeHistogram(epsilon=1, strategy="bins"),
        JointDegrees(epsilon=1, cap=3),
    ],
    ids=str,
)
def test_intervals_hold_the_exact_answer_as_often_as_they_say(
    mechanism: GraphMechanism[Any],
) -> None:
    exact = {
        "EdgeCount": [GRAPH.size],
        "DegreeSequence": np.sort(GRAPH.degrees),
        "DegreeHistogram": np.bincount(GRAPH.degrees, minlength=200),
        "JointDegrees": JointDegrees(epsilon=1, cap=3).counts(GRAPH),
    }[type(mechanism).__name__]
    runs, held = 200, 0
    rng = Seeded(7)
    for _ in range(runs):
        measured = mechanism.measure(GRAPH, rng=rng)
        low, high = mechanism.interval(measured, 0.9)  # type: ignore[misc]
        low, high = (
            list(b.values()) if isinstance(b, dict) else np.atleast_1d(b) for b in (low, high)
        )
        held += bool(np.all(np.array(low) <= exact) and np.all(exact <= np.array(high)))
    # Six deviations of a binomial count of 0.9 below its mean.
    assert held >= 0.9 * runs - 6 * np.sqrt(runs * 0.09)


def test_restoring_the_order_takes_most_of_the_noise_away() -> None:
    graph = random_graph(2000, 4000, Seeded(3))
    released = DegreeSequence(epsilon=0.5).release(graph, rng=Seeded(4))
    error = np.abs(released - np.sort(graph.degrees)).mean()
    assert error < 0.1 * DegreeSequence(epsilon=0.5).law.variance ** 0.5
    assert np.all(np.diff(released) >= 0)
    counts = DegreeHistogram(epsilon=0.5).release(graph, rng=Seeded(4))
    assert sum(counts.values()) == graph.order
    assert min(counts.values()) >= 0


def test_a_cap_is_chosen_that_fits_the_degrees() -> None:
    graph = random_graph(2000, 8000, Seeded(3))  # degrees about 8, at most about 20
    caps = Counter(
        BoundedEdgeCount(epsilon=4).measure(graph, rng=Seeded(seed)).parts["cap"]
        for seed in range(30)
    )
    assert caps.most_common(1)[0][0] in {16, 32}
    assert sum(caps[cap] for cap in (8, 16, 32, 64)) >= 25


@pytest.mark.parametrize("cap", [1, 2])
def test_the_exact_law_under_a_cap_hides_a_vertex(cap: int) -> None:
    # All orders of all edges: the law of the kept edges, then that of the noise around them.
    mechanism = BoundedEdgeCount(epsilon=0.7, cap=cap)
    points = np.arange(-60, 60)

    def law(edges: frozenset[tuple[int, int]], order: int) -> np.ndarray:
        kept: Counter[int] = Counter()
        for service in permutations(edges):
            degree = [0] * order
            for u, v in service:
                if max(degree[u], degree[v]) < cap:
                    degree[u] += 1
                    degree[v] += 1
            kept[sum(degree) // 2] += 1
        noise = mechanism.law(cap)
        total = sum(kept.values())
        found = np.zeros(points.size)
        for size, times in kept.items():
            found += times / total * np.array([noise.mass(int(p) - size) for p in points])
        return found

    laws = {edges: law(edges, 4) for edges in all_edge_sets(4) if len(edges) <= 5}
    worst = 0.0
    for edges, here in laws.items():
        for gone in range(4):
            there = law(without_vertex(edges, gone), 3)
            worst = max(worst, float(np.max(here / there)), float(np.max(there / here)))
    assert np.exp(0.69) < worst <= np.exp(0.7) * (1 + 1e-9)


def test_an_audit_of_the_ladder_finds_no_more_than_epsilon_and_finds_a_false_claim() -> None:
    whole = Graph.of([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    less = Graph.of(whole.edges[1:], order=4)
    mechanism = TriangleCount(epsilon=3)
    found = audit(mechanism, whole, less, samples=1500, confidence=0.999999, rng=Seeded(1))
    assert found.verdict != "violated"
    found = audit(mechanism, whole, less, claim=0.3, samples=1500, rng=Seeded(1))
    assert found.verdict == "violated"


def test_the_count_of_triangles_tells_how_far_it_has_come() -> None:
    steps: list[Step] = []
    triangle_count(GRAPH, epsilon=1, rng=Seeded(1), progress=steps.append)
    assert steps[0].total == GRAPH.order


def test_a_seed_repeats_an_answer() -> None:
    for mechanism in MECHANISMS:
        one, two = (mechanism.release(GRAPH, rng=Seeded(8)) for _ in range(2))
        assert np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two


def test_the_price_of_choosing_a_cap_is_part_of_epsilon() -> None:
    mechanism = BoundedEdgeCount(epsilon=1, share=0.2)
    assert mechanism.chosen_price == Fraction(1, 5)
    assert mechanism.noise_price == Fraction(4, 5)
    assert BoundedEdgeCount(epsilon=1, cap=7).noise_price == 1
