"""Secret samples."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp, inf, log

import pytest
from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.pairs import (
    Law,
    discrete_gaussian,
    discrete_laplace,
    hockey_stick,
    mixed,
    renyi,
    worst,
)

from celosia.accounting.accountant import Accountant
from celosia.accounting.amplification import (
    SampledLoss,
    amplify_by_poisson_sampling,
    amplify_by_sampling_without_replacement,
)
from celosia.accounting.losses import (
    ApproximateLoss,
    BoundedRangeLoss,
    ComposedLoss,
    Loss,
    PureLoss,
)
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE

NOISES: list[tuple[Loss, Law, Law]] = [
    (LaplaceLoss(Fraction(1), 1), discrete_laplace(1), discrete_laplace(1, 1)),
    (LaplaceLoss(Fraction(3), 4), discrete_laplace(3), discrete_laplace(3, 4)),
    (GaussianLoss(Fraction(1), 1), discrete_gaussian(1, reach=25), discrete_gaussian(1, 1, 25)),
    (GaussianLoss(Fraction(9), 2), discrete_gaussian(9, reach=75), discrete_gaussian(9, 2, 75)),
]


@given(epsilon=st.floats(0.01, 20), rate=st.floats(1e-6, 0.999))
def test_a_pure_epsilon_is_amplified_by_the_theorem_and_never_below_it(
    epsilon: float, rate: float
) -> None:
    loss = amplify_by_poisson_sampling(PureLoss(Fraction(epsilon)), rate=rate)
    expected = log(1 + rate * (exp(epsilon) - 1))
    assert loss.pure == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert loss.pure <= epsilon * (1 + 1e-11)
    # Randomised response on a sample has exactly this loss: the bound cannot be lower.
    truth, lie = 1 / (1 + exp(-epsilon)), 1 / (1 + exp(epsilon))
    assert loss.pure >= log((rate * truth + (1 - rate) * lie) / lie) - 1e-14


def test_epsilon_and_delta_are_amplified_together() -> None:
    loss = amplify_by_poisson_sampling(ApproximateLoss(Fraction(1), 1e-6), rate=0.1)
    assert isinstance(loss, ApproximateLoss)
    assert float(loss.value) == pytest.approx(log(1 + 0.1 * (exp(1) - 1)))
    assert loss.failure == pytest.approx(1e-7)
    assert loss.failure >= 1e-7


def test_a_sampled_exponential_mechanism_is_only_pure() -> None:
    assert isinstance(
        amplify_by_poisson_sampling(BoundedRangeLoss(Fraction(1)), rate=0.5), PureLoss
    )


def test_a_rate_of_one_changes_nothing() -> None:
    loss = GaussianLoss(Fraction(4), 1)
    assert amplify_by_poisson_sampling(loss, rate=1) is loss
    assert amplify_by_sampling_without_replacement(loss, sample=5, population=5) is loss


@pytest.mark.parametrize(("loss", "zero", "moved"), NOISES, ids=[str(noise[0]) for noise in NOISES])
@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_a_poisson_sample_of_noise_has_its_exact_curve(
    loss: Loss, zero: Law, moved: Law, rate: float
) -> None:
    sampled = amplify_by_poisson_sampling(loss, rate=rate)
    mixture = mixed([(1 - rate, zero), (rate, moved)])
    for epsilon in (0.0, 0.01, 0.05, 0.2, 0.5):
        exact = worst(zero, mixture, epsilon)
        found = sampled.delta(epsilon)
        # The oracle cuts off tails of 1e-15.
        assert found >= exact - 1e-13
        assert found == pytest.approx(hockey_stick(mixture, zero, epsilon), rel=1e-6, abs=1e-12)
    at = sampled.epsilon(1e-4)
    assert sampled.delta(at) <= 1e-4 * (1 + 1e-6)
    assert sampled.delta(at * 0.99) > 1e-4 * (1 - 1e-6) or at == sampled.pure


@pytest.mark.parametrize(("loss", "zero", "moved"), NOISES, ids=[str(noise[0]) for noise in NOISES])
def test_the_renyi_divergence_of_a_sample_bounds_both_directions(
    loss: Loss, zero: Law, moved: Law
) -> None:
    rate = 0.2
    sampled = amplify_by_poisson_sampling(loss, rate=rate)
    mixture = mixed([(1 - rate, zero), (rate, moved)])
    for order in (1.3, 1.5, 2.0, 2.5, 3.0, 5.0):
        forwards, backwards = renyi(mixture, zero, order), renyi(zero, mixture, order)
        assert forwards >= backwards - 1e-12  # as Mironov et al. prove for symmetric noise
        assert sampled.renyi(order) >= forwards - 1e-12
    for order in (2.0, 3.0, 5.0):
        assert sampled.renyi(order) == pytest.approx(renyi(mixture, zero, order), rel=1e-5)


@pytest.mark.parametrize(("loss", "zero", "moved"), NOISES, ids=[str(noise[0]) for noise in NOISES])
def test_the_distribution_of_a_sample_dominates_it_and_is_close(
    loss: Loss, zero: Law, moved: Law
) -> None:
    rate = 0.2
    sampled = amplify_by_poisson_sampling(loss, rate=rate)
    law = sampled.distribution()
    mixture = mixed([(1 - rate, zero), (rate, moved)])
    for epsilon in (0.0, 0.05, 0.2):
        exact = worst(zero, mixture, epsilon)
        assert exact - 1e-13 <= law.get_delta_for_epsilon(epsilon) <= exact + 2e-4


def test_the_continuous_law_would_promise_too_much() -> None:
    sampled = amplify_by_poisson_sampling(LaplaceLoss(Fraction(1), 1), rate=0.2)
    continuous = from_laplace_mechanism(1.0, sampling_prob=0.2)
    assert continuous.get_delta_for_epsilon(0.1) < sampled.delta(0.1) * 0.99


def test_samples_of_wide_noise_and_of_compositions_fall_back_on_the_curve() -> None:
    wide = amplify_by_poisson_sampling(GaussianLoss(Fraction(10**12), 10**6), rate=0.1)
    assert isinstance(wide, SampledLoss)
    at = wide.epsilon(1e-6)
    assert 0 < at < GaussianLoss(Fraction(10**12), 10**6).epsilon(1e-5)
    assert wide.distribution().get_delta_for_epsilon(at) == pytest.approx(1e-6, rel=0.05)
    both = amplify_by_poisson_sampling(
        ComposedLoss((PureLoss(Fraction(1, 2)), ApproximateLoss(Fraction(1, 2), 1e-6))), rate=0.1
    )
    assert both.epsilon(1.001e-7) <= log(1 + 0.1 * (exp(1) - 1)) * (1 + 1e-6)
    assert both.delta(1.0) == pytest.approx(1e-7, rel=1e-3)


@pytest.mark.parametrize(("loss", "zero", "moved"), NOISES, ids=[str(noise[0]) for noise in NOISES])
@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_each_order_of_the_neighbours_has_its_own_distribution(
    loss: Loss, zero: Law, moved: Law, rate: float
) -> None:
    sampled = amplify_by_poisson_sampling(loss, rate=rate)
    mixture = mixed([(1 - rate, zero), (rate, moved)])
    with_unit, without = sampled.directions(2.0**-12)  # type: ignore[attr-defined]
    for at in (-0.4, -0.05, -0.02, 0.0, 0.02, 0.05, 0.3, 0.6):
        for grid, exact in (
            (with_unit, hockey_stick(mixture, zero, at)),
            (without, hockey_stick(zero, mixture, at)),
        ):
            # A chord of a curve with slope at most 1 in e^epsilon; the oracle cuts tails of 1e-15.
            assert exact - 1e-12 <= grid.delta(at) <= exact + 2.0**-12 * exp(at)


# Epsilons of dp-accounting 0.6.0 for the same releases:
# privacy_loss_distribution.from_discrete_gaussian_mechanism(sigma, sensitivity=1,
# sampling_prob=rate, value_discretization_interval=1e-5) and from_discrete_laplace_mechanism(
# 1 / scale, ...), .self_compose(times).get_epsilon_for_delta(delta). Its discrete laws are rounded
# up to the grid; the last column is the less pessimistic from_gaussian_mechanism at 1e-4.
REFERENCES = [
    (GaussianLoss(Fraction(1), 1), 0.01, 1000, 1e-5, 1.8327393, 1.8282436),
    (GaussianLoss(Fraction(1), 1), 0.001, 10_000, 1e-6, 0.5973547, 0.5553923),
    (GaussianLoss(Fraction(4), 1), 0.05, 500, 1e-5, 2.5341081, 2.5320336),
    (GaussianLoss(Fraction(25), 1), 0.2, 100, 1e-6, 1.8455842, 1.8450101),
    (LaplaceLoss(Fraction(1), 1), 0.01, 1000, 1e-5, 1.2799384, None),
    (LaplaceLoss(Fraction(4), 1), 0.1, 200, 1e-6, 1.5546342, None),
]


@pytest.mark.parametrize("case", REFERENCES, ids=[f"{case[0]} {case[1]}" for case in REFERENCES])
def test_many_sampled_releases_cost_no_more_than_dp_accounting_says(
    case: tuple[Loss, float, int, float, float, float | None],
) -> None:
    loss, rate, times, delta, discrete, continuous = case
    account = Accountant()
    account.add(amplify_by_poisson_sampling(loss, rate=rate), times=times)
    found = account.epsilon(delta)
    assert 0.9 * discrete < found <= discrete
    if continuous is not None:
        assert found == pytest.approx(continuous, rel=1e-3)


def test_composed_samples_dominate_the_exact_law_in_both_orders() -> None:
    rate = 0.3
    zero, moved = discrete_laplace(1), discrete_laplace(1, 1)
    mixture = mixed([(1 - rate, zero), (rate, moved)])
    three = ComposedLoss((amplify_by_poisson_sampling(LaplaceLoss(Fraction(1), 1), rate=rate),) * 3)
    for at in (0.0, 0.1, 0.3, 0.7):
        exact = max(
            _product_delta(mixture, zero, at, times=3), _product_delta(zero, mixture, at, times=3)
        )
        assert exact - 1e-9 <= three.delta(at) <= exact + 1e-3


def _product_delta(one: Law, two: Law, epsilon: float, *, times: int) -> float:
    """Of the losses of independent draws, by the sums of the few different losses."""
    single: dict[float, float] = {}
    for outcome, chance in one.items():
        if two.get(outcome, 0.0) > 0:
            place = round(log(chance / two[outcome]), 9)
            single[place] = single.get(place, 0.0) + chance
    sums = {0.0: 1.0}
    for _ in range(times):
        more: dict[float, float] = {}
        for (done, p), (place, q) in product(sums.items(), single.items()):
            key = round(done + place, 9)
            more[key] = more.get(key, 0.0) + p * q
        sums = more
    return sum(p * (1 - exp(epsilon - place)) for place, p in sums.items() if place > epsilon)


def test_ten_sampled_releases_compose() -> None:
    one = amplify_by_poisson_sampling(GaussianLoss(Fraction(4), 1), rate=0.1)
    ten = ComposedLoss((one,) * 10)
    assert one.epsilon(1e-6) < ten.epsilon(1e-6) < 10 * one.epsilon(1e-7)
    assert ten.epsilon(1e-6) < ComposedLoss((GaussianLoss(Fraction(4), 1),) * 10).epsilon(1e-6)


def test_a_sample_of_fixed_size_is_bounded_for_every_pair_of_tables() -> None:
    population, sample, scale = 4, 2, 1.0
    loss = amplify_by_sampling_without_replacement(
        LaplaceLoss(Fraction(1), 1), sample=sample, population=population
    )
    laws = [discrete_laplace(scale, shift, reach=60) for shift in range(population + 1)]

    def released(table: tuple[int, ...]) -> Law:
        subsets = list(combinations(table, sample))
        return mixed([(1 / len(subsets), laws[sum(subset)]) for subset in subsets])

    tightest = 0.0
    for table in product((0, 1), repeat=population):
        one, other = released((0, *table[1:])), released((1, *table[1:]))
        for epsilon in (0.0, 0.1, 0.3, 0.5):
            exact = worst(one, other, epsilon)
            assert exact <= loss.delta(epsilon) + 1e-12
            tightest = max(tightest, exact / max(loss.delta(epsilon), 1e-9))
        assert renyi(one, other, 2.0) <= loss.renyi(2.0) + 1e-12
    assert tightest > 0.5
    assert loss.pure == pytest.approx(log(1 + 0.5 * (exp(1) - 1)))


def test_a_sample_under_the_wrong_relation_is_refused() -> None:
    with pytest.raises(PrivacyError) as caught:
        amplify_by_poisson_sampling(PureLoss(Fraction(1)), rate=0.1, neighbours=CHANGE_ONE)
    assert caught.value.code == "CEL-B050"
    with pytest.raises(PrivacyError):
        amplify_by_sampling_without_replacement(
            PureLoss(Fraction(1)), sample=1, population=2, neighbours=ADD_REMOVE
        )


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, True, "0.1", float("nan")])
def test_a_rate_is_a_probability(rate: float) -> None:
    with pytest.raises(InputError) as caught:
        amplify_by_poisson_sampling(PureLoss(Fraction(1)), rate=rate)
    assert caught.value.code == "CEL-B051"


def test_a_sample_is_no_larger_than_its_population() -> None:
    with pytest.raises(InputError) as caught:
        amplify_by_sampling_without_replacement(PureLoss(Fraction(1)), sample=3, population=2)
    assert caught.value.code == "CEL-I060"


def test_what_is_not_known_is_infinite() -> None:
    loss = amplify_by_poisson_sampling(ConcentratedLoss(Fraction(1, 2)), rate=0.1)
    assert loss.pure == inf
    assert loss.rho == inf
    assert loss.renyi(2.0) < inf
    assert loss.as_dict()["kind"] == "sampled"


@pytest.mark.parametrize("order", [2, 3, 16, 256])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1)])
def test_a_small_renyi_divergence_of_a_sample_is_not_lost_in_rounding(
    epsilon: Fraction, order: int
) -> None:
    mpmath = pytest.importorskip("mpmath")
    found = amplify_by_poisson_sampling(LaplaceLoss(1 / epsilon, 1), rate=Fraction(1, 10**4)).renyi(
        order
    )
    with mpmath.workdps(60):
        share = mpmath.mpf(1) / 10**4
        size = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        top = 1 / (1 + mpmath.exp(-size))  # of discrete noise that moves by one step
        ratios = [1 - share + share * mpmath.exp(size), 1 - share + share * mpmath.exp(-size)]
        moment = (1 - top) * ratios[0] ** order + top * ratios[1] ** order
        expected = mpmath.log(moment) / (order - 1)
        assert expected <= found <= expected * (1 + 1e-6)
