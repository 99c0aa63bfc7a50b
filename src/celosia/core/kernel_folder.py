"""The folder that keeps compiled kernels: one for each installation and user.

Numba stores machine code as pickles: a user who can write such a file can run code in every process
that loads it. So a folder is used only if it belongs to the user, and no other user can write to it
or move it. The choices, in this order:

1. `NUMBA_CACHE_DIR`, if the user has set it;
2. the package folder, if it belongs to the user;
3. the user's cache folder, such as `~/.cache/celosia`;
4. a temporary folder that is removed when the process ends.

Where none of them is safe, kernels stay in memory.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SETTING = "NUMBA_CACHE_DIR"
PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class KernelFolder:
    """A folder for compiled kernels, and why it was chosen."""

    path: Path
    reason: str
    """`setting`, `package`, `user` or `temporary`."""

    @property
    def is_writable(self) -> bool:
        """Whether kernels that are compiled from now on can be kept there."""
        return os.access(self.path, os.W_OK | os.X_OK)


@cache
def kernel_folder() -> KernelFolder | None:
    """The folder of this process; None if no folder is safe, so that kernels stay in memory."""
    from numba import config  # heavy, and loaded by all who compile

    setting: str = getattr(config, "CACHE_DIR", "")  # of the environment, or of Numba's own file
    return choose_folder(PACKAGE, {**os.environ, SETTING: setting}) or _temporary()


def choose_folder(package: Path, environment: Mapping[str, str]) -> KernelFolder | None:
    """The first folder that can be used, made if it does not exist yet; None if there is none.

    Args:
        package: the folder of the installed package.
        environment: the environment variables of the user.
    """
    return next((each for each in _candidates(package, environment) if _is_usable(each)), None)


def _is_usable(folder: KernelFolder) -> bool:
    """Whether a folder is safe; it is then made, if need be."""

    def is_out_of_reach() -> bool:  # who can move the package can change its sources as well
        return folder.reason == "package" or all(map(_is_safe_parent, folder.path.parents))

    made = is_out_of_reach() and _make(folder.path)
    return made and _is_private(folder.path) and is_out_of_reach()


def _candidates(package: Path, environment: Mapping[str, str]) -> Iterator[KernelFolder]:
    build = f"{_version('celosia')}-{sys.implementation.cache_tag}-numba-{_version('numba')}"
    place = hashlib.sha256(os.fsencode(package)).hexdigest()[:12]
    if environment.get(SETTING):
        # It may be shared: each user has a folder of their own in it. Installations may share it
        # too, because a kernel is known by its source and not by its path.
        own = Path(environment[SETTING]).resolve() / f"celosia-{_user()}"
        yield KernelFolder(own / f"kernels-{build}", "setting")
    if _is_own_package(package):
        yield KernelFolder(package / "__pycache__" / f"kernels-{build}", "package")
    home = _cache_home(environment)
    if home is not None:
        yield KernelFolder(home.resolve() / "celosia" / f"kernels-{build}-{place}", "user")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # run from its sources
        return "0"


def _cache_home(environment: Mapping[str, str]) -> Path | None:
    """The folder for files that a program can make again, as each system has it."""
    given = environment.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", "")
    if Path(given).is_absolute():  # the standard says that others are ignored
        return Path(given)
    home = environment.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    if not Path(home).is_absolute():
        return None
    if os.name == "nt":
        return Path(home) / "AppData" / "Local"
    return Path(home) / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _user() -> int:
    """The number of the user; systems without one keep users apart by themselves."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _is_own_package(package: Path) -> bool:
    """Whether the user who runs the package has installed it, so that its folder can be used.

    A folder that belongs to another user is left as it is, also if this user could write there: the
    owner could not remove what an administrator leaves in it.
    """
    try:
        found = package.stat()
    except OSError:
        return False
    writable = os.access(package, os.W_OK | os.X_OK)
    return writable and (os.name == "nt" or (_belongs(found) and not found.st_mode & stat.S_IWOTH))


def _make(folder: Path) -> bool:
    """Make a folder, and those that it lies in, each for the user alone."""
    try:
        for each in [*reversed(folder.parents), folder]:
            if not each.exists():
                each.mkdir(mode=0o700, exist_ok=True)  # another process may be faster
    except OSError:
        return False
    return True


def _is_private(folder: Path) -> bool:
    """Whether a folder is the user's, and only the user can write to it."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode) or not os.access(folder, os.W_OK | os.X_OK):
        return False
    return os.name == "nt" or (_belongs(found) and not found.st_mode & 0o022)


def _is_safe_parent(folder: Path) -> bool:
    """Whether no other user can move a folder of ours that lies in this one.

    In a sticky folder, such as `/tmp`, only the owner of an entry can move it. A group that has the
    number of the user is the user's own, by the custom of many systems.
    """
    try:
        found = folder.stat()
    except FileNotFoundError:  # it is made later, for the user alone
        return True
    except OSError:
        return False
    if os.name == "nt":
        return True
    others = found.st_mode & stat.S_IWOTH
    group = found.st_mode & stat.S_IWGRP and not found.st_gid == _user() == os.getegid()
    shared = (others or group) and not found.st_mode & stat.S_ISVTX
    return (_belongs(found) or found.st_uid == 0) and not shared


def _belongs(found: os.stat_result) -> bool:
    return found.st_uid == _user()


def _temporary() -> KernelFolder | None:
    """A folder of this process and of those that it starts, removed when it ends."""
    try:
        made = tempfile.mkdtemp(prefix="celosia-kernels-")
    except OSError:
        return None
    maker = os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # a fork of it may end earlier
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    os.environ[SETTING] = made  # processes that are started from here find the same kernels
    found = choose_folder(PACKAGE, {SETTING: made})
    return None if found is None else replace(found, reason="temporary")
