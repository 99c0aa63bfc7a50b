"""Local hashing: the hash functions, the kernel over all pairs, and the pool."""

from typing import Any

import numpy as np
import pytest
from tests.collect.refusals import refused

from celosia.collect.oracles import _kernels as _oracle_kernels
from celosia.collect.oracles.local_hashing import HashingServer, LocalHashing, PoolServer
from celosia.collect.state import write_state
from celosia.core.randomness import Seeded
from celosia.sketches.hashing import digest, digests

MASK = 2**64 - 1


def splitmix(word: int) -> int:
    word = (word + 0x9E3779B97F4A7C15) & MASK
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def bucket(key: str, seed: int, value: object, buckets: int) -> int:
    """As the module says it, in plain Python."""
    start = digest(key) + 3 * seed
    first, second, third = (splitmix((start + word) & MASK) for word in range(3))
    high, low = divmod(digest(value), 2**32)
    return (((first + high) * (second + low) + third & MASK) >> 32) * buckets >> 32


@pytest.mark.parametrize("buckets", [2, 3, 7, 56, 65_536])
def test_reports_support_the_values_that_plain_python_says(buckets: int) -> None:
    protocol = LocalHashing(epsilon=3, key="plain", buckets=buckets)
    reports = protocol.client(rng=Seeded(1)).privatise(["a", "b", 3, 4] * 50)
    server = protocol.server().absorb(reports)
    assert isinstance(server, HashingServer)
    candidates = ["a", "b", "c", 3, 4, 5]
    raw = server._state()["reports"].tolist()
    pairs = [(each % 2**32, each >> 32) for each in raw]
    expected = [
        sum(bucket("plain", seed, value, buckets) == told for seed, told in pairs)
        for value in candidates
    ]
    assert server._supports(digests(candidates)).tolist() == expected


def test_the_function_of_a_seed_never_changes() -> None:
    assert [bucket("celosia", seed, "smile", 8) for seed in range(6)] == [4, 1, 2, 3, 1, 7]
    protocol = LocalHashing(epsilon=20, buckets=8)  # the truth but for 1 report in 60 million
    reports = protocol.client(rng=Seeded(1)).privatise(["smile"] * 500)
    server = protocol.server().absorb(reports)
    assert isinstance(server, HashingServer)
    for each in server._state()["reports"].tolist():
        assert each >> 32 == bucket("celosia", each % 2**32, "smile", 8)


@pytest.mark.statistical
def test_other_values_meet_in_a_bucket_as_often_as_one_in_so_many() -> None:
    protocol = LocalHashing(epsilon=2, buckets=8)
    seeds = np.arange(200_000)
    first, second, third = protocol.functions(seeds)
    columns = []
    for value in (1, 2, "x"):
        word = np.full(seeds.size, digest(value), dtype=np.uint64)
        high, low = word >> np.uint64(32), word & np.uint64(2**32 - 1)
        found = _oracle_kernels.hashed(first, second, third, high, low)
        columns.append(found * np.uint64(8) >> np.uint64(32))
        assert np.bincount(columns[-1].astype(np.int64), minlength=8).min() > 24_000
    for one, other in ((0, 1), (0, 2), (1, 2)):
        met = np.mean(columns[one] == columns[other])
        assert abs(met - 1 / 8) < 4 * np.sqrt(7 / 64 / seeds.size)


@pytest.mark.statistical
def test_a_pool_tells_its_larger_variance() -> None:
    # Two values share all users: with a pool of 4 functions collisions are most of the error.
    counts = np.array([3000, 3000, 0])
    values = np.repeat([0, 1], 3000)
    errors = []
    for round_ in range(400):
        protocol = LocalHashing(epsilon=3, key=f"pool {round_}", pool=4)
        server = protocol.server().absorb(protocol.client(rng=Seeded(round_)).privatise(values))
        errors.append(server.estimate([2]).counts[0])
    own = protocol.variance(6000)
    told = protocol.variance(6000, squares=float((counts**2).sum()))
    assert told > 100 * own
    # A collision of one of two values in one of four rows: 8 chances of 1 in 21 each, so fourth
    # moments are about 3 + 21/8; the mean of 400 squares deviates by sqrt(4.6 / 400), four times.
    assert np.mean(np.square(errors)) == pytest.approx(told, rel=0.43)
    assert abs(np.mean(errors)) < 4 * np.sqrt(told / 400)


@pytest.mark.statistical
def test_squared_counts_are_estimated_from_reports_that_meet() -> None:
    counts = np.array([4000, 2000, 1000, *[10] * 300])
    values = np.repeat(np.arange(counts.size), counts)
    found = []
    for round_ in range(60):
        protocol = LocalHashing(epsilon=3, key=f"squares {round_}", pool=64)
        server = protocol.server().absorb(protocol.client(rng=Seeded(round_)).privatise(values))
        assert isinstance(server, PoolServer)
        found.append(server.squares())
    mean, error = np.mean(found), np.std(found) / np.sqrt(60)
    assert abs(mean - (counts**2).sum()) < 4 * error
    assert error < 0.02 * mean


def test_the_servers_of_a_pool_and_of_single_functions_differ_in_memory() -> None:
    values = list(range(100)) * 30
    single, pool = LocalHashing(epsilon=2), LocalHashing(epsilon=2, pool=32)
    kept = single.server().absorb(single.client(rng=Seeded(1)).privatise(values))
    counted = pool.server().absorb(pool.client(rng=Seeded(1)).privatise(values))
    assert sum(each.nbytes for each in kept._state().values()) == 8 * 3000
    assert sum(each.nbytes for each in counted._state().values()) == 8 * 32 * 8


@pytest.mark.parametrize("wrong", [{"buckets": 1}, {"buckets": 2**17}, {"pool": -1}, {"pool": 1.5}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with refused("CEL-I060"):
        LocalHashing(epsilon=1, **wrong)


def test_a_state_with_impossible_reports_is_refused() -> None:
    protocol = LocalHashing(epsilon=1, buckets=4)
    server = protocol.server()
    assert isinstance(server, HashingServer)
    assert server._fits({"reports": np.array([0, 2**34 - 1])})
    assert not server._fits({"reports": np.array([2**34])})
    assert not server._fits({"reports": np.array([-1])})
    assert not server._fits({"counts": np.array([1])})
    assert not server._fits({"reports": np.zeros((1, 1), dtype=np.int64)})


def test_a_state_with_another_number_of_reports_than_it_says_is_refused() -> None:
    protocol = LocalHashing(epsilon=1, buckets=4)
    state = {"reports": np.arange(3)}
    with refused("CEL-R006"):
        protocol.server().load(write_state(protocol.fingerprint, 4, state))
    assert protocol.server().load(write_state(protocol.fingerprint, 3, state)).users == 3


def test_all_cores_together_count_what_one_counts() -> None:
    protocol = LocalHashing(epsilon=2)
    server = protocol.server().absorb(protocol.client(rng=Seeded(4)).privatise([1, 2] * 3000))
    assert isinstance(server, HashingServer)
    words = digests(np.arange(2001))  # 12 million pairs
    together = server._supports(words)
    parts = [server._supports(words[start : start + 667]) for start in (0, 667, 1334)]
    np.testing.assert_array_equal(together, np.concatenate(parts))
