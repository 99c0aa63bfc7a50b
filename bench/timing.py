"""Seconds of a call: the middle of several, after one that warms caches and kernels."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter


def seconds(work: Callable[[], object], *, repeat: int = 5) -> float:
    """The median time of `repeat` calls after one that is not counted."""
    work()
    return median(once(work) for _ in range(repeat))


def once(work: Callable[[], object]) -> float:
    """The time of one call."""
    started = perf_counter()
    work()
    return perf_counter() - started
