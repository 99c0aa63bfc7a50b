"""One policy and one question: the same whole numbers, refusals and answers whatever the engine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from types import NoneType
from typing import Any

import pytest
from sqlglot import exp
from tests.queries.engines.places import Place, Tables
from tests.queries.vaults import POLICY, shop

from celosia.core.errors import CelosiaError, EngineError
from celosia.core.randomness import Seeded
from celosia.queries import Vault

QUESTIONS: dict[str, dict[str, Any]] = {
    "SELECT COUNT(*), SUM(price), AVG(balance) FROM orders WHERE price * 2 > 1": {},
    "SELECT town, COUNT(*) AS n, SUM(o.price) AS p FROM person JOIN orders AS o "
    "ON o.person = person.id WHERE EXTRACT(MONTH FROM o.placed) < 3 GROUP BY town": {},
    "SELECT COUNT(DISTINCT street) FROM person WHERE age / 2 >= 15 OR town LIKE '%A'": {},
    "SELECT COUNT(*) FROM message AS a JOIN message AS b ON a.receiver = b.sender": {"delta": 1e-6},
    "SELECT MEDIAN(age) FROM person": {},
}
REFUSED = {
    "SELECT * FROM person": "CEL-Q042",
    "SELECT town, age FROM person": "CEL-Q051",
    "SELECT COUNT(*) FROM nowhere": "CEL-Q025",
    "SELECT SUM(street) FROM person": "CEL-Q049",
    "SELECT COUNT(*) FROM person WHERE RANDOM() < 0.5": "CEL-Q047",
    "SELECT COUNT(*) FROM person WHERE street = 5": "CEL-Q049",
    "SELECT SUM(id) FROM orders": "CEL-Q144",
    "DROP TABLE person": "CEL-Q022",
    "SELECT COUNT(*) FROM person; SELECT 1": "CEL-Q022",
    "SELECT COUNT(*) FROM person UNION SELECT 1": "CEL-Q042",
    "SELECT COUNT(*) FROM person WHERE street LIKE '\\%'": "CEL-Q050",
    "SELECT COUNT(*) OVER () FROM person": "CEL-Q042",
}


def rows() -> Tables:
    made = shop(Random(5))
    for each in made["orders"]:
        placed = each["placed"]
        each["placed"] = None if placed is None else dt.date.fromisoformat(placed)
    return made


class Recorder:
    """An engine that remembers what it returned."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.seen: list[list[tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def snapshot(self, *, timeout: float) -> Iterator[Callable[[exp.Expr], Any]]:
        with self._engine.snapshot(timeout=timeout) as read:

            def kept(query: exp.Expr) -> Any:
                found = read(query)
                self.seen.append(found)
                return found

            yield kept


def answered(vault: Vault) -> tuple[list[Any], list[Any]]:
    """What each question got from the engine, and what was released with a fixed seed."""
    recorder: Any = Recorder(vault._engine)
    vault._engine = recorder
    released = []
    for text, choices in QUESTIONS.items():
        vault._rng = Seeded(7)
        released.append(vault.sql(text, epsilon=1.0, **choices).rows)
    return recorder.seen, released


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], list[Any]]:
    place = Place("duckdb", tmp_path_factory.mktemp("reference"))
    try:
        return answered(place.vault(rows(), POLICY))
    finally:
        place.close()


@pytest.fixture(scope="module")
def vault(place: Place) -> Vault:
    return place.vault(rows(), POLICY)


def without_people(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The numbers of people by level, which name nobody, without those who add most.

    Spark lists nobody. Everything else as it is.
    """
    nameless = [row for row in found if row[-1] is None]
    return sorted(nameless) if nameless else found


def test_the_engines_return_the_same_whole_numbers(
    vault: Vault, expected: tuple[list[Any], list[Any]]
) -> None:
    numbers, released = answered(vault)
    # PostgreSQL is asked before each answer whether declared keys are still unique.
    theirs = [without_people(each) for each in numbers if each not in ([(True,)], [])]
    ours = [without_people(each) for each in expected[0] if each not in ([(True,)], [])]
    assert theirs == ours
    # NULL stands where a row of numbers of people names no person.
    assert {type(cell) for found in theirs for row in found for cell in row} <= {int, str, NoneType}
    assert released == expected[1]


def test_the_engines_refuse_the_same_with_the_same_codes(vault: Vault) -> None:
    codes = {}
    for text in REFUSED:
        with pytest.raises(CelosiaError) as caught:
            vault.sql(text, epsilon=1.0)
        codes[text] = caught.value.code
    assert codes == REFUSED


def test_a_failure_is_one_error_that_stays_charged(place: Place, tmp_path: Path) -> None:
    policy = replace(POLICY, name=f"gone {place.kind}")
    vault = place.vault(rows(), policy, ledger=tmp_path / "ledger.sqlite")

    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(inner, name)

        def snapshot(self, *, timeout: float) -> Any:
            raise EngineError("CEL-E010", reason="secret 4532")

    inner = vault._engine
    broken: Any = Broken()
    vault._engine = broken
    with pytest.raises(EngineError) as caught:
        vault.sql("SELECT COUNT(*) FROM person", epsilon=0.5)
    assert caught.value.code == "CEL-Q140"
    assert "4532" not in str(caught.value)
    assert caught.value.__context__ is None
    assert vault.ledger.spent["epsilon"] == Fraction(1, 2)
