"""The folder of an aggregator: shares that wait, reports that were seen, batches that are closed.

The nonce of every report that was ever taken in is kept, so that none is taken in twice. The share
itself is overwritten as soon as it is checked, and what is left of it when its batch is closed, or
when the other share of its report has not come in time. Of time only the day is kept, and only
while a share waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

from celosia.collect.durable_folder import DurableFolder, translated_errors
from celosia.collect.secure.fields import Field
from celosia.collect.secure.prio3 import Check
from celosia.collect.secure.records import Role, Share
from celosia.collect.secure.tasks import SecureTask

FORM = "celosia aggregator 1"
_AT_ONCE = 500
"""Nonces of one question to the file."""


class State(IntEnum):
    """How far a report has come."""

    fresh = 0
    checked = 1
    valid = 2
    refused = 3
    chosen = 4
    """It is in a batch, and in no other one."""


class ShareFolder(DurableFolder):
    """What an aggregator keeps on disk.

    Args:
        folder: of this aggregator alone.
        task: that all share.
        role: leader or helper.
        key_mark: by which another verify key is noticed.

    Raises:
        EngineError: CEL-R074 another process has the folder, CEL-R075 it cannot be read or written.
        InputError: CEL-R076 it belongs to another task, role or verify key.
    """

    file = "aggregator.sqlite"
    tables = """
CREATE TABLE IF NOT EXISTS seen (nonce BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (nonce BLOB PRIMARY KEY, state INTEGER NOT NULL, batch TEXT,
  day INTEGER NOT NULL, public BLOB, share BLOB, output BLOB, seed BLOB, verifier BLOB)
  WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS states ON waiting (state, batch);
CREATE TABLE IF NOT EXISTS batches (id TEXT PRIMARY KEY, nonces BLOB NOT NULL, sum BLOB);
"""
    identity = ("fingerprint", "role", "verify_key")

    def __init__(self, folder: str | Path, task: SecureTask, role: Role, key_mark: str) -> None:
        self._field: Field = task.circuit.field
        about = {
            "form": FORM,
            "fingerprint": task.fingerprint.hex(),
            "role": role,
            "verify_key": key_mark,
        }
        super().__init__(folder, about)

    def add(self, shares: Iterable[Share], day: int) -> int:
        """Take in shares of a day; how many are of reports that were never seen."""
        found = 0
        for nonce, public, share in shares:
            new = self._base.execute("INSERT OR IGNORE INTO seen VALUES (?)", (nonce,))
            if new.rowcount:
                row = (nonce, State.fresh, day, public, share)
                self._base.execute(
                    "INSERT INTO waiting (nonce, state, day, public, share) VALUES (?, ?, ?, ?, ?)",
                    row,
                )
                found += 1
        return found

    def forget_before(self, day: int) -> int:
        """Drop shares of earlier days whose reports are not decided; how many there were."""
        states = (State.fresh, State.checked, day)
        return self._base.execute(
            "DELETE FROM waiting WHERE state IN (?, ?) AND day < ?", states
        ).rowcount

    def count(self, *states: State) -> int:
        """How many reports are so far."""
        with translated_errors():
            return sum(
                int(
                    self._base.execute(
                        "SELECT count(*) FROM waiting WHERE state = ?", (each,)
                    ).fetchone()[0]
                )
                for each in states
            )

    def nonces(self, state: State, *, after: bytes = b"", most: int = -1) -> list[bytes]:
        """Reports that are so far, in the order of their nonces."""
        wanted = "SELECT nonce FROM waiting WHERE state = ? AND nonce > ? ORDER BY nonce LIMIT ?"
        with translated_errors():
            return [nonce for (nonce,) in self._base.execute(wanted, (state, after, most))]

    def states(self, nonces: Sequence[bytes]) -> dict[bytes, State]:
        """How far reports have come; those that do not wait are left out."""
        rows = self._rows("nonce, state", nonces)
        return {nonce: State(state) for nonce, state in rows}

    def shares(self, nonces: Sequence[bytes]) -> list[Share]:
        """The shares of reports that are not checked yet."""
        rows = self._rows("nonce, public, share, state", nonces)
        return [(nonce, public, share) for nonce, public, share, state in rows if not state]

    def checks(self, nonces: Sequence[bytes]) -> dict[bytes, Check]:
        """What was found of reports; those that could not be read are left out."""
        rows = self._rows("nonce, output, seed, verifier", nonces)
        return {
            nonce: Check(self._field.from_bytes(output), seed, verifier)
            for nonce, output, seed, verifier in rows
            if verifier is not None
        }

    def keep_checks(self, checks: Mapping[bytes, Check | None]) -> None:
        """Put what was found in the place of shares; None where a share could not be read."""
        for nonce, check in checks.items():
            row: tuple[State, bytes | None, bytes | None, bytes | None, bytes]
            if check is None:
                row = (State.refused, None, None, None, nonce)
            else:
                output = self._field.to_bytes(check.output)
                row = (State.checked, output, check.seed, check.verifier, nonce)
            self._base.execute(
                "UPDATE waiting SET state = ?, output = ?, seed = ?, verifier = ?, public = NULL, "
                "share = NULL WHERE nonce = ? AND state = 0",
                row,
            )

    def decide(self, valid: Mapping[bytes, bool]) -> None:
        """Keep whether reports are valid, once for each."""
        for nonce, is_valid in valid.items():
            row = (State.valid if is_valid else State.refused, nonce, State.checked)
            self._base.execute("UPDATE waiting SET state = ? WHERE nonce = ? AND state = ?", row)

    def open_batch(self, id: str, nonces: Sequence[bytes]) -> None:
        """Choose valid reports for a batch; they are in no other one."""
        self._base.execute("INSERT INTO batches (id, nonces) VALUES (?, ?)", (id, b"".join(nonces)))
        for nonce in nonces:
            row = (State.chosen, id, nonce, State.valid)
            self._base.execute(
                "UPDATE waiting SET state = ?, batch = ? WHERE nonce = ? AND state = ?", row
            )

    def batch(self, id: str) -> tuple[bytes, bytes | None] | None:
        """The nonces of a batch, and its sum if it is closed."""
        with translated_errors():
            found = self._base.execute("SELECT nonces, sum FROM batches WHERE id = ?", (id,))
            row: tuple[bytes, bytes | None] | None = found.fetchone()
        return row

    def outputs(self, id: str) -> Iterator[tuple[bytes, list[int]]]:
        """The shares of values of a batch."""
        wanted = "SELECT nonce, output FROM waiting WHERE state = ? AND batch = ? ORDER BY nonce"
        with translated_errors():
            for nonce, output in self._base.execute(wanted, (State.chosen, id)):
                yield nonce, self._field.from_bytes(output)

    def close_batch(self, id: str, total: bytes) -> None:
        """Keep the sum of a batch, and nothing else of its reports but that they were seen."""
        self._base.execute("UPDATE batches SET sum = ? WHERE id = ?", (total, id))
        self._base.execute("DELETE FROM waiting WHERE state = ? AND batch = ?", (State.chosen, id))
        self._base.execute("DELETE FROM waiting WHERE state = ?", (State.refused,))

    def _rows(self, columns: str, nonces: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        for at in range(0, len(nonces), _AT_ONCE):
            some = nonces[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            wanted = f"SELECT {columns} FROM waiting WHERE nonce IN ({marks})"  # noqa: S608 - ours
            with translated_errors():
                yield from self._base.execute(wanted, some).fetchall()
