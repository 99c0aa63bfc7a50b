"""Progress and cancellation, as one callback that long work calls; and how long its stages took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from time import perf_counter
from typing import Literal, TypeVar, get_args

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


Stage = Literal["reading", "coding", "search", "recoding", "measuring", "writing"]
"""What a run does: read the table, turn values into codes (or count groups), search, recode the
rows, measure risk and use, write the release."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of each stage that took place, in the order of `Stage`.

    >>> found = Timings({"search": 0.25, "recoding": 0.5})
    >>> found.total, found.as_dict()
    (0.75, {'search': 0.25, 'recoding': 0.5, 'total': 0.75})
    """

    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Seconds of all stages together."""
        return sum(self.seconds.values())

    def as_dict(self) -> dict[str, float]:
        """Plain values for JSON, with their total."""
        return {**self.seconds, "total": self.total}

    @classmethod
    def from_dict(cls, values: Mapping[str, float]) -> Timings:
        """The inverse of `as_dict`."""
        return cls({name: each for name, each in values.items() if name != "total"})


class Stopwatch:
    """Measures stages; one inside another stops the outer one as long as it lasts.

    >>> ticks = iter([0.0, 1.0, 4.0, 6.0])
    >>> watch = Stopwatch(lambda: next(ticks))
    >>> with watch.measure("writing"):
    ...     with watch.measure("recoding"):
    ...         pass
    >>> watch.timings().seconds
    {'recoding': 3.0, 'writing': 3.0}
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._seconds: dict[str, float] = {}
        self._stages: list[Stage] = []
        self._since = 0.0

    @contextmanager
    def measure(self, stage: Stage) -> Iterator[None]:
        """Count the time of a block for a stage."""
        self._turn()
        self._stages.append(stage)
        self._seconds.setdefault(stage, 0.0)
        try:
            yield
        finally:
            self._turn()
            self._stages.pop()

    def measure_each(self, stage: Stage, items: Iterable[Item]) -> Iterator[Item]:
        """The items of a stream; what it takes to make them counts for a stage."""
        stream = iter(items)
        while True:
            with self.measure(stage):
                try:
                    item = next(stream)
                except StopIteration:
                    return
            yield item

    def timings(self) -> Timings:
        """What was measured so far."""
        found = self._seconds
        return Timings({name: round(found[name], 6) for name in get_args(Stage) if name in found})

    def _turn(self) -> None:
        """Give the time since the last turn to the stage that was under way."""
        now = self._clock()
        if self._stages:
            self._seconds[self._stages[-1]] += now - self._since
        self._since = now
