"""What one row may change, by brute force over neighbours, where the engine chooses the rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp
from tests.queries.emission.shop import tree
from tests.queries.engines.places import Place

from celosia.accounting.amounts import Spending
from celosia.queries.algebra import Aggregate, Question, Scan
from celosia.queries.emission import FixedPoint, histogram_query
from celosia.queries.emission.relations import select
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    integer_literal,
)
from celosia.queries.ownership import attach_owners
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy, Unit

MOST = 2
COLUMNS = (
    ColumnPolicy(name="part", type="integer", most=MOST),
    ColumnPolicy(name="size", type="integer"),
    ColumnPolicy(name="word", type="text"),
)
Row = tuple[Any, ...]


def test_a_row_more_displaces_one_row_of_its_own_value_and_no_other(place: Place) -> None:
    rows: list[Row] = [
        *((1, 5, "a"), (1, None, "b"), (1, -5, "a"), (2, 5, "b"), (2, 5, "b"), (None, 5, "a")),
    ]
    # All rows in two orders, then without each of them in turn: one table each, and one query.
    databases = [rows, rows[::-1], *(rows[:gone] + rows[gone + 1 :] for gone in range(len(rows)))]
    policy = Policy(
        name="neighbours",
        tables=tuple(
            TablePolicy(name=f"t{number}", columns=COLUMNS) for number, _ in enumerate(databases)
        ),
        budget=Spending(epsilon=Fraction(1)),
    )
    words = [each.name for each in COLUMNS]
    place.open(
        {
            f"t{number}": [dict(zip(words, row, strict=True)) for row in database]
            for number, database in enumerate(databases)
        },
        policy,
    )
    parts: list[exp.Query] = [
        select(
            Scan(f"t{number}", "t"),
            [as_alias(integer_literal(number), "base"), *(column(word, "t") for word in words)],
            target=place.target(policy),
        )
        for number, _ in enumerate(databases)
    ]
    query = parts[0]
    for part in parts[1:]:
        query = exp.Union(this=query, expression=part, distinct=False)
    kept: list[Counter[Row]] = [Counter() for _ in databases]
    for base, *cells in place.ask(query):
        kept[base][tuple(cells)] += 1
    for stayed, database in zip(kept, databases, strict=True):
        held = Counter(row[0] for row in database)
        left = Counter(row[0] for row in stayed.elements())
        assert left == {part: n if part is None else min(n, MOST) for part, n in held.items()}
        assert stayed <= Counter(database)
    assert kept[0] == kept[1]
    displaced = 0
    for row, fewer in zip(rows, kept[2:], strict=True):
        gone, come = kept[0] - fewer, fewer - kept[0]
        assert gone <= Counter([row])
        assert come.total() <= gone.total()
        assert {each[0] for each in come} <= {row[0]}
        displaced += come.total()
    assert displaced > 0  # else nothing was tried


def test_an_owner_of_many_rows_counts_with_no_more_than_the_cap(place: Place) -> None:
    # Place times cap is beyond 32 bits here.
    rows, most = 50_000, 49_000
    table = TablePolicy(
        name="visits",
        columns=(
            ColumnPolicy(name="id", type="integer", unique=True),
            ColumnPolicy(name="person", type="integer"),
            ColumnPolicy(name="size", type="integer"),
        ),
        references=(("person", "people", "id"),),
    )
    people = TablePolicy(
        name="people", columns=(ColumnPolicy(name="id", type="integer", unique=True),)
    )
    policy = replace(
        Policy(name="many", tables=(people, table), budget=Spending(epsilon=Fraction(1))),
        unit=Unit(name="person", table="people", key="id"),
    )
    visits = [{"id": number, "person": 7, "size": number % 10} for number in range(rows)]
    place.open({"people": [{"id": 7}], "visits": visits}, policy)
    scan = Scan("visits", "v")
    query = histogram_query(
        Question(scan, (Aggregate("sum", "n", tree("v.size")),)),
        fixed=FixedPoint(lower=Fraction(0), upper=Fraction(10)),
        owned=attach_owners(scan, policy=policy),
        target=place.target(policy),
        most=most,
    )
    counts = dict(place.ask(query))
    assert sum(counts.values()) == most
    assert max(counts.values()) - min(counts.values()) <= 1  # spread evenly over the values
