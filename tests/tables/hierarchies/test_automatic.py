"""What is proposed for each sort of column."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.tables.hierarchies import (
    Automatic,
    Builder,
    Dates,
    Intervals,
    Mask,
    Ordered,
    is_nominal,
    propose,
)

WORDS = [f"{letter}{tail}" for letter in "abcdefghij" for tail in ("", "an", "ent", "orous")]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([17, 39, 90], Intervals(widths=(5, 10, 20))),
        ([0, 1_000_000], Intervals(widths=(50_000, 100_000, 200_000))),
        ([1950, 2024], Intervals(widths=(5, 10, 20), start=1940)),
        ([-7, 30], Intervals(widths=(2, 4, 8), start=-8)),
        ([0.25, 1.0], Intervals(widths=(0.05, 0.1, 0.2), start=0.2)),
        ([1, 2, 3, 4, 5], Intervals(widths=(2, 4))),
        ([1, 2], Ordered()),
        ([0.0, 4e300, 5e300], Ordered(sizes=(2,))),
        ([f"123456789012345678.{tail}" for tail in (81, 85, 95)], Ordered(sizes=(2,))),
        (["5", "17", "39"], Intervals(widths=(2, 4, 8))),
        ([date(1960, 1, 1), date(2020, 5, 5)], Dates()),
        ([date(2026, 1, 1), date(2026, 2, 1)], Dates(levels=("month",))),
        ([date(2026, 1, 1)], Dates(levels=("month",))),
        (
            [datetime(2026, 1, 1, 8), datetime(2026, 5, 1, 8)],
            Dates(levels=("day", "month", "quarter")),
        ),
        (["1960-01-01", "2020-05-05"], Dates()),
        ([f"2026-02-{day}" for day in range(20, 32)], Mask()),
        ([f"{code:05}" for code in range(9)], Mask()),
        ([f"{code:05}" for code in range(8)], Intervals(widths=(2, 4))),
        ([f"SW{code}A" for code in range(9)], Mask()),
        (["Male", "Female"], Ordered()),
        ([True, False], Ordered()),
        (WORDS, Ordered()),
        (WORDS[:9], Ordered()),
        (["17", "39", "NA", "?"], Automatic()),
        (["1960-01-01", "2020-05-05", "n/a"], Automatic()),
        ([*(f"{code:05}" for code in range(9)), "NULL"], Automatic()),
        ([*WORDS, "NA"], Ordered()),
        (["NA", "?"], Ordered()),
    ],
)
def test_a_proposal_fits_the_sort_of_column(values: list[object], expected: Builder) -> None:
    assert propose(pl.Series(values)) == expected


def test_the_automatic_hierarchy_is_the_proposed_one() -> None:
    ages = pl.Series([17, 39, 90])
    assert Automatic().build(ages).paths() == propose(ages).build(ages).paths()


@pytest.mark.parametrize("few", [3, 9, 40])
def test_towns_are_kept_or_hidden_but_never_grouped_by_the_alphabet(few: int) -> None:
    towns = pl.Series(WORDS[:few])
    for rule in (Automatic(), propose(towns)):
        assert rule.build(towns).levels == 2
        assert set(rule.build(towns).paths()) == {(town, "*") for town in WORDS[:few]}
    assert is_nominal(towns)


@pytest.mark.parametrize(
    "values", [[17, 39, 90], ["17", "39", "NA"], ["Male", "Female", "NA"], [True, False], []]
)
def test_values_that_group_by_themselves_or_are_two_are_not_nominal(values: list[object]) -> None:
    assert not is_nominal(pl.Series(values))


def test_groups_by_the_alphabet_are_there_for_whoever_asks_for_them() -> None:
    assert Ordered(sizes=(2,)).build(pl.Series(WORDS[:4])).levels == 3


def test_texts_for_missing_values_are_leaves_of_their_own_beside_numbers() -> None:
    hierarchy = Automatic().build(pl.Series(["17", "39", "NA", "?", "90"]))
    paths = {path[0]: path for path in hierarchy.paths()}
    assert paths["17"] == ("17", "15-19", "10-19", "0-19", "*")
    assert paths["NA"] == ("NA", "NA", "NA", "NA", "*")
    assert paths["?"] == ("?", "?", "?", "?", "*")


columns = st.one_of(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.lists(st.dates(), min_size=1, max_size=30),
    st.lists(st.text(max_size=8), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.sampled_from(["17", "39", "2.5", "NA", "-", "?", ""]), min_size=1),
    st.lists(st.from_regex(r"[0-9]{5}", fullmatch=True), min_size=1, max_size=30),
)


@given(values=columns)
@settings(max_examples=150)
def test_every_proposal_builds_two_to_six_levels_or_a_mask(values: list[object]) -> None:
    series = pl.Series(values)
    rule = propose(series)
    hierarchy = rule.build(series)
    assert 2 <= hierarchy.levels <= 6 or isinstance(rule, Mask)
