"""What a study finds: when a cell matches, and how all of them are told."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.lab import EXACT, Findings, Row, Tolerance
from celosia.lab.tolerance import at_least, at_most

FOUND = Findings(
    "sums",
    (
        Row("1+1", "sum", 2, 2),
        Row("1+1", "name", "two", "two"),
        Row("2+2", "sum", 5, 4),
    ),
)


@given(st.integers(), st.integers())
def test_exact_cells_match_only_their_equals(published: int, computed: int) -> None:
    assert EXACT.matches(published, computed) == (published == computed)


@pytest.mark.parametrize(
    ("computed", "same"), [(16.0, True), (16.00001, True), (15.99999, True), (16.000011, False)]
)
def test_an_absolute_tolerance_reaches_just_so_far(computed: float, same: bool) -> None:
    # A hair more than the tolerance itself, because 16.00001 is not a binary number.
    assert Tolerance(absolute=1e-5 * (1 + 1e-9)).matches(16.0, computed) is same


def test_a_relative_tolerance_grows_with_the_published_number() -> None:
    near = Tolerance(relative=1e-9)
    assert near.matches(1e6, 1e6 + 1e-4)
    assert not near.matches(1.0, 1.0 + 1e-4)
    assert near.matches(0.0, 0.0)
    assert not near.matches(0.0, 1e-30)


@pytest.mark.parametrize("computed", ["none", "2", math.nan])
def test_what_is_no_number_matches_no_number(computed: str | float) -> None:
    assert not Tolerance(absolute=math.inf if isinstance(computed, str) else 1e9).matches(
        2, computed
    )


def test_findings_are_counted_and_told_in_one_line() -> None:
    assert (FOUND.checked, FOUND.matched, FOUND.is_reproduced) == (3, 2, False)
    assert str(FOUND) == "2 of 3 cells match"
    assert Findings("sums", FOUND.rows[:2]).is_reproduced


def test_findings_become_the_same_four_names_for_every_study() -> None:
    plain = json.loads(json.dumps(FOUND.as_dict()))
    assert set(plain) == {"study", "checked", "matched", "rows"}
    assert (plain["study"], plain["checked"], plain["matched"]) == ("sums", 3, 2)
    assert plain["rows"][2] == {
        "run": "2+2",
        "cell": "sum",
        "published": 5,
        "computed": 4,
        "tolerance": EXACT.as_dict(),
        "expected": None,
        "kind": None,
        "wrong": "",
        "not_run": "",
        "matches": False,
    }


def test_cells_keep_their_run_wherever_they_stand() -> None:
    mixed = Findings("sums", (FOUND.rows[0], FOUND.rows[2], FOUND.rows[1]))
    assert mixed.by_run() == {"1+1": FOUND.rows[:2], "2+2": FOUND.rows[2:]}


def test_findings_become_a_table_of_texts() -> None:
    frame = FOUND.frame()
    assert frame.columns == [
        *("run", "cell", "published", "expected", "kind", "computed", "matches"),
        *("tolerance", "derivation", "wrong", "not run"),
    ]
    assert frame.row(1)[:7] == ("1+1", "name", "two", None, None, "two", True)
    assert frame["published"].to_list() == ["2", "two", "5"]


def test_what_was_not_compared_neither_counts_nor_matches() -> None:
    absent = Row("3+3", "sum", None, None, not_run="nobody is there to add")
    time = Row("1+1", "seconds", 0.5, None, not_run="another computer")
    found = Findings("sums", (*FOUND.rows[:2], absent, time))
    assert (found.checked, found.matched, found.is_reproduced) == (2, 2, True)
    assert [row["matches"] for row in found.as_dict()["rows"]] == [True, True, None, None]
    assert str(absent) == "3+3, sum: not compared (nobody is there to add)"
    assert found.unchecked_runs == ("3+3",)
    assert str(found) == "2 of 2 cells match; 1 run not checked"


def test_a_study_in_which_nothing_was_compared_is_not_reproduced() -> None:
    found = Findings("sums", (Row("3+3", "sum", None, None, not_run="nobody is there to add"),))
    assert not found.is_reproduced
    assert not Findings("sums", ()).is_reproduced


def test_a_corrected_cell_keeps_what_was_printed_and_is_compared_with_the_right_number() -> None:
    row = Row("1+1", "sum", 3, 2, expected=2, kind="theory", wrong="a slip")
    assert row.matches
    assert (row.published, row.stated) == (3, 2)


@pytest.mark.parametrize(
    "fields",
    [
        {"published": None, "computed": 2},
        {"published": 2, "computed": None},
        {"published": None, "computed": 2, "expected": 2},
        {"published": 2, "computed": 2, "kind": "theory"},
        {"published": None, "computed": 2, "expected": 2, "kind": "theory", "wrong": "a slip"},
    ],
)
def test_a_row_that_hides_where_a_number_is_from_is_none(fields: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        Row("1+1", "sum", **fields)


def test_limits_and_refutations_are_tolerances_too() -> None:
    assert at_most(5).matches(5, 4.9)
    assert not at_most(5).matches(5, 5.1)
    assert at_least(5).matches(5, 5)
    assert Tolerance(least=1, most=2).matches(1.5, 2)
    assert not Tolerance(least=1, most=2).matches(1.5, math.nan)
    far = Tolerance(absolute=1, refuted=True)
    assert far.matches(3, 5)
    assert not far.matches(3, 3.5)
    assert not far.matches(3, math.nan)
