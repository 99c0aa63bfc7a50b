"""The ladder mechanism: noise that follows the local sensitivity of the given graph."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.mechanisms.noise import DiscreteLaplace, draw_weighted


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The whole numbers on both sides of a count, in rungs of rising width.

    The count itself is rung 0; rung t holds the next `rungs[t - 1]` numbers on either side, and the
    last width goes on for ever. A number in rung t has a chance proportional to exp(-rate t).

    Let the width I_t of two neighbouring graphs G and H obey I_0(G) >= |f(G) - f(H)| and
    I_t(H) <= I_(t+1)(G). Then a number of rung t for one of them is of rung t + 1 at most for the
    other: it is within I_0(H) + the first t widths of G of f(H), which are at most the first t + 1
    widths of H. So with rate = epsilon / 2 this is the exponential mechanism for scores -t of
    sensitivity 1.

    Reference: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015, Def. 3.1 and Thm 4.2.
    """

    centre: int
    rungs: NDArray[np.int64]
    """Widths of at least 1, never falling, below 2**60."""

    def draw(self, rate: Fraction, rng: Source) -> int:
        """One number, exactly by its chance.

        Rung t weighs w_t exp(-rate t), where w_t = 1, 2 I_0, 2 I_1, ... never falls: it is the sum
        of the rises up to t. So first a rise is chosen, by its size times exp(-rate place), and
        then a geometric number of rungs above it. Both are exact, and the ladder has no end.
        """
        law = DiscreteLaplace(1 / rate)
        speed = 1 / law.scale  # a scale that had to be rounded up is the one of both draws
        rises = self._rises()
        start = draw_weighted(
            np.arange(rises.size, dtype=np.int64), rate=speed, weights=rises, rng=rng
        )
        rung = start + _geometric(law, rng)
        if rung == 0:
            return self.centre
        distance = self._below(rung) + 1 + int(rng.integers(self._width(rung), 1)[0])
        return self.centre + (distance if rng.integers(2, 1)[0] else -distance)

    def mass(self, point: int, rate: Fraction) -> float:
        """The chance of one number. It tells the graph: not for release."""
        distance, rung = abs(point - self.centre), 0
        while distance > 0:
            rung += 1
            distance -= self._width(rung)
        speed = float(rate)
        rises = self._rises()
        total = float(np.dot(rises, np.exp(-speed * np.arange(rises.size)))) / -expm1(-speed)
        return exp(-speed * rung) / total

    def _rises(self) -> NDArray[np.int64]:
        # In all twice the last width: below 2**61.
        return np.diff(np.concatenate([[1], 2 * self.rungs]), prepend=0)

    def _width(self, rung: int) -> int:
        return int(self.rungs[min(rung, self.rungs.size) - 1])

    def _below(self, rung: int) -> int:
        """How many numbers on one side are nearer than those of a rung."""
        inner = self.rungs[: rung - 1]
        beyond = max(0, rung - 1 - self.rungs.size) * int(self.rungs[-1])
        # In two halves, so that the sum cannot overflow.
        return (int((inner >> 30).sum()) << 30) + int((inner & (2**30 - 1)).sum()) + beyond


def _geometric(law: DiscreteLaplace, rng: Source) -> int:
    """A number k >= 0 with a chance proportional to exp(-k / scale), from a two-sided law."""
    while True:
        for number in law.draw(8, rng).tolist():
            if number >= 0:
                return int(number)
