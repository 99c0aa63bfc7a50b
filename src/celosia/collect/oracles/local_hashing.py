"""Local hashing: every report chooses a hash function, and randomises the bucket of its value.

The function of a seed s (32 bits) has the words a, b, c = SplitMix64(k + 3 s + 0, 1, 2), where k is
the digest of the key; on a value with the digest 2^32 u + v it is the upper 32 bits h of
(a + u)(b + v) + c modulo 2^64, and the bucket is floor(h g / 2^32). Pair-multiply-shift with random
words is pairwise independent (Thorup 2015, "High Speed Hashing for Integers and Strings"), so
another value falls into the same bucket with chance 1/g. Words of SplitMix64 are taken for random
ones; that concerns errors only, and privacy not at all.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.count_mean import _kernels
from celosia.collect.oracles import _kernels as _oracle_kernels
from celosia.collect.oracles import pure
from celosia.collect.protocol import BlanketShares, Client, Server
from celosia.collect.reports import Packed, bits_for, malformed, pack, unpack
from celosia.collect.state import State
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.numbers import whole
from celosia.core.randomness import Source
from celosia.sketches.hashing import HashFamily, digest, digests

SEED_BITS = 32
MOST_BUCKETS = 2**16
MOST_FUNCTIONS = 2**20
MOST_CELLS = 2**28
"""Of a server with a pool: 8 bytes each, at most 2 GiB."""
_MANY_PAIRS = 10**7
"""Pairs of reports and values from which on both cores count."""

_LOW, _32 = np.uint64(2**32 - 1), np.uint64(32)


def best_buckets(epsilon: float | Fraction) -> int:
    """The whole number of buckets next to e^epsilon + 1 with the least variance.

    >>> [best_buckets(epsilon) for epsilon in (0.5, 1, 2, 3, 4, 5)]
    [3, 4, 8, 21, 56, 149]
    """
    ratio = pure.ratio_below(epsilon)
    near = min(MOST_BUCKETS - 1, int(ratio) + 1)
    return min((near, near + 1), key=lambda size: (ratio + size - 1) ** 2 / (size - 1))


def _buckets(buckets: Any) -> int:
    number = whole(buckets)
    if number is None or (number != 0 and not 2 <= number <= MOST_BUCKETS):
        raise ValueError
    return number


@dataclass(frozen=True, kw_only=True)
class LocalHashing(pure.PureProtocol):
    """The value is hashed to one of g buckets, and the bucket told by k-ary randomised response.

    No domain is needed: whatever can be hashed can be asked about. By default every report has a
    hash function of its own, and the server keeps all reports (8 bytes each) and compares each
    with each candidate. With a `pool` the functions are shared: the server keeps one count for each
    function and bucket, and estimates need no reports; but values that collide do so for
    everybody, which adds (sum of the squared counts of the other values - their sum) /
    (pool (g - 1)) to the variance. It is part of `variance` and of standard errors, for which the
    squared counts are estimated from collisions of reports.

    Guarantee: epsilon-LDP for each report, between any two values whatsoever: the choice of the
    function does not depend on the value. Every further report of a person costs as much.

    Reference: Wang, Blocki, Li & Jha 2017 (OLH); Cormode, Maddock & Maple 2021 (the pool).

    Args:
        epsilon: of one report, for any two values of one person.
        key: the name of the collection; it decides all hash functions.
        buckets: g; 0 takes the best number.
        pool: how many functions are shared; 0 gives each report its own.

    Raises:
        InputError: CEL-R053 too many shared buckets.
    """

    method_name: ClassVar[str] = "olh"

    buckets: int = parameter(
        0, kind="whole", check=_buckets, most=MOST_BUCKETS, allowed="collect.allowed.buckets"
    )
    pool: int = parameter(0, least=0, most=MOST_FUNCTIONS)

    def check(self) -> None:
        """Take the best buckets where none are given; refuse a pool that no server can keep."""
        object.__setattr__(self, "buckets", self.buckets or best_buckets(self.epsilon))
        if self.buckets * self.pool > MOST_CELLS:
            raise InputError("CEL-R053", most_cells=MOST_CELLS)
        _ = self.coin

    @cached_property
    def coin(self) -> Coin:
        """Tells the true bucket."""
        return pure.set_coin(self.epsilon, self.buckets - 1)

    @cached_property
    def support(self) -> pure.Support:
        """The chances that the bucket told is that of the value, and that of another one."""
        return pure.Support(Fraction(self.coin.heads, WHOLE), Fraction(1, self.buckets))

    @property
    def blanket(self) -> BlanketShares:
        """One of g buckets; values that collide are hidden the better."""
        return Fraction(1, self.buckets), Fraction(0)

    @property
    def choice_bits(self) -> int:
        """Those that tell the hash function."""
        return bits_for(self.pool) if self.pool else SEED_BITS

    @property
    def report_bits(self) -> int:
        """Those of the function and of a bucket."""
        return self.choice_bits + bits_for(self.buckets)

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the raw estimate of one value; `squares` matters where functions are shared."""
        alone = super().variance(users, count=count)
        return alone + (self._together(users, count, squares) if self.pool else 0.0)

    def _together(self, users: int, count: Any, squares: Any) -> Any:
        return np.maximum(0, squares - (users - count)) / (self.pool * (self.buckets - 1))

    @cached_property
    def family(self) -> HashFamily:
        """The functions of the pool; 3-wise independent, as the variance of the pool assumes."""
        return HashFamily(key=f"{self.key}/olh".encode(), rows=self.pool, width=self.buckets)

    def functions(self, seeds: NDArray[np.int64]) -> list[NDArray[np.uint64]]:
        """The three words of each seed."""
        start = np.uint64(digest(self.key)) + np.uint64(3) * seeds.astype(np.uint64)
        return [digests(start + np.uint64(word)) for word in range(3)]  # SplitMix64 of each

    def client(self, *, rng: Source | None = None) -> HashingClient:
        return HashingClient(self, rng=rng)

    def server(self) -> Server:
        return PoolServer(self) if self.pool else HashingServer(self)


class HashingClient(Client):
    """Sends a hash function and a bucket."""

    protocol: LocalHashing

    def _encode(self, values: Any) -> Packed:
        protocol = self.protocol
        hashes = digests(values)
        if protocol.pool:
            choice = self.rng.integers(protocol.pool, hashes.size)
            places = protocol.family.columns_at(hashes, choice)
        else:
            choice = np.frombuffer(self.rng.raw(4 * hashes.size), dtype="<u4").astype(np.int64)
            first, second, third = protocol.functions(choice)
            found = _oracle_kernels.hashed(first, second, third, hashes >> _32, hashes & _LOW)
            places = (found * np.uint64(protocol.buckets) >> _32).astype(np.int64)
        steps = 1 + self.rng.integers(protocol.buckets - 1, places.size)
        kept = protocol.coin.toss(places.size, self.rng)
        reported = (places + np.where(kept, 0, steps)) % protocol.buckets
        return pack([(choice, protocol.choice_bits), (reported, bits_for(protocol.buckets))])


def _read(protocol: LocalHashing, reports: Packed) -> list[NDArray[np.int64]]:
    fields = unpack(reports, [protocol.choice_bits, bits_for(protocol.buckets)])
    limits = (protocol.pool or 2**SEED_BITS, protocol.buckets)
    if any(field.size and field.max() >= most for field, most in zip(fields, limits, strict=True)):
        raise malformed()
    return fields


class HashingServer(Server):
    """Keeps all reports: seed + 2^32 bucket, in rising order wherever they are shown."""

    protocol: LocalHashing

    def __init__(self, protocol: LocalHashing) -> None:
        super().__init__(protocol)
        self._parts: list[NDArray[np.int64]] = []

    def _count(self, packed: Packed) -> None:
        seeds, reported = _read(self.protocol, packed)
        self._parts.append(seeds + reported * 2**SEED_BITS)

    def _state(self) -> State:
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, dtype=np.int64), *self._parts])]
        self._parts[0].sort()
        return {"reports": self._parts[0]}

    def _fits(self, state: State) -> bool:
        found = state.get("reports")
        if found is None or len(state) > 1 or found.ndim != 1:
            return False
        most = self.protocol.buckets * 2**SEED_BITS
        return not found.size or (int(found.min()) >= 0 and int(found.max()) < most)

    def _add(self, users: int, state: State) -> None:
        reports = state["reports"]
        if reports.size != users:
            raise InputError("CEL-R006.reports")
        self._parts.append(reports.astype(np.int64))  # a copy, so both stay their own
        self.users += users

    def _estimate(self, candidates: tuple[Hashable, ...]) -> tuple[pure.Floats, pure.Floats]:
        supports = self._supports(digests(list(candidates)))
        return pure.unbiased_estimates(self.protocol.support, supports, self.users)

    def _supports(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        reports = self._state()["reports"]
        first, second, third = self.protocol.functions(reports & (2**SEED_BITS - 1))
        # Bucket y holds the hashes from ceil(2^32 y / g) on, up to the start of the next.
        starts = -(-np.arange(self.protocol.buckets + 1) * WHOLE // self.protocol.buckets)
        reported = reports >> SEED_BITS
        start, end = (starts[reported + step].astype(np.uint64) << _32 for step in (0, 1))
        parts = (first, second, third - start, end - start)  # modulo 2^64: the last end is 0
        high, low = hashes >> _32, hashes & _LOW
        cores = (os.cpu_count() or 1) if reports.size * hashes.size > _MANY_PAIRS else 1
        with ThreadPoolExecutor(cores) as workers:
            found = workers.map(
                lambda upper, lower: _oracle_kernels.supported(*parts, upper, lower),
                np.array_split(high, cores),
                np.array_split(low, cores),
            )
            return np.concatenate(list(found))


class PoolServer(Server):
    """Counts, for each shared function, how often each bucket was told."""

    protocol: LocalHashing

    def __init__(self, protocol: LocalHashing) -> None:
        super().__init__(protocol)
        self.counts = np.zeros((protocol.pool, protocol.buckets), dtype=np.int64)

    def _count(self, packed: Packed) -> None:
        rows, reported = _read(self.protocol, packed)
        cells = rows * self.protocol.buckets + reported
        self.counts += np.bincount(cells, minlength=self.counts.size).reshape(self.counts.shape)

    def _state(self) -> State:
        return {"counts": self.counts}

    def _estimate(self, candidates: tuple[Hashable, ...]) -> tuple[pure.Floats, pure.Floats]:
        protocol = self.protocol
        hashes = digests(list(candidates))
        width = np.int64(protocol.buckets)
        coefficients = protocol.family.coefficients
        supports = _kernels.gathered(self.counts, hashes, coefficients, width, False)
        counts, errors = pure.unbiased_estimates(protocol.support, supports, self.users)
        likely = np.clip(counts, 0, self.users)
        others = np.maximum(0, self.squares() - likely**2)
        return counts, np.sqrt(errors**2 + protocol._together(self.users, likely, others))

    def squares(self) -> float:
        """The sum of the squared counts of all values, from reports that tell the same bucket.

        Two reports of one function tell the same bucket with chance s = p^2 + (1 - p)^2 / (g - 1)
        where their values are the same, and with chance 1/g where they are not. So the share of
        such pairs is unbiased for 1/g + (s - 1/g) times the share of pairs with the same value.
        """
        rows = self.counts.sum(axis=1).astype(np.float64)
        pairs = float(rows @ (rows - 1))
        if not pairs:
            return float(self.users)
        cells = self.counts.astype(np.float64)
        met = float((cells * (cells - 1)).sum()) / pairs
        size, own = self.protocol.buckets, float(self.protocol.support.own)
        same = own**2 + (1 - own) ** 2 / (size - 1)
        share = min(1.0, max(0.0, (met - 1 / size) / (same - 1 / size)))
        return self.users + share * self.users * (self.users - 1)
