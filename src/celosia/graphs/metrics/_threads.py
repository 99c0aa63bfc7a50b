"""Run parts of a loop on several cores; kernels release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Found = TypeVar("Found")

SMALL = 1 << 18
"""Below so many steps of a loop, starting threads costs more than it saves."""


def in_threads(
    work: Callable[..., Found], parts: Iterable[tuple[Any, ...]], *, steps: int
) -> list[Found]:
    """`work` on each part, in their order; one after the other where there is little to do.

    >>> in_threads(lambda a, b: a + b, [(1, 2), (3, 4)], steps=2)
    [3, 7]
    """
    wanted = list(parts)
    if steps < SMALL or len(wanted) < 2:
        return [work(*part) for part in wanted]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(lambda part: work(*part), wanted))


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
