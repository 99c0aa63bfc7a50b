"""Remapping noisy places by a public prior, and the best kernel of a small map.

Both work on a few cells with a prior over them. A kernel is a matrix: the chance of each output for
each true cell. Remapping an output is post-processing and free, if the prior is public or private
in its own right.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

Matrix = NDArray[np.float64]

MOST_CELLS = 49
"""Cells of a map for which the linear programme is solved: n^2 (n - 1) constraints."""

ROUNDING = 2**40
"""Chances of a checked kernel are whole multiples of 1 / ROUNDING."""


def check_prior(prior: Any, cells: int) -> Matrix:
    """A prior over cells.

    Raises:
        InputError: CEL-J008 it is none.
    """
    found = np.asarray(prior, dtype=np.float64)
    if found.shape != (cells,) or not np.isfinite(found).all() or (found < 0).any():
        raise InputError("CEL-J008.numbers", cells=cells)
    if abs(float(found.sum()) - 1) > 1e-9:
        raise InputError("CEL-J008.sum")
    return found


def distances(places: Matrix) -> Matrix:
    """Metres between any two cells, given their coordinates as rows."""
    apart = places[:, None, :] - places[None, :, :]
    found: Matrix = np.sqrt((apart**2).sum(axis=2))
    return found


def clamped_kernel(width: int, height: int, rate: float, *, reach: int | None = None) -> Matrix:
    """The kernel of planar Laplace noise on a map of cells, outputs moved to the nearest cell."""
    reach = int(45 / rate) + 1 if reach is None else reach
    offsets = np.arange(-reach, reach + 1)
    radius = np.sqrt(offsets[:, None] ** 2.0 + offsets[None, :] ** 2.0)
    weight = np.exp(-rate * radius)
    weight /= weight.sum()
    kernel = np.zeros((width * height, width * height))
    for cell in range(width * height):
        x = np.clip(cell % width + offsets, 0, width - 1)
        y = np.clip(cell // width + offsets, 0, height - 1)
        np.add.at(kernel[cell], (y[:, None] * width + x[None, :]).ravel(), weight.ravel())
    return kernel


def expected_error(kernel: Matrix, prior: Matrix, apart: Matrix) -> float:
    """The mean distance between a true cell and its output, in metres."""
    return float((prior[:, None] * kernel * apart).sum())


def remap(kernel: Matrix, prior: Matrix, apart: Matrix) -> NDArray[np.int64]:
    """For each output, the cell with the least mean distance to the true one.

    Never raises the expected error: an output may stay what it is.

    Reference: Chatzikokolakis, ElSalamouny, Palamidessi 2017.
    """
    check_prior(prior, kernel.shape[0])
    # cost[z, z'] = sum over x of prior(x) K(x, z) d(x, z')
    cost = (prior[:, None] * kernel).T @ apart
    best = cost.argmin(axis=1)
    own = np.arange(best.size)
    return np.where(cost[own, best] < cost[own, own], best, own).astype(np.int64)


def remapped(kernel: Matrix, moves: NDArray[np.int64]) -> Matrix:
    """The kernel after its outputs are moved."""
    found = np.zeros_like(kernel)
    np.add.at(found.T, moves, kernel.T)
    return found


@dataclass(frozen=True, eq=False)
class OptimalKernel:
    """The kernel of least expected error among all that keep the promise on a small map.

    A linear programme over n^2 chances, solved by HiGHS. The solution is rounded to rationals and
    every constraint is checked on them; where one fails, the kernel is mixed with the uniform one
    until all hold, so that the promise is exact.

    Reference: Bordenabe, Chatzikokolakis, Palamidessi 2014.
    """

    kernel: tuple[tuple[Fraction, ...], ...]
    prior: Matrix
    apart: Matrix
    mixed: Fraction
    """The share of the uniform kernel that was mixed in."""

    @classmethod
    def solve(cls, places: Matrix, prior: Any, epsilon: float) -> OptimalKernel:
        """The best kernel for cells at `places` (metres) with a rate for each metre.

        Raises:
            InputError: CEL-J008 the prior is none; CEL-J009 too many cells.
        """
        cells = len(places)
        if not 2 <= cells <= MOST_CELLS:
            raise InputError("CEL-J009.cells", cells=cells, most=MOST_CELLS)
        weights, apart = check_prior(prior, cells), distances(places)
        solution = _programme(weights, apart, epsilon)
        return _checked(solution, weights, apart, epsilon)

    @property
    def error(self) -> float:
        """The expected error, in metres."""
        matrix = np.array([[float(each) for each in row] for row in self.kernel])
        return expected_error(matrix, self.prior, self.apart)


def _programme(prior: Matrix, apart: Matrix, epsilon: float) -> Matrix:
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    cells = prior.size
    first, second = np.nonzero(~np.eye(cells, dtype=bool))
    pairs = first.size
    outputs = np.arange(cells)
    # K(x, z) - exp(epsilon d(x, x')) K(x', z) <= 0 for every pair and output.
    rows = np.repeat(np.arange(pairs * cells), 2)
    columns = np.stack(
        [
            (first[:, None] * cells + outputs).ravel(),
            (second[:, None] * cells + outputs).ravel(),
        ],
        axis=1,
    ).ravel()
    factor = np.repeat(np.exp(epsilon * apart[first, second]), cells)
    values = np.stack([np.ones(pairs * cells), -factor], axis=1).ravel()
    bounds = coo_array((values, (rows, columns)), shape=(pairs * cells, cells * cells))
    sums = coo_array(
        (np.ones(cells * cells), (np.repeat(outputs, cells), np.arange(cells * cells))),
        shape=(cells, cells * cells),
    )
    found = linprog(
        (prior[:, None] * apart).ravel(),
        A_ub=bounds.tocsr(),
        b_ub=np.zeros(pairs * cells),
        A_eq=sums.tocsr(),
        b_eq=np.ones(cells),
        method="highs",
    )
    if found.x is None:
        raise InputError("CEL-J009.unsolved")
    solution: Matrix = np.clip(found.x.reshape(cells, cells), 0, None)
    return solution


def _checked(solution: Matrix, prior: Matrix, apart: Matrix, epsilon: float) -> OptimalKernel:
    """Rounded to rationals whose rows sum to 1 and which keep every constraint."""
    cells = prior.size
    rows = []
    for row in solution / solution.sum(axis=1, keepdims=True):
        parts = np.floor(row * ROUNDING).astype(np.int64)
        parts[int(row.argmax())] += ROUNDING - int(parts.sum())
        rows.append([Fraction(int(part), ROUNDING) for part in parts])
    # Rounded down, so that what holds for these factors holds for the true ones.
    factor = [
        [Fraction(int(exp(epsilon * each) * (1 - 1e-12) * 2**40), 2**40) for each in row]
        for row in apart
    ]
    uniform = Fraction(1, cells)
    mixed = Fraction(0)
    for attempt in range(40):
        kernel = [[(1 - mixed) * each + mixed * uniform for each in row] for row in rows]
        if _holds(kernel, factor):
            return OptimalKernel(tuple(map(tuple, kernel)), prior, apart, mixed)
        mixed = Fraction(1, 2**30) * 2**attempt
        if mixed > 1:
            mixed = Fraction(1)
    raise InputError("CEL-J009.unsolved")


def _holds(kernel: list[list[Fraction]], factor: list[list[Fraction]]) -> bool:
    cells = range(len(kernel))
    return all(
        kernel[x][z] <= factor[x][other] * kernel[other][z]
        for x in cells
        for other in cells
        if x != other
        for z in cells
    )
