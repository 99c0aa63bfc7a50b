"""Race to the top: exact privacy of all candidates, what its answer is worth, and its choice."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.accounting import Budget
from celosia.core.errors import InputError, PrivacyError
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.randomness import Seeded
from celosia.mechanisms import release
from celosia.queries.bounds.caps import (
    capped_totals,
    grouped_totals,
    ladder,
    people_by_level,
)
from celosia.queries.bounds.r2t import R2T
from celosia.queries.bounds.r2t_cap import STEPS, R2TCap

CONTRIBUTIONS = st.lists(st.integers(-40, 40), max_size=12)


def small_tables(most: int, people: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every table of at most so many people, and the same with one person more."""
    for size in range(people + 1):
        for table in combinations_with_replacement(range(most + 1), size):
            for extra in range(most + 1):
                yield table, (*table, extra)


@given(CONTRIBUTIONS, st.integers(-40, 40), st.sampled_from([1, 5, 16, 31]))
def test_one_person_moves_a_capped_total_by_at_most_its_cap(
    table: list[int], extra: int, most: int
) -> None:
    caps = ladder(most)
    for cap, one, two in zip(
        caps, capped_totals(table, caps), capped_totals([*table, extra], caps), strict=True
    ):
        assert one == sum(max(-cap, min(cap, value)) for value in table)
        assert abs(two - one) == min(abs(extra), cap)


@given(CONTRIBUTIONS, st.integers(-40, 40))
def test_one_person_moves_one_level_by_at_most_one(table: list[int], extra: int) -> None:
    caps = ladder(31)
    before, after = people_by_level(table, caps), people_by_level([*table, extra], caps)
    moved = [two - one for one, two in zip(before, after, strict=True)]
    assert sorted(moved)[:-1] == [0] * (len(caps) - 1)
    assert max(moved) == (1 if extra else 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(-9, 9)), max_size=14))
def test_one_person_moves_all_groups_together_by_at_most_the_cap(
    entries: list[tuple[int, int, int]],
) -> None:
    caps = ladder(16)

    def table(kept: list[tuple[int, int, int]]) -> NDArray[np.int64]:
        people, groups, amounts = zip(*kept, strict=True) if kept else ((), (), ())
        return grouped_totals(people, groups, amounts, caps=caps, size=4)

    moved = np.abs(table(entries) - table([each for each in entries if each[0] != 0])).sum(axis=1)
    assert (moved <= np.array(caps)).all()


def test_groups_that_no_cap_touches_keep_their_sums() -> None:
    table = grouped_totals([0, 1, 0, 2], [0, 0, 2, 1], [3, 4, -2, 7], caps=(1, 8), size=3)
    assert table.tolist() == [[2, 1, 0], [7, 7, -2]]


@pytest.mark.parametrize("grain", [1, 16])
def test_the_joint_law_of_all_candidates_is_epsilon_private(grain: int) -> None:
    r2t = R2T(epsilon=0.7, most=6, grain=grain)
    worst = Fraction(0)
    for one, two in small_tables(6, 2):
        totals = capped_totals(one, r2t.caps), capped_totals(two, r2t.caps)
        # The largest log ratio of two products of discrete Laplace laws: the sum of moved / scale.
        moved = [abs(b - a) * grain + (1 if grain > 1 else 0) for a, b in zip(*totals, strict=True)]
        worst = max(
            worst,
            sum((each / law.scale for each, law in zip(moved, r2t.laws, strict=True)), Fraction(0)),
        )
    # The scales are rounded up by less than one part in 2^50, so the worst is met from below.
    assert Fraction(7, 10) * (1 - Fraction(1, 2**49)) <= worst <= Fraction(7, 10)
    assert r2t.privacy_loss().pure == pytest.approx(0.7, abs=1e-12)


def test_with_noise_for_one_cap_less_the_check_of_the_joint_law_fails() -> None:
    r2t = R2T(epsilon=0.7, most=6)
    fewer = Fraction(len(r2t.caps) - 1, len(r2t.caps))
    worst = sum(cap / (law.scale * fewer) for cap, law in zip(r2t.caps, r2t.laws, strict=True))
    assert worst > Fraction(7, 10)


def test_the_penalised_winner_exceeds_the_truth_as_often_as_it_may() -> None:
    # All caps see the same total, so that each of them may win by its noise alone.
    r2t = R2T(epsilon=1, most=2**10, failure=0.2)
    truth, runs, rng = 10**6, 3000, Seeded(5)
    over = sum(
        r2t.measure([truth] * len(r2t.caps), rng=rng).parts["lower"] > truth for _ in range(runs)
    )
    # At most the sum of the chances, 0.2; independent draws make it 1 - prod(1 - p_i) = 0.183,
    # less what rounding bounds to whole numbers takes. Four standard deviations are 0.028.
    assert 0.15 <= over / runs <= 0.212


def test_the_published_lower_side_holds() -> None:
    rng, r2t = Seeded(6), R2T(epsilon=1, most=2**12, failure=0.1)
    contributions = np.r_[np.full(30_000, 9), np.full(2_000, 30)]
    totals = capped_totals(contributions, r2t.caps)
    truth = int(contributions.sum())
    enough = r2t.penalties[r2t.caps.index(32)]
    short = sum(
        r2t.measure(totals, rng=rng).parts["lower"] < truth - 2 * enough for _ in range(1000)
    )
    # Noise of the cap 32 must be below minus its penalty: its part of 0.1, which is less than 0.01.
    assert short <= 10 + 4 * 10**0.5


def test_the_interval_holds_the_truth() -> None:
    rng, r2t = Seeded(7), R2T(epsilon=1, most=64)
    contributions = np.r_[np.full(3_000, 9), np.full(50, 60)]
    totals, truth = capped_totals(contributions, r2t.caps), int(contributions.sum())
    held = 0
    for _ in range(500):
        low, high = r2t.interval(r2t.measure(totals, rng=rng), 0.9)
        held += low <= truth <= high
    assert held >= 450 - 4 * 45**0.5


def test_released_numbers_do_not_depend_on_anything_but_the_candidates() -> None:
    r2t = R2T(epsilon=1, most=64)
    parts = r2t.measure(capped_totals([5] * 3000, r2t.caps), rng=Seeded(1)).parts
    place = r2t.caps.index(parts["cap"])
    penalised = [c - p for c, p in zip(parts["candidates"], r2t.penalties, strict=True)]
    assert place == int(np.argmax(penalised))
    assert parts["lower"] == max(0, penalised[place])


@pytest.mark.parametrize("grain", [1, 16])
def test_the_choice_of_a_raced_cap_is_private_by_enumeration(grain: int) -> None:
    r2t = R2TCap(epsilon=1, most=5, share=0.5, failure=0.5, grain=grain)
    rounding = 1 if grain > 1 else 0
    for one, two in small_tables(5, 2):
        before = [total * grain for total in capped_totals(one, r2t.caps)]
        plain = [total * grain for total in capped_totals(two, r2t.caps)]
        for wrong in product((-rounding, rounding), repeat=len(r2t.caps)) if grain > 1 else [()]:
            after = [a + b for a, b in zip(plain, wrong or [0] * len(plain), strict=True)]
            scores = r2t.scores(before), r2t.scores(after)
            assert np.abs(scores[0] - scores[1]).max() <= STEPS
            if grain == 1:
                chances = [r2t.choice.probabilities(each) for each in scores]
                assert np.abs(np.log(chances[0] / chances[1])).max() <= 0.5 + 1e-9


@given(
    st.lists(st.integers(0, 2**20), max_size=30),
    st.integers(0, 2**20),
)
def test_scores_move_by_at_most_one_sensitivity(table: list[int], extra: int) -> None:
    r2t = R2TCap(epsilon=0.3, most=2**20)
    one = r2t.scores(list(capped_totals(table, r2t.caps)))
    two = r2t.scores(list(capped_totals([*table, extra], r2t.caps)))
    assert np.abs(one - two).max() <= STEPS


@pytest.mark.parametrize("kind", [R2T, R2TCap])
def test_errors_stay_within_the_stated_accuracy(kind: type[R2T] | type[R2TCap]) -> None:
    mechanism, rng = kind(epsilon=1, most=64), Seeded(8)
    contributions = np.r_[np.full(3_000, 9), np.full(50, 60)]
    totals, truth = capped_totals(contributions, mechanism.caps), int(contributions.sum())
    bound = mechanism.accuracy(0.9)
    within = sum(abs(mechanism.measure(totals, rng=rng).value - truth) <= bound for _ in range(300))
    assert within >= 270 - 4 * 27**0.5


@pytest.mark.parametrize("kind", [R2T, R2TCap])
def test_it_is_answered_and_charged_as_any_mechanism(kind: type[R2T] | type[R2TCap]) -> None:
    budget = Budget(epsilon=1)
    mechanism = kind(epsilon=1, most=2**20)
    totals = capped_totals([7] * 50_000, mechanism.caps)
    given_answer = release(mechanism, totals, budget=budget, rng=Seeded(3))
    assert given_answer.epsilon == 1
    assert given_answer.value == pytest.approx(350_000, rel=0.05)


@pytest.mark.parametrize("kind", [R2T, R2TCap])
def test_what_cannot_be_promised_is_refused(kind: type[R2T] | type[R2TCap]) -> None:
    with pytest.raises(PrivacyError, match="adding or removing") as refused:
        kind(epsilon=1, most=8, neighbours=CHANGE_ONE)
    assert refused.value.code == "CEL-Q080"
    for totals in ([1, 2, 3], [1.0, 2, 3, 4], [True, 1, 1, 1], [1, 2, 3, 2**51], None):
        with pytest.raises(InputError) as wrong:
            kind(epsilon=1, most=8).measure(totals, rng=Seeded(1))
        assert wrong.value.key == "CEL-Q081.totals"
    fields: list[dict[str, Any]] = [{"failure": 0}, {"failure": 1.5}, {"most": 0}, {"grain": 0}]
    for wrong_field in fields:
        with pytest.raises(InputError):
            kind(**{"epsilon": 1, "most": 8, **wrong_field})


def test_contributions_that_are_not_whole_numbers_are_refused() -> None:
    for wrong in ([0.5], ["3"], [[1]], [2**51], [True]):
        with pytest.raises(InputError) as refused:
            capped_totals(wrong, (1, 2))
        assert refused.value.key == "CEL-Q081.contributions"
    with pytest.raises(InputError):
        grouped_totals([0], [3], [1], caps=(1,), size=3)
