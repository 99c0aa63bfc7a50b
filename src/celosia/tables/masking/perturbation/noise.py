"""Noise added to numbers, or multiplied into them, in the measure of their own spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.randomness import Source
from celosia.tables.masking.draws import normals, uniforms
from celosia.tables.masking.method import (
    NUMBER,
    CellFunction,
    MaskingMethod,
    MethodResult,
    Reach,
    Work,
    numbers,
    with_numbers,
)
from celosia.tables.masking.perturbation.moments import (
    check_varied,
    correlations,
    drawn_together,
    expected_moments,
    filled_cells,
    mixing,
    sample_moments,
    too_large,
)
from celosia.tables.masking.value_counts import NumberCounts, ValueCounts

Matrix = NDArray[np.float64]

WIDTH = 2.0
"""Noise is called as wide as two of its standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(MaskingMethod):
    """x + e, where e has mean 0 and `amount` times the standard deviation of the column.

    The deviation is that of the whole column, divided by n. Empty cells stay empty. Decimals are
    kept unless `integer` is set.

    Args:
        amount: standard deviation of the noise over that of the column; 0 changes nothing.
        alpha: instead of `amount`, the ratio of the variances: amount is its square root.
        correlated: noise with the correlations of the columns, taken from the records that have
            all of them; the correlations of the masked columns are then those of the original ones.
        multiplicative: x(1 + e) instead, where e has the standard deviation `amount`: large values
            move more, and zeros do not move.
        distribution: 'normal' or 'laplace'. Correlated Laplace noise is a linear mixture, so its
            covariance is the one asked for while each column is only nearly Laplace.
        correct: a linear transformation afterwards. 'expected' shrinks each column towards its
            mean, so that mean and variance (with correlated noise the covariance) are kept on
            average over the noise; 'exact' restores the means and the covariance matrix of this
            very table, to rounding.
        integer: round to whole numbers, after which 'exact' holds only nearly.
        lower: no masked value lies below this.
        upper: no masked value lies above this.

    Guarantee: none. A lone value stays recognisable, whatever the noise (see `isolated` in the
    facts): code the ends first.

    Reference: Kim 1986; Brand 2002; Hundepool et al. 2012, section 3.6.1.

    >>> from celosia.core.randomness import Seeded
    >>> frame = pl.DataFrame({"weight": [76.5, 54.6, 59.8, 81.2, 91.5, 50.9]})
    >>> masked = Noise(alpha=0.1).apply(frame, ["weight"], rng=Seeded(7))
    >>> round(masked.facts["weight"]["noise"], 2)
    4.71
    """

    method_name: ClassVar[str] = "noise"
    randomised: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    reaches: ClassVar[tuple[Reach, ...]] = ("facts", "whole")
    # Over `amount` it is the standard deviation of the column.
    confidential: ClassVar[tuple[str, ...]] = ("noise",)

    amount: float | None = parameter(None, like=NUMBER, least=0, start=0.1)
    alpha: float | None = parameter(None, like=NUMBER, least=0)
    correlated: bool = parameter(False, is_main=True)
    multiplicative: bool = False
    distribution: Literal["normal", "laplace"] = "normal"
    correct: Literal["none", "expected", "exact"] = "none"
    integer: bool = parameter(False, is_main=True)
    lower: float | None = parameter(None, like=NUMBER)
    upper: float | None = parameter(None, like=NUMBER)

    def check(self) -> None:
        """Refuse two amounts at once, correlated factors, and bounds in the wrong order."""
        self._exactly_one("amount", "alpha")
        if self.correlated and self.multiplicative:
            raise InputError(
                "CEL-V201.no_covariance",
                method=self.method_name,
                first="correlated",
                second="multiplicative",
            )
        low, high = self._bounds()
        if low > high:
            raise InputError("CEL-V201.bounds_crossed", method=self.method_name)

    @property
    def ratio(self) -> float:
        """Standard deviation of the noise over that of the column."""
        if self.amount is not None:
            return self.amount
        assert self.alpha is not None, "one of the two is given"
        return math.sqrt(self.alpha)

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        matrix = numbers(frame, columns, self.method_name)
        spread = _spread(matrix, columns)
        factor = mixing(correlations(matrix, columns)) if self.correlated else None
        moments = sample_moments(matrix, columns) if self.correct == "exact" else None
        masked = self._noisy(matrix, spread, factor, work.rng)
        if self.correct == "expected" and self.ratio > 0:
            masked = expected_moments(matrix, masked, self.ratio, self.multiplicative)
        elif moments is not None and self.ratio > 0:
            masked = moments.onto(masked)
        masked, clipped = self._bounded(masked, columns)
        facts: dict[str, Any] = {
            name: {
                "noise": self.ratio * (1.0 if self.multiplicative else float(spread[place])),
                "isolated": self._isolated(NumberCounts.of(matrix[:, place]), float(spread[place])),
                "bounded": int(clipped[place]),
            }
            for place, name in enumerate(columns)
        }
        return MethodResult(
            frame=with_numbers(frame, columns, masked, integer=self.integer), facts=facts
        )

    @property
    def reach(self) -> Reach:
        """Correlations, and moments that are restored exactly, are those of all rows together."""
        return "whole" if self.correlated or self.correct == "exact" else "facts"

    def cell_function(
        self, column: pl.Series, value_counts: Callable[[], ValueCounts]
    ) -> CellFunction:
        """Noise in the measure of the whole column's deviation."""
        assert self.reach == "facts", "each column is masked by itself"
        name = column.name
        numbers(
            column.to_frame(), [name], self.method_name
        )  # refuses text before anything is counted
        counted = value_counts().as_numbers(name, self.method_name)
        check_varied(counted.values, name, self.method_name)
        spread = counted.deviation
        if not 0 < spread < math.inf:
            raise too_large(name, self.method_name)
        facts = {
            "noise": self.ratio * (1.0 if self.multiplicative else spread),
            "isolated": self._isolated(counted, spread),
        }
        return CellFunction(partial(_noisy_cells, self, counted.mean, spread), facts)

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps = [Message("masking.gap.far_values")]
        if self.multiplicative:
            gaps.append(Message("masking.gap.zeros"))
        return tuple(gaps)

    def _noisy(self, matrix: Matrix, spread: Matrix, factor: Matrix | None, rng: Source) -> Matrix:
        draw = normals if self.distribution == "normal" else _laplaces
        by_column = draw(rng, matrix.size).reshape(matrix.shape[::-1])
        drawn = (by_column if factor is None else factor @ by_column).T
        drawn *= self.ratio
        with np.errstate(over="ignore"):  # `_bounded` refuses what has become infinite
            if self.multiplicative:
                return matrix * (1.0 + drawn)
            drawn *= spread
            drawn += matrix
        return drawn

    def _bounds(self) -> tuple[float, float]:
        low = -math.inf if self.lower is None else self.lower
        high = math.inf if self.upper is None else self.upper
        if self.integer:  # the whole numbers between the two, so that rounding stays inside
            low = low if math.isinf(low) else math.ceil(low)
            high = high if math.isinf(high) else math.floor(high)
        return low, high

    def _bounded(self, masked: Matrix, columns: Sequence[str]) -> tuple[Matrix, NDArray[np.int64]]:
        low, high = self._bounds()
        if self.integer:
            masked = np.rint(masked)
        outside = ((masked < low) | (masked > high)).sum(axis=0)
        masked = np.clip(masked, low, high)
        for place, name in enumerate(columns):
            largest = np.nanmax(np.abs(masked[:, place]), initial=0.0)
            if not np.isfinite(largest) or (self.integer and largest >= 2.0**63):
                raise too_large(name, self.method_name)
        return masked, outside

    def _isolated(self, counted: NumberCounts, spread: float) -> int:
        """How many cells lie farther from all others of their column than the noise is wide.

        A record that is alone in one column is alone in all together, so this is a lower bound.
        """
        gaps = np.concatenate([[np.inf], np.diff(counted.values), [np.inf]])
        nearest = np.where(counted.sizes > 1, 0.0, np.minimum(gaps[:-1], gaps[1:]))
        unit = np.abs(counted.values) if self.multiplicative else spread
        return int((nearest > WIDTH * self.ratio * unit).sum())


def _noisy_cells(
    method: Noise, mean: float, spread: float, cells: pl.Series, rng: Source
) -> pl.Series:
    frame, name = cells.to_frame(), cells.name
    matrix = numbers(frame, [name], method.method_name)
    masked = method._noisy(matrix, np.array([spread]), None, rng)
    if method.correct == "expected" and method.ratio > 0:
        moments = np.array([mean]), np.array([spread**2])
        masked = drawn_together(masked, *moments, method.ratio, method.multiplicative)
    masked, _ = method._bounded(masked, [name])
    return with_numbers(frame, [name], masked, integer=method.integer).get_column(name)


def _spread(matrix: Matrix, columns: Sequence[str]) -> Matrix:
    """The standard deviation of each column over its filled cells."""
    found = np.empty(len(columns))
    for place, name in enumerate(columns):
        values = matrix[filled_cells(matrix, place), place]
        check_varied(values, name, "noise")
        with np.errstate(over="ignore"):
            found[place] = np.std(values)
        if not 0 < found[place] < np.inf:
            raise too_large(name, "noise")
    return found


def _laplaces(rng: Source, count: int) -> Matrix:
    """Laplace numbers of mean 0 and variance 1, by the inverse of the distribution function."""
    centred = uniforms(rng, count) - 0.5  # never 0 or a half: see `uniforms`
    return -np.copysign(np.log1p(-2.0 * np.abs(centred)), centred) / math.sqrt(2.0)
