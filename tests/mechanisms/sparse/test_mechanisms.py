"""Scales, losses, parameters and batches of the sparse vector mechanisms."""

from __future__ import annotations

from fractions import Fraction
from math import isclose, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from celosia.accounting.advanced_composition import advanced
from celosia.accounting.losses import ApproximateLoss, PureLoss
from celosia.core.errors import CelosiaError, InputError, PrivacyError
from celosia.core.neighbours import CHANGE_ONE
from celosia.core.randomness import Seeded
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.sparse import (
    ABOVE,
    BELOW,
    AboveThreshold,
    NumericSparse,
    Sparse,
    SparseMechanism,
    SparseVector,
)
from celosia.mechanisms.sparse.placement import place_all
from celosia.mechanisms.sparse.scales import Scales, numeric_shares, textbook_scale

ONE_OF_EACH: list[SparseMechanism] = [
    AboveThreshold(1.0, threshold=0),
    Sparse(1.0, threshold=0, positives=3),
    NumericSparse(1.0, threshold=0, positives=3),
    SparseVector(1.0, threshold=0, positives=3),
    SparseVector(1.0, threshold=0, positives=3, monotone=True, numeric=0.5),
]


def test_above_threshold_has_scales_two_and_four_over_epsilon() -> None:
    scales = AboveThreshold(0.5, threshold=10).scales
    assert scales == Scales(Fraction(4), Fraction(8), None)


def test_above_threshold_is_the_standard_one_with_one_positive_and_an_even_split() -> None:
    standard = SparseVector(0.5, threshold=10, split=1)
    assert standard.scales == AboveThreshold(0.5, threshold=10).scales


@pytest.mark.parametrize(
    ("positives", "pure", "approximate"), [(10, 20, 66.4903), (1000, 2000, 664.903)]
)
def test_the_printed_scales_of_sparse(positives: int, pure: float, approximate: float) -> None:
    assert textbook_scale(1, positives=positives) == pure
    printed = textbook_scale(1, positives=positives, delta=1e-6)
    assert isclose(printed, approximate, rel_tol=1e-6)
    assert Sparse(1.0, threshold=0, positives=positives).scales.threshold == pure
    taken = Sparse(1.0, threshold=0, positives=positives, delta=1e-6).scales.threshold
    assert taken <= min(pure, printed)


@given(
    epsilon=st.floats(0.01, 20),
    positives=st.integers(1, 5000),
    exponent=st.integers(2, 12),
)
def test_with_a_delta_the_restarts_compose_to_epsilon(
    epsilon: float, positives: int, exponent: int
) -> None:
    delta = 10.0**-exponent
    mechanism = Sparse(epsilon, threshold=0, positives=positives, delta=delta)
    each = float(2 / mechanism.scales.threshold)
    if isinstance(mechanism.privacy_loss(), PureLoss):
        assert positives * Fraction(2) / mechanism.scales.threshold <= Fraction(repr(epsilon))
    else:
        assert advanced(positives, each, slack=delta).epsilon <= epsilon
        assert each > epsilon / positives


def test_sparse_says_delta_only_where_it_needs_it() -> None:
    few = Sparse(1.0, threshold=0, positives=10, delta=1e-6)
    many = Sparse(1.0, threshold=0, positives=1000, delta=1e-6)
    assert few.privacy_loss() == PureLoss(Fraction(1))
    assert many.privacy_loss() == ApproximateLoss(Fraction(1), 1e-6)


def test_numeric_sparse_spends_eight_ninths_on_finding_and_one_on_telling() -> None:
    scales = NumericSparse(1.0, threshold=0, positives=4).scales
    assert scales.release == 9 * 4
    assert scales.threshold == Fraction(2 * 4 * 9, 8)
    assert scales.query == 2 * scales.threshold


def test_the_two_parts_of_numeric_sparse_add_up_to_epsilon() -> None:
    for approximate in (False, True):
        find, tell = numeric_shares(Fraction(7, 10), approximate=approximate)
        second = 2 * tell  # what the algorithm calls epsilon2
        assert find + second / 2 == Fraction(7, 10)
    find, _ = numeric_shares(Fraction(1), approximate=True)
    assert isclose(find, sqrt(512) / (sqrt(512) + 1), rel_tol=1e-9)


@pytest.mark.parametrize("positives", [10, 150, 300, 2000])
def test_numeric_sparse_takes_delta_only_where_no_noise_grows(positives: int) -> None:
    pure = NumericSparse(1.0, threshold=0, positives=positives)
    mechanism = NumericSparse(1.0, threshold=0, positives=positives, delta=1e-6)
    released, plain = mechanism.scales.release, pure.scales.release
    assert released is not None
    assert plain is not None
    assert mechanism.scales.threshold <= pure.scales.threshold
    assert released <= plain
    loss = mechanism.privacy_loss()
    if isinstance(loss, PureLoss):
        assert mechanism.scales == pure.scales
    else:
        find = advanced(positives, float(2 / mechanism.scales.threshold), slack=5e-7)
        tell = advanced(positives, float(1 / released), slack=5e-7)
        assert find.epsilon + tell.epsilon <= 1
    # (sqrt(512) + 1) sqrt(2 c ln(2/delta)) falls below 9 c from about 13.8 ln(2/delta) = 200 on.
    assert isinstance(loss, ApproximateLoss) == (positives > 200)


@given(
    epsilon=st.fractions(Fraction(1, 100), 10),
    positives=st.integers(1, 1000),
    monotone=st.booleans(),
    numeric=st.sampled_from([0, 0.25, 0.5]),
    split=st.sampled_from(["optimal", 1, 3, 0.125]),
)
def test_the_noise_of_the_standard_one_costs_epsilon_and_no_more(
    epsilon: Fraction, positives: int, monotone: bool, numeric: float, split: str | float
) -> None:
    mechanism = SparseVector(
        float(epsilon),
        threshold=0,
        positives=positives,
        monotone=monotone,
        numeric=numeric,
        split=split,
    )
    scales = mechanism.scales
    cost = 1 / scales.threshold + (1 if monotone else 2) * positives / scales.query
    if scales.release is not None:
        cost += positives / scales.release
    loss = mechanism.privacy_loss()
    assert isinstance(loss, PureLoss)
    assert loss.value * Fraction(10**9 - 1, 10**9) < cost <= loss.value


@pytest.mark.parametrize("mechanism", ONE_OF_EACH, ids=str)
def test_a_larger_sensitivity_or_a_finer_grid_widens_the_noise_alike(
    mechanism: SparseMechanism,
) -> None:
    kind = type(mechanism)
    given = {
        name: getattr(mechanism, name)
        for name in ("positives", "monotone", "numeric")
        if hasattr(mechanism, name)
    }
    wide = kind(1.0, threshold=0, sensitivity=4, **given).scales
    fine = kind(1.0, threshold=0, grid=Grid(Fraction(1, 4)), **given).scales
    assert wide == fine
    assert wide.threshold == 4 * mechanism.scales.threshold


def test_rounding_to_the_grid_costs_one_step() -> None:
    exact = AboveThreshold(1.0, threshold=0, sensitivity=2)
    rounded = AboveThreshold(1.0, threshold=0, sensitivity=2, rounded=True)
    assert [exact.scales.threshold, rounded.scales.threshold] == [Fraction(4), Fraction(6)]
    assert rounded.accuracy() > exact.accuracy()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: AboveThreshold(0, threshold=1), "CEL-I060"),
        (lambda: AboveThreshold(1.0, threshold=float("nan")), "CEL-M104"),
        (lambda: AboveThreshold(1.0, threshold="many"), "CEL-M104"),  # type: ignore[arg-type]
        (lambda: AboveThreshold(1.0, threshold=1, sensitivity=0), "CEL-I060"),
        (lambda: AboveThreshold(1.0, threshold=1, sensitivity=0.5), "CEL-M106"),
        (lambda: AboveThreshold(1.0, threshold=1, grid=0.5), "CEL-M008"),  # type: ignore[arg-type]
        (lambda: AboveThreshold(1.0, threshold=1, grid=None), "CEL-I060"),  # type: ignore[arg-type]
        (lambda: Sparse(1.0, threshold=1, positives=0), "CEL-I060"),
        (lambda: Sparse(1.0, threshold=1, delta=1), "CEL-I060"),
        (lambda: NumericSparse(1.0, threshold=1, positives=True), "CEL-I060"),
        (lambda: SparseVector(1.0, threshold=1, split="even"), "CEL-I060"),
        (lambda: SparseVector(1.0, threshold=1, split=0), "CEL-I060"),
        (lambda: SparseVector(1.0, threshold=1, numeric=1), "CEL-I060"),
        (
            lambda: SparseVector(1.0, threshold=1, monotone=True, neighbours=CHANGE_ONE),
            "CEL-M107",
        ),
        (lambda: SparseVector(1.0, threshold=1, monotone="no"), "CEL-I060"),  # type: ignore[arg-type]
        (lambda: Sparse(1e-9, threshold=1, positives=10**6), "CEL-M109"),
    ],
)
def test_bad_parameters_are_refused_when_the_mechanism_is_made(make: object, code: str) -> None:
    with pytest.raises(CelosiaError) as caught:
        make()  # type: ignore[operator]
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([1, 2.5], "CEL-M103"),
        ([1, float("nan")], "CEL-M009"),
        ([1, float("inf")], "CEL-M009"),
        ([1, None], "CEL-M009"),
        ([1, 2**60], "CEL-M009"),
        (np.array([np.iinfo(np.int64).min]), "CEL-M009"),
        (np.array([2**63], dtype=np.uint64), "CEL-M009"),
        ([[1, 2]], "CEL-M111"),
        ([[1], [1, 2]], "CEL-M111"),
        (["7421"], "CEL-M111"),
        ([True], "CEL-M111"),
        (np.ma.masked_array([1, 7421], mask=[False, True]), "CEL-M111"),
        ([2.0**49 + 0.5], "CEL-M103"),
        ([Fraction(2**49) + Fraction(1, 2)], "CEL-M103"),
    ],
)
def test_bad_answers_are_refused_without_being_told(answers: list[float], code: str) -> None:
    with pytest.raises(InputError) as caught:
        AboveThreshold(1.0, threshold=0).release(answers, rng=Seeded(1))
    assert caught.value.code == code
    assert "2.5" not in str(caught.value)
    assert "7421" not in str(caught.value)


def test_whole_numbers_of_every_kind_are_answers() -> None:
    mechanism = AboveThreshold(100, threshold=10)
    answers = [-90, -80, 90]
    wanted = (BELOW, BELOW, ABOVE)
    for kind in ("int8", "int32", "int64", "float32", "float64"):
        assert mechanism.release(np.array(answers, dtype=kind), rng=Seeded(2)) == wanted
    fractions = [Fraction(answer) for answer in answers]
    assert mechanism.release(fractions, rng=Seeded(2)) == wanted  # type: ignore[arg-type]
    assert mechanism.release(np.array([0, 90], dtype=np.uint8), rng=Seeded(2)) == wanted[1:]


def test_floats_that_are_multiples_of_the_step_are_on_the_grid() -> None:
    mechanism = AboveThreshold(100, threshold=0.3, grid=Grid(Fraction(1, 10)), sensitivity=0.1)
    assert mechanism.release([0.1, 0.3 - 0.3, 0.1 + 0.2 + 9], rng=Seeded(2)) == (
        BELOW,
        BELOW,
        ABOVE,
    )
    with pytest.raises(InputError):
        mechanism.release([0.35], rng=Seeded(2))


@given(
    index=st.integers(-(2**49), 2**49),
    moved=st.integers(1, 50),
    step=st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(7, 100)]),
)
def test_answers_in_floats_move_by_no_more_steps_than_the_noise_hides(
    index: int, moved: int, step: Fraction
) -> None:
    # The sensitivity that floats show may lie below the true one: 1 - 0.8 is less than 0.2.
    first, second = float(index * step), float((index + moved) * step)
    sensitivity = second - first
    assume(sensitivity >= float(step) and abs(sensitivity - moved * step) < step / 4)
    mechanism = AboveThreshold(1.0, threshold=0, grid=Grid(step), sensitivity=sensitivity)
    try:
        one, two = place_all([first, second], grid=mechanism.grid, rounded=False)
    except InputError:
        return
    assert abs(int(two) - int(one)) <= mechanism.scales.threshold / 2


def test_a_sensitivity_a_hair_below_a_step_counts_as_the_step() -> None:
    wanted = SparseVector(1.0, threshold=1, grid=Grid(Fraction(1, 10)), sensitivity=0.2).scales
    told = SparseVector(1.0, threshold=1, grid=Grid(Fraction(1, 10)), sensitivity=1 - 0.8).scales
    assert told == wanted


def test_each_question_may_have_its_own_threshold() -> None:
    mechanism = SparseVector(50, threshold=[1000, -1000, 1000], positives=3)
    assert mechanism.release([0, 0, 0], rng=Seeded(3)) == (BELOW, ABOVE, BELOW)
    with pytest.raises(InputError) as caught:
        mechanism.release([0, 0, 0, 0], rng=Seeded(3))
    assert caught.value.code == "CEL-M105"


@pytest.mark.parametrize("mechanism", ONE_OF_EACH, ids=str)
def test_a_batch_ends_with_the_last_positive_that_is_allowed(mechanism: SparseMechanism) -> None:
    high = mechanism.release([10**6] * 50, rng=Seeded(4))
    low = mechanism.release([-(10**6)] * 50, rng=Seeded(4))
    assert len(high) == mechanism.limit
    assert BELOW not in high
    assert low == (BELOW,) * 50
    assert mechanism.release([], rng=Seeded(4)) == ()


def test_a_long_batch_finds_positives_that_lie_far_apart() -> None:
    answers = np.full(100_000, -(10**6))
    places = [0, 1, 700, 701, 99_999]
    answers[places] = 10**6
    for mechanism in (
        Sparse(1.0, threshold=0, positives=6),
        SparseVector(1.0, threshold=0, positives=6),
    ):
        measured = mechanism.measure(answers, rng=Seeded(5))
        assert measured.parts["positions"] == tuple(places)
        assert len(measured.value) == 100_000


def test_the_least_epsilon_for_a_wished_error_is_found() -> None:
    wish = SparseVector(1.0, threshold=0, positives=5, grid=Grid(Fraction(1, 2**20)))
    found = wish.with_accuracy(30.0, size=100)
    assert found.accuracy(size=100) <= 30
    less = SparseVector(
        found.epsilon * 0.99, threshold=0, positives=5, grid=Grid(Fraction(1, 2**20))
    )
    assert less.accuracy(size=100) > 30


def test_a_mechanism_prints_as_it_is_written() -> None:
    assert str(SparseVector(1.0, threshold=5, monotone=True)) == (
        "SparseVector(epsilon=1, threshold=5, monotone=True)"
    )


def test_monotone_is_refused_as_a_promise_not_as_a_slip() -> None:
    with pytest.raises(PrivacyError):
        SparseVector(1.0, threshold=1, monotone=True, neighbours=CHANGE_ONE)
