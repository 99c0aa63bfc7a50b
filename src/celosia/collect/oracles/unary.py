"""Unary encoding: a report is one noisy bit for each value of the domain."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.count_mean import _kernels
from celosia.collect.oracles import pure
from celosia.collect.protocol import BlanketShares, Client
from celosia.collect.reports import Packed, check_form
from celosia.core.numbers import exactly
from celosia.core.randomness import Source

_CHUNK = 2**24
"""Bits that are tossed at once."""


def many_tosses(coin: Coin, size: int, rng: Source) -> NDArray[np.bool_]:
    """As many tosses, from a byte each and three more where the first byte does not decide.

    A toss compares 32 random bits with the chance; the first eight decide it 255 times of 256.
    """
    top, rest = divmod(coin.heads, 2**24)
    first = np.frombuffer(rng.raw(size), dtype=np.uint8)
    found = first < np.uint8(top)
    open_ = np.flatnonzero(first == np.uint8(top))
    more = np.frombuffer(rng.raw(4 * open_.size), dtype=np.uint32) >> np.uint32(8)
    found[open_] = more < np.uint32(rest)
    return found


@dataclass(frozen=True, kw_only=True)
class _Unary(pure.DomainProtocol, pure.PureProtocol):
    @property
    @abstractmethod
    def one(self) -> Coin:
        """Sets the bit of the value."""

    @property
    @abstractmethod
    def zero(self) -> Coin:
        """Sets the bit of each other value."""

    @cached_property
    def support(self) -> pure.Support:
        """The chances that the bit of the value, and that of another one, is set."""
        return pure.Support(Fraction(self.one.heads, WHOLE), Fraction(self.zero.heads, WHOLE))

    @property
    def blanket(self) -> BlanketShares:
        """All bits as if of other values: the bit of a value is set by chance."""
        return self.support.other, self.support.other**2

    @property
    def report_bits(self) -> int:
        """One for each value."""
        return len(self.values)

    def client(self, *, rng: Source | None = None) -> UnaryClient:
        return UnaryClient(self, rng=rng)

    def server(self) -> UnaryServer:
        return UnaryServer(self, len(self.values))


@dataclass(frozen=True, kw_only=True)
class OptimisedUnary(_Unary):
    """The bit of the value is set with chance 1/2, each other one with 1 / (e^epsilon + 1).

    The optimum of unary encodings: a variance of 4 e^epsilon / (e^epsilon - 1)^2 for each report.

    Guarantee: epsilon-LDP for each report, between any two values of the domain. Two values differ
    in two bits; the ratio is (1/2) / q times (1 - q) / (1/2), with q rounded up to a multiple of
    2^-32. Every further report of a person costs as much.

    Reference: Wang, Blocki, Li & Jha 2017 (OUE).
    """

    method_name: ClassVar[str] = "oue"

    @property
    def one(self) -> Coin:
        """Fair."""
        return Coin(WHOLE // 2)

    @cached_property
    def zero(self) -> Coin:
        """Rarely shows 1; below one half for every epsilon that a report may have."""
        return Coin(ceil(WHOLE / (1 + pure.ratio_below(self.epsilon))))


@dataclass(frozen=True, kw_only=True)
class SymmetricUnary(_Unary):
    """Every bit is told truly with chance e^(epsilon/2) / (e^(epsilon/2) + 1).

    What basic RAPPOR does in one round; worse than `OptimisedUnary`, by 1.27 at an epsilon of 2.

    Guarantee: epsilon-LDP for each report, between any two values of the domain: two values differ
    in two bits, and each costs half. Every further report of a person costs as much.

    Reference: Erlingsson, Pihur & Korolova 2014; Wang, Blocki, Li & Jha 2017 (SUE).
    """

    method_name: ClassVar[str] = "sue"

    @cached_property
    def one(self) -> Coin:
        """Tells the truth at half of epsilon."""
        return Coin.truthful(exactly(self.epsilon) / 2)

    @property
    def zero(self) -> Coin:
        """Lies at half of epsilon."""
        return Coin(WHOLE - self.one.heads)


class UnaryClient(Client):
    """Sends a bit for each value of the domain."""

    protocol: _Unary

    def _encode(self, values: Any) -> Packed:
        places = self.protocol.values.places(values)
        size = self.protocol.report_bits
        made = np.empty((places.size, -(-size // 8)), dtype=np.uint8)
        rows = max(1, _CHUNK // size)
        for start in range(0, places.size, rows):
            here = places[start : start + rows]
            bits = many_tosses(self.protocol.zero, here.size * size, self.rng)
            bits = bits.reshape(here.size, size)
            bits[np.arange(here.size), here] = self.protocol.one.toss(here.size, self.rng)
            made[start : start + rows] = np.packbits(bits, axis=1, bitorder="little")
        return made


class UnaryServer(pure.DomainServer):
    """Counts how often each bit was set."""

    def _count(self, packed: Packed) -> None:
        check_form(packed, self.protocol.report_bits)
        rows = np.zeros(packed.shape[0], dtype=np.int64)
        reports = np.zeros(1, dtype=np.int64)
        table = self.counts.reshape(1, -1)
        _kernels.count_bits(packed, rows, self.counts.size, table, reports)
