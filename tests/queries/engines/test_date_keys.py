"""Groups by dates that are computed and whose keys are found in the data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.queries.engines.places import Place, Tables

from celosia.queries import Vault, read_policy
from celosia.queries.policy import Spending

TEXT = """
name = "clinic"
database = { path = "clinic.duckdb" }
unit = { name = "patient", table = "patients", key = "id" }
budget = { epsilon = 20, delta = 1e-6 }
[tables.patients.columns]
id = { type = "integer", unique = true }
[tables.visits]
references = { patient = "patients.id" }
[tables.visits.columns]
id = { type = "integer", unique = true }
patient = "integer"
day = "date"
moment = "timestamp"
fee = { type = "integer", lower = 0, upper = 10 }
"""
POLICY = replace(
    read_policy(TEXT),
    # The questions are many, and their epsilon is large.
    budget=Spending(epsilon=Fraction(1000), delta=Fraction(9, 1000)),
)
BY_ROW = replace(POLICY, unit=replace(POLICY.unit, name="row", table=None, key=None))
NOON = dt.datetime(2026, 1, 30, 12, 30, 0, 250_000)
PEOPLE = 120


def rows() -> Tables:
    """Each patient three times, in January, February and March; a few moments are missing."""
    days = [dt.timedelta(days=days) for days in (0, 5, 40)]
    return {
        "patients": [{"id": each} for each in range(PEOPLE)],
        "visits": [
            {
                "id": 3 * patient + place,
                "patient": patient,
                "day": None if patient == 7 else (NOON + day).date(),
                "moment": None if patient == 7 else NOON + day,
                "fee": 4,
            }
            for patient in range(PEOPLE)
            for place, day in enumerate(days)
        ],
    }


MONTHS = ["2026-01-01T00:00:00", "2026-02-01T00:00:00", "2026-03-01T00:00:00"]
DAYS = ["2026-01-30", "2026-02-04", "2026-03-11"]
KEYS: dict[str, list[Any]] = {
    "DATE_TRUNC('month', day)": MONTHS,
    "DATE_TRUNC('month', moment)": MONTHS,
    "CAST(moment AS DATE)": DAYS,
    "CAST(day AS TIMESTAMP)": [f"{day}T00:00:00" for day in DAYS],
    "day + 7": ["2026-02-06", "2026-02-11", "2026-03-18"],
    "COALESCE(day, DATE '2026-01-30')": DAYS,
    "CASE WHEN fee > 3 THEN moment END": [
        *("2026-01-30T12:30:00.250000", "2026-02-04T12:30:00.250000", "2026-03-11T12:30:00.250000"),
    ],
    "day": DAYS,
}


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def vaults(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Vault]]:
    """The rows behind both policies, in each of two engines."""
    url = request.getfixturevalue("postgres") if request.param == "postgres" else None
    place = Place(request.param, tmp_path_factory.mktemp("place"), url)
    policies = {"by person": POLICY, "by row": BY_ROW}
    yield {name: place.vault(rows(), each) for name, each in policies.items()}
    place.close()


@pytest.mark.parametrize("unit", ["by person", "by row"])
@pytest.mark.parametrize("key", KEYS)
def test_computed_dates_are_keys(key: str, unit: str, vaults: dict[str, Vault]) -> None:
    """With so large an epsilon the noise is far below the number of rows of each group."""
    vault = vaults[unit]
    query = f"SELECT {key} AS k, COUNT(*) AS n, SUM(fee) AS s FROM visits GROUP BY {key}"
    answer = vault.sql(query, epsilon=15, delta=0.0001)
    assert [row["k"] for row in answer.rows] == KEYS[key]
    for row in answer.rows:
        assert abs(row["n"] - PEOPLE) < 20
        assert abs(row["s"] - 4 * PEOPLE) < 150


def test_a_computed_date_stands_beside_other_keys(vaults: dict[str, Vault]) -> None:
    vault = vaults["by person"]
    query = (
        "SELECT DATE_TRUNC('year', moment) AS y, fee AS f, COUNT(DISTINCT patient) AS n "
        "FROM visits GROUP BY DATE_TRUNC('year', moment), fee"
    )
    (row,) = vault.sql(query, epsilon=15, delta=0.0001).rows
    assert (row["y"], row["f"]) == ("2026-01-01T00:00:00", 4)
    assert abs(row["n"] - PEOPLE) < 20
