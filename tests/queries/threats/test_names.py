"""Threat: SQL injection through names, of the policy and of the question, in each engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlglot import exp
from tests.queries.threats.conftest import Place, quoted
from tests.queries.vaults import POLICY, shop

from celosia.core.errors import CelosiaError, InputError
from celosia.core.randomness import Seeded
from celosia.queries import Vault
from celosia.queries.planning import make_plan
from celosia.queries.policy import ColumnPolicy, Policy, Spending, TablePolicy, Unit
from celosia.queries.request import QueryRequest
from celosia.queries.results import execute_plan, list_planned_queries

NAMES = [
    'x"; DROP TABLE "victim"; --',
    "x'; DROP TABLE victim; --",
    '"',
    '""',
    ";",
    "--",
    "/* x",
    "a b",
    "select",
    "Order",
    "%s %(x)s ?",
    "$1 :x {x}",
    "a.b",
    "\\",
    "\u043fr\u0456ce",
    "\uff07 OR 1=1",
    "na\u00efve",
    "\U0001f512",
]


def hostile(*names: str) -> Policy:
    """A table of each name, whose columns have it too."""
    return Policy(
        name="hostile",
        budget=Spending(epsilon=Fraction(10**6)),
        unit=Unit(),
        tables=tuple(
            TablePolicy(
                name=name,
                columns=(
                    ColumnPolicy(name=name, type="text", keys=(name, "other")),
                    ColumnPolicy(
                        name=f"{name}2", type="integer", lower=Fraction(0), upper=Fraction(1)
                    ),
                ),
            )
            for name in names
        ),
    )


def rows_of(name: str) -> list[dict[str, Any]]:
    """Five rows of the key, two of another one."""
    return [{name: name, f"{name}2": 1}] * 5 + [{name: "other", f"{name}2": 0}] * 2


@pytest.fixture
def victim(place: Place) -> Iterator[None]:
    """A table that the policy does not name, which is there before and after."""
    place.close()
    with place.connected() as connection:
        cursor = connection.cursor()
        cursor.execute("DROP TABLE IF EXISTS victim")
        cursor.execute("CREATE TABLE victim (secret INTEGER)")
        cursor.execute("INSERT INTO victim VALUES (7)")
    yield
    place.close()
    with place.connected() as connection:
        assert connection.cursor().execute("SELECT secret FROM victim").fetchall() == [(7,)]


@pytest.mark.usefixtures("victim")
def test_any_name_of_the_policy_is_only_a_name(place: Place) -> None:
    vault = place.open({name: rows_of(name) for name in NAMES}, hostile(*NAMES))
    evil = literal("'; DROP TABLE victim; --")
    for name in NAMES:
        table, key, number = quoted(name), quoted(name), quoted(f"{name}2")
        word = f"{name}; DROP TABLE victim"
        found = vault.sql(
            f"SELECT {key} AS {quoted(word)}, COUNT(*) AS n, SUM({number}) AS s "
            f"FROM {table} AS {quoted(word)} WHERE {key} <> {evil} GROUP BY {key}",
            epsilon=100,
        ).rows
        told = {row[word]: (row["n"], row["s"]) for row in found}
        # Each total has an epsilon of 50, so its noise is 0 but for a chance of 2 / e^50.
        assert told == {name: (5, 5), "other": (2, 0)}, name


@pytest.mark.parametrize("name", ["col\u200bumn", "a\nb", "a\0b", " a", "\u202egnp", "x" * 64, ""])
def test_names_that_cannot_be_seen_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Vault.open(hostile(name), ledger=tmp_path / "ledger.sqlite")


INJECTIONS = [
    "SELECT COUNT(*) AS n FROM victim",
    'SELECT COUNT(*) AS n FROM "victim"',
    "SELECT COUNT(*) AS n FROM person; DROP TABLE victim",
    "SELECT COUNT(*) AS n FROM person /* */ ; DROP TABLE victim --",
    "SELECT COUNT(*) AS n FROM person UNION ALL SELECT secret FROM victim",
    "SELECT COUNT(*) AS n FROM person WHERE id IN (SELECT secret FROM victim)",
    "SELECT COUNT(*) AS n FROM person WHERE EXISTS (SELECT 1 FROM victim WHERE secret = id)",
    "SELECT COUNT(*) AS n FROM person p, victim v WHERE p.id = v.secret",
    "WITH person AS (SELECT secret AS id FROM victim) SELECT COUNT(*) AS n FROM person",
    "SELECT COUNT(*) AS n FROM main.victim",
    "SELECT COUNT(*) AS n FROM public.victim",
    "SELECT COUNT(*) AS n FROM pg_catalog.pg_tables",
    "SELECT COUNT(*) AS n FROM information_schema.tables",
    "SELECT COUNT(*) AS n FROM duckdb_tables()",
    'SELECT COUNT(*) AS n FROM "person""; DROP TABLE victim; --"',
    "SELECT COUNT(*) AS n FROM p\u0435rson",
    "SELECT COUNT(*) AS n FROM \uff50erson",
    'SELECT COUNT(*) AS n FROM "person\u200b"',
    "SELECT COUNT(*) AS n FROM person WHERE \u0430ge > 1",
    "SELECT COUNT(*) AS n FROM person WHERE street = E'\\'; DROP TABLE victim; --'",
    "SELECT COUNT(*) AS n FROM person WHERE street = $$x$$; DROP TABLE victim",
    "COPY victim TO '/tmp/x'",
    "SELECT COUNT(*) AS n INTO stolen FROM person",
    "SELECT COUNT(*) AS n FROM person FOR UPDATE",
]


@pytest.mark.usefixtures("victim")
def test_no_question_reaches_another_table_or_a_second_statement(place: Place) -> None:
    vault = place.open(shop(Random(1)))
    answered = []
    for query in INJECTIONS:
        try:
            vault.sql(query, epsilon=1)
        except CelosiaError as error:
            assert error.code.startswith("CEL-Q"), query  # noqa: PT017
            assert error.code != "CEL-Q140", query  # noqa: PT017
        else:
            answered.append(query)
    assert answered == []
    assert vault.ledger.history() == ()


@pytest.mark.usefixtures("victim")
def test_a_text_of_the_question_stays_a_text(place: Place) -> None:
    texts = ["'; DROP TABLE victim; --", '"', "\\'; SELECT 1; --", "%s", "\u2019", "a\nb", "{x}"]
    rows = shop(Random(1))
    crowd = [
        {"id": n, "town": "A", "street": texts[n % len(texts)], "age": 1}
        for n in range(10 * len(texts))
    ]
    vault = place.open(rows | {"person": crowd}, replace(POLICY, most_per_unit=1))
    for text in texts:
        query = f"SELECT COUNT(*) AS n FROM person WHERE street = {literal(text)}"
        assert vault.sql(query, epsilon=100).value == 10, text


def literal(text: str) -> str:
    """A text as standard SQL."""
    return "'" + text.replace("'", "''") + "'"


OWNERS = [
    "celosia_owner_1",
    '"Celosia_Owner_1"',
    "celosia_owner2_1",
    "celosia_rows",
    "owner_1",
    "part",
]
OWNED = [
    "SELECT COUNT(*) FROM (SELECT o.id AS {name} FROM orders o) {alias}",
    "SELECT COUNT(DISTINCT {alias}.{name}) FROM (SELECT o.id AS {name} FROM orders o) {alias}",
    "SELECT SUM({alias}.x) FROM (SELECT 1 AS {name}, o.price AS x FROM orders o "
    "UNION ALL SELECT o.id, o.price FROM orders o) {alias}",
    "SELECT COUNT(*) FROM person p WHERE EXISTS (SELECT 1 FROM (SELECT m.receiver AS {name}, "
    "m.sender AS column_1 FROM message m) {alias} WHERE {alias}.column_1 = p.id)",
    "SELECT COUNT(*) FROM (SELECT i.part AS {name} FROM item i) {alias} "
    "JOIN part celosia_parent_1 ON celosia_parent_1.id = {alias}.{name}",
    "SELECT COUNT(*) FROM orders {alias} JOIN person person_ ON person_.id = {alias}.person",
    "SELECT COUNT(*) FROM orders JOIN person {alias} ON {alias}.id = orders.person",
]


@pytest.mark.parametrize("query", OWNED)
def test_no_name_of_the_question_says_whose_a_row_is(query: str, place: Place) -> None:
    vault = place.open(shop(Random(1)), replace(POLICY, most_per_unit=2))
    # Both are simulations with one seed, so all exact numbers are equal if the answers are.
    for number, name in enumerate(OWNERS, start=1):
        wanted, found = (
            simulated(vault, query.format(name=word, alias=alias), number)
            for word, alias in (("plain", "z"), (name, name))
        )
        assert found == wanted, name


def simulated(vault: Vault, query: str, seed: int) -> object:
    """What is released for a query with the randomness of a seed."""
    plan = vault.explain(query)
    return execute_plan(plan, vault._ask, rng=Seeded(seed)).measured


def test_an_answer_may_be_called_as_what_it_is_made_of(place: Place) -> None:
    vault = place.open(shop(Random(1)))
    query = "SELECT COUNT(*) AS {}, MEDIAN(price) AS {} FROM orders"
    plain, *others = (
        [
            each.values
            for each in execute_plan(
                vault.explain(query.format(*words)), vault._ask, rng=Seeded(1)
            ).measured.values()
        ]
        for words in (("n", "m"), ("n", "total_1"), ("total_1", "total2_1"))
    )
    assert others == [plain, plain]


def test_names_of_with_are_none_that_a_table_has() -> None:
    plan = make_plan(QueryRequest("SELECT COUNT(*) FROM message", epsilon=1), POLICY)
    names = [each.alias for query in list_planned_queries(plan) for each in query.find_all(exp.CTE)]
    assert len(names) == 2
    # A table of the same name would be read, and its columns cast, in its place.
    assert all(each.startswith("celosia_") for each in names)
