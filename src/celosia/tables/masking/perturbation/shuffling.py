"""Data shuffling: the original values, in an order drawn from what other columns tell of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Step
from celosia.core.randomness import Source
from celosia.tables.masking.draws import normals
from celosia.tables.masking.method import TEXTS, MaskingMethod, MethodResult, Work, cells, numbers
from celosia.tables.masking.perturbation.moments import (
    check_varied,
    correlations,
    filled_cells,
    mixing,
)

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffling(MaskingMethod):
    """Each column keeps its values exactly; who has which is drawn anew, given the predictors.

    A normal copula is fitted to the rank correlations of all columns. Scores for the columns are
    drawn given the predictors only, and the values take the order of the scores. Rank correlations
    with the predictors and among the columns are kept nearly; a record's own values play no part
    in what it gets. Empty cells stay empty; an empty predictor counts as its median, and
    correlations are taken from records without empty cells.

    Args:
        given: the predictors, columns of numbers that are released as they are. Without any, the
            columns are shuffled by their own correlations alone.

    Guarantee: none that is proved. If the copula were the truth, a released value would tell no
    more of its record than the predictors do.

    Reference: Muralidhar & Sarathy 2006.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"age": [21, 30, 45, 58, 60], "pay": [10, 14, 31, 29, None]})
    >>> masked = Shuffling(given=("age",)).apply(frame, ["pay"], rng=Seeded(7)).frame
    >>> sorted(masked["pay"][:4]), masked["pay"][4]
    ([10, 14, 29, 31], None)
    """

    method_name: ClassVar[str] = "shuffling"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False

    given: tuple[str, ...] = parameter((), like=TEXTS, kind="columns")

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        both = [name for name in columns if name in self.given]
        if both:
            raise InputError("CEL-V250", column=both[0])
        every = [*self.given, *columns]
        matrix = numbers(frame, every, self.method_name)
        for place, name in enumerate(every):
            check_varied(matrix[filled_cells(matrix, place), place], name, self.method_name)
        work.progress(Step(Message("masking.stage.shuffling"), 0, 1))
        correlation = copula_correlations(matrix, every)
        scores = self._scores(matrix, correlation, work.rng)
        shuffled = []
        for place, name in enumerate(columns):
            rows = filled_cells(matrix, len(self.given) + place)
            by_value = rows[np.argsort(matrix[rows, len(self.given) + place], kind="stable")]
            by_score = rows[np.argsort(scores[rows, place], kind="stable")]
            source = np.arange(frame.height)
            source[by_score] = by_value
            shuffled.append(cells(frame, name).gather(source).alias(name))
        explained = 1.0 - np.diag(conditional(correlation, len(self.given))[1])
        facts = {
            name: {"explained_by_given": float(share)}
            for name, share in zip(columns, explained, strict=True)
        }
        return MethodResult(frame=frame.with_columns(shuffled), facts=facts)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (
            Message("masking.gap.determined"),
            Message("masking.gap.shuffled_values"),
        )

    def _scores(self, matrix: Matrix, correlation: Matrix, rng: Source) -> Matrix:
        """Normal scores of the columns, drawn given those of the predictors."""
        width = len(self.given)
        slopes, spread = conditional(correlation, width)
        drawn = normals(rng, len(matrix) * len(spread)).reshape(len(matrix), len(spread))
        scores = drawn @ mixing(spread)
        if width:
            scores += normal_scores(matrix[:, :width]) @ slopes.T
        return scores


def normal_scores(matrix: Matrix) -> Matrix:
    """The normal quantile of each cell's rank, equal values alike; 0 for an empty cell.

    >>> normal_scores(np.array([[1.0], [5.0], [5.0], [9.0]])).round(2).ravel().tolist()
    [-1.15, 0.0, 0.0, 1.15]
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    scores = np.zeros(matrix.shape)
    for place in range(matrix.shape[1]):
        rows = filled_cells(matrix, place)
        scores[rows, place] = ndtri((rankdata(matrix[rows, place]) - 0.5) / rows.size)
    return scores


def copula_correlations(matrix: Matrix, columns: Sequence[str]) -> Matrix:
    """Correlations of a normal copula with the rank correlations of a table: 2 sin(pi r / 6).

    Entry by entry this need not be a correlation matrix; the nearest one by eigenvalues is taken.

    Reference: Kruskal 1958.
    """
    from scipy.stats import rankdata

    complete = matrix[~np.isnan(matrix).any(axis=1)]
    ranks = rankdata(complete, axis=0) if len(complete) else complete
    found = 2.0 * np.sin(correlations(ranks, columns) * (math.pi / 6))
    sizes, axes = np.linalg.eigh(found)
    found = (axes * np.maximum(sizes, 0.0)) @ axes.T
    spread = np.sqrt(np.diag(found))
    mended: Matrix = found / np.outer(spread, spread)
    return mended


def conditional(correlation: Matrix, given: int) -> tuple[Matrix, Matrix]:
    """Slopes on the first `given` scores, and the covariance of the others around their mean.

    >>> slopes, spread = conditional(np.array([[1.0, 0.6], [0.6, 1.0]]), 1)
    >>> slopes.round(9).tolist(), spread.round(9).tolist()
    ([[0.6]], [[0.64]])
    """
    known, cross = correlation[:given, :given], correlation[given:, :given]
    # Predictors that repeat each other share their part.
    slopes: Matrix = cross @ np.linalg.pinv(known, rcond=1e-10, hermitian=True)
    return slopes, correlation[given:, given:] - slopes @ cross.T
