"""Beliefs before and after."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.accounting.belief import (
    advantage,
    belief_interval,
    belief_table,
    epsilon_for_advantage,
    epsilon_for_belief,
)
from celosia.core.errors import InputError, PrivacyError

EPSILONS = (0.01, 0.1, 1, 5, 10)
TABLE = {
    0.001: ".0010,.0010 .0009,.0011 .0004,.0027 .0000,.1484 .0000,1.0000",
    0.01: ".0099,.0101 .0090,.0111 .0037,.0272 .0001,.9933 .0000,1.0000",
    0.1: ".0990,.1010 .0905,.1105 .0368,.2718 .0007,.9939 .0000,1.0000",
    0.5: ".4950,.5050 .4524,.5476 .1839,.8161 .0034,.9966 .0000,1.0000",
    0.75: ".7475,.7525 .7237,.7738 .3204,.9080 .0051,.9983 .0000,1.0000",
    0.99: ".9899,.9901 .9889,.9910 .9728,.9963 .0067,.9999 .0000,1.0000",
}


def test_all_thirty_intervals_of_the_published_table() -> None:
    table = belief_table(tuple(TABLE), EPSILONS)
    assert [round(each, 2) for each in table.factors[:3]] == [1.01, 1.11, 2.72]
    assert [round(each) for each in table.factors[3:]] == [148, 22026]
    seen = 0
    for row, printed in zip(table.rows, TABLE.values(), strict=True):
        for cell, text in zip(row, printed.split(), strict=True):
            low, high = text.split(",")
            assert (f"{cell.low:.4f}", f"{cell.high:.4f}") == (
                f"{float(low):.4f}",
                f"{float(high):.4f}",
            )
            seen += 1
    assert seen == 30
    assert str(table).splitlines()[4].split()[3] == "0.1839-0.8161"


PROBABILITY = st.floats(0.001, 0.999)


@given(p=PROBABILITY, q=PROBABILITY, delta=st.sampled_from([0.0, 1e-6, 0.01]))
def test_the_interval_holds_exactly_the_probabilities_that_the_definition_allows(
    p: float, q: float, delta: float
) -> None:
    epsilon = 0.7
    belief = belief_interval(p, epsilon, delta=delta)
    size = exp(epsilon)
    pairs = [(p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)]
    gaps = [size * other + delta - one for one, other in pairs]
    if min(gaps) > 1e-9:
        assert belief.low <= q <= belief.high
    if min(gaps) < -1e-9:
        assert not belief.low <= q <= belief.high


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.01, 0.2])
@pytest.mark.parametrize("p", [0.3, 0.5, 0.7])
def test_the_ends_of_an_interval_just_keep_the_definition(p: float, delta: float) -> None:
    belief = belief_interval(p, 0.7, delta=delta)
    for q in (belief.low, belief.high):
        assert 0 < q < 1
        pairs = [(p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)]
        least = min(exp(0.7) * other + delta - one for one, other in pairs)
        assert least == pytest.approx(0, abs=1e-12)


def test_a_large_epsilon_protects_nobody_and_overflows_nothing() -> None:
    belief = belief_interval(0.5, 5000)
    assert (belief.low, belief.high) == (0.0, 1.0)


@given(p=PROBABILITY, gap=st.floats(0.0001, 0.9))
def test_the_epsilon_for_a_belief_is_the_largest_that_keeps_it(p: float, gap: float) -> None:
    wish = p + gap * (1 - p) * 0.999
    epsilon = epsilon_for_belief(p, at_most=wish)
    assert belief_interval(p, epsilon).high <= wish * (1 + 1e-12)
    assert belief_interval(p, epsilon * 1.001 + 1e-6).high > wish


def test_the_epsilon_for_a_belief_in_closed_form() -> None:
    assert epsilon_for_belief(0.5, at_most=0.75) == pytest.approx(log(2))
    assert epsilon_for_belief(0.01, at_most=0.1) == pytest.approx(log(10))
    assert epsilon_for_belief(0.5, at_most=0.5) == 0
    small = epsilon_for_belief(0.1, at_most=0.3, delta=0.05)
    assert belief_interval(0.1, small, delta=0.05).high == pytest.approx(0.3)


@given(wish=st.floats(0.01, 0.99), delta=st.floats(0, 0.009))
def test_the_epsilon_for_an_advantage_inverts_it(wish: float, delta: float) -> None:
    epsilon = epsilon_for_advantage(wish, delta=delta)
    assert advantage(epsilon, delta=delta) == pytest.approx(wish)
    assert advantage(epsilon, delta=delta) <= wish * (1 + 1e-14)


@given(epsilon=st.floats(0, 5), threshold=st.floats(0, 1))
def test_no_test_of_randomised_response_beats_the_advantage(
    epsilon: float, threshold: float
) -> None:
    truth = 1 / (1 + exp(-epsilon))
    # Guess "in" after a yes, and after a no with some probability.
    hit, alarm = truth + (1 - truth) * threshold, (1 - truth) + truth * threshold
    assert hit - alarm <= advantage(epsilon) + 1e-12
    assert truth - (1 - truth) == pytest.approx(advantage(epsilon), abs=1e-12)


@pytest.mark.parametrize(
    "attempt",
    [
        partial(epsilon_for_belief, 0.5, at_most=0.4),
        partial(epsilon_for_belief, 0.5, at_most=0.5, delta=0.01),
        partial(epsilon_for_advantage, 0.001, delta=0.01),
    ],
)
def test_impossible_targets_are_refused(attempt: Callable[[], float]) -> None:
    with pytest.raises(PrivacyError) as caught:
        attempt()
    assert caught.value.code == "CEL-B071"


@pytest.mark.parametrize(
    ("attempt", "code"),
    [
        (partial(belief_interval, 0, 1), "CEL-I060"),
        (partial(belief_interval, 1.5, 1), "CEL-I060"),
        (partial(belief_interval, 0.5, -1), "CEL-I060"),
        (partial(belief_interval, 0.5, 1, delta=1), "CEL-I060"),
        (partial(epsilon_for_belief, 0.5, at_most=1), "CEL-I060"),
    ],
)
def test_bad_numbers_are_refused(attempt: Callable[[], object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        attempt()
    assert caught.value.code == code


def test_a_factor_beyond_all_floats_is_no_number_for_json() -> None:
    assert belief_table((0.5,), (1, 1000)).as_dict()["factors"] == [exp(1), None]
