"""Private against plain SQL on DuckDB, PostgreSQL and Spark: seconds of a question, and ratios.

A million orders of a hundred thousand people (`--rows` is the number of orders), the same rows on
each engine. Plain is the exact answer of the engine itself; private that of a whole vault, where a
person is protected with all their orders. Seconds are processor time: of DuckDB that of the whole
vault, with planning, ledger and noise; of PostgreSQL that of the server; of Spark, where neither
can be told, those of the clock. With caps, the policy declares that a person has at most 40 orders,
and some have more; the question is asked again on unchanged rows, so these people are known. In the
first question they are searched for: its ratio stands apart.

The bar of PostgreSQL is 3 times plain. Without caps a count or a sum must find what each person
adds: GROUP BY person is told for each engine, as the engine plans it by itself.

Ratios are of one engine on one machine, so engines should not be compared by them. Spark runs on
two cores here, its start is not counted. An engine that is not there is left out, and the reason
told.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
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

from bench.timing import processor_seconds, seconds, server_seconds
from celosia.core.errors import PrivacyWarning
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.policy import Policy, database_url, load_policy
from celosia.queries.sessions import open_engine

ROWS = 1_000_000
PEOPLE = 10
"""Orders of a person, on average."""
ENGINES = ("duckdb", "postgres", "spark")
MOST = 40
"""Orders of a person, at most, where caps are declared."""
CROWDED = 5
"""People who have more."""
QUESTIONS = {
    "count": "SELECT COUNT(*) FROM orders WHERE price > 100",
    "sum": "SELECT SUM(price) FROM orders",
    "mean": "SELECT AVG(price) FROM orders WHERE price * 2 > 100",
    "product": "SELECT SUM(price * (1 - price / 1000)) FROM orders",
    "median": "SELECT MEDIAN(price) FROM orders",
    "distinct": "SELECT COUNT(DISTINCT status) FROM orders",
    "groups": "SELECT status, COUNT(*), SUM(price) FROM orders GROUP BY status",
    "join": "SELECT town, COUNT(*) FROM orders JOIN person ON orders.person = person.id "
    "GROUP BY town",
    "of a person": "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM orders GROUP BY person) "
    "AS part",
}
BY_PERSON = (
    "SELECT MAX(n), MAX(s) FROM (SELECT person, COUNT(*) AS n, SUM(price) AS s FROM orders "
    "GROUP BY person) AS part"
)
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
person = {person}
price = {{ type = "number", lower = 0, upper = 1000, grid = 0.01 }}
status = {{ type = "text", keys = ["s0", "s1", "s2", "s3"] }}
"""


def run(*, rows: int = ROWS) -> dict[str, dict[str, Any]]:
    """Seconds of plain and private questions, and how many times private is plain."""
    titles = (
        "plain, seconds",
        "private, seconds",
        "private / plain",
        "private / plain, first question with caps",
        "left out",
    )
    found: dict[str, dict[str, Any]] = {title: {} for title in titles}
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
    owners = random.integers(people, size=rows)
    owners[: CROWDED * 2 * MOST] = np.arange(min(rows, CROWDED * 2 * MOST)) % min(people, CROWDED)
    return {
        "person": pl.DataFrame(
            {"id": np.arange(people), "town": [f"t{each % 8}" for each in range(people)]}
        ),
        "orders": pl.DataFrame(
            {
                "person": owners,
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
        connection.execute("CREATE INDEX ON orders (person)")  # as foreign keys have
        connection.execute("VACUUM ANALYZE")


def _measure(kind: str, folder: Path, database: str, found: dict[str, dict[str, Any]]) -> None:
    declared = {"": '"integer"', ", caps": f'{{ type = "integer", most = {MOST} }}'}
    plain: dict[str, float] = {}
    for caps, person in declared.items():
        path = folder / f"{kind}.toml"
        path.write_text(POLICY.format(database=database, person=person), "utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)  # of the large budget
            policy = load_policy(path)
            engine = open_engine(policy)
            taken = _clock(kind, policy)
            if not plain:
                for name, text in {**QUESTIONS, "GROUP BY person": BY_PERSON}.items():
                    tree: exp.Expr = sqlglot.parse_one(text, read="duckdb")
                    plain[name] = taken(partial(engine.run, tree, timeout=600))
                    found["plain, seconds"][f"{kind}, {name}"] = round(plain[name], 3)
                found["private / plain"][f"{kind}, GROUP BY person, plain / count"] = round(
                    plain["GROUP BY person"] / plain["count"], 1
                )
            engine.close()
            if caps:
                with Vault.open(policy, rng=Seeded(1)) as vault:
                    first = partial(_ask, vault, QUESTIONS["count"])
                    share = taken(first, repeat=1, warm=False) / plain["count"]
                title = "private / plain, first question with caps"
                found[title][f"{kind}, count"] = round(share, 1)
            with Vault.open(policy, rng=Seeded(1)) as vault:
                for name, text in QUESTIONS.items():
                    private = taken(partial(_ask, vault, text))
                    label = f"{kind}, {name}{caps}"
                    found["private, seconds"][label] = round(private, 3)
                    found["private / plain"][label] = round(private / plain[name], 1)


def _ask(vault: Vault, text: str) -> None:
    vault.timeout = 600
    vault.sql(text, epsilon=1, fresh=True)


def _clock(kind: str, policy: Policy) -> Callable[..., float]:
    """What measures the seconds of a call on an engine."""
    if kind == "duckdb":
        return processor_seconds
    if kind != "postgres" or not Path("/proc/self/stat").exists():
        return partial(seconds, repeat=3)
    import psycopg  # where wanted

    with psycopg.connect(database_url(policy.database)) as connection:
        process = connection.info.backend_pid
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
        return partial(server_seconds, server=int(fields[1]))
