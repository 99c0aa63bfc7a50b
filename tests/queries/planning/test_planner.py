"""Which method is taken, at which price, and what is refused, without any data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.queries.vaults import BY_ROW, POLICY, capped

from celosia.core.errors import InputError, QueryRefused
from celosia.core.neighbours import Relation
from celosia.queries.planning import METHODS, make_plan
from celosia.queries.planning.chosen_cap import ChosenCapStep
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest

JOIN = 'SELECT COUNT(*) AS n FROM orders o JOIN item i ON i."order" = o.id'


@pytest.mark.parametrize(
    ("query", "policy", "method"),
    [
        ("SELECT COUNT(*) AS n FROM person", POLICY, "capped"),
        (JOIN, POLICY, "chosen-cap"),
        (JOIN, capped(POLICY, orders__person=5, item__order=7), "capped"),
        (JOIN, capped(POLICY, orders__person=50, item__order=7), "chosen-cap"),
        (JOIN, capped(BY_ROW, item__order=7), "global"),
        (JOIN, replace(BY_ROW, elastic=True), "elastic"),
        ("SELECT COUNT(*) AS n FROM part", POLICY, "public"),
        ("SELECT MEDIAN(age) AS m FROM person", POLICY, "rank"),
        ("SELECT MAX(price) AS m FROM orders", POLICY, "rank"),
        ("SELECT COUNT(*) AS n FROM message", POLICY, "r2t-cap"),
    ],
)
def test_the_method_follows_from_what_is_declared(query: str, policy: Policy, method: str) -> None:
    assert make_plan(QueryRequest(query, epsilon=1, delta=1e-6), policy).method == method


def test_the_bound_of_capped_rows_is_the_product_of_the_caps() -> None:
    policy = capped(POLICY, orders__person=5, item__order=7)
    (step,) = make_plan(QueryRequest(JOIN, epsilon=1), policy).steps
    assert isinstance(step, LaplaceStep)
    assert step.shifts == (35,)
    assert step.parts[0].error == 35.0


@pytest.mark.parametrize(
    ("query", "shifts"),
    [
        ("SELECT COUNT(*) AS n FROM orders", (3,)),
        ("SELECT status, COUNT(*) AS n FROM orders GROUP BY status", (6,)),
        ("SELECT SUM(price) AS s FROM orders", (3000,)),
        ("SELECT SUM(balance) AS s FROM orders", (30,)),
        ("SELECT COUNT(DISTINCT status) AS s FROM orders", (3,)),
    ],
)
def test_a_changed_person_moves_groups_and_signed_sums_twice(
    query: str, shifts: tuple[int, ...]
) -> None:
    policy = replace(capped(POLICY, orders__person=3), relation=Relation.CHANGE_ONE)
    (step,) = make_plan(QueryRequest(query, epsilon=1), policy).steps
    assert isinstance(step, LaplaceStep)
    assert step.shifts == shifts


@pytest.mark.parametrize(("relation", "times"), [("add-remove", 1), ("change-one", 2)])
def test_a_changed_person_is_one_removal_and_one_addition(relation: str, times: int) -> None:
    policy = replace(POLICY, relation=Relation(relation))
    plan = make_plan(QueryRequest("SELECT COUNT(*) AS n FROM orders", epsilon=1), policy)
    (step,) = plan.steps
    assert isinstance(step, ChosenCapStep)
    (mechanism,) = step.mechanisms(1)
    assert times * sum(mechanism.epsilon_shares) == plan.epsilon == 1


@pytest.mark.parametrize(
    ("aggregates", "parts"),
    [
        ("COUNT(*) AS a", 1),
        ("COUNT(*) AS a, COUNT(*) AS b", 1),
        ("AVG(price) AS a", 2),
        ("SUM(price) AS s, AVG(price) AS a, COUNT(price) AS n", 2),
        ("VAR_SAMP(price) AS v, STDDEV_SAMP(price) AS d", 3),
        ("AVG(price) AS a, STDDEV_SAMP(price) AS d, COUNT(*) AS n", 4),
    ],
)
def test_epsilon_is_shared_out_over_different_totals(aggregates: str, parts: int) -> None:
    plan = make_plan(QueryRequest(f"SELECT {aggregates} FROM orders", epsilon=0.6), POLICY)
    assert [part.epsilon for part in plan.parts] == [Fraction(6, 10) / parts] * parts


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT SUM(id) AS s FROM orders", "CEL-Q144"),
        ("SELECT AVG(price + person) AS s FROM orders", "CEL-Q144"),
        ("SELECT street, COUNT(*) AS n FROM person GROUP BY street", "CEL-Q146"),
        (
            "SELECT MEDIAN(p.age) AS n FROM message m JOIN person p ON p.id = m.sender",
            "CEL-Q144",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT p.id FROM person p "
            "WHERE p.town IN (SELECT town FROM person)) x",
            "CEL-Q121",
        ),
        ("SELECT COUNT(*) AS n FROM orders CROSS JOIN person", "CEL-Q"),
    ],
)
def test_what_cannot_be_promised_is_refused_with_a_way_out(query: str, code: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(query, epsilon=1), POLICY)
    assert refused.value.code.startswith(code)
    assert refused.value.fix


@pytest.mark.parametrize("policy", [POLICY, BY_ROW])
def test_a_method_of_the_wrong_kind_is_refused(policy: Policy) -> None:
    wrong = {"capped", "global", "elastic"} if policy is POLICY else {"capped", "chosen-cap"}
    for method in METHODS:
        if method in wrong:
            with pytest.raises(QueryRefused) as refused:
                make_plan(QueryRequest(JOIN, epsilon=1, delta=1e-6, method=method), policy)
            assert refused.value.code == "CEL-Q143"
    for each in (policy, replace(policy, elastic=True)):  # ranks have nothing that it bounds
        with pytest.raises(QueryRefused) as refused:
            make_plan(
                QueryRequest(
                    "SELECT MAX(price) FROM orders", epsilon=1, delta=1e-6, method="elastic"
                ),
                each,
            )
        assert refused.value.code == "CEL-Q143"
    with pytest.raises(InputError) as unknown:
        make_plan(QueryRequest(JOIN, epsilon=1, method="chosen_cap"), policy)
    assert unknown.value.code == "CEL-Q142"
    assert "chosen-cap" in str(unknown.value)


def test_a_delta_is_charged_only_where_it_is_needed() -> None:
    assert make_plan(QueryRequest(JOIN, epsilon=1, delta=1e-6), POLICY).delta == 0
    grouped = "SELECT street, COUNT(*) AS n FROM person GROUP BY street"
    assert make_plan(QueryRequest(grouped, epsilon=1, delta=1e-6), POLICY).delta == Fraction(
        1, 10**6
    )


def test_frequencies_of_public_tables_may_be_counted() -> None:
    query = "SELECT COUNT(*) AS n FROM item i JOIN part p ON i.part = p.kind_id"
    tables = tuple(
        replace(
            table,
            columns=(
                *table.columns,
                replace(table.columns[0], name="kind_id", unique=False),
            ),
        )
        if table.name == "part"
        else table
        for table in BY_ROW.tables
    )
    policy = replace(BY_ROW, tables=tables)
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(query, epsilon=1), policy)
    (step,) = make_plan(QueryRequest(query, epsilon=1), policy, count=lambda table, column: 4).steps
    assert refused.value.code == "CEL-Q060"
    assert isinstance(step, LaplaceStep)
    assert step.shifts == (4,)


def test_too_many_groups_are_refused() -> None:
    many = tuple(
        replace(
            table,
            columns=tuple(
                replace(each, keys=tuple(range(2**17))) if each.name == "age" else each
                for each in table.columns
            ),
        )
        for table in POLICY.tables
    )
    with pytest.raises(QueryRefused) as refused:
        make_plan(
            QueryRequest("SELECT age, COUNT(*) AS n FROM person GROUP BY age", epsilon=1),
            replace(POLICY, tables=many),
        )
    assert refused.value.key == "CEL-Q146.too_many"


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (-1, 0), (101, 0), (1, 1), (1, -0.1)])
def test_parameters_out_of_range_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(InputError):
        make_plan(QueryRequest(JOIN, epsilon=epsilon, delta=delta), POLICY)
