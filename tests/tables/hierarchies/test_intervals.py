"""Intervals: the spec's labels (check 11), exact edges, and every refusal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.tables.hierarchies import Hierarchy, Intervals, intervals
from celosia.tables.hierarchies.automatic import propose


def labels(hierarchy: Hierarchy, leaf: str) -> list[str]:
    return [hierarchy.label(leaf, level=level) for level in range(hierarchy.levels)]


def refusal(values: list[Any], **parameters: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        Intervals(**parameters).build(pl.Series(values))
    return caught.value


PATIENTS = Intervals(bounds=((20, 30, 40, 60),), style="bracket")


def test_the_ages_of_the_patients_fall_into_the_intervals_of_the_thesis() -> None:
    age = PATIENTS.build(pl.Series([29, 30, 40, 59]))
    assert labels(age, "29") == ["29", "[20, 30[", "*"]
    assert labels(age, "30") == ["30", "[30, 40[", "*"]
    assert labels(age, "40") == ["40", "[40, 60[", "*"]
    assert labels(age, "59") == ["59", "[40, 60[", "*"]


def test_values_outside_the_cuts_are_counted_and_not_shown() -> None:
    error = refusal([29, 19, 60, 77], bounds=((20, 30, 40, 60),))
    assert error.code == "CEL-H024"
    assert error.details == {"count": 3, "first": 2}
    assert "77" not in str(error)


def test_a_domain_of_ages_has_all_its_leaves_and_inclusive_labels() -> None:
    age = Intervals(widths=(5, 10, 20), start=1, domain=(1, 100)).build(pl.Series([17, 40]))
    assert (len(age.leaves), age.levels) == (100, 5)
    assert labels(age, "17") == ["17", "16-20", "11-20", "1-20", "*"]
    assert labels(age, "40") == ["40", "36-40", "31-40", "21-40", "*"]


def test_values_outside_the_domain_are_refused() -> None:
    error = refusal([5, 101, 0], widths=(5,), domain=(0, 100), start=0)
    assert (error.code, error.details["count"]) == ("CEL-H024", 1)
    assert refusal([2.5], widths=(5,), domain=(0, 100)).code == "CEL-H024"


def test_open_ends_take_what_lies_outside() -> None:
    age = Intervals(bounds=((20, 40, 60), (40,)), open_below=True, open_above=True).build(
        pl.Series([5, 20, 39, 40, 60, 99])
    )
    assert labels(age, "5") == ["5", "< 20", "< 40", "*"]
    assert labels(age, "20") == ["20", "20-39", "< 40", "*"]
    assert labels(age, "40") == ["40", "40-59", ">= 40", "*"]
    assert labels(age, "99") == ["99", ">= 60", ">= 40", "*"]


def test_widths_with_an_open_start_gather_what_lies_before() -> None:
    age = Intervals(widths=(10, 20), start=20, open_below=True).build(pl.Series([5, 25]))
    assert labels(age, "5") == ["5", "< 20", "< 20", "*"]
    assert refusal([5, 25], widths=(10,), start=20).details["count"] == 1


def test_decimals_do_not_suffer_from_floating_point() -> None:
    tenth = Intervals(widths=(0.1, 0.5)).build(pl.Series([0.3, 0.7, 0.1 + 0.2]))
    assert labels(tenth, "0.3") == ["0.3", "[0.3, 0.4[", "[0, 0.5[", "*"]
    assert labels(tenth, "0.7") == ["0.7", "[0.7, 0.8[", "[0.5, 1[", "*"]
    assert labels(tenth, "0.30000000000000004")[1] == "[0.3, 0.4["


def test_whole_numbers_get_ranges_and_fractions_get_brackets_by_default() -> None:
    assert Intervals(widths=(10,)).build(pl.Series([12.0])).labels[1] == ("10-19",)
    assert Intervals(widths=(10,)).build(pl.Series([12.5])).labels[1] == ("[10, 20[",)
    assert Intervals(widths=(2.5,)).build(pl.Series([12])).labels[1] == ("[10, 12.5[",)


def test_negative_ends_are_joined_by_a_word() -> None:
    cold = Intervals(widths=(5,), start=-10).build(pl.Series([-7, -1, 3]))
    assert cold.labels[1] == ("-10 to -6", "-5 to -1", "0-4")


def test_a_range_of_one_number_is_that_number() -> None:
    assert Intervals(bounds=((0, 1, 5),)).build(pl.Series([0, 3])).labels[1] == ("0", "1-4")


def test_leaves_come_in_numeric_order() -> None:
    assert Intervals(widths=(50,)).build(pl.Series([100, 9, 20])).leaves == ("9", "20", "100")


def test_texts_that_write_numbers_are_numbers() -> None:
    codes = Intervals(widths=(10,)).build(pl.Series(["7", "007", "1e1"]))
    assert codes.label("007", level=1) == "0-9"
    assert codes.label("1e1", level=1) == "10-19"


@pytest.mark.parametrize("strange", ["seven", "", "1_000", "٣", "nan", "inf", "1e9999", "--1"])
def test_what_is_not_a_plain_number_is_refused(strange: str) -> None:
    error = refusal(["1", strange], widths=(5,))
    assert (error.code, error.details["first"]) == ("CEL-H023", 2)


def test_fractions_cannot_have_range_labels() -> None:
    assert refusal([1.5, 2.0], widths=(5,), style="range").code == "CEL-H025"
    assert refusal([2], widths=(0.5,), style="range").code == "CEL-H022"


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "CEL-H022"),
        ({"widths": (5,), "bounds": ((1, 2),)}, "CEL-H022"),
        ({"widths": (5,), "open_above": True}, "CEL-H022"),
        ({"bounds": ((1, 2),), "start": 1}, "CEL-H022"),
        ({"widths": (5, 12)}, "CEL-H021"),
        ({"widths": (5, 5)}, "CEL-H021"),
        ({"widths": (0,)}, "CEL-I060"),
        ({"widths": (-5,)}, "CEL-I060"),
        ({"widths": (True,)}, "CEL-I060"),
        ({"widths": (float("nan"),)}, "CEL-I060"),
        ({"widths": (10**400,)}, "CEL-I060"),
        ({"widths": "5"}, "CEL-I060"),
        ({"widths": 5}, "CEL-I060"),
        ({"widths": (5,), "start": "0"}, "CEL-I060"),
        ({"widths": (5,), "open_below": "yes"}, "CEL-I060"),
        ({"widths": (5,), "style": "round"}, "CEL-I060"),
        ({"widths": (5,), "domain": (1,)}, "CEL-I060"),
        ({"widths": (5,), "domain": (1, 0)}, "CEL-I060"),
        ({"widths": (5,), "domain": (0.5, 9)}, "CEL-I060"),
        ({"widths": (5,), "domain": (0, 10**9)}, "CEL-I060"),
        ({"widths": (5,), "domain": (-1, 9)}, "CEL-H022"),
        ({"bounds": ((0, 5),), "domain": (0, 5)}, "CEL-H022"),
        ({"bounds": (5,)}, "CEL-I060"),
        ({"bounds": ((),)}, "CEL-H022"),
        ({"bounds": ((20,),)}, "CEL-H022"),
        ({"bounds": ((30, 20),)}, "CEL-H022"),
        ({"bounds": ((20, 30, 40), (20, 35, 40))}, "CEL-H021"),
        ({"bounds": ((20, 30, 40), (20, 30))}, "CEL-H021"),
        ({"bounds": ((20, 30, 40), (30, 40))}, "CEL-H021"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_on_creation(
    parameters: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        Intervals(**parameters)
    assert caught.value.code == code


@given(
    values=st.lists(st.decimals(-999, 999, places=2), min_size=1, max_size=20, unique=True),
    width=st.decimals("0.01", 50, places=2),
    factors=st.lists(st.integers(2, 5), max_size=2),
)
@settings(max_examples=80)
def test_every_value_lies_in_the_interval_that_its_label_says(
    values: list[Any], width: Any, factors: list[int]
) -> None:
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    rule = Intervals(widths=[float(w) for w in widths], start=-1000, style="bracket")
    hierarchy = rule.build(pl.Series([format(value, "f") for value in values]))
    for path in hierarchy.paths():
        for label, step in zip(path[1:-1], widths, strict=True):
            low, high = (Fraction(end) for end in label.strip("[").split(", "))
            assert low <= Fraction(path[0]) < high
            assert high - low == Fraction(step)
            assert (low + 1000) % Fraction(step) == 0


DECIMALS = st.builds(
    lambda sign, whole, fraction: f"{sign}{whole}{fraction}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**6),
    st.sampled_from(["", ".5", ".50", ".05", ".", ".125", ".0"]),
)


@given(
    texts=st.lists(DECIMALS, min_size=1, max_size=30, unique=True),
    rule=st.sampled_from(
        [
            Intervals(widths=(0.5, 5, 100), start=-(10**6)),
            Intervals(widths=(3, 9), start=7, open_below=True),
            Intervals(widths=(1, 1000), start=0),
            Intervals(bounds=((0, 2.5, 1000), (0, 1000)), open_below=True, open_above=True),
            Intervals(bounds=((-(10**6), 0, 10**6),)),
            Intervals(widths=(5,), style="range"),
        ]
    ),
)
@settings(max_examples=60)
def test_many_numbers_are_grouped_side_by_side_as_few_are_one_by_one(
    texts: list[str], rule: Intervals
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        found: list[object] = []
        for many in (1, 10**9):
            patch.setattr(intervals, "MANY", many)
            try:
                made = rule.build(pl.Series(texts))
                found.append((made.labels, made.nodes.tolist()))
            except InputError as error:
                found.append((error.code, error.details))
            found.append(propose(pl.Series(texts)))
    assert found[:2] == found[2:]


@pytest.mark.parametrize("strange", ["1e3", "twelve", "9" * 16, "0." + "1" * 16, ""])
def test_numbers_that_need_more_room_are_read_one_by_one(strange: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "MANY", 1)
        assert intervals.many_on_grid(["1", strange]) is None
        assert intervals.many_on_grid(["1" * 15, "0.1234"]) is None
        assert intervals.many_on_grid(["1" * 15, "0.5"]) is not None
