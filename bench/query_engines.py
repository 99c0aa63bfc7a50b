"""Private against plain SQL on DuckDB, PostgreSQL and Spark: seconds of a question, and ratios.

A million orders of a hundred thousand people (`--rows` is the number of orders), the same rows on
each engine. Plain is the exact answer of the engine itself; private that of a whole vault, with
planning, caps, ledger and noise, where a person is protected with all their orders. Ratios are of
one engine on one machine, so engines should not be compared by them. Spark runs on two cores here,
its start is not counted. An engine that is not there is left out, and the reason told.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
import sqlglot
from sqlglot import exp

from bench.timing import seconds
from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.policy import load_policy
from celosia.queries.sessions import open_engine

ROWS = 1_000_000
PEOPLE = 10
"""Orders of a person, on average."""
ENGINES = ("duckdb", "postgres", "spark")
QUESTIONS = {
    "count": "SELECT COUNT(*) FROM orders WHERE price > 100",
    "sum": "SELECT SUM(price) FROM orders",
    "groups": "SELECT status, COUNT(*), SUM(price) FROM orders GROUP BY status",
    "join": "SELECT town, COUNT(*) FROM orders JOIN person ON orders.person = person.id "
    "GROUP BY town",
}
POLICY = """
name = "bench"
budget = {{ epsilon = 1000000 }}
unit = {{ name = "person", table = "person", key = "id" }}
{database}
[tables.person.columns]
id = {{ type = "integer", unique = true }}
town = {{ type = "text", keys = ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"] }}
[tables.orders]
references = {{ person = "person.id" }}
[tables.orders.columns]
person = "integer"
price = {{ type = "number", lower = 0, upper = 1000, grid = 0.01 }}
status = {{ type = "text", keys = ["s0", "s1", "s2", "s3"] }}
"""


def run(*, rows: int = ROWS) -> dict[str, dict[str, Any]]:
    """Seconds of plain and private questions, and how many times private is plain."""
    found: dict[str, dict[str, Any]] = {
        "plain, seconds": {},
        "private, seconds": {},
        "private / plain": {},
        "left out": {},
    }
    with TemporaryDirectory() as folder:
        frames = _frames(rows)
        for name, frame in frames.items():
            frame.write_parquet(Path(folder) / f"{name}.parquet")
        for kind in ENGINES:
            try:
                with _database(kind, Path(folder), frames) as written:
                    _measure(kind, Path(folder), written, found)
            except pytest.skip.Exception as reason:
                found["left out"][kind] = str(reason)
    return found


def _frames(rows: int) -> dict[str, pl.DataFrame]:
    random = np.random.default_rng(5)
    people = max(1, rows // PEOPLE)
    return {
        "person": pl.DataFrame(
            {"id": np.arange(people), "town": [f"t{each % 8}" for each in range(people)]}
        ),
        "orders": pl.DataFrame(
            {
                "person": random.integers(people, size=rows),
                "price": random.gamma(2, 80, size=rows).round(2),
                "status": [f"s{each}" for each in random.integers(4, size=rows)],
            }
        ),
    }


@contextmanager
def _database(kind: str, folder: Path, frames: dict[str, pl.DataFrame]) -> Iterator[str]:
    """The section of a policy that says where the rows are."""
    with ExitStack() as stack:
        if kind == "postgres":
            from tests.engines.server import postgres_server  # needs pytest

            url = stack.enter_context(postgres_server())
            _fill(url, frames)
            yield f'database = {{ kind = "postgres", url = "{url}" }}'
            return
        if kind == "spark":
            from tests.spark import local_spark  # needs pytest

            stack.enter_context(local_spark())
        files = ", ".join(f'{name} = "{folder / name}.parquet"' for name in frames)
        yield f'database = {{ kind = "{kind}", files = {{ {files} }} }}'


def _fill(url: str, frames: dict[str, pl.DataFrame]) -> None:
    import psycopg  # where wanted

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE person (id BIGINT PRIMARY KEY, town TEXT)")
        connection.execute(
            "CREATE TABLE orders (person BIGINT, price DOUBLE PRECISION, status TEXT)"
        )
        for name, frame in frames.items():
            with connection.cursor().copy(f"COPY {name} FROM STDIN WITH (FORMAT csv)") as copy:
                copy.write(frame.write_csv(include_header=False))
        connection.execute("ANALYZE")


def _measure(kind: str, folder: Path, database: str, found: dict[str, dict[str, Any]]) -> None:
    path = folder / f"{kind}.toml"
    path.write_text(POLICY.format(database=database), "utf-8")
    policy = load_policy(path)
    engine = open_engine(policy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
        vault = Vault.open(policy, rng=Seeded(1))
    with vault:
        vault.timeout = 600
        for name, text in QUESTIONS.items():
            tree: exp.Expr = sqlglot.parse_one(text, read="duckdb")
            plain = seconds(partial(engine.run, tree, timeout=600), repeat=3)
            private = seconds(partial(vault.sql, text, epsilon=1, fresh=True), repeat=3)
            label = f"{kind}, {name}"
            found["plain, seconds"][label] = round(plain, 3)
            found["private, seconds"][label] = round(private, 3)
            found["private / plain"][label] = round(private / plain, 1)
    engine.close()
