"""Sequential, parallel and mixed releases, and lists of losses of every kind."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log
from time import process_time

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as reference
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.accounting.accountant import LIMIT, Accountant
from celosia.accounting.advanced_composition import optimal, optimal_delta
from celosia.accounting.amplification import amplify_by_poisson_sampling
from celosia.accounting.composition import mixture, parallel, sequential
from celosia.accounting.divergence import both_directions
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

tenths = st.integers(1, 20).map(lambda tenth: Fraction(tenth, 10))
any_loss = st.one_of(
    tenths.map(PureLoss),
    tenths.map(BoundedRangeLoss),
    tenths.map(lambda value: ConcentratedLoss(value / 20)),
    tenths.map(lambda value: ApproximateLoss(value, 1e-9)),
    st.builds(LaplaceLoss, tenths.map(lambda value: 5 * value), st.integers(1, 5)),
    st.builds(GaussianLoss, tenths.map(lambda value: 30 * value), st.integers(1, 5)),
)


def test_epsilons_and_deltas_add_up() -> None:
    assert sequential(
        [ApproximateLoss(Fraction("0.1"), 1e-6)] * 3 + [PureLoss(Fraction("0.5"))]
    ) == ApproximateLoss(Fraction("0.8"), 3e-6)
    assert sequential([PureLoss(Fraction("0.1"))] * 10) == PureLoss(Fraction(1))
    assert sequential([LaplaceLoss(Fraction(10), 1), PureLoss(Fraction("0.2"))]) == PureLoss(
        Fraction("0.3")
    )
    mixed = sequential([PureLoss(Fraction(1)), ConcentratedLoss(Fraction("0.1"))])
    assert mixed == ComposedLoss((PureLoss(Fraction(1)), ConcentratedLoss(Fraction("0.1"))))


def test_post_processing_leaves_the_cost_unchanged() -> None:
    # A channel applied to both neighbours' answers: the divergence can only fall.
    rng = np.random.default_rng(5)
    one = rng.dirichlet(np.ones(6))
    two = rng.dirichlet(np.ones(6))
    channel = rng.dirichlet(np.ones(4), size=6)
    assert both_directions(list(one @ channel), list(two @ channel)) <= both_directions(
        list(one), list(two)
    )


def test_parallel_releases_cost_the_largest_when_a_row_is_added_or_removed() -> None:
    losses = [PureLoss(Fraction("0.1")), PureLoss(Fraction("0.7")), PureLoss(Fraction("0.3"))]
    assert parallel(losses, ADD_REMOVE) == PureLoss(Fraction("0.7"))
    assert parallel(
        [ConcentratedLoss(Fraction("0.1")), GaussianLoss(Fraction(10), 2)], ADD_REMOVE
    ) == ConcentratedLoss(Fraction("0.2"))
    assert parallel([GaussianLoss(Fraction(4), 1)] * 9, ADD_REMOVE) == GaussianLoss(Fraction(4), 1)
    assert parallel(
        [ApproximateLoss(Fraction(1), 1e-6), PureLoss(Fraction(2))], ADD_REMOVE
    ) == ApproximateLoss(Fraction(2), 1e-6)


def test_parallel_counts_cost_the_two_largest_when_a_row_is_changed() -> None:
    losses = [PureLoss(Fraction("0.1")), PureLoss(Fraction("0.7")), PureLoss(Fraction("0.3"))]
    assert parallel(losses, CHANGE_ONE, moves_only=True) == PureLoss(Fraction(1))
    assert parallel([PureLoss(Fraction(1))] * 5, CHANGE_ONE, moves_only=True).pure == 2
    assert parallel([PureLoss(Fraction(1))], CHANGE_ONE, moves_only=True) == PureLoss(Fraction(1))


def test_parallel_releases_cost_twice_the_largest_when_a_row_may_change_within_its_part() -> None:
    assert parallel(
        [PureLoss(Fraction("0.1")), PureLoss(Fraction("0.7")), PureLoss(Fraction("0.3"))],
        CHANGE_ONE,
    ) == PureLoss(Fraction("1.4"))
    # The two largest would not be enough: the second part sums values of -1 to 1 with noise for
    # a sensitivity of 1, and a row of it changes from -1 to 1. That alone costs 1.4.
    assert LaplaceLoss(Fraction(10, 7), 1).pure == 0.7
    assert LaplaceLoss(Fraction(10, 7), 2).pure == 1.4


@pytest.mark.parametrize("parts", [1, 3])
def test_a_change_within_one_part_is_two_steps_of_the_same_release(parts: int) -> None:
    # A part that sums values of -1 to 1, hidden for one row more or less: a row changes from the
    # one to the other and moves the sum by 2, which no two releases that move by 1 are as bad as.
    noise = GaussianLoss(Fraction(4), 1)
    found = parallel([noise] * parts, CHANGE_ONE)
    moved = GaussianLoss(Fraction(4), 2)
    assert found.rho >= moved.rho == 0.5
    assert found.delta(1.0) >= moved.delta(1.0) > 3 * ComposedLoss((noise, noise)).delta(1.0)
    other = [*[ConcentratedLoss(Fraction(1, 100))] * (parts - 1), noise]
    assert parallel(other, CHANGE_ONE).rho >= 0.5
    # Two steps of (ln 2, delta) leave P <= 2 (2 P'' + delta) + delta.
    weak = [ApproximateLoss(Fraction(log(2)), 1e-3), *[PureLoss(Fraction(1, 2))] * (parts - 1)]
    assert parallel(weak, CHANGE_ONE).delta(2 * log(2)) >= 3e-3 * (1 - 1e-12)


def test_a_move_between_parts_costs_both_and_no_more() -> None:
    noise = GaussianLoss(Fraction(4), 1)
    assert parallel([noise] * 3, CHANGE_ONE, moves_only=True) == ComposedLoss((noise, noise))


def test_a_release_of_several_steps_is_one_release_in_parallel_and_in_a_mixture() -> None:
    twice = ComposedLoss((PureLoss(Fraction(1)), PureLoss(Fraction(1))))
    half = PureLoss(Fraction(1, 2))
    assert parallel([twice, half], ADD_REMOVE).pure == 2
    assert parallel([twice, half], CHANGE_ONE).pure == 4
    assert parallel([twice, half], CHANGE_ONE, moves_only=True).pure == 2.5
    assert parallel([twice, twice], ADD_REMOVE) == mixture([twice]) == twice
    assert mixture([twice, half]).pure == 2
    weak = ComposedLoss((ApproximateLoss(Fraction(1), 1e-6), ApproximateLoss(Fraction(1), 1e-6)))
    assert mixture([weak, half]) == ApproximateLoss(Fraction(2), 2e-6)
    hidden = ComposedLoss((GaussianLoss(Fraction(4), 1), PureLoss(Fraction(1, 2))))
    assert mixture([hidden, half]) == ConcentratedLoss(Fraction(1, 4))


def test_parallel_releases_need_a_relation_and_a_common_currency() -> None:
    with pytest.raises(InputError, match="neighbour relation") as caught:
        parallel([PureLoss(Fraction(1))], "add-remove")  # type: ignore[arg-type]
    assert caught.value.code == "CEL-B011"
    with pytest.raises(PrivacyError) as refused:
        parallel([ApproximateLoss(Fraction(1), 1e-6), ConcentratedLoss(Fraction(1))], ADD_REMOVE)
    assert refused.value.key == "CEL-B010.no_currency"
    with pytest.raises(InputError):
        parallel([], ADD_REMOVE)


def test_a_mixture_costs_the_worst_of_its_releases() -> None:
    assert mixture([PureLoss(Fraction(1)), PureLoss(Fraction(1))]) == PureLoss(Fraction(1))
    assert mixture([PureLoss(Fraction(1)), PureLoss(Fraction(1, 2))]) == PureLoss(Fraction(1))


def test_nested_compositions_are_taken_apart() -> None:
    inner = ComposedLoss((PureLoss(Fraction(1)), ConcentratedLoss(Fraction(1))))
    assert ComposedLoss((inner, inner)).parts == (*inner.parts, *inner.parts)


def test_an_infinite_epsilon_does_not_undo_a_chance_of_telling_all() -> None:
    whole = ComposedLoss((ApproximateLoss(Fraction(1), 0.01), GaussianLoss(Fraction(4), 1)))
    assert whole.delta(inf) == 0.01
    sampled = amplify_by_poisson_sampling(whole, rate=Fraction(1, 2))
    for loss in (sampled, ComposedLoss((sampled,)), ComposedLoss((sampled, PureLoss(Fraction(1))))):
        assert 0.005 <= loss.delta(inf) <= 0.005 * (1 + 1e-6)
    assert ComposedLoss((sampled, sampled)).delta(inf) >= 1 - 0.995**2
    assert (
        amplify_by_poisson_sampling(GaussianLoss(Fraction(4), 1), rate=Fraction(1, 2)).delta(inf)
        == 0
    )
    assert (
        ComposedLoss((GaussianLoss(Fraction(4), 1), ConcentratedLoss(Fraction(1)))).delta(inf) == 0
    )


def test_the_deltas_of_many_epsilons_are_those_of_each() -> None:
    losses = (
        PureLoss(Fraction(1)),
        ApproximateLoss(Fraction(1), 0.01),
        GaussianLoss(Fraction(4), 1),
    )
    epsilons = [0.0, 0.5, 1.0, 1.999, 2.0, 7.5, 40.0, 1e308]
    for parts in (losses[:1], losses[:2], losses, (*losses, ConcentratedLoss(Fraction(1)))):
        account = Accountant(parts)
        several = account.deltas(np.array(epsilons)).tolist()
        assert several == [account.delta(epsilon) for epsilon in epsilons]
        assert several == sorted(several, reverse=True)


def test_numbers_near_the_end_of_the_floats_raise_nothing() -> None:
    far = ComposedLoss((PureLoss(Fraction(10) ** 200), GaussianLoss(Fraction(4), 1)))
    assert far.epsilon(1e-6) >= 1e200
    assert far.delta(1.0) == 1
    near = ComposedLoss((PureLoss(Fraction(1)), GaussianLoss(Fraction(10**9), 1)))
    assert near.delta(1e308) <= 1e-16
    assert GaussianLoss(Fraction(10**9), 10**6).delta(1e308) == 0


def test_composed_currencies_add_up() -> None:
    loss = ComposedLoss(
        (PureLoss(Fraction("0.1")), PureLoss(Fraction("0.2")), BoundedRangeLoss(Fraction(1)))
    )
    assert loss.pure == 1.3
    assert loss.rho == pytest.approx(0.005 + 0.02 + 0.125)
    assert loss.renyi(4) == pytest.approx(sum(part.renyi(4) for part in loss.parts))
    assert ComposedLoss((PureLoss(Fraction(1)), ConcentratedLoss(Fraction(1)))).pure == inf


@settings(max_examples=30, deadline=None)
@given(st.lists(any_loss, min_size=1, max_size=6), st.sampled_from([1e-8, 1e-5, 1e-2]))
def test_composed_epsilon_and_delta_agree_and_never_beat_a_single_part(
    losses: list[Loss], delta: float
) -> None:
    loss = ComposedLoss(tuple(losses))
    epsilon = loss.epsilon(delta)
    # A unit in the last place of epsilon counts a million times at the largest Renyi order.
    assert loss.delta(epsilon) <= delta * (1 + 1e-8)
    assert epsilon <= loss.epsilon(delta / 10)
    # The parts are among what is released, so no part can need a larger epsilon than the whole; a
    # step of the grid is below a thousandth here.
    assert epsilon >= max(part.epsilon(delta) for part in losses) - 2e-3


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 15), min_size=2, max_size=9), st.floats(0, 2))
def test_composed_pure_losses_are_the_product_of_randomised_responses(
    tenths: list[int], epsilon: float
) -> None:
    losses, chances = np.zeros(1), np.ones(1)
    for tenth in tenths:
        value = tenth / 10
        likely = 1 / (1 + exp(-value))
        losses = np.concatenate([losses + value, losses - value])
        chances = np.concatenate([chances * likely, chances * (1 - likely)])
    above = losses > epsilon
    exact = float((chances[above] * -np.expm1(epsilon - losses[above])).sum())
    found = ComposedLoss(tuple(PureLoss(Fraction(tenth, 10)) for tenth in tenths)).delta(epsilon)
    assert found >= exact * (1 - 1e-9)
    # A loss of 0 is split over the steps beside it, of at most 2 * 13.5 / 2**14 each: by a mass of
    # at most 1/2 this adds up to a quarter of a step.
    assert found <= exact + 13.5 / 2**15


def test_identical_pure_losses_meet_the_optimal_theorem() -> None:
    for count, epsilon in ((10, 0.1), (100, 0.1), (1000, 0.01), (50, 1.0)):
        loss = ComposedLoss((PureLoss(Fraction(str(epsilon))),) * count)
        best = optimal(count, epsilon, slack=1e-6).epsilon
        assert best * (1 - 1e-9) <= loss.epsilon(1e-6) <= best * 1.0001
        at = best / 2
        assert loss.delta(at) == pytest.approx(optimal_delta(count, epsilon, at=at), rel=1e-3)


def test_many_gaussians_meet_one_gaussian() -> None:
    loss = ComposedLoss((GaussianLoss(Fraction(2**44), 2**20),) * 100)  # sigma 4, so 0.4 for all
    exact = reference.from_gaussian_mechanism(0.4, use_connect_dots=True)
    assert loss.epsilon(1e-6) == pytest.approx(exact.get_epsilon_for_delta(1e-6), rel=1e-4)
    one = GaussianLoss(Fraction(2**42 * 16, 100) / 4, 2**20)
    assert loss.epsilon(1e-6) >= one.epsilon(1e-6)


def test_many_losses_added_one_by_one_agree_with_dp_accounting() -> None:
    accountant = dp_accounting.pld.PLDAccountant()
    account = Accountant()
    accountant.compose(dp_accounting.LaplaceDpEvent(5.0), 30)
    accountant.compose(dp_accounting.GaussianDpEvent(8.0), 30)
    for _ in range(30):
        account.add(LaplaceLoss(Fraction(5 * 2**30), 2**30))
        account.add(GaussianLoss(Fraction(64 * 2**60), 2**30))
    expected = accountant.get_epsilon(1e-6)
    # Both round up, to steps of 1e-4 and of less than that.
    assert account.epsilon(1e-6) == pytest.approx(expected, rel=1e-3)


def test_the_order_of_releases_hardly_matters() -> None:
    losses: list[Loss] = [
        PureLoss(Fraction(3)),
        *[PureLoss(Fraction(1, 100))] * 40,
        *[GaussianLoss(Fraction(900), 1)] * 40,
    ]
    forward, backward = Accountant(losses), Accountant(reversed(losses))
    assert forward.epsilon(1e-6) == pytest.approx(backward.epsilon(1e-6), rel=2e-3)
    assert ComposedLoss(tuple(losses)).epsilon(1e-6) == pytest.approx(
        forward.epsilon(1e-6), rel=2e-3
    )


def test_tiny_and_large_losses_share_a_bounded_grid() -> None:
    account = Accountant([PureLoss(Fraction(1, 10**9))])
    account.add(PureLoss(Fraction(20)))
    account.add(GaussianLoss(Fraction(4), 9))
    account.add(PureLoss(Fraction(1, 10**9)), times=100_000)
    assert len(account.directions()[0].mass) <= LIMIT
    assert 20 < account.epsilon(1e-6) < 65
    assert len(account) == 100_003


def test_repeated_and_single_additions_agree() -> None:
    one = Accountant()
    one.add(LaplaceLoss(Fraction(20), 2), times=37)
    other = Accountant([LaplaceLoss(Fraction(20), 2)] * 37)
    assert one.epsilon(1e-6) == pytest.approx(other.epsilon(1e-6), rel=1e-6)


def test_zero_concentrated_losses_lose_nothing_in_composition() -> None:
    assert ComposedLoss((ConcentratedLoss(Fraction("0.01")),) * 50).epsilon(1e-6) == pytest.approx(
        ConcentratedLoss(Fraction("0.5")).epsilon(1e-6), rel=1e-9
    )


def test_failures_of_releases_are_counted_once_each() -> None:
    loss = ComposedLoss((ApproximateLoss(Fraction("0.1"), 1e-7),) * 5)
    assert loss.epsilon(4e-7) == inf
    assert loss.epsilon(5e-7) <= 0.5
    assert loss.epsilon(1e-3) < 0.5
    assert loss.delta(10) == pytest.approx(5e-7)


def test_nothing_costs_nothing() -> None:
    assert ComposedLoss(()).epsilon(0.0) == 0
    assert ComposedLoss((PureLoss(Fraction(0)), PureLoss(Fraction(0)))).epsilon(1e-9) == 0
    assert Accountant().delta(0.0) == 0


class Foreign(Loss):
    """A loss that is only known by its distribution, as those of other parts are."""

    @property
    def pure(self) -> float:
        return inf

    def renyi(self, order: float) -> float:
        return inf

    def distribution(self) -> PrivacyLossDistribution:
        return reference.from_gaussian_mechanism(5.0, sampling_prob=0.5)

    def delta(self, epsilon: float) -> float:
        return float(self.distribution().get_delta_for_epsilon(epsilon))

    def epsilon(self, delta: float) -> float:
        return float(self.distribution().get_epsilon_for_delta(delta))

    def as_dict(self) -> dict[str, object]:
        return {"kind": "foreign"}


class Unknown(Foreign):
    """A loss without a distribution."""

    @property
    def rho(self) -> float:
        return 0.1

    def renyi(self, order: float) -> float:
        return 0.1 * order

    def distribution(self) -> PrivacyLossDistribution:
        raise PrivacyError("CEL-B010.no_distribution")


def test_losses_of_another_kind_compose_by_their_distribution() -> None:
    expected = Foreign().distribution().self_compose(20).get_epsilon_for_delta(1e-6)
    found = Accountant([Foreign()] * 20).epsilon(1e-6)
    # Both directions are covered by one curve, which is at least as high as each.
    assert expected * (1 - 1e-6) <= found <= expected * 1.05


def test_losses_without_a_distribution_fall_back_to_other_bounds() -> None:
    account = Accountant([Unknown(), ConcentratedLoss(Fraction("0.4"))])
    assert account.epsilon(1e-6) == pytest.approx(
        ConcentratedLoss(Fraction("0.5")).epsilon(1e-6), rel=1e-9
    )
    assert account.delta(3.0) == pytest.approx(
        ConcentratedLoss(Fraction("0.5")).delta(3.0), rel=1e-9
    )
    with pytest.raises(PrivacyError) as caught:
        account.directions()
    assert caught.value.key == "CEL-B010.no_distribution"


def test_bad_numbers_of_releases_are_refused() -> None:
    for times in (0, -1, 1.5, True):
        with pytest.raises(InputError) as caught:
            Accountant().add(PureLoss(Fraction(1)), times=times)  # type: ignore[arg-type]
        assert caught.value.code == "CEL-I060"


def test_each_of_many_releases_takes_milliseconds() -> None:
    account = Accountant()
    kinds: list[Loss] = [
        LaplaceLoss(Fraction(20), 2),
        GaussianLoss(Fraction(400), 2),
        PureLoss(Fraction("0.1")),
    ]
    account.add(kinds[0])
    started = process_time()
    for turn in range(90):
        account.add(kinds[turn % 3])
        account.epsilon(1e-6)
    # About 2 ms each.
    assert (process_time() - started) / 90 < 0.020


def test_the_composition_with_randomised_response_is_exact_to_the_grid() -> None:
    account = Accountant([PureLoss(Fraction(1))])
    assert account.delta(0.0) == pytest.approx((exp(1) - 1) / (exp(1) + 1), rel=1e-12)
    assert account.epsilon(0.1) == pytest.approx(log(exp(1) - 0.1 * (exp(1) + 1)), rel=1e-9)
