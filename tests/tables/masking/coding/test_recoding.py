"""Recoding: labels that contain their values, by intervals, groups and levels."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.coding import Recoding


def recoded(values: list[Any], **parameters: Any) -> list[Any]:
    frame = pl.DataFrame({"x": values})
    masked = Recoding(**parameters).apply(frame, ["x"], rng=Seeded(1)).frame["x"]
    assert masked.dtype == pl.String
    return masked.to_list()


def contains(label: str, value: float) -> bool:
    """Whether a label says that the value is in it."""
    if label.startswith("<"):
        return value < float(label[1:])
    if label.startswith("≥"):
        return value >= float(label[1:])
    low, high = label.removeprefix("[").removesuffix(")").split(",")
    return float(low) <= value < float(high)


def test_the_printed_ranges() -> None:
    low, high = "[0,10)", "[10,20)"
    assert recoded([3, 11, 7, 19], breaks=[0, 10, 20]) == [low, high, low, high]


def test_the_printed_ages_of_life_as_half_open_intervals() -> None:
    labels = ["minor", "young", "adult", "retired"]
    found = recoded(
        [0.0, 17.0, 18.0, 34.9, 35.0, 65.0, None], breaks=[0, 18, 35, 65, 99], labels=labels
    )
    assert found == ["minor", "minor", "young", "young", "adult", "retired", None]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6, unique=True),
)
def test_a_label_contains_its_value_and_no_other_label_does(
    values: list[float], breaks: list[float]
) -> None:
    breaks = sorted(each + 0.0 for each in breaks)
    labels = recoded(values, breaks=breaks)
    every = set(labels)
    for value, label in zip(values, labels, strict=True):
        assert [other for other in every if contains(other, value)] == [label]


def test_the_hierarchy_of_postcodes() -> None:
    provinces = {"08***": ["08500", "08242"], "17***": ["17600"]}
    tree = {"method": "tree", "tree": provinces}
    codes = ["08500", "17600", None]
    assert recoded(codes, hierarchy=tree, level=0) == codes
    assert recoded(codes, hierarchy=tree, level=1) == ["08***", "17***", None]
    assert recoded(codes, hierarchy=tree, level=2) == ["*", "*", None]
    mask = {"method": "mask", "levels": [3]}
    assert recoded(codes, hierarchy=mask) == ["08***", "17***", None]


def test_numbers_go_up_a_hierarchy_of_intervals() -> None:
    rule = {"method": "intervals", "widths": [10, 20]}
    assert recoded([3, 11, 19], hierarchy=rule) == ["0-9", "10-19", "10-19"]
    assert recoded([3.0, 11.0, 39.0], hierarchy=rule, level=2) == ["0-19", "0-19", "20-39"]


def test_a_hierarchy_file_can_be_named(tmp_path: Any) -> None:
    path = tmp_path / "sex.csv"
    path.write_text("m;person\nf;person\n", "utf-8")
    assert recoded(["m", "f"], hierarchy={"file": str(path)}) == ["person", "person"]


def test_categories_are_grouped_by_a_mapping() -> None:
    jobs = {"Back-End developer": "Software developer", "Front-End developer": "Software developer"}
    values = ["Back-End developer", "Front-End developer", None]
    assert recoded(values, mapping=jobs) == ["Software developer", "Software developer", None]
    assert recoded([1, 2, 3], mapping={"1": "one"}, other="many") == ["one", "many", "many"]


def test_facts_count_values_and_labels() -> None:
    frame = pl.DataFrame({"x": [3, 11, 7, 19, None], "y": [1, 2, 3, 4, 5]})
    masked = Recoding(breaks=(0, 10, 20)).apply(frame, ["x"], rng=Seeded(1))
    assert masked.facts == {"x": {"values": 4, "labels": 2}}
    assert masked.frame["y"].equals(frame["y"])


def test_empty_columns_are_recoded_to_nothing() -> None:
    frame = pl.DataFrame({"x": [None, None]}, schema={"x": pl.String})
    rule = {"method": "mask", "levels": [3]}
    masked = Recoding(hierarchy=rule).apply(frame, ["x"], rng=Seeded(1)).frame
    assert masked["x"].to_list() == [None, None]


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "CEL-V201"),
        ({"breaks": [1, 2], "mapping": {"a": "b"}}, "CEL-V201"),
        ({"breaks": []}, "CEL-I060"),
        ({"breaks": [2, 1]}, "CEL-I060"),
        ({"breaks": [1, 1]}, "CEL-I060"),
        ({"breaks": "12"}, "CEL-I060"),
        ({"breaks": [1, float("inf")]}, "CEL-I060"),
        ({"breaks": [1, 2], "labels": ["a", "b"]}, "CEL-V201"),
        ({"breaks": [1, 2], "labels": ["a", "a", "b"]}, "CEL-I060"),
        ({"breaks": [1, 2], "other": "c"}, "CEL-V201"),
        ({"breaks": [1, 2], "level": 2}, "CEL-V201"),
        ({"mapping": {"a": "b"}, "labels": ["c"]}, "CEL-V201"),
        ({"mapping": {}}, "CEL-I060"),
        ({"mapping": {"a": 1}}, "CEL-I060"),
        ({"mapping": {"a": "b"}, "other": 3}, "CEL-I060"),
        ({"hierarchy": "mask"}, "CEL-I060"),
        ({"hierarchy": {"method": "maks"}}, "CEL-I061"),
        ({"hierarchy": {"method": "mask"}, "level": -1}, "CEL-I060"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        Recoding(**parameters)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("values", "parameters", "code"),
    [
        ([1, 2, 777], {"breaks": [0, 5], "labels": ["few"]}, "CEL-V270"),
        (["a", "777"], {"mapping": {"a": "b"}}, "CEL-V270"),
        (["a", "777"], {"hierarchy": {"method": "tree", "tree": ["a"]}}, "CEL-V270"),
        (["a", "777"], {"hierarchy": {"method": "mask"}, "level": 4}, "CEL-V271"),
        (["a", "777"], {"breaks": [0, 5]}, "CEL-V004"),
    ],
)
def test_values_without_a_label_are_counted_and_not_told(
    values: Any, parameters: Any, code: str
) -> None:
    with pytest.raises(InputError) as caught:
        recoded(values, **parameters)
    assert caught.value.code == code
    assert "777" not in str(caught.value)
