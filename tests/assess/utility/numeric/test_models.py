"""The propensity score and the overlap of regressions, against scikit-learn and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import linregress
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

from celosia.assess.linkage import align
from celosia.assess.utility.numeric import (
    Coefficient,
    Regression,
    propensity,
    regression_overlap,
)
from celosia.core.errors import InputError


def _frame(matrix: Any) -> dict[str, Any]:
    return {f"x{place}": column for place, column in enumerate(matrix.T)}


def test_scores_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(200, 3)), rng.normal(0.4, 1.3, size=(150, 3))
    found = propensity(align(_frame(x), _frame(y), synthetic=True), order=1)
    both, labels = np.concatenate([x, y]), np.repeat([0, 1], [200, 150])
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(both, labels)
    expected = ((model.predict_proba(both)[:, 1] - 150 / 350) ** 2).mean()
    assert found.pmse == pytest.approx(expected, rel=1e-5)
    assert found.parameters == 4


@pytest.mark.parametrize(("fitted", "expected"), [(True, 1.0), (False, 1 / 0.6)])
def test_a_right_model_scores_what_chance_gives(fitted: bool, expected: float) -> None:
    rng = np.random.default_rng(2)
    ratios = []
    for _ in range(60):
        x = rng.normal(size=(1_500, 2))
        centre, spread = (x.mean(axis=0), np.cov(x.T)) if fitted else (np.zeros(2), np.eye(2))
        made = rng.multivariate_normal(centre, spread, 1_000)
        ratios.append(propensity(align(_frame(x), _frame(made), synthetic=True)).ratio)
    # The score is a chi-squared variable with 5 degrees of freedom over 5, times its mean; one has
    # the standard deviation sqrt(2/5), and the mean of 60 lies within four of sqrt(2/5/60). A
    # second sample, not made by a fit to the first, differs from it by 1 / (1 - c) as much.
    assert np.mean(ratios) == pytest.approx(expected, abs=4 * expected * np.sqrt(2 / 5 / 60))


def test_a_table_that_differs_is_told_apart_by_the_moment_that_differs() -> None:
    rng = np.random.default_rng(3)
    x, wider = rng.normal(size=(500, 2)), 2 * rng.normal(size=(500, 2))
    tables = align(_frame(x), _frame(wider), synthetic=True)
    assert propensity(tables, order=2).ratio > 10
    assert propensity(tables, order=1).ratio < 4


def test_a_copy_cannot_be_told_apart() -> None:
    x = np.random.default_rng(4).normal(size=(100, 2))
    assert propensity(align(_frame(x), _frame(x))).pmse == pytest.approx(0, abs=1e-12)


def test_tables_without_anything_in_common_are_told_apart_wholly() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(100, 1))
    found = propensity(align(_frame(x), _frame(x + 1000), synthetic=True))
    assert found.pmse == pytest.approx(0.25, abs=0.01)  # all scores 0 or 1, a half of each


def test_categories_and_gaps_tell_tables_apart() -> None:
    before: dict[str, Any] = {"c": ["a", "b"] * 100, "x": [1.0, 2.0] * 100}
    other: dict[str, Any] = {"c": ["a", "a"] * 100, "x": [1.0, 2.0] * 100}
    gaps: dict[str, Any] = {"c": ["a", "b"] * 100, "x": [1.0, 2.0] * 50 + [None] * 100}
    # Half of the a are masked two to one, all b are original: scores 2/3 (300) and 0 (100).
    expected = (300 * (2 / 3 - 0.5) ** 2 + 100 * 0.25) / 400
    only = {"c": before["c"]}, {"c": other["c"]}
    assert propensity(align(*only)).pmse == pytest.approx(expected, abs=1e-4)
    assert propensity(align(before, gaps)).ratio > 5
    assert propensity(align(before, before)).ratio == pytest.approx(0, abs=1e-9)


def test_many_categories_do_not_make_many_terms() -> None:
    names = [f"n{i}" for i in range(400)]
    found = propensity(align({"c": names}, {"c": names[::-1]}))
    assert found.parameters <= 52


def test_columns_that_follow_from_others_add_no_term() -> None:
    x = np.random.default_rng(6).normal(size=100)
    tables = align({"a": x, "b": 2 * x, "c": np.ones(100)}, {"a": x, "b": 2 * x, "c": np.ones(100)})
    assert propensity(tables, order=1).parameters == 2


def test_coefficients_and_intervals_are_those_of_scipy() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=80)
    y = 3 + 2 * x + rng.normal(size=80)
    table = {"y": y, "x": x}
    found = regression_overlap(align(table, table), Regression("y", ("x",)))
    expected = linregress(x, y)
    reach = student.ppf(0.975, 78)
    constant, slope = found.coefficients
    assert slope.before == pytest.approx(expected.slope)
    assert slope.high_before == pytest.approx(expected.slope + reach * expected.stderr)
    assert constant.before == pytest.approx(expected.intercept)
    assert constant.low_after == pytest.approx(
        expected.intercept - reach * expected.intercept_stderr
    )
    assert found.overlap == 1


def test_overlap_is_the_mean_of_both_shares() -> None:
    def overlap(low: float, high: float) -> float:
        return Coefficient("x", 0.5, 0.0, 1.0, 0.5, low, high).overlap

    assert overlap(0, 1) == 1
    assert overlap(0.5, 1.5) == 0.5
    assert overlap(-1, 3) == pytest.approx((1 + 1 / 4) / 2)
    assert overlap(1, 2) == 0
    assert overlap(2, 3) == -1
    assert Coefficient("x", 1, 1, 1, 1, 1, 1).overlap == 1
    assert Coefficient("x", 1, 1, 1, 2, 2, 2).overlap == 0


def test_attenuated_slopes_overlap_less() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=2_000)
    y = x + rng.normal(size=2_000)
    line = Regression("y", ("x",))
    noisy = [
        regression_overlap(
            align({"y": y, "x": x}, {"y": y, "x": x + s * rng.normal(size=2_000)}), line
        )
        .coefficients[1]
        .overlap
        for s in (0.05, 0.3, 1.0)
    ]
    assert noisy[0] > 0.8
    assert noisy[0] > noisy[1] > noisy[2]


def test_categories_are_compared_with_the_first_and_not_named() -> None:
    table: dict[str, Any] = {
        "y": [1.0, 2.0, 3.0, 4.0, 5.5, 6.0],
        "job": ["a", "a", "b", "b", "c", "c"],
    }
    found = regression_overlap(align(table, table), Regression("y", ("job",)))
    assert [each.term for each in found.coefficients] == [
        "constant",
        "job, category 2",
        "job, category 3",
    ]
    assert [each.before for each in found.coefficients] == pytest.approx([1.5, 2.0, 4.25])


def test_records_with_gaps_are_left_out() -> None:
    y, x = np.array([1.0, 2.1, 2.9, np.nan, 50.0]), np.array([1.0, 2.0, 3.0, 9.0, np.nan])
    found = regression_overlap(align({"y": y, "x": x}, {"y": y, "x": x}), Regression("y", ("x",)))
    assert found.coefficients[1].before == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("table", "line", "code"),
    [
        ({"y": [1, 2], "x": [1, 2]}, ("y", ("x",)), "CEL-A232"),
        ({"y": [1, 2, 3, 4], "x": [5, 5, 5, 5]}, ("y", ("x",)), "CEL-A232"),
        ({"y": list("abcd"), "x": [1, 2, 3, 4]}, ("y", ("x",)), "CEL-A231"),
        ({"y": [1, 2, 3, 4], "x": [1, 2, 3, 4]}, ("y", ("z",)), "CEL-A201"),
    ],
)
def test_regressions_that_cannot_be_fitted_are_refused(
    table: dict[str, Any], line: tuple[str, tuple[str, ...]], code: str
) -> None:
    with pytest.raises(InputError) as refused:
        regression_overlap(align(table, table), Regression(*line))
    assert refused.value.code == code


def test_regressions_check_themselves() -> None:
    for predictors in ((), ("y",)):
        with pytest.raises(InputError) as refused:
            Regression("y", predictors)
        assert refused.value.code == "CEL-A231"
    with pytest.raises(InputError) as refused:
        regression_overlap(
            align({"y": [1, 2, 3], "x": [1, 2, 4]}, {"y": [1, 2, 3], "x": [1, 2, 4]}),
            Regression("y", ("x",)),
            confidence=1.0,
        )
    assert refused.value.code == "CEL-A221"
