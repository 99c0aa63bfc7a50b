"""Minimum, maximum, means and mode, exactly and by the published whole-number rules."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia import InputError
from celosia.assess.utility import aggregates, limits_of
from celosia.assess.utility.aggregates import Aggregates, interval_aggregates

EDUCATION = {
    **dict.fromkeys(["Bachelors", "Some-college", "Prof-school", "Assoc-acdm"], "Higher"),
    **dict.fromkeys(["Assoc-voc", "Masters", "Doctorate"], "Higher"),
    **dict.fromkeys(["7th-8th", "9th", "10th", "11th", "12th", "HS-grad"], "Secondary"),
    **dict.fromkeys(["Preschool", "1st-4th", "5th-6th"], "Primary"),
}
SOUTH_AMERICA = ["Ecuador", "Columbia", "Nicaragua", "Trinadad&Tobago", "Peru"]
EUROPE = ["England", "Germany", "Greece", "Italy", "Poland", "Portugal", "Ireland", "France"]
EUROPE += ["Hungary", "Scotland", "Yugoslavia", "Holand-Netherlands"]
ASIA = ["Cambodia", "India", "Japan", "China", "Iran", "Philippines", "Vietnam", "Laos"]
ASIA += ["Taiwan", "Thailand", "Hong"]
CONTINENT = {
    **dict.fromkeys(SOUTH_AMERICA, "South America"),
    **dict.fromkeys(EUROPE, "Europe"),
    **dict.fromkeys(ASIA, "Asia"),
    "South": "Africa",
}


def published_ages(real: pl.DataFrame, k: int) -> pl.Series:
    """The released ages at levels 0,3,0,0,2,1,0,0, with the off-by-one labels as published."""
    low = (pl.col("age") - 1) // 20 * 20
    recoded = real.with_columns(
        age=pl.format("{}-{}", low, low + 19),
        education=pl.col("education").replace_strict(EDUCATION),
        **{"native-country": pl.col("native-country").replace_strict(CONTINENT, default="North")},
    )
    names = [name for name in real.columns if name != "occupation"]
    small = pl.len().over(names) < k
    return recoded.select(pl.when(small).then(pl.lit("*")).otherwise("age").alias("age"))["age"]


@pytest.mark.parametrize(("k", "highest", "mode_count"), [(5, 99, 14931), (8, 79, 14648)])
def test_the_published_figures_of_the_real_rows_come_out(
    real: pl.DataFrame, k: int, highest: int, mode_count: int
) -> None:
    found = aggregates(published_ages(real, k), published=True)
    assert found.mean_midpoint == 36
    assert found.mean_lower == 27
    assert found.maximum == highest
    assert found.minimum == 0
    assert (found.mode, found.mode_count) == ("20-39", mode_count)


def test_two_thousand_one_hundred_and_eighty_four_real_records_are_suppressed(
    real: pl.DataFrame,
) -> None:
    found = aggregates(published_ages(real, 5))
    assert found.cells - found.numbers == 2184


def test_the_raw_ages_keep_their_sum(real: pl.DataFrame) -> None:
    found = aggregates(real["age"])
    assert found.mean_midpoint == found.mean_lower == Fraction(1159364, 30162)
    assert found.minimum == 17
    assert found.maximum == 90


def test_a_column_of_stars_has_a_mode_and_nothing_else() -> None:
    assert aggregates(["*", "*"]).minimum is None
    found = aggregates(["*", "*"], published=True)
    assert {found.minimum, found.maximum, found.mean_lower, found.mean_midpoint} == {Fraction(0)}
    assert (found.mode, found.mode_count) == ("*", 2)


@pytest.mark.parametrize(
    ("label", "limits"),
    [
        ("21-40", (21, 40)),
        ("20 - 39", (20, 39)),
        ("[20, 30[", (20, 30)),
        ("[21, 35]", (21, 35)),
        ("(0, 5]", (0, 5)),
        ("39", (39, 39)),
        ("-7", (-7, -7)),
        ("-20--11", (-20, -11)),
        ("-5-4", (-5, 4)),
        ("-5 to -1", (-5, -1)),
        ("[-10, 0[", (-10, 0)),
        ("1.5-2.5", (Fraction(3, 2), Fraction(5, 2))),
        ("< 20", (20, 20)),
        (">= 60", (60, 60)),
        ("40-21", None),
        ("young", None),
        ("", None),
        ("1994-05-01", None),
    ],
)
def test_labels_are_read_by_the_limits_they_name(
    label: str, limits: tuple[int | Fraction, int | Fraction] | None
) -> None:
    assert limits_of(label) == limits


cells = st.one_of(
    st.just("*"),
    st.tuples(st.integers(-50, 50), st.integers(0, 30)).map(lambda p: f"{p[0]} to {p[0] + p[1]}"),
)


@given(st.lists(cells, min_size=1, max_size=30), st.booleans())
def test_every_figure_agrees_with_a_plain_loop(labels: list[str], published: bool) -> None:
    pairs = [tuple(map(int, label.split(" to "))) for label in labels if label != "*"]
    found = aggregates(labels, published=published)
    assert found.numbers == len(pairs)
    assert (
        found.mode_count
        == max(labels.count(label) for label in labels)
        == labels.count(str(found.mode))
    )
    if not pairs:
        return
    assert found.minimum == min(low for low, _ in pairs)
    assert found.maximum == max(high for _, high in pairs)
    if published:
        assert found.mean_lower == sum(low for low, _ in pairs) // len(pairs)
        assert found.mean_midpoint == sum((low + high) // 2 for low, high in pairs) // len(pairs)
    else:
        assert found.mean_lower == Fraction(sum(low for low, _ in pairs), len(pairs))
        assert found.mean_midpoint == Fraction(
            sum(low + high for low, high in pairs), 2 * len(pairs)
        )


def test_empty_cells_count_as_cells_only() -> None:
    found = aggregates(pl.Series("age", [None, None, 7]))
    assert (found.cells, found.numbers, found.mode, found.mode_count) == (3, 1, "7", 1)
    assert aggregates(pl.Series("age", [None], dtype=pl.Int64)).mode is None


def test_labels_without_numbers_are_refused_without_being_named() -> None:
    with pytest.raises(InputError, match="1 label names no number") as caught:
        aggregates(pl.Series("age", ["secret-word", "21-40"]))
    assert caught.value.code == "CEL-A079"
    assert "secret-word" not in str(caught.value)


def test_the_figures_are_plain_json() -> None:
    found = json.loads(json.dumps(aggregates(["1-2", "2", "*"]).as_dict()))
    assert found["mean_lower"] == 1.5
    assert found["minimum"] == 1


def test_released_intervals_are_counted_by_the_records_that_cells_stand_for() -> None:
    labels = pl.Series("age", ["20-39", "40-59", "*", None, "60-79"])
    counts = np.array([3, 1, 2, 5, 0])
    found = interval_aggregates(labels, counts)
    assert found is not None
    one_by_one = aggregates(pl.Series(np.repeat(labels.to_numpy(), counts)))
    assert found == one_by_one
    assert found.mean_lower == 25
    assert found.mean_midpoint == Fraction(69, 2)
    assert found.mean_upper == 44
    assert Aggregates.from_dict(json.loads(json.dumps(found.as_dict()))) == found


@pytest.mark.parametrize("cells", [["a", "b"], ["*", "*"], ["1", "2"], [1, 2], ["20-39", "old"]])
def test_only_columns_of_intervals_have_interval_aggregates(cells: list[object]) -> None:
    assert interval_aggregates(pl.Series(cells)) is None
