"""Two databases that differ by one property of one person, each with a policy and a ledger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from celosia.queries.timing_audit.attacks import PERSON

PATIENTS, VISITS, DOCTORS = 200, 2_000, 300
SPECIALTIES, WARDS = 3, 4

_LIMITS = """
budget = { epsilon = 100000, delta = 0.1 }
questions_per_day = 1000000000
exceeded_per_day = 1000000000
"""
"""An attacker who may ask on and on, so that the clock alone is what stops them."""

_TABLES = f"""
name = "hospital"
database = {{ path = "hospital.duckdb" }}
unit = {{ name = "patient", table = "patients", key = "id" }}
{_LIMITS}
[tables.patients]
rows = 1000
[tables.patients.columns]
id = {{ type = "integer", unique = true }}
[tables.visits]
rows = 10000
references = {{ patient = "patients.id" }}
[tables.visits.columns]
id = {{ type = "integer", unique = true }}
patient = "integer"
doctor = "integer"
emergency = "boolean"
diagnosis = "text"
ward = {{ type = "text", keys = ["W0", "W1", "W2", "W3"] }}
cost = {{ type = "integer", lower = 0, upper = 100 }}
note = "text"
day = "date"
[tables.doctors]
public = true
[tables.doctors.columns]
id = {{ type = "integer", unique = true }}
specialty = {{ type = "text", keys = ["S0", "S1", "S2"] }}
fee = {{ type = "integer", lower = 0, upper = 100 }}
[tables.rooms]
public = true
[tables.rooms.columns]
ward = {{ type = "text", keys = ["W0", "W1", "W2", "W3"] }}
floor = "integer"
"""

_GRAPH = f"""
name = "hospital"
unit = {{ name = "patient" }}
deadline = 1
{_LIMITS}
[graph]
store = "hospital.graph"
[graph.prefixes]
ex = "https://example.org/"
[graph.classes.Patient]
predicates = ["ex:emergency", "ex:ward", "ex:cost", "ex:note"]
[graph.predicates."ex:cost"]
most_per_subject = 1
lower = 0
upper = 100
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourDatabase:
    """A folder with both databases, in which the person has the property or has it not."""

    folder: Path
    has_property: bool

    def policy(self, name: str) -> Path:
        """The policy file of the tables, of the graph, or of the tables with a deadline."""
        return self.folder / f"{name}.toml"


def make_database(folder: Path, *, has_property: bool) -> NeighbourDatabase:
    """Write the databases and the policies."""
    folder.mkdir(parents=True)
    _make_tables(folder / "hospital.duckdb", has_property=has_property)
    _make_graph(folder, has_property=has_property)
    (folder / "tables.toml").write_text(_TABLES, "utf-8")
    (folder / "deadline.toml").write_text(f"deadline = 1.5\n{_TABLES}", "utf-8")
    (folder / "graph.toml").write_text(_GRAPH, "utf-8")
    return NeighbourDatabase(folder=folder, has_property=has_property)


def _make_tables(path: Path, *, has_property: bool) -> None:
    import duckdb  # 0.1 s, only where a world is made

    hers = f"i = {PERSON}" if has_property else "FALSE"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"""
            CREATE TABLE patients AS SELECT i AS id FROM range({PATIENTS}) t(i);
            CREATE TABLE visits AS SELECT i AS id, i % {PATIENTS} AS patient,
              i % {DOCTORS} AS doctor, i % 10 = 3 OR {hers} AS emergency,
              CASE WHEN {hers} THEN 'D0' ELSE 'D' || (1 + i % 19) END AS diagnosis,
              'W' || (i % {WARDS}) AS ward, i * 37 % 101 AS cost,
              repeat('a', 200 + i % 50) AS note, DATE '2026-01-01' + (i % 300)::INTEGER AS day
            FROM range({VISITS}) t(i);
            CREATE TABLE doctors AS SELECT i AS id, 'S' || (i % {SPECIALTIES}) AS specialty,
              i * 13 % 101 AS fee FROM range({DOCTORS}) t(i);
            CREATE TABLE rooms AS SELECT 'W' || (i % {WARDS}) AS ward, i % 2 AS floor
            FROM range(400) t(i);
            """  # noqa: S608 - numbers of ours
        )


def _make_graph(folder: Path, *, has_property: bool) -> None:
    from celosia.queries.rdf.file_loader import load  # loads a reader of graphs

    lines = ["@prefix : <https://example.org/> ."]
    for each in range(PATIENTS):
        urgent = "true" if each % 10 == 3 or (has_property and each == PERSON) else "false"
        lines.append(
            f":patient{each} :emergency {urgent} ; :ward :w{each % WARDS} ; "
            f':cost {each * 37 % 101} ; :note "{"a" * (40 + each % 7)}" .'
        )
    facts = folder / "hospital.ttl"
    facts.write_text("\n".join(lines), "utf-8")
    load(facts, folder / "hospital.graph")
