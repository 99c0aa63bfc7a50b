"""Two tables side by side: which columns are amounts, which rows belong together."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia.assess.linkage import align, rows_by
from celosia.core.errors import InputError

MARK = "planted-7391"


def test_numbers_are_amounts_and_texts_are_codes_over_both_tables() -> None:
    tables = align({"age": [1, 2], "sex": ["f", "m"]}, {"age": [1.5, None], "sex": ["m", "x"]})
    assert tables.numeric == ("age",)
    assert tables.nominal.tolist() == [False, True]
    assert tables.before[1, 1] == tables.after[0, 1]
    assert np.isnan(tables.after[1, 0])
    assert tables.rows is not None
    assert tables.rows.tolist() == [0, 1]


def test_intervals_count_by_their_middle_and_stars_are_empty() -> None:
    tables = align({"age": [21, 34, 50]}, {"age": ["[20, 30[", "30-39", "*"]})
    assert tables.after[:2, 0].tolist() == [25, 34.5]
    assert np.isnan(tables.after[2, 0])


def test_labels_that_name_no_number_make_a_category() -> None:
    assert align({"age": [21, 34]}, {"age": ["young", "30-39"]}).nominal.tolist() == [True]


def test_a_star_is_an_empty_cell_unless_the_original_has_it() -> None:
    assert np.isnan(align({"c": ["a", "b"]}, {"c": ["a", "*"]}).after[1, 0])
    assert not np.isnan(align({"c": ["a", "*"]}, {"c": ["a", "*"]}).after).any()


def test_dates_are_amounts() -> None:
    days = {"born": [date(2000, 1, 1), date(2000, 1, 11)]}
    tables = align(days, days)
    assert np.diff(tables.before[:, 0]).tolist() == [10]


def test_numbers_may_be_only_names() -> None:
    assert align({"zip": [8, 9]}, {"zip": [8, 8]}, nominal=["zip"]).nominal.tolist() == [True]


def test_the_columns_that_both_have_are_compared_by_default() -> None:
    assert align({"a": [1], "b": [2]}, {"c": [1], "b": [3]}).columns == ("b",)


def test_nothing_of_the_input_changes() -> None:
    before, after = pl.DataFrame({"a": [1, None]}), pl.DataFrame({"a": ["1-3", "*"]})
    copies = before.clone(), after.clone()
    align(before, after)
    assert before.equals(copies[0])
    assert after.equals(copies[1])


def test_rows_are_aligned_by_an_identifier() -> None:
    rows = rows_by({"id": [7, 8, 9]}, {"id": ["9", "7"]}, "id")
    assert rows.tolist() == [2, 0]


TABLE: dict[str, Any] = {"a": [1, 2, 3]}


@pytest.mark.parametrize(
    ("masked", "asked", "code"),
    [
        ({"b": [1, 2, 3]}, {}, "CEL-A200"),
        (TABLE, {"columns": []}, "CEL-A200"),
        (TABLE, {"columns": ["aa"]}, "CEL-A201"),
        ({"b": [1, 2, 3]}, {"columns": ["a"]}, "CEL-A201"),
        ({"a": [1, 2]}, {}, "CEL-A203"),
        ({"a": [1, 2]}, {"rows": [0]}, "CEL-A202"),
        ({"a": [1, 2]}, {"rows": [0, 3]}, "CEL-A202"),
        ({"a": [1, 2]}, {"rows": [0, -1]}, "CEL-A202"),
        ({"a": [1, 2]}, {"rows": [0.0, 1.0]}, "CEL-A202"),
        (pl.DataFrame({"a": []}, schema={"a": pl.Int64}), {"rows": []}, "CEL-A204"),
        ({"a": [1, 2, float("inf")]}, {}, "CEL-A205"),
        ({"a": [1, 2, -1e200]}, {}, "CEL-A205"),
    ],
)
def test_tables_that_do_not_fit_are_refused(masked: Any, asked: dict[str, Any], code: str) -> None:
    with pytest.raises(InputError) as refused:
        align(TABLE, masked, **asked)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([MARK, MARK], [MARK]),
        ([MARK, None], [MARK]),
        (["x", "y"], [MARK]),
        (["x", "y"], [None]),
    ],
)
def test_an_identifier_that_does_not_align_is_refused_without_naming_it(
    before: list[Any], after: list[Any]
) -> None:
    with pytest.raises(InputError) as refused:
        rows_by(pl.DataFrame({"id": before}), pl.DataFrame({"id": after}, {"id": pl.String}), "id")
    assert refused.value.code == "CEL-A208"
    assert MARK not in str(refused.value)
    with pytest.raises(InputError) as refused:
        rows_by({"id": ["x"]}, {"idd": ["x"]}, "id")
    assert refused.value.code == "CEL-A201"


def test_representations_show_no_cell() -> None:
    tables = align({"c": [MARK, "b"]}, {"c": [MARK, "b"]})
    assert MARK not in repr(tables)


def test_a_column_of_no_comparison_is_refused() -> None:
    tables = align({"c": ["a"]}, {"c": ["a"]})
    with pytest.raises(InputError) as refused:
        tables.only(["d"])
    assert refused.value.code == "CEL-A201"
    with pytest.raises(InputError) as refused:
        tables.numbers()
    assert refused.value.code == "CEL-A207"
