"""The three l-diversities: worked examples, boundaries and what they say when they cannot hold."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.models.small_classes import classes_of, column_of, grassberger_entropy

from celosia.core.errors import InputError
from celosia.tables.models import (
    Classes,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from celosia.tables.models.entropy_diversity import Estimator


def alone(*counts: int) -> Classes:
    """One class that is the whole table."""
    return classes_of(column_of(counts), [counts])


def entropy(l: float, *, estimator: Estimator = "shannon") -> EntropyDiversity:  # noqa: E741
    return EntropyDiversity(l, estimator, "disease")


TABLE_12 = [[1, 1, 1, 0, 0], [0, 0, 0, 1, 2], [3, 0, 0, 0, 0], [0, 0, 2, 0, 1]]
"""Flu, chest pain, back pain, obesity, vomiting in the four classes of three."""


def test_a_homogeneous_class_is_not_diverse() -> None:
    classes = classes_of(column_of(np.sum(TABLE_12, axis=0).tolist()), TABLE_12)
    assert DistinctDiversity(2, "disease").holds(classes).tolist() == [True, True, False, True]
    assert DistinctDiversity(3, "disease").holds(classes).tolist() == [True, False, False, False]


def test_the_classes_of_table_14_have_three_values_each() -> None:
    classes = classes_of(
        column_of([4] * 4), [[1, 2, 1, 0], [1, 1, 2, 0], [2, 1, 1, 0], [1, 2, 0, 1]]
    )
    assert DistinctDiversity(3, "disease").holds(classes).all()
    assert not DistinctDiversity(4, "disease").holds(classes).any()


def test_the_classes_of_table_15_are_as_diverse_as_2_828_values() -> None:
    classes = classes_of(column_of([3, 4, 5]), [[1, 1, 2], [1, 2, 1], [1, 1, 2]])
    assert entropy(2).effective(classes) == pytest.approx([2**1.5] * 3, rel=1e-14)
    assert entropy(2.8).holds(classes).all()
    assert entropy(2**1.5).holds(classes).all()
    assert not entropy(3).holds(classes).any()


def test_a_skewed_class_is_more_diverse_than_the_table_it_comes_from() -> None:
    assert entropy(2).effective(alone(49, 1)).item() == pytest.approx(1.1030, abs=5e-5)
    assert entropy(2).effective(alone(990, 10)).item() == pytest.approx(1.0576, abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "l"), [([3, 3], 2), ([2, 2, 2], 3), ([7] * 5, 5), ([1] * 11, 11), ([70_000] * 3, 3)]
)
def test_equally_frequent_values_are_exactly_as_diverse_as_their_number(
    counts: list[int],
    l: int,  # noqa: E741
) -> None:
    satisfied, must_go = entropy(l).judge(alone(*counts))
    assert satisfied.all()
    assert must_go.item() == 0
    assert not entropy(l + 1e-6).holds(alone(*counts)).any()


def test_the_corrected_entropy_is_that_of_grassberger() -> None:
    for counts in [(1, 1), (2, 2), (5, 3, 1), (9, 8, 7, 6), (100, 1, 1), (65_535, 65_537)]:
        found = entropy(2, estimator="grassberger").effective(alone(*counts)).item()
        assert math.log(found) == pytest.approx(grassberger_entropy(counts), abs=1e-11)


def test_the_corrected_entropy_of_few_records_needs_the_values_besides() -> None:
    assert entropy(5, estimator="grassberger").effective(alone(1, 1)).item() > 5
    assert not entropy(5, estimator="grassberger").holds(alone(1, 1)).any()


def test_parts_may_meet_the_corrected_entropy_that_their_whole_does_not() -> None:
    whole = entropy(2, estimator="grassberger").judge(alone(2, 2))
    assert not whole.satisfied.any()
    assert entropy(2, estimator="grassberger").holds(alone(1, 1)).all()
    assert whole.must_go.item() == 0


@pytest.mark.parametrize(
    ("c", "l", "counts", "holds"),
    [
        (2, 3, (3, 2, 1, 1), True),
        (2, 2, (3, 1, 1), True),
        (2, 4, (3, 2, 1, 1), False),
        (1.5, 3, (3, 2, 1, 1), False),
        (1.1, 2, (11, 10), False),  # a tie: 1.1 * 10 is a little more than 11 in binary
        (1, 2, (5, 5), False),
        (1.01, 2, (5, 5), True),
    ],
)
def test_recursive_diversity_is_strict(c: float, l: int, counts: Any, holds: bool) -> None:  # noqa: E741
    assert RecursiveDiversity(c, l, "disease").holds(alone(*counts)).item() is holds


@given(
    st.lists(st.integers(1, 12), min_size=3, max_size=7),
    st.sampled_from([1.1, 1.5, 2, 3, 4.5]),
    st.integers(3, 5),
)
def test_removing_any_one_value_leaves_one_less_diversity(
    counts: list[int],
    c: float,
    l: int,  # noqa: E741
) -> None:
    if not RecursiveDiversity(c, l, "disease").holds(alone(*counts)).all():
        return
    for removed in range(len(counts)):
        rest = counts[:removed] + counts[removed + 1 :]
        assert RecursiveDiversity(c, l - 1, "disease").holds(alone(*rest)).all()


@given(st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any), st.integers(2, 4))
def test_what_must_go_for_recursive_diversity_is_exact(
    counts: list[int],
    l: int,  # noqa: E741
) -> None:
    model = RecursiveDiversity(1.5, l, "disease")
    column = column_of([max(1, count) for count in counts])
    subsets = [
        subset
        for subset in itertools.product(*[range(count + 1) for count in counts])
        if any(subset)
    ]
    kept = model.holds(classes_of(column, subsets))
    best = max(
        (sum(subset) for subset, is_kept in zip(subsets, kept, strict=True) if is_kept), default=0
    )
    assert model.judge(classes_of(column, [counts])).must_go.item() == sum(counts) - best


def test_a_table_that_is_not_diverse_says_why() -> None:
    skewed = alone(4038, 4030, 143, 9)
    assert DistinctDiversity(5, "disease").why_infeasible(skewed) == (
        "'disease' has only 4 different values in the whole table, "
        "and l = 5 are asked of every class."
    )
    assert "spread only as evenly as 2.17 equally frequent" in (
        entropy(3).why_infeasible(skewed) or ""
    )
    assert "it can be met up to l = 2." in (
        RecursiveDiversity(2, 3, "disease").why_infeasible(skewed) or ""
    )
    assert "for no l" in (RecursiveDiversity(0.1, 2, "disease").why_infeasible(skewed) or "")
    assert "has fewer than l = 5 different" in (
        entropy(5, estimator="grassberger").why_infeasible(alone(1, 1)) or ""
    )


def test_reasons_name_no_counts_of_values() -> None:
    for model in (entropy(3), RecursiveDiversity(2, 4, "disease")):
        assert "4038" not in (model.why_infeasible(alone(4038, 4030, 143, 9)) or "")


@pytest.mark.parametrize("l", [1, 0, -2, 2.5, "3", None, True, math.nan])
def test_the_number_of_values_is_whole_and_at_least_two(l: Any) -> None:  # noqa: E741
    for model in (lambda: DistinctDiversity(l), lambda: RecursiveDiversity(4, l)):
        with pytest.raises(InputError) as caught:
            model()
        assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("l", [1, 0.5, "3", None, True, math.nan, math.inf])
def test_the_l_of_entropy_is_a_number_above_one(l: Any) -> None:  # noqa: E741
    with pytest.raises(InputError, match="above 1") as caught:
        EntropyDiversity(l)
    assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("c", [0, -1, "4", None, True, math.nan, math.inf])
def test_the_c_of_recursive_diversity_is_a_number_above_zero(c: Any) -> None:
    with pytest.raises(InputError) as caught:
        RecursiveDiversity(c, 3)
    assert caught.value.code == "CEL-I060"


def test_parameters_become_numbers_that_fit_into_json() -> None:
    model = RecursiveDiversity(np.float32(4), np.int64(3), "occupation")  # type: ignore[arg-type]
    assert model.as_dict() == {
        "method": "recursive-diversity",
        "c": 4.0,
        "l": 3,
        "column": "occupation",
    }
    assert (type(model.c), type(model.l)) == (float, int)


def test_models_of_a_column_name_it() -> None:
    assert RecursiveDiversity(4, 3, "occupation").promise() == (
        "recursive (4, 3)-diversity of occupation"
    )
    assert DistinctDiversity(3).for_column("job").promise() == "distinct 3-diversity of job"
    assert EntropyDiversity(2.5).promise() == "entropy 2.5-diversity"


def test_a_model_without_a_column_cannot_be_judged() -> None:
    with pytest.raises(InputError) as caught:
        DistinctDiversity(3).judge(alone(1, 2))
    assert caught.value.code == "CEL-P032"


def test_a_model_of_another_column_cannot_be_judged() -> None:
    with pytest.raises(InputError) as caught:
        DistinctDiversity(3, "salary").judge(alone(1, 2))
    assert caught.value.code == "CEL-P033"


@pytest.mark.parametrize("column", ["", 3, ["disease"]])
def test_a_column_is_a_name(column: Any) -> None:
    with pytest.raises(InputError) as caught:
        DistinctDiversity(3, column)
    assert caught.value.code == "CEL-I060"


def test_a_form_is_chosen_by_yes_or_no() -> None:
    with pytest.raises(InputError) as caught:
        EntropyDiversity(3, "yes")  # type: ignore[arg-type]
    assert caught.value.code == "CEL-I060"


def test_no_classes_are_no_trouble() -> None:
    none = classes_of(column_of([2, 2]), [])
    for model in (DistinctDiversity(2, "disease"), entropy(2), RecursiveDiversity(2, 2, "disease")):
        assert model.judge(none).satisfied.size == 0
