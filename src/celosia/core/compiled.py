"""Functions compiled by Numba, also where nothing can be written.

Numba keeps what it has compiled beside the module, or in the home of the user. Where neither can be
written (a container, a locked-down device) it refuses to define the function at all; then it is
compiled anew in each process, which takes about a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Function], Function]:
    """As `numba.njit`, but `cache=True` is a wish and not a condition."""
    import numba  # noqa: PLC0415 - heavy

    def made(function: Function) -> Function:
        try:
            compiled: Function = numba.njit(**options)(function)
        except RuntimeError:  # no place for the cache
            compiled = numba.njit(**options | {"cache": False})(function)
        return compiled

    return made
