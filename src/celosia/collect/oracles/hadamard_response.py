"""Hadamard response: a report is a place where the Hadamard row of the value is likely positive."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.count_mean import _kernels
from celosia.collect.oracles.pure import DomainProtocol, DomainServer, Floats, set_coin
from celosia.collect.protocol import BlanketShares, Client
from celosia.collect.reports import Packed, pack, unpack
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.numbers import whole
from celosia.core.randomness import Source

MOST_BLOCKS = 2**20


class _Moments(NamedTuple):
    """Of what one report adds to a value: +1 on its row, -1 on the rest of its block, else 0."""

    mean: float
    """Of a report with the value; that of all others is 0."""
    beside: float
    """The mean square of a report with a value of the same block."""
    beyond: float
    """The mean square of a report with a value of another block."""


def _power_of_two(blocks: Any) -> int:
    number = whole(blocks)
    if number is None or not 0 <= number <= MOST_BLOCKS or number & (number - 1):
        raise ValueError
    return number


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(DomainProtocol):
    """One of B blocks and a place in it, likely where the Hadamard row of the value is positive.

    Value x has row x // B + 1 of block x mod B. All rows of a block agree with each other in half
    of their places, so a fast Hadamard transform of each block gives all estimates at once. Reports
    are short and the server is fast; the variance is up to twice the optimum.

    Guarantee: epsilon-LDP for each report, between any two values of the domain: a place is
    e^epsilon times as likely by values whose row is positive there. The chance of the positive half
    is a multiple of 2^-32, rounded down. Every further report of a person costs as much.

    Reference: Acharya, Sun & Zhang 2019, "Hadamard Response: Estimating Distributions Privately,
    Efficiently, and with Little Communication".

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection.
        domain: all possible values, in an order that all devices share.
        blocks: B, a power of two; 0 takes the best one, about e^epsilon / 2.
    """

    method_name: ClassVar[str] = "hr"

    blocks: int = parameter(
        0, kind="whole", check=_power_of_two, most=MOST_BLOCKS, allowed="collect.allowed.blocks"
    )

    def check(self) -> None:
        """Take the best number of blocks where none is given."""
        super().check()
        object.__setattr__(self, "blocks", self.blocks or self._best())
        _ = self.coin

    def _best(self) -> int:
        found = []
        for power in range((len(self.values) - 1).bit_length() + 1):
            try:
                found.append((self._rare(1 << power), 1 << power))
            except InputError:  # too many blocks for so small an epsilon, and more are none better
                break
        return min(found)[1] if found else 1

    def _rare(self, blocks: int) -> float:
        mean, beside, beyond = self._moments(blocks)
        near = self._near(blocks)
        return (near * beside + (1 - near) * beyond) / mean**2

    def _near(self, blocks: int) -> float:
        """The share of other values that are in the block of a value, on average over values."""
        size = len(self.values)
        each, more = divmod(size, blocks)  # so many blocks have one value more than the others
        pairs = more * (each + 1) * each + (blocks - more) * each * (each - 1)
        return pairs / (size * (size - 1))

    def _coin(self, blocks: int) -> Coin:
        return set_coin(self.epsilon, 2 * blocks - 1)

    def _moments(self, blocks: int) -> _Moments:
        own = Fraction(self._coin(blocks).heads, WHOLE)
        half = (1 - own) / (2 * blocks - 1)  # each other half of a block
        return _Moments(float(own - half), float(own + half), float(2 * half))

    @cached_property
    def coin(self) -> Coin:
        """Chooses the positive half of the row."""
        return self._coin(self.blocks)

    @cached_property
    def width(self) -> int:
        """Places of a block: a power of two with a row for each of its values, but the first."""
        return 1 << (-(-len(self.values) // self.blocks)).bit_length()

    @property
    def blanket(self) -> BlanketShares:
        """Half of one of B blocks; values of other blocks share nothing."""
        both = Fraction(1, 4) if self.blocks == 1 else Fraction(0)
        return Fraction(1, 2 * self.blocks), both

    @property
    def report_bits(self) -> int:
        """Those of one place of one block."""
        return (self.blocks * self.width - 1).bit_length()

    def variance(
        self, users: int, *, count: float = 0, squares: float = 0, beside: float | None = None
    ) -> float:
        """Of the raw estimate of one value.

        Args:
            users: how many reports there are.
            count: how many of them have the value.
            squares: does not matter.
            beside: how many have another value of the same block; by default as many
                as if all other values were equally common.
        """
        near = (users - count) * self._near(self.blocks) if beside is None else beside
        return float(self._variance(count, near, users - count - near))

    def _variance(self, count: Any, near: Any, far: Any) -> Any:
        """From how many have the value, another one of its block, and one of another block."""
        mean, beside, beyond = self._moments(self.blocks)
        return (count * (beside - mean**2) + near * beside + far * beyond) / mean**2

    def client(self, *, rng: Source | None = None) -> HadamardClient:
        return HadamardClient(self, rng=rng)

    def server(self) -> HadamardServer:
        return HadamardServer(self, self.blocks * self.width)


def _parity(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.bitwise_count(numbers) & 1).astype(np.int64)


class HadamardClient(Client):
    """Sends places of blocks."""

    protocol: HadamardResponse

    def _encode(self, values: Any) -> Packed:
        protocol = self.protocol
        rows, blocks = np.divmod(protocol.values.places(values), protocol.blocks)
        rows = rows + 1
        kept = protocol.coin.toss(rows.size, self.rng)
        places = self.rng.integers(protocol.width, rows.size)
        # One of the 2 B - 1 other halves: 0 is that of the own block, then two for each other one.
        halves = self.rng.integers(2 * protocol.blocks - 1, rows.size)
        away = ~kept & (halves > 0)
        # Flipping the lowest bit of the row flips the sign: a bijection of both halves.
        wrong = _parity(rows & places) != (~kept).astype(np.int64)
        mended = np.where(wrong, places ^ (rows & -rows), places)
        others = (blocks + (halves + 1) // 2) % protocol.blocks
        block = np.where(away, others, blocks)
        place = np.where(away, places, mended)
        return pack([(block * protocol.width + place, protocol.report_bits)])


class HadamardServer(DomainServer):
    """Counts how often each place of each block was told."""

    protocol: HadamardResponse

    def _count(self, packed: Packed) -> None:
        (reported,) = unpack(packed, [self.protocol.report_bits])
        self.counts += np.bincount(reported, minlength=self.counts.size)

    def _estimate(self, candidates: tuple[Hashable, ...]) -> tuple[Floats, Floats]:
        protocol, users = self.protocol, self.users
        rows, blocks = np.divmod(protocol.values.places(candidates), protocol.blocks)
        table = self.counts.reshape(protocol.blocks, protocol.width).copy()
        for row in table:  # sums of at most `users` ones: nothing overflows
            _kernels.transform(row)
        mean, beside, beyond = protocol._moments(protocol.blocks)
        counts = table[blocks, rows + 1] / mean
        likely = np.clip(counts, 0, users)
        shares = np.full(protocol.blocks, float(users))
        if protocol.blocks > 1:
            shares = np.clip((table[:, 0] - users * beyond) / (beside - beyond), 0, users)
        near = np.maximum(0, shares[blocks] - likely)
        far = np.maximum(0, users - likely - near)
        return counts, np.sqrt(protocol._variance(likely, near, far))
