"""What holds for every synthetic table without noise."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.core.randomness import Seeded
from celosia.tables.masking.method import MaskingMethod
from celosia.tables.synthesis import METHODS, BayesianNetwork, Copula, Distribution, Trees

MAKERS = [BayesianNetwork, Copula, Trees]


@pytest.fixture(scope="module")
def mixed() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    count = 400
    born = pl.Series(rng.integers(-9000, 9000, count)).cast(pl.Int32).cast(pl.Date)
    seen = pl.Series(rng.integers(0, 10**15, count)).cast(pl.Datetime("us"))
    level = pl.Series(rng.choice(["low", "high"], count), dtype=pl.Enum(["low", "high"]))
    gaps = pl.Series(rng.random(count) < 0.2)
    return pl.DataFrame(
        {
            "text": pl.Series(rng.choice(["x", "y", "z"], count)).set(gaps, None),
            "whole": pl.Series(rng.integers(-5, 90, count), dtype=pl.Int16).set(gaps, None),
            "decimal": pl.Series(rng.normal(0, 1, count), dtype=pl.Float32),
            "truth": rng.random(count) < 0.3,
            "born": born,
            "seen": seen,
            "level": level,
            "one": pl.Series([7] * count),
            "nothing": pl.Series([None] * count, dtype=pl.Float64),
        }
    )


def test_the_recipe_names_are_known() -> None:
    assert [each.method_name for each in METHODS] == [
        "bayesian-network",
        "copula",
        "distribution",
        "trees",
    ]


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.method_name)
def test_nothing_is_promised_and_that_is_said(kind: type[MaskingMethod]) -> None:
    method = kind()
    assert method.promise(["a"]) is None
    assert method.leaves_open(["a"])[0].startswith("nothing is promised")
    assert "repeat real people" in method.leaves_open(["a"])[0]
    assert method.as_dict() == {"method": kind.method_name}


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.method_name)
def test_columns_of_every_type_come_back_with_their_type_and_within_their_range(
    kind: type[MaskingMethod], mixed: pl.DataFrame
) -> None:
    before = mixed.clone()
    done = kind().apply(mixed, mixed.columns, rng=Seeded(5))
    assert done.synthetic
    assert done.frame.schema == mixed.schema
    assert done.frame.height == mixed.height
    assert mixed.equals(before)
    for name in mixed.columns:
        known = set(mixed[name].drop_nulls())
        found = done.frame[name].drop_nulls()
        if known:
            assert min(known) <= min(found) <= max(found) <= max(known)
        else:
            assert found.is_empty()
    assert done.frame["text"].null_count() > 0
    assert done.frame["decimal"].null_count() == 0
    assert isinstance(done.frame["born"][0], date)
    assert isinstance(done.frame["seen"][0], datetime)


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.method_name)
def test_a_seed_repeats_the_table_and_another_does_not(
    kind: type[MaskingMethod], mixed: pl.DataFrame
) -> None:
    first, again, other = (
        kind().apply(mixed, mixed.columns, rng=Seeded(seed)).frame for seed in (5, 5, 6)
    )
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.method_name)
@pytest.mark.parametrize("rows", [1, 1000])
def test_as_many_rows_are_made_as_are_wanted(kind: type, mixed: pl.DataFrame, rows: int) -> None:
    done = kind(rows=rows).apply(mixed, mixed.columns, rng=Seeded(5))
    assert done.frame.height == rows


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.method_name)
def test_columns_may_be_named_in_any_order(kind: type[MaskingMethod], mixed: pl.DataFrame) -> None:
    done = kind().apply(mixed, mixed.columns[::-1], rng=Seeded(5))
    assert done.frame.columns == mixed.columns


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.method_name)
def test_a_table_of_one_row_is_repeated(kind: type[MaskingMethod], mixed: pl.DataFrame) -> None:
    done = kind().apply(mixed.head(1), mixed.columns, rng=Seeded(5))
    assert done.frame.equals(mixed.head(1))


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.method_name)
def test_a_table_that_no_rows_can_be_made_of_is_refused(kind: type[MaskingMethod]) -> None:
    full = pl.DataFrame({"a": [1, 2], "b": [[1], [2]], "c": [2**60, 1], "d": [1.0, np.inf]})
    refusals = {
        "CEL-Y001": (full, ["a"]),
        "CEL-Y003": (full.clear(), full.columns),
        "CEL-Y004": (full.select("a", "b"), ["a", "b"]),
        "CEL-V005": (full.select("d"), ["d"]),
        "CEL-V001": (full, []),
    }
    for code, (frame, columns) in refusals.items():
        with pytest.raises(InputError) as refusal:
            kind().apply(frame, columns, rng=Seeded(1))
        assert refusal.value.code == code
    with pytest.raises(InputError) as refusal:
        kind().apply(full.select("c"), ["c"], rng=Seeded(1))
    assert refusal.value.code == "CEL-Y004"
    assert str(2**60) not in str(refusal.value)


@pytest.mark.parametrize("kind", [*MAKERS, Distribution], ids=lambda kind: kind.method_name)
@pytest.mark.parametrize("rows", [0, -3, 2.5, "all", 2**40])
def test_a_number_of_rows_is_a_whole_one(kind: type, rows: object) -> None:
    with pytest.raises(InputError) as refusal:
        kind(rows=rows)
    assert refusal.value.code == "CEL-I060"


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.method_name)
def test_progress_is_told(kind: type[MaskingMethod], mixed: pl.DataFrame) -> None:
    steps: list[Step] = []
    kind().apply(mixed, mixed.columns, rng=Seeded(5), progress=steps.append)
    assert len(steps) >= len(mixed.columns) - 1
    assert all(step.total is not None and step.done <= step.total for step in steps)
