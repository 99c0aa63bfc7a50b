"""The published SQL experiment, with the arithmetic that it was published with."""

from __future__ import annotations

from math import isclose

import pytest

from celosia.lab.sql.flex import (
    THESIS_FREQUENCIES,
    FlexFacts,
    flex_smooth,
    thesis_delta,
    thesis_question,
    thesis_sensitivity,
)
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.growth import Leaf, largest, product
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth

PRINTED = {1: "185.743907315323", 2: "119574.652436273", 3: "1.34E+08", 4: "2.13E+11"}

BOUNDS = {
    (0.1, 1): (185.744, 415),
    (0.1, 2): (119575, 895),
    (0.1, 3): (1.34126e8, 1361),
    (0.1, 4): (2.12965e11, 1823),
    (0.01, 1): (1703.82, None),
    (0.01, 2): (1.14473e7, None),
    (0.01, 3): (1.30193e11, None),
    (0.01, 4): (2.08153e15, None),
    (1.0, 1): (44.0375, 2),
    (1.0, 2): (1763.41, 74),
    (1.0, 3): (175873, 125),
    (1.0, 4): (2.63174e7, 173),
}


def test_the_four_printed_sensitivities() -> None:
    for joins, printed in PRINTED.items():
        found, _ = thesis_sensitivity(joins, epsilon=0.1)
        digits = len(printed.split("E")[0].replace(".", ""))
        assert float(f"{found:.{digits - 1}e}") == float(printed)


@pytest.mark.parametrize(("epsilon", "joins"), BOUNDS)
def test_the_twelve_bounds_behind_the_columns(epsilon: float, joins: int) -> None:
    found, distance = thesis_sensitivity(joins, epsilon=epsilon)
    expected, expected_distance = BOUNDS[epsilon, joins]
    assert float(f"{found:.5e}") == pytest.approx(expected, rel=1e-15)
    assert expected_distance in (None, distance)


@pytest.mark.parametrize(("epsilon", "joins"), BOUNDS)
def test_our_own_search_agrees_where_there_is_one_peak(epsilon: float, joins: int) -> None:
    question = thesis_question(joins)
    (count,) = question.aggregates
    growth = elastic_sensitivity(question, count, facts=FlexFacts(THESIS_FREQUENCIES)).growth
    found = smooth(growth, beta=choose_beta(epsilon, thesis_delta()))
    expected, distance = thesis_sensitivity(joins, epsilon=epsilon)
    assert isclose(found.bound, expected, rel_tol=1e-9)
    assert found.distance == distance


def test_the_true_frequency_of_lineitem_would_have_given_more() -> None:
    """FIX-12."""
    question = thesis_question(2)
    facts = FlexFacts({**THESIS_FREQUENCIES, ("lineitem", "orderkey"): 7})
    growth = elastic_sensitivity(
        question, question.aggregates[0], facts=facts, rule="elastic"
    ).growth
    found, _ = flex_smooth(growth, epsilon=0.1, delta=thesis_delta())
    assert round(found, 2) == 120376.38


def test_the_first_decrease_is_too_early() -> None:
    """FIX-6: why none of this may protect anybody."""
    middle, low = Leaf(30, grows=True), Leaf(1, grows=True)
    growth = largest([product([middle] * 3), product([Leaf(1000, grows=True), low, low])])
    early, distance = flex_smooth(growth, epsilon=3.5, delta=1e-6)
    assert (early, distance) == (27000.0, 0)
    assert smooth(growth, beta=choose_beta(3.5, 1e-6)).bound > 42624


def test_the_bound_of_nothing_private_is_0() -> None:
    assert flex_smooth(Leaf(0), epsilon=1, delta=1e-6) == (0.0, 0)
