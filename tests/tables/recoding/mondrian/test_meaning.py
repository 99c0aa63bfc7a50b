"""Ranges stand for the values between their ends, seen in the data or not."""

from __future__ import annotations

from datetime import UTC, date, datetime

import polars as pl
import pytest
from tests.tables.recoding.mondrian.random_tables import RawColumn, flat

from celosia.assess.meaning import Meaning
from celosia.frames import as_text
from celosia.tables.hierarchies import Hierarchy
from celosia.tables.models import KAnonymity
from celosia.tables.recoding.mondrian import RangeMeaning, meaning_of, partition, released_columns


def ages(values: list[int | None]) -> RangeMeaning:
    leaves = flat(["40", "9", "100", "23", "unknown"])
    return RangeMeaning(RawColumn(pl.Series("age", values, dtype=pl.Int64), leaves).coded())


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("[9, 40]", {"9", "23", "40"}),  # by size, not as text
        ("[23, 100]", {"23", "40", "100"}),
        ("23", {"23"}),
        ("unknown", {"unknown"}),
        ("*", {"40", "9", "100", "23", "unknown"}),
        ("[40, 9]", set()),
        ("[9, unknown]", set()),
        ("[9, 41]", set()),
        ("nonsense", set()),
    ],
)
def test_a_label_stands_for_the_leaves_in_it(label: str, expected: set[str]) -> None:
    meaning = ages([40, 9])
    assert isinstance(meaning, Meaning)
    assert {meaning.values[place] for place in meaning.stands_for(label)} == expected


def test_the_leaf_of_empty_cells_stands_for_itself() -> None:
    meaning = ages([40, 9, None])
    assert meaning.values[-1] == "(missing)"
    assert meaning.stands_for("(missing)").tolist() == [5]
    assert meaning.stands_for("*").size == 6


def test_other_columns_mean_what_their_hierarchy_says() -> None:
    tree = Hierarchy.from_paths([("a", "*"), ("b", "*")])
    assert meaning_of(RawColumn(pl.Series("w", ["a"]), tree).coded()) is tree


@pytest.mark.parametrize(
    "values",
    [
        [date(2024, 2, 28), date(2024, 3, 1), date(999, 3, 2), date(2024, 3, 3)],
        [datetime(2024, 1, 1, hour, tzinfo=None) for hour in (1, 10, 2, 11)],
        [datetime(2024, 1, 1, hour, tzinfo=UTC) for hour in (1, 10, 2, 11)],
        [2**64 - 1, 0, 2**63, 5],
    ],
)
def test_dates_and_large_numbers_have_ranges_too(values: list[object]) -> None:
    kind = pl.UInt64 if isinstance(values[0], int) else None
    series = pl.Series("when", values, dtype=kind)
    column = RawColumn(series, flat(as_text(series).to_list())).coded()
    labels = released_columns(partition([column], [KAnonymity(2)]), [column])[0].series()
    meaning = meaning_of(column)
    small = sorted(values)[:2]  # type: ignore[type-var]
    for value, label in zip(values, labels, strict=True):
        stands = {values[place] for place in meaning.stands_for(label)}
        assert stands == (set(small) if value in small else set(values) - set(small))
