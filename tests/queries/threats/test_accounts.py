"""Threats to the account: lost and repeated charges, floats, rollback, bounds from the data."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.queries.threats.conftest import Place
from tests.queries.vaults import BY_ROW, POLICY, shop

from celosia.accounting.ledger import Ledger
from celosia.core.errors import BudgetExceeded, CelosiaError, InputError, QueryRefused
from celosia.core.randomness import System
from celosia.queries.policy import Spending, read_policy

COUNT = "SELECT COUNT(*) AS n FROM person WHERE id > -{}"
SMALL = replace(
    POLICY,
    budget=Spending(epsilon=Fraction(1), delta=Fraction(1, 10**6)),
    least_epsilon=Fraction(0),
)


def touched(*_: object, **__: object) -> None:
    """In the place of the engine."""
    raise AssertionError("the data was touched")


def test_ten_times_a_tenth_is_one_and_the_eleventh_touches_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = place.open(shop(Random(1)), SMALL)
    for number in range(10):
        vault.sql(COUNT.format(number), epsilon=0.1)
    assert vault.ledger.spent["epsilon"] == 1
    monkeypatch.setattr(vault._engine, "run", touched)
    monkeypatch.setattr("celosia.queries.execution.execute_plan", touched)
    with pytest.raises(BudgetExceeded):
        vault.sql(COUNT.format(10), epsilon=0.1)
    with pytest.raises(BudgetExceeded):
        vault.sql(COUNT.format(11), epsilon=1e-9)
    assert vault.ledger.spent["epsilon"] == 1


def test_the_same_question_in_any_spelling_is_answered_once(place: Place) -> None:
    vault = place.open(shop(Random(1)), SMALL)
    first = vault.sql("SELECT COUNT(*) AS n FROM person WHERE age > 30", epsilon=0.4)
    for again in (
        "select count( * ) as n from PERSON where AGE > 30 -- please",
        "SELECT COUNT(*) AS n FROM person AS p WHERE (p.age > 30)",
        'SELECT COUNT(*) AS n FROM "person" WHERE "person"."age" > 30;',
    ):
        told = vault.sql(again, epsilon=0.4)
        assert (told.value, told.stored, told.entry) == (first.value, True, first.entry)
    assert vault.ledger.spent["epsilon"] == Fraction(2, 5)


def test_analysts_share_one_budget_and_keep_to_their_own(place: Place) -> None:
    half = Spending(epsilon=Fraction(3, 5))
    vault = place.open(shop(Random(1)), replace(SMALL, analysts=(("ana", half), ("ben", half))))
    vault.sql(COUNT.format(1), epsilon=0.6, analyst="ana")
    for analyst, epsilon in (("ana", 0.1), ("ben", 0.5), ("eve", 0.1), (None, 0.1)):
        with pytest.raises(CelosiaError):
            vault.sql(COUNT.format(2), epsilon=epsilon, analyst=analyst)
    vault.sql(COUNT.format(2), epsilon=0.4, analyst="ben")
    assert vault.ledger.spent["epsilon"] == 1


def test_a_ledger_put_back_is_found_by_the_head_of_a_later_answer(
    place: Place, tmp_path: Path
) -> None:
    file, copy = tmp_path / "ledger.sqlite", tmp_path / "copy.sqlite"
    vault = place.open(shop(Random(1)), SMALL, rng=System(), ledger=file)
    first = vault.sql(COUNT.format(1), epsilon=0.5)
    place.close()
    shutil.copy(file, copy)
    vault = place.open(shop(Random(1)), SMALL, rng=System(), ledger=file)
    second = vault.sql(COUNT.format(2), epsilon=0.5)
    vault.ledger.verify(anchor=second.head)
    vault.ledger.verify(anchor=first.head)  # what came before is part of the same chain
    place.close()
    for each in tmp_path.glob("ledger.sqlite*"):
        each.unlink()
    shutil.copy(copy, file)
    vault = place.open(shop(Random(1)), SMALL, rng=System(), ledger=file)
    assert isinstance(vault.ledger, Ledger)
    vault.ledger.verify(anchor=first.head)
    with pytest.raises(CelosiaError):
        vault.ledger.verify(anchor=second.head)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT SUM(id) AS n FROM orders",
        "SELECT AVG(id) AS n FROM person",
        "SELECT MAX(id) AS n FROM person",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY id) AS n FROM person",
        "SELECT STDDEV(id) AS n FROM person",
        "SELECT SUM(CAST(street AS INTEGER)) AS n FROM person",
    ],
)
def test_no_bound_is_taken_from_the_data(
    query: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for policy in (POLICY, BY_ROW):
        vault = place.open(shop(Random(1)), policy)
        monkeypatch.setattr(vault._engine, "run", touched)
        monkeypatch.setattr("celosia.queries.execution.execute_plan", touched)
        with pytest.raises(QueryRefused):
            vault.sql(query, epsilon=1)
        assert vault.ledger.history() == ()
        monkeypatch.undo()


@pytest.mark.parametrize(
    "bounds",
    [
        "lower = 0",
        "upper = 9",
        'lower = 0, upper = "auto"',
        "lower = 9, upper = 0",
        "lower = -inf, upper = inf",
        "lower = nan, upper = 1",
        'bounds = "data"',
        "lower = true, upper = true",
    ],
)
def test_a_policy_with_half_a_bound_or_none_that_is_a_number_is_refused(bounds: str) -> None:
    with pytest.raises(InputError):
        read_policy(
            f"""
name = "x"
database = {{ path = "x.duckdb" }}
unit = {{ name = "row" }}
budget = {{ epsilon = 1 }}
[tables.v.columns]
x = {{ type = "number", {bounds} }}
"""
        )


@pytest.fixture(autouse=True)
def closed(request: pytest.FixtureRequest) -> Iterator[None]:
    """No vault outlives its test."""
    yield
    if "place" in request.fixturenames:
        request.getfixturevalue("place").close()
