"""A process that does one job after another for the studio, so that a page never waits for one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from celosia.core.errors import CelosiaError, EngineError
from celosia.core.messages import Message, speaking
from celosia.core.progress import Step

P = ParamSpec("P")
T = TypeVar("T")

PAUSE = 0.05
"""Seconds between two messages of progress: a page shows no more."""


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A message of a job to the studio: a step, a part of its result, its result or its error."""

    kind: str
    """`step`, `part`, `done` or `failed`."""
    value: Any = field(default=None, repr=False)


class JobProgress:
    """Reports the progress of a job: a `Progress`, whose `part(value)` also shows a part.

    A job is a module-level function of a `jobs` module whose first argument is its
    progress;
    its other arguments and its result are plain values, arrays or frames that can be pickled.
    """

    def __init__(self, tell: Callable[[JobEvent], None]) -> None:
        self._tell = tell
        self._last = 0.0
        self._stage = ""

    def __call__(self, step: Step) -> None:
        """Show how far the work has come."""
        now = time.monotonic()
        if step.stage == self._stage and now - self._last < PAUSE:
            return
        self._last, self._stage = now, step.stage
        self._tell(JobEvent("step", step))

    def part(self, value: Any) -> None:
        """Show a part of the result before all of it is there."""
        self._tell(JobEvent("part", value))


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """A function of a `jobs` module and its arguments: what a worker is asked to do."""

    function: str
    arguments: Mapping[str, Any] = field(repr=False)


def task(
    function: Callable[Concatenate[JobProgress, P], T], /, *_none: P.args, **arguments: P.kwargs
) -> Task[T]:
    """A call that a worker makes; its first argument, the progress, is given there.

    >>> from celosia.studio.collect import jobs
    >>> task(jobs.compare, users=1_000, domain=16, epsilon=1.0)
    Task(function='celosia.studio.collect.jobs.compare')
    """
    assert not _none, "arguments are named"
    return Task(f"{function.__module__}.{function.__qualname__}", arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a worker may take, in bytes, and whether it loads what most jobs need at once."""

    memory: int
    file: int | None = None
    """Of one file; None for any size."""
    warm: bool = True


def serve(connection: Connection, limits: Limits) -> None:
    """Do jobs until the studio hangs up.

    Each is a task, and the language of what it writes.
    """
    with suppress(ValueError):  # Ctrl-C is for the studio, which ends its workers itself
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(limits.memory, limits.file)
    if limits.warm:
        import celosia.tables  # noqa: F401 - loaded while nobody waits for it
    with suppress(OSError):  # a studio that closed meanwhile hears nothing
        connection.send(JobEvent("ready"))
    while True:
        try:
            given, spoken = connection.recv()
        except (EOFError, OSError):
            return
        with speaking(spoken):
            connection.send(_done(given, connection.send))


def _done(given: Task[Any], tell: Callable[[JobEvent], None]) -> JobEvent:
    try:
        module, _, name = given.function.rpartition(".")
        function = getattr(import_module(module), name)
        return JobEvent("done", function(JobProgress(tell), **given.arguments))
    except CelosiaError as error:
        return JobEvent("failed", _placeless(error, str(given.arguments.get("folder") or "")))
    except MemoryError:
        return JobEvent("failed", _too_large())
    except Exception:
        # The text of a foreign error may hold a cell of the table, so it goes no further.
        if os.environ.get("CELOSIA_STUDIO_DEBUG"):
            import traceback

            traceback.print_exc()
        return JobEvent("failed", _fault())


def _placeless(error: CelosiaError, folder: str) -> CelosiaError:
    """The same error without the folder of the work: where files lie is ours to know."""
    if folder:
        error.replace(f"{folder}{os.sep}", "").replace(folder, Message("studio.the_folder"))
    return error


def _limit(memory: int, file: int | None) -> None:
    """Bound what a job may take, where the system can: one visitor must not starve the others."""
    with suppress(OSError):  # Linux: a machine without memory ends a job, never the studio
        Path("/proc/self/oom_score_adj").write_text("900", "ascii")
    with suppress(ImportError, ValueError, OSError):
        import resource  # not on every system

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of memory holds cells
        if file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))


def _too_large() -> EngineError:
    return EngineError("CEL-W020")


def _fault() -> EngineError:
    return EngineError("CEL-W021")
