"""dBitFlip: what its reports give away, its errors, and what a device keeps."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp, inf, isclose, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.collect.scripted_sources import ScriptedSource

from celosia.collect.coins import WHOLE
from celosia.collect.memory import Memory
from celosia.collect.numbers.buckets import Buckets
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.reports import Reports
from celosia.core.errors import BudgetExceeded, InputError
from celosia.core.randomness import Seeded

USERS = 500_000
EXPECTED = USERS * (1 - np.exp(-0.5)) * np.exp(-np.arange(26) / 2)
BITS = (1, 2, 4, 8, 12, 16, 24)
ERRORS = {
    0.05: (144220, 101979, 72110, 50989, 41633, 36055, 29438),
    0.5: (14401, 10183, 7200, 5090, 4155, 3598, 2937),
    1: (7170, 5069, 3583, 2532, 2066, 1787, 1457),
    2: (3528, 2493, 1760, 1241, 1010, 872, 707),
    4: (1683, 1186, 833, 581, 467, 399, 316),
    8: (853, 595, 409, 272, 207, 166, 109),
    16: (697, 483, 327, 209, 151, 111, 42),
    32: (693, 480, 325, 208, 150, 110, 40),
}
"""Root mean square errors of 500,000 users over 26 buckets, by epsilon, for each of BITS."""


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_reports_are_as_private_as_they_say(bits: int, epsilon: float) -> None:
    protocol = DBitFlip(epsilon=epsilon, buckets=4, bits=bits)
    truth = Fraction(protocol.coin.heads, WHOLE)
    choices = list(combinations(range(4), bits))

    def law(value: int) -> list[Fraction]:
        found = []
        for asked in choices:
            for said in product((0, 1), repeat=bits):
                chance = Fraction(1, len(choices))
                for bucket, bit in zip(asked, said, strict=True):
                    chance *= truth if bit == (bucket == value) else 1 - truth
                found.append(chance)
        return found

    every = [law(value) for value in range(4)]
    assert all(sum(each) == 1 for each in every)
    largest = max(
        one / other
        for first in every
        for second in every
        for one, other in zip(first, second, strict=True)
    )
    claimed = epsilon / 2 if bits == 1 else epsilon
    assert float(protocol.report_epsilon) == claimed
    assert protocol.loss.as_dict() == DBitFlip(epsilon=claimed, buckets=4).loss.as_dict()
    assert float(largest) <= exp(claimed)
    assert isclose(float(largest), exp(claimed), rel_tol=1e-8)  # coins are multiples of 2^-32


def test_a_bit_is_true_exactly_as_often_as_the_coin_says() -> None:
    protocol = DBitFlip(epsilon=1, buckets=4, bits=4)
    heads = protocol.coin.heads
    there = np.array([[True, True, False, False]])
    said = protocol.draw_bits(there, ScriptedSource([heads - 1, heads, heads - 1, heads]))
    assert said.tolist() == [[True, False, False, True]]


def test_buckets_are_drawn_uniformly_and_flips_have_their_chance() -> None:
    protocol = DBitFlip(epsilon=1, buckets=5, bits=2)
    made = protocol.client(rng=Seeded(1)).privatise(np.zeros(40_000, dtype=int))
    asked, said = protocol.unpack_reports(made.packed)
    pairs = np.bincount(asked[:, 0] * 5 + asked[:, 1], minlength=25)
    seen = np.array([pairs[low * 5 + high] for low, high in combinations(range(5), 2)])
    assert seen.sum() == 40_000
    # Chi-squared of 9 degrees of freedom is above 33.7 once in 10,000 times.
    assert ((seen - 4_000) ** 2 / 4_000).sum() < 33.7
    truth = exp(0.5) / (exp(0.5) + 1)
    for bucket, chance in ((0, truth), (3, 1 - truth)):
        bits = said[asked == bucket]
        assert abs(float(bits.mean()) - chance) < 4 * sqrt(0.25 / bits.size)


def test_the_formula_gives_the_published_errors() -> None:
    for epsilon, row in ERRORS.items():
        for bits, published in zip(BITS, row, strict=True):
            protocol = DBitFlip(epsilon=epsilon, buckets=26, bits=bits)
            found = [protocol.variance(USERS, count=each) for each in EXPECTED.tolist()]
            # Whole numbers, and one draw of the data rather than its mean.
            assert abs(sqrt(np.mean(found)) - published) < 0.01 * published + 0.6


@pytest.mark.parametrize(("bits", "epsilon"), [(1, 1), (4, 2), (24, 4), (8, 0.05), (24, 32)])
def test_pooled_errors_are_those_of_the_formula(bits: int, epsilon: float) -> None:
    protocol = DBitFlip(epsilon=epsilon, buckets=26, bits=bits)
    law = np.random.default_rng(4)
    counts = np.rint(EXPECTED).astype(int)
    counts[0] += USERS - counts.sum()
    errors = []
    for _ in range(60):  # each bucket's sums by themselves have exactly this law
        server = protocol.server()
        true = law.binomial(counts, bits / 26)
        other = law.binomial(USERS - counts, bits / 26)
        truth = protocol.coin.chance
        server.queried += true + other
        server.ones += law.binomial(true, truth) + law.binomial(other, 1 - truth)
        server.users = USERS
        errors.append(server.estimate(range(26)).counts - counts)
    published = ERRORS[epsilon][BITS.index(bits)]
    # 1,560 squares: 1.8 percent of the root; more where the largest count rules (24 bits).
    assert abs(sqrt(float(np.square(errors).mean())) / published - 1) < 0.1


def data(users: int = USERS) -> NDArray[np.int64]:
    drawn = np.random.default_rng(1).exponential(2.0, users).astype(np.int64)
    return np.clip(drawn, 0, 25)


def test_one_run_on_the_published_data_is_within_twice_its_errors() -> None:
    values = data()
    counts = np.bincount(values, minlength=26)
    protocol = DBitFlip(epsilon=1, buckets=26, bits=4)
    server = protocol.server().absorb(protocol.client(rng=Seeded(2)).privatise(values))
    found = server.estimate(range(26))
    error = sqrt(float(np.square(found.counts - counts).mean()))
    assert 2997 / 2 < error < 2 * 2997
    assert np.corrcoef(found.counts, counts)[0, 1] > 0.99
    assert np.abs(found.shares - counts / USERS).max() < protocol.largest_error(USERS)
    again = server.estimate(range(25, -1, -1))
    assert [again[each] for each in range(26)] == [found[each] for each in range(26)]


def test_with_all_bits_and_a_large_epsilon_nothing_is_lost() -> None:
    values = data(20_000)
    protocol = DBitFlip(epsilon=64, buckets=26, bits=26)
    server = protocol.server().absorb(protocol.client(rng=Seeded(2)).privatise(values))
    assert np.allclose(server.estimate(range(26)).counts, np.bincount(values, minlength=26), atol=2)


def test_estimates_are_unbiased_with_the_stated_variance() -> None:
    protocol = DBitFlip(epsilon=2, buckets=8, bits=3)
    counts = np.array([900, 500, 300, 150, 100, 50, 0, 0])
    values = np.repeat(np.arange(8), counts)
    rng = Seeded(9)
    runs = 300
    found = [
        protocol.server().absorb(protocol.client(rng=rng).privatise(values)).estimate(range(8))
        for _ in range(runs)
    ]
    errors = np.array([each.counts - counts for each in found])
    expected = np.array([protocol.variance(2_000, count=each) for each in counts.tolist()])
    assert np.all(np.abs(errors.mean(axis=0)) < 4 * np.sqrt(expected / runs))
    # 2,400 squares: 2.9 percent. A variance of 0.8 or 1.25 times this one is refused.
    assert 0.9 < float((errors**2 / expected).mean()) < 1.1
    stated = np.mean([each.errors**2 for each in found], axis=0)
    assert np.allclose(stated, expected, rtol=0.1)


def test_the_bound_of_the_paper_holds() -> None:
    protocol = DBitFlip(epsilon=1, buckets=6, bits=2)
    values = np.repeat(np.arange(6), 100)
    rng = Seeded(3)
    worst = [
        np.abs(
            protocol.server()
            .absorb(protocol.client(rng=rng).privatise(values))
            .estimate(range(6))
            .shares
            - 1 / 6
        ).max()
        for _ in range(100)
    ]
    assert np.mean(np.array(worst) <= protocol.largest_error(600)) >= 0.95


def test_the_error_falls_with_epsilon_users_and_bits() -> None:
    def share(users: int, epsilon: float, bits: int) -> float:
        return sqrt(DBitFlip(epsilon=epsilon, buckets=26, bits=bits).variance(users)) / users

    assert share(1_000, 1, 4) > share(10_000, 1, 4)
    assert share(1_000, 0.5, 4) > share(1_000, 1, 4) > share(1_000, 4, 4)
    assert share(1_000, 1, 1) > share(1_000, 1, 4) > share(1_000, 1, 26)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 30, 1e4])
def test_estimates_are_numbers_at_both_ends_of_epsilon(epsilon: float) -> None:
    protocol = DBitFlip(epsilon=epsilon, buckets=5, bits=5)
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise([1] * 50))
    found = server.estimate(range(5))
    assert np.all(np.isfinite(found.counts))
    assert np.all(np.isfinite(found.errors))
    assert epsilon < 30 or np.allclose(found.counts, [0, 50, 0, 0, 0], atol=1e-4)


def test_lasting_costs_are_those_of_all_cases() -> None:
    assert DBitFlip(epsilon=1, buckets=26, bits=4).lasting_epsilon == 5
    assert DBitFlip(epsilon=1, buckets=4, bits=4).lasting_epsilon == 4
    assert DBitFlip(epsilon=1, buckets=26, bits=1).lasting_epsilon == 1  # two cases, half each


def test_merging_and_saving_keep_all_counts() -> None:
    protocol = DBitFlip(epsilon=1, buckets=10, bits=3)
    made = protocol.client(rng=Seeded(3)).privatise(np.arange(500) % 10).packed
    parts = [Reports(protocol.fingerprint, made[each]) for each in (slice(99), slice(99, None))]
    one, other = (protocol.server().absorb(each.to_bytes()) for each in parts)
    whole = protocol.server().absorb(Reports(protocol.fingerprint, made))
    other.merge(one)
    again = protocol.server().load(other.to_bytes())
    for server in (other, again):
        assert server.users == 500
        assert np.array_equal(server.ones, whole.ones)
        assert np.array_equal(server.queried, whole.queried)
    assert whole.queried.sum() == 1_500
    assert protocol.report_bits == 3 * 5
    assert made.shape[1] == 2


def test_wrong_reports_and_values_are_refused() -> None:
    protocol = DBitFlip(epsilon=1, buckets=10, bits=2)
    server = protocol.server()
    for asked in ([[3, 12]], [[3, 3]], [[4, 3]]):
        bad = protocol.pack_reports(np.array(asked), np.array([[True, False]]))
        with pytest.raises(InputError) as refusal:
            server.absorb(Reports(protocol.fingerprint, bad))
        assert refusal.value.code == "CEL-R032"
    with pytest.raises(InputError) as refusal:
        server.absorb(DBitFlip(epsilon=2, buckets=10, bits=2).client(rng=Seeded(1)).privatise(1))
    assert refusal.value.code == "CEL-R004"
    assert server.users == server.queried.sum() == 0
    for values in ([10], [-1], ["a"], [1.5], [True]):
        with pytest.raises(InputError) as refusal:
            protocol.client(rng=Seeded(1)).privatise(values)
        assert refusal.value.code == "CEL-R040"
    with pytest.raises(InputError):
        DBitFlip(epsilon=1, buckets=4, bits=5)


def test_a_device_keeps_its_buckets_and_its_answers(tmp_path: Path) -> None:
    protocol = DBitFlip(epsilon=1, buckets=16, bits=3)
    memory = Memory.open(tmp_path / "device", budget=10)
    client = protocol.client(memory=memory)
    first = client.privatise(np.arange(16)).packed
    for _ in range(3):
        later = protocol.client(memory=Memory.open(tmp_path / "device"))
        assert np.array_equal(later.privatise(np.arange(16)).packed, first)
    asked, _ = protocol.unpack_reports(first)
    assert np.all(asked == asked[0])
    elsewhere = np.setdiff1d(np.arange(16), asked[0])
    assert np.all(first[elsewhere] == first[elsewhere[0]])
    # Every case was visited: the most that the device can ever spend.
    assert float(memory.spent) == protocol.lasting_epsilon == 4


def test_a_device_whose_budget_is_used_up_repeats_old_answers_only(tmp_path: Path) -> None:
    protocol = DBitFlip(epsilon=1, buckets=2, bits=2)
    memory = Memory.open(tmp_path / "device", budget=1.5)
    client = protocol.client(memory=memory)
    first = client.privatise(0).packed
    with pytest.raises(BudgetExceeded):
        client.privatise(1)
    assert np.array_equal(client.privatise(0).packed, first)


@given(st.floats(-10, 40), st.integers(2, 50))
def test_a_bucket_holds_its_values(value: float, count: int) -> None:
    buckets = Buckets(0.0, 24.0, count=count)
    place = int(buckets.of([value])[0])
    inside = min(max(value, 0), 24)
    assert buckets.edges[place] - 1e-9 <= inside <= buckets.edges[place + 1] + 1e-9
    assert len(buckets.labels) == count


def test_what_is_no_number_has_no_bucket() -> None:
    buckets = Buckets(0, 10, count=5)
    assert buckets.labels[0] == "0 to 2"
    assert buckets.as_dict() == {"lower": 0, "upper": 10, "count": 5}
    assert buckets.of([-inf, inf]).tolist() == [0, 4]
    for values in ([float("nan")], ["a"], [None]):
        with pytest.raises(InputError) as refusal:
            buckets.of(values)
        assert refusal.value.code == "CEL-R035"
