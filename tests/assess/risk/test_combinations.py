"""Combinations of values are counted as a plain dictionary counts them, in chunks or whole."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.assess.risk.combinations import (
    CATEGORIES,
    CombinationCounter,
    Uniqueness,
    count_in,
    count_in_groups,
    protected_first,
)
from celosia.engines import DuckDB

cells = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None])), max_size=30)


def plain(rows: list[tuple[object, ...]]) -> Uniqueness:
    counts = Counter(rows).values()
    return Uniqueness(
        records=len(rows), combinations=len(counts), alone=sum(each == 1 for each in counts)
    )


@given(cells, st.integers(1, 5))
def test_chunks_are_counted_as_a_whole(rows: list[tuple[object, ...]], chunk: int) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row")
    counter = CombinationCounter(most=7 * 5)
    for part in frame.iter_slices(chunk):
        counter.add(part)
    assert counter.uniqueness() == plain(rows)
    assert count_in(frame)([["a", "b"]])[0] == plain(rows)
    assert count_in(frame)([["b"]])[0] == plain([(b,) for _, b in rows])


@given(cells, st.integers(1, 5), st.integers(1, 9))
def test_people_are_counted_once_for_each_combination(
    rows: list[tuple[object, ...]], chunk: int, people: int
) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row")
    units = pl.Series("unit", [f"p{number % people}" for number in range(len(rows))])
    counter = CombinationCounter(most=7 * 5)
    for part in frame.with_columns(units).iter_slices(chunk):
        counter.add(part.drop("unit"), part["unit"])
    pairs = {(*row, unit) for row, unit in zip(rows, units, strict=True)}
    expected = plain([(a, b) for a, b, _ in pairs])
    assert counter.uniqueness() == expected
    assert count_in(frame, units)([["a", "b"]])[0] == expected


def test_groups_of_an_engine_are_counted_by_their_sizes() -> None:
    rows = [(n % 7, "x" if n % 3 else None) for n in range(50)] + [(99, "y")]
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    with DuckDB() as engine:
        groups = engine.count_groups(frame, ["a", "b"])
    sets = [["a"], ["b"], ["a", "b"]]
    assert count_in_groups(groups)(sets) == count_in(frame)(sets)


def test_of_many_combinations_a_part_tells_of_all() -> None:
    # 40,000 records alone, 20,000 combinations of three, and one value of 30,000 records.
    alone, threes = np.arange(40_000), np.repeat(np.arange(50_000, 70_000), 3)
    values = np.concatenate([alone, threes, np.full(30_000, -1)])
    counter = CombinationCounter(most=4_000)
    for part in pl.DataFrame({"x": values}).iter_slices(9_000):
        counter.add(part)
    found = counter.uniqueness()
    assert found.records == 130_000
    # At least 2,000 of 60,001 combinations are kept: five standard deviations are 11 %.
    assert found.combinations == pytest.approx(60_001, rel=0.12)
    assert found.alone == pytest.approx(40_000, rel=0.15)


@pytest.mark.parametrize(
    ("records", "combinations", "alone", "refused"),
    [
        (30_000, 29_500, 29_198, True),  # a table of bills
        (1_000, 60, 51, True),  # a few more than 5 % are alone
        (1_000, 60, 50, False),
        (1_000, 334, 0, True),  # fewer than three together
        (1_000, 333, 0, False),
        (CATEGORIES, CATEGORIES, CATEGORIES, False),  # categories of a small table
        (CATEGORIES + 1, CATEGORIES + 1, CATEGORIES + 1, True),
        (0, 0, 0, False),
    ],
)
def test_records_that_are_unique_or_nearly_so_are_too_many(
    records: int, combinations: int, alone: int, refused: bool
) -> None:
    found = Uniqueness(records=records, combinations=combinations, alone=alone)
    assert found.too_high is refused


def test_the_columns_to_protect_are_those_without_which_the_rest_passes() -> None:
    rows = 600
    frame = pl.DataFrame(
        {
            "bill": range(rows),
            "disease": [n % 5 for n in range(rows)],
            "postal code": [n % 97 for n in range(rows)],
            "sex": [n % 2 for n in range(rows)],
        }
    )
    count = count_in(frame)
    named = protected_first(frame.columns, count)
    assert named == ("bill", "postal code")
    assert protected_first(["disease", "sex"], count) == ()
    assert protected_first([], count) == ()
