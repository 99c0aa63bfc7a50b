"""The exact distribution of a client's report: every outcome of every draw, with its chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.oracles.subset_selection import SubsetSelection
from celosia.collect.protocol import Protocol
from celosia.core.randomness import Source


class Tape(Source):
    """Gives the outcomes that stand on a tape, and 0 beyond; notes options and chances.

    Coins are told apart by the order in which they are tossed. The first `seeds` words of four
    bytes, where there are any, are seeds.
    """

    simulation = True

    def __init__(
        self, script: list[int], coins: Sequence[Coin], seeds: int, subset: tuple[int, int]
    ):
        self.script, self.coins, self.seeds, self.subset = script, list(coins), seeds, subset
        self.options: list[int] = []
        self.chance = Fraction(1)
        self.last_toss = False

    def _choose(self, options: int) -> int:
        place = len(self.options)
        self.options.append(options)
        return self.script[place] if place < len(self.script) else 0

    def _toss(self) -> bool:
        coin = self.coins.pop(0)
        self.last_toss = self._choose(2) == 0
        heads = Fraction(coin.heads, WHOLE)
        self.chance *= heads if self.last_toss else 1 - heads
        return self.last_toss

    def raw(self, count: int) -> bytes:
        if count == 4 and self.seeds:
            chosen = self._choose(self.seeds)
            self.chance /= self.seeds
            self.seeds = 0
            return (chosen * 2654435761 % 2**32).to_bytes(4, "little")
        if count == 4:
            return b"\x00" * 4 if self._toss() else b"\xff" * 4
        return bytes(0 if self._toss() else 255 for _ in range(count))

    def integers(self, bound: int, size: int) -> NDArray[np.int64]:
        self.chance /= bound**size
        return np.array([self._choose(bound) for _ in range(size)], dtype=np.int64)

    def words(self, count: int) -> NDArray[np.uint64]:
        values, size = self.subset
        drawn = size - self.last_toss
        made = np.zeros(count, dtype=np.uint64)
        for place, bound in enumerate(range(values - drawn, values)):
            self.chance /= bound
            made[place] = 8 * bound + self._choose(bound)  # beyond the words that are refused
        return made


def distribution(
    protocol: Protocol, value: Any, coins: Sequence[Coin], *, seeds: int = 0
) -> dict[bytes, Fraction]:
    """The chance of each report of a value."""
    subset = (0, 0)
    if isinstance(protocol, SubsetSelection):
        subset = (len(protocol.values), protocol.size)
    found: dict[bytes, Fraction] = defaultdict(Fraction)
    script: list[int] = []
    while True:
        tape = Tape(script, coins, seeds, subset)
        report = protocol.client(rng=tape).privatise([value])
        found[report.packed.tobytes()] += tape.chance
        script = (script + [0] * len(tape.options))[: len(tape.options)]
        while script and script[-1] == tape.options[len(script) - 1] - 1:
            script.pop()
        if not script:
            return dict(found)
        script[-1] += 1
