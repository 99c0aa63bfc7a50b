"""No question tells by time, failure or size what its rows are: it is answered at its deadline."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest
from tests.queries.vaults import BY_ROW, POLICY, capped, opened, shop

from celosia.core.errors import EngineError, PrivacyWarning
from celosia.core.randomness import Seeded, System
from celosia.queries import Vault, deadlines
from celosia.queries.execution import Execution
from celosia.queries.planning import cost
from celosia.queries.planning.cost import Cost
from celosia.queries.policy import Database, Policy, Spending
from celosia.queries.request import QueryRequest
from celosia.queries.results import execute_plan, execute_plan_on_empty

NOBODY: dict[str, list[dict[str, Any]]] = {
    name: [] for name in ("person", "orders", "item", "message")
}
EMPTY = NOBODY | {"part": shop(Random(1))["part"]}
COUNT = "SELECT COUNT(*) AS n FROM orders"
SMALL = replace(POLICY, budget=Spending(epsilon=Fraction(10)))

SHAPES: list[tuple[Policy, str, dict[str, Any]]] = [
    (POLICY, COUNT, {}),
    (POLICY, "SELECT COUNT(*), SUM(price), AVG(balance) FROM orders", {}),
    (POLICY, "SELECT status, COUNT(*), SUM(balance) FROM orders GROUP BY status", {}),
    (POLICY, "SELECT town, status, AVG(price) FROM orders JOIN person ON orders.person = person.id "
     "GROUP BY town, status", {}),
    (POLICY, "SELECT street, COUNT(*) FROM person GROUP BY street", {"delta": 1e-6}),
    (POLICY, "SELECT MEDIAN(price), MIN(age) FROM orders JOIN person ON person = person.id", {}),
    (POLICY, "SELECT status, MAX(price) FROM orders GROUP BY status", {}),
    (POLICY, "SELECT COUNT(DISTINCT part) FROM item JOIN orders ON item.\"order\" = orders.id", {}),
    (POLICY, "SELECT VAR_SAMP(price) FROM orders", {}),
    (POLICY, "SELECT COUNT(*) FROM message", {}),
    (POLICY, "SELECT COUNT(*) FROM orders a JOIN orders b ON a.placed = b.placed", {}),
    (POLICY, "SELECT COUNT(*) FROM person WHERE NOT EXISTS "
     "(SELECT 1 FROM message WHERE sender = person.id)", {}),
    (POLICY, COUNT, {"method": "r2t"}),
    (POLICY, "SELECT status, COUNT(*) FROM orders GROUP BY status", {"method": "r2t-cap"}),
    (BY_ROW, "SELECT status, SUM(price) FROM orders GROUP BY status", {}),
    (BY_ROW, "SELECT COUNT(*) FROM orders a JOIN orders b ON a.id = b.id", {}),
    (capped(BY_ROW, orders__person=3), "SELECT COUNT(*) FROM orders a JOIN orders b "
     "ON a.person = b.person", {}),
    (replace(BY_ROW, elastic=True), "SELECT COUNT(*) FROM orders JOIN message ON person = sender",
     {"delta": 1e-6}),
    (replace(BY_ROW, elastic=True), "SELECT status, COUNT(*) FROM orders JOIN message "
     "ON orders.person = sender GROUP BY status", {"delta": 1e-6}),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "query", "choices"), SHAPES, ids=lambda each: str(each)[:60])
def test_without_an_engine_the_plan_releases_what_it_does_on_the_empty_database(
    policy: Policy, query: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    with opened(EMPTY, tmp_path, policy) as vault:
        plan = vault.explain(query, epsilon=1, **choices)
        with vault._engine.snapshot(timeout=600) as read:
            there = execute_plan(plan, lambda each: read(vault._cast(each)), rng=Seeded(7))
        nowhere = execute_plan_on_empty(plan, rng=Seeded(7))
    assert nowhere.as_dict() == there.as_dict()


class Clock:
    """Time that passes only when somebody takes it."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wait_until(self, moment: float) -> None:
        self.now = max(self.now, moment)


@contextmanager
def real(folder: Path, policy: Policy = SMALL) -> Iterator[Vault]:
    """A vault whose answers are no simulations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        made = opened(shop(Random(1)), folder, policy, rng=Seeded(1))
        made.close()
        path = next(folder.glob("*.duckdb"))
        there = replace(policy, database=Database(path=str(path)))
        with Vault.open(there, ledger=folder / "a.ledger", rng=System()) as vault:
            yield vault


def fails(_: Any) -> Any:
    raise EngineError("CEL-E010", reason="the number 4532 of Ada")


def overflows(_: Any) -> Any:
    raise MemoryError("4532")


@contextmanager
def broken(vault: Vault, how: Callable[[Any], Any]) -> Iterator[None]:
    """The engine of the vault does something else than to answer."""
    inner = vault._engine

    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(inner, name)

        @contextmanager
        def snapshot(self, *, timeout: float) -> Iterator[Any]:
            yield how

    other: Any = Broken()
    vault._engine = other
    try:
        yield
    finally:
        vault._engine = inner


def shown(answer: Any) -> Any:
    """What the analyst sees, without numbers and times."""
    facts = answer.as_dict()
    told = {"answered", "head", "rows", "intervals", "noise", "caps", "entry", "warnings"}
    facts["provenance"] = {k: v for k, v in facts["provenance"].items() if k != "created"}
    return {name: value for name, value in facts.items() if name not in told}


@pytest.mark.parametrize("how", [fails, overflows])
def test_a_failure_is_an_answer_of_the_empty_database(
    how: Callable[[Any], Any], tmp_path: Path
) -> None:
    with real(tmp_path) as vault:
        good = vault.sql(COUNT, epsilon=1)
        with broken(vault, how):
            bad = vault.sql(COUNT, epsilon=1, fresh=True)
        (only,) = vault.ledger.incidents()
        statuses = [each.status for each in vault.ledger.history()]
        heads = [str(each.head).split(":")[0] for each in (good, bad)]
        again = vault.sql(COUNT, epsilon=1)
    assert shown(good) == shown(bad)
    assert again.rows == bad.rows
    assert statuses == ["sealed", "sealed"]
    assert (only.kind, only.entry) == ("failed-query", bad.entry)
    assert int(heads[1]) - int(heads[0]) == 2  # a charge and its end, and nothing else
    assert "4532" not in str(bad) + str(bad.as_dict())


def test_what_does_not_end_by_its_deadline_is_answered_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = deadlines.Attempt.run
    with real(tmp_path) as vault:
        vault.timeout = 0.2
        monkeypatch.setattr(
            deadlines.Attempt,
            "run",
            lambda it, until: run(it, min(until - 600, time.monotonic() + 0.2)),
        )
        freed = Event()
        with broken(vault, lambda _: freed.wait(600)):
            answer = vault.sql(COUNT, epsilon=1)  # or the engine would keep it for ten minutes
        freed.set()
        (only,) = vault.ledger.incidents()
    assert only.kind == "exceeded-deadline"
    assert isinstance(answer.value, int)


def test_answers_failures_and_repetitions_come_at_one_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, sealed = Clock(), []
    monkeypatch.setattr("celosia.queries.execution.time", clock)
    monkeypatch.setattr(deadlines, "time", clock)
    monkeypatch.setattr(deadlines, "wait_until", clock.wait_until)
    with real(tmp_path) as vault:
        seal = vault.ledger.seal

        def noted(*given: Any) -> Any:
            sealed.append(clock.now)
            return seal(*given)

        monkeypatch.setattr(vault.ledger, "seal", noted)
        taken = []
        for number, how in enumerate([None, fails, None, overflows, "again"]):
            begun = clock.now
            if callable(how):
                with broken(vault, how):
                    vault.sql(COUNT, epsilon=0.1 + number)
            else:
                vault.sql(COUNT, epsilon=0.1 if how == "again" else 0.1 + number)
            taken.append(clock.now - begun)
            clock.now += 1.25
        wanted = vault.explain(COUNT, epsilon=1).deadline
    assert wanted in cost.CLASSES
    assert taken == [pytest.approx(wanted)] * 5
    steps = [one - other for one, other in zip(sealed[1:], sealed, strict=False)]
    assert steps == [pytest.approx(wanted + 1.25)] * 3  # so the time of an entry tells nothing


@pytest.mark.parametrize(
    ("ready", "leaves"), [(0.0, 1), (0.999, 1), (1.0, 1), (1.001, 2), (1.99, 2), (2.3, 3)]
)
def test_what_misses_its_moment_leaves_a_whole_number_of_deadlines_later(
    ready: float, leaves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(deadlines, "time", clock)
    monkeypatch.setattr(deadlines, "wait_until", clock.wait_until)
    begun, clock.now = clock.now, clock.now + 4 * ready
    deadlines.wait_for(begun + 4, period=4)
    assert clock.now - begun == 4 * leaves


def test_a_thread_that_wakes_late_waits_for_the_next_moment_and_gets_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is seen is late by a whole number of deadlines and less than the slack."""
    clock, oversleeps = Clock(), [0.3, 0.2, 0.01]

    def wait(moment: float) -> None:
        clock.now = max(clock.now, moment) + (oversleeps.pop(0) if oversleeps else 0.3)

    monkeypatch.setattr(deadlines, "time", clock)
    monkeypatch.setattr(deadlines, "wait_until", wait)
    begun = clock.now
    deadlines.wait_for(begun + 1, period=1)
    assert clock.now - begun == pytest.approx(3.01)
    begun = clock.now
    deadlines.wait_for(begun + 1, period=1)  # a machine that is always late by 0.3
    assert clock.now - begun == pytest.approx(4.3)


def test_a_late_question_is_recorded_and_told_at_moments_of_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the process was held up: the time of the record tells no more than that."""
    clock, sealed = Clock(), []
    monkeypatch.setattr("celosia.queries.execution.time", clock)
    monkeypatch.setattr(deadlines, "time", clock)
    monkeypatch.setattr(deadlines, "wait_until", clock.wait_until)
    carried_out, held_up = Execution._carried_out, [0.0]
    with real(tmp_path) as vault:
        seal = vault.ledger.seal

        def noted(*given: Any) -> Any:
            sealed.append(clock.now)
            return seal(*given)

        def starved(*given: Any) -> Any:
            found = carried_out(*given)
            clock.now += held_up[0]
            return found

        monkeypatch.setattr(vault.ledger, "seal", noted)
        monkeypatch.setattr(Execution, "_carried_out", starved)
        wanted = vault.explain(COUNT, epsilon=1).deadline
        for share in (0.81, 1.3, 1.79):
            held_up[:] = [share * wanted]
            begun = clock.now
            vault.sql(COUNT, epsilon=1, fresh=True)
            assert clock.now - begun == pytest.approx(2 * wanted)
            assert sealed[-1] - begun == pytest.approx(1.8 * wanted)


def test_the_answer_is_written_before_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    wait_for = deadlines.wait_for

    def wait(moment: float, *, period: float) -> None:
        happened.append("wait")
        wait_for(moment, period=period)

    monkeypatch.setattr(deadlines, "wait_for", wait)
    monkeypatch.setattr(deadlines, "wait_until", lambda _: None)
    with real(tmp_path) as vault:
        seal = vault.ledger.seal

        def noted(*given: Any) -> Any:
            happened.append("record")
            return seal(*given)

        monkeypatch.setattr(vault.ledger, "seal", noted)
        answer = vault.ask(
            QueryRequest(COUNT, epsilon=1), before_release=lambda _: happened.append("write")
        )
        again = vault.ask(
            QueryRequest(COUNT, epsilon=1), before_release=lambda _: happened.append("write")
        )
    assert happened == ["wait", "record", "write", "wait", "write", "wait"]
    assert again.rows == answer.rows


def test_work_that_was_given_up_ends_at_its_next_look() -> None:
    freed, ended = Event(), Event()

    def work(_: float) -> None:
        assert freed.wait(600)
        try:
            deadlines.check_given_up()
        finally:
            ended.set()

    attempt = deadlines.Attempt(work)
    assert attempt.run(time.monotonic() - 600) is None
    freed.set()
    assert ended.wait(600)
    attempt._thread.join(600)
    assert isinstance(attempt.error, TimeoutError)
    deadlines.check_given_up()  # of no attempt: nothing happens


def test_all_queries_of_a_question_share_its_time(tmp_path: Path) -> None:
    """A query that begins late is stopped as early as one that began at once."""
    given: list[float] = []
    with real(tmp_path) as vault:
        inner = vault._engine

        class Watched:
            def __getattr__(self, name: str) -> Any:
                return getattr(inner, name)

            @contextmanager
            def snapshot(self, *, timeout: Any) -> Iterator[Any]:
                given.append(timeout())
                time.sleep(0.02)
                given.append(timeout())
                with inner.snapshot(timeout=timeout) as read:
                    yield read

        watched: Any = Watched()
        vault._engine = watched
        vault.sql(COUNT, epsilon=1)
        vault._engine = inner
        assert vault.ledger.incidents() == ()
    assert given[1] <= given[0] - 0.02


@pytest.mark.real_time
def test_a_real_answer_is_never_early(tmp_path: Path) -> None:
    tables = tuple(replace(each, rows=100) for each in SMALL.tables)
    with real(tmp_path, replace(SMALL, tables=tables)) as vault:
        wanted = vault.explain(COUNT, epsilon=1).deadline
        begun = time.monotonic()
        vault.sql(COUNT, epsilon=1)
        assert time.monotonic() - begun >= wanted == cost.CLASSES[0]


def test_the_user_stops_a_question_and_it_stays_charged(tmp_path: Path) -> None:
    def stops(_: Any) -> Any:
        raise KeyboardInterrupt

    with real(tmp_path) as vault:
        with broken(vault, stops), pytest.raises(KeyboardInterrupt):
            vault.sql(COUNT, epsilon=1)
        (record,) = vault.ledger.history()
    assert (record.status, record.reason) == ("failed", "CEL-C001")


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_larger_tables_and_harder_questions_get_more_time(dialect: str) -> None:
    sizes = [10, 10**5, 10**6, 10**7, 10**8, 10**9]
    found = [
        cost.choose_deadline(Cost(rows=size, is_declared=True), [], dialect=dialect)
        for size in sizes
    ]
    assert found == sorted(found)
    assert set(found) <= set(cost.CLASSES)


def test_the_policy_may_declare_one_deadline_for_all_questions(tmp_path: Path) -> None:
    declared = replace(POLICY, deadline=Fraction(5, 2))
    with opened(shop(Random(1)), tmp_path, declared) as vault:
        found = {vault.explain(query, epsilon=1).deadline for query in (COUNT, SHAPES[3][1])}
    assert found == {2.5}


def test_the_deadline_follows_from_what_is_declared(tmp_path: Path) -> None:
    few, many = (
        replace(POLICY, tables=tuple(replace(each, rows=rows) for each in POLICY.tables))
        for rows in (100, 10**8)
    )
    for rows in (shop(Random(1)), EMPTY):
        with opened(rows, tmp_path, few) as one, opened(rows, tmp_path, many) as other:
            assert one.explain(COUNT, epsilon=1).deadline == 1
            assert other.explain(COUNT, epsilon=1).deadline == 256
