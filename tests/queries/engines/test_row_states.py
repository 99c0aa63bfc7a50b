"""Answers about unchanged rows search for values beyond caps once, and changed rows are seen."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlglot import exp
from tests.queries.engines.places import Place

from celosia.accounting.amounts import Spending
from celosia.engines import PostgresEngine
from celosia.queries import Vault
from celosia.queries.policy import ColumnPolicy, Policy, TablePolicy

POLICY = Policy(
    name="visits",
    budget=Spending(epsilon=Fraction(10_000)),
    tables=(
        TablePolicy(
            name="visits",
            columns=(
                ColumnPolicy(name="id", type="integer", unique=True),
                ColumnPolicy(name="person", type="integer", most=3),
            ),
        ),
    ),
)
ROWS = {"visits": [{"id": place, "person": place % 4} for place in range(10)]}
COUNT = "SELECT COUNT(*) AS n FROM visits"


class Watched:
    """A vault whose searches for crowded values are counted, and checks of declarations."""

    def __init__(self, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
        self.vault = vault
        self.searched = 0
        kind = type(vault._engine)
        name = "_execute" if kind is PostgresEngine else "_timed"
        real = getattr(kind, name)

        def watched(engine: Any, *given: Any, **options: Any) -> Any:
            (query,) = (each for each in given if isinstance(each, exp.Expr))
            is_run = not options and given[-1].__name__ != "prepared"
            self.searched += is_run and query.find(exp.Having) is not None
            return real(engine, *given, **options)

        monkeypatch.setattr(kind, name, watched)

    def count(self) -> tuple[int, int]:
        """The answer with next to no noise, and how often values were searched for meanwhile."""
        before = self.searched
        answer = self.vault.sql(COUNT, epsilon=100, fresh=True)
        return int(answer.value), self.searched - before


@pytest.fixture(params=["duckdb", "postgres"])
def watched(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("celosia.engines.sql.REST", 0.0)
    url = request.getfixturevalue("postgres") if request.param == "postgres" else None
    place = Place(request.param, tmp_path, url)
    vault = place.vault(ROWS, POLICY)
    yield Watched(vault, monkeypatch)
    place.close()


def test_values_beyond_caps_are_searched_for_once(watched: Watched) -> None:
    assert watched.count() == (10, 1)
    assert watched.count() == (10, 0)
    assert watched.count() == (10, 0)


def change(watched: Watched, postgres: str | None) -> None:
    """A fourth and a fifth visit of one person, of whom three count."""
    if postgres is not None:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("INSERT INTO visits VALUES (20, 1), (21, 1)")
        return
    import polars as pl

    ((_, path),) = watched.vault.policy.database.files
    rows = [*ROWS["visits"], {"id": 20, "person": 1}, {"id": 21, "person": 1}]
    pl.DataFrame(rows).write_parquet(path)


def test_rows_that_changed_are_searched_again(
    watched: Watched, request: pytest.FixtureRequest
) -> None:
    is_server = isinstance(watched.vault._engine, PostgresEngine)
    assert watched.count() == (10, 1)
    change(watched, request.getfixturevalue("postgres") if is_server else None)
    # Seen for the first time, by the query itself; then once more, to be remembered.
    assert [watched.count() for _ in range(3)] == [(10, 1), (10, 1), (10, 0)]


def test_rows_that_change_while_they_are_read_are_searched_by_the_query(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = iter(["other", "one", "one", "two", "two", "two", "two"])
    kind = type(watched.vault._engine)
    monkeypatch.setattr(kind, "state", property(lambda _: next(states)))
    assert watched.count() == (10, 1)  # "other" is new
    assert watched.count() == (10, 1)  # so is "one"
    # Seen before, and searched; but at the end there is another: all again, and nothing is kept.
    assert watched.count() == (10, 2)
    assert watched.count() == (10, 1)
    assert watched.count() == (10, 1)
