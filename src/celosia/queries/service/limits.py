"""How much the service takes on: sizes, rates, places and times."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from threading import Lock

from celosia.core.errors import InputError
from celosia.core.kernels import cores
from celosia.core.methods import PlainValues
from celosia.core.numbers import real, whole

MINUTE = 60.0
PLACES_PER_CORE = 2
"""Planning a question takes some 0.1 s of a core, and a deadline leaves the engine ten times the
time that it needs. So two questions of the least deadline, 1 s, keep a core busy for 0.4 s."""
MOST_PLACES = 8
"""Planning is done by one core, however many there are."""


def usual_places() -> int:
    """How many questions this machine answers at once so that each is done by its deadline."""
    return max(2, min(MOST_PLACES, PLACES_PER_CORE * cores()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(PlainValues):
    """What one request, one token and all requests together may take.

    Raises:
        InputError: CEL-Q185 a limit is not a number above 0.
    """

    body_bytes: int = 256 * 1024
    body_seconds: float = 10.0
    """Within which the whole body must have arrived."""
    query_letters: int = 20_000
    epsilon: float = 10.0
    """The most that one request may ask for; the ledger decides about the sum."""
    requests_per_minute: int = 60
    """Of one token, in one process."""
    concurrent: int = field(default_factory=usual_places)
    """Questions that are answered at once: two for each core, and 8 at most. An answer leaves at
    its deadline; with more at once the machine might not be done by then."""
    waiting: int = 16
    """Questions that may wait for a place; further ones are sent away."""
    seconds: float = 300.0
    """That a question may wait for a place, and the latest deadline of its answer after that."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            number = whole(value) if each.type == "int" else real(value)
            is_fine = number is not None and (
                number > 0 or (number == 0 and each.name == "waiting")
            )
            if not is_fine:
                raise InputError("CEL-Q185", name=each.name, value=value)


class RateLimit:
    """How often each key was seen within the last minute."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = per_minute
        self._clock = clock
        self._seen: dict[str, deque[float]] = {}
        self._lock = Lock()

    def admit(self, key: str) -> float:
        """0 if the key may pass now, which is counted; else the seconds until it may.

        >>> rate = RateLimit(2, clock=lambda: 100.0)
        >>> [rate.admit("a"), rate.admit("a"), rate.admit("a"), rate.admit("b")]
        [0.0, 0.0, 60.0, 0.0]
        """
        with self._lock:
            now = self._clock()
            seen = self._seen.setdefault(key, deque())
            while seen and seen[0] <= now - MINUTE:
                seen.popleft()
            if len(seen) >= self._most:
                return max(0.001, min(MINUTE, seen[0] + MINUTE - now))  # never 0, by rounding
            seen.append(now)
            return 0.0
