"""Parquet files in the making: private folders beside their target that a killed run may leave.

Each lies beside its target and is locked as long as its run lives; so the next run to the same
target knows the folders of runs that died, and takes them away.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

import polars as pl

from celosia.engines.duckdb import DuckDB, SizeCounts
from celosia.engines.tables import Draft

LOCK = "lock"


class DraftFolder:
    """A private folder beside a target; a context manager that takes it away."""

    def __init__(self, target: Path) -> None:
        _sweep(target)
        # It is locked before it gets a name that others look for.
        new = target.with_name(f".{target.name}-new-{token_hex(8)}")
        new.mkdir(mode=0o700)
        self._lock: IO[bytes] = (new / LOCK).open("wb")
        _take(self._lock)
        self.path = target.with_name(f".{target.name}-draft-{token_hex(8)}")
        new.rename(self.path)

    def close(self) -> None:
        """Take the folder away, with all that is in it."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


class FileDraft(Draft):
    """A Parquet file that waits for its name, see `tables.Draft`."""

    def __init__(
        self, folder: DraftFolder, file: Path, target: Path, rows: int, columns: pl.Schema
    ) -> None:
        self._folder, self._file, self._target = folder, file, target
        self.rows = rows
        self.columns: dict[str, pl.DataType] = dict(columns)

    def sha256(self) -> str:
        """The hash of the file."""
        with self._file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def count_sizes(self) -> SizeCounts:
        with DuckDB() as engine:
            return engine.count_sizes(self._file, len(self.columns))

    def commit(self) -> None:
        """Give the file its name."""
        # What was private gets what the user's umask gives any new file.
        umask = os.umask(0)
        os.umask(umask)
        self._file.chmod(0o666 & ~umask)
        self._file.replace(self._target)

    def close(self) -> None:
        """Take the folder away."""
        self._folder.close()


def _sweep(target: Path) -> None:
    """Take away what runs that were killed have left."""
    for left in target.parent.glob(f".{_literal(target.name)}-draft-*"):
        with suppress(OSError), (left / LOCK).open("rb") as lock:
            if _take(lock):
                shutil.rmtree(left, ignore_errors=True)


def _literal(name: str) -> str:
    """A name as a pattern that nothing else fits."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _take(lock: IO[bytes]) -> bool:
    """Whether the lock is free; the system releases it when its process ends."""
    if sys.platform == "win32":  # no such locks: nothing is swept there
        return False
    import fcntl  # not on every system

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
