"""A Gaussian copula with marginals of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.frames import pick
from celosia.tables.masking.draws import normals
from celosia.tables.masking.method import MaskingMethod, MethodResult, Work, check_texts
from celosia.tables.synthesis.checks import (
    NEW_ROWS,
    NO_PROMISE,
    check_filled,
    check_whole_table,
)
from celosia.tables.synthesis.distribution import best_family
from celosia.tables.synthesis.variables import Variable, variables

Matrix = NDArray[np.float64]

STRONGEST = 0.995
"""A latent correlation is kept below 1, so that no variable is a function of another."""
LEAST_EIGENVALUE = 1e-6
ROUNDS = 200
CLOSE = 1e-9


def normal_scores(values: Matrix, *, coded: bool = False) -> tuple[Matrix, float]:
    """The mean of the standard normal part that belongs to each value, and their variance.

    A value that takes the levels from a to b of the distribution function stands for the normal
    numbers between the quantiles of a and b; their mean is (phi(q(a)) - phi(q(b))) / (b - a). For
    distinct numbers these are the usual normal scores and the variance is nearly 1; the fewer the
    categories, the less. NaN stays NaN. Values that are `coded` are small whole numbers, which need
    no sorting.
    """
    from scipy.special import ndtri

    known = ~np.isnan(values)
    if coded:
        places = values[known].astype(np.int64)
        counts = np.bincount(places)
    else:
        _, places, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    shares = counts / counts.sum()
    ends = np.concatenate([[0.0], np.cumsum(shares)])
    quantiles = ndtri(np.clip(ends, 0.0, 1.0))
    heights = np.exp(-(quantiles**2) / 2) / np.sqrt(2 * np.pi)
    means = (heights[:-1] - heights[1:]) / np.where(shares > 0, shares, 1.0)
    scores = np.full(values.size, np.nan)
    scores[known] = means[places]
    return scores, float((shares * means**2).sum())


def latent_correlation(scores: Matrix, variances: Matrix) -> Matrix:
    """The correlation of the normal variables behind the scores, from pairs without gaps.

    The mean score of one variable given the other is the latent correlation times its score where
    one of the two is continuous, and to first order in the correlation otherwise; so the covariance
    of the scores, divided by both variances, estimates it (Olsson, Drasgow & Dorans 1982).
    """
    known = (~np.isnan(scores)).astype(np.float64)
    filled = np.where(known > 0, scores, 0.0)
    pairs = np.maximum(known.T @ known, 1.0)
    means = (filled.T @ known) / pairs  # of each variable over the pairs with the other
    covariance = (filled.T @ filled) / pairs - means * means.T
    found = np.clip(covariance / np.outer(variances, variances), -STRONGEST, STRONGEST)
    np.fill_diagonal(found, 1.0)
    return nearest_correlation(found)


def nearest_correlation(matrix: Matrix) -> Matrix:
    """The nearest correlation matrix that is positive definite, by alternating projections.

    Reference: Higham 2002, Computing the nearest correlation matrix, Alg. 3.3.

    >>> found = nearest_correlation(np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]))
    >>> bool(np.linalg.eigvalsh(found)[0] > 0), found.diagonal().round(12).tolist()
    (True, [1.0, 1.0, 1.0])
    """
    if matrix.size and np.linalg.eigvalsh(matrix)[0] < LEAST_EIGENVALUE:
        near, correction = matrix.copy(), np.zeros_like(matrix)
        for _ in range(ROUNDS):
            shifted = near - correction
            possible = _positive(shifted)
            correction = possible - shifted
            before, near = near, possible.copy()
            np.fill_diagonal(near, 1.0)
            if np.abs(near - before).max() < CLOSE:
                break
        matrix = _positive(near)
        roots = np.sqrt(matrix.diagonal())
        matrix = matrix / np.outer(roots, roots)
    return matrix


def _positive(matrix: Matrix) -> Matrix:
    eigenvalues, vectors = np.linalg.eigh(matrix)
    found: Matrix = (vectors * np.maximum(eigenvalues, LEAST_EIGENVALUE)) @ vectors.T
    return (found + found.T) / 2


Name = tuple[int, bool]
"""The place of a column, and whether the normal variable tells which of its cells are empty."""

ORDERINGS = 4
"""Rounds of ordering the values of columns that have no order."""


@dataclass(frozen=True, slots=True, eq=False)
class Latents:
    """Normal scores of the rows, one column for each normal variable."""

    names: list[Name]
    scores: Matrix
    variances: Matrix

    def correlation(self) -> Matrix:
        """The correlation of the normal variables."""
        return latent_correlation(self.scores, self.variances)


def latents_of(found: Sequence[Variable]) -> Latents:
    """A normal variable for the values of each column that vary, one for its gaps if there are."""
    names, columns, variances = [], [], []
    for place, each in enumerate(found):
        empty = np.isnan(each.values)
        known = each.present
        parts = [(False, each.values)] if known.size and known.min() < known.max() else []
        parts += [(True, empty.astype(np.float64))] if 0 < empty.sum() < empty.size else []
        for of_gaps, values in parts:
            scores, variance = normal_scores(values, coded=of_gaps or each.labels is not None)
            names.append((place, of_gaps))
            columns.append(scores)
            variances.append(variance)
    rows = found[0].values.size
    scores = np.empty((rows, len(names)), order="F")
    for place, column in enumerate(columns):
        scores[:, place] = column
    return Latents(names, scores, np.array(variances))


def order_categories(found: Sequence[Variable]) -> tuple[list[Variable], Latents]:
    """The variables, those without an order numbered in one that goes well with the others.

    In each round the values of such a column are ordered by the mean, over their rows, of the
    first principal component of the other columns.
    """
    ordered, latents = list(found), latents_of(found)
    free = [
        (place, latents.names.index((place, False)))
        for place, each in enumerate(ordered)
        if each.nominal and (place, False) in latents.names
    ]
    if len(latents.names) < 2:
        return ordered, latents
    for _ in range(ORDERINGS if free else 0):
        vector = np.linalg.eigh(latents.correlation())[1][:, -1]
        filled = np.nan_to_num(latents.scores, nan=0.0)
        component = filled @ vector
        for place, column in free:
            others = component - filled[:, column] * vector[column]
            ordered[place] = _numbered_anew(ordered[place], others)
            scores, variance = normal_scores(ordered[place].values, coded=True)
            latents.scores[:, column], latents.variances[column] = scores, variance
    return ordered, latents


def _numbered_anew(each: Variable, component: Matrix) -> Variable:
    """A variable whose values are numbered by the mean of the component over their rows."""
    known = ~np.isnan(each.values)
    codes = each.values[known].astype(np.int64)
    sizes = np.bincount(codes)
    order = np.argsort(np.bincount(codes, weights=component[known]) / sizes, kind="stable")
    ranks = np.empty(order.size)
    ranks[order] = np.arange(order.size)
    values = np.full(each.values.size, np.nan)
    values[known] = ranks[codes]
    labels = None if each.labels is None else each.labels.gather(order)
    return replace(each, values=values, labels=labels)


EMPIRICAL: Final = "empirical"
PARAMETRIC: Final = "parametric"


def _check_orders(value: Any) -> dict[str, tuple[str, ...]]:
    return {name: check_texts(values) for name, values in value.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Copula(MaskingMethod):
    """New rows by a Gaussian copula: each column as it is, together by one correlation matrix.

    Behind each column stands a normal variable. Numbers and dates come from it by their empirical
    quantiles, with straight lines between (or by the quantiles of the best parametric family, cut
    to the range of the data); categories by thresholds. Text values without an order are first put
    in the order that goes best with the other columns: by the mean of the first principal
    component, a few rounds. Whether a cell is empty is a variable of its own.

    It promises nothing. All columns of the table must be given, because the rows are new.

    Reference: Nelsen 2006, An Introduction to Copulas; Higham 2002 for the correlation matrix.
    """

    method_name: ClassVar[str] = "copula"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    picks_rows: ClassVar[bool] = True

    rows: int | None = parameter(None, like=NEW_ROWS)
    marginals: Literal["empirical", "parametric"] = parameter(EMPIRICAL, is_main=True)
    order: Mapping[str, tuple[str, ...]] | None = parameter(
        None,
        check=_check_orders,
        allowed="tables.must_be.texts_by_column",
        example='{ size = ["S", "M", "L"] }',
    )

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        check_filled(frame, self.method_name)
        work.progress(Step(Message("masking.stage.fitting_copula"), 0, len(columns) + 1))
        fitted, found = order_categories(variables(frame, columns, self.order))
        latents, correlation = found.names, found.correlation()
        count = frame.height if self.rows is None else self.rows
        root = np.linalg.cholesky(correlation)
        drawn = normals(work.rng, count * len(latents)).reshape(count, len(latents)) @ root.T
        cells = []
        for place, variable in enumerate(fitted):
            work.progress(
                Step(Message("masking.stage.fitting_copula"), place + 1, len(columns) + 1)
            )
            cells.append(variable.series(self._values(variable, place, latents, drawn)))
        facts = {
            "rows": count,
            "latent variables": len(latents),
            "least eigenvalue": float(np.linalg.eigvalsh(correlation)[0]) if latents else 1.0,
        }
        return MethodResult(
            frame=pick(pl.DataFrame(cells), frame.columns), facts=facts, synthetic=True
        )

    def _values(self, variable: Variable, place: int, latents: list[Name], drawn: Matrix) -> Matrix:
        """The values of one variable from the normal numbers of its latent variables."""
        from scipy.special import ndtr

        found = np.sort(variable.present)
        if not found.size:
            return np.full(len(drawn), np.nan)
        if (place, False) not in latents:
            values = np.full(len(drawn), found[0])
        else:
            levels = ndtr(drawn[:, latents.index((place, False))])
            values = self._quantiles(variable, found, levels)
        if (place, True) in latents:
            filled = found.size / variable.values.size
            values[ndtr(drawn[:, latents.index((place, True))]) >= filled] = np.nan
        return values

    def _quantiles(self, variable: Variable, found: Matrix, levels: Matrix) -> Matrix:
        if variable.labels is not None:
            return found[(levels * found.size).astype(np.int64)]
        if self.marginals == PARAMETRIC:
            law = best_family(found, column=variable.name)
            return law.quantiles(levels, (float(found[0]), float(found[-1])))
        return np.interp(levels * (found.size - 1), np.arange(found.size), found)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            Message(NO_PROMISE),
            Message("masking.gap.range_and_categories"),
            Message("masking.gap.pairs_only"),
        )
