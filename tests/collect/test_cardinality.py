"""How many different values there are, privately."""

import json
from math import exp, sqrt

import numpy as np
import pytest
from tests.collect.refusals import refused

from celosia.collect.discovery.cardinality import APART, CardinalityEstimate, PrivateCardinality
from celosia.collect.oracles.unary import OptimisedUnary
from celosia.collect.reports import Reports
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import digests


def rounds(values: np.ndarray, times: int, epsilon: float = 4) -> list[CardinalityEstimate]:
    found = []
    for seed in range(times):
        protocol = PrivateCardinality(epsilon=epsilon, buckets=256, key=f"round {seed}")
        reports = protocol.client(rng=Seeded(seed)).privatise(values)
        found.append(protocol.server().absorb(reports.to_bytes()).cardinality())
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("different", [1, 20, 90, 200])
def test_common_values_are_counted_within_the_error_and_bias_told(different: int) -> None:
    users = 20_000
    values = np.arange(users) % different
    found = rounds(values, 60, epsilon=5)
    assert users // different > found[0].least
    counts = np.array([each.count for each in found])
    error = np.mean([each.error for each in found])
    bias = np.mean([each.bias for each in found])
    assert abs(counts.mean() - different) < bias + 4 * error / sqrt(60)
    # Errors take the most mistakes that `least` devices allow; values of more have fewer.
    # The deviation of 60 counts is itself off by 1 / sqrt(120), four times.
    assert 0.5 * error < counts.std() < 1.37 * error


@pytest.mark.statistical
def test_the_share_of_empty_buckets_taken_for_filled_is_that_of_the_binomial_law() -> None:
    # One value fills one bucket; what the other 255 add on average is corrected away.
    found = rounds(np.zeros(10_000, dtype=np.int64), 100)
    counts = np.array([each.count for each in found])
    assert abs(counts.mean() - 1) < 4 * found[0].error / 10
    # 255 buckets, each above the cut with a chance of 0.05: sqrt(255 * 0.05 * 0.95) / 0.93.
    assert counts.std() == pytest.approx(3.75, rel=4 / sqrt(200))


def test_values_of_fewer_devices_than_the_noise_hides_are_refused() -> None:
    protocol = PrivateCardinality(epsilon=2, buckets=256)
    server = protocol.server().absorb(
        protocol.client(rng=Seeded(1)).privatise(np.arange(20_000) % 10)
    )
    fewest = protocol.least_devices(20_000)
    assert server.cardinality(least=fewest).least == fewest
    for least in (fewest - 1, 1, 0, -5, 2.5):
        with refused("CEL-R063"):
            server.cardinality(least=least)  # type: ignore[arg-type]
    more = server.cardinality(least=2 * fewest)
    assert more.bias < server.cardinality().bias


def test_the_fewest_devices_grow_with_the_root_of_the_users() -> None:
    protocol = PrivateCardinality(epsilon=1)
    for users in (10**4, 10**6, 10**8):
        fewest = protocol.least_devices(users)
        assert protocol.apart(users, fewest) >= APART > protocol.apart(users, fewest - 1)
        rare = sqrt(users * 4 * exp(1) / (exp(1) - 1) ** 2)
        assert 0.95 < fewest / (2 * APART * rare) < 1.1
    empty = PrivateCardinality(epsilon=1).server()
    with refused("CEL-R063"):
        empty.cardinality()


def test_too_few_buckets_are_refused_and_not_guessed() -> None:
    protocol = PrivateCardinality(epsilon=8, buckets=16)
    values = np.arange(100_000) % 500
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise(values))
    with refused("CEL-R062"):
        server.cardinality()


def test_which_values_there_are_is_not_told() -> None:
    with refused("CEL-R061"):
        PrivateCardinality(epsilon=1).server().estimate([1])


@pytest.mark.parametrize("buckets", [15, 2**17 + 1, 100.5, True])
def test_buckets_out_of_range_are_refused(buckets: int) -> None:
    with refused("CEL-I060"):
        PrivateCardinality(epsilon=1, buckets=buckets)


def test_a_report_is_that_of_unary_encoding_for_the_bucket() -> None:
    # Whose reports are gone through one by one in `test_oracles`.
    protocol = PrivateCardinality(epsilon=1, buckets=40)
    values = [f"value {place}" for place in range(200)]
    buckets = protocol.family.columns(digests(values), 0)
    assert 30 < len(set(buckets.tolist())) <= 40
    reports = protocol.client(rng=Seeded(9)).privatise(values)
    assert isinstance(protocol.oracle, OptimisedUnary)
    assert protocol.oracle.epsilon == protocol.epsilon
    plain = protocol.oracle.client(rng=Seeded(9)).privatise(buckets)
    np.testing.assert_array_equal(reports.packed, plain.packed)


def test_merged_servers_are_one_server_and_results_are_plain() -> None:
    protocol = PrivateCardinality(epsilon=4, buckets=64)
    reports = protocol.client(rng=Seeded(2)).privatise(np.arange(20_000) % 7)
    whole = protocol.server().absorb(reports)
    halves = [Reports(reports.fingerprint, reports.packed[start::2]) for start in (0, 1)]
    merged = protocol.server().absorb(halves[1]).merge(protocol.server().absorb(halves[0]))
    assert merged.to_bytes() == whole.to_bytes()
    assert protocol.server().load(whole.to_bytes()).cardinality() == whole.cardinality()
    told = whole.cardinality()
    assert json.loads(json.dumps(told.as_dict()))["users"] == 20_000
    assert "different values" in str(told)
    assert reports.packed.shape[1] == -(-protocol.report_bits // 8)
