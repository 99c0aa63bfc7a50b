"""Public tables are aggregated before a private row meets them, and all counts stay the same."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from tests.engines.server import postgres_server

from celosia.core.errors import PrivacyWarning, QueryRefused
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.planning import planner
from celosia.queries.policy import Database, Policy, Unit, read_policy

POLICY = """
name = "hospital"
unit = { name = "patient", table = "patients", key = "id" }
budget = { epsilon = 1000000 }
database = { path = "h.duckdb" }
most_per_unit = 64
[tables.patients.columns]
id = { type = "integer", unique = true }
[tables.visits]
references = { patient = "patients.id" }
[tables.visits.columns]
id = { type = "integer", unique = true }
patient = { type = "integer", most = 8 }
doctor = "integer"
ward = { type = "text", keys = ["north", "south"] }
cost = { type = "integer", lower = 0, upper = 9 }
[tables.doctors]
public = true
[tables.doctors.columns]
id = { type = "integer", unique = true }
specialty = { type = "text", keys = ["S0", "S1"] }
fee = { type = "integer", lower = -3, upper = 9 }
[tables.rooms]
public = true
[tables.rooms.columns]
ward = { type = "text", keys = ["north", "south"] }
beds = { type = "integer", lower = 0, upper = 5 }
"""

MADE = """
CREATE TABLE patients AS SELECT i AS id FROM range(1, 7) t(i);
CREATE TABLE visits AS SELECT i AS id, 1 + i % 6 AS patient, CASE WHEN i = 3 THEN NULL ELSE i % 7
  END AS doctor, CASE WHEN i % 3 = 0 THEN 'north' WHEN i % 3 = 1 THEN 'south' END AS ward,
  CASE WHEN i = 5 THEN NULL ELSE i % 10 END AS cost FROM range(0, 24) t(i);
CREATE TABLE doctors AS SELECT i AS id, CASE WHEN i = 6 THEN NULL ELSE 'S' || (i % 2) END AS
  specialty, CASE WHEN i = 2 THEN NULL ELSE i % 5 - 3 END AS fee FROM range(0, 9) t(i);
CREATE TABLE rooms AS SELECT CASE WHEN i % 2 = 0 THEN 'north' ELSE 'south' END AS ward,
  i % 6 AS beds FROM range(0, 5) t(i);
"""

CHAIN = """FROM visits v JOIN doctors d ON v.doctor = d.id
JOIN doctors e ON d.specialty = e.specialty JOIN doctors f ON e.specialty = f.specialty"""

FOLDED = {
    "a chain": f"SELECT count(*) AS n {CHAIN}",
    "one person": f"SELECT count(*) AS n {CHAIN} WHERE v.patient = 2 AND v.cost > 3",
    "a filter of the public part": f"SELECT count(*) AS n {CHAIN} WHERE f.fee > 0 AND d.id < 5",
    "keys of the public part": f"SELECT f.specialty, count(*) AS n {CHAIN} GROUP BY f.specialty",
    "keys of both": f"SELECT v.ward, d.specialty, count(*) AS n {CHAIN} GROUP BY v.ward, 2",
    "a sum of the private part": f"SELECT sum(v.cost) AS n {CHAIN}",
    "a sum of the public part": f"SELECT sum(f.fee) AS n {CHAIN}",
    "a sum of both": f"SELECT sum(v.cost * f.fee) AS n {CHAIN}",
    "values that are there": f"SELECT count(e.fee) AS n, count(v.cost) AS m {CHAIN}",
    "distinct values": f"SELECT count(DISTINCT f.id) AS n {CHAIN}",
    "a condition inside": f"SELECT count(*) AS n {CHAIN} AND e.fee < f.fee",
    "a condition across": f"SELECT count(*) AS n {CHAIN} WHERE v.cost > f.fee",
    "a circle": f"SELECT count(*) AS n {CHAIN} AND f.fee = d.fee",
    "two parts": "SELECT count(*) AS n FROM visits v JOIN rooms r ON v.ward = r.ward "
    "JOIN doctors d ON v.doctor = d.id JOIN doctors e ON d.specialty = e.specialty",
    "one table": "SELECT count(*) AS n, sum(r.beds) AS m FROM visits v JOIN rooms r USING (ward)",
    "partners": f"SELECT count(*) AS n {CHAIN} "
    "WHERE e.id IN (SELECT id FROM doctors WHERE fee > 0)",
    "two keys": "SELECT count(*) AS n FROM visits v JOIN doctors d ON v.doctor = d.id "
    "JOIN doctors e ON d.specialty = e.specialty AND d.fee = e.fee",
}
UNFOLDED = {
    "a mean": f"SELECT avg(f.fee) AS n {CHAIN}",
    "a rank": f"SELECT median(v.cost) AS n {CHAIN}",
    "unique keys": "SELECT count(*) AS n FROM visits v JOIN doctors d ON v.doctor = d.id",
}


def policy_of(text: str = POLICY) -> Policy:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
        return read_policy(text)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("folding") / "h.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MADE)
    return str(path)


@pytest.fixture(scope="module", params=["person", "row"])
def vault(request: pytest.FixtureRequest, place: str) -> Iterator[Vault]:
    policy = replace(policy_of(), database=Database(path=place))
    if request.param == "row":
        policy = replace(policy, unit=Unit())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        with Vault.open(policy, rng=Seeded(1)) as made:
            yield made


def told(vault: Vault, query: str) -> list[tuple[Any, ...]]:
    """Answers without noise, and with caps that take nothing away."""
    method = None if vault.policy.unit.is_row else "capped"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "celosia.mechanisms.noise.DiscreteLaplace.draw",
            lambda law, size, rng: np.zeros(size, dtype=np.int64),
        )
        answer = vault.sql(query, epsilon=1, method=method, fresh=True)
    return [tuple(row.values()) for row in answer.rows]


def in_full(place: str, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(place, read_only=True) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("name", FOLDED)
def test_preaggregated_questions_count_the_rows_of_the_plain_query(
    name: str, vault: Vault, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "PREAGGREGATE_ABOVE", 1)
    query = FOLDED[name]
    plan = vault.explain(query, epsilon=1)
    assert any("aggregated as" in line for line in plan.tree)
    assert all("weight" not in part.name for part in plan.parts)
    found = {row[:-1] if "GROUP" in query else "all": row for row in told(vault, query)}
    for row in in_full(place, query):
        key = row[:-1] if "GROUP" in query else "all"
        if None not in row:  # keys that are NULL have no group
            assert found[key] == row


@pytest.mark.parametrize("name", UNFOLDED)
def test_other_questions_stay_as_they_are(
    name: str, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "PREAGGREGATE_ABOVE", 1)
    plan = vault.explain(UNFOLDED[name], epsilon=1)
    assert not any("aggregated as" in line for line in plan.tree)
    assert plan.original == plan.question


def test_a_few_rows_are_joined_as_they_are(vault: Vault) -> None:
    plan = vault.explain("SELECT count(*) FROM visits JOIN rooms USING (ward)", epsilon=1)
    assert not any("aggregated as" in line for line in plan.tree)


def test_the_bound_of_one_unit_is_that_of_the_plain_join(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = FOLDED["a chain"]
    plain = vault.explain(query, epsilon=1, method=None if vault.policy.unit.is_row else "capped")
    monkeypatch.setattr(planner, "PREAGGREGATE_ABOVE", 1)
    folded = vault.explain(query, epsilon=1, method=None if vault.policy.unit.is_row else "capped")
    # 4 doctors share a specialty, so a visit meets 16 pairs; a tighter bound is as good.
    assert plain.parts[0].error is not None
    assert folded.parts[0].error is not None
    assert 16 <= folded.parts[0].error <= plain.parts[0].error


def test_postgres_preaggregates_as_duckdb_does(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg")
    monkeypatch.setattr(planner, "PREAGGREGATE_ABOVE", 1)
    with postgres_server() as url:
        with duckdb.connect(place, read_only=True) as source, psycopg.connect(url) as target:
            for table in ("patients", "visits", "doctors", "rooms"):
                rows = source.execute(f"SELECT * FROM {table}").fetchall()
                types = source.execute(f"DESCRIBE {table}").fetchall()
                columns = ", ".join(f"{each[0]} {each[1]}" for each in types)
                target.execute(f"CREATE TABLE {table} ({columns})")
                marks = ", ".join(["%s"] * len(types))
                target.cursor().executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        policy = replace(policy_of(), database=Database(kind="postgres", url=url))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            with Vault.open(policy, rng=Seeded(1)) as vault:
                for name in (
                    "a chain",
                    "a condition inside",
                    "keys of the public part",
                    "a circle",
                ):
                    query = FOLDED[name]
                    wanted = [row for row in in_full(place, query) if None not in row]
                    assert sorted(told(vault, query)) == sorted(wanted), name


def test_what_cannot_be_folded_is_refused_where_it_multiplies_too_much(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "h.duckdb")) as connection:
        connection.execute(MADE)
        connection.execute(
            "INSERT INTO doctors SELECT i, 'S' || (i % 2), 1 FROM range(100, 2300) t(i)"
        )
    policy = replace(policy_of(), database=Database(path=str(tmp_path / "h.duckdb")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        with Vault.open(policy, rng=Seeded(1)) as vault:
            with pytest.raises(QueryRefused) as refused:
                vault.sql(UNFOLDED["a mean"], epsilon=1)
            assert refused.value.code == "CEL-Q320"
            assert vault.ledger.history() == ()
            assert vault.explain(FOLDED["a chain"], epsilon=1).deadline <= 4
