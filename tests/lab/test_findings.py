"""What a study finds: when a cell matches, and how all of them are told."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.lab import EXACT, Findings, Row, Tolerance

FOUND = Findings(
    "sums",
    (
        Row("1+1", "sum", 2, 2, True),
        Row("1+1", "name", "two", "two", True),
        Row("2+2", "sum", 5, 4, False),
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
        "matches": False,
    }


def test_cells_keep_their_run_wherever_they_stand() -> None:
    mixed = Findings("sums", (FOUND.rows[0], FOUND.rows[2], FOUND.rows[1]))
    assert mixed.by_run() == {"1+1": FOUND.rows[:2], "2+2": FOUND.rows[2:]}


def test_findings_become_a_table_of_texts() -> None:
    frame = FOUND.frame()
    assert frame.columns == ["run", "cell", "published", "computed", "matches"]
    assert frame.row(1) == ("1+1", "name", "two", "two", True)
    assert frame["published"].to_list() == ["2", "two", "5"]
