"""Individual risk: the published example, the expectation it stands for, and its limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom

from celosia.assess.risk import individual_risk
from celosia.assess.risk.individual import risk_of
from celosia.core.errors import InputError

# The example of Capobianchi, Polettini and Lucarelli that sdcMicro ships as `francdat`.
KEYS = ["Key1", "Key2", "Key3", "Key4"]
FRANCDAT = pl.DataFrame(
    {
        "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18.0, 45.5, 39.0, 17.0, 541.0, 8.0, 5.0, 92.0],
    }
)


def expectation(sample: int, population: float) -> float:
    """The mean of 1 / F by adding up the negative binomial distribution."""
    chance = sample / population
    beyond = np.arange(0, 400_000)
    return float((nbinom.pmf(beyond, sample, chance) / (sample + beyond)).sum())


def test_the_published_example_has_its_frequencies_and_risks() -> None:
    found = individual_risk(FRANCDAT, keys=KEYS, weights="w")
    assert found.sample_frequency.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population_frequency.tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    assert found.risk.round(3).tolist() == [0.017, 0.022, 0.022, 0.177, 0.012, 0.297, 0.402, 0.017]
    assert found.expected == pytest.approx(found.risk.sum())
    told = found.as_dict()
    assert told["sample_uniques"] == 4
    assert told["records_above_threshold"] == int((found.risk > told["threshold"]).sum()) > 0
    assert found.frame().columns == ["sample_frequency", "population_frequency", "risk"]


@pytest.mark.parametrize("sample", [1, 2, 3, 4, 7, 40, 300])
@pytest.mark.parametrize("factor", [1.001, 1.05, 1.9, 2.1, 10.0, 300.0])
def test_the_risk_is_the_mean_of_one_over_the_number_in_the_population(
    sample: int, factor: float
) -> None:
    found = float(risk_of(sample, sample * factor))
    assert found == pytest.approx(expectation(sample, sample * factor), rel=1e-9)


def test_a_sample_that_is_the_population_has_the_risk_of_its_classes() -> None:
    assert risk_of([1, 4, 10], [1.0, 4.0, 9.5]).tolist() == pytest.approx([1, 1 / 4, 1 / 10])


@given(sample=st.integers(1, 1000), factor=st.floats(1.0, 1e9))
def test_the_risk_is_between_the_sampling_share_and_one_over_the_sample(
    sample: int, factor: float
) -> None:
    found = float(risk_of(sample, sample * factor))
    # By Jensen the mean of 1 / F is at least 1 over the mean of F.
    assert 1 / (sample * factor) * (1 - 1e-9) <= found <= 1 / sample * (1 + 1e-9)


def test_an_empty_key_matches_every_value_only_if_asked_to() -> None:
    frame = FRANCDAT.with_columns(pl.Series("Key3", [None, 1, 1, 1, 1, 1, 1, 5]))
    own = individual_risk(frame, keys=KEYS, weights="w")
    wild = individual_risk(frame, keys=KEYS, weights="w", missing="any")
    assert own.sample_frequency.tolist() == [1, 2, 2, 1, 1, 1, 1, 1]
    # Record 1 now matches 2, 3 and 8, and each of these matches it.
    assert wild.sample_frequency.tolist() == [4, 3, 3, 1, 1, 1, 1, 2]
    assert wild.population_frequency[0] == 18 + 45.5 + 39 + 92
    assert wild.population_frequency[1] == 18 + 45.5 + 39


def test_a_household_is_found_with_any_of_its_people() -> None:
    frame = FRANCDAT.with_columns(pl.Series("home", [1, 1, 2, 2, 2, 3, 4, 4]))
    found = individual_risk(frame, keys=KEYS, weights="w", household="home")
    assert found.household_risk is not None
    risk = found.risk
    assert found.household_risk[0] == pytest.approx(1 - (1 - risk[0]) * (1 - risk[1]))
    assert found.household_risk[5] == pytest.approx(risk[5])
    assert (found.household_risk >= risk - 1e-12).all()
    assert "expected_reidentifications_by_household" in found.as_dict()


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("CEL-A290", {"keys": []}),
        ("CEL-A290", {"keys": "Key1"}),
        ("CEL-A290", {"missing": "all"}),
        ("CEL-A003", {"keys": ["Key9"]}),
        ("CEL-A291", {"weights": "text"}),
        ("CEL-A291", {"weights": "holes"}),
        ("CEL-A291", {"weights": "zero"}),
        ("CEL-A001", {"threshold": 2}),
    ],
)
def test_bad_input_is_refused(code: str, changes: dict[str, Any]) -> None:
    frame = FRANCDAT.with_columns(
        pl.Series("text", ["planted-7391"] * 8),
        pl.Series("holes", [None, 1, 1, 1, 1, 1, 1, 1]),
        pl.Series("zero", [0.0, *[1.0] * 7]),
    )
    with pytest.raises(InputError) as caught:
        individual_risk(frame, **({"keys": KEYS, "weights": "w"} | changes))
    assert caught.value.code == code
    assert "7391" not in str(caught.value)


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        individual_risk(FRANCDAT.head(0), keys=KEYS, weights="w")
    assert caught.value.code == "CEL-A292"
