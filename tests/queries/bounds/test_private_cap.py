"""A cap that is chosen inside epsilon: exact privacy, the choice, groups, and its worth."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.accounting import Budget
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.randomness import Seeded
from celosia.mechanisms import release
from celosia.queries.bounds.capped_total import CappedTotal
from celosia.queries.bounds.caps import grouped_totals, people_by_level
from celosia.queries.bounds.private_cap import ContributionSummary, PrivateCap


@pytest.mark.parametrize("lowest", [0, -6])
def test_the_joint_law_of_levels_and_answer_is_epsilon_private(lowest: int) -> None:
    mechanism = PrivateCap(epsilon=0.9, most=6, signed=lowest < 0)
    worst = Fraction(0)
    for size in range(3):
        for table in combinations_with_replacement(range(lowest, 7), size):
            for extra in range(lowest, 7):
                one, two = (
                    ContributionSummary.of(table, most=6),
                    ContributionSummary.of([*table, extra], most=6),
                )
                levels = sum(abs(a - b) for a, b in zip(one.levels, two.levels, strict=True))
                # Log ratio of the levels, and of the answer whichever cap the levels lead to.
                answered = max(
                    Fraction(abs(a - b)) / law.scale
                    for a, b, law in zip(one.totals, two.totals, mechanism.laws, strict=True)
                )
                worst = max(worst, levels / mechanism.level_noise.scale + answered)
    assert Fraction(9, 10) * (1 - Fraction(1, 2**49)) <= worst <= Fraction(9, 10)
    assert mechanism.privacy_loss().pure == pytest.approx(0.9, abs=1e-12)


def test_noise_alone_passes_the_alarms_as_rarely_as_stated() -> None:
    mechanism, rng = PrivateCap(epsilon=1, most=2**20, failure=0.2), Seeded(2)
    thresholds, runs = np.array(mechanism.thresholds), 20_000
    noise = mechanism.level_noise.draw(runs * thresholds.size, rng).reshape(runs, -1)
    passed = (noise > thresholds).any(axis=1).mean()
    # At most 0.2; whole numbers make each chance up to exp(-epsilon share) = 0.74 times smaller.
    spread = 4 * (0.16 / runs) ** 0.5
    assert 0.74 * (1 - np.exp(-0.2)) - spread <= passed <= 0.2 + spread


def test_high_levels_need_more_people_than_low_ones() -> None:
    thresholds = PrivateCap(epsilon=1, most=2**20).thresholds
    assert list(thresholds) == sorted(thresholds)
    assert thresholds[0] < thresholds[-1]


def test_the_choice_follows_the_people() -> None:
    mechanism = PrivateCap(epsilon=1, most=2**20)
    nobody = [0] * len(mechanism.caps)
    assert mechanism.choose_cap(nobody) == 0
    crowd = [*nobody[:8], 10**5, *nobody[9:]]
    assert mechanism.choose_cap(crowd) == 8
    assert mechanism.choose_cap([*crowd[:15], 3, *crowd[16:]]) == 8
    # One person above a cap costs less than the noise of a cap twice as large.
    low = [*nobody[:4], 10**4, 1, *nobody[6:]]
    assert mechanism.choose_cap(low) == 4


def heavy_tailed(people: int) -> NDArray[np.int64]:
    """A Zipf-like shape of quantiles: the share of people above c falls as c^-1.8."""
    ranks = (np.arange(people) + 0.5) / people
    return np.minimum(np.ceil(ranks ** (-1 / 1.8)), 2**20).astype(np.int64)


def root_mean_square(
    mechanism: PrivateCap, x: ContributionSummary, truth: int, *, runs: int = 400, seed: int = 9
) -> float:
    rng = Seeded(seed)
    errors = [mechanism.measure(x, rng=rng).value - truth for _ in range(runs)]
    return float(np.sqrt(np.mean(np.square(np.array(errors, dtype=float)))))


@pytest.mark.parametrize(
    ("contributions", "factor"),
    [
        (np.random.default_rng(1).poisson(15, 20_000), 2.2),
        (np.random.default_rng(2).geometric(0.2, 20_000), 2.5),
        (heavy_tailed(20_000), 5.0),
    ],
    ids=["poisson", "geometric", "zipf"],
)
def test_not_knowing_the_cap_costs_a_small_factor_against_the_best_cap(
    contributions: NDArray[np.int64], factor: float
) -> None:
    # Choosing takes 0.3 of epsilon (noise times 1.43) and powers of two up to twice the cap; on a
    # heavy tail the people that noise hides (about 20 at this epsilon) are lost as well.
    mechanism = PrivateCap(epsilon=1, most=2**20)
    people = ContributionSummary.of(contributions, most=2**20)
    truth = int(contributions.sum())
    ideal = min(
        ((truth - total) ** 2 + CappedTotal(epsilon=1, cap=cap).law.variance) ** 0.5
        for cap, total in zip(mechanism.caps, people.totals, strict=True)
    )
    blind = CappedTotal(epsilon=1, cap=2**20).law.variance ** 0.5
    found = root_mean_square(mechanism, people, truth)
    assert found <= factor * ideal
    assert found <= blind / 20


def test_the_interval_holds_the_truth_and_its_lower_bound_is_near() -> None:
    mechanism, rng = PrivateCap(epsilon=1, most=2**10), Seeded(4)
    contributions = np.r_[np.full(3_000, 9), np.full(5, 900)]
    people, truth = ContributionSummary.of(contributions, most=2**10), int(contributions.sum())
    held = 0
    for _ in range(300):
        low, high = mechanism.interval(mechanism.measure(people, rng=rng), 0.9)
        held += low <= truth <= high
        assert low >= 3_000 * 8 - 200
    assert held >= 270 - 4 * 27**0.5


def test_errors_stay_within_the_stated_accuracy() -> None:
    mechanism, rng = PrivateCap(epsilon=1, most=64), Seeded(8)
    contributions = np.r_[np.full(300, 9), np.full(15, 60)]
    people, truth = ContributionSummary.of(contributions, most=64), int(contributions.sum())
    bound = mechanism.accuracy(0.9)
    within = sum(abs(mechanism.release(people, rng=rng) - truth) <= bound for _ in range(300))
    assert within >= 270 - 4 * 27**0.5


def test_groups_share_one_cap_and_one_price() -> None:
    rng = np.random.default_rng(4)
    who, where = np.repeat(np.arange(20_000), 3), rng.integers(0, 5, 60_000)
    amounts = rng.integers(1, 5, 60_000)
    mechanism = PrivateCap(epsilon=1, most=2**12, groups=5)
    table = grouped_totals(who, where, amounts, caps=mechanism.caps, size=5)
    levels = people_by_level(np.bincount(who, amounts).astype(np.int64), mechanism.caps)
    measured = mechanism.measure(ContributionSummary(levels, table), rng=Seeded(6))
    assert measured.parts["cap"] in (8, 16)
    exact = np.bincount(where, amounts, minlength=5)
    # Five draws of scale 16 / 0.7, and what a cap of 8 takes from sums of 3 to 12.
    assert np.abs(measured.value - exact).max() <= 0.12 * exact.max()
    low, high = mechanism.interval(measured)
    assert (low <= exact).all()
    assert (exact <= high).all()


def test_it_is_answered_and_charged_as_any_mechanism() -> None:
    budget = Budget(epsilon=1)
    given_answer = release(
        PrivateCap(epsilon=1, most=2**20),
        ContributionSummary.of([7] * 5_000, most=2**20),
        budget=budget,
        rng=Seeded(3),
    )
    assert given_answer.epsilon == 1
    assert given_answer.value == pytest.approx(35_000, rel=0.01)


def test_bad_input_is_refused_before_any_noise() -> None:
    mechanism = PrivateCap(epsilon=1, most=4)
    for people, code in (
        (ContributionSummary([1, 2], [1, 2, 3]), "CEL-Q081"),
        (ContributionSummary([1, 2, -1], [1, 2, 3]), "CEL-Q081"),
        (ContributionSummary([1, 2, 0], [1, 2]), "CEL-Q081"),
        (ContributionSummary([1, 2, 0], [1, 2, 0.5]), "CEL-Q081"),
    ):
        with pytest.raises(InputError) as refused:
            mechanism.release(people, rng=Seeded(1))
        assert refused.value.code == code
    with pytest.raises(InputError):
        PrivateCap(epsilon=1, most=4, groups=2).release(
            ContributionSummary([1, 0, 0], [[1, 2]]), rng=Seeded(1)
        )
    with pytest.raises(PrivacyError):
        PrivateCap(epsilon=1, most=4, neighbours=CHANGE_ONE)
    with pytest.raises(InputError):
        PrivateCap(epsilon=1, most=4, share=1)
