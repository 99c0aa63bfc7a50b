"""Seconds of a call: the middle of several, after one that warms caches and kernels."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep

SETTLED = 0.3
"""Seconds after which the processes of a server have ended that a query has started."""


def seconds(work: Callable[[], object], *, repeat: int = 5, warm: bool = True) -> float:
    """The median time of `repeat` calls after one that is not counted."""
    if warm:
        work()
    return median(once(work) for _ in range(repeat))


def once(work: Callable[[], object]) -> float:
    """The time of one call."""
    started = perf_counter()
    work()
    return perf_counter() - started


def processor_seconds(work: Callable[[], object], *, repeat: int = 5, warm: bool = True) -> float:
    """The median processor time of this process in `repeat` calls after one that is not counted."""
    if warm:
        work()
    taken = []
    for _ in range(repeat):
        started = process_time()
        work()
        taken.append(process_time() - started)
    return median(taken)


def server_seconds(
    work: Callable[[], object], server: int, *, repeat: int = 5, warm: bool = True
) -> float:
    """The mean processor time of a server and all its processes in calls, after one not counted.

    Args:
        work: the call.
        server: the number of the first process of the server.
        repeat: calls; the system counts in hundredths of a second, so single calls say little.
        warm: whether one call comes first.
    """
    if warm:
        work()
    sleep(SETTLED)
    started = _time_of(server)
    for _ in range(repeat):
        work()
    sleep(SETTLED)
    return (_time_of(server) - started) / repeat


def _time_of(server: int) -> float:
    """Seconds of the processes that a server has, and of those that have ended."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(folder.name) == server:
            ticks += int(fields[13]) + int(fields[14])  # of its children that have ended
        elif int(fields[1]) == server:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
