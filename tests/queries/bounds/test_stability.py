"""Stability: the published answers of FLEX, a database checked by hand, and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from tests.queries.bounds.evaluator import answer
from tests.queries.bounds.neighbours import Tables, domain, frequencies, local, pairs
from tests.queries.bounds.plain_facts import PlainFacts

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Relation
from celosia.queries.algebra import (
    Aggregate,
    Column,
    DerivedTable,
    Filter,
    Join,
    Key,
    Keys,
    NamedExpression,
    Question,
    Scan,
    SemiJoin,
    UnionAll,
)
from celosia.queries.algebra import Relation as Tree
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.bounds.growth import Growth
from celosia.queries.bounds.stability import Rule, StabilityAnalysis

FLEX = PlainFacts(
    {
        ("orders", "order_id"): 1,
        ("orders", "customer_id"): 100,
        ("orders", "product_id"): 500,
        ("customers", "customer_id"): 1,
        ("customers", "address"): 5,
        ("recommendations", "customer_id"): 250,
        ("recommendations", "product_id"): 2000,
        ("products", "product_id"): 300,
    },
    frozenset({"products"}),
)


def on(*equal: str) -> Keys:
    """`on("a.x=b.y")` as keys."""
    found = []
    for each in equal:
        (left, x), (right, y) = (side.split(".") for side in each.split("="))
        found.append((Column(left, x), Column(right, y)))
    return tuple(found)


def scan(table: str, alias: str | None = None) -> Scan:
    return Scan(table, alias or table)


def tree(text: str) -> Any:
    return sqlglot.parse_one(text)


def counted(source: Tree, *keys: str, rule: Rule = "elastic", facts: PlainFacts = FLEX) -> Growth:
    """Change-one neighbours, as in FLEX."""
    count = Aggregate("rows", "n")
    question = Question(source, (count,), tuple(Key(key, tree(key)) for key in keys))
    return elastic_sensitivity(
        question, count, facts=facts, neighbours=CHANGE_ONE, rule=rule
    ).growth


ORDERS = scan("orders")
TO_RECOMMENDATIONS = Join(
    ORDERS, scan("recommendations"), on("orders.customer_id=recommendations.customer_id")
)
TO_CUSTOMERS = Join(ORDERS, scan("customers"), on("orders.customer_id=customers.customer_id"))
TO_PRODUCTS = Join(ORDERS, scan("products"), on("orders.product_id=products.product_id"))


def key_pair(alias: str) -> DerivedTable:
    """Orders and customers joined on the wrong, but rare, columns, as a sub-query."""
    join = Join(
        scan("orders", f"{alias}_o"),
        scan("customers", f"{alias}_c"),
        on(f"{alias}_o.order_id={alias}_c.customer_id"),
    )
    return DerivedTable(join, alias, (NamedExpression("id", tree(f"{alias}_o.order_id")),))


CONFORMANCE: dict[str, tuple[Growth, dict[int, int]]] = {
    "one table": (counted(ORDERS), {0: 1, 9: 1}),
    "where": (counted(Filter(ORDERS, tree("orders.product_id = 3"))), {0: 1, 9: 1}),
    "sub-query": (
        counted(DerivedTable(ORDERS, "o", (NamedExpression("id", tree("orders.order_id")),))),
        {0: 1, 9: 1},
    ),
    "histogram": (counted(ORDERS, "orders.order_date"), {0: 2, 9: 2}),
    "join": (counted(TO_RECOMMENDATIONS), {0: 250, 2: 252}),
    "histogram of a join": (
        counted(TO_RECOMMENDATIONS, "orders.product_id"),
        {0: 500, 10: 520},
    ),
    "comma join": (counted(TO_CUSTOMERS), {0: 100}),
    "comma join with a condition": (
        counted(Filter(TO_CUSTOMERS, tree("customers.address = 'x'"))),
        {0: 100},
    ),
    "two keys": (
        counted(
            Join(
                ORDERS,
                scan("customers"),
                on(
                    "orders.customer_id=customers.customer_id",
                    "orders.product_id=customers.address",
                ),
            )
        ),
        {0: 100},
    ),
    "two joins": (
        counted(
            Join(
                Join(ORDERS, scan("customers"), on("orders.customer_id=customers.address")),
                scan("recommendations"),
                on("orders.customer_id=recommendations.customer_id"),
            )
        ),
        {0: 25_000, 10: 28_600, 25: 34_375},
    ),
    "public": (counted(TO_PRODUCTS), {0: 300, 7: 300}),
    "public, then private": (
        counted(
            Join(
                TO_PRODUCTS,
                scan("recommendations"),
                on("orders.customer_id=recommendations.customer_id"),
            )
        ),
        {0: 75_000, 25: 82_500},
    ),
    "self-join on a key": (
        counted(Join(ORDERS, scan("orders", "o"), on("orders.order_id=o.order_id"))),
        {0: 3},
    ),
    "self-join": (
        counted(Join(ORDERS, scan("orders", "o"), on("orders.customer_id=o.customer_id"))),
        {0: 201, 2: 205, 15: 231},
    ),
    "self-join after a join": (
        counted(Join(TO_CUSTOMERS, scan("orders", "o"), on("orders.order_id=o.order_id"))),
        {0: 201},
    ),
    "self-join of a sub-query": (
        counted(Join(key_pair("r"), key_pair("s"), on("r.id=s.id"))),
        {0: 3},
    ),
    "public only": (counted(scan("products")), {0: 0, 5: 0}),
    "public only, joined": (
        counted(
            Join(scan("products"), scan("products", "p"), on("products.product_id=p.product_id"))
        ),
        {0: 0, 5: 0},
    ),
}


@pytest.mark.parametrize("name", CONFORMANCE)
def test_the_published_rule_gives_the_published_answers(name: str) -> None:
    growth, expected = CONFORMANCE[name]
    assert {k: growth.at(k) for k in expected} == expected


@pytest.mark.parametrize("kind", ["rows", "count", "distinct"])
def test_all_counts_of_a_table_have_sensitivity_1(kind: Any) -> None:
    count = Aggregate(kind, "n", None if kind == "rows" else tree("orders.product_id"))
    bound = elastic_sensitivity(
        Question(ORDERS, (count,)), count, facts=FLEX, neighbours=CHANGE_ONE
    )
    assert bound.at(0) == bound.at(50) == bound.limit == 1


def test_keeping_tables_apart_sees_that_only_one_of_them_changes() -> None:
    """An order moves 3 rows, a customer 100; together they were charged with 201."""
    source = Join(TO_CUSTOMERS, scan("orders", "o"), on("orders.order_id=o.order_id"))
    moves = StabilityAnalysis(FLEX).stabilities(source)
    assert {table: moved.at(0) for table, moved in moves.items()} == {"orders": 3, "customers": 100}


BY_HAND: Tables = {
    "A": pairs((1, 1), (1, 2), (2, 2)),
    "B": pairs((1, 1), (2, 1), (2, 2), (2, 3)),
    "C": pairs((1, 1), (1, 2), (3, 1)),
}
A, B, C, A2 = Scan("A", "a"), Scan("B", "b"), Scan("C", "c"), Scan("A", "a2")


@pytest.mark.parametrize(
    ("source", "count", "added", "changed", "bounds"),
    [
        (Join(A, B, on("a.x=b.x")), 5, 3, 3, [3, 4, 5]),
        (Join(A, A2, on("a.x=a2.x")), 5, 5, 4, [5, 7, 9]),
        (Join(A, A2, on("a.y=a2.x")), 4, 4, 2, [5, 7, 9]),
        (Join(A, B, on("a.x=b.x", "a.y=b.y")), 2, 1, 1, [2, 3, 4]),
        (Join(Join(A, B, on("a.y=b.x")), C, on("b.y=c.x")), 8, 4, 4, [6, 12, 20]),
        (Join(Join(A, B, on("a.x=b.x")), C, on("a.x=c.x")), 4, 4, 4, [6, 12, 20]),
        (Join(Join(A, B, on("a.y=b.x")), A2, on("b.y=a2.x")), 8, 7, 5, [13, 25, 41]),
    ],
    ids=["join", "self x=x", "self y=x", "two keys", "path", "star", "A twice"],
)
def test_the_database_checked_by_hand(
    source: Tree, count: int, added: int, changed: int, bounds: list[int]
) -> None:
    question = Question(source, (Aggregate("rows", "n"),))

    def ask(tables: Tables) -> dict[tuple[Any, ...], Any]:
        return {(): answer(question, tables)[()][0]}

    everything = domain(1, 2, 3, 4)
    assert ask(BY_HAND) == {(): count}
    assert local(ask, BY_HAND, "ABC", everything) == added
    assert local(ask, BY_HAND, "ABC", everything, Relation.CHANGE_ONE) == changed
    facts = PlainFacts(frequencies(BY_HAND))
    growth = counted(source, facts=facts)
    assert [growth.at(k) for k in range(3)] == bounds
    ours = counted(source, facts=facts, rule="tight")
    assert added <= ours.at(0) <= bounds[0]


def test_the_order_in_which_joins_are_written_does_not_matter() -> None:
    facts = PlainFacts(frequencies(BY_HAND))
    path = on("a.y=b.x"), on("b.y=a2.x"), on("a.x=a2.y")
    written = Join(Join(A, B, path[0]), A2, path[1] + path[2])
    turned = Join(A2, Join(B, A, on("b.x=a.y")), on("a2.x=b.y", "a2.y=a.x"))
    bounds = [counted(source, facts=facts, rule="tight") for source in (written, turned)]
    assert [bounds[0].at(k) for k in range(20)] == [bounds[1].at(k) for k in range(20)]
    assert counted(written, facts=facts).at(0) > bounds[0].at(0)


def test_a_comma_join_that_is_connected_later_is_accepted() -> None:
    source = Join(Join(A, C, ()), B, on("a.y=b.x", "c.x=b.y"))
    assert counted(source, facts=PlainFacts(frequencies(BY_HAND)), rule="tight").at(0) == 6


def test_long_chains_and_many_copies_are_bounded_in_no_time() -> None:
    facts = PlainFacts({("T", "x"): 2, ("T", "y"): 2, ("U", "x"): 1, ("U", "y"): 1})
    for tables in ("TU" * 8, "T" * 12):
        source: Tree = Scan(tables[0], "t0")
        for place, table in enumerate(tables[1:], 1):
            source = Join(source, Scan(table, f"t{place}"), on(f"t{place - 1}.y=t{place}.x"))
        assert counted(source, facts=facts, rule="tight").at(3) <= counted(source, facts=facts).at(
            3
        )


def test_semi_and_anti_joins_move_as_many_rows_as_share_the_key() -> None:
    """One row of B can give or take the partner of every row of A with its key (FIX-5)."""
    facts = PlainFacts({("A", "x"): 80, ("B", "x"): 9})
    for negated in (False, True):
        moves = StabilityAnalysis(facts).stabilities(SemiJoin(A, B, on("a.x=b.x"), negated=negated))
        assert {table: (moved.at(0), moved.at(3)) for table, moved in moves.items()} == {
            "a": (1, 1),
            "b": (80, 83),
        }
        moves = StabilityAnalysis(facts).stabilities(
            SemiJoin(A, A2, on("a.x=a2.x"), negated=negated)
        )
        assert moves["a"].at(0) == 81


def test_a_match_with_a_public_table_needs_no_frequency() -> None:
    bound = counted(SemiJoin(A, B, ()), facts=PlainFacts({}, frozenset("B")), rule="tight")
    assert bound.limit == 1


def test_union_adds_what_both_parts_lose() -> None:
    def part(source: Scan) -> DerivedTable:
        return DerivedTable(
            source, f"d{source.alias}", (NamedExpression("x", tree(f"{source.alias}.x")),)
        )

    twice = UnionAll((part(A), part(A2)), "u")
    once = UnionAll((part(A), part(B)), "u")
    facts = PlainFacts({("A", "x"): 4, ("B", "x"): 5, ("C", "x"): 3})
    assert counted(twice, facts=facts, rule="tight").at(0) == 2
    assert counted(once, facts=facts, rule="tight").at(0) == 1
    assert StabilityAnalysis(facts).frequency(Column("u", "x"), once).at(0) == 9
    joined = Join(twice, C, on("u.x=c.x"))
    assert counted(joined, facts=facts, rule="tight").at(0) == max(2 * 3, 8)


def test_capped_functional_stars_have_sensitivity_1_at_every_distance() -> None:
    caps = {(table, "x"): 1 for table in "ABC"}
    source = Join(Join(A, B, on("a.x=b.x")), C, on("b.x=c.x"))
    bound = counted(source, facts=PlainFacts({}, caps=caps), rule="tight")
    assert bound.at(0) == bound.at(10**9) == bound.limit == 1
    measured = counted(source, facts=PlainFacts(dict.fromkeys(caps, 1), caps=caps), rule="tight")
    assert measured.at(10**9) == measured.limit == 1


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("CEL-Q060", Join(ORDERS, scan("customers"), on("orders.order_id=customers.name"))),
        ("CEL-Q065", Join(ORDERS, scan("customers"), ())),
        ("CEL-Q065", Join(ORDERS, scan("customers"), (), tree("orders.a < customers.b"))),
        ("CEL-Q065", SemiJoin(ORDERS, scan("customers"), ())),
        (
            "CEL-Q065",
            Join(
                DerivedTable(ORDERS, "o", (NamedExpression("id", tree("orders.order_id + 1")),)),
                scan("customers"),
                on("o.id=customers.customer_id"),
            ),
        ),
        (
            "CEL-Q065",
            SemiJoin(
                DerivedTable(ORDERS, "o", (NamedExpression("id", tree("ROUND(orders.order_id)")),)),
                scan("customers"),
                on("o.id=customers.customer_id"),
                negated=True,
            ),
        ),
    ],
)
@pytest.mark.parametrize("rule", ["tight", "elastic"])
def test_joins_without_a_bound_are_refused(code: str, source: Tree, rule: Rule) -> None:
    with pytest.raises(QueryRefused) as refused:
        counted(source, rule=rule)
    assert refused.value.code == code
    assert refused.value.fix


def test_a_missing_frequency_is_named_with_what_to_declare() -> None:
    with pytest.raises(QueryRefused, match=r"`most = ...` for column name of table customers"):
        counted(Join(ORDERS, scan("customers"), on("orders.order_id=customers.name")))


def test_a_key_of_unknown_frequency_does_no_harm_beside_a_known_one() -> None:
    keys = on("orders.customer_id=customers.customer_id", "orders.order_id=customers.name")
    assert counted(Join(ORDERS, scan("customers"), keys), rule="tight").at(0) == 1


def test_the_spelling_of_a_table_does_not_hide_a_self_join() -> None:
    facts = PlainFacts({(table, "x"): 2 for table in ("A", "a")})
    assert (
        StabilityAnalysis(facts, ADD_REMOVE)
        .stabilities(Join(Scan("A", "p"), Scan("a", "q"), on("p.x=q.x")))["a"]
        .at(0)
        == 5
    )
