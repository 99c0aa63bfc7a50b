"""Private Count Mean Sketch: all bits of one row of a sketch, each told by a coin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.count_mean.base import SketchProtocol, SketchServer
from celosia.collect.protocol import BlanketShares, Client
from celosia.collect.reports import Packed, check_form, field_at, malformed
from celosia.collect.state import State
from celosia.core.numbers import exactly
from celosia.core.randomness import Source
from celosia.sketches.hashing import Digests, digests

Floats = NDArray[np.float64]
_BLOCK = 4096
"""Reports whose rows and columns are held at a time."""
_STREAM = 2**13
"""Random words that are held at a time."""


@dataclass(frozen=True, kw_only=True)
class CountMean(SketchProtocol):
    """Private Count Mean Sketch: for known candidates, where a report may have hundreds of bits.

    A client hashes its value by a random one of `hashes` functions to one of `width` columns, and
    sends the row as `width` bits, each of them flipped by a coin. The server counts bits; the mean
    over all rows, freed of bias, estimates how common a value is.

    Guarantee: a report is epsilon-differentially private for any two values of its sender: two rows
    differ in two bits at most, and each is told with epsilon / 2. Repeated reports add up: nothing
    is memoised, so the lasting epsilon is infinite. Assumes that the hash functions are public and
    that coins are the client's own.

    Reference: Apple Differential Privacy Team 2017, "Learning with Privacy at Scale", algorithms
    CMS; variance with the terms of collisions and of the sampled rows, exactly.

    Args:
        epsilon: of one report.
        key: the name of the collection.
        hashes: rows of the sketch.
        width: columns of the sketch, and bits of a report.

    >>> from celosia.core.randomness import Seeded
    >>> protocol = CountMean(epsilon=4, hashes=64, width=64, key="emoji")
    >>> reports = protocol.client(rng=Seeded(1)).privatise(["smile"] * 900 + ["cry"] * 100)
    >>> protocol.server().absorb(reports).estimate(["smile", "cry"]).counts.round().tolist()
    [911.0, 84.0]
    """

    method_name: ClassVar[str] = "cms"

    @cached_property
    def coin(self) -> Coin:
        """Tells the truth about one bit."""
        return Coin.truthful(exactly(self.epsilon) / 2)

    @property
    def noise(self) -> float:
        """The variance that the coins of one report add: 1 / (4 sinh^2(epsilon / 4))."""
        heads = self.coin.heads
        return float(Fraction(heads * (WHOLE - heads), (2 * heads - WHOLE) ** 2))

    @property
    def blanket(self) -> BlanketShares:
        """As of a unary encoding of columns; values that collide are hidden the better."""
        lie = 1 - Fraction(self.coin.heads, WHOLE)
        return lie, lie**2

    @property
    def report_bits(self) -> int:
        """As many as the sketch has columns, and the row."""
        return self.width + self.row_bits

    def client(self, *, rng: Source | None = None) -> CountMeanClient:
        return CountMeanClient(self, rng=rng)

    def server(self) -> CountMeanServer:
        return CountMeanServer(self)

    def variances(self, users: int, count: Any, squares: Any, *, collisions: bool = True) -> Any:
        """As in the base: coins, then the columns of other values."""
        width = self.width
        inner = users * self.noise + (1 / width) * (1 - 1 / width) * (users - count)
        return self.debiased(inner, squares - (users - count) if collisions else 0)


class CountMeanClient(Client):
    """Flips the bits of one row of the sketch."""

    protocol: CountMean

    def _encode(self, values: Any) -> Packed:
        return self.packed_digests(digests(values))

    def packed_digests(self, found: Digests) -> Packed:
        """One report for each digest of a value."""
        from celosia.collect.count_mean import _kernels

        protocol = self.protocol
        made = np.zeros((found.size, -(-protocol.report_bits // 8)), dtype=np.uint8)
        lies = np.uint64(WHOLE - protocol.coin.heads)
        groups = -(-protocol.width // 64)
        usual, most = groups * (_kernels.ROUNDS + 1), groups * _kernels.WORST
        stream = np.empty(0, dtype=np.uint64)
        for start in range(0, found.size, _BLOCK):
            some = found[start : start + _BLOCK]
            rows = self.rng.integers(protocol.hashes, some.size)
            columns = protocol.family.columns_at(some, rows)
            done = 0
            while done < some.size:
                wanted = most + min(_STREAM, usual * (some.size - done)) - stream.size
                stream = np.concatenate([stream, self.rng.words(max(0, wanted))])
                done, read = _kernels.flipped_bits(
                    stream, lies, rows, columns, protocol.width, done, made[start : start + _BLOCK]
                )
                stream = stream[read:]
        return made


class CountMeanServer(SketchServer):
    """Counts the bits of reports, and the reports of each row."""

    protocol: CountMean

    def __init__(self, protocol: CountMean) -> None:
        super().__init__(protocol)
        self.ones = np.zeros((protocol.hashes, protocol.width), dtype=np.int64)
        self.reports = np.zeros(protocol.hashes, dtype=np.int64)

    def _count(self, packed: Packed) -> None:
        self.add(packed, self.rows_of(packed))

    def rows_of(self, packed: Packed) -> NDArray[np.int64]:
        """The row of each report, or CEL-R001 where no client can have made one."""
        protocol = self.protocol
        check_form(packed, protocol.report_bits)
        rows = field_at(packed, protocol.width, protocol.row_bits)
        if rows.size and int(rows.max()) >= protocol.hashes:
            raise malformed()
        return rows

    def add(self, packed: Packed, rows: NDArray[np.int64]) -> None:
        """Count reports that are known to be well formed."""
        from celosia.collect.count_mean import _kernels

        whole_bytes = np.ascontiguousarray(packed)
        _kernels.count_bits(whole_bytes, rows, self.protocol.width, self.ones, self.reports)

    def _state(self) -> State:
        return {"ones": self.ones, "reports": self.reports}

    def sums_of(self, found: Digests) -> NDArray[np.int64]:
        """How many bits were set in the columns of a value, over all rows."""
        from celosia.collect.count_mean import _kernels

        family = self.protocol.family
        width = np.int64(family.width)
        return _kernels.gathered(self.ones, found, family.coefficients, width, False)

    def counts_from(self, sums: NDArray[np.int64]) -> Floats:
        users, width = self.users, self.protocol.width
        unbiased = self.protocol.debias * (sums.astype(np.float64) - users / 2) + users / 2
        return (unbiased - users / width) * (width / (width - 1))

    def cells(self) -> Floats:
        lies = self.reports.astype(np.float64) * (1 - self.protocol.coin.chance)
        return self.protocol.debias * (self.ones - lies[:, None])

    def row_shares(self) -> Floats:
        return self.reports.astype(np.float64) / max(1, self.users)

    def squares(self) -> float:
        """An estimate of the sum of the squared counts of all values, candidates or not.

        From the cells freed of bias, less the variance that coins add to each square.
        """
        from celosia.collect.count_mean import _kernels

        protocol = self.protocol
        means = self.reports.astype(np.float64) * (1 - protocol.coin.chance)
        total = _kernels.squares(self.ones, means) * protocol.debias**2
        cells = total - protocol.width * self.users * protocol.noise
        return protocol.squares_from(cells, self.users)
