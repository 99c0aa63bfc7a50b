"""The ledger in a file and on a server: exact, within its limits, each question charged once."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.accounting.ledger.ledgers import TENTH, asking, opened, reserved

from celosia.accounting.accountant import Accountant
from celosia.accounting.amounts import Spending
from celosia.accounting.ledger import Reservation, StoredAnswer, verify_export
from celosia.accounting.losses import ApproximateLoss, BoundedRangeLoss, ComposedLoss, PureLoss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
from celosia.accounting.shuffling import ShuffledLoss
from celosia.core.errors import (
    BudgetExceeded,
    CelosiaError,
    EngineError,
    InputError,
    PrivacyError,
    QueryRefused,
)

TWO = {"ada": (Fraction(3, 10), 0), "bob": Spending(epsilon=Fraction(9, 10))}


def test_ten_charges_of_a_tenth_are_exactly_one(place: str) -> None:
    with opened(place) as ledger:
        for number in range(10):
            assert isinstance(ledger.reserve(asking(f"q{number}", 0.1)), Reservation)
        assert ledger.spent["epsilon"] == 1
        assert ledger.remaining["epsilon"] == 0
        with pytest.raises(BudgetExceeded):
            ledger.reserve(asking("one more", Fraction(1, 10**40)))


def test_thirds_and_sevenths_are_exact_and_other_fractions_are_charged_a_little_more(
    place: str,
) -> None:
    with opened(place, total=(3, 0)) as ledger:
        for number in range(3):
            ledger.reserve(asking(f"third {number}", Fraction(1, 3)))
        for number in range(7):
            ledger.reserve(asking(f"seventh {number}", Fraction(1, 7)))
        assert ledger.spent["epsilon"] == 2
        odd = Fraction(1, 9973)
        ledger.reserve(asking("odd", odd))
        spent = ledger.spent["epsilon"]
        assert spent is not None
        assert odd < spent - 2 < odd + Fraction(1, 10**35)


def test_a_refusal_says_what_was_asked_and_what_is_left_and_records_nothing(place: str) -> None:
    with opened(place) as ledger:
        ledger.reserve(asking("ages", Fraction(7, 10)))
        before = ledger.head
        with pytest.raises(BudgetExceeded) as caught:
            ledger.reserve(asking("names", Fraction(4, 10)))
        assert caught.value.code == "CEL-Q110"
        assert caught.value.details["requested"] == {"epsilon": 0.4, "delta": 0.0}
        assert caught.value.details["remaining"] == {"epsilon": 0.3, "delta": 0.0}
        assert ledger.head == before
        assert isinstance(ledger.reserve(asking("names", Fraction(3, 10))), Reservation)


def test_deltas_are_spent_too(place: str) -> None:
    with opened(place, total=(10, 1e-6)) as ledger:
        ledger.reserve(asking("one", 1, delta=6e-7))
        with pytest.raises(BudgetExceeded):
            ledger.reserve(asking("two", 1, delta=6e-7))
        ledger.reserve(asking("two", 1, delta=4e-7))
        assert ledger.remaining["delta"] == 0


def test_the_same_question_is_answered_once_and_told_again_for_free(place: str) -> None:
    with opened(place) as ledger:
        asked = asking("count", parameters={"confidence": 0.95})
        sealed = ledger.seal(reserved(ledger, asked), {"value": 12})
        for again in (asked, asking("count", parameters={"confidence": 0.95}, analyst="bob")):
            found = ledger.reserve(again)
            assert isinstance(found, StoredAnswer)
            assert found == sealed
            assert found.answer == {"value": 12}
        assert ledger.spent["epsilon"] == TENTH
        assert len(ledger.history()) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"question": "count "},
        {"epsilon": Fraction(2, 10)},
        {"delta": 1e-9},
        {"parameters": {"confidence": 0.9}},
    ],
)
def test_any_difference_makes_it_another_question(tmp_path: Path, other: dict[str, Any]) -> None:
    with opened(tmp_path / "l.db", total=(1, 1e-6)) as ledger:
        ledger.seal(reserved(ledger, asking("count")), 12)
        assert isinstance(ledger.reserve(asking(**({"question": "count"} | other))), Reservation)


def test_another_policy_makes_it_another_question(place: str) -> None:
    with opened(place) as ledger:
        ledger.seal(reserved(ledger, asking("count")), 12)
    with opened(place, policy_hash="p2") as ledger:
        assert isinstance(ledger.reserve(asking("count")), Reservation)
        assert ledger.spent["epsilon"] == 2 * TENTH


def test_a_failure_and_what_never_ended_stay_charged_and_are_no_answers(place: str) -> None:
    with opened(place) as ledger:
        ledger.fail(reserved(ledger, asking("fails")), "CEL-X001")
        reserved(ledger, asking("crashes"))
    with opened(place) as ledger:
        assert ledger.spent["epsilon"] == 2 * TENTH
        reserved(ledger, asking("fails"))
        reserved(ledger, asking("crashes"))
        assert ledger.spent["epsilon"] == 4 * TENTH
        assert [each.status for each in ledger.history()] == ["failed", *["reserved"] * 3]


def test_each_analyst_has_a_limit_within_the_total(place: str) -> None:
    with opened(place, analysts=TWO) as ledger:
        for number in range(3):
            ledger.reserve(asking(f"q{number}"))
        with pytest.raises(BudgetExceeded) as caught:
            ledger.reserve(asking("more"))
        assert caught.value.code == "CEL-Q111"
        assert ledger.remaining_of("ada")["epsilon"] == 0
        with pytest.raises(BudgetExceeded) as caught:
            ledger.reserve(asking("much", Fraction(8, 10), analyst="bob"))
        assert caught.value.code == "CEL-Q110"
        ledger.reserve(asking("much", Fraction(7, 10), analyst="bob"))
        assert ledger.remaining["epsilon"] == 0
        assert ledger.spent_by("bob")["epsilon"] == Fraction(7, 10)
        with pytest.raises(QueryRefused, match=r"'adda'.*did you mean 'ada'"):
            ledger.reserve(asking("q0", analyst="adda"))


def test_a_free_answer_is_not_for_those_whom_the_policy_does_not_name(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", analysts=TWO) as ledger:
        ledger.seal(reserved(ledger, asking("count")), 12)
        with pytest.raises(QueryRefused) as caught:
            ledger.reserve(asking("count", analyst="eve"))
        assert caught.value.code == "CEL-Q109"


def test_what_was_charged_is_there_when_the_ledger_is_opened_again(place: str) -> None:
    with opened(place, analysts=TWO) as ledger:
        sealed = ledger.seal(reserved(ledger, asking("count")), {"value": 3})
        head = ledger.head
    with opened(place, analysts=TWO, anchor=str(head)) as ledger:
        assert ledger.head == head
        assert ledger.spent_by("ada")["epsilon"] == TENTH
        assert ledger.reserve(asking("count")) == sealed


def test_two_ledgers_of_one_place_see_each_other_at_once(place: str) -> None:
    with opened(place) as one, opened(place) as two:
        mine = reserved(one, asking("count", Fraction(6, 10)))
        with pytest.raises(BudgetExceeded):
            two.reserve(asking("sum", Fraction(6, 10)))
        assert two.spent == one.spent
        two.seal(mine, 5)
        assert isinstance(one.reserve(asking("count", Fraction(6, 10))), StoredAnswer)


def test_threads_share_a_ledger(place: str) -> None:
    with opened(place) as ledger, ThreadPoolExecutor(8) as pool:

        def ask(number: int) -> bool:
            try:
                ledger.seal(reserved(ledger, asking(f"q{number}")), number)
            except BudgetExceeded:
                return False
            return True

        assert sum(pool.map(ask, range(30))) == 10
        assert ledger.spent["epsilon"] == 1
        ledger.verify()


def test_one_reservation_pays_for_one_answer(place: str) -> None:
    with opened(place) as ledger:
        reservation = reserved(ledger, asking("count"))
        first = ledger.seal(reservation, {"value": 1})
        assert ledger.seal(reservation, {"value": 1}) == first
        for end in (
            lambda: ledger.seal(reservation, {"value": 2}),
            lambda: ledger.fail(reservation, "late"),
        ):
            with pytest.raises(InputError) as caught:
                end()
            assert caught.value.key == "CEL-Q112.not_open"
        failed = reserved(ledger, asking("sum"))
        ledger.fail(failed, "CEL-X001")
        with pytest.raises(InputError):
            ledger.seal(failed, {"value": 1})


def test_two_askers_at_once_are_both_charged_and_the_first_answer_is_kept(place: str) -> None:
    with opened(place) as ledger:
        one, two = (reserved(ledger, asking("count")) for _ in range(2))
        ledger.seal(two, "second asker, first answer")
        ledger.seal(one, "first asker")
        found = ledger.reserve(asking("count"))
        assert isinstance(found, StoredAnswer)
        assert found.answer == "second asker, first answer"
        assert ledger.spent["epsilon"] == 2 * TENTH


def test_a_reservation_of_another_ledger_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as one, opened(tmp_path / "b.db") as two:
        mine, _ = reserved(one, asking("count")), reserved(two, asking("count"))
        with pytest.raises(InputError) as caught:
            two.seal(mine, 1)
        assert caught.value.key == "CEL-Q112.not_open"


@pytest.mark.parametrize("answer", [float("nan"), {"value": float("inf")}, {1, 2}, object()])
def test_an_answer_that_cannot_be_told_again_is_refused(tmp_path: Path, answer: Any) -> None:
    with opened(tmp_path / "l.db") as ledger:
        reservation = reserved(ledger, asking("count"))
        with pytest.raises(InputError) as caught:
            ledger.seal(reservation, answer)
        assert caught.value.key == "CEL-Q112.answer"
        assert ledger.spent["epsilon"] == TENTH


@pytest.mark.parametrize("reason", ["could not cast 'Ann' to a number", "", None, "x" * 41])
def test_a_reason_is_a_code_and_never_a_message(tmp_path: Path, reason: Any) -> None:
    with opened(tmp_path / "l.db") as ledger:
        reservation = reserved(ledger, asking("count"))
        with pytest.raises(InputError) as caught:
            ledger.fail(reservation, reason)
        assert caught.value.key == "CEL-Q112.reason"
        assert "Ann" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"analyst": " "}, "CEL-Q107"),
        ({"question": 5}, "CEL-Q107"),
        ({"question": "q" * 2**21}, "CEL-Q107"),
        ({"parameters": {"at": datetime.now(UTC)}}, "CEL-Q107"),
        ({"parameters": {"x": float("nan")}}, "CEL-Q107"),
        ({"epsilon": 0}, "CEL-I060"),
        ({"epsilon": -1}, "CEL-I060"),
        ({"epsilon": float("nan")}, "CEL-I060"),
        ({"epsilon": True}, "CEL-I060"),
        ({"delta": 1}, "CEL-I060"),
        ({"delta": -1e-9}, "CEL-I060"),
        ({"loss": PureLoss(Fraction(11, 100))}, "CEL-Q108"),
        ({"loss": GaussianLoss(Fraction(100), 1)}, "CEL-Q108"),
        ({"loss": ShuffledLoss(Fraction(1, 100), 10)}, "CEL-Q117"),
    ],
)
def test_a_request_is_checked_before_it_is_charged(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(CelosiaError) as caught:
        asking(**({"question": "count"} | changes))
    assert caught.value.code == code


def test_sums_charge_what_was_asked_for_whatever_the_finer_loss(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", total=(2, 1e-5)) as ledger:
        finer = ComposedLoss((LaplaceLoss(Fraction(21), 1), LaplaceLoss(Fraction(21), 1)))
        ledger.reserve(asking("average", TENTH, loss=finer))
        normal = GaussianLoss(Fraction(40), 1)
        assert normal.epsilon(1e-6) < 1
        ledger.reserve(asking("normal", 1, delta=1e-6, loss=normal))
        assert ledger.spent["epsilon"] == 1 + TENTH
        assert ledger.spent["delta"] == Fraction(1, 10**6)


def test_the_rule_either_lasts_longer_than_sums_and_keeps_the_price_exact(tmp_path: Path) -> None:
    """The filter's own rho limit, divided by the rho of one answer, is how many it allows."""
    place, small = tmp_path / "l.db", Fraction(1, 20)
    with opened(place, total=(1, 1e-6), rule="either") as ledger:
        limit = ledger.remaining["rho"]
        assert limit is not None
        expected = max(20, int(limit / (small**2 / 8)))
        number = 0
        while True:
            try:
                ledger.reserve(asking(f"q{number}", small, loss=BoundedRangeLoss(small)))
            except BudgetExceeded:
                break
            number += 1
        assert number == expected > 60
        assert ledger.spent["rho"] == number * small**2 / 8
    with opened(place, total=(1, 1e-6), rule="either") as ledger:
        assert ledger.spent["rho"] == number * small**2 / 8


def test_other_rules_charge_what_was_asked_where_the_loss_has_no_price(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", total=(1, 1e-5), rule="advanced") as ledger:
        ledger.reserve(asking("q", TENTH, delta=1e-6, loss=ConcentratedLoss(Fraction(1, 10**5))))
        assert ledger.spent["squares"] == TENTH**2
        assert ledger.spent["delta"] == Fraction(1, 10**6)


def test_the_tight_epsilon_is_that_of_all_charges_as_one_account(tmp_path: Path) -> None:
    place = tmp_path / "l.db"
    losses = [LaplaceLoss(Fraction(20), 1), PureLoss(Fraction(1, 20)), LaplaceLoss(Fraction(20), 1)]
    with opened(place, total=(5, 1e-6)) as ledger:
        assert ledger.tight_epsilon(1e-6) == 0
        for number, loss in enumerate(losses):
            ledger.reserve(asking(f"q{number}", Fraction(1, 20), loss=loss))
            expected = Accountant(losses[: number + 1]).epsilon(1e-6)
            assert ledger.tight_epsilon(1e-6) == pytest.approx(expected, rel=1e-6)
        ledger.reserve(asking("gauss", 1, delta=1e-6, loss=GaussianLoss(Fraction(40), 1)))
        tight = ledger.tight_epsilon(1e-6)
        assert tight < 1.15
    with opened(place, total=(5, 1e-6)) as ledger:
        assert ledger.tight_epsilon(1e-6) == pytest.approx(tight, rel=1e-6)


def test_many_small_answers_are_far_below_their_sum(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", total=(5, 1e-6)) as ledger:
        for number in range(100):
            ledger.reserve(asking(f"q{number}", Fraction(1, 100)))
        tight = Accountant([PureLoss(Fraction(1, 100))] * 100).epsilon(1e-6)
        # The order of composition moves the last rounding to the grid of 65536 points.
        assert ledger.tight_epsilon(1e-6) == pytest.approx(tight, rel=2**-16)
        assert tight < 0.4


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"dataset": "bank"}, "CEL-Q102"),
        ({"rule": "either"}, "CEL-Q102"),
        ({"total": (2, 1e-6)}, "CEL-Q103"),
        ({"total": (1, 1e-5)}, "CEL-Q103"),
        ({"analysts": {}}, "CEL-Q103"),
        ({"analysts": TWO | {"ada": (1, 0)}}, "CEL-Q103"),
    ],
)
def test_a_ledger_is_not_reopened_for_something_else_or_for_more(
    tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    terms: dict[str, Any] = {"total": (1, 1e-6), "analysts": TWO}
    with opened(tmp_path / "l.db", **terms) as ledger:
        head = ledger.head
    with pytest.raises(PrivacyError) as caught:
        opened(tmp_path / "l.db", **(terms | changes))
    assert caught.value.code == code
    with opened(tmp_path / "l.db", **terms) as ledger:
        assert ledger.head == head, "a refused opening has left something behind"


def test_a_larger_budget_is_allowed_only_when_said_and_is_recorded(place: str) -> None:
    with opened(place) as ledger:
        ledger.reserve(asking("all", 1))
    with opened(place, total=(2, 0), policy_hash="p2", enlarge=True) as ledger:
        assert ledger.remaining["epsilon"] == 1
    with opened(place, total=(2, 0), policy_hash="p2") as ledger:
        assert ledger.head.sequence == 2
        last = list(ledger._entries())[-1].values()
    assert last["kind"] == "policy"
    assert last["enlarge"] is True
    assert last["terms"]["total"]["epsilon"] == "2/1"


def test_other_rules_than_sums_are_never_enlarged(tmp_path: Path) -> None:
    opened(tmp_path / "l.db", total=(1, 1e-6), rule="either").close()
    with pytest.raises(PrivacyError) as caught:
        opened(tmp_path / "l.db", total=(2, 1e-6), rule="either", enlarge=True)
    assert caught.value.code == "CEL-Q103"


def test_a_smaller_budget_counts_what_was_spent_before(place: str) -> None:
    with opened(place) as ledger:
        ledger.reserve(asking("much", Fraction(8, 10)))
    limits = {"ada": (Fraction(1, 2), 0), "cyd": (Fraction(1, 2), 0)}
    with opened(place, total=(Fraction(9, 10), 0), analysts=limits, policy_hash="p2") as ledger:
        assert ledger.remaining_of("ada")["epsilon"] == 0
        with pytest.raises(BudgetExceeded):
            ledger.reserve(asking("q"))
        ledger.reserve(asking("q", analyst="cyd"))
        assert ledger.remaining["epsilon"] == 0


def test_who_has_an_old_policy_is_stopped_when_it_changes(place: str) -> None:
    with opened(place) as old, opened(place, policy_hash="p2"):
        mine = old.head
        assert mine.sequence == 1
        with pytest.raises(PrivacyError) as caught:
            old.reserve(asking("q"))
        assert caught.value.code == "CEL-Q102"


def test_an_answer_that_was_on_its_way_is_sealed_though_the_policy_changed(place: str) -> None:
    with opened(place) as old:
        reservation = reserved(old, asking("q"))
        opened(place, policy_hash="p2").close()
        assert old.seal(reservation, 1).answer == 1


def test_the_history_tells_who_asked_what_and_what_became_of_it(place: str) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    with opened(place, analysts=TWO) as ledger:
        ledger.seal(reserved(ledger, asking("count")), 1)
        ledger.fail(reserved(ledger, asking("sum", analyst="bob")), "CEL-X001")
        reserved(ledger, asking("max"))
        mine, everything = ledger.history("ada"), ledger.history()
    assert [(each.question, each.status) for each in mine] == [
        ("count", "sealed"),
        ("max", "reserved"),
    ]
    assert [each.analyst for each in everything] == ["ada", "bob", "ada"]
    assert everything[1].reason == "CEL-X001"
    assert before <= datetime.fromisoformat(everything[0].at) <= datetime.now(UTC)
    assert everything[0].as_dict()["epsilon"] == "1/10"
    assert "epsilon 0.1, failed (CEL-X001)" in str(everything[1])
    json.dumps([each.as_dict() for each in everything])


def test_an_export_is_checked_without_the_database(place: str, tmp_path: Path) -> None:
    with opened(place) as ledger:
        middle = ledger.seal(reserved(ledger, asking("count")), {"value": 1}).head
        ledger.reserve(asking("sum"))
        head = ledger.export(tmp_path / "out.jsonl")
        assert head == ledger.head
        with pytest.raises(InputError, match="exists"):
            ledger.export(tmp_path / "out.jsonl")
    assert verify_export(tmp_path / "out.jsonl", anchor=str(middle)) == head


def test_what_is_printed_holds_plain_values(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db") as ledger:
        request = asking("count")
        assert str(request) == "ada: count (0.1-DP)"
        reservation = reserved(ledger, request)
        assert str(reservation) == "entry 1: epsilon 0.1 for ada"
        stored = ledger.seal(reservation, [1, None])
        assert str(stored.head) in str(stored)
        assert str(ledger) == "Ledger of shop: 1 charges, left epsilon 0.9, delta 0"
        for each in (request, reservation, stored, stored.head):
            json.dumps(each.as_dict(), allow_nan=False)


def test_no_amount_is_stored_as_a_float(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db", total=(0.3, 1e-6), analysts={"ada": (0.1, 1e-7)}) as ledger:
        ledger.reserve(asking("q", 0.1, delta=1e-7))
        first, last = (entry.values() for entry in ledger._entries())
    assert first["terms"]["total"] == {"epsilon": "3/10", "delta": "1/1000000"}
    assert first["terms"]["analysts"]["ada"] == {"epsilon": "1/10", "delta": "1/10000000"}
    assert (last["epsilon"], last["delta"]) == ("1/10", "1/10000000")


@pytest.mark.parametrize(
    "place",
    [
        "",
        ":memory:",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///x.db?mode=memory",
        "file:x?mode=memory",
        "mysql://root@host/db",
        "://",
        "no/such/folder/l.db",
        ".",
    ],
)
def test_a_place_that_keeps_nothing_is_refused(place: str) -> None:
    with pytest.raises(InputError) as caught:
        opened(place)
    assert caught.value.code == "CEL-Q116"


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset": ""},
        {"policy_hash": None},
        {"rule": "bsic"},
        {"total": 1},
        {"analysts": ["ada"]},
        {"analysts": {"": (1, 0)}},
        {"analysts": {"ada": 3}},
    ],
)
def test_a_ledger_without_terms_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        opened(tmp_path / "l.db", **changes)
    assert caught.value.code == "CEL-Q100"
    assert not (tmp_path / "l.db").exists()


def test_a_password_is_not_told() -> None:
    with pytest.raises(EngineError) as caught:
        opened("postgresql://me:secret@127.0.0.1:1/none?connect_timeout=1")
    assert "secret" not in str(caught.value)


def test_a_url_of_a_file_is_the_file(tmp_path: Path) -> None:
    opened(f"sqlite:///{tmp_path / 'l.db'}").close()
    with opened(tmp_path / "l.db") as ledger:
        assert ledger.head.sequence == 0


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    opened(tmp_path / "l.db").close()
    assert stat.S_IMODE((tmp_path / "l.db").stat().st_mode) == 0o600


def test_a_closed_ledger_says_so(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "l.db")
    ledger.close()
    with pytest.raises(EngineError) as caught:
        ledger.reserve(asking("q"))
    assert caught.value.code == "CEL-Q115"


def test_a_ledger_of_another_process_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "l.db") as ledger:
        own = os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: own + 1)
        with pytest.raises(EngineError) as caught:
            ledger.reserve(asking("q"))
        assert caught.value.code == "CEL-Q115"
        monkeypatch.undo()
        assert isinstance(ledger.reserve(asking("q")), Reservation)


def test_the_ledger_is_synced_in_full(tmp_path: Path) -> None:
    with opened(tmp_path / "l.db") as ledger, ledger._transaction(writing=False) as connection:
        assert list(connection.execute("PRAGMA journal_mode")) == [("wal",)]
        assert list(connection.execute("PRAGMA synchronous")) == [(2,)]


def test_the_cost_is_known_from_the_request_alone() -> None:
    """The type says so: a request holds no data, and an approximate loss is its own price."""
    request = asking("q", 1, delta=1e-6)
    assert request.stated == ApproximateLoss(Fraction(1), 1e-6)
    assert request.key("p") == asking("q", 1.0, delta=Fraction(1, 10**6)).key("p")
