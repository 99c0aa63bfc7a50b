"""All attacks that the inputs allow, on small releases and on the real rows."""

from __future__ import annotations

import json

import polars as pl
import pytest

from celosia import datasets
from celosia.assess.attacks import attack_release, homogeneity, linkage
from celosia.assess.meaning import Meaning
from celosia.core.errors import InputError
from celosia.datasets import weak_releases
from celosia.frames import as_text

LEVELS = (0, 3, 0, 0, 2, 1, 0, 0)
"""The optimum of the real rows for k = 5."""


def test_what_is_known_decides_which_attacks_run() -> None:
    table = weak_releases.similar_problems()
    found = attack_release(
        table,
        ["age", "postal"],
        ["problem", "salary"],
        categories={"problem": weak_releases.problem_categories()},
        widths={"salary": 2},
        external=table.select("postal", name=pl.lit("somebody")),
        earlier=table,
    )
    own = ["homogeneity", "background knowledge, worst case", "skewness", "similarity"]
    assert [attack.name for attack in found] == [
        *own,
        *own,
        "linkage",
        "attribute linkage",
        "attribute linkage",
        "tuple order",
        "complementary release",
    ]
    assert [attack.column for attack in found[:8]] == ["problem"] * 4 + ["salary"] * 4
    assert json.dumps([attack.as_dict() for attack in found])


def test_an_earlier_release_of_other_length_is_joined_on_what_it_shares_only() -> None:
    first, second = weak_releases.complementary_releases()
    found = attack_release(
        first,
        ["ethnic", "birth", "sex", "postal"],
        "problem",
        earlier=second.head(11),
        meanings=weak_releases.release_hierarchies(),
    )
    assert [attack.name for attack in found][3:] == ["complementary release"]


def test_a_wrong_name_is_refused_even_if_no_attack_would_run() -> None:
    with pytest.raises(InputError) as caught:
        attack_release(weak_releases.one_problem(), ["agee"])
    assert caught.value.code == "CEL-A050"


@pytest.fixture(scope="module")
def optimum(real: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Meaning]]:
    """The real rows at the levels of the k = 5 optimum, classes below 5 suppressed."""
    columns = datasets.census_schema().quasi_identifiers
    table, meanings = real, dict[str, Meaning]()
    for column, level in zip(columns, LEVELS, strict=True):
        text = as_text(real[column.name])
        hierarchy = column.hierarchy_for(real[column.name].unique())
        labels = {value: hierarchy.label(value, level=level) for value in text.unique()}
        table = table.with_columns(text.replace_strict(labels).alias(column.name))
        meanings[column.name] = hierarchy
    names = list(meanings)
    small = pl.len().over(names) < 5
    return table.with_columns(
        pl.when(small).then(pl.lit("*")).otherwise(pl.col(name)).alias(name) for name in names
    ), meanings


def test_three_classes_of_the_real_optimum_have_one_occupation(
    optimum: tuple[pl.DataFrame, dict[str, Meaning]],
) -> None:
    release, meanings = optimum
    found = homogeneity(release, list(meanings), "occupation")
    assert (found.exposed_groups, found.exposed_people) == (3, 16)
    assert (found.people, found.facts["classes"], found.facts["suppressed"]) == (27978, 518, 2184)


def test_linking_the_real_rows_with_their_release_finds_the_classes_again(
    optimum: tuple[pl.DataFrame, dict[str, Meaning]], real: pl.DataFrame
) -> None:
    release, meanings = optimum
    identity, occupation = linkage(
        release, real, on=list(meanings), learns="occupation", meanings=meanings
    )
    assert (identity.people, identity.exposed_people) == (30162, 0)
    assert identity.facts["fewest_candidates"] == 5
    assert occupation.exposed_people == 16
    # Each of the 518 classes gives 1 in all, and so do the suppressed among themselves.
    assert identity.average == pytest.approx(519 / 30162)


def test_linking_the_raw_real_rows_finds_everybody_who_is_unique(real: pl.DataFrame) -> None:
    names = [column.name for column in datasets.census_schema().quasi_identifiers]
    (identity,) = linkage(real, real, on=names)
    assert identity.exposed_people == identity.facts["unique_on_both_sides"] == 8841
    assert identity.average == pytest.approx(12458 / 30162)
