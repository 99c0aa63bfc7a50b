"""Groups by a column of a public table need neither declared keys nor a delta."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest

from celosia.core.errors import QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import Vault

POLICY = """
name = "clinic"
unit = { name = "patient", table = "visits", key = "patient" }
budget.epsilon = 10
database = { files = { visits = "visits.parquet", wards = "wards.parquet" } }

[tables.visits]
rows = 1000
references = { ward = "wards.id" }
[tables.visits.columns]
patient = { type = "integer", unique = true }
ward = "integer"
town = "text"

[tables.wards]
public = true
[tables.wards.columns]
id = { type = "integer", unique = true }
name = "text"
bed = "text"
"""
BY_NAME = "SELECT w.name, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.id GROUP BY w.name"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "policy.toml").write_text(POLICY, "utf-8")
    wards = 5000  # more beds than groups that would be listed
    names = [None, *(["eyes", "heart", "skin"][number % 3] for number in range(1, wards))]
    beds = [f"bed {number}" for number in range(wards)]
    ids = range(wards)
    pl.DataFrame({"id": ids, "name": names, "bed": beds}).write_parquet(folder / "wards.parquet")
    pl.DataFrame(
        {"patient": range(60), "ward": [1, 2, 0] * 20, "town": ["Soria"] * 60}
    ).write_parquet(folder / "visits.parquet")
    with Vault.open(folder / "policy.toml", rng=Seeded(1)) as opened:
        yield opened


def test_every_value_of_a_public_table_is_a_group_and_an_empty_cell_is_none(vault: Vault) -> None:
    answer = vault.sql(BY_NAME, epsilon=9)
    assert [row["name"] for row in answer.rows] == ["eyes", "heart", "skin"]
    assert answer.delta == 0
    # Noise of scale 1/9 is beyond 5 with a chance of about e^-45.
    counts = {row["name"]: row["n"] for row in answer.rows}
    assert abs(counts["heart"] - 20) < 5
    assert abs(counts["eyes"]) < 5


def test_the_name_may_come_through_a_sub_query(vault: Vault) -> None:
    query = (
        "SELECT t.name, COUNT(*) AS n FROM (SELECT w.name FROM visits v JOIN wards w "
        "ON v.ward = w.id) t GROUP BY t.name"
    )
    assert vault.explain(query).delta == 0


@pytest.mark.parametrize(
    "query",
    [
        "SELECT town, COUNT(*) AS n FROM visits GROUP BY town",  # values of private rows
        BY_NAME.replace("w.name", "w.bed"),  # too many to list
    ],
)
def test_other_groups_still_need_a_delta(vault: Vault, query: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        vault.explain(query)
    assert caught.value.code == "CEL-Q146"
