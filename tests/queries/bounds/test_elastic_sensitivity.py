"""Elastic sensitivity of aggregates, from a policy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.queries.bounds.trees import parsed

from celosia.accounting.amounts import Spending
from celosia.core.errors import InputError, QueryRefused
from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Neighbours, Relation
from celosia.queries.algebra import Aggregate, Column, Join, Key, Question, Scan, SemiJoin
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity, row_level_neighbours
from celosia.queries.bounds.facts import DeclaredFacts
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy, Unit


def column(name: str, **declared: Any) -> ColumnPolicy:
    return ColumnPolicy(name=name, type="integer", **declared)


POLICY = Policy(
    name="shop",
    elastic=True,
    budget=Spending(epsilon=Fraction(1)),
    tables=(
        TablePolicy(name="customer", columns=(column("custkey", unique=True), column("nation"))),
        TablePolicy(
            name="orders",
            columns=(column("orderkey", unique=True), column("custkey", most=50), column("price")),
        ),
        TablePolicy(name="nation", columns=(column("nation"),), public=True, rows=25),
    ),
)
ORDERS, CUSTOMER, NATION = Scan("Orders", "o"), Scan("customer", "c"), Scan("nation", "n")
BOTH = Join(ORDERS, CUSTOMER, ((Column("o", "custkey"), Column("c", "custkey")),))
COUNT = Aggregate("rows", "n")
SUM = Aggregate("sum", "total", parsed("o.price"))
FACTS = DeclaredFacts(POLICY)


def bound(source: Any, aggregate: Aggregate = COUNT, **given: Any) -> Any:
    question = Question(source, (aggregate,), given.pop("keys", ()))
    return elastic_sensitivity(question, aggregate, facts=given.pop("facts", FACTS), **given)


def test_caps_give_a_global_bound_that_may_be_published() -> None:
    found = bound(BOTH)
    assert found.limit == found.at(0) == found.at(1000) == 50
    assert str(found) == "max(mf(customer.custkey), mf(Orders.custkey))"
    assert found.as_dict()["limit"] == "50"


def test_measured_frequencies_grow_up_to_the_cap() -> None:
    found = bound(BOTH, facts=DeclaredFacts(POLICY, {("ORDERS", "CustKey"): 44}))
    assert [found.at(k) for k in (0, 1, 6, 100)] == [44, 45, 50, 50]
    assert found.limit == 50


def test_measured_frequencies_are_never_shown() -> None:
    found = bound(BOTH, facts=DeclaredFacts(POLICY, {("orders", "custkey"): 44}))
    assert found.as_dict() == bound(BOTH).as_dict()
    assert "44" not in str(found)


def test_the_rows_of_a_public_table_bound_its_frequencies() -> None:
    source = Join(CUSTOMER, NATION, ((Column("c", "nation"), Column("n", "nation")),))
    assert bound(source).limit == 25
    measured = bound(source, facts=DeclaredFacts(POLICY, {("nation", "nation"): 1}))
    assert measured.limit == 1
    assert bound(NATION).is_public
    assert not bound(source).is_public


LOW, HIGH = Fraction(-2), Fraction(7, 2)


@pytest.mark.parametrize(
    ("bounds", "added", "changed"),
    [
        ((LOW, HIGH), HIGH, HIGH - LOW),
        ((Fraction(1), HIGH), HIGH, HIGH),
        ((Fraction(-9), Fraction(-1)), Fraction(9), Fraction(9)),
        ((Fraction(5), Fraction(5)), Fraction(5), Fraction(5)),
    ],
)
def test_a_clipped_sum_moves_by_a_value_a_row(
    bounds: tuple[Fraction, Fraction], added: Fraction, changed: Fraction
) -> None:
    total = Aggregate("sum", "total", parsed("c.nation"))
    assert bound(CUSTOMER, total, bounds=bounds).limit == added
    assert bound(CUSTOMER, total, bounds=bounds, neighbours=CHANGE_ONE).limit == changed
    keys = (Key("nation", parsed("c.nation")),)
    assert bound(CUSTOMER, total, bounds=bounds, keys=keys).limit == added
    grouped = bound(CUSTOMER, total, bounds=bounds, keys=keys, neighbours=CHANGE_ONE)
    assert grouped.limit == 2 * max(map(abs, bounds))


def test_a_table_with_rows_left_out_feels_both_sides() -> None:
    """One order more may push another one of the customer out."""
    assert bound(ORDERS).limit == 1
    assert bound(ORDERS, SUM, bounds=(LOW, HIGH)).limit == HIGH - LOW
    assert bound(ORDERS, keys=(Key("k", parsed("o.custkey")),)).limit == 2


def test_a_relation_that_one_table_both_fills_and_empties_costs_twice_under_change_one() -> None:
    other = Scan("customer", "d")
    source = SemiJoin(
        CUSTOMER, other, ((Column("c", "custkey"), Column("d", "nation")),), negated=True
    )
    assert bound(source).limit == 2
    assert bound(source, neighbours=CHANGE_ONE).limit == 4


@pytest.mark.parametrize(
    "kind", ["mean", "variance", "deviation", "minimum", "maximum", "quantile"]
)
def test_other_aggregates_are_refused(kind: Any) -> None:
    with pytest.raises(QueryRefused) as refused:
        bound(ORDERS, Aggregate(kind, "n", parsed("o.price")))
    assert refused.value.key == "CEL-Q065.aggregate"


def test_a_sum_without_bounds_is_refused() -> None:
    with pytest.raises(QueryRefused) as refused:
        bound(ORDERS, SUM)
    assert refused.value.key == "CEL-Q065.no_bounds"


@pytest.mark.parametrize(
    ("table", "name"), [("supplier", "custkey"), ("orders", "suppkey")], ids=["table", "column"]
)
def test_what_the_policy_does_not_declare_is_refused(table: str, name: str) -> None:
    source = Join(CUSTOMER, Scan(table, "s"), ((Column("c", "custkey"), Column("s", name)),))
    with pytest.raises(QueryRefused) as refused:
        bound(source)
    assert refused.value.code == "CEL-Q062"


@pytest.mark.parametrize("number", [-1, 1.5, True, "7"])
def test_a_frequency_that_is_no_count_is_refused(number: Any) -> None:
    with pytest.raises(InputError) as refused:
        DeclaredFacts(POLICY, {("orders", "custkey"): number})
    assert refused.value.code == "CEL-Q061"


def test_frequencies_are_measured_on_private_tables_only_where_the_policy_allows_it() -> None:
    strict = replace(POLICY, elastic=False)
    assert DeclaredFacts(strict, {("nation", "nation"): 1}).frequency("NATION", "Nation") == 1
    with pytest.raises(QueryRefused) as refused:
        DeclaredFacts(strict, {("nation", "nation"): 1, ("orders", "custkey"): 44})
    assert refused.value.key == "CEL-Q065.not_allowed"
    assert "44" not in str(refused.value)


def test_a_row_is_protected_and_a_person_only_where_it_is_one_row() -> None:
    assert row_level_neighbours(POLICY, BOTH) == ADD_REMOVE
    person = replace(
        POLICY,
        relation=Relation.CHANGE_ONE,
        unit=Unit(name="customer", table="customer", key="custkey"),
    )
    alone = Join(CUSTOMER, NATION, ((Column("c", "nation"), Column("n", "nation")),))
    assert row_level_neighbours(person, alone) == Neighbours(Relation.CHANGE_ONE, unit="customer")
    for source in (BOTH, ORDERS, Scan("unheard_of", "u")):
        with pytest.raises(QueryRefused) as refused:
            row_level_neighbours(person, source)
        assert refused.value.key == "CEL-Q065.not_a_row"
