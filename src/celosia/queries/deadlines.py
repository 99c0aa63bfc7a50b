"""Work under a deadline that is kept to the moment, whatever the work does."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")

MARGIN = 0.2
"""The share of the time that is kept for the account: after the rest, work is given up."""
SPUN = 0.002
"""Seconds before a moment from which the clock is watched: a sleep may end late."""


class Attempt(Generic[T]):
    """Some work in a thread of its own, which is left to itself when its time is over.

    A thread cannot be stopped: the engine stops its own queries, and what it returns later goes
    nowhere. Whatever is raised in it is kept, never shown.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self.result: T | None = None
        self.error: BaseException | None = None
        self._work = work
        self._thread = Thread(target=self._run, name="celosia-question", daemon=True)

    def _run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:
            self.error = error

    def run(self, until: float) -> T | None:
        """The result; None if it failed, or has not ended by a moment of `time.monotonic`.

        Raises:
            KeyboardInterrupt: the user has stopped it.
        """
        self._thread.start()
        self._thread.join(max(0.0, until - time.monotonic()))
        if self._thread.is_alive():
            return None
        if isinstance(self.error, KeyboardInterrupt):  # an engine may be the first to notice
            raise self.error
        return self.result

    @property
    def ended(self) -> bool:
        """Whether the work is over."""
        return not self._thread.is_alive()


def wait_until(moment: float) -> None:
    """Return at a moment of `time.monotonic`, and not before."""
    while (left := moment - time.monotonic()) > 0:
        if left > SPUN:
            time.sleep(left - SPUN)
