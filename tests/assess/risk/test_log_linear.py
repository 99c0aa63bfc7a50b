"""The log-linear model against published fits, its likelihood equations and simulation."""

from __future__ import annotations

from itertools import combinations
from math import exp

import numpy as np
import polars as pl
import pytest
from scipy.stats import poisson

from celosia.assess.risk import log_linear_risk
from celosia.assess.risk.log_linear import _inverse_mean
from celosia.core.errors import InputError

SDCMICRO = pl.DataFrame(
    {
        "a": [2, 3, 2, 3, 3, 1, 2, 3, 2, 2],
        "b": [2, 1, 2, 2, 1, 2, 1, 1, 1, 2],
        "c": [5, 4, 4, 5, 4, 4, 3, 3, 2, 2],
        "w": [100.0] * 10,
    }
)
"""The ten records of sdcMicro's own test of its function `modRisk`."""


def test_the_published_fit_of_sdcmicro_is_found() -> None:
    found = log_linear_risk(SDCMICRO, keys=["a", "b", "c"], weights="w", interactions="none")
    means = found.expected_frequency
    assert found.sampling_fraction == 0.01
    assert means.round(10).tolist() == [0.5, 0.8, 1.0, 0.4, 0.8, 0.2, 0.5, 0.4, 0.5, 0.5]
    # sdcMicro adds up exp(-(1 - p) m) over the 8 uniques, and divides by the 9 cells that occur.
    alone = np.delete(means, [1, 4])
    assert np.exp(-0.99 * alone).sum() / 9 == pytest.approx(0.553, abs=5e-4)
    # The population has 1/p times as many people, as Skinner and Holmes have it.
    assert found.population_uniques == pytest.approx(np.exp(-99 * alone).sum())
    assert found.diagnostics.cells == 24
    assert found.diagnostics.degrees_of_freedom == 24 - (1 + 2 + 1 + 3)


@pytest.mark.parametrize("count", [1, 2, 5, 60])
@pytest.mark.parametrize("crowd", [0.0, 0.01, 1.0, 40.0, 3000.0])
def test_the_risk_is_the_mean_of_one_over_the_population(count: int, crowd: float) -> None:
    beyond = np.arange(0, 5000)
    mean = float((poisson.pmf(beyond, crowd) / (count + beyond)).sum())
    found = _inverse_mean(np.array([count]), np.array([crowd]))
    assert found[0] == pytest.approx(mean, rel=1e-9)


def test_pairs_of_keys_meet_the_likelihood_equations() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, [2, 3, 4], size=(300, 3))
    codes[:, 2] = (codes[:, 2] + 2 * codes[:, 0]) % 4
    table = pl.DataFrame(codes, schema=list("abc"))
    found = log_linear_risk(table, keys=list("abc"), sampling_fraction=0.1)
    fitted = table.with_columns(m=found.expected_frequency).unique(maintain_order=True)
    counted = table.group_by(list("abc")).len()
    if counted.height == 24:  # every cell occurs, so that margins can be added up from records
        for pair in combinations("abc", 2):
            seen = table.group_by(list(pair)).len().sort(pair)["len"].to_numpy()
            mean = fitted.group_by(list(pair)).agg(pl.col("m").sum()).sort(pair)["m"].to_numpy()
            assert mean == pytest.approx(seen, rel=1e-6)
    assert counted.height == 24
    simple = log_linear_risk(table, keys=list("abc"), sampling_fraction=0.1, interactions="none")
    assert simple.diagnostics.deviance > found.diagnostics.deviance
    assert found.diagnostics.parameters == 1 + 1 + 2 + 3 + 2 + 3 + 6


def test_a_model_that_holds_finds_the_population_uniques_and_has_no_dispersion() -> None:
    """Independent keys: over 30 samples the mean of the estimates is the mean of the truths."""
    rng = np.random.default_rng(11)
    people = np.column_stack([rng.geometric(0.15, 4000) for _ in range(3)])
    cells = np.unique(people, axis=0, return_inverse=True)[1].reshape(-1)
    crowd = np.bincount(cells)[cells]
    gaps, spread = [], []
    for _ in range(30):
        drawn = rng.random(4000) < 0.2
        found = log_linear_risk(
            pl.DataFrame(people[drawn], schema=list("abc")),
            keys=list("abc"),
            sampling_fraction=0.2,
            interactions="none",
        )
        alone = np.bincount(cells[drawn], minlength=cells.max() + 1)[cells] == 1
        gaps.append(found.correct_matches - float((1 / crowd[drawn & alone]).sum()))
        spread.append(found.diagnostics.dispersion)
    truth = float((1 / crowd[drawn & alone]).sum())
    assert abs(np.mean(gaps)) < 0.1 * truth
    assert abs(np.mean(spread)) < 2


def test_dispersion_tells_a_model_that_is_too_simple() -> None:
    table = pl.DataFrame({"a": [*range(20)] * 20, "b": [*range(20)] * 20})
    simple = log_linear_risk(table, keys=["a", "b"], sampling_fraction=0.5, interactions="none")
    rich = log_linear_risk(table, keys=["a", "b"], sampling_fraction=0.5)
    assert simple.diagnostics.dispersion > 10
    assert rich.diagnostics.dispersion < 0
    assert rich.expected_frequency == pytest.approx(np.full(400, 20.0))


def test_a_whole_population_has_the_risk_of_its_classes() -> None:
    table = pl.DataFrame({"a": [1, 1, 2], "b": [1, 1, 2]})
    found = log_linear_risk(table, keys=["a", "b"], sampling_fraction=1)
    assert found.risk.tolist() == pytest.approx([0.5, 0.5, 1.0])
    assert found.population_uniques == pytest.approx(exp(0))


def test_bad_wishes_are_refused() -> None:
    table = pl.DataFrame({name: range(200) for name in "abc"})
    for given, code in [
        ({"sampling_fraction": 0.1}, "CEL-A295"),
        ({"sampling_fraction": 0.1, "interactions": "three-way"}, "CEL-A295"),
        ({}, "CEL-A295"),
        ({"sampling_fraction": 2.0}, "CEL-A021"),
    ]:
        with pytest.raises(InputError) as caught:
            log_linear_risk(table, keys=list("abc"), **given)  # type: ignore[arg-type]
        assert caught.value.code == code
