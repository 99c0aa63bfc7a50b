"""k-ary randomised response: a report is a value, most likely the true one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.oracles import pure
from celosia.collect.protocol import BlanketShares, Client
from celosia.collect.reports import Packed, bits_for, pack
from celosia.core.randomness import Source


@dataclass(frozen=True, kw_only=True)
class KaryResponse(pure.DomainProtocol, pure.PureProtocol):
    """The true value with chance e^epsilon / (e^epsilon + k - 1), or any one of the others.

    The best protocol where the domain is small: about 3 e^epsilon + 2 values or fewer. Its variance
    grows with the size of the domain.

    Guarantee: epsilon-LDP for each report, between any two values of the domain; the chance of the
    truth is a multiple of 2^-32, rounded down. Every further report of a person costs as much.

    Reference: Kairouz, Oh & Viswanath 2014; Wang et al. 2017 (direct encoding).

    >>> from celosia.core.randomness import Seeded
    >>> protocol = KaryResponse(epsilon=2, domain=("car", "bus", "bike"))
    >>> reports = protocol.client(rng=Seeded(7)).privatise(["bus"] * 1000)
    >>> server = protocol.server().absorb(reports)
    >>> abs(server.estimate(["bus"])["bus"] - 1000) < 100
    True
    """

    method_name: ClassVar[str] = "grr"

    def check(self) -> None:
        """Refuse an epsilon too small for so many values."""
        super().check()
        _ = self.coin

    @cached_property
    def coin(self) -> Coin:
        """Tells the truth."""
        return pure.set_coin(self.epsilon, len(self.values) - 1)

    @cached_property
    def support(self) -> pure.Support:
        """The chances of the true value and of each other one."""
        own = Fraction(self.coin.heads, WHOLE)
        return pure.Support(own, (1 - own) / (len(self.values) - 1))

    @property
    def blanket(self) -> BlanketShares:
        """One of k outcomes, and none is that of two values."""
        return Fraction(1, len(self.values)), Fraction(0)

    @property
    def report_bits(self) -> int:
        """Those of one place in the domain."""
        return bits_for(len(self.values))

    def client(self, *, rng: Source | None = None) -> KaryClient:
        return KaryClient(self, rng=rng)

    def server(self) -> KaryServer:
        return KaryServer(self, len(self.values))


class KaryClient(Client):
    """Sends places in the domain."""

    protocol: KaryResponse

    def _encode(self, values: Any) -> Packed:
        places = self.protocol.values.places(values)
        size = len(self.protocol.values)
        # All coins are tossed for all: the time reveals nothing.
        steps = 1 + self.rng.integers(size - 1, places.size)
        kept = self.protocol.coin.toss(places.size, self.rng)
        reported = (places + np.where(kept, 0, steps)) % size
        return pack([(reported, self.protocol.report_bits)])


class KaryServer(pure.PlaceServer):
    """Counts the values that were told."""
