"""Login attempts: wrong ones slow down the browser that makes them, and never lock an address out.

A class may share one address, and so do all visitors behind a proxy. So wrong attempts are counted
for each browser, which waits longer after each of its own, and for each address, whose attempts are
checked one after another once there were many: parallel guesses gain nothing. In this queue the
browser with the fewest failures goes first, and a browser that was let in before does not wait. A
right password is accepted when its turn comes, whatever others at the same address have typed.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from hmac import compare_digest
from secrets import choice, token_bytes, token_urlsafe
from time import monotonic
from typing import Literal

Verdict = Literal["right", "wrong", "late"]
"""`late`: there was no room to wait, and nothing was checked."""
MOST_LINES = 10_000
"""Browsers and addresses that are remembered; those not seen for longest go first."""
LOOK = 0.05
"""Seconds between two looks whether it is one's turn."""
STRANGER = 1_000_000
"""The rank of a browser without an id of ours: behind every browser that has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """How wrong attempts slow down those that follow."""

    free: int
    """Wrong attempts that cost nothing."""
    first: float
    """Seconds between two attempts after one more; they double with each that follows."""
    most: float
    """Seconds between two attempts at most."""
    memory: float
    """Seconds after which a wrong attempt is forgotten."""
    room: int
    """Attempts that may wait at the same time."""


BROWSER = RateLimit(free=3, first=1.0, most=30.0, memory=600.0, room=4)
ADDRESS = RateLimit(free=20, first=0.25, most=2.0, memory=60.0, room=40)


@dataclass(slots=True, eq=False)
class _WaitingAttempt:
    """One attempt that waits."""

    rank: int
    turned_away: bool = False


@dataclass(slots=True, eq=False)
class AttemptQueue:
    """The attempts of one browser or of one address."""

    pace: RateLimit
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    waiting: list[_WaitingAttempt] = field(default_factory=list)
    """In the order in which they came."""
    _failures: list[float] = field(default_factory=list)
    _last: float = float("-inf")
    _busy: bool = False

    def failures(self) -> int:
        """Wrong attempts that are not forgotten yet."""
        since = self.clock() - self.pace.memory
        self._failures = [each for each in self._failures if each > since]
        return len(self._failures)

    def delay(self) -> float:
        """Seconds between two attempts at present."""
        over = self.failures() - self.pace.free
        return 0.0 if over <= 0 else min(self.pace.most, self.pace.first * 2.0 ** (over - 1))

    def wrong(self) -> None:
        """Count a wrong attempt."""
        # More than these make no difference: the delay is at its limit.
        self._failures = [*self._failures[-(self.pace.free + 15) :], self.clock()]

    def forgive(self) -> None:
        """Forget all wrong attempts."""
        self._failures = []

    @asynccontextmanager
    async def turn(self, rank: int) -> AsyncIterator[bool]:
        """Wait until an attempt may be checked, the only one meanwhile; False: no room to wait.

        Args:
            rank: the lowest goes first, and the highest is turned away where there is no room.
        """
        place = _WaitingAttempt(rank)
        self.waiting.append(place)
        if len(self.waiting) > self.pace.room:
            worst = max(each.rank for each in self.waiting)
            # By lot among equals: an attacker cannot keep a place by coming first and often.
            gone = choice([each for each in self.waiting if each.rank == worst])
            gone.turned_away = True
            self.waiting.remove(gone)
        try:
            while not place.turned_away and not self._is_turn(place):
                await self.sleep(LOOK)
        finally:
            if not place.turned_away:
                self.waiting.remove(place)
        if place.turned_away:
            yield False
            return
        self._busy, self._last = True, self.clock()
        try:
            yield True
        finally:
            self._busy = False

    def _is_turn(self, place: _WaitingAttempt) -> bool:
        first = min(self.waiting, key=lambda each: each.rank)
        return not self._busy and first is place and self.clock() >= self._last + self.delay()


class LoginAttempts:
    """All attempts at the entrance of a studio."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._browsers: OrderedDict[str, AttemptQueue] = OrderedDict()
        self._addresses: OrderedDict[str, AttemptQueue] = OrderedDict()
        self._let_in: OrderedDict[str, None] = OrderedDict()

    async def check(self, address: str, browser: str | None, right: Callable[[], bool]) -> Verdict:
        """Check an attempt when its turn comes.

        Args:
            address: where it comes from.
            browser: the mark of the browser, if it has one of ours.
            right: whether what was typed is right; called when its turn has come.
        """
        if browser is None:
            return await self._in_line(address, STRANGER, right)
        own = self._line(self._browsers, browser, BROWSER)
        async with own.turn(0) as mine:
            if not mine:
                return "late"
            if browser in self._let_in:
                found: Verdict = "right" if right() else "wrong"
            else:
                found = await self._in_line(address, own.failures(), right)
            if found == "wrong":
                own.wrong()
            elif found == "right":
                own.forgive()
                self._remember(browser)
        return found

    async def _in_line(self, address: str, rank: int, right: Callable[[], bool]) -> Verdict:
        shared = self._line(self._addresses, address, ADDRESS)
        async with shared.turn(rank) as mine:
            if not mine:
                return "late"
            if right():
                return "right"
            shared.wrong()
            return "wrong"

    def _remember(self, browser: str) -> None:
        self._let_in[browser] = None
        self._let_in.move_to_end(browser)
        while len(self._let_in) > MOST_LINES:
            self._let_in.popitem(last=False)

    def sizes(self) -> tuple[int, int, int]:
        """How many browsers, addresses and browsers that were let in are remembered."""
        return len(self._browsers), len(self._addresses), len(self._let_in)

    def _line(
        self, lines: OrderedDict[str, AttemptQueue], name: str, pace: RateLimit
    ) -> AttemptQueue:
        found = lines.setdefault(name, AttemptQueue(pace, self._clock, self._sleep))
        lines.move_to_end(name)
        while len(lines) > MOST_LINES:
            lines.popitem(last=False)
        return found


class BrowserIds:
    """Marks for browsers, by which nobody is recognised but who types at the entrance.

    A mark is drawn at random and carries a proof that it is ours, so that none has to be kept.

    >>> marks = BrowserIds()
    >>> marks.known("made-up") is None
    True
    """

    def __init__(self) -> None:
        self._key = token_bytes(32)

    def new(self) -> str:
        """A mark that nobody has."""
        name = token_urlsafe(16)
        return f"{name}.{self._proof(name)}"

    def known(self, mark: str | None) -> str | None:
        """The mark, if it is ours."""
        if mark is None or len(mark) > 100:
            return None
        name, _dot, proof = mark.partition(".")
        return mark if compare_digest(proof.encode(), self._proof(name).encode()) else None

    def _proof(self, name: str) -> str:
        return blake2b(name.encode(), key=self._key, digest_size=16).hexdigest()
