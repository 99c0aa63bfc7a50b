"""A process that crashes collectors: it kills a child at every single step of its work.

`python -m tests.collect.crash_process steps FOLDER` loads everything once, then forks a child for
step 1, 2, 3 ... of the lines of Python that a collector runs, and of the steps of the machine
inside SQLite that its statements run. Each child ends itself with SIGKILL at its step. What it had
acknowledged is in `acknowledged` in the folder of that step. `batches` counts ten batches, and
`full` as many of sixty as fit on a disk that is too small; both end with SIGKILL, and print what
they have acknowledged.
"""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from tests.collect.small_protocol import PROTOCOL, batch, name

from celosia.collect import durable_folder
from celosia.collect.collector import collector, journal
from celosia.collect.collector.collector import Collector
from celosia.core.errors import EngineError

FILES = {module.__file__ for module in (collector, journal, durable_folder)}
BATCHES = 2
REPORTS = 400
"""The state weighs less than both: the first is kept as it is, the second makes a snapshot."""
DATA = [batch(number, REPORTS) for number in range(BATCHES)]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def work(folder: Path) -> None:
    """Count batches, and write down each that is acknowledged; one is sent twice."""
    acknowledged = os.open(folder / "acknowledged", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    opened = Collector.open(folder / "state", PROTOCOL)
    for number in [*range(BATCHES), 0]:
        opened.absorb(DATA[number], id=name(number))
        os.write(acknowledged, f"{number}\n".encode())
    opened.close()
    os.write(acknowledged, b"end\n")


def dying_at_line(folder: Path, step: int) -> None:
    seen = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            seen += 1
            if seen == step:
                die()
        return traced

    sys.settrace(traced)
    work(folder)


def dying_at_opcode(folder: Path, step: int) -> None:
    """Inside SQLite: after so many steps of its machine, counted over all statements."""
    connect = sqlite3.connect

    def connected(*given: Any, **named: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = connect(*given, **named)
        made.set_progress_handler(die, step)
        return made

    sqlite3.connect = connected  # type: ignore[assignment]
    work(folder)


def counting(folder: Path, most: int) -> None:
    """Count batches, print each that is acknowledged, and die."""
    opened = Collector.open(folder, PROTOCOL)
    if most > 10:
        resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000))
    for number in range(most):
        try:
            opened.absorb(batch(number), id=name(number))
        except EngineError as error:
            print(error.code, flush=True)
            continue
        print(number, flush=True)
    die()


def every_step(folder: Path) -> None:
    warm = folder / "warm"
    warm.mkdir()
    work(warm)  # compiles what there is to compile
    for kind, dying, steps in (
        ("line", dying_at_line, range(1, 10_000)),
        ("opcode", dying_at_opcode, range(1, 400, 4)),
    ):
        for step in steps:
            here = folder / f"{kind}-{step}"
            here.mkdir()
            child = os.fork()
            if child == 0:
                try:
                    dying(here, step)
                finally:
                    os._exit(0)
            _, status = os.waitpid(child, 0)
            if not os.WIFSIGNALED(status):
                break  # the work ended before this step


if __name__ == "__main__":
    kind, place = sys.argv[1], Path(sys.argv[2])
    if kind == "steps":
        every_step(place)
    else:
        counting(place, {"batches": 10, "full": 60}[kind])
