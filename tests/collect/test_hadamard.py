"""Private Hadamard Count Mean Sketch: its law, its estimates and their errors, its wire."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, sqrt, tanh
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.collect.plain import (
    EXPONENTIAL,
    NORMAL,
    Counted,
    agrees,
    hadamard,
    many_runs,
    theory,
)

from celosia.collect.coins import WHOLE
from celosia.collect.count_mean import _kernels
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.reports import Reports
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import digests

SMALL = np.array([900, 500, 300, 200, 100, 0])


@pytest.mark.parametrize("epsilon", [0.1, 1, 2, 5])
def test_odds_of_every_report_are_1_or_e_to_the_epsilon(epsilon: float) -> None:
    protocol = HadamardCountMean(epsilon=epsilon, hashes=1, width=8)
    heads = protocol.coin.heads
    truth, lie = Fraction(heads, WHOLE), Fraction(WHOLE - heads, WHOLE)
    # The kernel itself, with every place and with both sides of the coin.
    chances = np.full((8, 16), Fraction(0), dtype=object)
    for column, place, lies in product(range(8), range(8), (False, True)):
        unit = heads if lies else heads - 1
        made = np.empty((1, 1), dtype=np.uint8)
        stream = np.array([place << 32 | unit], dtype=np.uint64)
        _kernels.signs(
            stream, np.uint64(heads), np.array([0]), np.array([column]), protocol.shape, made
        )
        chances[column, made[0, 0]] += (lie if lies else truth) / 8
    assert (chances.sum(axis=1) == 1).all()
    odds = {
        one / other
        for one, other in product(chances, repeat=2)
        for one, other in zip(one, other, strict=True)
    }
    assert odds == {Fraction(1), truth / lie, lie / truth}
    assert float(truth / lie) <= exp(epsilon)
    assert float(truth / lie) >= exp(epsilon) * (1 - 2 / (WHOLE - heads) - 1e-12)


@pytest.mark.statistical
def test_reports_follow_the_law_of_their_coins_rows_and_places() -> None:
    protocol = HadamardCountMean(epsilon=1, hashes=3, width=4, key="law")
    reports = protocol.client(rng=Seeded(12)).privatise(["word"] * 200_000)
    signs, truth = hadamard(4), protocol.coin.chance
    columns = protocol.family.every_column(digests(["word"]))[:, 0]
    observed, expected = [], []
    for negative, row, place in product((0, 1), range(3), range(4)):
        number = negative | row << 1 | place << 3
        observed.append(int((reports.packed[:, 0] == number).sum()))
        honest = (signs[place, columns[row]] < 0) == negative
        expected.append(200_000 / 12 * (truth if honest else 1 - truth))
    # A chi-squared test over all 24 reports at one in 10,000. Had one report in 20 been random, the
    # statistic would be about 23 + 135, where 56 is one in 10,000.
    assert chisquare(observed, expected).pvalue > 1e-4
    assert chisquare(observed, 0.95 * np.array(expected) + 0.05 * 200_000 / 24).pvalue < 1e-4


@pytest.mark.parametrize(("epsilon", "constant"), [(2, 1.3130), (4, 1.0373)])
def test_bias_is_taken_off_with_the_whole_epsilon(epsilon: float, constant: float) -> None:
    protocol = HadamardCountMean(epsilon=epsilon)
    assert protocol.debias * (2 * protocol.coin.chance - 1) == pytest.approx(1, abs=1e-12)
    assert protocol.debias == pytest.approx(1 / tanh(epsilon / 2), rel=1e-8)
    assert protocol.debias == pytest.approx(constant, abs=1e-4)


@pytest.mark.statistical
def test_half_of_epsilon_would_make_estimates_1_65_times_too_large() -> None:
    errors, _ = many_runs(lambda key: HadamardCountMean(epsilon=2, key=key), NORMAL, 5)
    estimates = errors + NORMAL
    wrong = estimates * tanh(1) / tanh(0.5)  # as the constant of CMS would have it
    common = NORMAL > 5000
    # 5 runs with an error of 600 each: within 3 % of counts of at least 8,000 (4 standard errors
    # of a single count are 13 %, of the sum of nine far less).
    assert estimates[:, common].sum() / (5 * NORMAL[common].sum()) == pytest.approx(1, abs=0.03)
    assert wrong[:, common].sum() / (5 * NORMAL[common].sum()) == pytest.approx(1.648, abs=0.05)


@pytest.mark.statistical
def test_estimates_are_unbiased_and_as_exact_as_the_formula_says() -> None:
    def made(key: str) -> HadamardCountMean:
        return HadamardCountMean(epsilon=2, hashes=8, width=16, key=key)

    errors, told = many_runs(made, SMALL, 400)
    spread = theory(made("any"), SMALL)
    assert (abs(errors.mean(axis=0)) <= 4 * np.sqrt(spread / 400)).all()
    squares = (errors**2).mean(axis=1)
    assert agrees(squares, spread.mean())
    assert not agrees(squares, 0.8 * spread.mean())
    assert not agrees(squares, 1.25 * spread.mean())
    assert (told**2).mean() == pytest.approx(spread.mean(), rel=0.05)


def test_the_variance_is_never_above_the_published_bound_nor_below_one_for_each_user() -> None:
    for epsilon, hashes, width in product((0.5, 2, 8), (1, 64, 1024), (2, 16, 1024)):
        protocol = HadamardCountMean(epsilon=epsilon, hashes=hashes, width=width)
        users, squares = int(EXPONENTIAL.sum()), float((EXPONENTIAL**2).sum())
        scale = ((exp(epsilon) + 1) / (exp(epsilon) - 1)) ** 2
        inner = users * scale + squares / (hashes * width)
        assert (
            theory(protocol, EXPONENTIAL) <= (width / (width - 1)) ** 2 * inner * (1 + 1e-6)
        ).all()
    assert HadamardCountMean(epsilon=100).variance(10**6) >= 10**6


@pytest.mark.parametrize(("hashes", "width", "expected"), [(1024, 1024, 291), (1024, 16, 365)])
def test_the_error_over_50_000_exponential_values_is_the_known_one(
    hashes: int, width: int, expected: float
) -> None:
    protocol = HadamardCountMean(epsilon=2, hashes=hashes, width=width)
    assert sqrt(theory(protocol, EXPONENTIAL).mean()) == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize(("epsilon", "expected"), [(0.5, 1836), (2, 597), (4, 475), (8, 459)])
def test_the_error_over_200_000_normal_values_is_the_known_one(
    epsilon: float, expected: float
) -> None:
    protocol = HadamardCountMean(epsilon=epsilon, hashes=1024, width=256)
    assert sqrt(theory(protocol, NORMAL).mean()) == pytest.approx(expected, abs=0.6)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("hashes", "width", "runs"), [(1024, 1024, 12), (1024, 16, 30), (16, 16, 30)]
)
def test_simulated_errors_are_the_known_ones(hashes: int, width: int, runs: int) -> None:
    def made(key: str) -> HadamardCountMean:
        return HadamardCountMean(epsilon=2, hashes=hashes, width=width, key=key)

    errors, _ = many_runs(made, EXPONENTIAL, runs)
    squares = (errors**2).mean(axis=1)
    assert agrees(squares, theory(made("any"), EXPONENTIAL).mean())
    assert not agrees(squares, 4 * theory(made("any"), EXPONENTIAL).mean())
    if hashes == width == 1024:  # the published table says 3,416
        assert 8 * sqrt(squares.mean()) < 3416


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 22, 100, 1024, 10_000])
def test_no_epsilon_overflows_and_none_turns_estimates_round(epsilon: float) -> None:
    protocol = HadamardCountMean(epsilon=epsilon, hashes=64, width=128)
    reports = protocol.client(rng=Seeded(1)).privatise(["a"] * 9000 + ["b"] * 1000)
    found = protocol.server().absorb(reports).estimate(["a", "b"])
    assert np.isfinite(found.counts).all()
    assert np.isfinite(found.errors).all()
    if epsilon > 20:  # 5 standard errors: the root of the users, and collisions
        assert found.counts == pytest.approx([9000, 1000], abs=5 * sqrt(10_000 + 9000**2 / 8192))


@pytest.mark.parametrize(
    ("hashes", "width", "bits"), [(1024, 1024, 21), (65536, 1024, 27), (1024, 32768, 26), (1, 2, 2)]
)
def test_a_report_is_a_few_bytes(hashes: int, width: int, bits: int) -> None:
    protocol = HadamardCountMean(epsilon=1, hashes=hashes, width=width)
    assert protocol.report_bits == bits
    if hashes < 10_000:
        assert protocol.client().privatise([1, 2]).packed.shape == (2, -(-bits // 8))


def test_a_client_does_as_much_for_any_width() -> None:
    drawn = []
    for width in (2, 1024, 2**18):
        rng = Counted(1)
        HadamardCountMean(epsilon=1, hashes=64, width=width).client(rng=rng).privatise(range(100))
        drawn.append(rng.drawn)
    assert drawn == [1600] * 3


def test_estimates_are_those_of_the_published_algorithm() -> None:
    protocol = HadamardCountMean(epsilon=1.5, hashes=6, width=16)
    server = protocol.server().absorb(protocol.client(rng=Seeded(5)).privatise(range(500)))
    constant = (exp(1.5) + 1) / (exp(1.5) - 1)
    table = (6 * constant * server.signs) @ hadamard(16).T
    columns = protocol.family.every_column(digests([77]))[:, 0]
    expected = 16 / 15 * (table[np.arange(6), columns].mean() - 500 / 16)
    assert server.estimate([77]).counts[0] == pytest.approx(expected, rel=1e-7)
    assert server.cells() * 6 == pytest.approx(table, rel=1e-7)


def test_reports_are_the_same_bytes_in_every_process() -> None:
    protocol = HadamardCountMean(epsilon=2, hashes=1024, width=1024, key="emoji")
    assert protocol.fingerprint.hex() == "10374e81ec71119d"
    # The wire, by hand: the column of "smile" in row 0 is 77 (see the documentation of hashing).
    stream = np.array([3 << 32 | 0, 3 << 32 | 2**32 - 1, 1 << 32], dtype=np.uint64)
    rows, columns = np.array([0, 0, 1023]), np.array([77, 77, 77])
    made = np.empty((3, 3), dtype=np.uint8)
    heads = np.uint64(protocol.coin.heads)
    _kernels.signs(stream, heads, rows, columns, protocol.shape, made)
    # 77 & 3 = 1: the sign is -1 (bit 1), a lie makes it +1; place 3 stands from bit 11 on.
    assert [int.from_bytes(each.tobytes(), "little") for each in made] == [
        1 | 3 << 11,
        0 | 3 << 11,
        1 | 1023 << 1 | 1 << 11,
    ]
    assert protocol.family.columns(digests(["smile"]), 0).tolist() == [77]


def test_merging_and_saving_are_exact() -> None:
    protocol = HadamardCountMean(epsilon=1, hashes=8, width=16)
    reports = protocol.client(rng=Seeded(2)).privatise(range(1000))
    parts = [
        protocol.server().absorb(Reports(reports.fingerprint, each))
        for each in (reports.packed[:300], reports.packed[300:])
    ]
    whole = protocol.server().absorb(reports)
    assert (whole.signs < 0).any()
    assert parts[1].merge(parts[0]).to_bytes() == whole.to_bytes()
    assert protocol.server().load(whole.to_bytes()).to_bytes() == whole.to_bytes()


@pytest.mark.statistical
def test_squared_counts_are_estimated_without_a_list_of_values() -> None:
    found = []
    for run in range(30):
        protocol = HadamardCountMean(epsilon=3, hashes=32, width=32, key=str(run))
        values = np.repeat(np.arange(21), EXPONENTIAL)
        reports = protocol.client(rng=Seeded(run)).privatise(values)
        found.append(protocol.server().absorb(reports).squares())
    truth = float((EXPONENTIAL.astype(float) ** 2).sum())
    assert agrees(np.array(found), truth)
    assert not agrees(np.array(found), 1.25 * truth)


def test_a_report_with_a_row_that_there_is_not_is_refused_as_a_whole() -> None:
    protocol = HadamardCountMean(epsilon=2, hashes=3, width=8)
    packed = protocol.client(rng=Seeded(1)).privatise(range(10)).packed.copy()
    server = protocol.server()
    for wrong in (0b110, 0b0100_0000):  # a fourth row, a bit beyond the fields
        damaged = packed.copy()
        damaged[9, 0] |= wrong
        with pytest.raises(InputError) as caught:
            server.absorb(Reports(protocol.fingerprint, damaged))
        assert caught.value.code == "CEL-R001"
    assert server.users == abs(server.signs).sum() == 0


@pytest.mark.parametrize(
    ("sizes", "code"),
    [
        ({"width": 1000}, "CEL-R011"),
        ({"width": 3}, "CEL-R011"),
        ({"width": 1}, "CEL-I060"),
        ({"hashes": 0}, "CEL-I060"),
    ],
)
def test_sizes_out_of_range_are_refused(sizes: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        HadamardCountMean(epsilon=1, **sizes)
    assert caught.value.code == code
