"""Private SQL on DuckDB: seconds and ratios against the same question without privacy, in one run.

The table has ten million visits of a million people. A row-level answer protects a visit, a
per-person one all visits of a person. The private side is all that `Vault.sql` does: parsing,
planning, a durable charge, the query, exact noise and sealing; it does not wait for a deadline, as
it is a simulation. Seconds are those of the processor. The bars: 1.5 times plain (row-level) or 2
times (per person), plus 50 ms. `over` is what is left of the time after 50 ms, in times of the
plain question. With caps, the policy declares that a person has at most 40 visits. The last line is
against a bare GROUP BY person with the same count and sum; its bar is 1.3. The many-to-many join
has a tenth of the rows on either side and 500 pairs for each of them.

Measured elsewhere, on as many rows: count and sum by 100 keys, OpenDP 1.9 s row-level and 24 s per
person, Tumult 129 s per person; a many-to-many join of a million rows each, Tumult 21.5 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import sqlglot

from bench.timing import once, processor_seconds
from celosia.accounting.amounts import Spending
from celosia.core.randomness import Seeded
from celosia.engines import DuckDBEngine
from celosia.queries.policy.values import (
    ColumnPolicy,
    Database,
    Policy,
    TablePolicy,
    Unit,
)
from celosia.queries.vault import Vault

ALLOWANCE = 0.05
KEYS = 100
PAIRS = 500
TIMEOUT = 600.0

BY_KEY = "SELECT key, COUNT(*) AS n, SUM(amount) AS total FROM visits GROUP BY key"
OF_PEOPLE = "SELECT COUNT(*) AS n FROM visits JOIN people ON visits.person = people.person"
OF_EACH_PERSON = (
    "SELECT MAX(n), MAX(s) FROM (SELECT person, COUNT(*) AS n, SUM(amount) AS s FROM visits "
    "GROUP BY person) AS part"
)
MANY = "SELECT COUNT(*) AS n FROM lefts JOIN rights ON lefts.place = rights.place"


def run(*, rows: int = 10_000_000) -> dict[str, dict[str, Any]]:
    """Seconds of each question, private and plain, and their ratios."""
    taken: dict[str, float] = {}
    ratios: dict[str, float] = {}
    with TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder, "visits.duckdb")
        taken[f"generating {rows} rows"] = once(lambda: generate(path, rows))
        for name, private, plain in measured(path, rows):
            taken[f"{name}, private"], taken[f"{name}, plain"] = private, plain
            ratios[name] = private / plain
            ratios[f"{name}, over 50 ms"] = max(0, private - ALLOWANCE) / plain
            if name == GROUPED:
                bare = _plain(path, OF_EACH_PERSON)
                taken["bare GROUP BY person"] = bare
                ratios[f"{name}, over a bare GROUP BY person"] = private / bare
    return {
        "seconds": {name: round(value, 3) for name, value in taken.items()},
        "times plain": {name: round(value, 2) for name, value in ratios.items()},
    }


@dataclass(frozen=True)
class Case:
    """A question, whom the policy protects, and the way to bound it."""

    name: str
    query: str
    people: bool = False
    method: str | None = None
    most: int | None = None
    """Visits of a person, at most, as declared."""


GROUPED = "count and sum by 100 keys, per person"
MOST = 40
CASES = (
    Case("count and sum by 100 keys, row-level", BY_KEY),
    Case("count and sum by 100 keys, row-level, caps", BY_KEY, most=MOST),
    Case("count over a join, per person", OF_PEOPLE, people=True),
    Case("count over a join, per person, caps", OF_PEOPLE, people=True, most=MOST),
    Case("many-to-many join, declared caps", MANY, method="global"),
    Case("many-to-many join, elastic", MANY, method="elastic"),
    Case("count and sum by 100 keys, per person, caps", BY_KEY, people=True, most=MOST),
    Case(GROUPED, BY_KEY, people=True),
)


def measured(path: Path, rows: int) -> Iterator[tuple[str, float, float]]:
    """A name, the seconds of the private and of the plain question."""
    for case in CASES:
        policy = _policy(path, rows, people=case.people, visits=case.most)
        with Vault.open(policy, rng=Seeded(1)) as vault:
            private = processor_seconds(partial(_ask, vault, case, count(1)))
        yield case.name, private, _plain(path, case.query)  # right after: other work comes and goes


def _plain(path: Path, query: str) -> float:
    with DuckDBEngine(path) as engine:
        return processor_seconds(partial(engine.run, sqlglot.parse_one(query), timeout=TIMEOUT))


def _ask(vault: Vault, case: Case, numbers: Iterator[int]) -> None:
    # Another epsilon each time, because the same question would be answered from the ledger.
    epsilon = 0.01 + next(numbers) * 1e-6
    delta = 1e-9 if case.method == "elastic" else 0
    vault.sql(case.query, epsilon=epsilon, delta=delta, method=case.method)


def generate(path: Path, rows: int) -> None:
    """Visits of people, and two tables to join, by hashes of row numbers."""
    people, part = rows // 10, rows // 10
    places = max(1, part // PAIRS)
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS visit, "
            f"CAST(hash(i) % {people} AS BIGINT) AS person, "
            f"CAST(hash(i + 1000000007) % {KEYS} AS BIGINT) AS key, "
            "CAST(hash(i + 2000000011) % 10001 AS DOUBLE) / 100 AS amount "
            f"FROM range({rows}) AS t(i)"
        )
        connection.execute(
            f"CREATE TABLE people AS SELECT i AS person FROM range({people}) AS t(i)"
        )
        for table, shift in (("lefts", 3_000_000_019), ("rights", 4_000_000_007)):
            connection.execute(
                f"CREATE TABLE {table} AS SELECT i AS id, "
                f"CAST(hash(i + {shift}) % {places} AS BIGINT) AS place FROM range({part}) AS t(i)"
            )


def _policy(path: Path, rows: int, *, people: bool = False, visits: int | None = None) -> Policy:
    def column(name: str, **declared: Any) -> ColumnPolicy:
        return ColumnPolicy(name=name, type=declared.pop("type", "integer"), **declared)

    amount = column(
        "amount", type="number", lower=Fraction(0), upper=Fraction(100), grid=Fraction(1, 100)
    )
    most = 2 * PAIRS
    return Policy(
        name="visits",
        budget=Spending(epsilon=Fraction(10), delta=Fraction(1, 10**6)),
        database=Database(path=str(path)),
        unit=Unit(name="person", table="people", key="person") if people else Unit(),
        elastic=not people,
        tables=(
            TablePolicy(name="people", columns=(column("person", unique=True),)),
            TablePolicy(
                name="visits",
                columns=(
                    column("visit", unique=True),
                    column("person", most=visits),
                    column("key", keys=tuple(range(KEYS))),
                    amount,
                ),
                references=(("person", "people", "person"),),
            ),
            *(
                TablePolicy(
                    name=name,
                    columns=(column("id", unique=True), column("place", most=most)),
                    public=people,
                    rows=rows,
                )
                for name in ("lefts", "rights")
            ),
        ),
    )
