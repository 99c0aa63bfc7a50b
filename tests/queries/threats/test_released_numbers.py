"""Threats: noise in floats, and the time that noise takes.

The first tests repeat the attack of Mironov 2012 on whole answers: where float noise is added to 1,
some outputs cannot occur that do occur around 0. Groups that hold 0 and groups that hold 1 are
asked for at once, so that one question gives thousands of draws.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import exp, log
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import pytest
from scipy.stats import norm, rankdata
from tests.queries.threats.conftest import Place

from celosia.core.randomness import Seeded, System
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.queries.policy import read_policy

GROUPS = 4000
POLICY = read_policy(
    f"""
name = "grid"
database = {{ path = "grid.duckdb" }}
budget = {{ epsilon = 10 }}
unit = {{ name = "row" }}
[tables.v.columns]
g = {{ type = "integer", keys = {list(range(GROUPS))} }}
half = {{ type = "number", lower = 0, upper = 1, grid = 0.0009765625 }}
cent = {{ type = "number", lower = 0, upper = 1, grid = 0.01 }}
"""
)
ROWS = {"v": [{"g": group, "half": 1.0, "cent": 1.0} for group in range(1, GROUPS, 2)]}
"""Even groups hold 0, odd ones 1."""


@cache
def answers(place: Place, column: str) -> tuple[list[float], list[float]]:
    """Noisy sums of groups that hold 0, and of groups that hold 1; the seed makes them the same."""
    vault = place.open(ROWS, POLICY, rng=Seeded(5))
    rows = vault.sql(f"SELECT g, SUM({column}) AS s FROM v GROUP BY g", epsilon=1).rows
    place.close()
    assert len(rows) == GROUPS
    values = [(row["g"], row["s"]) for row in rows]
    return [s for g, s in values if g % 2 == 0], [s for g, s in values if g % 2]


@pytest.mark.parametrize(
    ("column", "step"), [("half", Fraction(1, 1024)), ("cent", Fraction(1, 100))]
)
def test_every_released_number_is_the_float_of_a_grid_point(
    place: Place, column: str, step: Fraction
) -> None:
    for values in answers(place, column):
        points = [round(Fraction(value) / step) for value in values]
        assert values == [float(point * step) for point in points]
        assert len(set(points)) > 500


@pytest.mark.statistical
def test_no_output_near_zero_tells_whether_the_truth_is_0_or_1(place: Place) -> None:
    """Mironov's test: the share of outputs in (0, 1/4) that float noise on 1 could not make."""
    shares = []
    for values in answers(place, "half"):
        window = np.array([each for each in values if 0 < each < 0.25])
        assert window.size > 100
        scaled = window * 2.0**54
        shares.append(float((scaled != np.floor(scaled)).mean()))
    assert shares == [0, 0]  # naive noise gives 67 % and 0: see mechanisms/noise/test_float_attack
    law = DiscreteLaplace(Fraction(1024))
    for point in range(-4096, 4096, 17):  # and every grid point is possible under both
        assert abs(log(law.mass(point) / law.mass(point - 1024))) <= 1 + 1e-12


@pytest.mark.statistical
def test_released_numbers_have_the_exact_law(place: Place) -> None:
    """Shares beyond 0 and beyond ln 2 scales, at 4.9 standard deviations (one in a million)."""
    zeros, ones = answers(place, "half")
    noise = np.array([*zeros, *(each - 1 for each in ones)]) * 1024
    law = DiscreteLaplace(Fraction(1024))
    for bound in (1, 710, 3072):
        share = law.tail(bound)
        assert 0.04 * 0.5 < share < 0.51
        for found in ((noise >= bound).mean(), (noise <= -bound).mean()):
            assert abs(found - share) < 4.9 * (share * (1 - share) / GROUPS) ** 0.5
        wrong = 0.5 * exp(-bound / (1024 * 0.8))  # noise a fifth too small would be noticed
        if bound == 710:
            assert abs(wrong - share) > 4.9 * (share * (1 - share) / GROUPS) ** 0.5


@pytest.mark.statistical
def test_the_time_of_an_answer_does_not_tell_its_noise(place: Place, tmp_path: Path) -> None:
    """Rank correlation of time and |noise|; independent ones exceed it with a chance of 1e-12."""
    size = 160
    tiny = replace(POLICY, least_epsilon=Fraction(0))
    vault = place.open(ROWS, tiny, rng=System(), ledger=tmp_path / "ledger.sqlite")
    try:
        times, noise = [], []
        for number in range(size):
            query = f"SELECT COUNT(*) AS n FROM v WHERE g > -{number + 1}"
            start = perf_counter_ns()
            answer = vault.sql(query, epsilon=0.0005)
            times.append(perf_counter_ns() - start)
            noise.append(abs(answer.value - len(ROWS["v"])))
    finally:
        place.close()
    assert len(set(noise)) > size / 2
    found = np.corrcoef(rankdata(times[10:]), rankdata(noise[10:]))[0, 1]  # the first ones warm up
    assert abs(found) < norm.isf(0.5e-12) / (size - 11) ** 0.5
