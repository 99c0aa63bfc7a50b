"""The catalogue tells the truth, and the worked tables are those of the literature."""

from __future__ import annotations

import polars as pl
import pytest

from celosia import datasets
from celosia.datasets import Dataset, examples

SMALL = [dataset for dataset in datasets.catalogue() if dataset.name != "adult"]


@pytest.mark.parametrize("dataset", SMALL, ids=lambda dataset: dataset.name)
def test_a_data_set_has_the_rows_and_columns_it_says(dataset: Dataset) -> None:
    table = datasets.load(dataset.name)
    assert table.height == dataset.rows
    assert tuple(table.columns) == dataset.columns


@pytest.mark.parametrize("dataset", SMALL, ids=lambda dataset: dataset.name)
def test_the_printed_way_to_load_works(dataset: Dataset) -> None:
    table = eval(dataset.load, {"datasets": datasets})
    assert table.equals(datasets.load(dataset.name))


def test_the_real_rows_are_described_as_they_are(real: pl.DataFrame) -> None:
    (entry,) = [dataset for dataset in datasets.catalogue() if dataset.name == "adult"]
    assert (entry.rows, entry.columns) == (real.height, tuple(real.columns))


def test_names_are_unique_and_sources_are_given() -> None:
    entries = datasets.catalogue()
    assert len({entry.name for entry in entries}) == len(entries)
    assert all(entry.source and entry.title for entry in entries)


def test_every_pair_of_group_and_code_appears_once() -> None:
    table = examples.ethnic_postal()
    assert table.n_unique() == 12
    assert sorted(table.group_by("ethnic").len()["len"]) == [4, 4, 4]
    assert sorted(table.group_by("postal").len()["len"]) == [3, 3, 3, 3]


def test_month_of_birth_pairs_everybody_but_the_last_person() -> None:
    months = examples.five_attributes().with_columns(pl.col("birth").str.tail(5))
    assert sorted(months.group_by(pl.all()).len()["len"]) == [1, 2, 2, 2, 2, 2]
    assert months.tail(1).row(0) == ("atacameño", "06/60", "female", "05356", "widowed")


@pytest.mark.parametrize(
    ("ethnic", "digits", "alone"),
    [(0, 5, 4), (1, 5, 1), (0, 4, 2), (0, 3, 1), (1, 4, 0), (1, 3, 0)],
)
def test_suppression_needed_for_pairs_is_the_published_one(
    ethnic: int, digits: int, alone: int
) -> None:
    group = pl.lit("person") if ethnic else pl.col("ethnic")
    table = examples.suppression_example().select(
        group.alias("ethnic"), pl.col("postal").str.head(digits)
    )
    assert table.is_unique().sum() == alone


def test_three_anonymous_patients_include_a_class_of_one_disease() -> None:
    # Ages 20 to 29, 30 to 39, and 40 to 59 together.
    decade = (pl.col("age") // 10).clip(upper_bound=4)
    classes = (
        examples.patients()
        .group_by(pl.col("zip").str.head(3), decade)
        .agg(pl.len(), pl.col("disease").n_unique())
    )
    assert classes["len"].to_list() == [3, 3, 3]
    assert sorted(classes["disease"]) == [1, 2, 3]
