"""Rows of several people: totals of linear programs against plain SQL and all neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import pytest
from tests.queries.databases import empty_database
from tests.queries.vaults import POLICY, Rows, capped, exact, filled, opened, shop, without

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import Relation
from celosia.queries.bounds.cap_ladder import rounding, shifts
from celosia.queries.bounds.r2t_cap import R2TCap
from celosia.queries.planning import make_plan
from celosia.queries.planning.plan import Executor, Plan
from celosia.queries.planning.r2t import R2TStep
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest

PARTNERS = "SELECT 1 FROM message m WHERE m.sender = p.id"
QUESTIONS = {
    # What is asked, and the same over rows that have all their owners, as plain SQL.
    "SELECT COUNT(*) FROM message": "SELECT COUNT(*) FROM message WHERE receiver IS NOT NULL",
    "SELECT SUM(p.age) FROM message m JOIN person p ON p.id = m.sender": (
        "SELECT SUM(LEAST(p.age, 100)) FROM message m JOIN person p ON p.id = m.sender "
        "WHERE m.receiver IS NOT NULL AND p.age IS NOT NULL"
    ),
    "SELECT COUNT(DISTINCT sender) FROM message": (
        "SELECT COUNT(DISTINCT sender) FROM message WHERE receiver IS NOT NULL"
    ),
    "SELECT SUM(o.balance) FROM message m JOIN orders o ON o.person = m.sender": (
        "SELECT SUM(LEAST(o.balance, 5)) FROM message m JOIN orders o ON o.person = m.sender "
        "WHERE m.receiver IS NOT NULL AND o.balance IS NOT NULL"  # LEAST leaves NULL out
    ),
    "SELECT COUNT(*) FROM orders a JOIN orders b ON a.placed = b.placed": (
        "SELECT COUNT(*) FROM orders a JOIN orders b ON a.placed = b.placed "
        "WHERE a.person IS NOT NULL AND b.person IS NOT NULL"
    ),
    "SELECT p.town, COUNT(DISTINCT m.receiver) FROM message m JOIN person p ON p.id = m.sender "
    "GROUP BY p.town": (
        "SELECT k.town, COUNT(DISTINCT m.receiver) FROM (VALUES ('A'), ('B'), ('C')) k(town) "
        "LEFT JOIN person p ON p.town = k.town LEFT JOIN message m ON p.id = m.sender "
        "GROUP BY k.town ORDER BY k.town"
    ),
    f"SELECT COUNT(*) FROM person p WHERE EXISTS ({PARTNERS})": (
        f"SELECT COUNT(*) FROM person p WHERE EXISTS ({PARTNERS} AND m.receiver IS NOT NULL)"
    ),
    f"SELECT COUNT(*) FROM person p WHERE NOT EXISTS ({PARTNERS})": (
        f"SELECT COUNT(*) FROM person p WHERE NOT EXISTS ({PARTNERS} AND m.receiver IS NOT NULL)"
    ),
    f"SELECT COUNT(DISTINCT p.street) FROM person p WHERE EXISTS ({PARTNERS})": (
        "SELECT COUNT(DISTINCT p.street) FROM person p "
        f"WHERE EXISTS ({PARTNERS} AND m.receiver IS NOT NULL)"
    ),
    f"SELECT COUNT(p.age) FROM person p WHERE NOT EXISTS ({PARTNERS}) AND NOT EXISTS "
    "(SELECT 1 FROM person q WHERE q.street = p.street AND q.age > 50 AND q.id <> p.id)": (
        "SELECT COUNT(p.age) FROM person p WHERE NOT EXISTS "
        f"({PARTNERS} AND m.receiver IS NOT NULL) AND NOT EXISTS "
        "(SELECT 1 FROM person q WHERE q.street = p.street AND q.age > 50 AND q.id <> p.id)"
    ),
    "SELECT SUM(o.balance) FROM orders o WHERE o.placed IN "
    "(SELECT x.placed FROM orders x WHERE x.price > 5)": (
        "SELECT SUM(LEAST(o.balance, 5)) FROM orders o WHERE o.person IS NOT NULL "
        "AND o.balance IS NOT NULL AND o.placed IN "
        "(SELECT x.placed FROM orders x WHERE x.price > 5 AND x.person IS NOT NULL)"
    ),
    "SELECT o.status, COUNT(*) FROM orders o JOIN person p ON p.id = o.person WHERE p.town IN "
    "(SELECT q.town FROM person q WHERE q.age < 100) GROUP BY o.status": (
        "SELECT k.status, COUNT(o.id) FROM (VALUES ('open', 1), ('done', 2)) k(status, place) "
        "LEFT JOIN (SELECT o.* FROM orders o JOIN person p ON p.id = o.person WHERE p.town IN "
        "(SELECT q.town FROM person q WHERE q.age < 100)) o ON o.status = k.status "
        "GROUP BY k.status, k.place ORDER BY k.place"
    ),
    'SELECT COUNT(*) FROM part WHERE id IN (SELECT part FROM item WHERE "order" < 4)': (
        "SELECT COUNT(*) FROM part WHERE id IN (SELECT i.part FROM item i "
        'JOIN orders o ON o.id = i."order" WHERE o.person IS NOT NULL AND o.id < 4)'
    ),
    "SELECT COUNT(*) FROM part t WHERE NOT EXISTS "
    '(SELECT 1 FROM item i WHERE i.part = t.id AND i."order" < 4)': (
        "SELECT COUNT(*) FROM part t WHERE NOT EXISTS (SELECT 1 FROM item i JOIN orders o "
        'ON o.id = i."order" WHERE o.person IS NOT NULL AND i.part = t.id AND o.id < 4)'
    ),
}
WIDE = replace(POLICY, most_per_unit=2**12)


Databases = Callable[[int, int | None], Executor]


@pytest.fixture(scope="module")
def databases() -> Iterator[Databases]:
    """Random shops by their seed, whole or without a person; each is made once."""
    with ExitStack() as stack:

        @cache
        def database(seed: int, person: int | None) -> Executor:
            connection = stack.enter_context(empty_database())
            filled(connection, small(seed) if person is None else without(person, small(seed)))
            return lambda query: connection.execute(query.sql("duckdb")).fetchall()

        yield database


def small(seed: int) -> Rows:
    return shop(Random(seed), people=6, orders=16)


def programs(plan: Plan, ask: Executor) -> list[list[list[list[int]]]]:
    """For each side of the one total, group and program, the totals under all caps."""
    (step,) = plan.steps
    assert isinstance(step, R2TStep)
    known = plan.group_keys if plan.question.keys else None
    caps, grain = step.mechanism.caps, step.mechanism.grain
    return [term.totals(ask, known, caps, grain=grain) for term in step.terms]


@pytest.mark.parametrize("query", QUESTIONS)
def test_under_a_large_cap_the_programs_add_up_to_the_answer(
    query: str, databases: Databases
) -> None:
    plan = make_plan(QueryRequest(query, epsilon=1), WIDE)
    (step,) = plan.steps
    assert isinstance(step, R2TStep)
    for seed in range(2):
        sides = programs(plan, databases(seed, None))
        found = [
            sum(
                sign * totals[-1]
                for sign, totals in zip(
                    step.signs, [each for part in group for each in part], strict=True
                )
            )
            for group in zip(*sides, strict=True)
        ]
        expected = [row[-1] or 0 for row in exact(small(seed), QUESTIONS[query])]
        # Every program is rounded down to a step of the largest cap.
        grain = step.mechanism.grain
        off = max(1, len(step.signs) * rounding(step.mechanism.caps[-1], grain))
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert abs(one - other * grain) < off


@pytest.mark.parametrize("query", QUESTIONS)
def test_no_person_moves_a_program_by_more_than_its_cap(query: str, databases: Databases) -> None:
    policy = replace(POLICY, most_per_unit=8)
    plan = make_plan(QueryRequest(query, epsilon=1), policy)
    (step,) = plan.steps
    assert isinstance(step, R2TStep)
    caps = step.mechanism.caps
    roughly = [rounding(cap, step.mechanism.grain) for cap in caps]
    limits = shifts(caps, step.mechanism.grain)
    moved = 0
    before = programs(plan, databases(3, None))
    for person in [*range(1, 7), 11]:
        after = programs(plan, databases(3, person))
        for side, other in zip(before, after, strict=True):
            for group, same in zip(side, other, strict=True):
                for one, two in zip(group, same, strict=True):
                    for place, (more, less) in enumerate(zip(one, two, strict=True)):
                        assert -roughly[place] <= more - less <= limits[place]
                        moved += more != less
    assert moved


@pytest.mark.parametrize("relation", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
@pytest.mark.parametrize("query", QUESTIONS)
def test_all_races_together_cost_what_is_charged(query: str, relation: Relation) -> None:
    plan = make_plan(QueryRequest(query, epsilon=1), replace(WIDE, relation=relation))
    (step,) = plan.steps
    assert isinstance(step, R2TStep)
    assert plan.delta == 0
    assert plan.parts[0].epsilon == 1
    halves = 2 if relation is Relation.CHANGE_ONE else 1
    runs = step.per_unit * len(step.signs) * halves
    assert step.per_unit == step.groups
    assert isinstance(step.mechanism, R2TCap)
    assert sum(step.mechanism.epsilon_shares, Fraction(0)) * runs == 1
    assert plan.loss is not None
    assert plan.loss.pure == pytest.approx(1)


def outcome(query: str, rows: Rows, folder: Path, policy: Policy, method: str | None = None) -> str:
    """What kind of outcome a question has."""
    with opened(rows, folder, policy) as vault:
        try:
            found = vault.sql(query, epsilon=1, method=method)
        except QueryRefused as refusal:
            return refusal.code
    return f"{len(found.rows)} rows of {len(found.rows[0])}"


@pytest.mark.parametrize("method", ["r2t", "r2t-cap"])
@pytest.mark.parametrize("query", [*QUESTIONS][3:12:4])
def test_whether_an_answer_comes_does_not_depend_on_the_data(
    query: str, method: str, tmp_path: Path
) -> None:
    many, empty = shop(Random(2)), shop(Random(1), people=1, orders=1)
    none: Rows = {name: rows if name == "part" else [] for name, rows in many.items()}
    outcomes = {outcome(query, each, tmp_path, POLICY, method) for each in (many, empty, none)}
    assert len(outcomes) == 1
    assert "rows of" in outcomes.pop()


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT MEDIAN(p.age) FROM message m JOIN person p ON p.id = m.sender", "CEL-Q144"),
        (f"SELECT COUNT(DISTINCT p.town) FROM person p WHERE NOT EXISTS ({PARTNERS})", "CEL-Q093"),
        (
            "SELECT COUNT(*) FROM person p WHERE "
            + " AND ".join(f"NOT EXISTS ({PARTNERS} AND m.receiver > {n})" for n in range(3)),
            "CEL-Q093",
        ),
        (f"SELECT COUNT(*) FROM (SELECT id FROM person p WHERE EXISTS ({PARTNERS})) x", "CEL-Q121"),
        (
            "SELECT street, COUNT(*) FROM message JOIN person ON id = sender GROUP BY street",
            "CEL-Q143",
        ),
    ],
)
def test_what_programs_do_not_answer_is_refused_before_the_data(query: str, code: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(query, epsilon=1, delta=1e-6), POLICY)
    assert refused.value.code == code
    assert refused.value.fix


UNFIT = [
    ("SELECT COUNT(*) FROM orders", "global", "protects single rows"),
    ("SELECT COUNT(*) FROM orders", "elastic", "protects single rows"),
    ("SELECT COUNT(*) FROM orders", "capped", "No declared caps"),
    ("SELECT COUNT(*) FROM message", "global", "protects single rows"),
    ("SELECT COUNT(*) FROM message", "elastic", "protects single rows"),
    ("SELECT COUNT(*) FROM message", "capped", "2 different persons"),
    ("SELECT COUNT(*) FROM message", "chosen-cap", "2 different persons"),
    (f"SELECT COUNT(*) FROM person p WHERE EXISTS ({PARTNERS})", "capped", "other persons"),
    ("SELECT SUM(balance) FROM orders", "r2t", "values below 0"),
    ("SELECT SUM(balance) FROM orders", "r2t-cap", "values below 0"),
]


def test_a_method_that_does_not_fit_is_refused_with_its_reason(tmp_path: Path) -> None:
    with opened(shop(Random(1)), tmp_path) as vault:
        for query, method, reason in UNFIT:
            with pytest.raises(QueryRefused, match=reason) as refused:
                vault.sql(query, epsilon=1, delta=1e-6, method=method)
            assert refused.value.code == "CEL-Q143"


@pytest.mark.parametrize("method", ["capped", "r2t", "r2t-cap", "chosen-cap"])
def test_every_method_for_people_can_be_asked_for(method: str, tmp_path: Path) -> None:
    policy = capped(POLICY, orders__person=4)
    with opened(shop(Random(1)), tmp_path, policy) as vault:
        found = vault.sql("SELECT COUNT(*) FROM orders", epsilon=50, method=method)
        assert (
            vault.explain("SELECT COUNT(*) FROM orders", epsilon=50, method=method).method == method
        )
    # At most 30 orders; noise of at most the cap 64 over a tenth of 50, ten scales out, and a cut.
    assert abs(found.value - 15) < 15 + 10 * 64 / 5


def test_declared_caps_bound_the_groups_and_the_ladder_of_a_race() -> None:
    query = (
        "SELECT MONTH(a.placed), COUNT(*) FROM orders a JOIN person p ON p.id = a.person GROUP BY 1"
    )
    policy = capped(POLICY, orders__person=3)
    plan = make_plan(QueryRequest(query, epsilon=1, method="r2t-cap"), policy)
    (step,) = plan.steps
    assert isinstance(step, R2TStep)
    assert (step.groups, step.per_unit, step.most) == (12, 3, 3)
    assert plan.loss is not None
    assert plan.loss.pure == pytest.approx(1)


def towns(number: int) -> Policy:
    """The policy with so many declared towns."""
    tables = tuple(
        replace(
            table,
            columns=tuple(
                replace(each, keys=tuple(f"town {n}" for n in range(number)))
                if each.name == "town"
                else each
                for each in table.columns
            ),
        )
        for table in POLICY.tables
    )
    return replace(POLICY, tables=tables)


def test_many_known_groups_have_a_program_each(tmp_path: Path) -> None:
    query = "SELECT town, COUNT(*) FROM message JOIN person ON id = sender GROUP BY town"
    assert outcome(query, shop(Random(1)), tmp_path, towns(60)) == "60 rows of 2"
    (step,) = make_plan(QueryRequest(query, epsilon=1), towns(256)).steps
    assert isinstance(step, R2TStep)
    assert step.per_unit == 256
    with pytest.raises(QueryRefused) as refused:
        make_plan(QueryRequest(query, epsilon=1), towns(257))
    assert refused.value.key == "CEL-Q146.too_many"


def test_an_answer_of_several_races_tells_its_caps_and_keeps_its_intervals(tmp_path: Path) -> None:
    query = f"SELECT COUNT(*) AS n FROM person p WHERE NOT EXISTS ({PARTNERS})"
    with opened(shop(Random(5)), tmp_path) as vault:
        plan = vault.explain(query, epsilon=20, method="r2t")
        found = vault.sql(query, epsilon=20, method="r2t")
        again = vault.sql(query, epsilon=20, method="r2t")
        capped_answer = vault.sql(query, epsilon=20, method="r2t-cap")
    assert "2 linear programs" in str(plan)
    assert "rows belong to persons: p.id, m.receiver" in str(plan)
    assert again.rows == found.rows
    assert again.intervals == found.intervals
    interval = found.intervals[0]["n"]
    assert interval is not None
    low, high = interval
    assert low < found.value < high
    ((truth,),) = exact(shop(Random(5)), QUESTIONS[query.replace(" AS n", "")])
    assert low <= truth <= high
    # Each of the two totals has a lower bound only, so their difference has none.
    assert list(capped_answer.intervals[0].values()) == [None]


def test_values_of_any_size_are_answered(tmp_path: Path) -> None:
    # Together far beyond 2^36 steps of the grid, and one row beyond every cap.
    tables = tuple(
        replace(
            table,
            columns=tuple(
                replace(each, lower=Fraction(0), upper=Fraction(2**38), grid=None)
                if each.name == "price"
                else each
                for each in table.columns
            ),
        )
        for table in POLICY.tables
    )
    rows = shop(Random(4))
    for number, each in enumerate(rows["orders"]):
        each["price"] = float(2**38 - number)
    query = "SELECT SUM(o.price) FROM message m JOIN orders o ON o.person = m.sender"
    assert outcome(query, rows, tmp_path, replace(POLICY, tables=tables)) == "1 rows of 1"


@pytest.mark.parametrize("query", [*QUESTIONS][:10:3])
def test_answers_are_as_near_as_the_least_cap_that_takes_nothing_allows(
    query: str, databases: Databases, tmp_path: Path
) -> None:
    rows = small(3)
    with opened(rows, tmp_path) as vault:
        found = vault.sql(query, epsilon=50, method="r2t-cap").value
    plan = make_plan(QueryRequest(query, epsilon=50), POLICY)
    (step,) = plan.steps
    assert isinstance(step, R2TStep)
    r2t = step.mechanism
    assert isinstance(r2t, R2TCap)
    ((truth,),) = exact(rows, QUESTIONS[query])
    # With s the sensitivity of that cap, the winner's total falls short by at most rate + d of s,
    # where d is how far from the best it may be chosen but for a chance of 10^-6 (2 d < rate, so
    # its own sensitivity is at most 2 s); then comes its noise.
    chance = 1 - 1e-6
    short = r2t.rate + r2t.choice.accuracy(chance, size=len(r2t.caps)) / 2**10
    off = 0.0
    for totals in (each for side in programs(plan, databases(3, None)) for each in side[0]):
        place = next(n for n, total in enumerate(totals) if total >= totals[-1])
        wide = min(place + 1, len(r2t.caps) - 1)
        off += short * r2t.shifts[place] + r2t.laws[wide].bound(chance) + r2t.roundings[-1]
    assert abs(found - (truth or 0)) <= off / r2t.grain
