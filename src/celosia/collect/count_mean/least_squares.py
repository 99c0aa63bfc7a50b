"""Least squares over all cells of a sketch: counts without the error of collisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.sketches.hashing import Digests, HashFamily

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

    Raises:
        InputError: CEL-R018 there are more than half as many candidates as cells, or a candidate
            is there twice.
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
