"""The generated census is stable, and behaves like the extract it imitates."""

from __future__ import annotations

import hashlib
from itertools import combinations
from math import sqrt

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from celosia import datasets
from celosia.core.errors import InputError
from celosia.datasets.census import COLUMNS

QUASI_IDENTIFIERS = [name for name in COLUMNS if name != "occupation"]
EXTRACT_ROWS = 30_162


def test_columns_are_the_nine_of_the_extract_with_whole_ages(people: pl.DataFrame) -> None:
    texts = dict.fromkeys(COLUMNS, pl.String)
    assert people.schema == pl.Schema(texts | {"age": pl.Int64})
    assert people.shape == (EXTRACT_ROWS, 9)
    assert people.null_count().sum_horizontal().item() == 0


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    assert_frame_equal(datasets.census(500, seed=7), datasets.census(500, seed=7))
    assert not datasets.census(500, seed=7).equals(datasets.census(500, seed=8))


def test_the_default_table_is_the_same_on_every_machine(people: pl.DataFrame) -> None:
    digest = hashlib.sha256(people.write_csv().encode()).hexdigest()
    assert digest == "c9ab54b25b3c37b52a7c380bc5bc3dfda2e80830215f43213429cbe8ff181a2b"


@pytest.mark.parametrize("rows", [0, 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1])
def test_any_number_of_rows_is_given_also_around_the_size_of_a_chunk(rows: int) -> None:
    assert datasets.census(rows).shape == (rows, 9)


@pytest.mark.parametrize("rows", [-1, True, 10.0, "10", None])
def test_a_number_of_rows_that_is_no_count_is_refused(rows: object) -> None:
    with pytest.raises(InputError, match="whole number") as caught:
        datasets.census(rows)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-D001"


@pytest.mark.parametrize("seed", [-1, False, 1.5, None])
def test_a_seed_that_is_no_whole_number_is_refused(seed: object) -> None:
    with pytest.raises(InputError, match="whole number") as caught:
        datasets.census(10, seed=seed)  # type: ignore[arg-type]
    assert caught.value.code == "CEL-D002"


@pytest.mark.statistical
def test_value_counts_match_the_published_ones(
    people: pl.DataFrame, published: dict[str, dict[str, int]]
) -> None:
    for column, counts in published.items():
        for value, count in counts.items():
            # Six sigma of a binomial, and half a person for what rounding hides.
            tolerance = 6 * sqrt(count * (1 - count / EXTRACT_ROWS)) + 0.5
            assert abs(_count(people, column, value) - count) <= tolerance, (column, value)


@pytest.mark.statistical
def test_ages_match_the_published_summary(people: pl.DataFrame) -> None:
    age = people["age"]
    assert (age.min(), age.max()) == (17, 90)
    # The standard deviation of age is 13.13, so six sigma of the mean are 0.45 years.
    assert age.mean() == pytest.approx(38.4379, abs=6 * 13.2 / sqrt(EXTRACT_ROWS))
    # Published: 36 is the mode with 852.
    assert (age == 36).sum() == pytest.approx(852, abs=6 * sqrt(852))


@pytest.mark.statistical
def test_rare_values_appear_in_a_large_table() -> None:
    rows = 1_000_000
    large = datasets.census(rows, seed=5)
    rare = [
        ("native-country", "Holand-Netherlands", 1),
        ("occupation", "Armed-Forces", 9),
        ("workclass", "Without-pay", 14),
        ("marital-status", "Married-AF-spouse", 21),
    ]
    for column, value, count in rare:
        expected = rows * count / EXTRACT_ROWS
        # Six sigma of a Poisson count, and 5 % for weights that are rounded.
        tolerance = 6 * sqrt(expected) + 0.05 * expected
        assert abs(_count(large, column, value) - expected) <= tolerance, value
    assert large["native-country"].n_unique() == 41


def test_as_many_people_are_distinct_and_unique_as_in_the_extract(people: pl.DataFrame) -> None:
    sizes = people.group_by(QUASI_IDENTIFIERS).len()["len"]
    assert sizes.len() == pytest.approx(12_458, rel=0.05)
    assert (sizes == 1).sum() == pytest.approx(8_841, rel=0.05)
    assert sizes.filter(sizes < 10).sum() == pytest.approx(0.63325 * EXTRACT_ROWS, rel=0.05)


def test_nobody_has_a_degree_before_its_age(people: pl.DataFrame) -> None:
    higher = pl.col("education").is_in(["Masters", "Prof-school", "Doctorate"])
    assert people.filter(higher, pl.col("age") < 20).is_empty()
    minors = people.filter(pl.col("age") < 18)
    assert minors.filter(higher | (pl.col("education") == "Bachelors")).is_empty()
    assert minors.filter(pl.col("salary-class") == ">50K").height < 0.02 * minors.height


def test_marital_status_fits_age_and_sex(people: pl.DataFrame) -> None:
    by_status = dict(people.group_by("marital-status").agg(pl.col("age").median()).iter_rows())
    assert by_status["Never-married"] < 30 < by_status["Married-civ-spouse"] < 50
    assert by_status["Widowed"] > 55
    married = people.filter(pl.col("marital-status") == "Married-civ-spouse")
    assert married.filter(pl.col("age") < 18).height < 0.001 * married.height
    husbands = married.filter(pl.col("sex") == "Male").height
    # Published: 12,585 of 14,065; six sigma of a share are 0.016.
    assert husbands / married.height == pytest.approx(12_585 / 14_065, abs=0.016)


def test_soldiers_work_for_the_federal_government() -> None:
    soldiers = datasets.census(200_000).filter(pl.col("occupation") == "Armed-Forces")
    assert soldiers.height > 0
    assert soldiers["workclass"].eq("Federal-gov").all()


def test_any_two_columns_tell_as_much_about_each_other_as_in_the_real_rows(
    people: pl.DataFrame, real: pl.DataFrame
) -> None:
    for pair in combinations(COLUMNS, 2):
        gap = _mutual_information(people, *pair) - _mutual_information(real, *pair)
        # Measured: at most 0.015 bits, between race and country, whose small cells are smoothed.
        assert abs(gap) < 0.02, pair


def test_the_generated_people_are_not_the_real_ones(
    people: pl.DataFrame, real: pl.DataFrame
) -> None:
    # Two draws of one population share common people; a copy would share the unique ones too.
    unique = real.filter(real.is_unique())
    assert unique.join(people, on=list(COLUMNS), how="semi").height < 0.2 * unique.height


def _count(table: pl.DataFrame, column: str, value: str) -> int:
    return table.filter(pl.col(column) == value).height


def _mutual_information(table: pl.DataFrame, first: str, second: str) -> float:
    return _entropy(table, first) + _entropy(table, second) - _entropy(table, first, second)


def _entropy(table: pl.DataFrame, *columns: str) -> float:
    return table.group_by(columns).len()["len"].entropy(2) or 0.0
