"""Compiled functions where nothing can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import pytest

from celosia.core.compiled import njit


def test_a_function_is_compiled_also_where_no_cache_can_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []
    real: Any = numba.njit
    real(lambda: 0)()  # parts of Numba load with the first compilation, and need the real one

    def refusing(function: Callable[..., Any]) -> Any:  # as Numba does when it is defined
        raise RuntimeError(f"cannot cache function {function.__name__!r}: no locator available")

    def read_only(**options: Any) -> Callable[[Any], Any]:
        asked.append(options.get("cache", False))
        if options.get("cache"):
            return refusing
        made: Callable[[Any], Any] = real(**options)
        return made

    monkeypatch.setattr(numba, "njit", read_only)

    @njit(cache=True, nogil=True)
    def double(number: int) -> int:
        return 2 * number

    assert asked == [True, False]
    assert double(21) == 42
