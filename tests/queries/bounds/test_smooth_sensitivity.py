"""Smoothing: published values, no early stop, and how it depends on its parameters."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, isclose, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma
from tests.queries.bounds.plain_facts import PlainFacts

from celosia.core.errors import CelosiaError, InputError, QueryRefused
from celosia.queries.algebra import Column, Join, Keys, Relation, Scan
from celosia.queries.bounds.growth import (
    ONE,
    ZERO,
    CompositeGrowth,
    Growth,
    Leaf,
    largest,
    least,
    product,
    total,
)
from celosia.queries.bounds.noise import smooth_scale
from celosia.queries.bounds.smooth_sensitivity import (
    FARTHEST,
    SLACK,
    choose_beta,
    gamma_quantile,
    smooth,
)
from celosia.queries.bounds.stability import Rule, StabilityAnalysis


def line(start: int, cap: int | None = None) -> Leaf:
    return Leaf(start, grows=True, cap=cap)


def scanned(growth: Growth, rate: Fraction) -> tuple[float, int]:
    """The same by trying every distance well beyond the end of the search, in floats."""
    values = [
        (exp(-float(rate) * k) * growth.at(k), -k)
        for k in range(2 * ceil(max(growth.degree, 1) / rate))
    ]
    best, distance = max(values)
    return best, -distance


@pytest.mark.parametrize(
    ("growth", "epsilon", "delta", "expected", "distance"),
    [
        (ONE, 0.1, 1e-8, 1.0, 0),
        (ONE, 1, 1e-8, 1.0, 0),
        (line(250), 0.1, 1e-8, 270.4590928149084, 132),
        (line(100), 0.1, 1e-10, 215.4674322436261, 374),
        (product([Leaf(2), line(2000)]), 0.1, 1e-8, 4000.0, 0),
    ],
)
def test_published_bounds(
    growth: Growth, epsilon: float, delta: float, expected: float, distance: int
) -> None:
    found = smooth(growth, beta=choose_beta(epsilon, delta))
    assert isclose(found.bound, expected, rel_tol=1e-11)
    assert found.distance == distance
    assert found.bound >= Fraction(expected) * (1 - Fraction(1, 10**14))


def test_published_scales() -> None:
    for epsilon, expected in ((0.1, 20), (1, 2)):
        assert (
            smooth_scale(smooth(ONE, beta=choose_beta(epsilon, 1e-8)).bound, epsilon=epsilon)
            == expected
        )
    bound = smooth(line(250), beta=choose_beta(0.1, 1e-8)).bound
    assert isclose(smooth_scale(bound, epsilon=0.1), 5409.181856298167, rel_tol=1e-11)


def chain() -> Growth:
    """t1(a)=t2(b), t2(c)=t3(d), t3(e)=t4(f), written from left to right."""

    def on(left: str, a: str, right: str, b: str) -> Keys:
        return ((Column(left, a), Column(right, b)),)

    source: Relation = Scan("t1", "t1")
    for left, a, right, b in (
        ("t1", "a", "t2", "b"),
        ("t2", "c", "t3", "d"),
        ("t3", "e", "t4", "f"),
    ):
        source = Join(source, Scan(right, right), on(left, a, right, b))
    facts = PlainFacts(
        {
            ("t1", "a"): 30,
            ("t2", "b"): 1000,
            ("t2", "c"): 30,
            ("t3", "d"): 1,
            ("t3", "e"): 30,
            ("t4", "f"): 1,
        }
    )
    return largest(StabilityAnalysis(facts, rule="elastic").stabilities(source).values())


def test_the_search_goes_on_after_the_first_decrease() -> None:
    """FIX-6: the first decrease is at k = 0 with 27000."""
    rate = Fraction(3.5 / (2 * log(2e6)))
    assert isclose(rate, 0.1206176361, rel_tol=1e-9)
    growth = chain()
    assert growth.at(0) == 27_000
    assert growth.at(1) * exp(-rate) < 27_000
    found = smooth(growth, beta=rate)
    assert found.distance == 16
    assert isclose(found.bound, 42624.016, rel_tol=1e-8)


def test_the_search_finds_a_far_second_peak() -> None:
    """(A join B) join (C join D): one product is flat and falls at once, the other peaks later."""

    def on(left: str, right: str) -> Keys:
        return ((Column(*left.split(".")), Column(*right.split("."))),)

    source = Join(
        Join(Scan("A", "A"), Scan("B", "B"), on("A.x", "B.x")),
        Join(Scan("C", "C"), Scan("D", "D"), on("C.z", "D.z")),
        on("A.y", "C.y"),
    )
    known = {"A.y": 10**4, "B.x": 10**4, "C.z": 10**4, "C.y": 10**7, "A.x": 1, "D.z": 1}
    facts = PlainFacts({(name[0], name[2]): number for name, number in known.items()})
    rules: tuple[Rule, ...] = ("elastic", "tight")
    for rule in rules:
        growth = largest(StabilityAnalysis(facts, rule=rule).stabilities(source).values())
        assert growth.at(0) == 10**12 > growth.at(1) * exp(-choose_beta(0.1, 1e-8))
        found = smooth(growth, beta=choose_beta(0.1, 1e-8))
        assert found.distance == 396
        assert float(f"{float(found.bound):.2e}") == 1.46e13


LEAVES = st.builds(
    lambda start, cap: Leaf(start, grows=True, cap=cap),
    st.integers(0, 50),
    st.none() | st.integers(1, 80),
) | st.builds(Leaf, st.integers(0, 20))
GROWTHS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda combine, parts: combine(parts),
        st.sampled_from([total, product, largest, least]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(GROWTHS, st.sampled_from([Fraction(1, 20), Fraction(1, 3), Fraction(2)]))
def test_the_bound_is_the_largest_of_all_distances(growth: Growth, rate: Fraction) -> None:
    found = smooth(growth, beta=rate)
    expected, distance = scanned(growth, rate)
    assert isclose(found.bound, expected, rel_tol=1e-12)
    assert expected == 0 or isclose(
        growth.at(found.distance) * exp(-rate * found.distance), expected, rel_tol=1e-12
    )
    assert found.distance == distance or isclose(
        growth.at(distance) * exp(-rate * distance), found.bound, rel_tol=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(GROWTHS)
def test_logarithms_degrees_and_limits_agree_with_exact_values(growth: Growth) -> None:
    distances = np.array([0, 1, 2, 5, 17, 1000], dtype=np.int64)
    with np.errstate(divide="ignore"):
        expected = np.log([float(growth.at(int(k))) for k in distances])
    assert np.allclose(growth.logarithms(distances), expected, rtol=1e-12)
    for near, far in ((1, 2), (3, 50), (10, 1000)):
        assert growth.at(near) * far**growth.degree >= growth.at(far) * near**growth.degree
    if growth.limit is not None:
        assert growth.at(10**6) == growth.limit
    else:
        assert growth.at(10**9) > growth.at(10**6)


def test_shared_parts_are_worked_out_once() -> None:
    growth: Growth = line(1)
    for _ in range(60):
        growth = total([growth, growth])
    assert isinstance(growth, CompositeGrowth)
    assert growth.at(0) == 2**60
    assert growth.degree == 1
    assert "(...)" in str(growth)


def test_products_beyond_floats_are_exact() -> None:
    growth = product([line(10**12)] * 40)
    found = smooth(growth, beta=Fraction(1, 10))
    assert found.bound == 10**480


@pytest.mark.parametrize(("cells", "expected"), [(1, 14.509), (2, 17.422), (10, 33.648)])
def test_radii_of_several_cells(cells: int, expected: float) -> None:
    found = gamma_quantile(cells, Fraction(1, 2 * 10**6))
    assert round(float(found), 3) == expected
    assert gamma.sf(float(found), cells) <= 5e-7


def test_up_to_epsilon_2_beta_is_the_published_one() -> None:
    for epsilon in (0.01, 0.1, 1, 2):
        for delta in (1e-3, 1e-6, 1e-14):
            published = epsilon / (2 * log(2 / delta))
            found = choose_beta(epsilon, delta)
            assert found < Fraction(published) * (1 + Fraction(1, 10**14))
            assert isclose(found, published - SLACK, rel_tol=1e-12)


def test_beyond_beta_is_what_can_be_proven() -> None:
    for epsilon, delta in ((5, 1e-6), (20, 1e-3), (100, 1e-10)):
        found = choose_beta(epsilon, delta)
        assert found < epsilon / (2 * log(2 / delta))
        assert isclose(found, log(1 + epsilon / (2 * log(1 / delta))), rel_tol=1e-9)


def test_bounds_and_scales_fall_with_epsilon_and_delta() -> None:
    growth = product([line(44), line(1)])
    bounds = [smooth(growth, beta=choose_beta(each, 1e-8)).bound for each in (0.01, 0.1, 1, 3, 10)]
    scales = [
        smooth_scale(bound, epsilon=each)
        for bound, each in zip(bounds, (0.01, 0.1, 1, 3, 10), strict=True)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert scales == sorted(set(scales), reverse=True)
    by_delta = [smooth(growth, beta=choose_beta(0.1, each)).bound for each in (1e-14, 1e-8, 1e-3)]
    assert by_delta == sorted(by_delta, reverse=True)


def test_nothing_private_has_no_bound_to_pay_for() -> None:
    assert smooth(ZERO, beta=Fraction(1, 100)).bound == 0


@pytest.mark.parametrize("delta", [0, -1e-6, 1, float("nan"), None])
def test_a_delta_of_0_is_refused(delta: object) -> None:
    with pytest.raises(InputError) as refused:
        choose_beta(1, delta)
    assert refused.value.code == "CEL-I060"


def test_a_search_without_end_is_refused_before_it_begins() -> None:
    for rate in (Fraction(1, FARTHEST + 1), Fraction(0)):
        with pytest.raises(QueryRefused) as refused:
            smooth(line(1), beta=rate)
        assert refused.value.key == "CEL-Q062.distances"
    assert smooth(line(1), beta=Fraction(1, 10**5)).distance == 10**5 - 1


def test_the_search_can_be_cancelled() -> None:
    def stop(step: object) -> None:
        raise CelosiaError("CEL-C001")

    with pytest.raises(CelosiaError):
        smooth(line(1), beta=Fraction(1, 10), progress=stop)
