"""The three attackers against plain counting, and the estimate against sums and simulation."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.risk import AttackerRisk, attacker_risks, expected_risk, measure
from celosia.core.errors import InputError
from celosia.frames import write

RELEASE = pl.DataFrame(
    {"age": ["20-29", "20-29", "30-39", None, "*"], "sex": ["F", "F", "M", "M", "*"]}
)
PEOPLE = pl.DataFrame(
    {
        "age": ["20-29"] * 4 + ["30-39"] * 5 + [None] * 2 + ["40-49"] * 9,
        "sex": ["F"] * 4 + ["M"] * 5 + ["M"] * 2 + ["F"] * 9,
    }
)


def test_the_three_risks_by_hand() -> None:
    found = attacker_risks(RELEASE, ["age", "sex"], population=PEOPLE, threshold=0.3)
    assert found.prosecutor == AttackerRisk(maximum=1.0, average=0.75, at_risk=1.0)
    marketer = (2 / 4 + 1 / 5 + 1 / 2) / 4  # f/F of each class, over the four kept records
    assert found.marketer.average == pytest.approx(marketer)
    assert found.journalist.average == pytest.approx(max(3 / 11, marketer))
    assert (found.journalist.maximum, found.journalist.at_risk) == (0.5, 0.25)
    assert (found.records, found.suppressed, found.classes) == (4, 1, 3)
    assert (found.population, found.basis) == (11, "population")


def test_a_journalist_may_do_better_against_the_crowd_than_a_marketer() -> None:
    release = pl.DataFrame({"a": ["x"] * 9 + ["y"]})
    people = pl.DataFrame({"a": ["x"] * 90 + ["y"]})
    found = attacker_risks(release, "a", population=people)
    assert found.journalist.average == pytest.approx(max(2 / 91, (0.1 + 1) / 10))
    small = attacker_risks(release, "a", population=pl.DataFrame({"a": ["x"] * 900 + ["y"] * 2}))
    assert small.journalist.average == pytest.approx(max(2 / 902, (0.01 + 0.5) / 10))


def test_without_a_population_all_averages_are_classes_by_records() -> None:
    found = attacker_risks(RELEASE, ["age", "sex"])
    averages = {found.prosecutor.average, found.journalist.average, found.marketer.average}
    assert averages == {0.75}
    assert found.basis == "release"
    profile = measure(RELEASE, ["age", "sex"])
    assert found.prosecutor.maximum == found.journalist.maximum == profile.maximum
    assert found.prosecutor.at_risk == profile.at_risk


cells = st.sampled_from([None, "a", "b", "*"])


@settings(max_examples=30)
@given(
    st.lists(st.tuples(cells, st.sampled_from([1, 2])), min_size=1, max_size=20),
    st.lists(st.tuples(cells, st.sampled_from([1, 2])), max_size=20),
    st.sampled_from([0.1, 0.3, 0.5]),
)
def test_risks_against_a_population_follow_their_formulas(
    rows: list[tuple[str | None, int]], others: list[tuple[str | None, int]], threshold: float
) -> None:
    shape = {"a": pl.String, "b": pl.Int64}
    sample, people = Counter(rows), Counter(rows + others)
    found = attacker_risks(
        pl.DataFrame(rows, schema=shape, orient="row"),
        ["a", "b"],
        population=pl.DataFrame(rows + others, schema=shape, orient="row"),
        threshold=threshold,
    )
    records = len(rows)
    marketer = sum(size / people[key] for key, size in sample.items()) / records
    crowd = len(sample) / sum(people[key] for key in sample)
    exposed = sum(size for key, size in sample.items() if 1 / people[key] > threshold)
    assert found.marketer.average == pytest.approx(marketer)
    assert found.journalist.average == pytest.approx(max(crowd, marketer))
    assert found.journalist.maximum == 1 / min(people[key] for key in sample)
    assert found.journalist.at_risk == exposed / records
    assert found.marketer.average <= found.prosecutor.average + 1e-12


def test_cells_of_the_population_are_compared_as_text(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(pl.DataFrame({"age": [30, 30, 40]}), path)
    found = attacker_risks(pl.DataFrame({"age": ["30", "40"]}), "age", population=path)
    assert found.marketer.average == pytest.approx(0.75)


def test_columns_may_have_names_that_look_like_patterns() -> None:
    release = pl.DataFrame({"^a": ["30", "40"], "*": [1, 2]})
    people = pl.DataFrame({"^a": [30, 30, 40], "*": [1, 1, 2]})
    found = attacker_risks(release, ["^a", "*"], population=people)
    assert found.marketer.average == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("people", "lacking"), [(["20-29", "x"], 1), (["20-29", "30-39"], 0), ([], 2)]
)
def test_a_population_that_cannot_contain_the_release_is_refused(
    people: list[str], lacking: int
) -> None:
    release = pl.DataFrame({"age": ["20-29", "20-29", "30-39"]})
    population = pl.DataFrame({"age": people}, schema={"age": pl.String})
    with pytest.raises(InputError) as caught:
        attacker_risks(release, "age", population=population)
    assert (caught.value.code, caught.value.details["lacking"]) == ("CEL-A022", lacking)
    assert "20-29" not in str(caught.value)


def test_a_population_without_the_columns_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        attacker_risks(RELEASE, ["age"], population=PEOPLE.select("sex"))
    assert caught.value.code == "CEL-A003"


def test_a_population_and_a_fraction_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        attacker_risks(RELEASE, ["age"], population=PEOPLE, sampling_fraction=0.5)
    assert caught.value.code == "CEL-A020"


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01, float("nan"), "half", True])
def test_a_fraction_outside_its_range_is_refused(fraction: Any) -> None:
    with pytest.raises(InputError) as caught:
        attacker_risks(RELEASE, ["age"], sampling_fraction=fraction)
    assert caught.value.code == "CEL-A021"


def test_an_empty_release_has_no_risk() -> None:
    none = AttackerRisk(maximum=0.0, average=0.0, at_risk=0.0)
    for more in ({}, {"population": PEOPLE}, {"sampling_fraction": 0.2}):
        found = attacker_risks(RELEASE.clear(), ["age", "sex"], **more)
        assert found.prosecutor == found.journalist == found.marketer == none


def test_a_sample_that_is_the_population_gives_the_same_as_no_population() -> None:
    whole = attacker_risks(RELEASE, ["age", "sex"], sampling_fraction=1.0)
    own = attacker_risks(RELEASE, ["age", "sex"])
    assert whole.journalist.average == pytest.approx(own.journalist.average)
    assert whole.journalist.maximum == pytest.approx(own.journalist.maximum)


def test_an_estimate_lies_between_the_crowd_and_the_prosecutor() -> None:
    found = attacker_risks(RELEASE, ["age", "sex"], sampling_fraction=0.1)
    assert found.basis == "estimate"
    assert found.population == pytest.approx(40)
    alone = -0.1 * np.log(0.1) / 0.9
    assert found.journalist.maximum == pytest.approx(alone)
    pair = 0.1 / 0.9 * (1 - alone)
    assert found.marketer.average == pytest.approx((2 * alone + 2 * pair) / 4)
    assert found.journalist.average == found.marketer.average  # Jensen: E[1/F] >= 1/E[F]


@settings(max_examples=40)
@given(st.integers(1, 60), st.floats(0.05, 0.99))
def test_the_expected_risk_is_the_sum_over_all_populations(size: int, fraction: float) -> None:
    total, chance = 0.0, fraction**size
    for people in range(size, size + 4000):
        total += chance / people
        chance *= people / (people - size + 1) * (1 - fraction)
    # F has mean size/p and deviation below sqrt(size)/p: 4000 is 18 deviations away or more.
    assert expected_risk(np.array([size]), fraction)[0] == pytest.approx(total, rel=1e-8)


@given(st.floats(1e-6, 1.0))
def test_the_expected_risk_falls_with_the_size_of_the_class(fraction: float) -> None:
    risks = expected_risk(np.arange(1, 200), fraction)
    assert np.all(np.diff(risks) < 0)
    assert np.all(risks <= 1 / np.arange(1, 200) + 1e-15)
    assert np.all(risks >= fraction / np.arange(1, 200) * (1 - 1e-12))


@pytest.mark.statistical
def test_the_expected_risk_is_what_a_simulation_finds() -> None:
    generator = np.random.default_rng(5)
    # Populations with chances in proportion to 1/F: the logarithm of F is uniform.
    people = np.exp(generator.uniform(0, np.log(20_000), 600_000))
    people = np.floor(people).astype(np.int64)
    weights = np.log1p(1 / people) * people  # floor() gives F a chance of log(1 + 1/F), not 1/F
    sample = generator.binomial(people, 0.2)
    for size in (1, 2, 5):
        chosen, weight = people[sample == size], 1 / weights[sample == size]
        mean = np.average(1 / chosen, weights=weight)
        error = np.std(1 / chosen) / np.sqrt(chosen.size) * weight.max() / weight.mean()
        # Five standard errors of a mean, widened by the ratio of weights.
        assert expected_risk(np.array([size]), 0.2)[0] == pytest.approx(mean, abs=5 * error)


def test_the_risks_are_plain_values_and_one_line() -> None:
    found = attacker_risks(RELEASE, ["age", "sex"], population=PEOPLE)
    assert json.loads(json.dumps(found.as_dict()))["journalist"]["maximum"] == 0.5
    assert "\n" not in str(found)


def test_the_raw_census_rows_have_the_published_risk(real: pl.DataFrame) -> None:
    known = [name for name in real.columns if name != "occupation"]
    found = attacker_risks(real, known)
    assert found.classes == 12_458
    assert found.prosecutor.average == pytest.approx(0.41304, abs=5e-6)
    half = attacker_risks(real.head(15_000), known, population=real)
    assert half.marketer.average < half.prosecutor.average
