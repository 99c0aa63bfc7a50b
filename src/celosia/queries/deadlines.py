"""Work under a deadline that is kept to the moment, whatever the work does.

Everything that is seen of a question happens at one of few moments, counted from its charge. With a
deadline of d seconds, work is given up after 0.75 d, the answer is recorded at 0.8 d and leaves at
d. The time between them is for what remains to be done, none of which reads rows.

A process that gets no processor for a while can miss a moment, and how long it takes then may
depend on rows. So nothing is done as soon as it is possible after a missed moment: it is done a
whole number of deadlines later. What is left to read is how many deadlines were missed: log2(1 + n)
bits where n were. Within a moment, a waiting thread wakes late by what the machine is doing, up to
a twentieth of the deadline; at that time the question itself has nothing left to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from threading import Event, Thread, local
from typing import Generic, TypeVar

T = TypeVar("T")

GIVEN_UP = 0.75
"""The share of the deadline after which work is given up."""
RECORDED = 0.8
"""The share of the deadline at which an answer is recorded. The rest is for the account, and for
everything that makes bytes of an answer."""
SLACK = 0.05
"""The share of the deadline by which a thread may wake late from its wait."""
SPUN = 0.002
"""Seconds before a moment from which the clock is watched: a sleep may end late."""

_here = local()


class Attempt(Generic[T]):
    """Some work in a thread of its own, which is left to itself when its time is over.

    A thread cannot be stopped: the engine stops its own queries, long computations call
    `check_given_up`, and what is returned later goes nowhere. Whatever is raised in it is kept,
    never shown.
    """

    def __init__(self, work: Callable[[float], T]) -> None:
        """Do some work, which is told the moment at which it is given up."""
        self.result: T | None = None
        self.error: BaseException | None = None
        self._work = work
        self._until = 0.0
        self._given_up = Event()
        self._thread = Thread(target=self._run, name="celosia-question", daemon=True)

    def _run(self) -> None:
        _here.given_up = self._given_up
        try:
            self.result = self._work(self._until)
        except BaseException as error:
            self.error = error

    def run(self, until: float) -> T | None:
        """The result; None if it failed, or has not ended by a moment of `time.monotonic`.

        Raises:
            KeyboardInterrupt: the user has stopped it.
        """
        self._until = until
        self._thread.start()
        self._thread.join(max(0.0, until - time.monotonic()))
        if self._thread.is_alive():
            self._given_up.set()
            return None
        if isinstance(self.error, KeyboardInterrupt):  # an engine may be the first to notice
            raise self.error
        return self.result

    @property
    def ended(self) -> bool:
        """Whether the work is over."""
        return not self._thread.is_alive()


def check_given_up() -> None:
    """End work that nobody waits for any more; called now and then by long computations.

    Its load would be felt by whoever asks next.

    Raises:
        TimeoutError: in the thread of an attempt that was given up.
    """
    given_up: Event | None = getattr(_here, "given_up", None)
    if given_up is not None and given_up.is_set():
        raise TimeoutError


def wait_until(moment: float) -> None:
    """Return at a moment of `time.monotonic`, and not before."""
    while (left := moment - time.monotonic()) > 0:
        if left > SPUN:
            time.sleep(left - SPUN)


def wait_for(moment: float, *, period: float) -> None:
    """Return at a moment, or a whole number of periods after it, and not between.

    A moment that has passed already is missed, and so is one from which the wait ends late by more
    than the slack. The slack doubles with each miss, so that also a starved process gets through.
    """
    slack = SLACK * period
    while True:
        late = time.monotonic() - moment
        if late > 0:
            moment += period * ceil(late / period)
        wait_until(moment)
        if time.monotonic() - moment <= slack:
            return
        slack *= 2
