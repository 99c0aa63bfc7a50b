"""Influence: the largest effect of one report, honest or forged, on an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.numbers.dbitflip import DBitFlip
from celosia.collect.oracles.pure import PureProtocol
from celosia.collect.protocol import Protocol
from celosia.core.messages import say
from celosia.core.methods import PlainValues, derived


@dataclass(frozen=True, slots=True)
class Influence(PlainValues):
    """How far one more report can move the raw estimate of a value, in counts.

    An honest report moves the estimate of its own value by 1 on average, whatever epsilon is: to
    free counts of bias, a server must weigh every report by more than 1, and who lies on purpose
    uses all of that weight. The smaller epsilon, the more one liar can do.
    """

    up: float
    down: float

    @property
    @derived
    def most(self) -> float:
        """By which a report that is replaced by the worst one can change an estimate."""
        return self.up + self.down

    def share(self, liars: float) -> float:
        """By which share of all reports an estimate can be wrong, with such a share of liars.

        >>> Influence(3.0, 1.0).share(0.01)
        0.04
        """
        return liars * self.most

    def __str__(self) -> str:
        return say("collect.summary.influence", up=self.up, down=self.down)


def influence(protocol: Protocol) -> Influence | None:
    """What one report can do to the raw estimate of any value; None where there is no such bound.

    Estimates of these protocols are sums over reports, so the bound is the largest term: it does
    not depend on other reports. Decoding that fits a regression (RAPPOR), or searches (unknown
    dictionaries), has no bound of this kind.

    Reference: Cheu, Smith, Ullman 2021, "Manipulation Attacks in Local Differential Privacy".

    >>> print(influence(HadamardCountMean(epsilon=4, hashes=1024, width=1024)))
    one report adds at most 1.04 and takes at most 1.04
    """
    if isinstance(protocol, PureProtocol):
        own, other = protocol.support.own, protocol.support.other
        return Influence(float((1 - other) / (own - other)), float(other / (own - other)))
    if isinstance(protocol, CountMean):
        width, weight = protocol.width, protocol.debias
        scale = width / (width - 1)
        return Influence(
            scale * ((weight + 1) / 2 - 1 / width), scale * ((weight - 1) / 2 + 1 / width)
        )
    if isinstance(protocol, HadamardCountMean):
        width, weight = protocol.width, protocol.debias
        scale = width / (width - 1)
        return Influence(scale * (weight - 1 / width), scale * (weight + 1 / width))
    if isinstance(protocol, DBitFlip):
        truth, share = protocol.coin.chance, protocol.buckets / protocol.bits
        return Influence(share * truth / (2 * truth - 1), share * (1 - truth) / (2 * truth - 1))
    return None
