"""The neighbour audit of private SQL and SPARQL: each kind of question, on two databases.

They differ in one patient with all their rows, or in one entity with all its facts. A question is
planned as for an analyst. Its queries run once on each database; what the plan releases is then
drawn many times, and an attacker tells the two apart from it (`assess.audit`). A lower bound above
the epsilon that was charged proves a violation; one below it proves nothing. How near it comes to
the charge is its power: noise that is larger than the patient needs shows less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sqlglot import exp

from celosia.assess.audit import Audit, Claim, audit
from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.mechanisms.parameters import check_confidence
from celosia.queries.neighbour_graphs import (
    GRAPH_SHAPES,
    PUBLIC_FACTS,
    graph_policy,
    graph_statements,
)
from celosia.queries.planning import make_plan
from celosia.queries.planning.plan import Executor, GroupKeys, Plan, Rows
from celosia.queries.planning.plan import Step as PlanStep
from celosia.queries.policy import Policy, read_policy
from celosia.queries.request import QueryOptions, QueryRequest
from celosia.queries.results import Outcome, execute_plan

RUNS = 2_500
EPSILON = 1.0
DELTA = 0.01
"""Of questions that need one; large, so that few runs show it."""
PATIENT, PATIENTS = 1, 12
MOST_SEEN = 10_000
"""Queries whose trees are held on to."""

_POLICY = """
name = "hospital"
most_per_unit = 8
database = { path = "hospital.duckdb" }
unit = { name = "patient", table = "patients", key = "id" }
budget = { epsilon = 10 }
[tables.patients.columns]
id = { type = "integer", unique = true }
sex = { type = "text", keys = ["F", "M"] }
age = { type = "integer", lower = 0, upper = 100 }
[tables.visits]
references = { patient = "patients.id", ward = "wards.id" }
[tables.visits.columns]
id = { type = "integer", unique = true }
patient = { type = "integer", most = 4 }
ward = { type = "integer", keys = [1, 2] }
day = "date"
cost = { type = "integer", lower = 0, upper = 10 }
drug = "text"
[tables.calls]
references = { patient = "patients.id", friend = "patients.id" }
[tables.calls.columns]
patient = "integer"
friend = "integer"
[tables.wards]
public = true
[tables.wards.columns]
id = { type = "integer", unique = true }
name = { type = "text", keys = ["A", "B"] }
"""
_PER = "(SELECT patient, COUNT(*) AS n, SUM(cost) AS t FROM visits GROUP BY patient) AS p"

_SHAPES = {
    "count": "SELECT COUNT(*) FROM visits",
    "count of values": "SELECT COUNT(drug) FROM visits WHERE cost > 1",
    "sum": "SELECT SUM(cost) FROM visits",
    "mean": "SELECT AVG(cost) FROM visits",
    "variance": "SELECT VAR_POP(cost) FROM visits",
    "median": "SELECT MEDIAN(cost) FROM visits",
    "maximum": "SELECT MAX(cost) FROM visits",
    "people": "SELECT COUNT(DISTINCT patient) FROM visits",
    "different values": "SELECT COUNT(DISTINCT drug) FROM visits",
    "groups": "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "groups of unknown keys": "SELECT drug, COUNT(*) FROM visits GROUP BY drug",
    "join": "SELECT p.sex, SUM(v.cost) FROM patients p JOIN visits v ON v.patient = p.id "
    "GROUP BY p.sex",
    "join with a public table": "SELECT w.name, COUNT(*) FROM visits v JOIN wards w "
    "ON w.id = v.ward GROUP BY w.name",
    "with a partner": "SELECT COUNT(*) FROM patients WHERE id IN (SELECT patient FROM visits)",
    "without a partner": "SELECT COUNT(*) FROM patients p WHERE NOT EXISTS "
    "(SELECT 1 FROM visits v WHERE v.patient = p.id AND v.cost > 5)",
    "rows of two people": "SELECT COUNT(*) FROM calls",
    "self-join": "SELECT COUNT(*) FROM visits a JOIN visits b ON a.day = b.day",
    "stacked rows": "SELECT COUNT(*) FROM (SELECT patient AS p FROM visits UNION ALL "
    "SELECT id FROM patients) AS u",
    "computed": "SELECT SUM(cost) / COUNT(*) AS c FROM visits",
    "mean per person": "SELECT AVG(n) FROM PER_PERSON",
    "sum per person": "SELECT SUM(t) FROM PER_PERSON",
    "distribution per person": "SELECT n, COUNT(*) FROM PER_PERSON GROUP BY n",
    "share of people": "SELECT COUNT_IF(n > 2) / COUNT(*) AS c FROM PER_PERSON",
    "median per person": "SELECT MEDIAN(t) FROM PER_PERSON",
    "groups of groups": "SELECT SUM(n) FROM (SELECT patient, ward, COUNT(*) AS n FROM visits "
    "GROUP BY patient, ward HAVING COUNT(*) > 1) AS p",
    "first row": "SELECT ward, COUNT(*) FROM (SELECT ward, "
    "ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS place FROM visits) AS v "
    "WHERE place = 1 GROUP BY ward",
    "last row": "SELECT SUM(cost) FROM (SELECT DISTINCT ON (patient) patient, cost FROM visits "
    "ORDER BY patient, day DESC) AS v",
    "first value": "SELECT w, COUNT(*) FROM (SELECT patient, ARG_MIN(ward, day) AS w FROM visits "
    "GROUP BY patient) AS v GROUP BY w",
    "row before": "SELECT COUNT(*) FROM (SELECT day - LAG(day) OVER "
    "(PARTITION BY patient ORDER BY day) AS gap FROM visits) AS v WHERE gap > 1",
    "left join": "SELECT COUNT(*), COUNT(v.id) FROM patients p LEFT JOIN visits v "
    "ON v.patient = p.id AND v.cost > 2",
    "left join with a public table": "SELECT w.name, COUNT(*) FROM visits v LEFT JOIN wards w "
    "ON w.id = v.ward AND w.name = 'A' GROUP BY w.name",
    "with zeros": "SELECT SUM(n) FROM (SELECT p.id, COUNT(v.id) AS n FROM patients p "
    "LEFT JOIN visits v ON v.patient = p.id GROUP BY p.id) AS x",
    "different rows": "SELECT COUNT(*) FROM (SELECT DISTINCT patient, ward FROM visits) AS v",
    "union": "SELECT COUNT(*) FROM (SELECT patient AS p FROM visits UNION "
    "SELECT id FROM patients) AS u",
    "different rows of all": "SELECT COUNT(*) FROM (SELECT DISTINCT ward, day FROM visits) AS v",
    "bands": "SELECT FLOOR(age / 50) * 50 AS band, COUNT(*) FROM patients GROUP BY band",
    "covariance": "SELECT COVAR_POP(cost, 10 - cost) FROM visits",
    "grouping sets": "SELECT sex, ward, COUNT(*) FROM patients p JOIN visits v ON v.patient = p.id "
    "GROUP BY ROLLUP (sex, ward)",
    "cube of sums": "SELECT ward, SUM(cost) FROM visits GROUP BY CUBE (ward)",
    "answers put together": "SELECT 'v' AS what, COUNT(*) AS n FROM visits UNION ALL "
    "SELECT 'p', COUNT(*) FROM patients",
    "groups of many people": "SELECT MAX(n) AS most FROM (SELECT ward, COUNT(*) AS n FROM visits "
    "GROUP BY ward) AS w WHERE n > 1",
    "largest groups": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC "
    "LIMIT 1",
    "largest groups of people": "SELECT ward, COUNT(DISTINCT patient) AS n FROM visits "
    "GROUP BY ward ORDER BY n DESC LIMIT 1",
    "median with an interval": "SELECT MEDIAN(cost) FROM visits WHERE cost < 20",
    "count with Gaussian noise": "SELECT COUNT(*) FROM visits WHERE cost >= 0",
    "different values shown": "SELECT DISTINCT ward FROM visits",
    "different values found": "SELECT DISTINCT drug FROM visits ORDER BY drug",
}
SHAPES: Mapping[str, str] = {
    name: query.replace("PER_PERSON", _PER) for name, query in _SHAPES.items()
} | dict(GRAPH_SHAPES)
"""Kinds of questions by name: those of single rows, those about people, and those in SPARQL."""
_OPTIONS: Mapping[str, QueryOptions] = {
    SHAPES["largest groups"]: {"epsilon": EPSILON, "method": "top-k"},
    SHAPES["largest groups of people"]: {"epsilon": EPSILON, "method": "top-k"},
    SHAPES["count with Gaussian noise"]: {"epsilon": EPSILON, "delta": DELTA, "method": "gaussian"},
    SHAPES["median with an interval"]: {"epsilon": EPSILON, "rank_intervals": True},
}
"""How kinds are asked that need more than an epsilon."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A plan on two neighbouring databases."""

    plan: Plan
    executors: tuple[Executor, Executor]

    def draw(self, data: int, rng: Source, size: int) -> Any:
        """What is released on the first database (0) or the second (1), as rows of numbers."""
        ask = self.executors[data]
        return np.array([_numbers(execute_plan(self.plan, ask, rng=rng)) for _ in range(size)])


def _numbers(outcome: Outcome) -> list[float]:
    """Everything that was released, in a row of fixed length."""
    if outcome.branches:
        return [number for each in outcome.branches for number in _numbers(each)]
    if outcome.kept_groups is not None and outcome.plan.group_keys is None:
        # Found in the data: how many, and whether the rare one is among them.
        keys = outcome.group_keys or ((),)
        return [float(len(outcome.kept_groups)), float("rare" in keys[0])]
    released = list[Any](outcome.kept_groups or ())
    for each in outcome.measured.values():
        released += [*each.released.get("lower", ()), *each.released.get("upper", ())]
        released += each.values
    return list(map(float, released))


def shapes_named(only: Sequence[str] | None) -> list[str]:
    """The kinds of questions of some names, or all.

    Raises:
        InputError: CEL-A120 a name is not known.
    """
    for name in only or ():
        if name not in SHAPES:
            hint = did_you_mean(name, list(SHAPES))
            raise InputError("CEL-A120", name=name, hint=hint, names=", ".join(SHAPES))
    return list(dict.fromkeys(only or SHAPES))


def audit_queries(
    only: Sequence[str] | None = None,
    *,
    runs: int = RUNS,
    confidence: float = 0.999,
    rng: Source | None = None,
    progress: Progress = silent,
) -> list[Audit]:
    """The audit of each kind of question; all lower bounds hold together.

    Args:
        only: the names of some kinds; all of `SHAPES` without it.
        runs: how often each is answered on each database.
        confidence: of all bounds together.
        rng: where randomness comes from.
        progress: told how far it is.

    Raises:
        InputError: CEL-A120 a name is not known; all that `audit` raises.
    """
    names = shapes_named(only)
    each = 1 - (1 - check_confidence(confidence)) / len(names)
    source = System() if rng is None else rng
    found = []
    with _databases() as executors:
        for done, name in enumerate(names):
            progress(Step(Message("cli.step.auditing", name=name), done, len(names)))
            pair = _Pair(_with_kept_queries(plan_shape(SHAPES[name])), executors)
            made = audit(
                pair.draw,
                0,
                1,
                claim=Claim(float(pair.plan.epsilon), float(pair.plan.delta)),
                samples=runs,
                confidence=each,
                rng=source,
                name=name,
                last_bits=False,
            )
            found.append(replace(made, confidence=confidence))
    return found


def plan_shape(query: str) -> Plan:
    """The plan of a question, with a delta where it needs one."""
    delta = DELTA if "BY drug" in query else 0
    options: QueryOptions = _OPTIONS.get(query, {"epsilon": EPSILON, "delta": delta})
    request = QueryRequest(query, **options)
    if query in GRAPH_SHAPES.values():
        return make_plan(request, graph_policy(), count=lambda *_: PUBLIC_FACTS)
    return make_plan(request, hospital_policy())


def _with_kept_queries(plan: Plan) -> Plan:
    """The plan with steps that write their queries once, however often they are asked for."""
    return replace(
        plan,
        steps=tuple(map(_keep_queries, plan.steps)),
        branches=tuple(map(_with_kept_queries, plan.branches)),
    )


def _keep_queries(step: PlanStep) -> PlanStep:
    kept: dict[GroupKeys | None, list[exp.Expr]] = {}

    def queries(group_keys: GroupKeys | None) -> Iterator[exp.Expr]:
        if group_keys not in kept:
            kept[group_keys] = list(step.queries(group_keys))
        return iter(kept[group_keys])

    made = copy(step)
    object.__setattr__(made, "queries", queries)
    return made


@cache
def hospital_policy() -> Policy:
    """The policy of both databases."""
    return read_policy(_POLICY)


@contextmanager
def _databases() -> Iterator[tuple[Executor, Executor]]:
    """The hospital with the patient, and without; each query runs once."""
    import duckdb  # 0.1 s, only where an audit runs

    with duckdb.connect() as first, duckdb.connect() as second:
        for connection, is_whole in ((first, True), (second, False)):
            for statement in hospital_statements(with_patient=is_whole):
                connection.execute(statement)
            for statement in graph_statements(with_entity=is_whole):
                connection.execute(statement)
        yield _cached(first), _cached(second)


def _cached(connection: Any) -> Executor:
    seen: dict[int, tuple[exp.Expr, Rows]] = {}
    texts: dict[str, Rows] = {}

    def execute(query: exp.Expr) -> Rows:
        if id(query) not in seen:
            text = query.sql(dialect="duckdb")
            if text not in texts:
                texts[text] = connection.execute(text).fetchall()
            if len(seen) > MOST_SEEN:
                seen.clear()
            seen[id(query)] = query, texts[text]
        return seen[id(query)][1]

    return execute


def hospital_statements(*, with_patient: bool) -> list[str]:
    """SQL that makes the tables, with the patient who has more rows than caps allow, or without."""
    people = [each for each in range(PATIENT, PATIENTS + 1) if with_patient or each != PATIENT]
    patients = [f"({each}, '{'FM'[each % 2]}', {7 * each})" for each in people]
    visits, calls = [], []
    for each in people:
        for number in range(6 if each == PATIENT else each % 4):
            drug = "'rare'" if each == PATIENT else "'usual'"
            cost = 10 if each == PATIENT else (each + number) % 4
            day = f"DATE '2026-01-{1 + 3 * number + each % 3:02}'"
            visits.append(
                f"({100 * each + number}, {each}, {1 + number % 2}, {day}, {cost}, {drug})"
            )
        friends = people if each == PATIENT else people[each % 5 : each % 5 + 1]
        calls += [f"({each}, {friend})" for friend in friends]
    return [
        "CREATE TABLE patients (id BIGINT, sex VARCHAR, age BIGINT)",
        "CREATE TABLE visits (id BIGINT, patient BIGINT, ward BIGINT, day DATE, cost BIGINT, "
        "drug VARCHAR)",
        "CREATE TABLE calls (patient BIGINT, friend BIGINT)",
        "CREATE TABLE wards (id BIGINT, name VARCHAR)",
        "INSERT INTO patients VALUES " + ", ".join(patients),  # noqa: S608 - made above
        "INSERT INTO visits VALUES " + ", ".join(visits),  # noqa: S608 - made above
        "INSERT INTO calls VALUES " + ", ".join(calls),  # noqa: S608 - made above
        "INSERT INTO wards VALUES (1, 'A'), (2, 'B')",
    ]
