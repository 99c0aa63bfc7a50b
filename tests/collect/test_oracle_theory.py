"""The errors of oracles against closed formulas and published figures."""

from math import exp

import numpy as np
import pytest

from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing, best_buckets
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.oracles.unary import OptimisedUnary, SymmetricUnary
from celosia.collect.protocol import Protocol
from celosia.core.randomness import Seeded

# epsilon, optimum, SUE, Hadamard with one bit, GRR of 1e3 and of 1e5 values, OLH, its buckets
TABLE = [
    (0.5, 15.671, 15.917, 16.671, 2375, 237_620, 15.817, 3),
    (1, 3.683, 3.918, 4.683, 339, 33_870, 3.692, 4),
    (2, 0.7241, 0.9207, 1.7241, 24.6, 2450, 0.7246, 8),
    (3, 0.2206, 0.3697, 1.2206, 2.80, 275, 0.2206, 21),
    (4, 0.0760, 0.1810, 1.0760, 0.366, 34.8, 0.0760, 56),
    (5, 0.0273, 0.0974, 1.0273, 0.053, 4.61, 0.0273, 149),
]


@pytest.mark.parametrize("row", TABLE)
def test_variances_of_a_rare_value_are_those_of_the_error_theory(row: tuple[float, ...]) -> None:
    epsilon, optimum, symmetric, hadamard, small, large, hashing, buckets = row
    thousand = range(1000)
    assert best_buckets(epsilon) == buckets
    told = {
        "optimum": (OptimisedUnary(epsilon=epsilon, domain=thousand), optimum),
        "symmetric": (SymmetricUnary(epsilon=epsilon, domain=thousand), symmetric),
        "hadamard": (HadamardResponse(epsilon=epsilon, domain=thousand, blocks=1), hadamard),
        "small": (KaryResponse(epsilon=epsilon, domain=thousand), small),
        "large": (KaryResponse(epsilon=epsilon, domain=range(100_000)), large),
        "hashing": (LocalHashing(epsilon=epsilon), hashing),
    }
    for protocol, figure in told.values():
        # The figures have three digits or more.
        assert protocol.variance(1) == pytest.approx(figure, rel=0.01)
    assert told["optimum"][0].variance(1) == pytest.approx(
        4 * exp(epsilon) / (exp(epsilon) - 1) ** 2, rel=1e-6
    )


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3, 4, 5])
def test_subset_selection_is_the_best_and_projective_geometry_next_to_it(epsilon: float) -> None:
    domain = range(2000)
    subset = SubsetSelection(epsilon=epsilon, domain=domain)
    optimum = 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2
    assert 0.8 * optimum < subset.variance(1) < optimum  # below: other values are fewer
    for size in (subset.size - 1, subset.size + 1):
        if size:
            other = SubsetSelection(epsilon=epsilon, domain=domain, size=size)
            assert subset.variance(1) <= other.variance(1)
    rivals: list[Protocol] = [
        KaryResponse(epsilon=epsilon, domain=domain),
        LocalHashing(epsilon=epsilon),
        HadamardResponse(epsilon=epsilon, domain=domain),
    ]
    assert all(subset.variance(1) < rival.variance(1) for rival in rivals)
    projective = ProjectiveGeometry(epsilon=epsilon, domain=domain)
    # The nearest prime to e^epsilon + 1 is up to a third beside it, which costs a few per cent.
    assert projective.variance(1) < 1.05 * subset.variance(1)


@pytest.mark.parametrize(("size", "blocks"), [(5, 1), (5, 2), (6, 4), (3, 4), (40, 8), (2, 1)])
def test_the_usual_variance_of_hadamard_response_is_that_among_equal_values(
    size: int, blocks: int
) -> None:
    protocol = HadamardResponse(epsilon=1, domain=range(size), blocks=blocks)
    users, count = 1000, 100
    others = (users - count) / (size - 1)  # reports of each other value
    shared = [
        sum(others for other in range(size) if other != value and (other - value) % blocks == 0)
        for value in range(size)
    ]
    plain = [protocol.variance(users, count=count, beside=each) for each in shared]
    assert protocol.variance(users, count=count) == pytest.approx(sum(plain) / size, rel=1e-12)


def test_hadamard_blocks_are_the_best_power_of_two() -> None:
    for epsilon in (0.5, 1, 2, 3, 4, 5):
        best = HadamardResponse(epsilon=epsilon, domain=range(3000))
        for blocks in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
            other = HadamardResponse(epsilon=epsilon, domain=range(3000), blocks=blocks)
            assert best.variance(1) <= other.variance(1)
    assert HadamardResponse(epsilon=1, domain=range(3000)).blocks == 1
    # 64 blocks of 2^14 values, with 2^15 places each.
    assert HadamardResponse(epsilon=5, domain=range(2**20)).report_bits == 21


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [SubsetSelection, ProjectiveGeometry])
def test_the_published_error_of_optimal_oracles_is_met(
    kind: type[SubsetSelection] | type[ProjectiveGeometry],
) -> None:
    # Zipf(1.0), 1,000 users, 22,000 values, epsilon 5: a published mean squared error of 27.3.
    users, size = 1000, 22_000
    weights = 1 / np.arange(1, size + 1)
    generator = np.random.Generator(np.random.PCG64(2022))
    values = generator.choice(size, users, p=weights / weights.sum())
    counts = np.bincount(values, minlength=size)
    protocol = kind(epsilon=5, domain=range(size))
    told = np.mean([protocol.variance(users, count=int(each)) for each in counts])
    assert told == pytest.approx(27.3, rel=0.02)
    rounds = 3
    squared = 0.0
    for seed in range(rounds):
        reports = protocol.client(rng=Seeded(seed)).privatise(values)
        found = protocol.server().absorb(reports).estimate(range(size))
        squared += float(np.mean((found.counts - counts) ** 2)) / rounds
    # 66,000 squared errors of nearly Poisson supports (mean 6.7): (2 + 1/6.7) / 66,000, four times.
    assert squared == pytest.approx(27.3, rel=0.023)
    reference = {SubsetSelection: 2220, ProjectiveGeometry: 15}
    assert protocol.report_bits <= reference[kind]


def test_every_further_user_adds_as_much_variance_and_heavy_values_their_own() -> None:
    for protocol in (
        KaryResponse(epsilon=1, domain=range(9)),
        OptimisedUnary(epsilon=1, domain=range(9)),
        LocalHashing(epsilon=1),
        ProjectiveGeometry(epsilon=1, domain=range(9)),
    ):
        own, other = (float(each) for each in (protocol.support.own, protocol.support.other))
        expected = (300 * own * (1 - own) + 700 * other * (1 - other)) / (own - other) ** 2
        assert protocol.variance(1000, count=300) == pytest.approx(expected, rel=1e-12)
        assert protocol.variance(1000) == pytest.approx(1000 * protocol.variance(1))
