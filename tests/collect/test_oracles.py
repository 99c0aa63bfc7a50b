"""What holds for every oracle of frequencies: by enumeration of all reports, and by simulation."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.collect.refusals import refused
from tests.collect.report_distribution import distribution

from celosia.collect.coins import Coin
from celosia.collect.oracles.hadamard_response import HadamardResponse
from celosia.collect.oracles.kary_response import KaryResponse
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.collect.oracles.projective_geometry import ProjectiveGeometry
from celosia.collect.oracles.pure import Support
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.oracles.unary import OptimisedUnary, SymmetricUnary
from celosia.collect.protocol import Protocol
from celosia.collect.reports import Reports
from celosia.core.randomness import Seeded, System

FIVE = ("car", "bus", "bike", "train", "walk")


def small(kind: str, epsilon: float | Fraction) -> Protocol:
    """A protocol whose reports can all be gone through."""
    makers: dict[str, Callable[[], Protocol]] = {
        "grr": lambda: KaryResponse(epsilon=epsilon, domain=FIVE),
        "oue": lambda: OptimisedUnary(epsilon=epsilon, domain=FIVE),
        "sue": lambda: SymmetricUnary(epsilon=epsilon, domain=FIVE),
        "hr1": lambda: HadamardResponse(epsilon=epsilon, domain=FIVE, blocks=1),
        "hr2": lambda: HadamardResponse(epsilon=epsilon, domain=FIVE, blocks=2),
        "ss-list": lambda: SubsetSelection(epsilon=epsilon, domain=FIVE, size=1),
        "ss-bits": lambda: SubsetSelection(epsilon=epsilon, domain=FIVE, size=3),
        "pgr23": lambda: space(2, 3),
        "pgr33": lambda: space(3, 3),
        "pgr52": lambda: space(5, 2),
        "olh": lambda: LocalHashing(epsilon=epsilon, buckets=4),
        "flh": lambda: LocalHashing(epsilon=epsilon, buckets=4, pool=3),
    }

    def space(order: int, coordinates: int) -> ProjectiveGeometry:
        return ProjectiveGeometry(
            epsilon=epsilon, domain=FIVE, order=order, coordinates=coordinates
        )

    return makers[kind]()


def coins_of(protocol: Protocol) -> list[Coin]:
    """The coins that a client tosses for one value, in their order."""
    if isinstance(protocol, (OptimisedUnary, SymmetricUnary)):
        return [protocol.zero] * 5 + [protocol.one]
    assert hasattr(protocol, "coin")
    return [protocol.coin]


PURE = ("grr", "oue", "sue", "ss-list", "ss-bits", "pgr23", "pgr33", "pgr52")
KINDS = (*PURE, "hr1", "hr2", "olh", "flh")


def every_distribution(kind: str, epsilon: float | Fraction) -> list[dict[bytes, Fraction]]:
    protocol = small(kind, epsilon)
    seeds = 6 if kind == "olh" else 0
    return [distribution(protocol, value, coins_of(protocol), seeds=seeds) for value in FIVE]


def e_to(epsilon: float | Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        exact = Fraction(epsilon)
        return Fraction((Decimal(exact.numerator) / Decimal(exact.denominator)).exp())


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("kind", KINDS)
def test_no_report_is_more_than_e_to_epsilon_likelier_by_one_value_than_by_another(
    kind: str, epsilon: Fraction
) -> None:
    found = every_distribution(kind, epsilon)
    assert all(sum(each.values()) == 1 for each in found)
    reports = set().union(*found)
    assert all(set(each) == reports for each in found)
    worst = max(
        one[report] / other[report] for report in reports for one in found for other in found
    )
    assert worst <= e_to(epsilon)
    # Rounding of 2^-32 aside it is reached.
    assert worst >= Fraction(9999, 10000) * e_to(epsilon)


@pytest.mark.parametrize("kind", PURE)
def test_estimates_of_one_report_are_unbiased_with_the_variance_told(kind: str) -> None:
    protocol = small(kind, Fraction(2))
    for place, chances in enumerate(every_distribution(kind, Fraction(2))):
        means, squares = np.zeros(5), np.zeros(5)
        for report, chance in chances.items():
            packed = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
            server = protocol.server().absorb(Reports(protocol.fingerprint, packed))
            counts = server.estimate(FIVE).counts
            means += float(chance) * counts
            squares += float(chance) * counts**2
        own = np.arange(5) == place
        np.testing.assert_allclose(means, own, atol=1e-9)
        told = [protocol.variance(1, count=int(each)) for each in own]
        np.testing.assert_allclose(squares - means**2, told, rtol=1e-9)


@pytest.mark.parametrize("kind", ["hr1", "hr2"])
def test_hadamard_estimates_are_unbiased_with_a_variance_by_block(kind: str) -> None:
    protocol = small(kind, Fraction(2))
    assert isinstance(protocol, HadamardResponse)
    blocks = np.arange(5) % protocol.blocks
    for place, chances in enumerate(every_distribution(kind, Fraction(2))):
        means, squares = np.zeros(5), np.zeros(5)
        for report, chance in chances.items():
            packed = np.frombuffer(report, dtype=np.uint8).reshape(1, -1)
            server = protocol.server().absorb(Reports(protocol.fingerprint, packed))
            counts = server.estimate(FIVE).counts
            means += float(chance) * counts
            squares += float(chance) * counts**2
        np.testing.assert_allclose(means, np.arange(5) == place, atol=1e-9)
        told = [
            protocol.variance(1, count=1, beside=0)
            if each == place
            else protocol.variance(1, beside=int(blocks[each] == blocks[place]))
            for each in range(5)
        ]
        np.testing.assert_allclose(squares - means**2, told, rtol=1e-9)


def large(kind: str, key: str = "test", epsilon: float = 1.0) -> Protocol:
    domain = range(20)
    makers: dict[str, Callable[[], Protocol]] = {
        "grr": lambda: KaryResponse(epsilon=epsilon, key=key, domain=domain),
        "oue": lambda: OptimisedUnary(epsilon=epsilon, key=key, domain=domain),
        "sue": lambda: SymmetricUnary(epsilon=epsilon, key=key, domain=domain),
        "hr": lambda: HadamardResponse(epsilon=epsilon, key=key, domain=domain, blocks=1),
        "ss": lambda: SubsetSelection(epsilon=epsilon, key=key, domain=domain),
        "pgr": lambda: ProjectiveGeometry(epsilon=epsilon, key=key, domain=domain),
        "olh": lambda: LocalHashing(epsilon=epsilon, key=key),
        "flh": lambda: LocalHashing(epsilon=epsilon, key=key, pool=8),
    }
    return makers[kind]()


LARGE = ("grr", "oue", "sue", "hr", "ss", "pgr", "olh", "flh")
COUNTS = np.array([400, 300, 200, 150, 100, 80, 70, 60, 50, 40, 30, 20, *[0] * 8])
VALUES = np.repeat(np.arange(20), COUNTS)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", LARGE)
def test_the_error_of_many_rounds_is_the_variance_told_and_not_another(kind: str) -> None:
    rounds, users = 200, VALUES.size
    errors, told, seen = [], [], []
    for round_ in range(rounds):
        protocol = large(kind, key=f"round {round_}")  # fresh hash functions each time
        reports = protocol.client(rng=Seeded(round_)).privatise(VALUES)
        found = protocol.server().absorb(reports).estimate(range(20))
        errors.append(found.counts - COUNTS)
        seen.append(found.errors**2)
        squares = float((COUNTS**2).sum())
        told.append(
            [
                protocol.variance(users, count=int(each), squares=squares - float(each) ** 2)
                for each in COUNTS
            ]
        )
    ratio = np.square(errors).mean() / np.mean(told)
    # 4,000 squared normal errors: a relative deviation of sqrt(2 / 4000), five times; the errors
    # that come from a pool are heavier and not independent, so there they are taken as 400.
    reach = 5 * np.sqrt(2 / (400 if kind == "flh" else 4000))
    assert abs(ratio - 1) < min(reach, 0.36)
    if kind != "flh":
        assert abs(0.8 * ratio - 1) > reach
        assert abs(1.25 * ratio - 1) > reach
    means = np.mean(errors, axis=0) / np.sqrt(np.mean(told, axis=0) / rounds)
    assert np.abs(means).max() < 4.1  # 20 values: beyond 4.1 with a chance of 0.0008
    assert np.mean(seen) == pytest.approx(np.mean(told), rel=0.05 if kind != "flh" else 0.2)


@pytest.mark.parametrize("kind", LARGE)
def test_merged_servers_are_one_server_of_all_reports_in_any_order(kind: str) -> None:
    protocol = large(kind)
    reports = protocol.client(rng=Seeded(1)).privatise(VALUES)
    parts = [Reports(reports.fingerprint, reports.packed[start::3]) for start in range(3)]
    whole = protocol.server().absorb(reports)
    merged = protocol.server()
    for part in reversed(parts):
        merged.merge(protocol.server().absorb(part.to_bytes()))
    assert merged.to_bytes() == whole.to_bytes()
    loaded = protocol.server().load(whole.to_bytes())
    assert loaded.users == VALUES.size
    np.testing.assert_array_equal(
        loaded.estimate(range(20)).counts, whole.estimate(range(20)).counts
    )
    doubled = protocol.server().absorb(reports).merge(whole)
    assert doubled.users == 2 * whole.users
    assert whole.to_bytes() == loaded.to_bytes()  # merging leaves the other as it was


@pytest.mark.parametrize("kind", LARGE)
def test_reports_are_as_long_as_told_and_of_one_protocol(kind: str) -> None:
    protocol = large(kind)
    reports = protocol.client(rng=Seeded(1)).privatise(VALUES[:7])
    assert reports.packed.shape == (7, -(-protocol.report_bits // 8))
    for other in (replace(protocol, key="another"), replace(protocol, epsilon=1.5)):
        with refused("CEL-R004"):
            other.server().absorb(reports)
        with refused("CEL-R004"):
            other.server().load(protocol.server().to_bytes())
    with refused("CEL-R001"):
        protocol.server().absorb(Reports(protocol.fingerprint, reports.packed[:, :-1]))
    assert protocol.server().absorb(reports.to_bytes()).users == 7
    empty = protocol.client(rng=Seeded(1)).privatise(np.array([], dtype=np.int64))
    assert protocol.server().absorb(empty).users == 0


@pytest.mark.parametrize(
    ("protocol", "report"),
    [
        (KaryResponse(epsilon=1, domain=FIVE), [5]),
        (ProjectiveGeometry(epsilon=1, domain=FIVE, order=2, coordinates=3), [7]),
        (SubsetSelection(epsilon=1, domain=FIVE, size=1), [5]),
        (SubsetSelection(epsilon=1, domain=FIVE, size=2), [0b111]),
        (SubsetSelection(epsilon=4, domain=range(20), size=2), [3 | 3 << 5 & 255, 3 >> 3]),
        (LocalHashing(epsilon=1, buckets=5), [0, 0, 0, 0, 5]),
        (LocalHashing(epsilon=1, buckets=4, pool=3), [3]),
        (OptimisedUnary(epsilon=1, domain=FIVE), [32]),
    ],
)
def test_reports_that_no_client_makes_are_refused_whole(
    protocol: Protocol, report: list[int]
) -> None:
    value = getattr(protocol, "domain", FIVE)[1]
    good = protocol.client(rng=Seeded(3)).privatise([value])
    packed = np.vstack([good.packed, np.array([report], dtype=np.uint8)])
    server = protocol.server()
    before = server.to_bytes()
    with refused("CEL-R001"):
        server.absorb(Reports(protocol.fingerprint, packed))
    assert server.to_bytes() == before


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 50, 1024, 10_000])
@pytest.mark.parametrize("kind", LARGE)
def test_extreme_epsilons_neither_overflow_nor_turn_estimates_round(
    kind: str, epsilon: float
) -> None:
    protocol = large(kind, epsilon=epsilon)
    server = protocol.server().absorb(protocol.client(rng=Seeded(5)).privatise(VALUES))
    found = server.estimate(range(20))
    assert np.isfinite(found.counts).all()
    assert np.isfinite(found.errors).all()
    if epsilon > 40 and kind not in ("hr", "flh", "oue"):
        # With so many buckets hashes of 20 values meet with a chance below 20 * 1500 / 65536.
        assert np.abs(found.counts - COUNTS).max() <= (3 if kind == "olh" else 0) + 1e-6


def test_a_tiny_epsilon_over_a_large_domain_is_refused_before_anything_is_drawn() -> None:
    with refused("CEL-R052"):
        KaryResponse(epsilon=1e-6, domain=range(2**20))


@given(
    st.integers(2, 60),
    st.fractions(Fraction(1, 50), 8, max_denominator=50),
    st.sampled_from(["grr", "oue", "sue", "ss", "pgr"]),
)
@settings(max_examples=60, deadline=None)
def test_two_values_never_differ_by_more_than_epsilon_in_any_support(
    size: int, epsilon: Fraction, kind: str
) -> None:
    makers: dict[str, Callable[..., Any]] = {
        "grr": KaryResponse,
        "oue": OptimisedUnary,
        "sue": SymmetricUnary,
        "ss": SubsetSelection,
        "pgr": ProjectiveGeometry,
    }
    support: Support = makers[kind](epsilon=epsilon, domain=range(size)).support
    assert 0 < support.other < support.own < 1
    # A set of reports is an event: its chance grows by e^epsilon at most, and so does the rest's.
    assert support.own <= e_to(epsilon) * support.other
    assert 1 - support.other <= e_to(epsilon) * (1 - support.own)


def test_clients_draw_from_the_operating_system_by_default() -> None:
    assert isinstance(large("ss").client().rng, System)
    # Three seeds of 32 bits for each client: two of nine are equal with a chance below 2^-90.
    assert len({large("olh").client().privatise([1] * 3).to_bytes() for _ in range(9)}) == 9
