"""A ledger that was changed from outside is refused; one put back is noticed by its anchor."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.accounting.ledger.ledgers import asking, opened, reserved

from celosia.accounting.ledger import Head, Ledger, verify_export
from celosia.accounting.ledger.chain import Entry, canonical, digest
from celosia.core.errors import InputError, PrivacyError


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A ledger with six entries: the opening, two sealed answers and one open reservation."""
    with opened(tmp_path / "l.db") as ledger:
        for number in range(2):
            ledger.seal(reserved(ledger, asking(f"q{number}")), {"value": number})
        ledger.reserve(asking("last"))
    return tmp_path / "l.db"


def changed(path: Path, *changes: str, values: tuple[Any, ...] = ()) -> None:
    connection = sqlite3.connect(path)
    for change in changes:
        connection.execute(change, values)
    connection.commit()
    connection.close()


CHANGES = {
    "a charge made smaller": (
        """UPDATE celosia_ledger SET body = replace(body, '"1/10"', '"1/99"') WHERE sequence = 3""",
    ),
    "an answer edited": (
        """UPDATE celosia_ledger SET body = replace(body, '"value":0', '"value":7')""",
    ),
    "the total made larger": (
        """UPDATE celosia_ledger SET body = replace(body, '"1/1"', '"9/1"') WHERE sequence = 0""",
    ),
    "a space added": ("UPDATE celosia_ledger SET body = body || ' ' WHERE sequence = 5",),
    "an entry removed": ("DELETE FROM celosia_ledger WHERE sequence = 3",),
    "an entry removed and the rest moved": (
        "DELETE FROM celosia_ledger WHERE sequence = 3",
        "UPDATE celosia_ledger SET sequence = sequence - 1 WHERE sequence > 3",
        "UPDATE celosia_ledger_head SET sequence = 4",
    ),
    "two entries exchanged": (
        "UPDATE celosia_ledger SET sequence = 99 WHERE sequence = 1",
        "UPDATE celosia_ledger SET sequence = 1 WHERE sequence = 3",
        "UPDATE celosia_ledger SET sequence = 3 WHERE sequence = 99",
    ),
    "the end cut off": ("DELETE FROM celosia_ledger WHERE sequence = 5",),
    "the first entry removed": ("DELETE FROM celosia_ledger WHERE sequence = 0",),
    "all entries removed": ("DELETE FROM celosia_ledger",),
    "the head removed": ("DELETE FROM celosia_ledger_head",),
    "the head moved": ("UPDATE celosia_ledger_head SET sequence = 4",),
    "the hash of the last entry changed": (
        f"UPDATE celosia_ledger SET hash = '{'a' * 64}' WHERE sequence = 5",
    ),
    "a number in the place of a text": (
        "UPDATE celosia_ledger SET hash = x'00' WHERE sequence = 5",
    ),
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_changed_ledger_is_refused(kept: Path, changes: tuple[str, ...]) -> None:
    changed(kept, *changes)
    with pytest.raises(PrivacyError) as caught:
        opened(kept)
    assert caught.value.code == "CEL-Q104"


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_verify_finds_a_change_under_an_open_ledger(kept: Path, changes: tuple[str, ...]) -> None:
    with opened(kept) as ledger:
        ledger.verify()
        changed(kept, *changes)
        with pytest.raises(PrivacyError) as caught:
            ledger.verify()
        assert caught.value.code == "CEL-Q104"


def test_an_edited_answer_is_not_told_again(kept: Path) -> None:
    with opened(kept) as ledger:
        changed(kept, *CHANGES["an answer edited"])
        with pytest.raises(PrivacyError) as caught:
            ledger.reserve(asking("q0"))
        assert caught.value.code == "CEL-Q104"


def test_charges_that_are_made_smaller_under_an_open_ledger_count_in_full(kept: Path) -> None:
    with opened(kept) as ledger:
        before = ledger.spent
        changed(kept, *CHANGES["a charge made smaller"])
        assert ledger.spent == before


def test_an_end_cut_off_with_care_is_found_by_the_anchor(kept: Path) -> None:
    with opened(kept) as ledger:
        head, earlier = ledger.head, ledger.history()[1].sequence
    connection = sqlite3.connect(kept)
    hashed = connection.execute("SELECT hash FROM celosia_ledger WHERE sequence = 4").fetchone()[0]
    connection.close()
    changed(kept, "DELETE FROM celosia_ledger WHERE sequence = 5")
    changed(kept, "UPDATE celosia_ledger_head SET sequence = 4, hash = ?", values=(hashed,))
    assert earlier < 4
    with opened(kept, anchor=Head(4, hashed)) as ledger:
        with pytest.raises(PrivacyError) as caught:
            ledger.verify(anchor=head)
        assert caught.value.key == "CEL-Q104.rolled_back"
    with pytest.raises(PrivacyError) as caught:
        opened(kept, anchor=str(head))
    assert caught.value.key == "CEL-Q104.rolled_back"


def test_a_copy_put_back_is_noticed_by_whoever_has_the_ledger_open(kept: Path) -> None:
    copy = kept.with_name("copy.db")
    source, target = sqlite3.connect(kept), sqlite3.connect(copy)
    source.backup(target)
    target.close()
    source.close()
    with opened(kept) as ledger:
        ledger.reserve(asking("later"))
        _ = ledger.spent
        source, target = sqlite3.connect(copy), sqlite3.connect(kept)
        source.backup(target)
        target.close()
        source.close()
        with pytest.raises(PrivacyError) as caught:
            ledger.reserve(asking("again"))
        assert caught.value.key == "CEL-Q104.rolled_back"


def test_a_new_ledger_in_the_place_of_an_old_one_is_found_by_the_anchor(kept: Path) -> None:
    with opened(kept) as ledger:
        head = ledger.head
    for file in kept.parent.glob("l.db*"):
        file.unlink()
    with pytest.raises(PrivacyError) as caught:
        opened(kept, anchor=str(head))
    assert caught.value.key == "CEL-Q104.rolled_back"


def test_two_ledgers_with_the_same_entries_have_other_hashes(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as one, opened(tmp_path / "b.db") as two:
        assert one.head.hash != two.head.hash


@pytest.mark.parametrize("body", ["{}", "[]", '{"kind":"gift","at":""}', "null", "not JSON"])
def test_an_entry_that_fits_the_chain_but_says_nothing_known_is_refused(
    kept: Path, body: str
) -> None:
    forge(kept, body)
    with pytest.raises(PrivacyError) as caught:
        opened(kept)
    assert caught.value.code == "CEL-Q104"


FORGERIES = [
    {"kind": "sealed", "reservation": 1, "answer": 5},  # ended already
    {"kind": "sealed", "reservation": 2, "answer": 5},  # not a reservation
    {"kind": "failed", "reservation": 77, "reason": "x"},
    {"kind": "opened", "terms": {}},
    {"kind": "policy", "terms": {}},
    {"kind": "reserved", "analyst": "ada", "key": "k", "epsilon": "-1/1", "delta": "0/1"},
    {
        "kind": "reserved",
        "analyst": "ada",
        "key": "k",
        "epsilon": "-1/1",
        "delta": "0/1",
        "loss": {"kind": "pure", "epsilon": 1},
    },
]


@pytest.mark.parametrize("values", FORGERIES)
def test_an_entry_that_does_not_follow_from_the_others_is_refused(
    kept: Path, values: dict[str, Any]
) -> None:
    forge(kept, canonical({"at": "2026-01-01T00:00:00+00:00", **values}))
    with pytest.raises(PrivacyError) as caught:
        opened(kept)
    assert caught.value.code == "CEL-Q104"


def forge(path: Path, body: str) -> None:
    """Append an entry whose hash is right."""
    connection = sqlite3.connect(path)
    (previous,) = connection.execute("SELECT hash FROM celosia_ledger_head").fetchone()
    hashed = digest(6, previous, body)
    row = (6, previous, body, hashed)
    connection.execute("INSERT INTO celosia_ledger VALUES (?, ?, ?, ?)", row)
    connection.execute("UPDATE celosia_ledger_head SET sequence = 6, hash = ?", (hashed,))
    connection.commit()
    connection.close()


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.db").write_bytes(b"name,age\n" * 1000)
    with pytest.raises(PrivacyError) as caught:
        opened(tmp_path / "l.db")
    assert caught.value.code == "CEL-Q104"


def test_a_file_whose_pages_are_destroyed_is_refused(kept: Path) -> None:
    size = kept.stat().st_size
    with kept.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x00" * (size - 4096))
    with pytest.raises(PrivacyError) as caught:
        opened(kept)
    assert caught.value.code == "CEL-Q104"


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:2] + lines[3:],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [lines[0].replace("shop", "shed"), *lines[1:]],
        lambda lines: [*lines, "{}"],
        lambda lines: [*lines, "nothing"],
        lambda lines: [],
    ],
)
def test_a_changed_export_is_refused(kept: Path, change: Callable[[list[str]], list[str]]) -> None:
    path = kept.with_suffix(".jsonl")
    with opened(kept) as ledger:
        ledger.export(path)
    path.write_text("\n".join(change(path.read_text("utf-8").splitlines())), "utf-8")
    with pytest.raises(PrivacyError) as caught:
        verify_export(path)
    assert caught.value.code == "CEL-Q104"


def test_an_export_that_was_cut_off_is_found_by_the_anchor(kept: Path) -> None:
    path = kept.with_suffix(".jsonl")
    with opened(kept) as ledger:
        head = ledger.export(path)
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    assert verify_export(path).sequence == 4
    with pytest.raises(PrivacyError) as caught:
        verify_export(path, anchor=head)
    assert caught.value.key == "CEL-Q104.rolled_back"


@pytest.mark.parametrize("anchor", ["", "5", "5:abc", f"x:{'0' * 64}", f"5:{'0' * 64} "])
def test_an_anchor_is_a_head(kept: Path, anchor: str) -> None:
    with pytest.raises(InputError) as caught:
        opened(kept, anchor=anchor)
    assert caught.value.code == "CEL-Q105"


def test_a_head_is_read_as_it_is_written(kept: Path) -> None:
    with opened(kept) as ledger:
        assert Head.parse(str(ledger.head)) == ledger.head
        assert ledger.verify(anchor=str(ledger.head)) == ledger.head


def test_the_hash_can_be_computed_by_anybody() -> None:
    """By hand: the format, the number, the hash before and the text, one line each."""
    entry = Entry.create(None, {"kind": "x"})
    written = "\n".join(["celosia ledger 1", "0", "0" * 64, '{"kind":"x"}'])
    assert entry.hash == hashlib.sha256(written.encode()).hexdigest()


def test_a_ledger_on_a_server_is_checked_too(postgres: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with opened(postgres) as ledger:
        reserved(ledger, asking("q"))
        change = "UPDATE celosia_ledger SET body = replace(body, '1/10', '1/99') WHERE sequence = 1"
        with psycopg.connect(postgres) as connection:
            connection.execute(change)
        with pytest.raises(PrivacyError):
            ledger.verify()
    with pytest.raises(PrivacyError) as caught:
        opened(postgres)
    assert caught.value.code == "CEL-Q104"


def test_a_moved_ledger_goes_on(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shutil.copy(kept, folder / "moved.db")
    with opened(folder / "moved.db") as ledger:
        assert isinstance(ledger, Ledger)
        assert len(ledger.history()) == 3
