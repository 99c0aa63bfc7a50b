"""What a process holds and lets go of: temporary folders for private data, what is closed.

A folder is removed at the end, and at the next start after a crash. A process that is killed
(SIGKILL, a power cut) cannot remove its folder. So each folder holds a file that its process keeps
locked; the system drops the lock when the process ends in any way. The next process removes the
folders of the same user whose lock is free. Folders that are symbolic links, that belong to others
or that others may enter are never touched.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import weakref
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

from celosia.core.errors import InputError

if sys.platform != "win32":  # which has no such locks: nothing is swept there
    import fcntl

PREFIX = "celosia-"
"""How the names of our folders begin."""
LOCK = ".celosia-lock"
"""The file in a folder that its process keeps locked."""


class Closeable(ABC):
    """What is closed at the end of a `with`."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Let go of what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class WorkFolder:
    """A folder that only this user may enter, removed by `cleanup`, at exit or by the next process.

    A process that is forked from ours holds the lock as well, so the folder stays as long as one of
    them lives; only ours removes it.

    >>> with WorkFolder() as folder:
    ...     _ = Path(folder, "table.csv").write_text("private")
    >>> Path(folder).exists()
    False
    """

    def __init__(self, prefix: str = PREFIX) -> None:
        sweep()
        self.name = tempfile.mkdtemp(prefix=prefix)  # mode 0700
        # Also when the process ends, as `TemporaryDirectory` does it.
        self._end = weakref.finalize(self, _ended, self.name, _held(self.name), os.getpid())

    def cleanup(self) -> None:
        """Remove the folder and all that is in it."""
        self._end()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()


class KeptFolder:
    """A folder that stays, for one process at a time; only this user may enter it.

    It is made where there is none. One that others may enter, or that another process has, is
    refused.

    Raises:
        InputError: CEL-W006.
    """

    def __init__(self, place: Path) -> None:
        self.name = str(place)
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            open_to_others = sys.platform != "win32" and place.stat().st_mode & 0o077
        except OSError:
            raise InputError("CEL-W006.no_folder", folder=place) from None
        if open_to_others:
            raise InputError("CEL-W006", folder=place)
        self._lock: int | None = None
        if sys.platform != "win32":
            self._lock = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._lock)
                raise InputError("CEL-W006.in_use", folder=place) from None

    def cleanup(self) -> None:
        """Let another process have it; what is in it stays."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep(place: Path | None = None) -> int:
    """Remove the folders that dead processes of this user left behind; how many there were.

    Args:
        place: where to look; the folder for temporary files by default.
    """
    if sys.platform == "win32":
        return 0
    removed = 0
    base = Path(tempfile.gettempdir()) if place is None else place
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and _is_left_behind(entry.path):
                removed += 1
    return removed


def _held(folder: str) -> int | None:
    """A lock on a new folder of ours, held until the descriptor is closed."""
    if sys.platform == "win32":
        return None
    place = Path(folder)
    made = os.open(place / f"{LOCK}-new", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(made, fcntl.LOCK_EX)
    # Under its name there is never a lock that is still free.
    (place / f"{LOCK}-new").rename(place / LOCK)
    return made


def _ended(folder: str, lock: int | None, process: int) -> None:
    if os.getpid() == process:
        _remove(folder)
    if lock is not None:
        os.close(lock)


def _remove(folder: str) -> None:
    """Remove a folder, its lock last: killed half-way, the rest is still found by a sweep."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            elif entry.name != LOCK:
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()
    shutil.rmtree(folder, ignore_errors=True)  # follows no links


def _is_left_behind(path: str) -> bool:
    """Whether a folder was a dead process's and is now removed.

    Everything is opened relative to the folder itself, which is opened without following links: a
    name that is exchanged for a link in between leads nowhere. Two sweeps at once are told apart by
    the lock that both want.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, folder)
            found = os.fstat(folder)
            if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != 0o700:
                return False
            lock = os.open(LOCK, os.O_RDWR | os.O_NOFOLLOW, dir_fd=folder)
            stack.callback(os.close, lock)
            if not stat.S_ISREG(os.fstat(lock).st_mode):
                return False
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            same = os.stat(path, follow_symlinks=False)
        except OSError:  # a living process holds it, or it has no lock of ours, or it is gone
            return False
        if (same.st_dev, same.st_ino) != (found.st_dev, found.st_ino):
            return False
        _remove(path)
        return not os.path.lexists(path)
