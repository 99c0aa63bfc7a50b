"""Data shuffling: values are kept, dependence comes from the predictors alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata, spearmanr

from celosia.core.errors import InputError
from celosia.core.randomness import Seeded
from celosia.tables.masking.draws import normals
from celosia.tables.masking.perturbation import Shuffling
from celosia.tables.masking.perturbation.shuffling import copula_correlations, normal_scores

ROWS = 20_000


def people(rows: int = ROWS) -> pl.DataFrame:
    """Skewed pay and wealth that depend on age and schooling."""
    age, school, pay, wealth = normals(Seeded(1), 4 * rows).reshape(4, rows)
    school = 0.4 * age + school
    pay = 0.6 * age + 0.5 * school + pay
    wealth = 0.5 * pay + 0.3 * age + wealth
    return pl.DataFrame(
        {"age": age, "school": school.round(1), "pay": np.exp(pay), "wealth": wealth**3}
    )


def test_the_values_of_each_column_are_kept_exactly() -> None:
    frame = people(500)
    masked = Shuffling(given=("age",)).apply(frame, ["pay", "wealth"], rng=Seeded(2)).frame
    for name in ("pay", "wealth"):
        assert masked[name].sort().equals(frame[name].sort())
        assert (masked[name] != frame[name]).sum() > 400
    assert masked["age"].equals(frame["age"])
    assert masked["school"].equals(frame["school"])


@pytest.mark.statistical
def test_rank_correlations_with_the_predictors_and_each_other_are_kept() -> None:
    frame = people()
    masked = (
        Shuffling(given=("age", "school"))
        .apply(frame, ["pay", "wealth"], rng=Seeded(3))
        .frame.to_numpy()
    )
    before, after = spearmanr(frame.to_numpy()).statistic, spearmanr(masked).statistic
    # Two samples of one normal copula: 1/sqrt(n) for each correlation at most.
    assert np.abs(before - after).max() < 5 * np.sqrt(2 / ROWS)


@pytest.mark.statistical
def test_a_record_gets_values_that_depend_on_its_predictors_only() -> None:
    frame = people()
    masked = Shuffling(given=("age", "school")).apply(frame, ["pay"], rng=Seeded(4)).frame
    known = np.column_stack(
        [np.ones(ROWS), normal_scores(frame.select("age", "school").to_numpy())]
    )
    rest = []
    for column in (frame["pay"], masked["pay"]):
        score = normal_scores(column.to_numpy()[:, np.newaxis])[:, 0]
        rest.append(score - known @ np.linalg.lstsq(known, score, rcond=None)[0])
    assert abs(np.corrcoef(*rest)[0, 1]) < 5 / np.sqrt(ROWS)


@pytest.mark.statistical
def test_without_predictors_columns_keep_their_own_dependence_only() -> None:
    frame = people()
    masked = Shuffling().apply(frame, ["pay", "wealth"], rng=Seeded(5)).frame
    kept = spearmanr(masked["pay"], masked["wealth"]).statistic
    assert abs(kept - spearmanr(frame["pay"], frame["wealth"]).statistic) < 5 * np.sqrt(2 / ROWS)
    assert abs(spearmanr(masked["pay"], frame["age"]).statistic) < 5 / np.sqrt(ROWS)


def test_the_copula_has_the_rank_correlations_of_the_table() -> None:
    table = people(300).to_numpy()
    found = copula_correlations(table, list("abcd"))
    ranks = rankdata(table, axis=0)
    np.testing.assert_allclose(found, 2 * np.sin(np.pi / 6 * np.corrcoef(ranks.T)), atol=1e-12)


def test_a_predictor_that_determines_a_column_puts_it_back() -> None:
    frame = pl.DataFrame({"age": np.arange(50), "pay": np.arange(50) ** 2})
    masked = Shuffling(given=("age",)).apply(frame, ["pay"], rng=Seeded(1))
    assert masked.frame.equals(frame)
    assert masked.facts["pay"]["explained_by_given"] == pytest.approx(1)


def test_predictors_that_repeat_each_other_share_their_part() -> None:
    frame = people(200).with_columns(twin=2 * pl.col("age"))
    one = Shuffling(given=("age",)).apply(frame, ["pay"], rng=Seeded(1)).facts
    two = Shuffling(given=("age", "twin")).apply(frame, ["pay"], rng=Seeded(1)).facts
    assert one["pay"]["explained_by_given"] == pytest.approx(two["pay"]["explained_by_given"])


def test_empty_cells_stay_empty_in_columns_and_predictors() -> None:
    frame = people(50).with_columns(
        pl.when(pl.int_range(50) % 5 != 0).then(pl.col("pay")).alias("pay"),
        pl.when(pl.int_range(50) % 7 != 0).then(pl.col("age")).alias("age"),
    )
    masked = Shuffling(given=("age",)).apply(frame, ["pay"], rng=Seeded(1)).frame
    assert masked["pay"].is_null().to_list() == frame["pay"].is_null().to_list()
    assert masked["pay"].sort().equals(frame["pay"].sort())
    assert masked["age"].equals(frame["age"])


@pytest.mark.parametrize(
    ("given", "columns", "code"),
    [
        (("age",), ["age"], "CEL-V250"),
        (("years",), ["pay"], "CEL-V003"),
        ((), [], "CEL-V001"),
    ],
)
def test_columns_that_do_not_fit_are_refused(given: Any, columns: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        Shuffling(given=given).apply(people(10), columns, rng=Seeded(1))
    assert caught.value.code == code


@pytest.mark.parametrize("given", [["a", "a"], [1], 5])
def test_parameters_that_make_no_sense_are_refused(given: Any) -> None:
    with pytest.raises(InputError) as caught:
        Shuffling(given=given)
    assert caught.value.code == "CEL-I060"
