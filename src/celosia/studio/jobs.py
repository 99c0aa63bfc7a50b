"""Jobs in processes of their own: a fair queue, limits for each visitor, progress and cancel."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from secrets import token_urlsafe
from threading import Condition, Event, Thread
from typing import Any, Literal

from celosia.core.errors import Cancelled, CelosiaError, EngineError
from celosia.core.messages import Language, current
from celosia.core.progress import Step
from celosia.studio import worker

State = Literal["waiting", "running", "done", "failed", "cancelled"]
KEPT = 20
"""How many ended jobs of each visitor are remembered."""


@dataclass(slots=True, eq=False)
class Job:
    """One piece of heavy work of one visitor; read it from any thread, change it from none."""

    visitor: str = field(repr=False)
    title: str
    task: worker.Task[Any] | None = field(repr=False)
    """What it does; None when it is over, for its arguments may be large."""
    address: str = ""
    """The page that shows its result."""
    language: Language = field(default_factory=current)
    """Of the page that asked for it, and so of the files that it writes."""
    listed: bool = True
    """Whether the visitor is told of it in the list of jobs."""
    id: str = field(default_factory=lambda: token_urlsafe(8))
    state: State = "waiting"
    step: Step | None = None
    parts: list[Any] = field(default_factory=list, repr=False)
    result: Any = field(default=None, repr=False)
    error: CelosiaError | None = None
    begun: float = 0.0
    ended: float = 0.0
    stop: Event = field(default_factory=Event, repr=False)

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def share(self) -> float | None:
        """How much of the present stage is done, from 0 to 1; None where nobody can know."""
        if self.state == "done":
            return 1.0
        if self.step is None or not self.step.total:
            return None
        return min(1.0, self.step.done / self.step.total)


class Jobs:
    """Some worker processes and the jobs that wait for them.

    The next job is the oldest of the visitor who has had the fewest running, so that one who asks
    for much does not keep others waiting.

    Args:
        workers: how many jobs run at the same time.
        most: how many jobs one visitor may have waiting or running.
        seconds: how long a job may run.
        memory: what one job may take, in bytes.
        file: how large a file of a job may become, in bytes; None for any size.
        has_room: whether a visitor may still write.
        warm: whether workers load what most jobs need while nobody waits for it.
    """

    def __init__(
        self,
        *,
        workers: int,
        most: int,
        seconds: float,
        memory: int,
        file: int | None = None,
        has_room: Callable[[str], bool] = lambda visitor: True,
        warm: bool = True,
    ) -> None:
        self._most = most
        self._has_room = has_room
        self._seconds = seconds
        self._limits = worker.Limits(memory=memory, file=file, warm=warm)
        self._jobs: list[Job] = []
        self._changed = Condition()
        self._closing = False
        # Spawned, not forked: a fork of a process with threads may hang.
        self._context = get_context("spawn")
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        visitor: str,
        title: str,
        task: worker.Task[Any],
        *,
        address: str = "",
        listed: bool = True,
    ) -> Job:
        """Put a job at the end of its visitor's queue.

        Args:
            visitor: the token of the visitor.
            title: what to call it, in the visitor's language.
            task: what a worker does.
            address: the page that shows its result.
            listed: whether it is in the list of jobs, and remembered there when it is over.

        Raises:
            EngineError: CEL-W022, the visitor has too many jobs already; CEL-W025, the files
                of the visitor take all the allowed space.
        """
        if not self._has_room(visitor):
            raise _full()
        job = Job(visitor, title, task, address, listed=listed)
        with self._changed:
            mine = [each for each in self._jobs if each.visitor == visitor]
            if sum(not each.over for each in mine) >= self._most:
                raise EngineError("CEL-W022", most=self._most)
            ended = [each for each in mine if each.over]
            past = [each for each in ended if each.listed][: -KEPT or None]
            for old in [*past, *(each for each in ended if not each.listed)]:
                self._jobs.remove(old)
            self._jobs.append(job)
            self._changed.notify()
        return job

    def of(self, visitor: str) -> list[Job]:
        """The jobs of a visitor, the newest first."""
        with self._changed:
            return [each for each in reversed(self._jobs) if each.visitor == visitor]

    def find(self, visitor: str, job_id: str) -> Job | None:
        """A job of a visitor by its name."""
        return next((each for each in self.of(visitor) if each.id == job_id), None)

    def place(self, job: Job) -> int:
        """How many jobs are waiting before this one was put in; 0 for one that is running."""
        with self._changed:
            waiting = [each for each in self._jobs if each.state == "waiting"]
            return waiting.index(job) + 1 if job in waiting else 0

    def cancel(self, job: Job) -> None:
        """Stop a job now; what it had not finished is gone."""
        with self._changed:
            job.stop.set()
            if job.state == "waiting":
                _end(job, "cancelled", error=Cancelled())

    def forget(self, visitor: str) -> None:
        """Cancel and forget all jobs of a visitor."""
        for job in self.of(visitor):
            self.cancel(job)
        with self._changed:
            self._jobs = [each for each in self._jobs if each.visitor != visitor]

    def close(self) -> None:
        """Stop all jobs and end the workers."""
        with self._changed:
            self._closing = True
            for job in self._jobs:
                job.stop.set()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=5)

    def _next(self) -> Job | None:
        """Wait for a job to do; None when the studio closes."""
        with self._changed:
            while not self._closing:
                waiting = [each for each in self._jobs if each.state == "waiting"]
                if waiting:
                    busy = [each.visitor for each in self._jobs if each.state == "running"]
                    job = min(waiting, key=lambda each: busy.count(each.visitor))
                    job.state, job.begun = "running", time.monotonic()
                    return job
                self._changed.wait()
            return None

    def _work(self) -> None:
        """What one thread does: hand one job after another to its process."""
        process = _Process(self._context, self._limits)
        try:
            while (job := self._next()) is not None:
                self._follow(job, process)
        finally:
            process.end()

    def _follow(self, job: Job, process: _Process) -> None:
        try:
            process.give(job)
            while True:
                event = process.hear(0.05)
                if job.stop.is_set():
                    process.end()
                    return _end(job, "cancelled", error=Cancelled())
                if time.monotonic() - job.begun > self._seconds:
                    process.end()
                    return _end(job, "failed", error=_too_long())
                if event is None:
                    continue
                if event.kind == "step":
                    job.step = event.value
                elif event.kind == "part":
                    job.parts.append(event.value)
                elif event.kind == "done":
                    return _end(job, "done", result=event.value)
                elif event.kind == "failed":
                    return _end(job, "failed", error=event.value)
        except Exception:  # this thread must outlive every job
            # The process is gone (out of memory, or killed), or what it sent cannot be read.
            process.end()
            state: State = "cancelled" if job.stop.is_set() else "failed"
            return _end(job, state, error=_gone())


class _Process:
    """One worker process, started when needed and started again after it was ended."""

    def __init__(self, context: Any, limits: worker.Limits) -> None:
        self._context = context
        self._limits = limits
        self._process: Any = None
        self._start()

    def _start(self) -> None:
        self._ours, theirs = self._context.Pipe()
        self._process = self._context.Process(
            target=worker.serve, args=(theirs, self._limits), daemon=True
        )
        self._process.start()
        theirs.close()

    def give(self, job: Job) -> None:
        if self._process is None or not self._process.is_alive():
            self.end()
            self._start()
        self._ours.send((job.task, job.language))

    def hear(self, seconds: float) -> worker.JobEvent | None:
        if not self._ours.poll(seconds):
            return None
        event: worker.JobEvent = self._ours.recv()
        return event

    def end(self) -> None:
        if self._process is None:
            return
        with suppress(OSError):
            self._ours.close()
        self._process.terminate()
        self._process.join(timeout=2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(timeout=2)
        self._process = None


def _end(job: Job, state: State, *, result: Any = None, error: CelosiaError | None = None) -> None:
    job.result, job.error, job.ended = result, error, time.monotonic()
    job.task = None
    job.state = state  # last: a reader of the state may then read the rest


def _too_long() -> EngineError:
    return EngineError("CEL-W023")


def _gone() -> EngineError:
    return EngineError("CEL-W024")


def _full() -> EngineError:
    return EngineError("CEL-W025")
