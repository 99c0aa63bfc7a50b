"""Dates: periods of the calendar, texts in a format, and refusals."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.tables.hierarchies import Dates


def test_each_period_has_its_label() -> None:
    levels = ("day", "month", "quarter", "year", "5 years", "decade", "century")
    assert Dates(levels=levels).build(pl.Series([date(2026, 11, 28)])).paths() == [
        (
            "2026-11-28",
            "2026-11-28",
            "2026-11",
            "2026-Q4",
            "2026",
            "2025-2029",
            "2020-2029",
            "2000-2099",
            "*",
        )
    ]


def test_the_births_of_the_five_attribute_example_have_four_levels() -> None:
    rule = Dates(levels=("month", "year"), format="%d/%m/%y", century=1900)
    birth = rule.build(pl.Series(["19/08/63", "25/08/63", "07/02/62"]))
    assert birth.leaves == ("07/02/62", "19/08/63", "25/08/63")
    assert birth.labels[1:] == (("1962-02", "1963-08"), ("1962", "1963"), ("*",))


def test_short_years_follow_python_unless_the_century_is_given() -> None:
    years = pl.Series(["68", "69"])
    assert Dates(levels=("year",), format="%y").build(years).labels[1] == ("1969", "2068")
    rule = Dates(levels=("year",), format="%y", century=1900)
    assert rule.build(years).labels[1] == ("1968", "1969")


def test_a_leap_day_moved_to_a_century_without_it_keeps_its_month() -> None:
    rule = Dates(levels=("month",), format="%d/%m/%y", century=1900)
    assert rule.build(pl.Series(["29/02/00"])).labels[1] == ("1900-02",)


def test_times_are_taken_to_their_day_first() -> None:
    when = pl.Series([datetime(2026, 1, 2, 3, 4, 5), datetime(2026, 1, 2, 23, 0, 0)])
    visits = Dates(levels=("day", "month")).build(when)
    assert len(visits.leaves) == 2
    assert visits.labels[1:] == (("2026-01-02",), ("2026-01",), ("*",))


def test_texts_are_iso_dates_unless_a_format_is_given() -> None:
    assert Dates(levels=("year",)).build(pl.Series(["2026-01-02"])).labels[1] == ("2026",)


def test_a_format_does_not_disturb_a_column_of_dates() -> None:
    rule = Dates(levels=("year",), format="%d/%m/%y", century=1900)
    assert rule.build(pl.Series([date(2026, 1, 2)])).labels[1] == ("2026",)


def test_what_is_no_date_is_counted_and_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        Dates(format="%d/%m/%Y").build(pl.Series(["01/02/2026", "secret", "31/02/2026"]))
    assert caught.value.code == "CEL-H040"
    assert caught.value.details == {"count": 2, "first": 2}
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("form", "levels"),
    [
        ("%d/%m", ("year",)),
        ("%Y", ("month", "year")),
        ("%m/%Y", ("day",)),
        ("%Y-%Q", ("year",)),
        ("%Y %Y", ("year",)),
        ("", ("year",)),
    ],
)
def test_a_format_that_says_too_little_or_nothing_is_refused(
    form: str, levels: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        Dates(levels=levels, format=form)
    assert caught.value.code == "CEL-H041"


@pytest.mark.parametrize(
    "parameters",
    [
        {"levels": ()},
        {"levels": "year"},
        {"levels": ("year", "month")},
        {"levels": ("year", "year")},
        {"levels": ("week",)},
        {"levels": (1,)},
        {"format": 5},
        {"century": 1950, "format": "%d/%m/%y"},
        {"century": "1900", "format": "%d/%m/%y"},
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_on_creation(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Dates(**parameters)
    assert caught.value.code == "CEL-I060"


@pytest.mark.parametrize("form", [None, "%d/%m/%Y"])
def test_a_century_is_for_years_of_two_digits(form: str | None) -> None:
    with pytest.raises(InputError, match="needs a format that holds %y") as caught:
        Dates(century=1900, format=form)
    assert caught.value.code == "CEL-H041"


def test_a_misspelt_period_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'quarter'"):
        Dates(levels=("quater",))


@given(days=st.lists(st.dates(), min_size=1, max_size=20, unique=True))
@settings(max_examples=50)
def test_every_year_lies_in_the_period_that_its_label_says(days: list[date]) -> None:
    hierarchy = Dates(levels=("year", "5 years", "decade", "century")).build(pl.Series(days))
    for path in hierarchy.paths():
        for label, width in zip(path[2:-1], (5, 10, 100), strict=True):
            first, last = map(int, label.split("-"))
            assert first <= int(path[1]) <= last
            assert (first % width, last - first) == (0, width - 1)
