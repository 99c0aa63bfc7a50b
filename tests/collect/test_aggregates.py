"""Simulated servers: the law of real ones, without their reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp
from tests.collect.plain import EXPONENTIAL, agrees, theory

from celosia.collect.count_mean.aggregates import simulate_counts
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.core.errors import InputError
from celosia.core.randomness import Seeded

SMALL = {"a": 300, "b": 150, "c": 50}


@pytest.mark.statistical
def test_simulated_states_have_the_law_of_real_ones() -> None:
    protocol = CountMean(epsilon=2, hashes=4, width=6)
    values = [value for value, count in SMALL.items() for _ in range(count)]
    kinds: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for run in range(600):
        simulated = simulate_counts(protocol, SMALL, rng=Seeded(run))
        real = protocol.server().absorb(protocol.client(rng=Seeded(10**6 + run)).privatise(values))
        for kind, server in zip(kinds, (simulated, real), strict=True):
            kind.append(np.concatenate([server.ones.reshape(-1), server.reports]))
    first, second = (np.array(kind) for kind in kinds)
    # Every count by itself (a Kolmogorov-Smirnov test, one in 10,000 for each of 28), and all pairs
    # by their covariances: each has a variance of (v w + c^2) / 600, at most 2 v w / 600; there are
    # two of them, and 5 standard errors for 784 pairs.
    for place in range(first.shape[1]):
        assert ks_2samp(first[:, place], second[:, place]).pvalue > 1e-4
    spread = np.sqrt(np.outer(first.var(axis=0), first.var(axis=0)) * 2 * 2 / 600)
    assert (abs(np.cov(first.T) - np.cov(second.T)) < 5 * spread).all()


@pytest.mark.statistical
def test_simulated_estimates_are_as_exact_as_real_ones() -> None:
    histogram = dict(enumerate(EXPONENTIAL.tolist()))
    squares = []
    for run in range(60):
        protocol = CountMean(epsilon=2, hashes=16, width=64, key=str(run))
        found = simulate_counts(protocol, histogram, rng=Seeded(run)).estimate(range(21))
        squares.append(((found.counts - EXPONENTIAL) ** 2).mean())
    expected = theory(protocol, EXPONENTIAL).mean()
    assert agrees(np.array(squares), expected)
    assert not agrees(np.array(squares), 2 * expected)


def test_a_billion_users_take_no_longer_than_a_thousand() -> None:
    protocol = CountMean(epsilon=4, hashes=256, width=256)
    server = simulate_counts(protocol, {"a": 700_000_000, "b": 300_000_000}, rng=Seeded(1))
    assert server.users == server.reports.sum() == 10**9
    found = server.estimate(["a", "b"])
    assert abs(found["a"] - 7e8) < 5 * found.errors[0]
    assert simulate_counts(protocol, {}).users == 0


def test_the_same_seed_gives_the_same_server() -> None:
    protocol = CountMean(epsilon=4, hashes=8, width=8)
    first, second = (simulate_counts(protocol, SMALL, rng=Seeded(7)).to_bytes() for _ in range(2))
    assert first == second
    assert first != simulate_counts(protocol, SMALL, rng=Seeded(8)).to_bytes()


def test_other_protocols_and_wrong_histograms_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        simulate_counts(HadamardCountMean(epsilon=1), SMALL)
    assert caught.value.code == "CEL-R016"
    wrong: list[dict[str, Any]] = [{"a": -1}, {"a": 1.5}, {"a": None}, {"a": 2**40, "b": 1}]
    for histogram in wrong:
        with pytest.raises(InputError) as caught:
            simulate_counts(CountMean(epsilon=1), histogram)
        assert caught.value.code == "CEL-R017"
