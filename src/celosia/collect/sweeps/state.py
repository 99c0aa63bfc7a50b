"""The state of a sweep on disk: every run that was finished, so that none is done again.

A file of SQLite with one row for each run, written in a transaction of its own: after a Ctrl-C or a
power cut all finished runs are there. A grid may grow between two sweeps with the same file; data
and seed must stay the same. The file holds parameters, errors, times and a digest of all values
together; no value of the data.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from celosia.collect.sweeps.options import SweepPoint
from celosia.core.errors import InputError
from celosia.core.resources import Closeable

FORM = "celosia sweep 1"
_WAIT = 30.0


class SweepState(Closeable):
    """Finished runs, in a file or, without a path, in memory only.

    Raises:
        InputError: CEL-R108 the file is of something else, or of other data or another seed.
    """

    def __init__(self, path: Path | None, *, source: str) -> None:
        try:
            self._file = sqlite3.connect(":memory:" if path is None else path, timeout=_WAIT)
            with self._file:
                self._file.execute("CREATE TABLE IF NOT EXISTS head (form TEXT, source TEXT)")
                self._file.execute(
                    "CREATE TABLE IF NOT EXISTS runs (point TEXT, repeat INTEGER, result TEXT, "
                    "PRIMARY KEY (point, repeat))"
                )
                head = self._file.execute("SELECT form, source FROM head").fetchall()
                if not head:
                    self._file.execute("INSERT INTO head VALUES (?, ?)", (FORM, source))
        except sqlite3.Error:
            raise InputError("CEL-R108.file", path=str(path)) from None
        if head and head != [(FORM, source)]:
            self._file.close()
            raise InputError("CEL-R108.source", path=str(path))

    def result(self, point: SweepPoint, repeat: int) -> dict[str, Any] | None:
        """What was found in a run; None if it is still to be done."""
        asked = (_key(point), repeat)
        row = self._file.execute(
            "SELECT result FROM runs WHERE point = ? AND repeat = ?", asked
        ).fetchone()
        found: dict[str, Any] | None = None if row is None else json.loads(row[0])
        return found

    def keep(self, point: SweepPoint, repeat: int, result: dict[str, Any]) -> None:
        """Write a finished run."""
        with self._file:
            self._file.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?)",
                (_key(point), repeat, json.dumps(result)),
            )

    def close(self) -> None:
        """Let go of what it holds."""
        self._file.close()


def finished_runs(path: Path, points: Iterable[SweepPoint], repeats: int) -> int:
    """How many runs of a grid a state has already; 0 where there is no state yet."""
    if not path.is_file():
        return 0
    wanted = {(_key(point), repeat) for point in points for repeat in range(repeats)}
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT)) as file:
            return len(wanted.intersection(file.execute("SELECT point, repeat FROM runs")))
    except sqlite3.Error:  # it has just been made, and has no tables yet
        return 0


def _key(point: SweepPoint) -> str:
    return json.dumps(point.coordinates(), sort_keys=True)
