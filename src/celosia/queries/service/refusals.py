"""Refusals of requests without a good token: delayed, and the longer the more an address sends.

A token has 256 bits, so nobody guesses one; but who sends wrong ones without end keeps the service
busy. Each refusal leaves some time after its request arrived. That time follows from how many
refusals the address has had, and from nothing else: an absent token, a malformed, an unknown, a
wrong, an expired and a revoked one are distinguished by no clock. A good token is looked at first,
wherever it comes from, and never waits here.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from time import monotonic

from celosia.queries.service.errors import too_many_refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The delays of repeated refusals."""

    least: float = 0.2
    """Seconds that every refusal takes; far more than it takes to find a token."""
    free: int = 5
    """Refusals of one address that take no longer; each further one takes twice as long."""
    most: float = 30.0
    """Seconds that a refusal takes at most."""
    memory: float = 600.0
    """Seconds without a refusal after which an address is forgotten."""
    waiting: int = 20
    """Refusals of one address that may wait at once; further ones are sent away."""
    waiting_in_all: int = 1_000
    addresses: int = 10_000
    """Addresses that are remembered; those not seen for longest go first."""


@dataclass(slots=True)
class _AddressRecord:
    """The refusals of one address."""

    last: float
    refused: int = 0
    waiting: int = 0


class Refusals:
    """All requests that were refused for want of a token, by address; used from one event loop."""

    def __init__(
        self,
        pace: Pace | None = None,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.pace = Pace() if pace is None else pace
        self.clock = clock
        self._sleep = sleep
        self._seen: OrderedDict[str, _AddressRecord] = OrderedDict()
        self._waiting = 0

    def delay(self, address: str) -> float:
        """Seconds that the next refusal of an address takes."""
        found = self._seen.get(_network(address))
        if found is None or self.clock() - found.last > self.pace.memory:
            return self.pace.least
        doublings = max(0, found.refused - self.pace.free + 1)
        # Beyond that the limit is reached, and the power would grow without end.
        return min(self.pace.most, self.pace.least * 2.0 ** min(doublings, 64))

    async def wait(self, address: str, arrived: float) -> None:
        """Count a refusal and return when it may be told.

        Args:
            address: of the client.
            arrived: when the request did, by the clock.

        Raises:
            TooBusy: CEL-Q178 too many wait already; this one is told at once.
        """
        delay = self.delay(address)
        seen = self._remembered(address)
        seen.refused += 1
        if seen.waiting >= self.pace.waiting or self._waiting >= self.pace.waiting_in_all:
            raise too_many_refused(delay)
        seen.waiting += 1
        self._waiting += 1
        try:
            while (left := arrived + delay - self.clock()) > 0:
                await self._sleep(left)
        finally:
            seen.waiting -= 1
            self._waiting -= 1

    @property
    def size(self) -> int:
        """The number of addresses that are remembered."""
        return len(self._seen)

    def _remembered(self, address: str) -> _AddressRecord:
        name, now = _network(address), self.clock()
        found = self._seen.setdefault(name, _AddressRecord(now))
        if now - found.last > self.pace.memory:
            found.refused = 0
        found.last = now
        self._seen.move_to_end(name)
        while len(self._seen) > self.pace.addresses:
            self._seen.popitem(last=False)
        return found


def _network(address: str) -> str:
    """The key of a client: its address, or its network in IPv6, since one client may have it all.

    >>> _network("192.0.2.7"), _network("2001:db8::1") == _network("2001:db8::2"), _network("")
    ('192.0.2.7', True, '')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return found.exploded[:19] if found.ipv4_mapped is None else str(found.ipv4_mapped)
    return str(found)
