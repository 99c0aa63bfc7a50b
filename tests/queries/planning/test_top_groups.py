"""The largest groups by private selection: bounds by brute force, law, price, answers, refusals."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pytest
from tests.queries.vaults import BY_ROW, POLICY, capped, filled, opened, shop, without

from celosia.accounting.losses import BoundedRangeLoss
from celosia.core.errors import QueryRefused
from celosia.core.neighbours import Relation
from celosia.core.randomness import Seeded
from celosia.queries.planning import make_plan
from celosia.queries.planning.top_groups import TopStep
from celosia.queries.policy import Policy
from celosia.queries.request import QueryRequest

CAPPED = capped(POLICY, orders__person=3)
ROWS = "SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY n DESC LIMIT 1"
PEOPLE = (
    "SELECT p.town, COUNT(DISTINCT p.id) AS n FROM person p JOIN orders o ON o.person = p.id "
    "GROUP BY p.town ORDER BY n DESC LIMIT 2"
)
WIDE = (
    "SELECT o.status, p.town, COUNT(DISTINCT o.person) AS n FROM orders o "
    "JOIN person p ON o.person = p.id GROUP BY o.status, p.town ORDER BY n DESC LIMIT 2"
)


def planned(query: str, policy: Policy = CAPPED, **changes: Any) -> TopStep:
    given: dict[str, Any] = {"epsilon": 1, "method": "top-k"} | changes
    request = QueryRequest(query, **given)
    (step,) = make_plan(request, policy).steps
    assert isinstance(step, TopStep)
    return step


def counts(query: str, rows: Any, policy: Policy = CAPPED) -> list[int]:
    plan = make_plan(QueryRequest(query, epsilon=1, method="top-k"), policy)
    (step,) = plan.steps
    assert isinstance(step, TopStep)
    with duckdb.connect() as connection:
        filled(connection, rows, policy)

        def execute(asked: Any) -> Any:
            return connection.execute(asked.sql(dialect="duckdb")).fetchall()

        return step.counts(execute, plan.group_keys)


@pytest.mark.parametrize("query", [ROWS, PEOPLE, WIDE])
def test_no_person_moves_a_count_by_more_than_the_choice_is_made_for(query: str) -> None:
    policy = CAPPED if query == ROWS else POLICY  # people need no caps
    step, widest, total = planned(query, policy), 0, 0
    for seed in range(2):
        rows = shop(Random(seed), people=4, orders=30)
        whole = np.array(counts(query, rows, policy))
        for person in range(1, 5):
            moved = whole - np.array(counts(query, without(person, rows), policy))
            assert moved.min() >= 0, "a person who comes lowers no count"
            widest = max(widest, int(moved.max()))
            total = max(total, int(np.sort(moved)[-step.count :].sum()))
    assert widest <= step.in_group
    assert total <= step.shift
    if query != ROWS:
        assert widest == step.in_group, "the bound is reached"


@pytest.mark.parametrize("relation", list(Relation))
def test_the_epsilons_of_choices_and_counts_add_up(relation: Relation) -> None:
    policy = replace(POLICY, relation=relation)
    step = planned(WIDE, policy, epsilon=Fraction(3))
    factor = 1 if relation is Relation.ADD_REMOVE else 2
    assert (step.count, step.in_group, step.shift) == (2, 1, 2)
    # Two choices of 3/4 each; two counts with noise of scale 2 / (3/2).
    assert step.rate == Fraction(3, 4) / factor
    assert step.law.scale == Fraction(4, 3)
    losses = step.losses(6)
    assert losses[:2] == (BoundedRangeLoss(Fraction(3, 4)),) * 2
    assert sum(Fraction(str(each.pure)) for each in losses) == 3
    only = planned(WIDE.replace(", COUNT(DISTINCT o.person) AS n", "").replace(
        "ORDER BY n", "ORDER BY COUNT(DISTINCT o.person)"), policy, epsilon=3)  # fmt: skip
    assert only.rate == Fraction(3, 2) / factor
    assert len(only.parts) == len(only.losses(6)) - 1 == 1


def test_groups_are_chosen_with_the_chances_of_the_exponential_mechanism() -> None:
    step = planned(WIDE, POLICY, epsilon=2)
    scores, rng, runs = [3, 0, 1, 4, 0, 2], Seeded(3), 600
    found = Counter(tuple(step.choose(scores, rng)) for _ in range(runs))
    weights = np.exp(float(step.rate) * np.array(scores))
    for (first, second), seen in found.items():
        chance = weights[first] / weights.sum() * weights[second] / (weights.sum() - weights[first])
        # Six standard deviations: exceeded by one of 30 pairs less than once in 10^7.
        assert abs(seen - runs * chance) <= 6 * (runs * chance * (1 - chance)) ** 0.5 + 1


def test_only_chosen_groups_are_answered_with_intervals(tmp_path: Path) -> None:
    rows = shop(Random(1), people=40, orders=200)
    with opened(rows, tmp_path, POLICY) as vault:
        answer = vault.sql(WIDE, epsilon=50, method="top-k")
        kept = vault.ledger.history()[0]
        again = vault.sql(WIDE, epsilon=50, method="top-k", confidence=0.9)
    assert len(answer.rows) == 2
    assert answer.rows[0]["n"] >= answer.rows[1]["n"]
    assert again.stored
    assert again.rows == answer.rows
    assert kept.epsilon == 50
    exact = sorted(counts(WIDE, rows, POLICY), reverse=True)[:2]
    for bounds, wanted in zip(answer.intervals, exact, strict=True):
        low, high = bounds["n"] or (0.0, 0.0)
        assert low <= wanted <= high
    assert answer.method == "top-k"


def test_what_is_not_chosen_is_not_written_down(tmp_path: Path) -> None:
    rows = shop(Random(1), people=40, orders=200)
    with opened(rows, tmp_path, POLICY) as vault:
        plan = vault.explain(WIDE, epsilon=1, method="top-k")
        vault.sql(WIDE, epsilon=1, method="top-k")
        (entry,) = (
            each.values() for each in vault.ledger._entries() if each.values()["kind"] == "sealed"
        )
    ((_, measured),) = entry["answer"]["measured"].items()
    chosen = measured["released"]["chosen"]
    assert sorted(chosen) == entry["answer"]["kept_groups"]
    assert all(value == 0 for at, value in enumerate(measured["values"]) if at not in chosen)
    assert "largest 2 of 6 groups" in str(plan.parts[0])


def test_the_plan_says_where_noise_on_all_groups_is_no_wider() -> None:
    request = QueryRequest(ROWS, epsilon=1, method="top-k")
    told = [str(each) for each in make_plan(request, CAPPED).notes]
    assert any("noise on all groups would be no wider" in each for each in told)
    people = make_plan(replace(request, query=WIDE), POLICY).notes
    assert not any("noise on all groups" in str(each) for each in people)


@pytest.mark.parametrize(
    ("query", "policy", "key"),
    [
        ("SELECT COUNT(*) FROM orders", CAPPED, "no_top"),
        (ROWS.replace(" LIMIT 1", ""), CAPPED, "no_top"),
        (ROWS.replace("DESC", "ASC"), CAPPED, "no_top"),
        (ROWS.replace("ORDER BY n DESC", "ORDER BY status"), CAPPED, "no_top"),
        (ROWS.replace("ORDER", "HAVING COUNT(*) > 2 ORDER"), CAPPED, "no_top"),
        (ROWS.replace("COUNT(*)", "SUM(price)"), CAPPED, "no_top"),
        (ROWS.replace("LIMIT 1", "LIMIT 2"), CAPPED, "all_groups"),
        (ROWS, POLICY, "no_caps"),
        (ROWS, BY_ROW, "bounds_people"),
        (ROWS.replace("status", "placed"), CAPPED, "private_keys"),
        (
            "SELECT p.town, COUNT(*) AS n FROM message m JOIN person p ON p.id = m.sender "
            "GROUP BY p.town ORDER BY n DESC LIMIT 1",
            POLICY,
            "top_of_several",
        ),
        (
            "SELECT town, COUNT(DISTINCT id) AS n FROM person p WHERE NOT EXISTS "
            "(SELECT 1 FROM message m WHERE m.receiver = p.id) GROUP BY town "
            "ORDER BY n DESC LIMIT 1",
            POLICY,
            "top_of_several",
        ),
    ],
)
def test_other_questions_are_refused(query: str, policy: Policy, key: str) -> None:
    request = QueryRequest(query, epsilon=1, delta=1e-6, method="top-k")
    with pytest.raises(QueryRefused) as refused:
        make_plan(request, policy)
    assert refused.value.key == f"CEL-Q143.{key}"
    assert refused.value.fix


def test_the_empty_database_gives_any_groups() -> None:
    step = planned(WIDE, POLICY)
    keys = (("open", "done"), ("A", "B", "C"))
    execute = partial(step.empty_rows, group_keys=keys)
    (measured,) = step.measure(execute, group_keys=keys, rng=Seeded(5))
    assert len(set(measured.released["chosen"])) == 2
