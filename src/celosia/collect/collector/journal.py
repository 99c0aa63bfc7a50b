"""The folder of a collector: one SQLite file that survives kill -9 at any moment.

It holds a snapshot of the state, the batches that came after it, and a mark of every batch that was
ever counted. A batch and its mark are written in one transaction, and a transaction is on disk
before it ends (write-ahead log, synchronous=FULL), so a batch is counted once or not at all.

Marks are 32 bytes: a hash of the id, and a hash of the reports under the id as key. Nobody who has
the folder but not the id can try out which report it was. Where marks expire, each day has a table
of its own, which is dropped as a whole; from then on batches of that day are refused, so none is
ever counted twice. Reports are overwritten when the snapshot takes them in.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from celosia.collect.durable_folder import DurableFolder, translated_errors
from celosia.collect.protocol import Protocol

FILE = "collector.sqlite"
FORM = "celosia collector 2"
PART = 16 * 2**20
"""Bytes of one row of a snapshot: a state may be larger than what SQLite takes for one value."""

_TABLES = """
CREATE TABLE IF NOT EXISTS snapshot (part INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS journal (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS days (day INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS outgoing (id TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS sources (name TEXT PRIMARY KEY, reports INTEGER NOT NULL);
"""
_MARKS = "(id BLOB PRIMARY KEY, mark BLOB NOT NULL) WITHOUT ROWID"
Mark = tuple[bytes, bytes]
"""The hash of an id, and that of the reports."""
NO_DAY = 0
"""Where an id tells no day: its mark is kept for good."""


class Journal(DurableFolder):
    """What a collector or a shuffler keeps on disk; one process at a time.

    Raises:
        EngineError: CEL-R074 another process has the folder, CEL-R075 it cannot be read or written.
        InputError: CEL-R076 it belongs to another protocol, CEL-R075 there is none and none is to
            be made.
    """

    file = FILE
    tables = _TABLES

    def __init__(
        self, folder: str | Path, protocol: Protocol, *, make: bool = True, form: str = FORM
    ) -> None:
        about = {
            "form": form,
            "fingerprint": protocol.fingerprint.hex(),
            "parameters": json.dumps(protocol.parameters(), sort_keys=True),
        }
        super().__init__(folder, about, make=make)

    def _begin(self) -> None:
        self._days = self._kept_days()

    def mark_of(self, name: bytes, day: int = NO_DAY) -> bytes | None:
        """The mark of a batch that was counted, by the hash of its id."""
        if day not in self._days:
            return None
        with translated_errors():
            wanted = f"SELECT mark FROM {_table(day)} WHERE id = ?"  # noqa: S608 - a number
            row = self._base.execute(wanted, (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def note(self, marks: Iterable[Mark], day: int = NO_DAY) -> bool:
        """Write down batches as counted; whether all of them were new."""
        if day not in self._days:
            self._base.execute(f"CREATE TABLE {_table(day)} {_MARKS}")
            self._base.execute("INSERT INTO days VALUES (?)", (day,))
            self._days.add(day)
        try:
            insert = f"INSERT INTO {_table(day)} VALUES (?, ?)"  # noqa: S608 - a number
            self._base.executemany(insert, marks)
        except sqlite3.IntegrityError:
            return False
        return True

    def forget_before(self, day: int) -> int:
        """Drop the marks of earlier days, for good; the day, or a later one that was told before.

        The day is kept, so that a clock that is set back brings no forgotten day to life again.
        """
        row = self._base.execute("SELECT value FROM about WHERE name = 'oldest'").fetchone()
        oldest = max(day, 0 if row is None else int(row[0]))
        self._base.execute("INSERT OR REPLACE INTO about VALUES ('oldest', ?)", (str(oldest),))
        for each in [kept for kept in self._days if NO_DAY < kept < oldest]:
            self._base.execute(f"DROP TABLE {_table(each)}")
            self._base.execute("DELETE FROM days WHERE day = ?", (each,))
            self._days.remove(each)
        return oldest

    def _kept_days(self) -> set[int]:
        return {day for (day,) in self._base.execute("SELECT day FROM days")}

    def days(self) -> tuple[int, ...]:
        """The days that have marks."""
        return tuple(sorted(self._days))

    def marks(self, day: int = NO_DAY) -> Iterator[Mark]:
        """Batches that were counted, by hash of id and mark, in the order of the hashes."""
        if day in self._days:
            wanted = f"SELECT id, mark FROM {_table(day)} ORDER BY id"  # noqa: S608 - a number
            with translated_errors():
                yield from self._base.execute(wanted)

    def keep(self, batch: bytes) -> None:
        """Keep a batch until the next snapshot."""
        self._base.execute("INSERT INTO journal (bytes) VALUES (?)", (batch,))

    def keep_snapshot(self, state: bytes) -> None:
        """Put a state in the place of the last one and of all batches since."""
        self._base.execute("DELETE FROM journal")
        self._base.execute("DELETE FROM snapshot")
        view = memoryview(state)
        for at in range(0, len(view), PART):
            row = (at // PART, view[at : at + PART])
            self._base.execute("INSERT INTO snapshot VALUES (?, ?)", row)

    def send_out(self, batches: Iterable[tuple[str, bytes]]) -> None:
        """Put batches that are to be sent, with their ids, in the place of all that was kept."""
        self._base.execute("DELETE FROM journal")
        self._base.executemany("INSERT INTO outgoing VALUES (?, ?)", batches)

    def outgoing(self) -> tuple[str, bytes] | None:
        """A batch that is to be sent, with its id; the same one until it is deleted."""
        with translated_errors():
            found = self._base.execute("SELECT id, bytes FROM outgoing ORDER BY id LIMIT 1")
            row: tuple[str, bytes] | None = found.fetchone()
        return row

    def delete_outgoing(self, id: str) -> None:
        """A batch has arrived."""
        self._base.execute("DELETE FROM outgoing WHERE id = ?", (id,))

    def snapshot(self) -> bytes | None:
        """The state that was last put away."""
        with translated_errors():
            parts = [
                part for (part,) in self._base.execute("SELECT bytes FROM snapshot ORDER BY part")
            ]
        return b"".join(parts) if parts else None

    def kept(self) -> Iterator[bytes]:
        """The batches since the last snapshot."""
        with translated_errors():
            for (batch,) in self._base.execute("SELECT bytes FROM journal ORDER BY number"):
                yield batch

    def batches(self) -> int:
        """How many batches have a mark."""
        counts = (f"SELECT count(*) FROM {_table(day)}" for day in self._days)  # noqa: S608
        with translated_errors():
            return sum(int(self._base.execute(each).fetchone()[0]) for each in counts)

    def sources(self) -> dict[str, int]:
        """How many reports each named source has sent."""
        with translated_errors():
            return dict(self._base.execute("SELECT name, reports FROM sources ORDER BY name"))

    def sent_by(self, source: str) -> int:
        """How many reports a source has sent."""
        with translated_errors():
            wanted = "SELECT reports FROM sources WHERE name = ?"
            row = self._base.execute(wanted, (source,)).fetchone()
        return 0 if row is None else int(row[0])

    def add_sent(self, source: str, reports: int) -> None:
        """Write down reports of a source."""
        self._base.execute(
            "INSERT INTO sources VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET reports = reports + excluded.reports",
            (source, reports),
        )


def _table(day: int) -> str:
    return f"marks_{int(day)}" if day else "marks"
