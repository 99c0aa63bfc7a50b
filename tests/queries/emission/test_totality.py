"""No row can make a query fail: expressions as questions hold them, on values that provoke them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from sqlglot import exp
from tests.queries.emission.conftest import Bench
from tests.queries.emission.shop import Rows, tree

from celosia.accounting.amounts import Spending
from celosia.core.errors import QueryRefused
from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    Join,
    Key,
    NamedExpression,
    Question,
    Scan,
)
from celosia.queries.emission import (
    FixedPoint,
    Target,
    count_query,
    distinct_count_query,
    grouped_query,
    sum_query,
)
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy
from celosia.queries.sql.conditions import make_total

KINDS = ("integer", "number", "text", "boolean", "date", "timestamp")
ODD = TablePolicy(
    name="odd",
    columns=tuple(
        ColumnPolicy(name=name, type=kind)  # type: ignore[arg-type]
        for name, kind in zip("inxbdt", KINDS, strict=True)
    ),
)
POLICY = Policy(name="odd", tables=(ODD,), budget=Spending(epsilon=Fraction(1)))
SCAN = Scan("odd", "o")
VALUES: dict[str, list[Any]] = {
    "i": [None, 0, 1, -1, 2**63 - 1, -(2**63)],
    "n": [None, 0.0, -0.5, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan],
    "x": [None, "", "12", " -3.5e2 ", "abc", "1e999", "9" * 400, "true", "No", "2026-13-45", "."],
    "b": [None, True, False],
    "d": [None, "2024-02-29", "0001-01-01", "9999-12-31", "infinity"],
    "t": [None, "2024-02-29 13:14:15", "0001-01-01 00:00:00", "infinity"],
}
NUMBERS = [
    "o.i + o.i",
    "o.i * o.i * o.i - o.n",
    "-o.i",
    "ABS(o.i)",
    "1 / (o.i - 1)",
    "o.n / o.n",
    "o.i % o.i",
    "o.i // (o.i + 1)",
    "o.n * o.n * o.n",
    "o.n - o.n",
    "ROUND(o.n * 100, 2)",
    "CEIL(o.n) + FLOOR(o.n)",
    "CAST(o.x AS INT)",
    "CAST(o.x AS DOUBLE) * 2",
    "CAST(o.x AS DECIMAL(5, 2))",
    "CAST(o.n AS BIGINT)",
    "CAST(o.i AS SMALLINT)",
    "CAST(o.b AS INT)",
    "CASE WHEN o.b THEN o.n ELSE o.n * o.n END",
    "COALESCE(o.n * o.n, o.i)",
    "GREATEST(o.i, o.n * o.n)",
    "EXTRACT(YEAR FROM o.d)",
    "EXTRACT(HOUR FROM o.d + INTERVAL '10000' DAY)",
    "o.d - o.d",
    "LENGTH(o.x)",
]
TRUTHS = [
    "o.n * o.n > o.n",
    "o.i + 1 > o.n",
    "CAST(o.x AS BOOLEAN)",
    "CAST(o.i AS BOOLEAN)",
    "o.d + INTERVAL '4000' YEAR > o.t",
    "o.d - INTERVAL '4000' YEAR < o.t",
    "o.d + 10000 > o.d",
    "DATE_TRUNC('month', o.t) = o.t",
    "DATE_TRUNC('year', o.d) < o.t",
    "CAST(o.t AS DATE) = o.d",
    "CAST(o.d AS TIMESTAMP) = o.t",
    "CAST(o.n AS TEXT) LIKE '%1%'",
    "SUBSTRING(o.x, 2, 3) || o.x = UPPER(o.x)",
]


@pytest.fixture
def odd(bench: Bench) -> Bench:
    """All values, those of each column with empty others, and some side by side."""
    rows: Rows = [{name: value} for name, values in VALUES.items() for value in values]
    longest = max(map(len, VALUES.values()))
    for shift in range(longest):
        rows.append(
            {
                name: values[(shift * (place + 1)) % len(values)]
                for place, (name, values) in enumerate(VALUES.items())
            }
        )
    bench.load({"odd": rows}, POLICY)
    return bench


def of(text: str) -> exp.Expression:
    return make_total(tree(text))


@pytest.mark.parametrize("text", NUMBERS)
def test_no_number_fails(odd: Bench, text: str) -> None:
    target = odd.target(POLICY)
    fixed = FixedPoint(lower=Fraction(-1000), upper=Fraction(1000), step=Fraction(1, 100))
    [(found,)] = odd.ask(sum_query(SCAN, of(text), fixed=fixed, target=target))
    assert isinstance(found, int)
    odd.ask(distinct_count_query(SCAN, of(text), target=target))
    odd.ask(count_query(Filter(SCAN, of(f"{text} > o.n")), target=target))
    inner = DerivedTable(
        SCAN, "d", (NamedExpression("v", of(text)), NamedExpression("n", tree("o.n")))
    )
    odd.ask(count_query(Filter(inner, of("d.v * d.v <> d.n")), target=target))
    question = Question(SCAN, (Aggregate("rows", "c"),), (Key("k", of(text)),))
    odd.ask(grouped_query(question, target=target, group_keys=[[1, 2]]))


@pytest.mark.parametrize("text", TRUTHS)
def test_no_condition_fails(odd: Bench, text: str) -> None:
    target = odd.target(POLICY)
    odd.ask(count_query(Filter(SCAN, of(text)), target=target))
    odd.ask(count_query(Filter(SCAN, of(f"NOT ({text})")), target=target))
    other = Scan("odd", "p")
    join = Join(SCAN, other, ((Column("o", "i"), Column("p", "i")),), of(text))
    odd.ask(count_query(join, target=target))


def test_ordinary_values_mean_the_same_in_both_engines(bench: Bench) -> None:
    rows: Rows = [
        {"i": n - 2, "n": n / 4, "x": str(n), "b": n % 2 == 0, "d": f"2024-0{n + 1}-28"}
        for n in range(5)
    ]
    bench.load({"odd": rows}, POLICY)
    expected: dict[str, Sequence[int | Fraction]] = {
        "o.i * 3 - o.n": [Fraction(3 * (n - 2)) - Fraction(n, 4) for n in range(5)],
        "1 / o.i": [Fraction(1, n - 2) for n in range(5) if n != 2],
        "o.i // 2": [-1, 0, 0, 0, 1],
        "o.i % 2": [0, -1, 0, 1, 0],
        "CAST(o.x AS INT)": range(5),
        "CAST(o.b AS INT)": [1, 0, 1, 0, 1],
        "EXTRACT(MONTH FROM o.d + INTERVAL '2' DAY)": [1, 3, 3, 4, 5],
        "o.d - DATE '2024-01-01'": [27, 58, 87, 118, 148],
        "ROUND(o.n)": [0, 0, 1, 1, 1],
    }
    fixed = FixedPoint(lower=Fraction(-1000), upper=Fraction(1000), step=Fraction(1, 4))
    for text, values in expected.items():
        query = sum_query(SCAN, of(text), fixed=fixed, target=bench.target(POLICY))
        assert bench.ask(query) == [(sum(round(4 * each) for each in values),)], text


@pytest.mark.parametrize(
    "text",
    [
        "CAST(o.x AS DATE) = o.d",
        "o.d + INTERVAL '9000' YEAR > o.t",
        " * ".join(["(" + " * ".join(["o.n"] * 60) + ")"] * 4) + " > 1",
    ],
)
def test_what_postgres_cannot_try_is_refused(text: str) -> None:
    target = Target(policy=POLICY, dialect="postgres")
    with pytest.raises(QueryRefused) as caught:
        count_query(Filter(SCAN, of(text)), target=target)
    assert caught.value.code == "CEL-Q127"
