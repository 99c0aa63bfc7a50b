"""A folder with one SQLite file that survives kill -9 at any moment, for one process at a time.

What is written in one transaction is on disk before it ends (write-ahead log, synchronous=FULL), or
not written at all. What is deleted is overwritten.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from celosia.collect.registry import reason_of
from celosia.core.errors import EngineError, InputError
from celosia.core.messages import Message

_ABOUT = "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL)"


class DurableFolder:
    """What is kept on disk; one process at a time.

    Args:
        folder: where; it is made if it is not there.
        about: what the folder is for. `form` is the form of its tables; everything else that it was
            made with must be the same.
        make: whether a folder is begun where there is none.

    Raises:
        EngineError: CEL-R074 another process has the folder, CEL-R075 it cannot be read or written.
        InputError: CEL-R076 it belongs to something else, CEL-R075 there is none and none is to be
            made.
    """

    file: ClassVar[str]
    """The name of the file."""
    tables: ClassVar[str]
    """The statements that make the tables; a semicolon and a line end part them."""
    identity: ClassVar[tuple[str, ...]] = ("fingerprint",)
    """What must be the same as when the folder was begun."""

    def __init__(self, folder: str | Path, about: Mapping[str, str], *, make: bool = True) -> None:
        self.folder = Path(folder)
        place = self.folder / self.file
        if not make and not place.is_file():
            raise InputError("CEL-R075.not_a_collector", folder=self.folder, path=str(self.folder))
        with translated_errors():
            _make(self.folder)
            os.close(os.open(place, os.O_CREAT | os.O_RDWR, 0o600))
            # Transactions are begun by hand; the owner sees to one thread at a time.
            self._base = sqlite3.connect(
                place, isolation_level=None, check_same_thread=False, timeout=0
            )
        try:
            with translated_errors():
                self._prepare(about)
        except BaseException:
            self._base.close()
            raise

    def _prepare(self, about: Mapping[str, str]) -> None:
        # EXCLUSIVE before anything is read: the lock is taken now, is kept until the process ends,
        # however it ends, and no shared memory is needed.
        for setting in (
            "locking_mode = EXCLUSIVE",
            "journal_mode = WAL",
            "synchronous = FULL",
            "secure_delete = ON",
        ):
            self._base.execute(f"PRAGMA {setting}").fetchall()
        with self.writing():
            for statement in (_ABOUT, *self.tables.strip().split(";\n")):
                self._base.execute(statement)
            self._own(about)
            self._begin()

    def _own(self, about: Mapping[str, str]) -> None:
        found = dict(self._base.execute("SELECT name, value FROM about"))
        if not found:
            self._base.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        elif found.get("form") != about["form"]:
            raise unavailable(Message("collect.reason.other_version"))
        elif any(found[name] != about[name] for name in self.identity):
            raise InputError("CEL-R076", folder=self.folder, path=str(self.folder))

    def _begin(self) -> None:
        """Read what memory holds of the disk; again after a change that failed."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written inside is on disk at the end, or nothing of it.

        Raises:
            EngineError: CEL-R074, CEL-R075 it could not be written.
        """
        with translated_errors():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                with suppress(sqlite3.Error):  # what is known is what the disk has
                    self._begin()
                raise

    def tidy(self) -> None:
        """Move all from the write-ahead log to the file, so that the log stays short."""
        with translated_errors():
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the folder."""
        self._base.close()


def _make(folder: Path) -> None:
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700)
    above = os.open(folder.parent, os.O_RDONLY)
    try:
        os.fsync(above)  # else the folder itself could be gone after a loss of power
    finally:
        os.close(above)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Errors of the disk and of SQLite as ours; their words may hold paths, but never reports."""
    try:
        yield
    except sqlite3.Error as error:
        code: Any = getattr(error, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise EngineError("CEL-R074") from None
        reasons = {
            sqlite3.SQLITE_FULL: Message("collect.reason.disk_full"),
            sqlite3.SQLITE_NOTADB: Message("collect.reason.other_file"),
            sqlite3.SQLITE_CORRUPT: Message("collect.reason.damaged"),
            sqlite3.SQLITE_READONLY: Message("collect.reason.read_only"),
        }
        unknown = Message("collect.reason.not_usable")
        raise unavailable(reasons.get(primary or 0, unknown)) from None
    except OSError as error:
        raise unavailable(reason_of(error)) from None


def unavailable(reason: str) -> EngineError:
    """The error of a folder that cannot be used."""
    return EngineError("CEL-R075.unavailable", reason=reason)
