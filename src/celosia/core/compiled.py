"""Functions compiled by Numba once for each installation and user, see `kernel_folder`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Function], Function]:
    """As `numba.njit`, but `cache=True` is a wish and not a condition.

    Where nothing can be kept, a function is compiled anew in each process, which takes about a
    second.
    """
    import numba

    keep = options.pop("cache", False)

    def made(function: Function) -> Function:
        compiled: Any = numba.njit(**options)(function)
        if keep and hasattr(compiled, "_cache"):  # it has none where compilation is switched off
            from celosia.core.kernel_cache import KernelCache

            with suppress(OSError, RuntimeError):  # no source file, or no folder
                compiled._cache = KernelCache(function)
        result: Function = compiled
        return result

    return made
