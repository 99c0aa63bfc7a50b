"""Clients that do not keep their epsilon, or whose server cannot read them."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.rappor.rappor import Rappor
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.lab.collect.broken.example import BrokenProtocol
from celosia.sketches.hashing import digest, digests

Bits = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class StickyRappor(Rappor):
    """RAPPOR whose permanent stage never changes a bit that is set; use it for nothing."""

    def permanent(self, filters: Bits, rng: Source) -> Bits:
        """Unset bits are changed, set ones stay."""
        units = np.frombuffer(rng.raw(4 * filters.size), dtype=np.uint32)
        return filters | (units < np.uint32(self.lies)).reshape(filters.shape)


@dataclass(frozen=True, kw_only=True)
class BrokenStickyRappor(BrokenProtocol):
    """A permanent stage that never changes a set bit: a kept 0 rules out every value that sets it.

    True level: none. The code tests whether a drawn number calls for a 1, and has no branch that
    writes a 0.
    """

    citation = "pure-ldp 1.2.0, RAPPORClient"
    flaw = Message("lab.collect.a_set_bit_is_never_cleared")
    figure = Message("lab.collect.lasting_epsilon")

    f: float = 0.5

    @property
    def protocol(self) -> StickyRappor:
        """The broken protocol, small enough to look at."""
        return StickyRappor(f=self.f, p=0.25, q=0.75, bits=8, hashes=1, cohorts=1)

    @property
    def claimed(self) -> float:
        """2 ln((1 - f/2) / (f/2))."""
        return self.protocol.lasting_epsilon

    @property
    def true(self) -> float:
        """Without limit."""
        return inf

    def kept(self, value: object, rng: Source, size: int) -> Bits:
        """The bits that devices with a value keep: what an audit looks at."""
        made = self.protocol
        codes = np.full(size, digest(value), dtype=np.uint64)
        return made.permanent(made.filters(codes, np.zeros(size, dtype=np.int64)), rng)

    def measure(self, *, rng: Source, runs: int) -> float:
        """The loss of the event that a bit of the first value is 0, by how often it comes."""
        (column,) = np.flatnonzero(self.protocol.filters(digests([0]), np.array([0]))[0])
        first, second = (np.mean(~self.kept(v, rng, 1000 * runs)[:, column]) for v in (0, 1))
        return inf if first == 0 else log(second / first)


@dataclass(frozen=True, kw_only=True)
class BrokenEpsilonToF(BrokenProtocol):
    """The f of RAPPOR from an epsilon, without the number of hash functions, and rounded.

    f = 1 / (e^(epsilon/2) / 2 + 1/2) is right for one hash function; with h of them all kept bits
    together cost h epsilon: twice the epsilon with two.
    """

    citation = "pure-ldp 1.2.0, RAPPORClient.convert_eps_to_f"
    flaw = Message("lab.collect.two_values_differ_in_two_bits")
    figure = Message("lab.collect.lasting_epsilon")

    epsilon: float = 2.0
    hashes: int = 2

    @property
    def f(self) -> float:
        """As it is computed there."""
        return round(1 / (0.5 * exp(self.epsilon / 2) + 0.5), 2)

    @property
    def protocol(self) -> Rappor:
        """What is then run; without an instantaneous stage, as there."""
        return Rappor(f=self.f, p=0, q=1, bits=16, hashes=self.hashes, cohorts=1)

    @property
    def claimed(self) -> float:
        """The epsilon asked for."""
        return self.epsilon

    @property
    def true(self) -> float:
        """2 h ln((1 - f/2) / (f/2))."""
        return 2 * self.hashes * log((2 - self.f) / self.f)

    def measure(self, *, rng: Source, runs: int) -> float:
        """From how often bits are changed: both values set and unset `hashes` bits each."""
        made = self.protocol
        none = np.zeros((1000 * runs, 16), dtype=np.bool_)
        changed = float(np.mean(made.permanent(none, rng)))
        return 2 * self.hashes * log((1 - changed) / changed)


@dataclass(frozen=True, kw_only=True)
class BrokenSaltedHash(BrokenProtocol):
    """Values hashed by Python's own `hash`, which is salted anew in every process.

    Devices and the server agree on nothing: what a device sets in one column, the server looks for
    in another. In one process, as in a simulation, nobody notices.
    """

    citation = "The code behind a bachelor's thesis of the Universidad de Cádiz (2024), C-20"
    flaw = Message("lab.collect.the_server_hashes_with_another_salt")
    figure = Message("lab.collect.estimate_over_truth")

    users: int = 20_000

    @property
    def claimed(self) -> float:
        return 1.0

    @property
    def true(self) -> float:
        """0: the estimate of a value that nobody has."""
        return 0.0

    @staticmethod
    def salted(value: str, salt: str) -> int:
        """A hash of a text in the process with that salt."""
        return digest(f"{salt}/{value}") % WHOLE

    def measure(self, *, rng: Source, runs: int) -> float:
        """The mean over runs, each with salts of its own."""
        made = CountMean(epsilon=4, hashes=64, width=64)
        found = []
        for _ in range(runs):
            device, server = (rng.raw(8).hex() for _ in range(2))
            hashed = np.full(self.users, self.salted("cool", device), dtype=np.int64)
            counted = made.server().absorb(made.client(rng=rng).privatise(hashed))
            found.append(counted.estimate([self.salted("cool", server)]).counts[0] / self.users)
        return float(np.mean(found))
