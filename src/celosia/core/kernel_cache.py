"""Numba's cache of compiled functions, made safe for many processes and for every upgrade.

It differs from `numba.njit(cache=True)` in four ways. Files are kept in the folder that
`kernel_folder` chooses. A file that is broken or cannot be written is no error: the function is
compiled instead. What is read must be of the very function and argument types that are wanted:
Numba numbers its files, and two processes that compile at once may take the same number. A function
is compiled again also if a function or a constant changed that it takes from another module.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from celosia.core.kernel_folder import kernel_folder

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

    def save_overload(self, sig: object, data: object) -> None:
        """Keep what was compiled, if there is room and right to write it."""
        with suppress(OSError):
            super().save_overload(sig, data)


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
