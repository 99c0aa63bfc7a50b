"""Functions compiled by Numba once for each installation and user, and the folder that keeps them.

Numba stores machine code as pickles: a user who can write such a file can run code in every process
that loads it. So a folder is used only if it belongs to the user, and no other user can write to it
or move it. The choices, in this order:

1. `NUMBA_CACHE_DIR`, if the user has set it;
2. the package folder, if it belongs to the user;
3. the user's cache folder, such as `~/.cache/celosia`;
4. a temporary folder that is removed when the process ends.

Where none of them is safe, kernels stay in memory.

The cache differs from `numba.njit(cache=True)` in four ways. Files are kept in that folder. A file
that is broken or cannot be written is no error: the function is compiled instead. What is read must
be of the very function and argument types that are wanted: Numba numbers its files, and two
processes that compile at once may take the same number. A function is compiled again also if a
function or a constant changed that it takes from another module.

Processes that want a function at the same time compile it once: the first one does it, the others
wait and load it (`KernelCache.turn`). A wait has an end, so nothing depends on another process.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

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


caching: Any = import_module("numba.core.caching")  # it has no types
_PLAIN = (bool, int, float, str, bytes, tuple, np.generic, type(None))


class KernelLocator(caching._CacheLocator):  # type: ignore[misc]
    """Where the compiled forms of one function are, and what they depend on."""

    def __init__(self, function: Callable[..., Any], file: str, folder: Path) -> None:
        self._py_file = file  # Numba names it in a warning
        self._path = folder / function.__module__
        self._line = function.__code__.co_firstlineno
        self._stamp = source_stamp(function, file)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> KernelLocator | None:
        """The locator of a function; None where there is no folder, which Numba then refuses."""
        folder = kernel_folder()
        return None if folder is None else cls(py_func, py_file, folder.path)

    def get_cache_path(self) -> str:
        """The folder of the function's files."""
        return str(self._path)

    def get_source_stamp(self) -> str:
        """What changes with the source of the function."""
        return self._stamp

    def get_disambiguator(self) -> str:
        """What tells functions of the same name in one module apart."""
        return str(self._line)

    def ensure_cache_path(self) -> None:
        """Make the folder of the function's files."""
        os.makedirs(self._path, mode=0o700, exist_ok=True)


class KernelFile(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The files of one function: an index, and one file for each list of argument types."""

    def load(self, key: object) -> Any:
        """The compiled function for a key; None if there is none that is certain to be it."""
        found = super().load(key)
        if not isinstance(found, tuple) or found[:2] != (self._source_stamp, key):
            return None
        return found[2]

    def save(self, key: object, data: object) -> None:
        """Keep the compiled function for a key."""
        super().save(key, (self._source_stamp, key, data))

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())
        except Exception:  # unpickling a broken file raises anything
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception:  # as above
            return None


class KernelFiling(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """How compiled functions become files, as Numba does it, in our folder."""

    _locator_classes = (KernelLocator,)


LONGEST_WAIT = 120.0
"""Seconds for which a process waits for another one to compile a function."""
PAUSE = 0.02


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of one function: a wish, never a condition."""

    _impl_class = KernelFiling

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = KernelFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
        self._has_turn = False

    def save_overload(self, sig: object, data: object) -> None:
        """Keep what was compiled, if there is room and right to write it."""
        with suppress(OSError):
            super().save_overload(sig, data)

    def is_kept(self, sig: object, codegen: Any) -> bool:
        """Whether the function was compiled for these argument types, by any process."""
        return self._index_key(sig, codegen) in self._cache_file._load_index()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Compile alone: whoever compiles the same function elsewhere is waited for.

        Where the folder or the system has no locks, and after `LONGEST_WAIT`, it is compiled beside
        the others.
        """
        lock = None if self._has_turn else self._lock()  # a function may call itself
        if lock is None:
            yield
            return
        self._has_turn = True
        try:
            yield
        finally:
            self._has_turn = False
            Path(self._lock_file).unlink(missing_ok=True)  # who waits for this one has it next
            os.close(lock)

    @property
    def _lock_file(self) -> str:
        return os.path.join(self._cache_path, f"{self._impl.filename_base}.lock")

    def _lock(self) -> int | None:
        """The open lock; None if it cannot be had."""
        try:
            import fcntl
        except ImportError:  # not on every system
            return None
        try:
            self._impl.locator.ensure_cache_path()
            file = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return None
        end = time.monotonic() + LONGEST_WAIT
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < end:
                    time.sleep(PAUSE)
                    continue
            except OSError:
                pass
            else:
                return file
            os.close(file)
            return None


def source_stamp(function: Callable[..., Any], file: str) -> str:
    """A digest of the file of a function, and of what the function takes from other modules.

    Numba compiles these into the function, and looks at the file of the function alone.
    """
    digest = hashlib.sha256(_file_digest(file))
    taken = function.__globals__
    for name in sorted(set(function.__code__.co_names) & set(taken)):
        value = taken[name]
        kept = getattr(value, "_cache", None)
        if isinstance(kept, KernelCache):
            digest.update(f"{name}:{kept._impl.locator.get_source_stamp()};".encode())
        elif isinstance(value, np.ndarray):
            digest.update(f"{name}={value.dtype}{value.shape}".encode() + value.tobytes())
        elif isinstance(value, _PLAIN):
            digest.update(f"{name}={value!r};".encode())
    return digest.hexdigest()


@cache
def _file_digest(file: str) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()


Function = TypeVar("Function", bound=Callable[..., Any])

_as_written = ContextVar("as_written", default=False)

SPENT_IN_ONE = 1000
"""How many bytes stand for the time that compiling takes."""


def uncompiled(module: ModuleType) -> ModuleType:
    """A copy of a module of kernels whose functions run as they are written."""
    copy = ModuleType(module.__name__)
    assert module.__file__ is not None, "a module of a file"
    copy.__file__ = module.__file__
    token = _as_written.set(True)
    try:
        source = Path(module.__file__).read_bytes()
        exec(compile(source, module.__file__, "exec"), vars(copy))  # noqa: S102 - our own source
    finally:
        _as_written.reset(token)
    return copy


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel was compiled, by this process or for it."""
    if not hasattr(kernel, "overloads"):  # compilation is switched off
        return True
    kept = getattr(kernel, "_cache", None)
    known = isinstance(kept, KernelCache) and kept._cache_file._load_index()
    return bool(kernel.overloads or known)


def does_without(name: str, cost: float) -> bool:
    """Whether a run shall take a method's kernels as they are written, and not compile them.

    Nobody knows how many runs will follow. So they are compiled when the runs without have taken as
    long as that: whoever ends there, or goes on, has waited at most twice as long as need be.

    Args:
        name: of the method; what its runs took is kept in the folder of kernels.
        cost: how much longer this run takes without, in parts of what compiling takes.
    """
    folder = kernel_folder()
    if folder is None:  # nothing is kept, so that each run would compile
        return cost < 1
    spent = folder.path / f"{name}.spent"
    try:
        before = spent.stat().st_size / SPENT_IN_ONE if spent.exists() else 0.0
        if before + cost >= 1:
            return False
        with spent.open("ab") as file:  # its size counts, and what others add at once counts too
            file.write(b"." * round(cost * SPENT_IN_ONE))
    except OSError:
        return cost < 1
    return True


def njit(**options: Any) -> Callable[[Function], Function]:
    """As `numba.njit`, but `cache=True` is a wish and not a condition.

    Where nothing can be kept, a function is compiled anew in each process, which takes about a
    second.
    """
    import numba

    keep = options.pop("cache", False)

    def made(function: Function) -> Function:
        if _as_written.get():
            return function
        compiled: Any = numba.njit(**options)(function)
        if keep and hasattr(compiled, "_cache"):  # it has none where compilation is switched off
            from celosia.core.kernels import KernelCache

            with suppress(OSError, RuntimeError):  # no source file, or no folder
                compiled._cache = KernelCache(function)
                compiled.compile = _in_turn(compiled)
        result: Function = compiled
        return result

    return made


def _in_turn(kernel: Any) -> Callable[[Any], Any]:
    """How a kernel is compiled: once for all processes that share its folder.

    Numba loads what is kept before it compiles, so that whoever waited finds it. Its own lock is
    taken first: a thread that waits for another process must not wait for one that waits for it.
    """
    from numba.core.compiler_lock import global_compiler_lock

    compile_alone: Callable[[Any], Any] = kernel.compile

    def compile_in_turn(sig: Any) -> Any:
        with global_compiler_lock:
            known = tuple(getattr(sig, "args", sig)) in kernel.overloads
            if known or kernel._cache.is_kept(sig, kernel.targetctx.codegen()):
                return compile_alone(sig)
            with kernel._cache.turn():
                return compile_alone(sig)

    return compile_in_turn


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
