"""Progress and cancellation, as one callback that long work calls now and then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from celosia.core.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Step:
    """How far a stage of the work has come; `total` is None when it is not known."""

    stage: str
    done: int
    total: int | None = None


Progress = Callable[[Step], None]
"""Called by long work. It may show the step, and it may raise `Cancelled` to stop the work."""


def silent(step: Step) -> None:
    """The default: show nothing, never cancel."""


def cancellable(progress: Progress, stop: Event) -> Progress:
    """A progress that raises `Cancelled` at the next step once `stop` is set.

    >>> stop = Event()
    >>> watch = cancellable(silent, stop)
    >>> watch(Step("search", 1, 10))
    >>> stop.set()
    >>> watch(Step("search", 2, 10))
    Traceback (most recent call last):
        ...
    celosia.core.errors.Cancelled: Cancelled. Nothing was written.
    """

    def watch(step: Step) -> None:
        if stop.is_set():
            raise Cancelled()
        progress(step)

    return watch
