"""The losses of single releases against sums, integrals and dp_accounting."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp, inf, log, nextafter, sqrt, tanh
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from celosia.accounting.losses import (
    ApproximateLoss,
    BoundedRangeLoss,
    ComposedLoss,
    CurveLoss,
    Loss,
    PureLoss,
)
from celosia.accounting.noise_losses import (
    ConcentratedLoss,
    GaussianLoss,
    LaplaceLoss,
    _excess,
    _summed_curve,
    continuous_curve,
)
from celosia.core.errors import InputError

ALL: list[CurveLoss] = [
    PureLoss(Fraction(1, 2)),
    ApproximateLoss(Fraction(1, 2), 1e-6),
    BoundedRangeLoss(Fraction(3, 2)),
    ConcentratedLoss(Fraction(1, 8)),
    LaplaceLoss(Fraction(7, 2), 3),
    LaplaceLoss(Fraction(2**22), 2**21),
    GaussianLoss(Fraction(4), 1),
    GaussianLoss(Fraction(9, 4), 5),
    GaussianLoss(Fraction(2**44), 2**21),
]

rates = st.fractions(min_value=Fraction(1, 50), max_value=4, max_denominator=50)


def laplace_masses(scale: Fraction, shift: int) -> tuple[np.ndarray, np.ndarray]:
    edge = int(45 * scale) + shift + 2
    x = np.arange(-edge, edge + shift + 1)
    weights = [np.exp(-np.abs(x - centre) / float(scale)) for centre in (0, shift)]
    total = (1 + exp(-1 / scale)) / (1 - exp(-1 / scale))
    return weights[0] / total, weights[1] / total


def gaussian_masses(variance: Fraction, shift: int) -> tuple[np.ndarray, np.ndarray]:
    edge = int(40 * sqrt(variance)) + 2
    x = np.arange(-edge - shift, edge + shift + 1)
    weights = [np.exp(-((x - centre) ** 2) / (2 * float(variance))) for centre in (0, shift)]
    return weights[0] / weights[0].sum(), weights[1] / weights[1].sum()


def stick(one: np.ndarray, two: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(one - exp(epsilon) * two, 0).sum())


def renyi_sum(one: np.ndarray, two: np.ndarray, order: float) -> float:
    seen = (one > 1e-290) & (two > 1e-290)
    logs = order * np.log(one[seen]) + (1 - order) * np.log(two[seen])
    return float(special.logsumexp(logs)) / (order - 1)


@settings(max_examples=60, deadline=None)
@given(rates, st.integers(1, 30), st.floats(0, 5))
def test_the_delta_of_laplace_noise_is_the_sum_over_all_outcomes(
    rate: Fraction, shift: int, epsilon: float
) -> None:
    loss = LaplaceLoss(1 / rate, shift)
    expected = stick(*laplace_masses(1 / rate, shift), epsilon)
    assert loss.delta(epsilon) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.fractions(Fraction(1, 10), 200, max_denominator=10), st.integers(1, 30), st.floats(0, 8))
def test_the_delta_of_gaussian_noise_is_the_sum_over_all_outcomes(
    variance: Fraction, shift: int, epsilon: float
) -> None:
    loss = GaussianLoss(variance, shift)
    expected = stick(*gaussian_masses(variance, shift), epsilon)
    assert loss.delta(epsilon) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("order", [1.01, 1.5, 2, 5, 20])
def test_renyi_divergences_are_the_sums_over_all_outcomes(order: float) -> None:
    for scale, shift in [(Fraction(2), 1), (Fraction(7, 2), 3), (Fraction(40), 30)]:
        expected = renyi_sum(*laplace_masses(scale, shift), order)
        assert LaplaceLoss(scale, shift).renyi(order) == pytest.approx(expected, rel=1e-7)
    for variance, shift in [(Fraction(4), 1), (Fraction(30), 7)]:
        exact = renyi_sum(*gaussian_masses(variance, shift), order)
        assert GaussianLoss(variance, shift).renyi(order) >= exact - 1e-9
    answers = np.array([exp(1.5), 1.0]) / (1 + exp(1.5))
    expected = renyi_sum(answers, answers[::-1], order)
    assert PureLoss(Fraction(3, 2)).renyi(order) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("value", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("order", [1.1, 2, 8, 40])
def test_the_renyi_divergence_of_bounded_range_is_the_worst_place_of_the_interval(
    value: float, order: float
) -> None:
    places = np.linspace(0, value, 20_001)
    chances = (exp(value) - np.exp(places)) / np.expm1(value)
    moments = chances * np.exp((order - 1) * places) + (1 - chances) * np.exp(
        (order - 1) * (places - value)
    )
    worst = float(np.log(moments.max())) / (order - 1)
    found = BoundedRangeLoss(Fraction(str(value))).renyi(order)
    assert worst <= found <= worst * (1 + 1e-6) + 1e-8
    assert found <= order * value**2 / 8


@pytest.mark.parametrize("value", [1e-6, 1e-10, 1e-16, 1e-100, 1e6])
def test_a_bounded_range_beyond_the_reach_of_floats_has_a_renyi_divergence_too(
    value: float,
) -> None:
    loss = BoundedRangeLoss(Fraction(str(value)))
    assert 0 < loss.renyi(2) <= min(value, 2 * loss.rho)


@pytest.mark.parametrize("value", [0.1, 1.0, 5.0])
def test_the_curve_of_bounded_range_is_the_worst_place_of_the_interval(value: float) -> None:
    loss = BoundedRangeLoss(Fraction(str(value)))
    for epsilon in np.linspace(0, value, 7)[:-1]:
        places = np.linspace(epsilon, value, 20_001)
        chances = (exp(value) - np.exp(places)) / np.expm1(value)
        worst = float((chances * -np.expm1(epsilon - places)).max())
        assert worst <= loss.delta(epsilon) + 1e-15
        assert loss.delta(epsilon) == pytest.approx(worst, rel=1e-6)
    assert loss.delta(0) == pytest.approx(tanh(value / 4), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=6), st.data())
def test_no_exponential_mechanism_exceeds_the_curve_of_bounded_range(
    scores: list[int], data: st.DataObject
) -> None:
    moves = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=len(scores), max_size=6))
    rate = 0.7  # utilities of sensitivity 1 with exp(rate u): the losses span at most 2 rate
    one = np.exp(rate * np.array(scores))
    two = np.exp(rate * (np.array(scores) + np.array(moves[: len(scores)])))
    loss = BoundedRangeLoss(Fraction(14, 10))
    for epsilon in (0.0, 0.3, 0.9, 1.3):
        assert stick(one / one.sum(), two / two.sum(), epsilon) <= loss.delta(epsilon) + 1e-12


def test_fine_grids_approach_the_continuous_laws() -> None:
    fine = LaplaceLoss(Fraction(2**30), 2**29)  # scale 2 for a shift of 1
    for epsilon in (0.0, 0.1, 0.3):
        assert fine.delta(epsilon) == pytest.approx(1 - exp((epsilon - 0.5) / 2), rel=1e-8)
    fine_gaussian = GaussianLoss(Fraction(2**62), 2**30)  # sigma 2 for a shift of 1
    for epsilon in (0.0, 0.5, 2.0):
        near, far = stats.norm.cdf(0.25 - 2 * epsilon), stats.norm.cdf(-0.25 - 2 * epsilon)
        assert fine_gaussian.delta(epsilon) == pytest.approx(near - exp(epsilon) * far, rel=1e-9)


@pytest.mark.parametrize("sigma", [30.7, 100.0, 999.0])
@pytest.mark.parametrize("shift", [1, 2, 7, 50, 300])
def test_the_bound_for_wide_noise_is_above_the_sum_and_next_to_it(sigma: float, shift: int) -> None:
    ratio = shift / sigma
    epsilons = np.linspace(0, 6 * ratio + ratio**2 / 2, 500)
    summed = _summed_curve(sigma**2, shift, epsilons)
    bound = continuous_curve(ratio, epsilons) + _excess(ratio, sigma, epsilons)
    counts = summed > 1e-13
    assert np.all(bound[counts] >= summed[counts])
    # The excess over the continuous delta is about 2.3 z^2 / sigma^2 of it, z the place in sigmas.
    close = (bound - summed)[counts] <= summed[counts] * 200 * (1 + ratio**2) / sigma**2
    assert np.all(close)


@pytest.mark.parametrize("ratio", [1e-9, 1e-4, 0.3, 1.0, 1.5, 6.0])
def test_the_continuous_curve_is_that_of_many_digits(ratio: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        for place in (0.0, 0.5, 2.0, 6.0):
            epsilon = place * ratio + ratio**2 / 2
            near = mpmath.ncdf(mpmath.mpf(ratio) / 2 - mpmath.mpf(epsilon) / ratio)
            far = mpmath.ncdf(-mpmath.mpf(ratio) / 2 - mpmath.mpf(epsilon) / ratio)
            expected = float(near - mpmath.exp(epsilon) * far)
            found = continuous_curve(ratio, np.array([epsilon]))[0]
            assert expected <= found <= expected * (1 + 1e-10)


@pytest.mark.parametrize(
    ("variance", "shift", "epsilon"),
    [
        (Fraction(22500), 2, 0.44008888),  # the two tails differ in their third digit
        (Fraction(81, 100), 50, 2098.7654320987654),  # next to the loss of an outcome
        (Fraction(4), 10, 177.5),  # the far tail is at the end of the floats
        (Fraction(1, 4), 3, 60.0),
        (Fraction(900), 1, 0.0),
    ],
)
def test_the_delta_of_gaussian_noise_is_rounded_up(
    variance: Fraction, shift: int, epsilon: float
) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        spread = mpmath.mpf(variance.numerator) / variance.denominator
        edge = int(45 * sqrt(variance)) + shift + 2
        weights = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * spread)) for x in range(-edge, edge)}
        first = int(mpmath.floor(epsilon * spread / shift - mpmath.mpf(shift) / 2)) + 1
        near = mpmath.fsum(weights[x] for x in range(first, edge))
        far = mpmath.fsum(weights[x] for x in range(first + shift, edge))
        expected = (near - mpmath.exp(epsilon) * far) / mpmath.fsum(weights.values())
        found = GaussianLoss(variance, shift).delta(epsilon)
        assert expected <= found <= 1.1 * expected


@pytest.mark.parametrize("order", [1.000001, 1.02, 2.0])
@pytest.mark.parametrize("total", [Fraction(117, 10**7), Fraction(1, 1000), Fraction(1)])
def test_the_renyi_divergence_of_laplace_noise_is_rounded_up(total: Fraction, order: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        rate = mpmath.mpf(total.numerator) / total.denominator / 2
        high = 1 / (1 + mpmath.exp(-rate))  # the chances of the losses 2 rate and -2 rate
        low = (1 - high) * mpmath.exp(-rate)
        power = 2 * rate * (mpmath.mpf(order) - 1)
        moment = high * mpmath.exp(power) + (1 - high - low) + low * mpmath.exp(-power)
        expected = mpmath.log(moment) / (mpmath.mpf(order) - 1)
        assert LaplaceLoss(2 / total, 2).renyi(order) >= expected


def test_rho_is_rounded_up_and_has_no_end() -> None:
    for thousandth in range(1, 2000):
        cost = Fraction(thousandth, 1000)
        assert Fraction(repr(PureLoss(cost).rho)) >= cost**2 / 2
    assert PureLoss(Fraction(10) ** 200).rho == inf


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5, 8.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_zero_concentrated_privacy_is_converted_at_the_best_order(rho: float, delta: float) -> None:
    def at(excess_log: float) -> float:
        order = 1 + exp(excess_log)
        return order * rho + log(1 - 1 / order) - (log(delta) + log(order)) / (order - 1)

    best = optimize.minimize_scalar(at, bounds=(-4, 12), method="bounded").fun
    loss = ConcentratedLoss(Fraction(str(rho)))
    found = loss.epsilon(delta)
    assert found == pytest.approx(max(0.0, best), rel=1e-6, abs=1e-9)
    if found > 0:
        assert loss.delta(found) == pytest.approx(delta, rel=1e-6)
    classical = rho + 2 * sqrt(rho * log(1 / delta))  # Bun & Steinke 2016, Prop. 1.3
    assert found < classical


def test_zero_concentrated_privacy_bounds_the_gaussian_mechanism() -> None:
    loss, bound = GaussianLoss(Fraction(25), 2), ConcentratedLoss(Fraction(4, 50))
    for epsilon in np.linspace(0, 3, 13):
        assert loss.delta(epsilon) <= bound.delta(epsilon)


@pytest.mark.parametrize("loss", ALL, ids=str)
def test_epsilon_and_delta_are_inverse_and_fall(loss: CurveLoss) -> None:
    epsilons = [loss.epsilon(delta) for delta in (1e-9, 1e-5, 1e-3, 0.05)]
    assert epsilons == sorted(epsilons, reverse=True)
    for delta, epsilon in zip((1e-9, 1e-5, 1e-3, 0.05), epsilons, strict=True):
        if 0 < epsilon < inf:
            assert loss.delta(epsilon) <= delta * (1 + 1e-9)
            assert loss.delta(epsilon * (1 - 1e-6)) > delta * (1 - 1e-9)
    deltas = [loss.delta(epsilon) for epsilon in np.linspace(0, 3, 50)]
    assert deltas == sorted(deltas, reverse=True)
    assert all(0 <= delta <= 1 for delta in deltas)


@pytest.mark.parametrize("loss", ALL, ids=str)
def test_the_distribution_dominates_the_loss_and_hardly_more(loss: CurveLoss) -> None:
    distribution = loss.distribution()
    for epsilon in (0.0, 0.123, 0.3, 0.49, 1.0):
        exact, found = loss.delta(epsilon), distribution.get_delta_for_epsilon(epsilon)
        assert found >= exact * (1 - 1e-9) - 1e-15
        assert found <= exact + 1e-4  # a chord over one step of 1e-4 of a curve with slope below 1


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.4, 1.0])
def test_deltas_agree_with_dp_accounting(epsilon: float) -> None:
    laplace = reference.from_discrete_laplace_mechanism(0.5, 1).get_delta_for_epsilon(epsilon)
    assert LaplaceLoss(Fraction(2), 1).delta(epsilon) == pytest.approx(laplace, abs=1e-4)
    gauss = reference.from_discrete_gaussian_mechanism(2.0, 1, use_connect_dots=True)
    delta = gauss.get_delta_for_epsilon(epsilon)
    assert GaussianLoss(Fraction(4), 1).delta(epsilon) == pytest.approx(delta, rel=1e-5)
    known = reference.from_privacy_parameters(
        reference.common.DifferentialPrivacyParameters(0.5, 1e-3)
    )
    delta = known.get_delta_for_epsilon(epsilon)
    assert ApproximateLoss(Fraction(1, 2), 1e-3).delta(epsilon) == pytest.approx(delta, rel=1e-3)


def test_currencies_are_what_the_theorems_say() -> None:
    assert (PureLoss(Fraction("0.3")).pure, PureLoss(Fraction(1)).rho) == (0.3, 0.5)
    assert BoundedRangeLoss(Fraction(1)).rho == 0.125
    assert LaplaceLoss(Fraction(10, 3), 1).pure == 0.3
    # A shift of one step is told apart as in randomised response: its Kullback-Leibler divergence.
    assert LaplaceLoss(Fraction(2), 1).rho == pytest.approx(0.5 * tanh(0.25), rel=1e-12)
    assert (GaussianLoss(Fraction(4), 2).pure, GaussianLoss(Fraction(4), 2).rho) == (inf, 0.5)
    assert GaussianLoss(Fraction(4), 2).renyi(3) == 1.5
    assert (ConcentratedLoss(Fraction("0.5")).pure, ConcentratedLoss(Fraction("0.5")).rho) == (
        inf,
        0.5,
    )
    assert (ApproximateLoss(Fraction(1), 1e-6).pure, ApproximateLoss(Fraction(1), 1e-6).rho) == (
        inf,
        inf,
    )
    assert ApproximateLoss(Fraction(1), 1e-6).finite
    assert ApproximateLoss(Fraction(1), 1e-6).renyi(2) == inf
    assert ApproximateLoss(Fraction(1), 1e-6).epsilon(1e-7) == inf
    assert ApproximateLoss(Fraction(1), 1e-6).delta(inf) == 1e-6


def test_an_epsilon_that_is_no_float_is_rounded_up() -> None:
    assert PureLoss(Fraction(1, 3)).pure == nextafter(1 / 3, 1)
    assert Fraction(PureLoss(Fraction(1, 3)).pure) > Fraction(1, 3)


def test_every_delta_of_one_needs_no_epsilon_and_no_delta_needs_the_pure_one() -> None:
    for loss in ALL:
        assert loss.epsilon(1.0) == 0
        assert loss.epsilon(0.0) == loss.pure


def test_a_shift_of_a_million_steps_costs_no_memory() -> None:
    for loss in (LaplaceLoss(Fraction(2**60), 2**58), GaussianLoss(Fraction(2**100), 2**49)):
        assert loss.distribution().get_epsilon_for_delta(1e-6) < 6
        assert loss.on_grid(2.0**-12).mass.size < 2**17


def test_losses_print_as_one_would_write_them() -> None:
    assert [str(loss) for loss in (ALL[0], ALL[1], ALL[3], ALL[4])] == [
        "0.5-DP",
        "(0.5, 1e-06)-DP",
        "0.125-zCDP",
        "LaplaceLoss(scale=3.5, shift=3)",
    ]
    assert (
        str(
            ComposedLoss(
                (PureLoss(Fraction(1)), PureLoss(Fraction(1)), ConcentratedLoss(Fraction(2)))
            )
        )
        == "2 x 1-DP + 2-zCDP"
    )
    for loss in (*ALL, ComposedLoss(tuple(ALL))):
        assert json.loads(json.dumps(loss.as_dict()))["kind"]


@pytest.mark.parametrize(
    ("kind", "arguments", "code"),
    [
        (PureLoss, (-1,), "CEL-I060"),
        (PureLoss, (float("nan"),), "CEL-I060"),
        (PureLoss, ("1",), "CEL-I060"),
        (PureLoss, (True,), "CEL-I060"),
        (ApproximateLoss, (1, 1.5), "CEL-I060"),
        (ApproximateLoss, (1, float("nan")), "CEL-I060"),
        (BoundedRangeLoss, (inf,), "CEL-I060"),
        (ConcentratedLoss, (-0.1,), "CEL-I060"),
        (LaplaceLoss, (0, 1), "CEL-I060"),
        (LaplaceLoss, (1, 0), "CEL-I060"),
        (LaplaceLoss, (1, 1.0), "CEL-I060"),
        (GaussianLoss, (-2, 1), "CEL-I060"),
        (ComposedLoss, ((PureLoss(Fraction(1)), 0.5),), "CEL-B005"),
    ],
)
def test_bad_parameters_are_refused(kind: Any, arguments: tuple[Any, ...], code: str) -> None:
    with pytest.raises(InputError) as caught:
        kind(*arguments)
    assert caught.value.code == code


@pytest.mark.parametrize("loss", [*ALL, ComposedLoss((PureLoss(Fraction(1)),))], ids=str)
def test_bad_questions_are_refused(loss: Loss) -> None:
    for ask, value in ((loss.delta, -1), (loss.epsilon, 2), (loss.epsilon, -1e-9), (loss.renyi, 1)):
        with pytest.raises(InputError):
            ask(value)
