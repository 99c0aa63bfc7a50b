"""Models that bound the share of a sensitive value in a class."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.tables.models.small_classes import classes_of, column_of

from celosia.core.errors import InputError
from celosia.tables.models import AlphaK, BetaLikeness, DeltaDisclosure, PSensitive

HALVES = column_of([50, 50])


def test_no_value_fills_more_than_its_share_of_a_class() -> None:
    classes = classes_of(HALVES, [[5, 5], [6, 4], [2, 2]])
    assert AlphaK(0.5, 5, "disease").holds(classes).tolist() == [True, False, False]


def test_what_must_go_for_a_share_is_what_exceeds_it() -> None:
    """From 8 and 2, half of each means to keep 2 and 2; below k records, nothing."""
    classes = classes_of(HALVES, [[8, 2]])
    assert AlphaK(0.5, 4, "disease").judge(classes).must_go.tolist() == [6]
    assert AlphaK(0.5, 5, "disease").judge(classes).must_go.tolist() == [10]


def test_a_share_given_as_a_decimal_is_met_at_the_tie() -> None:
    assert AlphaK(0.3, 2, "disease").holds(classes_of(column_of([9] * 4), [[3, 3, 3, 1]])).all()


def test_no_class_is_smaller_than_one_over_its_share() -> None:
    assert AlphaK(0.1, 5).smallest == 10
    assert AlphaK(0.3, 2).smallest == 4
    assert AlphaK(0.5, 5).smallest == 5


def test_p_sensitive_classes_have_records_and_values() -> None:
    classes = classes_of(HALVES, [[4, 1], [5, 0], [1, 1]])
    assert PSensitive(2, 5, "disease").holds(classes).tolist() == [True, False, False]
    assert PSensitive(3, 2).smallest == 3


def test_a_value_grows_by_at_most_beta_times_itself() -> None:
    classes = classes_of(column_of([10, 90]), [[2, 8], [3, 7], [0, 10]])
    assert BetaLikeness(1, column="disease").holds(classes).tolist() == [True, False, True]


def test_the_enhanced_form_keeps_frequent_values_below_certainty() -> None:
    """90 of 100 may grow by -ln 0.9 = 0.105 of itself at most, which is short of all."""
    classes = classes_of(column_of([10, 90]), [[0, 10], [1, 200]])
    assert BetaLikeness(1, True, "disease").holds(classes).tolist() == [False, False]
    assert BetaLikeness(0.1, True, "disease").holds(classes_of(column_of([1, 9]), [[1, 99]])).all()


def test_a_class_that_lacks_a_value_discloses_it() -> None:
    classes = classes_of(column_of([20, 80]), [[2, 8], [0, 10], [1, 1]])
    assert DeltaDisclosure(0.5, column="disease").holds(classes).tolist() == [True, False, False]
    assert DeltaDisclosure(0.5, False, "disease").holds(classes).tolist() == [True, True, False]


def test_the_bound_on_disclosure_is_strict_and_uses_natural_logarithms() -> None:
    doubled = classes_of(column_of([25, 75]), [[5, 5]])
    assert not DeltaDisclosure(math.log(2), column="disease").holds(doubled).any()
    assert DeltaDisclosure(math.log(2) + 1e-9, column="disease").holds(doubled).all()


def test_a_huge_delta_asks_only_that_every_value_occurs() -> None:
    classes = classes_of(column_of([1, 10**6]), [[1, 1], [0, 5]])
    assert DeltaDisclosure(1e9, column="disease").holds(classes).tolist() == [True, False]


def test_a_table_that_cannot_meet_a_share_says_why() -> None:
    whole = classes_of(column_of([9, 1]), [[9, 1]])
    assert "more than a share of 0.5" in (AlphaK(0.5, 5, "disease").why_infeasible(whole) or "")
    assert "fewer than k = 11" in (AlphaK(0.9, 11, "disease").why_infeasible(whole) or "")
    assert "fewer than k = 11" in (PSensitive(2, 11, "disease").why_infeasible(whole) or "")
    assert "only 2 different values" in (PSensitive(3, 5, "disease").why_infeasible(whole) or "")
    assert "do not meet" in (
        DeltaDisclosure(0.1, column="disease").why_infeasible(
            classes_of(column_of([9, 1]), [[1, 1]])
        )
        or ""
    )


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: AlphaK(0, 5), "CEL-I060"),
        (lambda: AlphaK(1, 5), "CEL-I060"),
        (lambda: AlphaK(0.5, 1), "CEL-I060"),
        (lambda: PSensitive(1, 5), "CEL-I060"),
        (lambda: PSensitive(2, 1.5), "CEL-I060"),  # type: ignore[arg-type]
        (lambda: BetaLikeness(0), "CEL-I060"),
        (lambda: BetaLikeness(1, 1), "CEL-I060"),  # type: ignore[arg-type]
        (lambda: DeltaDisclosure(-1), "CEL-I060"),
        (lambda: DeltaDisclosure(math.inf), "CEL-I060"),
    ],
)
def test_parameters_out_of_range_are_refused(make: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.code == code
    assert caught.value.fix


def test_the_models_read_as_one_would_write_them() -> None:
    assert AlphaK(0.5, 5, "disease").promise() == "(0.5, 5)-anonymity of disease"
    assert PSensitive(2, 5, "disease").promise() == "2-sensitive 5-anonymity of disease"
    assert BetaLikeness(1, True).promise() == "enhanced 1-likeness"
    assert DeltaDisclosure(1, False).promise() == "lenient 1-disclosure privacy"
    assert "lack values" in DeltaDisclosure(1, False).leaves_open()[0]
