"""The schema file covers the census tables, leaf by leaf."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import polars as pl
import pytest

from celosia.datasets.census import COLUMNS

TOML = files("celosia.datasets").joinpath("census.toml").read_text("utf-8")


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    return dict(tomllib.loads(TOML)["columns"])


def leaves(tree: list[str] | dict[str, Any]) -> list[str]:
    if isinstance(tree, list):
        return tree
    return [leaf for branch in tree.values() for leaf in leaves(branch)]


def test_columns_are_those_of_the_tables_in_their_order(columns: dict[str, Any]) -> None:
    assert tuple(columns) == COLUMNS


def test_only_occupation_is_sensitive_and_all_others_are_quasi_identifiers(
    columns: dict[str, Any],
) -> None:
    roles = {name: column["role"] for name, column in columns.items()}
    assert roles.pop("occupation") == "sensitive"
    assert set(roles.values()) == {"quasi-identifier"}


def test_hierarchies_have_the_published_number_of_leaves(columns: dict[str, Any]) -> None:
    numbers = {}
    for name, column in columns.items():
        hierarchy = column["hierarchy"]
        if hierarchy["method"] == "intervals":
            low, high = hierarchy["domain"]
            numbers[name] = high - low + 1
        else:
            found = leaves(hierarchy["tree"])
            assert len(found) == len(set(found)), name
            numbers[name] = len(found)
    order = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    order += ["salary-class", "occupation"]
    assert [numbers[name] for name in order] == [2, 100, 5, 7, 16, 41, 8, 2, 14]


def test_every_value_of_the_generated_table_is_a_leaf(
    columns: dict[str, Any], people: pl.DataFrame
) -> None:
    for name, column in columns.items():
        if name != "age":
            assert set(people[name].unique()) <= set(leaves(column["hierarchy"]["tree"])), name


def test_every_value_of_the_real_table_is_a_leaf(
    columns: dict[str, Any], real: pl.DataFrame
) -> None:
    for name, column in columns.items():
        if name != "age":
            missing = set(leaves(column["hierarchy"]["tree"])) - set(real[name].unique())
            assert missing == ({"Never-worked"} if name == "workclass" else set()), name
