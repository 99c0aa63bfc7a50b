"""The filled cells of columns, and their means and covariances: read, and put back when masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.tables.masking.method import categories, cells

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


def check_varied(values: NDArray[np.generic], column: str, method: str) -> None:
    """Refuse a column whose filled cells hold fewer than two different values."""
    if values.size == 0 or values.min() == values.max():
        key = "CEL-V202.empty" if values.size == 0 else "CEL-V202.one_value"
        raise InputError(key, method=method, column=column)


def filled_cells(matrix: Matrix, place: int) -> Rows:
    """The rows whose cell in a column is not empty."""
    return np.flatnonzero(~np.isnan(matrix[:, place]))


def too_large(column: str, method: str) -> InputError:
    """The error for numbers whose squares or sums leave the range of their type."""
    return InputError("CEL-V203.too_large", method=method, column=column)


def ordered_cells(
    frame: pl.DataFrame, column: str, order: Sequence[str], method: str
) -> tuple[Rows, NDArray[np.generic]]:
    """The rows of the filled cells of a column, and numbers that sort as their values do.

    Numbers, dates, times and truth values have an order of their own, and so have enumerations;
    other texts need `order`, from least to greatest.

    Raises:
        InputError: CEL-V210 texts without an order, CEL-V005 infinite numbers, CEL-V006 an order
            that does not fit.

    >>> frame = pl.DataFrame({"size": ["L", None, "S"]})
    >>> rows, keys = ordered_cells(frame, "size", ("S", "M", "L"), "rank-swap")
    >>> rows.tolist(), keys.tolist()
    ([0, 2], [2, 0])
    """
    series = cells(frame, column)
    dtype = series.dtype
    if order:
        codes = categories(frame, column, order)[0]
        rows = np.flatnonzero(codes >= 0)
        return rows, codes[rows]
    if not (dtype.is_numeric() or dtype.is_temporal() or dtype in (pl.Boolean, pl.Enum)):
        raise InputError("CEL-V210", dtype=dtype, method=method, column=column)
    if dtype.is_float():
        series = series.fill_nan(None)
    elif dtype.is_decimal():
        series = series.cast(pl.Float64)
    keys = series.to_physical()
    rows = np.flatnonzero(keys.is_not_null().to_numpy())
    found = keys.drop_nulls().to_numpy()
    if found.dtype.kind == "f" and np.isinf(found).any():
        raise InputError("CEL-V005.computing", column=column)
    return rows, found


FLATTEST = 1e-10
"""Correlation matrices with a smaller eigenvalue count as singular: a column repeats others."""


def correlations(matrix: Matrix, columns: Sequence[str]) -> Matrix:
    """Pearson correlations over the records without an empty cell.

    Raises:
        InputError: CEL-V204 these records are too few or do not vary.
    """
    complete = matrix[~np.isnan(matrix).any(axis=1)]
    if len(complete) < 2 or (complete.min(axis=0) == complete.max(axis=0)).any():
        raise InputError("CEL-V204", columns=", ".join(columns), records=len(complete))
    centred = complete - complete.mean(axis=0)
    centred /= np.sqrt(np.mean(centred * centred, axis=0))
    found: Matrix = centred.T @ centred / len(complete)
    return found


def mixing(correlation: Matrix) -> Matrix:
    """The symmetric root of a correlation matrix, also of a singular one.

    Unlike the eigenvectors themselves it does not depend on the signs that a library gives them.

    >>> root = mixing(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> (root @ root).round(9).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    sizes, axes = np.linalg.eigh(correlation)
    found: Matrix = (axes * np.sqrt(np.maximum(sizes, 0.0))) @ axes.T
    return found


def expected_moments(matrix: Matrix, masked: Matrix, ratio: float, multiplicative: bool) -> Matrix:
    """Each column drawn towards its mean, so that its variance is kept on average over the noise.

    Additive noise multiplies the variance by 1 + ratio^2 (Kim 1986); multiplied noise adds
    ratio^2 E[x^2] to it. One factor a column: what noise does to correlations stays.
    """
    means, variances = np.nanmean(matrix, axis=0), np.nanvar(matrix, axis=0)
    return drawn_together(masked, means, variances, ratio, multiplicative)


def drawn_together(
    masked: Matrix, means: Matrix, variances: Matrix, ratio: float, multiplicative: bool
) -> Matrix:
    """The same, where the means and variances of the original columns are known."""
    added = ratio**2 * (variances + means**2 if multiplicative else variances)
    found: Matrix = means + (masked - means) * np.sqrt(variances / (variances + added))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The means and the covariance matrix of a table without empty cells."""

    means: Matrix
    spread: Matrix
    root: Matrix
    """The lower Cholesky factor of the correlation matrix."""

    def onto(self, masked: Matrix) -> Matrix:
        """The masked table, moved linearly to these moments; empty rows are left out of account."""
        kept = ~np.isnan(masked).any(axis=1)
        centred = masked[kept] - masked[kept].mean(axis=0)
        centred /= self.spread
        own = np.linalg.cholesky(centred.T @ centred / len(centred))
        # With C = own own', own^-1 centred has the identity as covariance, and root gives its own.
        moved = np.linalg.solve(own, centred.T).T @ self.root.T
        found = masked.copy()
        found[kept] = moved * self.spread + self.means
        return found


def sample_moments(matrix: Matrix, columns: Sequence[str]) -> Moments:
    """The moments of a table, refused where no linear map could restore them.

    Raises:
        InputError: CEL-V205 empty cells in several columns; CEL-V206 a column that others
            determine, or fewer records than columns.
    """
    empty = np.isnan(matrix).any(axis=1)
    if len(columns) > 1 and empty.any():
        raise InputError("CEL-V205", columns=", ".join(columns), records=int(empty.sum()))
    complete = matrix[~empty]
    correlation = correlations(matrix, columns)
    if len(complete) <= len(columns) or np.linalg.eigvalsh(correlation)[0] < FLATTEST:
        raise InputError("CEL-V206", columns=", ".join(columns))
    root = np.linalg.cholesky(correlation).astype(np.float64)
    return Moments(complete.mean(axis=0), complete.std(axis=0), root)
