"""The file of a history of releases: no values, whole or not at all, one writer at a time."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from celosia.core.errors import InputError
from celosia.tables.history import Entry, ReleaseHistory, StoredRelease, store


def stored(records: list[int], class_of: list[int]) -> StoredRelease:
    entry = Entry(
        created="2026-01-01T00:00:00+00:00",
        columns=("age",),
        levels=(1,),
        models=("2-anonymity",),
        unit="record",
        required=2,
        rows=len(records),
        shown=len(records),
        classes=len(set(class_of)),
    )
    numbers = np.array(records, dtype=np.uint64)
    return StoredRelease(entry, numbers, numbers, np.array(class_of, dtype=np.int64))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "x.history"
    with ReleaseHistory.open(path) as book:
        book.add(stored([1, 2, 3, 4], [0, 0, 1, 1]))
        book.add(stored([4, 3, 2, 9], [0, 0, 0, -1]))
    with ReleaseHistory.open(path, read_only=True) as book:
        assert [entry.levels for entry in book.entries()] == [(1,), (1,)]
        assert book.broken_links() == []
        assert sorted(book.joint().sizes().tolist()) == [1, 1, 2]  # 2; 1; 3 and 4; 9 never shown
    assert path.stat().st_mode & 0o077 == 0
    assert store.key_path(path).stat().st_mode & 0o077 == 0


def _fail(path: Path, failure: type[BaseException]) -> None:
    with ReleaseHistory.open(path) as book:
        book.add(stored([1, 2], [0, 0]))
        raise failure


def test_a_release_that_fails_leaves_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "x.history"
    for failure in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(failure):
            _fail(path, failure)
    with ReleaseHistory.open(path) as book:
        assert book.entries() == []


def test_one_process_writes_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    path = tmp_path / "x.history"
    with (
        ReleaseHistory.open(path),
        pytest.raises(InputError) as refused,
        ReleaseHistory.open(path),
    ):
        pass
    assert refused.value.code == "CEL-P120"


def test_an_entry_that_was_changed_or_removed_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.history"
    with ReleaseHistory.open(path) as book:
        for _ in range(3):
            book.add(stored([1, 2], [0, 0]))
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM releases WHERE number = 2")
    with ReleaseHistory.open(path, read_only=True) as book:
        assert book.broken_links() == [2]
    with sqlite3.connect(path) as file:
        file.execute("UPDATE releases SET facts = replace(facts, '2-anon', '9-anon')")
    with ReleaseHistory.open(path, read_only=True) as book:
        assert book.broken_links() == [1, 2]


def test_a_lost_or_other_key_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.history"
    with ReleaseHistory.open(path):
        pass
    key = store.key_path(path)
    key.write_bytes(bytes(32))
    other = tmp_path / "other.history"
    other.write_bytes(b"name,age\n" * 100)
    store.key_path(other).write_bytes(bytes(32))
    for place, code in ((path, "CEL-P121"), (other, "CEL-P120"), (tmp_path / "none", "CEL-P120")):
        with pytest.raises(InputError) as refused, ReleaseHistory.open(place, read_only=True):
            pass
        assert refused.value.code == code
    key.unlink()
    with pytest.raises(InputError) as refused, ReleaseHistory.open(path):
        pass
    assert refused.value.code == "CEL-P121"
