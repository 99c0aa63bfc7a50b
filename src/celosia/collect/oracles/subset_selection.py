"""Subset selection: a report is a set of values, most likely with the true one in it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.count_mean import _kernels
from celosia.collect.oracles import _kernels as _oracle_kernels
from celosia.collect.oracles import pure
from celosia.collect.protocol import BlanketShares, Client
from celosia.collect.reports import Packed, bits_for, check_form, malformed, pack, unpack
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.randomness import Source

_CHUNK = 2**21
"""Random words that are drawn at once."""


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(pure.DomainProtocol, pure.PureProtocol):
    """A set of s values, with the true one in it with chance e s / (e s + k - s), e = e^epsilon.

    No protocol has a smaller worst-case error; the price is the length of a report. It travels as a
    list of places or as a bit for each value, whichever is shorter.

    Guarantee: epsilon-LDP for each report, between any two values of the domain: a set that holds
    a value is e^epsilon times as likely by it as by a value that it does not hold. The chance of
    such a set is a multiple of 2^-32, rounded down, and all sets of a kind are equally likely.
    Every further report of a person costs as much.

    Reference: Ye & Barg 2018, "Optimal Schemes for Discrete Distribution Estimation under Locally
    Differential Privacy"; Wang et al. 2016.

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection.
        domain: all possible values, in an order that all devices share.
        size: of the set; 0 takes the best one, about k / (e^epsilon + 1).

    Raises:
        InputError: CEL-R054 the set has all values in it.
    """

    method_name: ClassVar[str] = "ss"

    size: int = parameter(0, least=0)

    def check(self) -> None:
        """Refuse a set with all values in it; take the best size where none is given."""
        super().check()
        if self.size >= len(self.values):
            raise InputError("CEL-R054")
        object.__setattr__(self, "size", self.size or self._best())
        _ = self.coin

    def _best(self) -> int:
        """The size next to k / (e^epsilon + 1) with the least variance for a rare value."""
        near = len(self.values) / (pure.ratio_below(self.epsilon) + 1)
        sizes = {min(len(self.values) - 1, max(1, each)) for each in (floor(near), ceil(near))}
        return min(sizes, key=lambda size: self._support(size).variance(1, 0))

    def _coin(self, size: int) -> Coin:
        return pure.set_coin(self.epsilon, Fraction(len(self.values) - size, size))

    def _support(self, size: int) -> pure.Support:
        own = Fraction(self._coin(size).heads, WHOLE)
        return pure.Support(own, (own * (size - 1) + (1 - own) * size) / (len(self.values) - 1))

    @cached_property
    def coin(self) -> Coin:
        """Puts the value into the set."""
        return self._coin(self.size)

    @cached_property
    def support(self) -> pure.Support:
        """The chances that the set holds the value, and that it holds another one."""
        return self._support(self.size)

    @property
    def blanket(self) -> BlanketShares:
        """The sets of s of k values that hold one value, and two."""
        k, s = len(self.values), self.size
        return Fraction(s, k), Fraction(s * (s - 1), k * (k - 1))

    @property
    def as_list(self) -> bool:
        """Whether a list of places is shorter than a bit for each value."""
        return self.size * bits_for(len(self.values)) < len(self.values)

    @property
    def report_bits(self) -> int:
        """Those of the places in the set, or one for each value."""
        return min(self.size * bits_for(len(self.values)), len(self.values))

    def client(self, *, rng: Source | None = None) -> SubsetClient:
        return SubsetClient(self, rng=rng)

    def server(self) -> SubsetServer:
        return SubsetServer(self, len(self.values))


class SubsetClient(Client):
    """Sends sets of values."""

    protocol: SubsetSelection

    def _encode(self, values: Any) -> Packed:
        protocol = self.protocol
        places = protocol.values.places(values)
        rows = max(1, _CHUNK // (protocol.size + len(protocol.values) // 64))
        made = np.empty((places.size, -(-protocol.report_bits // 8)), dtype=np.uint8)
        for start in range(0, places.size, rows):
            bits = self._subsets(places[start : start + rows])
            if protocol.as_list:
                # In rising order: the true value must not stand out by where it is.
                found = _oracle_kernels.members(bits, protocol.size)
                width = bits_for(len(protocol.values))
                bits = pack([(column, width) for column in found.T])
            made[start : start + rows] = bits
        return made

    def _subsets(self, places: NDArray[np.int64]) -> Packed:
        protocol = self.protocol
        kept = protocol.coin.toss(places.size, self.rng)
        while True:
            row = protocol.size + _oracle_kernels.SPARE
            words = self.rng.words(places.size * row).reshape(places.size, row)
            made = np.zeros((places.size, -(-len(protocol.values) // 8)), dtype=np.uint8)
            values = len(protocol.values)
            if _oracle_kernels.subsets(words, places, kept, values, protocol.size, made):
                return made


class SubsetServer(pure.DomainServer):
    """Counts how many sets hold each value."""

    protocol: SubsetSelection

    def _count(self, packed: Packed) -> None:
        protocol = self.protocol
        if protocol.as_list:
            width = bits_for(len(protocol.values))
            found = np.array(unpack(packed, [width] * protocol.size))
            rising = bool(np.all(found[1:] > found[:-1]))
            if not rising or (found.size and found[-1].max() >= self.counts.size):
                raise malformed()
            self.counts += np.bincount(found.reshape(-1), minlength=self.counts.size)
            return
        check_form(packed, protocol.report_bits)
        if np.any(np.bitwise_count(packed).sum(axis=1, dtype=np.int64) != protocol.size):
            raise malformed()
        rows = np.zeros(packed.shape[0], dtype=np.int64)
        table, reports = self.counts.reshape(1, -1), np.zeros(1, dtype=np.int64)
        _kernels.count_bits(packed, rows, self.counts.size, table, reports)
