"""Private Count Mean Sketch: its law, its estimates and their errors, its wire."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, sinh, sqrt, tanh
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, pearsonr
from tests.collect.plain import (
    EXPONENTIAL,
    NORMAL,
    agrees,
    bits_of,
    many_runs,
    theory,
)

from celosia.collect.coins import WHOLE
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.reports import Reports
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded, System
from celosia.sketches.hashing import digests

SMALL = np.array([900, 500, 300, 200, 100, 0])


@pytest.mark.parametrize("width", [2, 3, 6])
@pytest.mark.parametrize("epsilon", [0.1, 1, 2, 5])
def test_all_reports_of_a_row_have_odds_of_at_most_e_to_the_epsilon(
    width: int, epsilon: float
) -> None:
    heads = CountMean(epsilon=epsilon, width=width).coin.heads
    truth, lie = Fraction(heads, WHOLE), Fraction(WHOLE - heads, WHOLE)

    def chance(bits: tuple[int, ...], column: int) -> Fraction:
        found = Fraction(1)
        for place, bit in enumerate(bits):
            found *= truth if bit == (place == column) else lie
        return found

    worst = Fraction(0)
    totals = [Fraction(0)] * width
    for bits in product((0, 1), repeat=width):
        chances = [chance(bits, column) for column in range(width)]
        worst = max(worst, max(chances) / min(chances))
        totals = [total + each for total, each in zip(totals, chances, strict=True)]
    assert totals == [1] * width
    assert float(worst) <= exp(epsilon)
    # A coin of 32 bits is that near: relative 2^-32 / lie, twice.
    assert float(worst) >= exp(epsilon) * (1 - 4 / (WHOLE - heads) - 1e-12)


@pytest.mark.statistical
def test_reports_follow_the_law_of_their_coins_and_rows() -> None:
    protocol = CountMean(epsilon=2, hashes=3, width=3, key="law")
    reports = protocol.client(rng=Seeded(11)).privatise(["word"] * 40_000)
    truth = protocol.coin.chance
    column = [protocol.family.columns_at(digests(["word"]), [row])[0] for row in range(3)]
    observed, expected = [], []
    numbers = reports.packed[:, 0]
    for row in range(3):
        for bits in product((0, 1), repeat=3):
            number = sum(bit << place for place, bit in enumerate(bits)) | row << 3
            observed.append(int((numbers == number).sum()))
            told = [
                truth if bit == (at == column[row]) else 1 - truth for at, bit in enumerate(bits)
            ]
            expected.append(40_000 / 3 * float(np.prod(told)))
    # A chi-squared test over all 24 reports at one in 10,000; one random report in 20 is refused.
    assert chisquare(observed, expected).pvalue > 1e-4
    flat = np.array(expected) * 0.95 + 0.05 * sum(expected) / 24
    assert chisquare(observed, flat).pvalue < 1e-4


@pytest.mark.parametrize(("epsilon", "constant"), [(2, 2.1640), (4, 1.3130)])
def test_bias_is_taken_off_with_half_of_epsilon(epsilon: float, constant: float) -> None:
    protocol = CountMean(epsilon=epsilon)
    assert protocol.debias * (2 * protocol.coin.chance - 1) == pytest.approx(1, abs=1e-12)
    assert protocol.debias == pytest.approx(1 / tanh(epsilon / 4), rel=1e-8)
    assert protocol.debias == pytest.approx(constant, abs=1e-4)
    assert protocol.noise == pytest.approx(1 / (4 * sinh(epsilon / 4) ** 2), rel=1e-8)


@pytest.mark.statistical
def test_estimates_are_unbiased_and_as_exact_as_the_formula_says() -> None:
    def made(key: str) -> CountMean:
        return CountMean(epsilon=2, hashes=8, width=16, key=key)

    errors, told = many_runs(made, SMALL, 400)
    spread = theory(made("any"), SMALL)
    # Unbiased: the mean of 400 runs is within 4 standard errors for every value.
    assert (abs(errors.mean(axis=0)) <= 4 * np.sqrt(spread / 400)).all()
    # Exact: the mean square is the formula's, and neither 0.8 nor 1.25 times as large.
    squares = (errors**2).mean(axis=1)
    assert agrees(squares, spread.mean())
    assert not agrees(squares, 0.8 * spread.mean())
    assert not agrees(squares, 1.25 * spread.mean())
    # Told: standard errors from nothing but reports are the true ones, on average within 5 %.
    assert (told**2).mean() == pytest.approx(spread.mean(), rel=0.05)


def test_the_variance_is_never_above_the_published_bound() -> None:
    for epsilon, hashes, width in product((0.5, 2, 8), (1, 64, 1024), (2, 16, 1024)):
        protocol = CountMean(epsilon=epsilon, hashes=hashes, width=width)
        users, squares = int(EXPONENTIAL.sum()), float((EXPONENTIAL**2).sum())
        noise = exp(epsilon / 2) / (exp(epsilon / 2) - 1) ** 2
        inner = users * (noise + 1 / width) + squares / (hashes * width)
        bound = (width / (width - 1)) ** 2 * inner
        assert (theory(protocol, EXPONENTIAL) <= bound * (1 + 1e-8)).all()


@pytest.mark.parametrize(
    ("hashes", "width", "expected"), [(1024, 1024, 216), (1024, 16, 306), (16, 16, 1577)]
)
def test_the_error_over_50_000_exponential_values_is_the_known_one(
    hashes: int, width: int, expected: float
) -> None:
    protocol = CountMean(epsilon=2, hashes=hashes, width=width)
    assert sqrt(theory(protocol, EXPONENTIAL).mean()) == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.5, 1797), (2, 455), (4, 240), (8, 158)])
def test_the_error_over_200_000_normal_values_is_the_known_one(
    epsilon: float, expected: float
) -> None:
    protocol = CountMean(epsilon=epsilon, hashes=1024, width=256)
    assert sqrt(theory(protocol, NORMAL).mean()) == pytest.approx(expected, abs=0.6)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("hashes", "width", "runs"), [(1024, 1024, 8), (1024, 16, 20), (16, 16, 30)]
)
def test_simulated_errors_are_the_known_ones(hashes: int, width: int, runs: int) -> None:
    def made(key: str) -> CountMean:
        return CountMean(epsilon=2, hashes=hashes, width=width, key=key)

    errors, _ = many_runs(made, EXPONENTIAL, runs)
    squares = (errors**2).mean(axis=1)
    assert agrees(squares, theory(made("any"), EXPONENTIAL).mean())
    assert not agrees(squares, 4 * theory(made("any"), EXPONENTIAL).mean())


@pytest.mark.statistical
def test_estimates_follow_the_truth_closely_and_in_the_order_asked() -> None:
    protocol = CountMean(epsilon=2, hashes=128, width=64)
    values = np.repeat(np.arange(21), EXPONENTIAL)
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise(values))
    found = server.estimate(range(21))
    assert pearsonr(found.counts, EXPONENTIAL).statistic > 0.99
    order = np.random.default_rng(1).permutation(21)
    assert (server.estimate(order.tolist()).counts == found.counts[order]).all()


@pytest.mark.statistical
def test_errors_are_below_a_fifth_of_a_percent_at_epsilon_4() -> None:
    errors, _ = many_runs(lambda key: CountMean(epsilon=4, key=key), NORMAL, 3)
    assert 100 * abs(errors).mean() / NORMAL.sum() <= 0.2


def test_errors_shrink_with_epsilon_and_size_and_grow_slower_than_users() -> None:
    def error(epsilon: float = 2, hashes: int = 64, width: int = 64, users: int = 10**5) -> float:
        protocol = CountMean(epsilon=epsilon, hashes=hashes, width=width)
        return sqrt(protocol.variance(users, squares=(users / 5) ** 2)) / users

    assert error(epsilon=1) > error() > error(epsilon=4)
    assert error(hashes=32) > error() > error(hashes=128)
    assert error(width=32) > error() > error(width=128)
    assert error(users=10**4) > error() > error(users=10**6)
    # Collisions are the floor: no number of users takes it away.
    assert error(users=10**12) > 0.9 / 5 / sqrt(64 * 64)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 22, 100, 1024, 10_000])
def test_no_epsilon_overflows(epsilon: float) -> None:
    protocol = CountMean(epsilon=epsilon, hashes=64, width=128)
    reports = protocol.client(rng=Seeded(1)).privatise(["a"] * 900 + ["b"] * 100)
    found = protocol.server().absorb(reports).estimate(["a", "b"])
    assert np.isfinite(found.counts).all()
    assert np.isfinite(found.errors).all()
    if epsilon > 20:  # sampled rows and collisions are all the error that is left
        assert found.counts == pytest.approx([900, 100], abs=80)


@pytest.mark.parametrize(
    ("hashes", "width", "bits"), [(1024, 1024, 1034), (65536, 1024, 1040), (3, 7, 9), (1, 2, 2)]
)
def test_a_report_has_a_bit_for_each_column_and_the_row(hashes: int, width: int, bits: int) -> None:
    protocol = CountMean(epsilon=1, hashes=hashes, width=width)
    assert protocol.report_bits == bits
    if hashes < 10_000:
        assert protocol.client().privatise([1, 2]).packed.shape == (2, -(-bits // 8))


@pytest.mark.parametrize("width", [2, 8, 63, 64, 65, 200])
def test_a_server_counts_the_bits_that_were_sent(width: int) -> None:
    protocol = CountMean(epsilon=1, hashes=5, width=width)
    reports = protocol.client(rng=Seeded(4)).privatise(range(60))
    server = protocol.server().absorb(reports)
    ones, counted = np.zeros((5, width), dtype=int), np.zeros(5, dtype=int)
    for report in reports.packed.tolist():
        bits = bits_of(report, width + 3)
        row = sum(bit << place for place, bit in enumerate(bits[width:]))
        ones[row] += bits[:width]
        counted[row] += 1
    assert (server.ones == ones).all()
    assert (server.reports == counted).all()


def test_estimates_are_those_of_the_published_algorithm() -> None:
    protocol = CountMean(epsilon=1.5, hashes=6, width=10)
    server = protocol.server().absorb(protocol.client(rng=Seeded(5)).privatise(range(500)))
    constant = (exp(0.75) + 1) / (exp(0.75) - 1)
    signs = 2 * server.ones - server.reports[:, None]
    table = 6 * (constant / 2 * signs + server.reports[:, None] / 2)
    columns = protocol.family.every_column(digests([77]))[:, 0]
    mean = table[np.arange(6), columns].mean()
    expected = 10 / 9 * (mean - 500 / 10)
    assert server.estimate([77]).counts[0] == pytest.approx(expected, rel=1e-7)


@pytest.mark.statistical
def test_squared_counts_are_estimated_without_a_list_of_values() -> None:
    found = []
    for run in range(30):
        protocol = CountMean(epsilon=3, hashes=32, width=32, key=str(run))
        values = np.repeat(np.arange(21), EXPONENTIAL)
        reports = protocol.client(rng=Seeded(run)).privatise(values)
        found.append(protocol.server().absorb(reports).squares())
    truth = float((EXPONENTIAL.astype(float) ** 2).sum())
    assert agrees(np.array(found), truth)
    assert not agrees(np.array(found), 1.25 * truth)


def test_a_million_reports_are_streamed_in_batches_like_at_once() -> None:
    protocol = CountMean(epsilon=2, hashes=16, width=16)
    server = protocol.server()
    for batch in protocol.client(rng=System()).batches(np.arange(1_000_000) % 50, size=2**17):
        server.absorb(batch.to_bytes())
    assert server.users == server.reports.sum() == 1_000_000


def test_a_device_with_one_value_computes_one_hash_function_of_many() -> None:
    protocol = CountMean(epsilon=22, hashes=65_536, width=64, key="emoji")
    reports = protocol.client(rng=Seeded(1)).privatise(["smile"] * 20)
    assert "coefficients" not in protocol.family.__dict__
    server = protocol.server().absorb(reports)
    rows = np.flatnonzero(server.reports)
    columns = protocol.family.every_column(digests(["smile"]))[rows, 0]
    # Lies of a bit have a chance of e^-11: 1,280 bits hold 0.02 of them.
    assert (server.ones[rows, columns] == server.reports[rows]).all()


def test_one_value_makes_one_report() -> None:
    protocol = CountMean(epsilon=2, hashes=16, width=16)
    for value in ("text", 7, b"data", np.int64(7)):
        assert len(protocol.client().privatise(value)) == 1
    assert len(protocol.client().privatise([])) == 0


def test_a_report_with_a_row_that_there_is_not_is_refused_as_a_whole() -> None:
    protocol = CountMean(epsilon=2, hashes=3, width=6)
    good = protocol.client(rng=Seeded(1)).privatise(range(10)).packed.copy()
    good[9, 0] |= 0b1100_0000
    server = protocol.server()
    with pytest.raises(InputError) as caught:
        server.absorb(Reports(protocol.fingerprint, good))
    assert caught.value.code == "CEL-R001"
    assert server.users == server.ones.sum() == 0


@pytest.mark.parametrize(
    "sizes",
    [
        {"hashes": 0},
        {"width": 1},
        {"hashes": 2.5},
        {"hashes": 2**20 + 1},
        {"width": "wide"},
    ],
)
def test_sizes_out_of_range_are_refused(sizes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        CountMean(epsilon=1, **sizes)
    assert caught.value.code == "CEL-I060"
    with pytest.raises(InputError) as caught:
        CountMean(epsilon=1, hashes=2**20, width=2**10)
    assert caught.value.code == "CEL-R010"
