"""Ceilings of a day, and incidents that only the curator sees."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.accounting.ledger.ledgers import TENTH, asking, opened, reserved

from celosia.accounting.ledger import Ceilings, Ledger, Reservation, verify_export
from celosia.accounting.ledger.store import EXCEEDED_DEADLINE, FAILED_QUERY, INCIDENTS, Store
from celosia.core.errors import BudgetExceeded, InputError, QueryRefused

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def limited(place: str | Path, clock: Clock, **ceilings: Any) -> Ledger:
    return opened(place, total=(10, 0), ceilings=Ceilings(**ceilings), clock=clock)


def refused(ledger: Ledger, question: str, **changes: Any) -> str:
    with pytest.raises(BudgetExceeded) as error:
        ledger.reserve(asking(question, **changes))
    return error.value.code


def test_an_analyst_asks_so_many_questions_a_day(place: str) -> None:
    clock = Clock()
    with limited(place, clock, questions_per_day=2) as ledger:
        ledger.seal(reserved(ledger, asking("one")), [1])
        reserved(ledger, asking("two"))
        head = ledger.head
        assert refused(ledger, "three") == "CEL-Q301"
        assert ledger.head == head, "a refusal leaves no trace"
        assert not isinstance(ledger.reserve(asking("one")), Reservation), "stored ones are free"
        assert refused(ledger, "one", epsilon=2 * TENTH) == "CEL-Q301"
        reserved(ledger, asking("three", analyst="ben"))
    with limited(place, clock, questions_per_day=2) as again:
        assert refused(again, "three") == "CEL-Q301", "days are counted from what is on disk"
        clock.now += timedelta(hours=12)
        reserved(again, asking("three"))


def test_no_question_costs_less_than_the_least(place: str) -> None:
    least = Fraction(1, 4)
    with limited(place, Clock()) as ledger:
        ledger.seal(reserved(ledger, asking("one", TENTH)), [1])
    with limited(place, Clock(), least_epsilon=least) as ledger:
        assert not isinstance(ledger.reserve(asking("one", TENTH)), Reservation), "it is stored"
        for question, fresh in (("one", True), ("two", False)):
            with pytest.raises(QueryRefused) as refused:
                ledger.reserve(asking(question, TENTH), fresh=fresh)
            assert refused.value.code == "CEL-Q300"
            assert refused.value.details["least"] == 0.25
            assert "0.25" in str(refused.value)
        reserved(ledger, asking("two", least))
        assert len(ledger.history()) == 2


def test_days_are_those_of_universal_time(tmp_path: Path) -> None:
    clock = Clock(datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2))))
    with limited(tmp_path / "a.ledger", clock, questions_per_day=1) as ledger:
        reserved(ledger, asking("one"))
        assert ledger.history()[0].at == "2026-03-01T23:00:00+00:00"
        clock.now += timedelta(minutes=59)
        assert refused(ledger, "two") == "CEL-Q301"
        clock.now += timedelta(minutes=1)
        reserved(ledger, asking("two"))


def test_questions_that_race_stay_below_the_ceiling(place: str) -> None:
    clock, done = Clock(), list[str]()

    def ask(number: int) -> None:
        with limited(place, clock, questions_per_day=5) as ledger:
            for each in range(3):
                try:
                    reserved(ledger, asking(f"{number}.{each}"))
                except BudgetExceeded as error:
                    done.append(error.code)
                else:
                    done.append("charged")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == ["CEL-Q301"] * 7 + ["charged"] * 5


def test_exceeded_deadlines_end_the_day_of_the_analyst(place: str) -> None:
    clock = Clock()
    with limited(place, clock, exceeded_per_day=2) as ledger:
        for question in ("one", "two"):
            found = reserved(ledger, asking(question))
            ledger.note_incident(found, FAILED_QUERY)
            ledger.seal(found, [1])
            ledger.note_incident(found, EXCEEDED_DEADLINE)
            ledger.note_incident(found, EXCEEDED_DEADLINE)
            if question == "one":
                other = reserved(ledger, asking("another", analyst="ben"))
        assert refused(ledger, "three") == "CEL-Q301"
        assert not isinstance(ledger.reserve(asking("one")), Reservation)
        ledger.note_incident(other, EXCEEDED_DEADLINE)
        reserved(ledger, asking("three", analyst="ben"))
        clock.now += timedelta(days=1)
        reserved(ledger, asking("three"))


def test_incidents_are_beside_the_chain_and_told_to_the_curator(place: str, tmp_path: Path) -> None:
    with limited(place, Clock(), exceeded_per_day=9) as ledger:
        one = reserved(ledger, asking("one"))
        two = reserved(ledger, asking("two", analyst="ben"))
        before = ledger.head, ledger.history(), ledger.spent
        ledger.note_incident(one, EXCEEDED_DEADLINE)
        ledger.note_incident(two, FAILED_QUERY)
        assert (ledger.head, ledger.history(), ledger.spent) == before
        ledger.export(tmp_path / "a.jsonl")
        assert verify_export(tmp_path / "a.jsonl") == before[0]
        assert EXCEEDED_DEADLINE not in (tmp_path / "a.jsonl").read_text("ascii")
        found = ledger.incidents()
        assert [(each.entry, each.analyst, each.kind) for each in found] == [
            (one.sequence, "ada", EXCEEDED_DEADLINE),
            (two.sequence, "ben", FAILED_QUERY),
        ]
        assert found[0].as_dict()["at"] == "2026-03-01T12:00:00+00:00"
        assert ledger.incidents("ada") == found[:1]
        assert ledger.incidents(kind=FAILED_QUERY) == found[1:]
    view = Ledger.open_view(place)
    assert view is not None
    with view:
        assert view.incidents() == found


def test_what_is_no_incident_is_refused(tmp_path: Path) -> None:
    with limited(tmp_path / "a.ledger", Clock()) as ledger:
        one = reserved(ledger, asking("one"))
        with pytest.raises(InputError) as message:
            ledger.note_incident(one, "the value 42 is too large")
        with pytest.raises(InputError) as foreign:
            ledger.note_incident(replace(one, hash="0" * 64), EXCEEDED_DEADLINE)
        assert (message.value.code, foreign.value.code) == ("CEL-Q303", "CEL-Q112")
        assert ledger.incidents() == ()


def test_a_ledger_from_before_incidents_is_read_and_opened(place: str) -> None:
    with limited(place, Clock()) as ledger:
        one = reserved(ledger, asking("one"))
    before = Store(place)
    with before.transaction(writing=True) as connection:
        connection.execute(f"DROP TABLE {INCIDENTS}")
    before.close()
    view = Ledger.open_view(place)
    assert view is not None
    with view:
        assert view.incidents() == ()
    with limited(place, Clock(), exceeded_per_day=1) as ledger:
        ledger.note_incident(one, EXCEEDED_DEADLINE)
        assert refused(ledger, "two") == "CEL-Q301"
