"""No reports, one report, no candidates: every protocol has an answer, and JSON can hold it."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from tests.collect.refusals import refused

from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.discovery.heavy_hitters import PrefixTree
from celosia.collect.estimates import POSTS
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.numbers.buckets import Buckets
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.numbers.one_bit_mean import OneBitMean
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.oracles.unary import OptimisedUnary, SymmetricUnary
from celosia.collect.protocol import Protocol
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.rappor.words import RapporWords
from celosia.core.randomness import Seeded

DOMAIN: dict[str, Any] = {"epsilon": 1, "domain": ("a", "b", "c")}
PROTOCOLS: list[Protocol] = [
    CountMean(epsilon=1, hashes=8, width=16),
    HadamardCountMean(epsilon=1, hashes=8, width=16),
    FragmentPuzzle(epsilon=1, hashes=8, width=16, fragment_hashes=8, fragment_width=16),
    Rappor(),
    RapporWords.for_epsilon(lasting=8, one=2, length=4),
    DBitFlip(epsilon=1),
    KaryResponse(**DOMAIN),
    OptimisedUnary(**DOMAIN),
    SymmetricUnary(**DOMAIN),
    LocalHashing(epsilon=1),
    LocalHashing(epsilon=1, pool=8),
    HadamardResponse(**DOMAIN),
    SubsetSelection(**DOMAIN),
    ProjectiveGeometry(**DOMAIN),
    PrefixTree(epsilon=1, alphabet="abc", length=3),
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.method_name)
@pytest.mark.parametrize("users", [0, 1, 2])
def test_a_handful_of_reports_is_estimated(protocol: Protocol, users: int) -> None:
    values: list[Any] = [0, 1] if isinstance(protocol, DBitFlip) else ["a", "b"]
    reports = protocol.client(rng=Seeded(users)).privatise(values[:1] * users)
    server = protocol.server().absorb(reports.to_bytes() if users else reports)
    for post in POSTS:
        found = server.estimate(values, post=post)
        told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
        assert len(told["counts"]) == found.frame().height == 2
        # Nobody can be certain of a count after one report.
        assert users == 0 or np.all(found.errors > 0)
        if post == "norm-sub":
            assert found.counts.sum() == pytest.approx(users)
    assert server.estimate([]).counts.size == 0
    with refused("CEL-R009"):
        server.estimate("ab")


def test_equal_bits_of_a_few_devices_are_no_certainty_about_their_mean() -> None:
    protocol = OneBitMean(epsilon=1)
    assert protocol.variance(0) == inf
    truth = protocol.coin.chance
    for seed in range(5):
        found = protocol.server().absorb(protocol.client(rng=Seeded(seed)).privatise(1)).mean()
        assert found.error == pytest.approx(sqrt(truth * (1 - truth)) / (2 * truth - 1))


def test_a_group_that_nobody_is_in_says_nothing() -> None:
    protocol = PrefixTree(epsilon=1, bits=40)
    rng = Seeded(1)
    while True:
        server = protocol.server().absorb(protocol.client(rng=rng).privatise(7))
        if not server.levels[-1].users:
            break
    assert server.estimate([7]).errors.tolist() == [inf]
    assert server.estimate([7]).as_dict()["high"] == [None]


def test_functions_that_are_shared_must_fit_into_memory() -> None:
    with refused("CEL-R053"):
        LocalHashing(epsilon=12, pool=2**20)
    assert LocalHashing(epsilon=1, pool=2**20).pool == 2**20


def test_a_small_epsilon_and_many_values_leave_hadamard_response_its_few_blocks() -> None:
    protocol = HadamardResponse(epsilon=1e-6, domain=tuple(range(10_000)))
    assert protocol.blocks == 1
    assert protocol.coin.epsilon <= 1e-6


def test_a_number_beyond_all_floats_is_refused_without_being_told() -> None:
    with refused("CEL-R035"):
        Buckets(0, 10).of([10**400])


def test_equal_numbers_of_all_kinds_are_one_epsilon() -> None:
    kinds: list[Any] = [2, 2.0, Fraction(2), Decimal("2.0"), np.float64(2)]
    assert len({CountMean(epsilon=each).fingerprint for each in kinds}) == 1
