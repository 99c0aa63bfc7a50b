"""How many different values there are, from reports that protect each of them.

Different values cannot be counted in general from such reports: where each report is epsilon-LDP
and sent without waiting for others, the error of every method is in the order of the number of
users (Chen, Ghazi, Kumar & Manurangsi 2021, "On Distributed Differential Privacy and Counting
Distinct Elements", for any constant epsilon). A value of a single device hides in the noise, as it
must. What can be estimated is the number of values that at least a given number of devices have;
the least such number follows from epsilon and the number of reports, and anything below is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from functools import cached_property
from math import erfc, exp, floor, log, sqrt
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from celosia.collect.oracles.pure import Floats
from celosia.collect.oracles.unary import OptimisedUnary
from celosia.collect.protocol import BlanketShares, Client, Protocol, Server
from celosia.collect.reports import Packed
from celosia.collect.state import State
from celosia.core.errors import InputError, QueryRefused
from celosia.core.messages import say_of
from celosia.core.methods import parameter
from celosia.core.numbers import whole
from celosia.core.randomness import Source
from celosia.mechanisms.parameters import check_confidence
from celosia.sketches.hashing import HashFamily, digests

LEAST_BUCKETS, MOST_BUCKETS = 16, 2**17
APART = 1.6448536269514722
"""Standard errors between an empty bucket and the cut, and between the cut and one with `least`
reports: each is mistaken for the other with a chance of at most 0.05."""
FEWEST_EMPTY = 5


@dataclass(frozen=True, slots=True)
class CardinalityEstimate:
    """How many different values at least `least` devices have.

    The count is raw: by chance it can be a little below 0 where there are next to none.
    """

    count: float
    error: float
    """The standard error: of hashing into buckets, and of mistaken buckets."""
    bias: float
    """The most that the expectation can be beside the truth, as far as values have either no
    device or at least `least` of them."""
    least: int
    users: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Below and above the count, by the normal law, and the bias on both sides."""
        missed = (1 - check_confidence(confidence)) / 2
        reach = self.bias - NormalDist().inv_cdf(missed) * self.error
        return self.count - reach, self.count + reach

    def as_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        low, high = self.interval(confidence)
        return asdict(self) | {"confidence": confidence, "low": low, "high": high}

    def __str__(self) -> str:
        return say_of("collect.summary.cardinality", self)


@dataclass(frozen=True, kw_only=True)
class PrivateCardinality(Protocol):
    """Linear counting on private counts of buckets.

    A value is hashed to one of m buckets, and the bucket reported by optimised unary encoding, a
    noisy bit for each. The server estimates how many reports each bucket has, and takes those above
    a cut for filled. Bits of a report are independent, so buckets are mistaken independently;
    shorter reports, of points or of hash functions, would mistake many buckets together.

    Proof of the estimate. Let each value be of no device or of at least `least` devices. The
    support of an empty bucket is binomial, so the chance a that it is above the cut is known
    exactly. A filled bucket has at least `least` reports, so it is below the cut with a chance of
    at most b, that of `least` reports, as supports only grow with reports. With E empty buckets the
    number of those above the cut has the expectation E a + (m - E)(1 - b'), 0 <= b' <= b; solving
    for E with b' = b/2 gives an estimate whose expectation is off by at most (m - E)(b/2) / (1 - a
    - b). D values leave m (1 - 1/m)^D buckets empty on average, so D = ln(E / m) / ln(1 - 1/m); its
    variance is m (e^t - t - 1), t = D/m (Whang, Vander-Zanden & Taylor 1990), plus that of mistaken
    buckets, (E a (1 - a) + (m - E) b (1 - b)) / (1 - a - b)^2 times (m / E)^2. The small bias of
    the logarithm, (e^t - t - 1) / 2 and its share of the latter, is taken off. Values of fewer than
    `least` devices can only raise the number, up to all values that there are.

    Guarantee: epsilon-LDP for each report, between any two values. Every further report of a person
    costs as much.

    Reference: as above, and Wang et al. 2017 for the reports.

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection; it decides the hash function.
        buckets: m; about as many as values are expected, or more.
    """

    method_name: ClassVar[str] = "cardinality"

    buckets: int = parameter(1024, least=LEAST_BUCKETS, most=MOST_BUCKETS)

    def check(self) -> None:
        """Refuse what the reports of buckets refuse."""
        _ = self.oracle

    @cached_property
    def oracle(self) -> OptimisedUnary:
        """What reports buckets."""
        key = hashlib.blake2b(f"{self.key}/buckets".encode(), digest_size=16).hexdigest()
        return OptimisedUnary(epsilon=self.epsilon, key=key, domain=tuple(range(self.buckets)))

    @cached_property
    def family(self) -> HashFamily:
        """The hash function."""
        return HashFamily(key=f"{self.key}/values".encode(), rows=1, width=self.buckets)

    @property
    def blanket(self) -> BlanketShares:
        """That of the oracle; values of one bucket are hidden the better."""
        return self.oracle.blanket

    @property
    def report_bits(self) -> int:
        """One for each bucket."""
        return self.oracle.report_bits

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the estimated count of a bucket."""
        return self.oracle.variance(users, count=count)

    def apart(self, users: int, least: int) -> float:
        """Standard errors from an empty bucket to the cut, and from there to `least` reports."""
        empty, filled = (sqrt(self.variance(users, count=count)) for count in (0, least))
        return least / max(empty + filled, 1e-300)

    def least_devices(self, users: int) -> int:
        """The fewest devices of a value that these reports can distinguish from none.

        >>> PrivateCardinality(epsilon=2).least_devices(1_000_000)
        2802
        """
        low, high = 0, max(1, users)
        while high - low > 1:  # `apart` grows with the devices
            middle = (low + high) // 2
            low, high = (low, middle) if self.apart(users, middle) >= APART else (middle, high)
        return high

    def client(self, *, rng: Source | None = None) -> CardinalityClient:
        return CardinalityClient(self, rng=rng)

    def server(self) -> CardinalityServer:
        return CardinalityServer(self)


class CardinalityClient(Client):
    """Sends a private bucket."""

    protocol: PrivateCardinality

    def _encode(self, values: Any) -> Packed:
        buckets = self.protocol.family.columns(digests(values), 0)
        return self.protocol.oracle.client(rng=self.rng).privatise(buckets).packed


class CardinalityServer(Server):
    """Counts the bits of buckets; `cardinality` tells how many values there are."""

    protocol: PrivateCardinality

    def __init__(self, protocol: PrivateCardinality) -> None:
        super().__init__(protocol)
        self._buckets = protocol.oracle.server()

    def _count(self, packed: Packed) -> None:
        self._buckets._count(packed)

    def _state(self) -> State:
        return self._buckets._state()

    def _estimate(self, candidates: tuple[Hashable, ...]) -> tuple[Floats, Floats]:
        raise InputError("CEL-R061")

    def summary(self) -> CardinalityEstimate:
        """As `cardinality`, of the fewest devices that can be told from none."""
        return self.cardinality()

    def cardinality(self, *, least: int | None = None) -> CardinalityEstimate:
        """How many different values at least `least` devices have.

        Args:
            least: devices; by default the fewest that can be told from none.

        Raises:
            QueryRefused: CEL-R062 too many buckets are filled; CEL-R063 fewer devices than can be
                told from none.
        """
        from scipy.special import betainc

        protocol, users = self.protocol, self.users
        fewest = protocol.least_devices(users)
        threshold = fewest if least is None else whole(least)
        apart = protocol.apart(users, threshold) if threshold is not None and threshold > 0 else 0.0
        if threshold is None or apart < APART:
            raise QueryRefused("CEL-R063", users=users, fewest=fewest)
        support = protocol.oracle.support
        supports = self._buckets._supports()
        empty_error = sqrt(protocol.variance(users))
        slope = float(support.own - support.other)
        cut = floor(users * float(support.other) + slope * apart * empty_error)
        above = int(np.count_nonzero(supports > cut))
        # The chance that a binomial count is above the cut, as a regularised beta function.
        false = float(betainc(cut + 1, max(1, users - cut), float(support.other)))
        missed = erfc(apart / sqrt(2)) / 2
        count, error = self._counted(above, false, missed / 2)
        ends = [self._counted(above, false, each)[0] for each in (0.0, missed)]
        return CardinalityEstimate(count, error, abs(ends[1] - ends[0]) / 2, threshold, users)

    def _counted(self, above: int, false: float, missed: float) -> tuple[float, float]:
        """The number of values and its standard error, from how many buckets are above the cut."""
        size = self.protocol.buckets
        sure = 1 - false - missed
        empty = (size * (1 - missed) - above) / sure
        if empty < FEWEST_EMPTY:
            raise QueryRefused("CEL-R062")
        count = log(empty / size) / log(1 - 1 / size)
        load = count / size
        hashing = size * (exp(load) - load - 1)
        filled = max(0.0, size - empty)
        mistaken = empty * false * (1 - false) + filled * missed * (1 - missed)
        mistakes = mistaken / (sure * empty / size) ** 2
        # ln(E) is curved: its mean is off by half the variance of E over E^2.
        off = (hashing + mistakes) / (2 * size)
        return count - off, sqrt(hashing + mistakes)
