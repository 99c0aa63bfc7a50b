"""Trees written by hand: the groups of the census experiments, and refusals."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.tables.hierarchies import Tree

EDUCATION = {
    "Higher education": {
        "Undergraduate": ["Bachelors", "Some-college"],
        "Professional Education": ["Prof-school", "Assoc-acdm", "Assoc-voc"],
        "Graduate": ["Masters", "Doctorate"],
    },
    "Secondary education": {"High School": ["7th-8th", "9th", "10th", "11th", "12th", "HS-grad"]},
    "Primary education": {"Primary School": ["Preschool", "1st-4th", "5th-6th"]},
}
MARITAL = {
    "spouse present": ["Married-civ-spouse", "Married-AF-spouse"],
    "spouse not present": [
        "Divorced",
        "Never-married",
        "Separated",
        "Widowed",
        "Married-spouse-absent",
    ],
}
WORKCLASS = {
    "Non-Government": ["Private", "Self-emp-not-inc", "Self-emp-inc"],
    "Government": ["Federal-gov", "Local-gov", "State-gov"],
    "Unemployed": ["Without-pay", "Never-worked"],
}
OCCUPATION = {
    "Technical": ["Tech-support", "Craft-repair", "Prof-specialty", "Machine-op-inspct"],
    "Nontechnical": ["Sales", "Exec-managerial", "Handlers-cleaners"],
    "Other": [
        "Other-service",
        "Adm-clerical",
        "Farming-fishing",
        "Transport-moving",
        "Priv-house-serv",
        "Protective-serv",
        "Armed-Forces",
    ],
}
NOBODY = pl.Series([], dtype=pl.String)


def test_the_education_of_the_census_has_sixteen_leaves_and_four_levels() -> None:
    education = Tree(EDUCATION).build(pl.Series(["Masters"]))
    assert (len(education.leaves), education.levels) == (16, 4)
    assert [education.label("Masters", level=level) for level in range(4)] == [
        "Masters",
        "Graduate",
        "Higher education",
        "*",
    ]


@pytest.mark.parametrize(
    ("groups", "leaves", "levels"),
    [
        (["Male", "Female"], 2, 2),
        (["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"], 5, 2),
        (MARITAL, 7, 3),
        (WORKCLASS, 8, 3),
        (OCCUPATION, 14, 3),
        (EDUCATION, 16, 4),
    ],
)
def test_the_trees_of_the_census_have_their_leaves_and_levels(
    groups: Any, leaves: int, levels: int
) -> None:
    tree = Tree(groups).build(NOBODY)
    assert (len(tree.leaves), tree.levels) == (leaves, levels)


def test_a_shallow_branch_repeats_its_lowest_group() -> None:
    tree = Tree({"a": ["1"], "b": {"c": {"d": ["2"]}}}).build(NOBODY)
    assert tree.paths() == [("1", "a", "a", "a", "*"), ("2", "d", "c", "b", "*")]


def test_the_root_may_have_another_name() -> None:
    assert Tree(["male", "female"], root="not reported").build(NOBODY).labels[1] == (
        "not reported",
    )


def test_a_tree_does_not_change_when_its_source_does() -> None:
    source = {"group": ["a"]}
    tree = Tree(source)
    source["group"].append("b")
    assert tree.build(NOBODY).leaves == ("a",)


def test_equal_trees_are_equal_and_can_be_kept_in_a_set() -> None:
    assert len({Tree(EDUCATION), Tree(dict(EDUCATION))}) == 1


def nested(depth: int) -> Any:
    groups: Any = ["leaf"]
    for _ in range(depth):
        groups = {"group": groups}
    return groups


@pytest.mark.parametrize(
    ("groups", "code"),
    [
        ([], "CEL-I060"),
        ({}, "CEL-I060"),
        ({"a": []}, "CEL-I060"),
        ({"a": "leaf"}, "CEL-I060"),
        ({"a": 1}, "CEL-I060"),
        ({1: ["leaf"]}, "CEL-I060"),
        ([1, 2], "CEL-I060"),
        ("leaf", "CEL-I060"),
        (None, "CEL-I060"),
        (nested(5000), "CEL-I060"),
        ({"a": ["x"], "b": ["x"]}, "CEL-H003"),
        ({"a": {"other": ["x"]}, "b": {"other": ["y"]}}, "CEL-H004"),
    ],
)
def test_what_is_no_tree_is_refused_on_creation(groups: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        Tree(groups)
    assert caught.value.code == code


def test_a_root_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError):
        Tree(["a"], root=0)  # type: ignore[arg-type]
