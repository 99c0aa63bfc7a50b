"""The work area of each visitor: a private folder, removed after the visitor has left."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock
from typing import Any

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.studio import stored_json

MOST_WORKS = 40
"""How many pieces of work a visitor keeps; the oldest goes when there are more."""
MOST_VISITORS = 1000
"""How many are remembered; those without work who were not seen for longest go first."""
_MARK = ".visitor"
"""In the folder of a visitor: whose it is, by a fingerprint of the token, and when last seen."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}(\.[a-z0-9]{1,10}){0,3}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22,64}")
_WORK = re.compile(r"[A-Za-z0-9_-]{11}")


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work: a folder with its choices, its data and its results.

    File names are ours, never a visitor's: what they called their file is kept as text in the
    choices, and shown as text.
    """

    id: str
    folder: Path

    @classmethod
    def at(cls, folder: str) -> Work:
        """The work in a folder, for a job."""
        return cls(Path(folder).name, Path(folder))

    def path(self, name: str) -> Path:
        """Where a file of this work lies, whether it exists or not.

        Raises:
            InputError: CEL-W010, a name that is not one of ours.
        """
        if _NAME.fullmatch(name) is None:
            raise _no_such_file()
        return self.folder / name

    def save(self, name: str, value: Any) -> None:
        """Keep plain values as JSON; the file appears whole or not at all."""
        with replacing(self.path(f"{name}.json")) as draft:
            draft.write_text(stored_json.dumps(value), "utf-8")

    def load(self, name: str, default: Any = None) -> Any:
        """The values kept under a name, or the default."""
        try:
            return stored_json.loads(self.path(f"{name}.json").read_text("utf-8"))
        except FileNotFoundError:
            return default

    def size(self) -> int:
        """Bytes of all files."""
        total = 0
        for each in self.folder.rglob("*"):
            with suppress(FileNotFoundError):  # a job may remove it while we look
                total += each.stat().st_size if each.is_file() else 0
        return total

    def remove(self) -> None:
        """Remove everything at once."""
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(slots=True)
class Visitor:
    """Somebody with a browser: known by a secret in a cookie, and by nothing else."""

    token: str = field(repr=False)
    folder: Path
    seen: float

    def new_work(self, kind: str) -> Work:
        """An empty piece of work; the oldest goes if there are too many."""
        for old in self.works()[MOST_WORKS - 1 :]:
            old.remove()
        name = token_urlsafe(8)
        made = Work(name, self.folder / name)
        self._own()
        made.folder.mkdir(mode=0o700)
        made.save("kind", kind)
        return made

    def _own(self) -> None:
        """Make the folder, and note whose it is: a studio that is started again finds it."""
        if not self.folder.is_dir():  # not before: most who look around need none
            self.folder.mkdir(mode=0o700, exist_ok=True)
            (self.folder / _MARK).write_text(_fingerprint(self.token), "ascii")

    def stay(self) -> None:
        """Note when this visitor was last seen, where there is some work."""
        with suppress(OSError):
            os.utime(self.folder / _MARK, (self.seen, self.seen))

    def work(self, work_id: str, kind: str | None = None) -> Work:
        """A piece of work that this visitor has begun.

        Raises:
            InputError: CEL-W011, there is none (any more) of that name and kind.
        """
        found = Work(work_id, self.folder / work_id)
        if _WORK.fullmatch(work_id) is None or not found.folder.is_dir():
            raise _no_such_work()
        if kind is not None and found.load("kind") != kind:
            raise _no_such_work()
        return found

    def works(self, kind: str | None = None) -> list[Work]:
        """What this visitor has begun, the newest first."""
        if not self.folder.is_dir():
            return []
        folders = []
        for each in self.folder.iterdir():
            with suppress(FileNotFoundError):  # another page may remove it while we look
                folders.append((each.stat().st_mtime, each))
        newest = sorted(folders, key=lambda pair: -pair[0])
        found = [Work(each.name, each) for _changed, each in newest if each.is_dir()]
        return [each for each in found if kind is None or each.load("kind") == kind]

    def size(self) -> int:
        """Bytes of all files of all works."""
        return sum(each.size() for each in self.works())


class Visitors:
    """Everybody who is here, each with a folder of their own under one private folder."""

    def __init__(
        self,
        folder: Path,
        *,
        idle: float,
        clock: Callable[[], float] = time.monotonic,
        leaving: Callable[[str], None] = lambda token: None,
    ) -> None:
        self._folder = folder
        self._idle = idle
        self._clock = clock
        self._leaving = leaving
        self._known: dict[str, Visitor] = {}
        """By the fingerprint of the token."""
        self._lock = Lock()
        self._find_again()

    def _find_again(self) -> None:
        """Those whose work an earlier studio has kept; their token is known when they come."""
        for mark in self._folder.glob(f"*/{_MARK}"):
            key = mark.read_text("ascii")
            self._known[key] = Visitor("", mark.parent, mark.stat().st_mtime)

    def enter(self, token: str | None) -> Visitor:
        """The visitor with a token; a new one with a token of our own if it is not known."""
        with self._lock:
            visitor = self._with(token or "")
            if visitor is None:
                secret = token_urlsafe(24)
                # The folder has another name than the cookie: a path that is seen gives no entry.
                visitor = Visitor(secret, self._folder / token_urlsafe(12), self._clock())
                self._known[_fingerprint(secret)] = visitor
            visitor.seen = self._clock()
            crowd = len(self._known) - MOST_VISITORS
            others = [each for each in self._known.values() if each is not visitor]
        if crowd > 0:
            # Somebody asks again and again without a cookie: memory must not grow, and whoever has
            # begun some work must not lose it to those who have none.
            self._drop(sorted(others, key=lambda each: (each.folder.is_dir(), each.seen))[:crowd])
        return visitor

    def known(self, token: str | None) -> Visitor | None:
        """The visitor with a token, if there is one."""
        if token is None or _TOKEN.fullmatch(token) is None:
            return None
        with self._lock:
            visitor = self._with(token)
            if visitor is not None:
                visitor.seen = self._clock()
            return visitor

    def _with(self, token: str) -> Visitor | None:
        visitor = self._known.get(_fingerprint(token))
        if visitor is not None:
            visitor.token = token
        return visitor

    def expire(self) -> int:
        """Remove the work of all who have not been seen for long; how many that were."""
        with self._lock:
            late = self._clock() - self._idle
            gone = [each for each in self._known.values() if each.seen < late]
            for each in self._known.values():
                each.stay()
        self._drop(gone)
        return len(gone)

    def leave(self, visitor: Visitor) -> None:
        """Forget a visitor who has said goodbye, with all work and jobs."""
        self._drop([visitor])

    def _drop(self, gone: list[Visitor]) -> None:
        for each in gone:
            with self._lock:
                self._known = {key: one for key, one in self._known.items() if one is not each}
            self._leaving(each.token)
            # Under another name first: a job that has not ended yet finds no place to write to.
            doomed = each.folder.with_name(f"{each.folder.name}.gone")
            with suppress(OSError):
                each.folder.rename(doomed)
            for folder in (doomed, each.folder):
                shutil.rmtree(folder, ignore_errors=True)

    def __len__(self) -> int:
        """How many are here."""
        return len(self._known)


def _fingerprint(token: str) -> str:
    """Of a token that cannot be guessed; from it the token cannot be told."""
    return sha256(token.encode()).hexdigest()


def _no_such_file() -> InputError:
    return InputError("CEL-W010")


def _no_such_work() -> InputError:
    return InputError("CEL-W011")
