"""What masking did to numeric columns: moments, marginals, information loss, and their summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.assess.utility.distributions import equal_distance, hellinger, shares
from celosia.assess.utility.numeric.propensity import Propensity, propensity
from celosia.assess.utility.numeric.regression import (
    Regression,
    RegressionOverlap,
    regression_overlap,
)
from celosia.core.messages import Message, say, say_of
from celosia.core.methods import PlainValues, derived
from celosia.core.progress import Progress, Step, silent

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColumnMoments(PlainValues):
    """Mean and variance of a column before and after, over the cells that each table has."""

    column: str
    mean_before: float
    mean_after: float
    variance_before: float
    variance_after: float

    @property
    def mean_change(self) -> float:
        """How far the mean moved, in standard deviations of the original."""
        deviation = float(np.sqrt(self.variance_before)) or 1.0
        return abs(self.mean_after - self.mean_before) / deviation

    @property
    def variance_change(self) -> float:
        """How much the variance grew (above 0) or shrank, as a share of the original one."""
        if not self.variance_before:
            return 0.0 if not self.variance_after else float("inf")
        return self.variance_after / self.variance_before - 1

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an infinite change is the text "infinite"."""
        change = self.variance_change
        return asdict(self) | {
            "mean_change": self.mean_change,
            "variance_change": change if np.isfinite(change) else "infinite",
        }


@dataclass(frozen=True, slots=True)
class PairMoments(PlainValues):
    """Covariance and correlation of two columns before and after."""

    first: str
    second: str
    covariance_before: float
    covariance_after: float
    correlation_before: float
    correlation_after: float

    @property
    @derived
    def correlation_change(self) -> float:
        """How far the correlation is off."""
        return abs(self.correlation_after - self.correlation_before)

    @property
    @derived
    def covariance_change(self) -> float | None:
        """How far the covariance is off, as a share of the original one; None where that is 0."""
        if not self.covariance_before:
            return None
        return abs(self.covariance_after / self.covariance_before - 1)


@dataclass(frozen=True, slots=True)
class Moments(PlainValues):
    """What a table of amounts says by its first two moments, before and after."""

    columns: tuple[ColumnMoments, ...]
    pairs: tuple[PairMoments, ...]
    eigenvalues_before: tuple[float, ...]
    """Of the correlation matrix, the greatest first."""
    eigenvalues_after: tuple[float, ...]
    angle: float
    """Degrees between the first principal components, from 0 to 90."""

    @property
    def mean_change(self) -> float:
        """Mean of how far the means moved, in standard deviations."""
        return float(np.mean([each.mean_change for each in self.columns]))

    @property
    def variance_change(self) -> float:
        """Mean size of the relative change of the variances."""
        return float(np.mean([abs(each.variance_change) for each in self.columns]))

    @property
    def correlation_change(self) -> float:
        """Mean change of the correlations; 0 for one column."""
        return float(np.mean([each.correlation_change for each in self.pairs] or [0.0]))

    @property
    def eigenvalue_change(self) -> float:
        """Sum of the changes of the eigenvalues, as a share of their sum."""
        before, after = np.array(self.eigenvalues_before), np.array(self.eigenvalues_after)
        return float(np.abs(after - before).sum() / before.sum())

    def as_dict(self) -> dict[str, Any]:
        variance = self.variance_change
        return {
            "columns": [each.as_dict() for each in self.columns],
            "pairs": [each.as_dict() for each in self.pairs],
            "eigenvalues_before": list(self.eigenvalues_before),
            "eigenvalues_after": list(self.eigenvalues_after),
            "angle": self.angle,
            "mean_change": self.mean_change,
            "variance_change": variance if np.isfinite(variance) else "infinite",
            "correlation_change": self.correlation_change,
            "eigenvalue_change": self.eigenvalue_change,
        }

    def __str__(self) -> str:
        return say_of("assess.line.moments", self)


def moments(tables: AlignedTables) -> Moments:
    """Compare the moments of the columns of amounts.

    Means and variances (with n - 1) are over the cells that a table has; covariances and
    correlations over its records without a gap in these columns. The correlation with a constant
    column counts as 0.

    Raises:
        InputError: CEL-A207 no column holds amounts.

    >>> from celosia.assess.alignment import align
    >>> print(moments(align({"a": [1, 2, 3, 4]}, {"a": [1.5, 1.5, 3.5, 3.5]})))
    means off by 0.000 standard deviations, variances by 20.0%, correlations by 0.000
    """
    before, after = tables.numbers()
    names = tables.numeric
    (covariance_a, correlation_a), (covariance_b, correlation_b) = _joint(before), _joint(after)
    values_a, first_a = _spectrum(correlation_a)
    values_b, first_b = _spectrum(correlation_b)
    cosine = min(1.0, abs(float(first_a @ first_b)))
    return Moments(
        columns=tuple(
            ColumnMoments(name, *_alone(before[:, place], after[:, place]))
            for place, name in enumerate(names)
        ),
        pairs=tuple(
            PairMoments(
                names[i],
                names[j],
                float(covariance_a[i, j]),
                float(covariance_b[i, j]),
                float(correlation_a[i, j]),
                float(correlation_b[i, j]),
            )
            for i, j in combinations(range(len(names)), 2)
        ),
        eigenvalues_before=tuple(values_a.tolist()),
        eigenvalues_after=tuple(values_b.tolist()),
        angle=float(np.degrees(np.arccos(cosine))),
    )


def _alone(before: Matrix, after: Matrix) -> tuple[float, float, float, float]:
    sides = [side[~np.isnan(side)] for side in (before, after)]
    means = [float(side.mean()) if side.size else 0.0 for side in sides]
    variances = [float(side.var(ddof=1)) if side.size > 1 else 0.0 for side in sides]
    return means[0], means[1], variances[0], variances[1]


def _joint(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Covariances and correlations over the records without a gap."""
    whole = matrix[~np.isnan(matrix).any(axis=1)]
    width = matrix.shape[1]
    if len(whole) < 2:
        return np.zeros((width, width)), np.eye(width)
    covariance = np.atleast_2d(np.cov(whole, rowvar=False))
    spread = np.sqrt(np.diag(covariance))
    scale = np.outer(spread, spread)
    correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    np.fill_diagonal(correlation, 1.0)
    return covariance, np.clip(correlation, -1.0, 1.0)


def _spectrum(correlation: Matrix) -> tuple[Matrix, Matrix]:
    values, vectors = np.linalg.eigh(correlation)
    return values[::-1], vectors[:, -1]


BINS = 20
"""Amounts are put in as many bins, each with as many original records."""


@dataclass(frozen=True, slots=True)
class Marginal(PlainValues):
    """Distances between a column before and after, in [0, 1]; 0 means the same distribution."""

    column: str
    hellinger: float
    total_variation: float
    kolmogorov: float | None
    """The greatest difference of the distribution functions; None for categories."""

    def __str__(self) -> str:
        last = "" if self.kolmogorov is None else f", Kolmogorov-Smirnov {self.kolmogorov:.4f}"
        return say_of("assess.line.marginal", self, last=last)


def marginals(tables: AlignedTables) -> tuple[Marginal, ...]:
    """The distances of every column; empty cells are a value in all but Kolmogorov-Smirnov.

    Amounts are put in at most twenty bins with equally many original records for Hellinger's
    distance and the total variation: masked amounts are seldom equal to any original one.

    >>> from celosia.assess.alignment import align
    >>> print(*marginals(align({"sex": ["f", "f", "m", "m"]}, {"sex": ["f", "m", "m", "m"]})))
    sex: Hellinger 0.1846, total variation 0.2500
    """
    found = []
    for place, name in enumerate(tables.columns):
        before, after = tables.before[:, place], tables.after[:, place]
        is_code = bool(tables.nominal[place])
        edges = _categories(before, after) if is_code else _bins(before)
        p, q = (shares(_counts(side, edges)) for side in (before, after))
        found.append(
            Marginal(
                column=name,
                hellinger=hellinger(p, q),
                total_variation=equal_distance(p, q),
                kolmogorov=None if is_code else kolmogorov_smirnov(before, after),
            )
        )
    return tuple(found)


def kolmogorov_smirnov(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """The greatest difference of two distribution functions; gaps are left out.

    >>> kolmogorov_smirnov(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    one, other = (np.sort(side[~np.isnan(side)]) for side in (before, after))
    if not one.size or not other.size:
        return 0.0 if one.size == other.size else 1.0
    places = np.concatenate([one, other])
    reached = (np.searchsorted(side, places, side="right") / side.size for side in (one, other))
    return float(np.abs(np.subtract(*reached)).max())


def _categories(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    top = np.nanmax(np.concatenate([before, after, np.zeros(1)]))
    return np.arange(-0.5, top, 1.0)[1:]


def _bins(before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where one bin ends and the next begins."""
    known = before[~np.isnan(before)]
    if not known.size:
        return np.zeros(0)
    # Nearest ranks are values of the column, so that equal values are never cut by rounding.
    inner = np.arange(1, BINS) / BINS
    return np.unique(np.quantile(known, inner, method="inverted_cdf"))


def _counts(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[~np.isnan(values)]
    inside = np.bincount(np.searchsorted(edges, known), minlength=edges.size + 1)
    return np.append(inside, values.size - known.size).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Loss(PlainValues):
    """The information lost in amounts, record by record."""

    il1s: float
    """Mean of |x - x'| / (sqrt(2) s), with the standard deviation s (n - 1) of each column."""
    squares: float
    """Sum of squares of the changes over that around the means (SSE/SST), columns standardised."""
    cells: int
    """Cells with a value in both tables; the others, and columns without spread, are left out."""

    def __str__(self) -> str:
        return say("assess.line.loss", il1s=self.il1s, squares=self.squares)


def information_loss(tables: AlignedTables) -> Loss:
    """Measure how far the amounts of each masked record are from those of its original.

    Raises:
        InputError: CEL-A206 a synthetic table, CEL-A207 no column holds amounts.

    >>> from celosia.assess.alignment import align
    >>> print(information_loss(align({"age": [21, 22, 25, 29]}, {"age": [21.5, 21.5, 27, 27]})))
    IL1s 0.2459, 21.935% of the sum of squares lost

    Reference: Yancey, Winkler & Creecy 2002; Domingo-Ferrer & Mateo-Sanz 2002.
    """
    before, after = tables.numbers()
    true = before[tables.origins()]
    known = [column[~np.isnan(column)] for column in before.T]
    spread = np.array([cells.std(ddof=1) if cells.size > 1 else 0.0 for cells in known])
    centre = np.array([cells.mean() if cells.size else 0.0 for cells in known])
    counts = spread > 0
    moved = (after - true)[:, counts] / spread[counts]
    around = (true - centre)[:, counts] / spread[counts]
    compared = ~np.isnan(moved)
    cells = int(compared.sum())
    if not cells:
        return Loss(0.0, 0.0, 0)
    total = float((around[compared] ** 2).sum())
    return Loss(
        il1s=float(np.abs(moved[compared]).sum() / (np.sqrt(2) * cells)),
        squares=float((moved[compared] ** 2).sum()) / total if total else 0.0,
        cells=cells,
    )


@dataclass(frozen=True, slots=True)
class NumericUtility(PlainValues):
    """What a masked or synthetic table is still good for."""

    marginals: tuple[Marginal, ...]
    propensity: Propensity
    moments: Moments | None
    """None where no column holds amounts."""
    loss: Loss | None
    """None for a synthetic table, and where no column holds amounts."""
    regressions: tuple[RegressionOverlap, ...]

    @property
    @derived
    def total_variation(self) -> float:
        """Mean over the columns."""
        return float(np.mean([each.total_variation for each in self.marginals]))

    def __str__(self) -> str:
        parts = [] if self.loss is None else [str(self.loss)]
        return "; ".join([*parts, str(self.propensity)])


def numeric_utility(
    tables: AlignedTables,
    *,
    columns: Sequence[str] | None = None,
    regressions: Sequence[Regression] = (),
    progress: Progress = silent,
) -> NumericUtility:
    """Take every measure that the columns, and the alignment, allow.

    Args:
        tables: both tables.
        columns: what is measured; by default every column. Regressions may use others.
        regressions: linear regressions that should come out the same.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: those of `regression_overlap`.
    """
    # First what may be refused.
    overlaps = tuple(regression_overlap(tables, each) for each in regressions)
    if columns is not None:
        tables = tables.only(columns)
    has_amounts = not tables.nominal.all()
    progress(Step(Message("assess.stage.use"), 0, 2))
    propensities = propensity(tables)
    progress(Step(Message("assess.stage.use"), 1, 2))
    return NumericUtility(
        marginals=marginals(tables),
        propensity=propensities,
        moments=moments(tables) if has_amounts else None,
        loss=information_loss(tables) if has_amounts and tables.rows is not None else None,
        regressions=overlaps,
    )
