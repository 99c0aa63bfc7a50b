"""Answers leave on a fixed grid of times, so that the time of an answer tells little.

How long a question runs depends on the rows that it meets. What a client sees is only which of the
times 0.25 s, 0.5 s, 1 s, 2 s, ... was the first that it had ended by: with a limit of 64 s that is
one of nine, about three bits at most, and nothing at all for questions that always end within the
first.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from celosia.core.errors import InputError
from celosia.core.numbers import real


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeGrid:
    """The times after its arrival at which a question may be answered.

    >>> grid = TimeGrid(first=0.25)
    >>> [grid.due(each) for each in (0, 0.1, 0.25, 0.26, 0.9, 33)]
    [0.25, 0.25, 0.25, 0.5, 1.0, 64.0]

    Raises:
        InputError: CEL-Q185 the first time is not a number above 0.
    """

    first: float = 0.25
    """Seconds; each further time is twice the one before."""

    def __post_init__(self) -> None:
        number = real(self.first)
        if number is None or not 0 < number <= 3600:
            raise InputError(
                "CEL-Q185",
                f"the first time of the grid must be a number of seconds, got {self.first!r}.",
                why="Answers leave at it and its doubles.",
                fix="Leave it out for 0.25.",
            )

    def due(self, elapsed: float) -> float:
        """The first time of the grid that has not passed."""
        due = self.first
        while due < elapsed:
            due *= 2
        return due

    async def wait(self, arrived: float) -> None:
        """Sleep until the next time of the grid.

        Args:
            arrived: when the question did, by `time.monotonic`.
        """
        due = arrived + self.due(time.monotonic() - arrived)
        while (left := due - time.monotonic()) > 0:
            await asyncio.sleep(left)
