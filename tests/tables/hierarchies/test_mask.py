"""Masks: the postal codes of the spec (check 11), unequal lengths, and refusals."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.tables.hierarchies import Mask


def test_a_postal_code_is_masked_from_the_right_one_digit_more_at_each_level() -> None:
    assert Mask().build(pl.Series(["47677"])).paths() == [
        ("47677", "4767*", "476**", "47***", "4****", "*****")
    ]


def test_the_postal_codes_of_the_patients_have_six_levels() -> None:
    codes = ["47677", "47602", "47678", "47905", "47909", "47906", "47605", "47673", "47607"]
    postal = Mask().build(pl.Series(codes))
    assert postal.levels == 6
    assert postal.labels[2] == ("476**", "479**")


def test_numbers_are_masked_by_their_digits() -> None:
    assert Mask(levels=(2,)).build(pl.Series([47677])).paths() == [("47677", "476**", "*****")]


def test_a_mask_from_the_left_keeps_the_end() -> None:
    assert Mask(direction="left", character="#").build(pl.Series(["abc"])).paths() == [
        ("abc", "#bc", "##c", "###")
    ]


def test_shorter_values_are_filled_on_the_masked_side_and_share_one_root() -> None:
    assert Mask().build(pl.Series(["4767", "47"])).paths() == [
        ("47", "47**", "47**", "4***", "****"),
        ("4767", "476*", "47**", "4***", "****"),
    ]
    assert Mask(direction="left").build(pl.Series(["4767", "67"])).paths() == [
        ("4767", "*767", "**67", "***7", "****"),
        ("67", "**67", "**67", "***7", "****"),
    ]


def test_levels_that_would_hide_everything_fall_together_with_the_root() -> None:
    assert Mask(levels=(1, 2, 5)).build(pl.Series(["ab"])).paths() == [("ab", "a*", "**")]


def test_the_shortest_values_still_have_a_root() -> None:
    assert Mask().build(pl.Series(["", "x"])).paths() == [("", "*"), ("x", "*")]
    assert Mask().build(pl.Series([""])).paths() == [("", "*")]


def test_long_texts_need_their_levels_to_be_chosen() -> None:
    essay = pl.Series(["word " * 40])
    with pytest.raises(InputError) as caught:
        Mask().build(essay)
    assert caught.value.code == "CEL-H031"
    assert "word" not in str(caught.value)
    assert Mask(levels=(100,)).build(essay).levels == 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"direction": "up"},
        {"direction": 1},
        {"character": "**"},
        {"character": ""},
        {"character": 0},
        {"levels": (2, 1)},
        {"levels": (0, 1)},
        {"levels": ("1",)},
        {"levels": 3},
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_on_creation(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Mask(**parameters)
    assert caught.value.code == "CEL-I060"
