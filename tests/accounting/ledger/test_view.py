"""A ledger that is looked at: read, never made, never written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from tests.accounting.ledger.ledgers import TENTH, asking, opened, reserved

from celosia.accounting.ledger import Ledger, LedgerView, Reservation, StoredAnswer
from celosia.core.errors import EngineError, InputError, PrivacyError


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with opened(tmp_path / "a.ledger") as ledger:
        ledger.seal(reserved(ledger, asking("one")), [1])
        ledger.fail(reserved(ledger, asking("two")), "CEL-X001")
    return tmp_path / "a.ledger"


def looked(place: Path) -> LedgerView:
    found = Ledger.open_view(place)
    assert found is not None
    return found


def test_all_is_told_that_the_ledger_itself_tells(place: Path, tmp_path: Path) -> None:
    with looked(place) as view:
        facts = (view.head, view.spent, view.history(), view.verify(), view.tight_epsilon(0.0))
        terms, head = view.terms, view.export(tmp_path / "a.jsonl")
    with opened(place) as ledger:
        same = (ledger.head, ledger.spent, ledger.history(), ledger.verify(), facts[4])
        assert same == facts
        assert ledger.terms == terms
        assert ledger.head == head
    assert facts[1]["epsilon"] == 2 * TENTH


def test_where_nothing_stands_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    with closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.executescript("CREATE TABLE a (b)")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("none", "empty", "other"):
        assert Ledger.open_view(tmp_path / name) is None
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no ledger at all, " * 99)
    with pytest.raises(EngineError) as text:
        Ledger.open_view(tmp_path / "text")
    with pytest.raises(InputError) as nowhere:
        Ledger.open_view(tmp_path / "no" / "folder")
    assert (text.value.code, nowhere.value.code) == ("CEL-Q114", "CEL-Q116")


def test_one_that_was_edited_is_found_out(place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE celosia_ledger SET body = replace(body, 'one', 'two')")
        connection.commit()
    with pytest.raises(PrivacyError) as refused:
        Ledger.open_view(place)
    assert refused.value.code == "CEL-Q104"


def test_a_view_follows_what_others_write_and_writes_nothing(place: Path) -> None:
    with looked(place) as view, opened(place) as ledger:
        before = view.spent["epsilon"]
        reserved(ledger, asking("three", Fraction(1, 2)))
        assert before is not None
        assert view.spent["epsilon"] == before + Fraction(1, 2)
        with pytest.raises(EngineError), view._store.transaction(writing=True) as connection:
            connection.execute("DELETE FROM celosia_ledger")
        assert len(view.history()) == 3


def test_a_file_that_may_only_be_read_is_enough(place: Path) -> None:
    place.chmod(0o400)
    with looked(place) as view:
        assert len(view.history()) == 2


def test_a_fresh_answer_is_charged_and_told_from_then_on(tmp_path: Path) -> None:
    with opened(tmp_path / "a.ledger") as ledger:
        ledger.seal(reserved(ledger, asking("one")), [1])
        again = ledger.reserve(asking("one"))
        assert isinstance(again, StoredAnswer)
        waiting = ledger.reserve(asking("one"), fresh=True)
        assert isinstance(waiting, Reservation)
        still = ledger.reserve(asking("one"))
        assert isinstance(still, StoredAnswer)
        assert still.answer == [1]  # until the new one is sealed
        ledger.seal(waiting, [2])
        assert ledger.spent["epsilon"] == 2 * TENTH
    with opened(tmp_path / "a.ledger") as ledger:
        found = ledger.reserve(asking("one"))
        assert isinstance(found, StoredAnswer)
        assert found.answer == [2]
        ledger.verify()


def test_of_two_that_asked_at_once_the_first_answer_is_told(tmp_path: Path) -> None:
    with opened(tmp_path / "a.ledger") as one, opened(tmp_path / "a.ledger") as other:
        first, second = reserved(one, asking("q")), reserved(other, asking("q"))
        other.seal(second, [2])
        one.seal(first, [1])
        found = one.reserve(asking("q"))
        assert isinstance(found, StoredAnswer)
        assert found.answer == [2]
