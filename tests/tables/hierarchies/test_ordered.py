"""Groups of neighbours in an order."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.tables.hierarchies import Ordered


def test_the_values_of_an_order_are_leaves_whether_seen_or_not() -> None:
    rule = Ordered(order=("low", "medium", "high"), sizes=(2,))
    assert rule.build(pl.Series(["high"])).paths() == [
        ("low", "low - medium", "*"),
        ("medium", "low - medium", "*"),
        ("high", "high", "*"),
    ]


def test_the_last_group_of_each_level_may_be_shorter() -> None:
    seven = Ordered(sizes=(2, 4)).build(pl.Series([7, 1, 2, 3, 4, 5, 6]))
    assert seven.labels[1] == ("1 - 2", "3 - 4", "5 - 6", "7")
    assert seven.labels[2] == ("1 - 4", "5 - 7")


def test_numbers_are_sorted_by_size_and_texts_by_their_numbers() -> None:
    assert Ordered().build(pl.Series([10, 9, -2])).leaves == ("-2", "9", "10")
    assert Ordered().build(pl.Series(["b10", "b9", "a", "B1"])).leaves == ("a", "B1", "b9", "b10")


def test_a_number_of_thousands_of_digits_is_sorted_like_any_other() -> None:
    long = "9" * 5000
    assert Ordered().build(pl.Series([f"x{long}", "x10"])).leaves == ("x10", f"x{long}")


def test_without_sizes_there_is_only_the_root() -> None:
    assert Ordered().build(pl.Series(["a", "b"])).paths() == [("a", "*"), ("b", "*")]


def test_groups_whose_labels_would_be_alike_stay_apart() -> None:
    rule = Ordered(order=("a", "b - c", "a - b", "c"), sizes=(2,))
    assert len(rule.build(pl.Series(["a"])).labels[1]) == 2


def test_values_that_the_order_lacks_are_counted_and_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        Ordered(order=("low", "high")).build(pl.Series(["low", "secret", "high", "hidden"]))
    assert caught.value.code == "CEL-H030"
    assert caught.value.details == {"count": 2, "first": 2}
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"sizes": (2, 5)}, "CEL-H021"),
        ({"sizes": (4, 2)}, "CEL-I060"),
        ({"sizes": (1,)}, "CEL-I060"),
        ({"sizes": (2.0,)}, "CEL-I060"),
        ({"sizes": 2}, "CEL-I060"),
        ({"order": "low"}, "CEL-I060"),
        ({"order": ()}, "CEL-I060"),
        ({"order": ("a", "a")}, "CEL-I060"),
        ({"order": (1, 2)}, "CEL-I060"),
        ({"order": (["a"], "b")}, "CEL-I060"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_on_creation(
    parameters: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        Ordered(**parameters)
    assert caught.value.code == code
