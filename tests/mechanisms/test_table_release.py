"""Asking a table: the right column, bounded rows, a promise for the unit, and clear refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.mechanisms.forbidden_source import ForbiddenSource

from celosia import frames
from celosia.accounting import Budget
from celosia.core.errors import BudgetExceeded, CelosiaError, InputError, PrivacyError
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.randomness import Seeded
from celosia.mechanisms import (
    CHANGE_ONE,
    Count,
    Exponential,
    ExponentialMean,
    Geometric,
    Histogram,
    KeyHistogram,
    Mean,
    Median,
    MostFrequent,
    Quantiles,
    SparseVector,
    Sum,
    Variance,
    at_most,
    release_from_table,
)

MARK = "planted-7391"
VISITS = pl.DataFrame(
    {
        "patient": [place % 40 for place in range(200)],
        "cost": [float(place % 17) for place in range(200)],
        "ward": ["abcd"[place * place % 4] for place in range(200)],
        "urgent": [place % 3 == 0 for place in range(200)],
    }
)


def test_a_column_is_asked_as_the_mechanism_would_be() -> None:
    mechanism = Mean(epsilon=1, lower=0, upper=20)
    told = release_from_table(VISITS, mechanism, column="cost", rng=Seeded(4))
    assert told.value == mechanism.release(VISITS["cost"], rng=Seeded(4))
    assert told.question == "mean of cost"
    assert told.guarantee.neighbours == "add or remove one row"
    assert told.provenance.parameters == {"method": str(mechanism), "column": "cost"}


@pytest.mark.parametrize(
    "table",
    [VISITS, VISITS.lazy(), VISITS.to_arrow(), VISITS.to_pandas(), VISITS.to_dict(as_series=False)],
    ids=lambda table: type(table).__name__,
)
def test_any_table_gives_the_same_answer(table: Any) -> None:
    told = release_from_table(
        table, Sum(epsilon=1, lower=0, upper=20), column="cost", rng=Seeded(4)
    )
    assert told.value == Sum(epsilon=1, lower=0, upper=20).release(VISITS["cost"], rng=Seeded(4))


@pytest.mark.parametrize("name", ["visits.csv", "visits.parquet", "visits.jsonl", "visits.xlsx"])
def test_any_file_gives_the_same_answer(name: str, tmp_path: Path) -> None:
    frames.write(VISITS, tmp_path / name)
    for path in (tmp_path / name, str(tmp_path / name)):
        told = release_from_table(
            path, Mean(epsilon=1, lower=0, upper=20), column="cost", rng=Seeded(4)
        )
        assert told.value == Mean(epsilon=1, lower=0, upper=20).release(
            VISITS["cost"], rng=Seeded(4)
        )
    bins = Histogram(epsilon=1, categories=list("abcd"))
    assert list(
        release_from_table(tmp_path / name, bins, column="ward", rng=Seeded(4)).value.values()
    ) == (bins.release(VISITS["ward"], rng=Seeded(4)).tolist())


EVERY: list[tuple[Any, str | None]] = [
    (Count(epsilon=1), None),
    (Count(epsilon=1), "urgent"),
    (Sum(epsilon=1, lower=0, upper=20), "cost"),
    (Mean(epsilon=1, lower=0, upper=20), "cost"),
    (ExponentialMean(epsilon=1, lower=0, upper=20), "cost"),
    (Variance(epsilon=1, lower=0, upper=20), "cost"),
    (Median(epsilon=1, lower=0, upper=20), "cost"),
    (Quantiles(epsilon=1, lower=0, upper=20), "cost"),
    (Histogram(epsilon=1, edges=[0, 9, 20]), "cost"),
    (Histogram(epsilon=1, categories=list("abcd")), "ward"),
    (MostFrequent(epsilon=1, categories=list("abcd")), "ward"),
]


@pytest.mark.parametrize(("mechanism", "column"), EVERY, ids=str)
@pytest.mark.parametrize("relation", list(Relation))
def test_all_rows_of_a_unit_are_bounded_and_paid_for(
    mechanism: Any, column: str | None, relation: Relation
) -> None:
    asked = replace(mechanism, neighbours=Neighbours(relation))
    before = VISITS.clone()
    told = release_from_table(
        VISITS, asked, column=column, unit="patient", rows_per_unit=2, rng=Seeded(4)
    )
    assert_frame_equal(VISITS, before)
    assert told.epsilon == 1
    assert told.guarantee.unit == "patient"
    assert told.guarantee.neighbours == str(Neighbours(relation, "patient"))
    assert told.guarantee.promise == "1-differential privacy"
    # By hand: the same coins keep the same rows, and each row pays its share.
    source = Seeded(4)
    kept = at_most(VISITS["patient"], 2, rng=source)
    rows = np.zeros(200, dtype=int) if column is None else VISITS[column].to_numpy()
    share = replace(mechanism, epsilon=1 / (2 if relation is Relation.ADD_REMOVE else 4))
    by_hand = share.measure(rows[kept].tolist(), rng=source).value
    found = list(told.value.values()) if isinstance(told.value, dict) else told.value
    assert np.array_equal(np.atleast_1d(np.array(found)), np.atleast_1d(np.array(by_hand)))


def test_the_rows_that_count_are_at_most_so_many_of_a_unit() -> None:
    # 200 rows of 40 patients, of which 3 each count: with hardly any noise, 120.
    told = release_from_table(
        VISITS, Count(epsilon=100), unit="patient", rows_per_unit=3, rng=Seeded(1)
    )
    assert abs(told.value - 120) <= 2  # scale 3/100: beyond 2 with a chance below e^-100
    every = release_from_table(
        VISITS, Count(epsilon=100), unit="patient", rows_per_unit=9, rng=Seeded(1)
    )
    assert abs(every.value - 200) <= 6


def test_a_histogram_of_keys_counts_each_key_of_a_unit_once() -> None:
    # One hog with 500 rows of one ward, and 60 people with a row in two wards each.
    units = [0] * 500 + [person for person in range(1, 61) for _ in range(2)]
    wards = ["hog"] * 500 + ["a", "b"] * 60
    table: dict[str, list[Any]] = {"who": units, "ward": wards}
    keys = KeyHistogram(epsilon=100, delta=1e-9, keys_per_unit=2)
    told = release_from_table(table, keys, column="ward", unit="who", rng=Seeded(1))
    assert told.value == {"a": 60, "b": 60}  # scale 2/100, threshold 1: noise is 0 but for e^-50
    assert told.guarantee.neighbours == "add or remove one who"
    assert not any("at most one row" in word for word in told.guarantee.assumes)
    one = KeyHistogram(epsilon=100, delta=1e-9, keys_per_unit=1)
    alone = release_from_table(table, one, column="ward", unit="who", rng=Seeded(1))
    assert sum(alone.value.values()) == 60  # each person in one of the two
    with pytest.raises(InputError) as refused:
        release_from_table(
            table, one, column="ward", unit="who", rows_per_unit=2, rng=ForbiddenSource()
        )
    assert refused.value.code == "CEL-M126"


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=40))
def test_no_unit_counts_more_than_its_bound(rows: list[tuple[int, bool]]) -> None:
    table: dict[str, list[Any]] = {
        "who": [who for who, _ in rows],
        "flag": [flag for _, flag in rows],
    }
    told = release_from_table(
        table, Count(epsilon=100), column="flag", unit="who", rows_per_unit=1, rng=Seeded(2)
    )
    # At most one row of each of four units, with noise of scale 1/100.
    assert -1 <= told.value <= 5


def test_a_count_of_rows_needs_no_column_and_ignores_missing_cells() -> None:
    table: dict[str, list[Any]] = {"flag": [None, True, False], "x": [None, None, 1.0]}
    told = release_from_table(table, Count(epsilon=100), rng=Seeded(1))
    assert told.value == 3  # not the true ones of the first column
    assert told.question == "number of rows"
    assert told.provenance.parameters["column"] is None


def test_a_single_column_needs_no_name() -> None:
    told = release_from_table({"age": [1, 2, 3]}, Sum(epsilon=1, lower=0, upper=5), rng=Seeded(1))
    assert told.question == "sum of age"
    with_unit = release_from_table(
        {"age": [1, 2, 3], "who": [1, 1, 2]},
        Sum(epsilon=1, lower=0, upper=5),
        unit="who",
        rows_per_unit=1,
        rng=Seeded(1),
    )
    assert with_unit.question == "sum of age"


MEAN = Mean(epsilon=1, lower=0, upper=20)


@pytest.mark.parametrize(
    ("table", "mechanism", "wish", "code"),
    [
        (VISITS, MEAN, {}, "CEL-M120"),
        (VISITS, MEAN, {"column": "costs"}, "CEL-M121"),
        (VISITS, MEAN, {"column": "cost", "unit": "patients", "rows_per_unit": 1}, "CEL-M121"),
        (VISITS, MEAN, {"column": "ward"}, "CEL-M122"),
        (VISITS, Count(epsilon=1), {"column": "ward"}, "CEL-M122"),
        (VISITS, Count(epsilon=1), {"column": "cost"}, "CEL-M122"),
        (VISITS, Histogram(epsilon=1, edges=[0, 1]), {"column": "ward"}, "CEL-M122"),
        ({"x": [1.0, None]}, MEAN, {"column": "x"}, "CEL-M123"),
        (pl.DataFrame({"x": [1.0, float("nan")]}), MEAN, {"column": "x"}, "CEL-M123"),
        (pl.DataFrame({"x": [1.0, float("inf")]}), MEAN, {"column": "x"}, "CEL-M081"),
        ({"x": ["a", None]}, KeyHistogram(epsilon=1, delta=0.1), {"column": "x"}, "CEL-M123"),
        ({"x": [True, None]}, Count(epsilon=1), {"column": "x"}, "CEL-M123"),
        ({"x": [1, None]}, SparseVector(1, threshold=3), {"column": "x"}, "CEL-M123"),
        (
            {"x": [1, 2], "who": [MARK, None]},
            MEAN,
            {"column": "x", "unit": "who", "rows_per_unit": 1},
            "CEL-M124",
        ),
        (VISITS, MEAN, {"column": "cost", "unit": "patient"}, "CEL-M126"),
        (VISITS, MEAN, {"column": "cost", "rows_per_unit": 2}, "CEL-M126"),
        (VISITS, MEAN, {"column": "cost", "unit": "patient", "rows_per_unit": 0}, "CEL-I060"),
        (VISITS, MEAN, {"column": "cost", "confidence": 2}, "CEL-I060"),
        ({"x": []}, MEAN, {"column": "x"}, "CEL-M122"),  # a column without values has no kind
        (pl.DataFrame({"x": pl.Series([], dtype=pl.Float64)}), MEAN, {"column": "x"}, "CEL-M082"),
        ({"x": [[1], [2]]}, MEAN, {"column": "x"}, "CEL-F006"),
        (5, MEAN, {"column": "x"}, "CEL-F001"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_before_any_noise(
    table: Any, mechanism: Any, wish: dict[str, Any], code: str
) -> None:
    budget = Budget(epsilon=9, delta=0.5, filter="basic")
    if "unit" in wish:
        budget = Budget(epsilon=9, neighbours=Neighbours(unit=wish["unit"]))
    with pytest.raises(CelosiaError) as refused:
        release_from_table(table, mechanism, budget=budget, rng=ForbiddenSource(), **wish)
    assert refused.value.code == code
    assert MARK not in str(refused.value)
    assert budget.history == ()


def test_a_misspelt_column_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'cost'"):
        release_from_table(VISITS, MEAN, column="costs")
    VISITS.write_csv(tmp_path / "visits.csv")
    with pytest.raises(InputError, match="did you mean 'cost'"):
        release_from_table(tmp_path / "visits.csv", MEAN, column="costs")


@pytest.mark.parametrize(
    "mechanism", [Exponential(epsilon=1), Geometric(epsilon=1), SparseVector(1, threshold=3)]
)
def test_answers_and_scores_have_no_rows_of_a_unit(mechanism: Any) -> None:
    table = {"score": [1, 2, 3], "who": [1, 2, 3]}
    with pytest.raises(PrivacyError) as refused:
        release_from_table(
            table, mechanism, column="score", unit="who", rows_per_unit=1, rng=ForbiddenSource()
        )
    assert refused.value.code == "CEL-M125"
    assert release_from_table(table, mechanism, column="score", rng=Seeded(1)).epsilon == 1


def test_a_budget_is_asked_before_the_table_is_read(tmp_path: Path) -> None:
    with pytest.raises(BudgetExceeded):
        release_from_table(tmp_path / "nothing.csv", MEAN, column="x", budget=Budget(epsilon=0.5))


def test_a_budget_for_patients_pays_for_patients() -> None:
    budget = Budget(epsilon=1, neighbours=Neighbours(unit="patient"))
    wish: dict[str, Any] = {"column": "cost", "unit": "patient", "rows_per_unit": 2}
    release_from_table(VISITS, MEAN, budget=budget, rng=Seeded(1), **wish)
    assert budget.remaining["epsilon"] == 0
    assert [charge.label for charge in budget.history] == ["mean of cost"]
    with pytest.raises(BudgetExceeded):
        release_from_table(VISITS, MEAN, budget=budget, rng=ForbiddenSource(), **wish)
    with pytest.raises(PrivacyError):  # a promise for rows says nothing for patients
        release_from_table(VISITS, MEAN, column="cost", budget=budget, rng=ForbiddenSource())


@pytest.mark.parametrize("odd", ["", "1", "007", "x"])
def test_one_odd_row_of_a_file_does_not_change_how_others_count(odd: str, tmp_path: Path) -> None:
    # Were types guessed by the rows, "x" would turn whole numbers to texts, and the keys with them.
    path = tmp_path / "t.csv"
    path.write_text("code,n\n" + "1,1\n" * 50 + f"{odd or 2},1\n")
    texts = release_from_table(
        path, Histogram(epsilon=100, categories=["1", "2"]), column="code", rng=Seeded(1)
    )
    assert texts.value["1"] == 50 + (odd == "1")
    keys = release_from_table(
        path, KeyHistogram(epsilon=100, delta=1e-9), column="code", rng=Seeded(1)
    )
    assert keys.value == {"1": 50 + (odd == "1")}


def test_whole_categories_of_a_file_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("code,n\n" + "1,1\n" * 50)
    bins = Histogram(epsilon=100, categories=[1, 2], neighbours=CHANGE_ONE)
    assert release_from_table(path, bins, column="code", rng=Seeded(1)).value == {1: 50, 2: 0}


def test_a_column_called_row_may_be_the_unit() -> None:
    told = release_from_table(
        {"row": [1, 1, 2]}, Count(epsilon=1), unit="row", rows_per_unit=1, rng=Seeded(1)
    )
    assert told.guarantee.unit == "unit of column 'row'"
