"""Interval and attribute disclosure, against closed forms and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.assess.linkage import align, attribute_disclosure, interval_disclosure
from celosia.core.errors import InputError

AGES = [29, 48, 21, 36, 45, 58, 72, 22, 25, 43]
T8 = [25, 45, 22, 43, 48, 72, 58, 21, 29, 36]
T6 = [32, 46, 28, 38, 48, 61, 59, 20, 24, 55]


def test_values_that_moved_by_one_rank_are_inside_a_window_of_one_rank() -> None:
    tables = align({"age": AGES}, {"age": T8})
    assert interval_disclosure(tables, width=0.1).by_rank == 1.0
    assert interval_disclosure(tables, width=0.05).by_rank == 0.0


def test_deviations_are_counted_by_the_sample_deviation_of_the_original() -> None:
    # The noise of T6 is 3, -2, 7, 2, 3, 3, -13, -2, -1, 12 and the deviation 16.643.
    tables = align({"age": AGES}, {"age": T6})
    assert interval_disclosure(tables, width=3.001 / 16.643).by_deviation == 0.7
    assert interval_disclosure(tables, width=2.999 / 16.643).by_deviation == 0.4
    # However wide, the interval ends at the greatest masked value, 61: record 7 was 72.
    assert interval_disclosure(tables, width=1).by_rank == 0.9


VALUES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=15)


@given(VALUES, st.sampled_from([0.05, 0.1, 0.2, 0.5]))
def test_ranks_inside_are_those_of_a_plain_loop(pairs: list[tuple[int, int]], width: float) -> None:
    true, shown = zip(*pairs, strict=True)
    found = interval_disclosure(align({"x": true}, {"x": shown}), width=width)
    line = sorted(shown)
    middle = {v: np.mean([k for k, each in enumerate(line) if each == v]) for v in line}
    inside = 0
    for value, masked in pairs:
        reach = [v for v in line if abs(middle[v] - middle[masked]) <= width * len(line) + 1e-9]
        inside += min(reach) <= value <= max(reach)
    assert found.by_rank == pytest.approx(inside / len(pairs))


def test_cells_that_are_missing_on_one_side_are_left_out() -> None:
    before: dict[str, Any] = {"x": [1.0, 2.0, None, 4.0], "y": [5.0, 6.0, None, 8.0]}
    after: dict[str, Any] = {"x": [1.0, None, 3.0, 99.0], "y": [5.0, 6.0, None, None]}
    found = interval_disclosure(align(before, after))
    assert [each.cells for each in found.columns] == [2, 2]
    assert [each.by_deviation for each in found.columns] == [0.5, 1.0]
    assert found.whole_records == pytest.approx(2 / 3)  # the third record has nothing to compare


@pytest.mark.parametrize("width", [0, -0.1, 1.5, "wide", float("nan")], ids=str)
def test_a_width_out_of_range_is_refused(width: Any) -> None:
    with pytest.raises(InputError) as refused:
        interval_disclosure(align({"x": [1, 2]}, {"x": [1, 2]}), width=width)
    assert refused.value.code == "CEL-A210"


def test_an_exact_copy_discloses_every_attribute() -> None:
    rng = np.random.default_rng(1)
    table = {
        "age": rng.normal(size=200),
        "ill": rng.choice(["flu", "cold", "none"], 200),
        "pay": rng.normal(size=200),
    }
    ill, pay = attribute_disclosure(align(table, table), known=["age"], sensitive=["ill", "pay"])
    assert (ill.attack, ill.advantage) == (1, 1)
    assert (pay.attack, pay.baseline, pay.advantage) == (1, 0, 1)
    assert ill.baseline == max(np.unique(table["ill"], return_counts=True)[1]) / 200


def test_a_table_that_has_nothing_to_do_with_the_person_discloses_nothing() -> None:
    rng = np.random.default_rng(2)
    before = {"age": rng.normal(size=500), "pay": rng.normal(size=500)}
    after = {"age": rng.normal(size=500), "pay": rng.normal(size=500)}
    (pay,) = attribute_disclosure(align(before, after), known=["age"], sensitive=["pay"])
    assert pay.attack == pay.advantage == 0  # two independent draws explain no variance


def test_in_a_group_of_equal_records_the_most_frequent_value_is_guessed() -> None:
    before = {"zip": list("aaaabb"), "ill": ["x", "x", "y", "y", "y", "x"]}
    after = {"zip": list("aaaabb"), "ill": ["x", "x", "x", "y", "y", "y"]}
    (ill,) = attribute_disclosure(align(before, after), known=["zip"], sensitive=["ill"])
    # a: x is guessed, right for two of four; b: y, right for one of two.
    assert ill.attack == pytest.approx(3 / 6)
    # All: x and y three times each; the first is guessed, right for three of six.
    assert ill.baseline == pytest.approx(3 / 6)


def test_the_mean_of_equal_records_is_guessed_for_an_amount() -> None:
    before: dict[str, Any] = {"zip": list("aabb"), "pay": [1.0, 3.0, 10.0, 14.0]}
    (pay,) = attribute_disclosure(align(before, before), known=["zip"], sensitive=["pay"])
    rest = (1 + 1 + 4 + 4) / sum((x - 7) ** 2 for x in before["pay"])
    assert pay.attack == pytest.approx(1 - rest)


def test_people_without_a_sensitive_value_are_left_out() -> None:
    before: dict[str, Any] = {"age": [1, 2, 3], "ill": ["x", None, "y"]}
    after: dict[str, Any] = {"age": [1, 2, 3], "ill": ["x", None, None]}
    (ill,) = attribute_disclosure(align(before, after), known=["age"], sensitive=["ill"])
    assert ill.people == 2
    assert ill.attack == 0.5  # where the nearest record tells nothing, the table's mode is guessed


def test_synthetic_tables_disclose_attributes_without_alignment() -> None:
    before: dict[str, Any] = {"age": [1.0, 2.0, 9.0], "ill": ["x", "x", "y"]}
    made: dict[str, Any] = {"age": [1.4, 8.8], "ill": ["x", "y"]}
    tables = align(before, made, synthetic=True)
    (ill,) = attribute_disclosure(tables, known=["age"], sensitive=["ill"])
    assert ill.attack == 1


@pytest.mark.parametrize(
    ("known", "sensitive", "code"),
    [
        (["age"], ["age"], "CEL-A209"),
        ([], ["ill"], "CEL-A200"),
        (["agee"], ["ill"], "CEL-A201"),
        (["age"], ["disease"], "CEL-A201"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    known: list[str], sensitive: list[str], code: str
) -> None:
    table: dict[str, Any] = {"age": [1, 2], "ill": ["x", "y"]}
    with pytest.raises(InputError) as refused:
        attribute_disclosure(align(table, table), known=known, sensitive=sensitive)
    assert refused.value.code == code
