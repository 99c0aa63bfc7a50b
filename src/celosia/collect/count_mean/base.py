"""The base of protocols over a sketch of hashed values: sizes, hash functions, collisions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.collect.coins import WHOLE, Coin
from celosia.collect.estimates import Estimates
from celosia.collect.protocol import Estimated, Protocol, Server
from celosia.collect.reports import bits_for
from celosia.core.errors import InputError
from celosia.core.methods import parameter
from celosia.sketches.hashing import Digests, HashFamily, digests

MOST_HASHES, MOST_WIDTH, MOST_CELLS = 2**20, 2**20, 2**28
"""A server keeps 8 bytes for each cell: at most 2 GiB."""


@dataclass(frozen=True, kw_only=True)
class SketchProtocol(Protocol):
    """A protocol whose server keeps `hashes` rows of `width` columns."""

    hashes: int = parameter(1024, least=1, most=MOST_HASHES)
    width: int = parameter(256, least=2, most=MOST_WIDTH)

    def check(self) -> None:
        """Refuse a sketch that no server can keep."""
        if self.hashes * self.width > MOST_CELLS:
            raise InputError("CEL-R010", most_cells=MOST_CELLS)

    @cached_property
    def family(self) -> HashFamily:
        """The hash functions, decided by the key; 3-wise independent, as the variance asks for."""
        return HashFamily(key=self.key.encode(), rows=self.hashes, width=self.width)

    @property
    def row_bits(self) -> int:
        """The bits that tell which hash function a report has used."""
        return bits_for(self.hashes)

    @property
    def collision_weight(self) -> float:
        """What the sum of the squared counts of other values adds to the variance, per unit.

        It does not shrink with the number of reports: hash functions are shared by all of them.
        """
        return (1 - 1 / self.width) / (self.hashes * self.width)

    def debiased(self, inner: Any, colliding: Any) -> Any:
        """A variance of counts before they are debiased, with the pairs that share a row, after."""
        width = self.width
        return (width / (width - 1)) ** 2 * (inner + self.collision_weight * colliding)

    def squares_from(self, cells: float, users: int) -> float:
        """The sum of the squared counts of all values, from that of the squared true cells.

        A cell of row i holds those reports of row i whose values have its column. Over rows and
        hash functions, the sum of squared cells has the mean
        n (1 - 1/k) + F (1 - 1/m) / k + n^2 / (k m), F the sum of squared counts: solved for F.
        """
        found = cells - users * (1 - 1 / self.hashes) - users**2 / (self.hashes * self.width)
        # Counts are whole numbers that add up to n: the sum of their squares is in n .. n^2.
        return min(max(found * self.hashes / (1 - 1 / self.width), users), users**2)

    @property
    @abstractmethod
    def coin(self) -> Coin:
        """Tells the truth about what a report holds of its row."""

    @property
    def debias(self) -> float:
        """One over the chance of the truth minus that of a lie."""
        return WHOLE / (2 * self.coin.heads - WHOLE)

    def variance(self, users: int, *, count: float = 0, squares: float = 0) -> float:
        """Of the raw estimate of one value, exactly, over coins, rows and hash functions.

        Args:
            users: how many reports there are.
            count: how many of them have the value.
            squares: the sum of the squared counts of all other values, for collisions.
        """
        return float(self.variances(users, count, squares))

    @abstractmethod
    def variances(self, users: int, count: Any, squares: Any, *, collisions: bool = True) -> Any:
        """As `variance`, for many values at once; without collisions where they were solved for."""


class SketchServer(Server):
    """Estimates from the cells of hashed values."""

    protocol: SketchProtocol

    def estimate(
        self, candidates: Sequence[Hashable], *, post: str = "raw", solve: bool = False
    ) -> Estimates:
        """How many reports have each candidate, with standard errors.

        Args:
            candidates: a public list: the values asked about.
            post: as in `Server.estimate`.
            solve: fit all candidates at once by least squares, which removes the error of their
                collisions. For lists that hold the common values; the rest counts as spread evenly.

        Raises:
            InputError: CEL-R005 there is no such post-processing, CEL-R009 a text in the place of a
                list, CEL-R018 too many candidates for their cells to tell them apart.
        """
        return self._answer(candidates, post, self._solved if solve else self._estimate)

    def _estimate(self, candidates: tuple[Hashable, ...]) -> Estimated:
        return self.estimated_digests(digests(list(candidates)))

    def estimated_digests(self, found: Digests) -> Estimated:
        """Raw counts of digests of values, and their standard errors."""
        counts = self.counts_from(self.sums_of(found))
        return counts, self.errors_of(counts)

    def _solved(self, candidates: tuple[Hashable, ...]) -> Estimated:

        protocol = self.protocol
        found = digests(list(candidates))
        counts = least_squares(self.cells(), self.row_shares(), found, protocol.family)
        # What is left is noise and sampled rows, spread over fewer cells than there are.
        free = 1 - (found.size + 1) / (protocol.hashes * protocol.width)
        likely = np.clip(counts, 0, self.users)
        spread = protocol.variances(self.users, likely, 0.0, collisions=False) / free
        # Values that are no candidates still collide with them. Their squared counts are those of
        # all values without those of the candidates (whose squares are too large by their noise),
        # and at most the square of how many reports there are of them.
        most = max(0.0, self.users - float(counts.sum())) ** 2
        others = self.squares() - float((counts**2 - spread).sum())
        scale = (protocol.width / (protocol.width - 1)) ** 2 * protocol.collision_weight
        return counts, np.sqrt(spread + scale * min(max(others, 0.0), most))

    def errors_of(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standard errors: counts are put in for themselves, other values as `squares` finds."""
        likely = np.clip(counts, 0, self.users)
        others = np.maximum(self.squares() - likely**2, 0)
        found: NDArray[np.float64] = np.sqrt(self.protocol.variances(self.users, likely, others))
        return found

    def error_of_none(self) -> float:
        """The standard error of the estimate of an absent value."""
        return sqrt(self.protocol.variance(self.users, squares=self.squares()))

    @abstractmethod
    def sums_of(self, found: Digests) -> NDArray[np.int64]:
        """The sum of the cells of each value, over all rows."""

    @abstractmethod
    def counts_from(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """Raw counts from those sums."""

    @abstractmethod
    def cells(self) -> NDArray[np.float64]:
        """How many reports of each row have each column, freed of bias."""

    @abstractmethod
    def row_shares(self) -> NDArray[np.float64]:
        """The share of all reports that each row has."""

    @abstractmethod
    def squares(self) -> float:
        """An estimate of the sum of the squared counts of all values, candidates or not."""


Floats = NDArray[np.float64]


def least_squares(cells: Floats, shares: Floats, digests: Digests, family: HashFamily) -> Floats:
    """Counts of digests whose cells come nearest to those of a sketch.

    A cell holds, of every value with its column, the share of its row; values that are no
    candidates count as spread evenly over all columns. Where the mean over rows takes collisions
    with other candidates for noise, this knows them.

    Reference: Fong & Saunders 2011, "LSMR: An Iterative Algorithm for Sparse Least-Squares
    Problems"; no matrix is built.

    Args:
        cells: estimated reports by row and column.
        shares: the share of all reports that each row has.
        digests: of the candidates.
        family: the hash functions of the rows.
    """
    from scipy.sparse.linalg import LinearOperator, lsmr

    from celosia.collect.count_mean import _kernels

    size = digests.size
    if size + 1 > cells.size / 2 or np.unique(digests).size < size:
        raise InputError("CEL-R018")
    known = (digests, family.coefficients, np.int64(family.width))
    even = np.repeat(shares / family.width, family.width)

    def filled(counts: Floats) -> Floats:
        flat = np.ascontiguousarray(counts).reshape(-1)
        found: Floats = _kernels.scattered(flat[:size], shares, *known).reshape(-1)
        return np.asarray(found + flat[size] * even)

    def gathered(residues: Floats) -> Floats:
        table = np.ascontiguousarray(residues).reshape(cells.shape)
        sums: Floats = _kernels.collected(table, shares, *known)
        return np.append(sums, even @ table.reshape(-1))

    shape = (cells.size, size + 1)
    system = LinearOperator(shape, matvec=filled, rmatvec=gathered, dtype=np.float64)
    found: Floats = lsmr(system, cells.reshape(-1), atol=1e-9, btol=1e-9, maxiter=500)[0]
    return found[:size]
