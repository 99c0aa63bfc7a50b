"""What an analyst sees must not depend on the data, but for the noisy numbers themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from tests.queries.test_answers import PERSON_QUESTIONS
from tests.queries.vaults import BY_ROW, POLICY, Rows, capped, opened, shop, without

from celosia.assess.audit import audit
from celosia.core.errors import CelosiaError
from celosia.core.randomness import Seeded, Source
from celosia.queries import Vault
from celosia.queries.planning import chosen_cap, r2t
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.policy import Policy
from celosia.queries.results import execute_plan

GROUPED = [
    "SELECT town, COUNT(*) AS n FROM person GROUP BY town",
    "SELECT status, SUM(price) AS s, AVG(balance) AS b FROM orders GROUP BY status",
    "SELECT street, COUNT(*) AS n FROM person GROUP BY street",
    "SELECT MEDIAN(age) AS m FROM person",
    "SELECT COUNT(*) AS n FROM message m JOIN message w ON m.receiver = w.sender",
    "SELECT MAX(price) AS m FROM orders",
]
ORACLES = [
    "SELECT COUNT(*) AS n FROM person WHERE 1 / (age - 31) > 0",
    "SELECT COUNT(*) AS n FROM person WHERE CAST(street AS INTEGER) = 1",
    "SELECT SUM(price / (balance - 3)) AS n FROM orders",
    "SELECT COUNT(*) AS n FROM person WHERE 9223372036854775807 + age > 0",
    "SELECT AVG(price) / COUNT(*) AS n FROM orders",
    "SELECT 1 / (COUNT(*) - 1) AS n FROM person",
]


def metadata(vault: Vault, query: str, *, delta: float = 0) -> dict[str, Any]:
    """All that an answer or a refusal shows, but for the numbers."""
    try:
        answer = vault.sql(query, epsilon=1, delta=delta)
    except CelosiaError as error:
        return error.as_dict() | {"spent": str(vault.ledger.spent)}
    facts = answer.as_dict()
    shown = list(answer.rows[0]) if answer.rows else []
    keys = {each.name for each in vault.explain(query, epsilon=1, delta=delta).question.keys}
    known = [{name: row[name] for name in shown if name in keys} for row in answer.rows]
    return {
        "columns": shown,
        "keys": known if delta == 0 else None,  # with a delta keys are released, and may differ
        "bounds": [sorted(each) for each in answer.intervals] if delta == 0 else None,
        "plan": vault.explain(query, epsilon=1, delta=delta).as_dict(),
        "spent": str(vault.ledger.spent),
        "rest": {
            name: facts[name]
            for name in ("epsilon", "delta", "method", "question", "guarantee", "entry", "stored")
        },
    }


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    query=st.sampled_from([*PERSON_QUESTIONS, *GROUPED]),
    delta=st.sampled_from([0.0, 1e-6]),
)
def test_neighbours_show_the_same_but_for_the_numbers(
    seed: int, query: str, delta: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shop")
    rows = shop(Random(seed))
    fewer = without(1 + seed % 12, rows)
    seen = []
    for each in (rows, fewer):
        with opened(each, folder) as vault:
            seen.append(metadata(vault, query, delta=delta))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("query", ORACLES)
def test_no_row_can_make_a_question_fail(query: str, tmp_path: Path) -> None:
    plain = shop(Random(1))
    # One person whose rows would make a division, a cast or a sum fail.
    extra = shop(Random(1))
    extra["person"].append({"id": 99, "town": "A", "street": "no number", "age": 31})
    extra["orders"].append(
        {"id": 999, "person": 99, "price": 1.0, "balance": 3, "status": None, "placed": None}
    )
    seen = []
    for rows in (plain, extra):
        with opened(rows, tmp_path) as vault:
            seen.append(metadata(vault, query))
    assert seen[0] == seen[1]


class ForbiddenSource:
    """An engine whose data must not be touched."""

    dialect = "duckdb"

    def run(self, query: exp.Expr, *, timeout: float) -> Any:
        raise AssertionError("the data was touched")

    arrow = run

    def close(self) -> None:
        """Nothing to close."""


def metadata_of_plan(vault: Vault, query: str) -> object:
    try:
        return vault.explain(query, epsilon=1).epsilon
    except CelosiaError as error:
        return error.code


@pytest.fixture(scope="module")
def untouchable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """A vault whose data must not be touched; nothing is left behind by what costs nothing."""
    with opened(shop(Random(1)), tmp_path_factory.mktemp("shop")) as vault:
        vault._engine.close()
        vault._engine = ForbiddenSource()  # type: ignore[assignment]
        yield vault


@pytest.mark.parametrize("query", [*PERSON_QUESTIONS, *GROUPED, *ORACLES])
def test_explaining_and_refusing_touch_no_data_and_cost_nothing(
    query: str, untouchable: Vault
) -> None:
    head = untouchable.ledger.head
    facts = metadata_of_plan(untouchable, query)
    assert untouchable.ledger.head == head
    assert facts == 1 or str(facts).startswith("CEL-Q")


SECRETS = ("scale", "frequency", "mf", "distance", "truth", "exact_total", "sensitivity_at")


@pytest.mark.parametrize(
    ("policy", "query", "delta"),
    [
        (POLICY, "SELECT COUNT(*) AS n FROM orders", 0.0),
        (
            replace(BY_ROW, elastic=True),
            "SELECT COUNT(*) AS n FROM orders o JOIN person p ON p.id = o.person",
            1e-6,
        ),
    ],
)
def test_a_released_answer_holds_no_true_count_scale_or_frequency(
    policy: Policy, query: str, delta: float, tmp_path: Path
) -> None:
    rows = shop(Random(1), people=40, orders=777)
    with opened(rows, tmp_path, policy) as vault:
        answer = vault.sql(query, epsilon=0.5, delta=delta)
        kept = [entry.body for entry in vault.ledger._entries()]
    answer.save(tmp_path / "answer.json")
    texts = [
        json.dumps(answer.as_dict()),
        (tmp_path / "answer.json").read_text("utf-8"),
        answer.report(tmp_path / "r.html").read_text("utf-8").partition("<body")[2],
        repr(answer),
    ]
    if policy.elastic:  # else the losses of the ledger tell scales, which are public then
        texts += map(str, kept)
    owned = [each["person"] for each in rows["orders"] if each["person"] in range(1, 41)]
    counts = {len(owned), sum(each["person"] is not None for each in rows["orders"])}
    most = max(owned.count(each) for each in set(owned))
    moment = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([+-]\d{2}:\d{2}|Z)?")
    for text in (moment.sub(" ", each) for each in texts):  # a minute may equal a frequency
        words = set(text.replace('"', " ").replace(":", " ").replace(",", " ").split())
        assert not words & set(SECRETS)
        if policy.elastic:
            assert not words & {str(most), *map(str, counts)}


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["chosen-cap", "r2t-cap"])
def test_an_audit_of_the_whole_way_finds_no_violation(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "SELECT COUNT(*) AS n FROM orders o JOIN person p ON p.id = o.person"
    rows = shop(Random(1), people=4, orders=14)
    policy = replace(POLICY, most_per_unit=4)
    with opened(rows, tmp_path, policy) as one, opened(without(2, rows), tmp_path, policy) as two:
        plan = one.explain(query, epsilon=1, method=method)
        vaults = {"with": one, "without": two}
        exact: dict[str, Any] = {}
        # Engines answer the same each time, and writing the query takes most of the time.
        for module, name in (
            (chosen_cap, "contribution_totals_query"),
            (r2t, "truncated_totals_query"),
        ):
            monkeypatch.setattr(module, name, cache_of(getattr(module, name)))

        def sample(which: str, rng: Source) -> float:
            def ask(tree: exp.Expr) -> Any:
                if which not in exact:
                    exact[which] = vaults[which]._ask(tree)
                return exact[which]

            return float(execute_plan(plan, ask, rng=rng).measured["total_1"].values[0])

        found = audit(sample, "with", "without", claim=1, samples=4000, rng=Seeded(3))
    assert found.verdict != "violated"
    assert found.lower > 0.05  # the audit does see the noise


def cache_of(function: Any) -> Any:
    made: list[Any] = []

    def cached(*arguments: Any, **named: Any) -> Any:
        if not made:
            made.append(function(*arguments, **named))
        return made[0]

    return cached


def test_people_rows_are_taken_out_as_the_ownership_says() -> None:
    rows: Rows = shop(Random(1))
    fewer = without(1, rows)
    assert all(each["person"] != 1 for each in fewer["orders"])
    assert len(fewer["person"]) == len(rows["person"]) - 1


BOUNDED = [
    "SELECT COUNT(*) AS n FROM orders",
    'SELECT COUNT(*) AS n FROM orders o JOIN item i ON i."order" = o.id',
    "SELECT status, COUNT(*) AS n, SUM(balance) AS s FROM orders GROUP BY status",
    'SELECT COUNT(DISTINCT i.part) AS n FROM orders o JOIN item i ON i."order" = o.id',
    "SELECT town, COUNT(*) AS n FROM person p WHERE NOT EXISTS "
    "(SELECT 1 FROM orders o WHERE o.person = p.id) GROUP BY town",
    "SELECT SUM(price) AS s FROM orders o JOIN person p ON p.id = o.person WHERE p.age > 20",
    "SELECT COUNT(*) AS n FROM (SELECT id FROM orders UNION ALL SELECT id FROM orders) AS u",
]


@pytest.mark.parametrize("unit", ["person", "row"])
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), query=st.sampled_from(BOUNDED))
def test_no_neighbour_moves_exact_totals_by_more_than_the_noise_is_made_for(
    unit: str, seed: int, query: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    policy = capped(POLICY if unit == "person" else BY_ROW, orders__person=2, item__order=3)
    random, folder = Random(seed), tmp_path_factory.mktemp("shop")
    rows = shop(random, people=4, orders=12)
    fewer = without(1 + seed % 4, rows) if unit == "person" else _less_a_row(rows, random)
    totals = []
    shifts: tuple[int, ...] = ()
    for each in (rows, fewer):
        with opened(each, folder, policy) as vault:
            (step,) = vault.explain(query, epsilon=1).steps
            assert isinstance(step, LaplaceStep)
            # The law of no noise: what is measured is then exact.
            object.__setattr__(step, "laws", [_Silent() for _ in step.totals])
            known = vault.explain(query, epsilon=1).group_keys
            shifts = step.shifts
            totals.append(step.measure(vault._ask, group_keys=known, rng=Seeded(1)))
    for shift, one, other in zip(shifts, *totals, strict=True):
        assert sum(abs(a - b) for a, b in zip(one.values, other.values, strict=True)) <= shift


class _Silent:
    def draw(self, size: int, rng: Source) -> Any:
        return np.zeros(size, dtype=np.int64)


def _less_a_row(rows: Rows, random: Random) -> Rows:
    table = random.choice([name for name in ("person", "orders", "item") if rows[name]])
    place = random.randrange(len(rows[table]))
    return rows | {table: [each for n, each in enumerate(rows[table]) if n != place]}
