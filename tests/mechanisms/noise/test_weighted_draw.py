"""The exact choice: its law, its undecided cases, its extremes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from celosia.core.errors import InputError, PrivacyError
from celosia.core.randomness import Seeded, Source, System
from celosia.mechanisms.noise import draw_weighted
from celosia.mechanisms.noise.weighted_draw import exp_minus

DIGITS = 120


def chances(exponents: Sequence[int], rate: Fraction, weights: Sequence[int]) -> list[Decimal]:
    """By definition, in many digits."""
    with localcontext() as context:
        context.prec = DIGITS
        speed = Decimal(rate.numerator) / rate.denominator
        parts = [w * (-speed * e).exp() for e, w in zip(exponents, weights, strict=True)]
        return [part / sum(parts) for part in parts]


class Script(Source):
    """A source that yields the binary digits of one given number in [0, 1), then zeros."""

    simulation = True

    def __init__(self, number: Fraction):
        self._rest = number
        self.words_read = 0

    def raw(self, count: int) -> bytes:
        found = b""
        for _ in range(count // 8):
            self._rest *= 2**64
            word = floor(self._rest)
            self._rest -= word
            found += word.to_bytes(8, "little")
            self.words_read += 1
        return found


def decided(number: Fraction, chances_: Sequence[Decimal]) -> int:
    with localcontext() as context:
        context.prec = DIGITS
        end = Decimal(0)
        for index, chance in enumerate(chances_):
            end += chance
            if Decimal(number.numerator) / number.denominator < end:
                return index
    raise AssertionError("the chances do not add up to 1")


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("exponents", "rate", "weights"),
    [
        ([2, 1, 0], Fraction(1, 2), [1, 1, 1]),  # spec check 6: .1863237, .3071959, .5064804
        ([2, 1, 0], Fraction(1), [1, 1, 1]),  # monotone: .0900306, .2447285, .6652410
        ([0, 3, 1, 10, 4], Fraction(1, 3), [1, 5, 0, 100, 2]),
        ([10**6 + 3, 10**6, 10**6 + 1], Fraction(2, 5), [1, 1, 1]),
    ],
)
def test_the_shares_are_the_exact_chances(
    exponents: list[int], rate: Fraction, weights: list[int]
) -> None:
    size, rng = 10_000, Seeded(11)
    values, amounts = np.array(exponents), np.array(weights)
    drawn = [draw_weighted(values, rate=rate, rng=rng, weights=amounts) for _ in range(size)]
    counts = np.bincount(drawn, minlength=len(exponents))

    def p_value(assumed: Fraction) -> float:
        expected = size * np.array([float(c) for c in chances(exponents, assumed, weights)])
        possible = expected > 0
        assert counts[~possible].sum() == 0
        away = (counts - expected)[possible]
        return float(chi2.sf((away**2 / expected[possible]).sum(), possible.sum() - 1))

    assert p_value(rate) > 1e-6
    assert p_value(rate * Fraction(4, 5)) < 1e-6
    assert p_value(rate * Fraction(5, 4)) < 1e-6


def test_the_chances_of_the_specification() -> None:
    found = chances([2, 1, 0], Fraction(1, 2), [1, 1, 1])
    assert [round(float(c), 7) for c in found] == [0.1863237, 0.3071959, 0.5064804]


candidates = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 6), st.integers(0, 500)), st.one_of(st.just(1), st.integers(0, 9))
    ),
    min_size=1,
    max_size=12,
).filter(lambda pairs: any(weight for _, weight in pairs))


@settings(max_examples=150)
@given(candidates, st.fractions(Fraction(1, 9), 3), st.data())
def test_a_number_next_to_a_boundary_is_decided_right(
    pairs: list[tuple[int, int]], rate: Fraction, data: st.DataObject
) -> None:
    exponents, weights = [e for e, _ in pairs], [w for _, w in pairs]
    exact = chances(exponents, rate, weights)
    cut = data.draw(st.integers(0, len(pairs)))
    with localcontext() as context:
        context.prec = DIGITS
        boundary = Fraction(sum(exact[:cut], Decimal(0)))
    places = data.draw(st.sampled_from([40, 64, 70, 128, 200]))
    side = data.draw(st.sampled_from([-1, 1]))
    number = boundary + side * Fraction(1, 2**places)
    if not 0 <= number < 1:
        return
    found = draw_weighted(
        np.array(exponents), rate=rate, rng=Script(number), weights=np.array(weights)
    )
    assert found == decided(number, exact)


def test_only_doubt_takes_more_random_words() -> None:
    exact = chances([0, 1], Fraction(1), [1, 1])
    boundary = Fraction(exact[0])
    for side, places, words, index in [
        (-1, 2, 1, 0),
        (1, 3, 1, 1),
        (-1, 90, 2, 0),
        (1, 90, 2, 1),
        (-1, 190, 4, 0),
        (1, 190, 4, 1),
    ]:
        script = Script(boundary + side * Fraction(1, 2**places))
        assert draw_weighted(np.array([0, 1]), rate=Fraction(1), rng=script) == index
        assert script.words_read == words


def test_a_candidate_that_no_float_can_tell_from_impossible_is_still_possible() -> None:
    # exp(-1000) is 0 as a float; a number above 1 - exp(-1000) = 1 - 2^-1442.7 still finds it.
    exponents = np.array([0, 1000])
    assert draw_weighted(exponents, rate=Fraction(1), rng=Script(1 - Fraction(1, 2**1500))) == 1
    assert draw_weighted(exponents, rate=Fraction(1), rng=Script(1 - Fraction(1, 2**1400))) == 0
    first = np.array([1000, 0])
    assert draw_weighted(first, rate=Fraction(1), rng=Script(Fraction(1, 2**1500))) == 0
    assert draw_weighted(first, rate=Fraction(1), rng=Script(Fraction(1, 2**1400))) == 1


def test_exponents_and_rates_of_every_size_are_taken() -> None:
    rng, most = Seeded(5), 2**63 - 1
    assert draw_weighted(np.array([5]), rate=Fraction(1), rng=rng) == 0
    assert draw_weighted(np.array([most, most - 1]), rate=Fraction(10**30), rng=rng) == 1
    assert draw_weighted(np.array([0, most]), rate=Fraction(10) ** 400, rng=rng) == 0
    drawn = {
        draw_weighted(np.array([0, most]), rate=1 / Fraction(10) ** 400, rng=rng) for _ in range(60)
    }
    assert drawn == {0, 1}
    equal = np.full(4, most)
    assert {draw_weighted(equal, rate=Fraction(3), rng=rng) for _ in range(200)} == {0, 1, 2, 3}
    heavy = np.array([2**61, 2**61 - 1])
    assert draw_weighted(np.array([0, 100]), rate=Fraction(9), rng=rng, weights=heavy) == 0


def test_zero_weights_at_either_end_are_never_chosen() -> None:
    weights = np.array([0, 1, 0, 1, 0])
    for number in (Fraction(0), Fraction(1, 2) - Fraction(1, 2**70), 1 - Fraction(1, 2**64)):
        script = Script(number)
        found = draw_weighted(
            np.array([0, 5, 0, 5, 0]), rate=Fraction(1), rng=script, weights=weights
        )
        assert found == (1 if number < Fraction(1, 2) else 3)


@pytest.mark.statistical
def test_a_million_candidates_of_the_right_band_are_chosen() -> None:
    exponents = np.arange(1_000_000)
    rng = Seeded(8)
    drawn = [draw_weighted(exponents, rate=Fraction(7, 10), rng=rng) for _ in range(12)]
    assert max(drawn) < 60  # beyond with chance exp(-42)
    assert len(set(drawn)) > 1  # all alike with chance below 0.6^12
    spread = [draw_weighted(exponents % 2, rate=Fraction(1), rng=rng) for _ in range(12)]
    assert max(spread) > 500_000 > min(spread)  # missed with chance 2^-11


class Ones(Source):
    """A broken source."""

    simulation = True

    def raw(self, count: int) -> bytes:
        return b"\xff" * count


def test_a_source_that_never_decides_is_refused() -> None:
    with pytest.raises(PrivacyError) as caught:
        draw_weighted(np.array([0, 10**5]), rate=Fraction(1), rng=Ones())
    assert caught.value.code == "CEL-M033"


@pytest.mark.parametrize(
    ("exponents", "weights", "rate", "code"),
    [
        ([], None, 1, "CEL-M031"),
        ([1, 2], [0, 0], 1, "CEL-M031"),
        ([1, 2], [2**62, 0], 1, "CEL-M031"),
        ([1, 2], [2**63 - 1, 2**63 - 1], 1, "CEL-M031"),
        ([1, -2], None, 1, "CEL-M030"),
        ([1, 2], [1, -1], 1, "CEL-M030"),
        ([1, 2], [1], 1, "CEL-M030"),
        ([1.5, 2], None, 1, "CEL-M030"),
        ([[1], [2]], None, 1, "CEL-M030"),
        ([1, 2], None, 0, "CEL-M032"),
        ([1, 2], None, -1, "CEL-M032"),
        ([1, 2], None, "1", "CEL-M032"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(
    exponents: list[int], weights: list[int] | None, rate: object, code: str
) -> None:
    given_weights = None if weights is None else np.array(weights)
    values = np.array(exponents, dtype=None if exponents else np.int64)
    with pytest.raises(InputError) as caught:
        draw_weighted(values, rate=rate, rng=System(), weights=given_weights)  # type: ignore[arg-type]
    assert caught.value.code == code


@given(st.fractions(0, 400), st.sampled_from([20, 64, 128, 300]))
def test_the_enclosure_of_an_exponential_holds_it(exponent: Fraction, bits: int) -> None:
    low, high = exp_minus(exponent, bits)
    with localcontext() as context:
        context.prec = 200
        value = (-Decimal(exponent.numerator) / exponent.denominator).exp() * 2**bits
        assert low <= value <= high
    assert high - low <= 3
