"""What reports have in common whatever their values are: the privacy blanket of a randomiser.

The blanket of a randomiser R is the part that all values share: with chance g a report is drawn
from one law w, because R_x >= g w for every value x. Among shuffled reports the changed one hides
behind those of the blanket. All that the bound needs is the joint law of a = R_x(W) / (g w(W)) and
b = R_x'(W) / (g w(W)), W ~ w, for the two values x and x' that are hidden worst.

Reference: Balle, Bell, Gascon & Nissim 2019, "The Privacy Blanket of the Shuffle Model", lemma 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb, exp

MOST_LEVELS = 256
"""Different likelihoods of one report at most; there are as many squared of two values together."""
LARGEST = 1e100
"""A likelihood beyond it is that of a report that hides nothing."""
SLACK = 2.0**-44
"""By which likelihoods are moved apart, relative to each: more than rounding moves them."""


@dataclass(frozen=True, slots=True)
class Blanket:
    """The joint law of the likelihoods of two values under the blanket.

    >>> Blanket.of_two_levels(1.0, hits=0.5).share
    0.5378828427399902
    """

    outcomes: tuple[tuple[float, float, float], ...] = field(repr=False)
    """Chances, and the likelihoods a and b; the chances add up to the share of the blanket."""
    is_two_levels: bool = False

    @property
    def share(self) -> float:
        """The chance that a report is of the blanket."""
        return sum(chance for chance, _, _ in self.outcomes)

    @classmethod
    def of_two_levels(cls, local: float, *, hits: float, overlap: float = 0.0) -> Blanket:
        """That of a randomiser whose outcomes are likely by a value, or e^local times less so.

        Args:
            local: the local epsilon.
            hits: the share of the blanket that one value makes likelier.
            overlap: the share that two values make likelier, or less.
        """
        ratio = exp(local)
        share = 1 / (1 + hits * (ratio - 1))
        one = max(0.0, hits - overlap)
        none = max(0.0, 1 - 2 * hits + overlap)
        levels = ((one, ratio, 1.0), (one, 1.0, ratio), (overlap, ratio, ratio), (none, 1.0, 1.0))
        return cls(tuple((share * chance, a, b) for chance, a, b in levels), is_two_levels=True)

    @classmethod
    def of_own_bits(cls, bits: Iterable[OwnBits]) -> Blanket | None:
        """That of independent bits, of which those of the value itself have another chance.

        None where a value has so many bits that the law is too large to be worked out.

        A report of value x is base(y) prod r(y_i) over its own bits i, r = P(y | own) / P(y |
        other). With l = min r, every report is at least base(y) l^h, so g = l^h, w = base and
        a = (r / l)^K, where K ~ Bin(h, chance of the larger r under base). Bits that two values
        share, and bits that a value lacks because its hashes collide, only help; see the proof.
        """
        levels = [(1.0, 1.0)]
        share = 1.0
        for each in bits:
            count, chance, ratio, lowest = each.levels
            largest = levels[-1][1]
            if len(levels) * (count + 1) > MOST_LEVELS or ratio > (LARGEST / largest) ** (
                1 / count
            ):
                return None
            own = [
                (comb(count, at) * chance**at * (1 - chance) ** (count - at), ratio**at)
                for at in range(count + 1)
            ]
            levels = [(p * q, a * b) for p, a in levels for q, b in own]
            share *= lowest**count
        return cls(
            tuple(
                (share * one * other, _more(a), _less(b))
                for one, a in levels
                for other, b in levels
            )
        )

    @classmethod
    def of_drawn_bits(cls, *, truth: Fraction, bits: int, buckets: int) -> Blanket:
        """That of a device that draws buckets, and says of each with a coin if its value is there.

        The least likelihood over all values is that of a value whose bucket was drawn and was
        answered with 0, where there is such a bucket; where all answers are 1 it is that of a value
        whose bucket was not drawn, or of any where all are.

        Args:
            truth: the chance of a true answer.
            bits: how many buckets are drawn.
            buckets: of how many.
        """
        chance = 1 - truth  # of a 1 where the value is not there
        high, low = truth / chance, chance / truth
        every = high if bits == buckets else Fraction(1)
        pairs = buckets * (buckets - 1)
        drawn = {
            (True, True): Fraction(bits * (bits - 1), pairs),
            (True, False): Fraction(bits * (buckets - bits), pairs),
            (False, True): Fraction(bits * (buckets - bits), pairs),
            (False, False): Fraction((buckets - bits) * (buckets - bits - 1), pairs),
        }
        outcomes = []
        for (has_one, has_other), often in drawn.items():
            rest = bits - has_one - has_other
            if not often:
                continue
            for one in (0, 1) if has_one else (None,):
                for other in (0, 1) if has_other else (None,):
                    seen = [each for each in (one, other) if each is not None]
                    mass = float(often)
                    for each in seen:
                        mass *= float(chance if each else truth)
                    ones = float(chance) ** rest  # all other answers are 1
                    for whole, share in ((True, ones), (False, 1 - ones)):
                        least = every if whole and all(seen) else low
                        if whole or rest:
                            a, b = (_ratio(each, high, low) / least for each in (one, other))
                            weight = mass * share * float(least)
                            outcomes.append((weight, _more(float(a)), _less(float(b))))
        return cls(tuple(outcomes))


@dataclass(frozen=True, slots=True)
class OwnBits:
    """Bits that a value has for its own in a report: other ones are sent by another chance."""

    own: Fraction
    """The chance of a 1 where the bit is one of the value's own."""
    other: Fraction
    """The chance of a 1 where it is not."""
    count: int = 1

    @property
    def levels(self) -> tuple[int, float, float, float]:
        """How many, the chance of the likelier answer, by how much, and the least likelihood."""
        ones, zeros = self.own / self.other, (1 - self.own) / (1 - self.other)
        chance = self.other if ones > zeros else 1 - self.other
        return (
            self.count,
            float(chance),
            float(max(ones, zeros) / min(ones, zeros)),
            float(min(ones, zeros)),
        )


def _ratio(answer: int | None, high: Fraction, low: Fraction) -> Fraction:
    if answer is None:
        return Fraction(1)
    return high if answer else low


def _more(likelihood: float) -> float:
    return likelihood * (1 + SLACK)


def _less(likelihood: float) -> float:
    return likelihood * (1 - SLACK)
