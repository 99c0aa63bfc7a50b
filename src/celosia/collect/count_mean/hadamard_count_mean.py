"""Private Hadamard Count Mean Sketch: one sign of the transformed row, told by a coin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import Coin
from celosia.collect.count_mean.base import MOST_WIDTH, SketchProtocol, SketchServer
from celosia.collect.protocol import BlanketShares, Client
from celosia.collect.reports import Packed, bits_for, check_form, malformed
from celosia.collect.state import State
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.core.randomness import Source
from celosia.sketches.hashing import Digests, digests

Floats = NDArray[np.float64]
_BLOCK = 8192
"""Reports whose rows, columns and random words are held at a time."""


@dataclass(frozen=True, kw_only=True)
class HadamardCountMean(SketchProtocol):
    """Private Hadamard Count Mean Sketch: for known candidates, with reports of a few bytes.

    A client hashes its value as in `CountMean`, and sends a single sign of the Hadamard transform
    of its row, flipped by a coin; with it which row, and which place of the transform. The sign at
    place l of column h is (-1)^(bits set in l & h), so no matrix is ever built; the server counts
    signs and transforms its rows back when it is asked.

    Guarantee: a report is epsilon-differentially private for any two values of its sender: row and
    place are random, and the one sign is told with the whole epsilon. Repeated reports add up:
    nothing is memoised, so the lasting epsilon is infinite.

    Reference: Apple Differential Privacy Team 2017, "Learning with Privacy at Scale", algorithms
    HCMS. The sign is freed of bias with epsilon; with epsilon / 2, as for the bits of `CountMean`,
    estimates would be 1.65 times too large at an epsilon of 2.

    Args:
        epsilon: of one report.
        key: the name of the collection.
        hashes: rows of the sketch.
        width: columns of the sketch, a power of two.

    Raises:
        InputError: CEL-R010 too many cells, CEL-R011 the width is no power of two.

    >>> from celosia.core.randomness import Seeded
    >>> protocol = HadamardCountMean(epsilon=4, key="emoji")
    >>> protocol.report_bits
    21
    >>> reports = protocol.client(rng=Seeded(1)).privatise(["smile"] * 9000 + ["cry"] * 1000)
    >>> protocol.server().absorb(reports).estimate(["smile", "cry"]).counts.round().tolist()
    [8963.0, 1068.0]
    """

    method_name: ClassVar[str] = "hcms"

    width: int = parameter(1024, least=2, most=MOST_WIDTH)

    def check(self) -> None:
        """Refuse a width that has no Hadamard transform."""
        super().check()
        if self.width & (self.width - 1):
            raise InputError(
                "CEL-R011", width=self.width, bit_length=2 ** (self.width.bit_length() - 1)
            )

    @cached_property
    def coin(self) -> Coin:
        """Tells the truth about the sign."""
        return Coin.truthful(self.epsilon)

    @property
    def blanket(self) -> BlanketShares:
        """One of two signs; different columns have the same one at half of the places."""
        return Fraction(1, 2), Fraction(1, 4)

    @property
    def report_bits(self) -> int:
        """The sign, the row and the place."""
        return 1 + self.row_bits + bits_for(self.width)

    @property
    def shape(self) -> NDArray[np.int64]:
        """The bits of a row and of a place."""
        return np.array([self.row_bits, bits_for(self.width)], dtype=np.int64)

    def client(self, *, rng: Source | None = None) -> HadamardCountMeanClient:
        return HadamardCountMeanClient(self, rng=rng)

    def server(self) -> HadamardCountMeanServer:
        return HadamardCountMeanServer(self)

    def variances(self, users: int, count: Any, squares: Any, *, collisions: bool = True) -> Any:
        """As in the base; never below the number of users: one sign of many is told."""
        width, scale = self.width, self.debias**2
        inner = count * (scale - 1) + (users - count) * (scale - 1 / width**2)
        return self.debiased(inner, squares - (users - count) if collisions else 0)


class HadamardCountMeanClient(Client):
    """Tells one sign of the transform."""

    protocol: HadamardCountMean

    def _encode(self, values: Any) -> Packed:
        from celosia.collect.count_mean import _kernels

        protocol = self.protocol
        found = digests(values)
        made = np.empty((found.size, -(-protocol.report_bits // 8)), dtype=np.uint8)
        heads, shape = np.uint64(protocol.coin.heads), protocol.shape
        for start in range(0, found.size, _BLOCK):
            some = found[start : start + _BLOCK]
            rows = self.rng.integers(protocol.hashes, some.size)
            columns = protocol.family.columns_at(some, rows)
            stream = self.rng.words(some.size)
            _kernels.signs(stream, heads, rows, columns, shape, made[start : start + _BLOCK])
        return made


class HadamardCountMeanServer(SketchServer):
    """Adds up the signs of reports, by row and place."""

    protocol: HadamardCountMean

    def __init__(self, protocol: HadamardCountMean) -> None:
        super().__init__(protocol)
        self.signs = np.zeros((protocol.hashes, protocol.width), dtype=np.int64)

    def _count(self, packed: Packed) -> None:
        from celosia.collect.count_mean import _kernels

        protocol = self.protocol
        check_form(packed, protocol.report_bits)
        whole_bytes = np.ascontiguousarray(packed)
        if not _kernels.signs_fit(whole_bytes, protocol.shape, protocol.hashes):
            raise malformed()
        _kernels.count_signs(whole_bytes, protocol.shape, self.signs)

    def _state(self) -> State:
        return {"signs": self.signs}

    def sums_of(self, found: Digests) -> NDArray[np.int64]:
        """The sum of the transformed cells of each value, over all rows."""
        from celosia.collect.count_mean import _kernels

        family = self.protocol.family
        width = np.int64(family.width)
        return _kernels.gathered(self.signs, found, family.coefficients, width, True)

    def counts_from(self, sums: NDArray[np.int64]) -> Floats:
        users, width = self.users, self.protocol.width
        unbiased = self.protocol.debias * sums.astype(np.float64)
        return (unbiased - users / width) * (width / (width - 1))

    def cells(self) -> Floats:
        from celosia.collect.count_mean import _kernels

        rows = self.signs.copy()
        for row in rows:
            _kernels.transform(row)
        return self.protocol.debias * rows.astype(np.float64)

    def row_shares(self) -> Floats:
        """The share of all reports that each row has: the expected one, for it is not counted."""
        return np.full(self.protocol.hashes, 1 / self.protocol.hashes)

    def squares(self) -> float:
        """An estimate of the sum of the squared counts of all values, candidates or not.

        A transform keeps sums of squares (times the width), so no row is transformed for it. Each
        report's own square is put right: width times debias squared, where a true one has 1.
        """
        from celosia.collect.count_mean import _kernels

        protocol, users = self.protocol, self.users
        own = protocol.width * protocol.debias**2
        total = _kernels.squares(self.signs, np.zeros(protocol.hashes))
        return protocol.squares_from(own * (total - users) + users, users)
