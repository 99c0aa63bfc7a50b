"""Differentially private numbers by microaggregation: noise on the means of groups of k rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, ClassVar, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.accounting.losses import ComposedLoss, Loss, PureLoss
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.neighbours import CHANGE_ONE, Neighbours
from celosia.core.progress import Step
from celosia.frames import pick
from celosia.mechanisms import Geometric
from celosia.tables.masking.method import WHOLE, MethodResult, Work
from celosia.tables.private.budget import TableBudget, round_down
from celosia.tables.private.declarations import (
    LISTS,
    DomainDeclarations,
)
from celosia.tables.private.method import EPSILON, PrivateMethod
from celosia.tables.synthesis.checks import check_whole_table

Steps = NDArray[np.int64]
Numbers = NDArray[np.float64]

SEPARATE: Final = "separate"
JOINT: Final = "joint"
FINEST = 2**16
"""Steps that a range is cut into; whole numbers in a smaller range are their own steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateMicroaggregation(PrivateMethod):
    """Means of groups of k rows with noise, each as often as its group has rows.

    Values are clamped to their declared bounds and put on a grid; rows are ordered, and groups are
    made by position alone: the first k rows, the next k, the rest with the last. The sum of each
    group gets discrete Laplace noise.

    `separate` orders each column by itself. Which mean stands beside which in a row would tell the
    exact ranks of the rows, which no noise covers, so the means of each column are shuffled on
    their own and how columns go together is lost. `joint` orders the rows by the sum of their
    columns, each scaled to its bounds, and releases the means of a group together: relations
    survive, for more noise.

    An empty cell counts as the middle of its bounds, because which cells are empty is private too.

    Guarantee: epsilon-DP when neighbours change one row and the number of rows is public, split
    evenly over the columns. Changing a row moves every row between its old and its new position by
    one position. In `separate` order all positions then change in the same direction and the
    changes add up to the change of the value, so the sums of all groups together change by at most
    the range: the means by range / k. In `joint` order each group loses one row and gains one, so
    each sum changes by at most the range, and the sums of g groups by g times the range.

    Reference: Soria-Comas et al. 2014, Enhancing data utility in differential privacy via
    microaggregation-based k-anonymity, VLDB Journal 23 (insensitive microaggregation); Sanchez et
    al. 2016 (individual ranking). Both keep the rows joined, which is why the order matters here.
    """

    method_name: ClassVar[str] = "private-microaggregation"
    neighbours: ClassVar[Neighbours] = CHANGE_ONE

    epsilon: float = parameter(like=EPSILON)
    k: int = parameter(like=WHOLE, least=1, start=50)
    """How many rows a group has at least; the last one has fewer than 2k."""
    bounds: Mapping[str, tuple[float, ...]] = parameter(like=LISTS)
    order: Literal["separate", "joint"] = SEPARATE

    def check(self) -> None:
        """Refuse bounds that are none."""
        DomainDeclarations({}, self.bounds)

    def declared_values(self) -> Mapping[str, tuple[Any, ...]]:
        """The bounds of each column."""
        return self.bounds

    @property
    def budget(self) -> TableBudget:
        """The epsilon."""
        return TableBudget(self.epsilon)

    def privacy_loss(self, columns: Sequence[str]) -> Loss:
        """Equal shares of epsilon, one a column."""
        return ComposedLoss((PureLoss(Fraction(self.budget.total, len(columns))),) * len(columns))

    def _apply(self, frame: pl.DataFrame, columns: Sequence[str], work: Work) -> MethodResult:
        check_whole_table(frame, columns, self.method_name)
        DomainDeclarations({}, self.bounds).columns(frame.schema, columns)
        if self.k > frame.height:
            raise InputError("CEL-Y023", k=self.k, rows=frame.height)
        scales = self._scales(frame.schema, columns)
        starts = group_starts(frame.height, self.k)
        sizes = np.diff(starts, append=frame.height)
        noises = [
            self._noise(len(columns), steps=scale.steps, groups=starts.size) for scale in scales
        ]
        # The laws of all noises, before one is drawn: they refuse what cannot be.
        deviations = [
            sqrt(noise.law.variance) * scale.step / self.k
            for noise, scale in zip(noises, scales, strict=True)
        ]
        exact = self.sums(frame, columns)
        cells = []
        for place, (name, scale) in enumerate(zip(columns, scales, strict=True)):
            work.progress(Step(Message("masking.stage.noisy_means"), place, len(columns)))
            noisy = noises[place].release(exact[place], rng=work.rng) / sizes
            # From here on only released numbers are used.
            if self.order == SEPARATE:
                noisy = _rising(noisy, sizes)
            means = np.repeat(scale.values(np.clip(noisy, 0, scale.steps)), sizes)
            shuffled = means[work.rng.permutation(means.size)] if self.order == SEPARATE else means
            cells.append(pl.Series(name, shuffled))
        return MethodResult(
            frame=pick(pl.DataFrame(cells), frame.columns),
            facts={
                "groups": int(starts.size),
                "loss": self.privacy_loss(columns).as_dict(),
                "deviation of a mean": dict(zip(columns, deviations, strict=True)),
            },
            synthetic=True,
        )

    def sums(self, frame: pl.DataFrame, columns: Sequence[str]) -> list[Steps]:
        """The exact sums of the groups of each column in steps from its bound, which are private.

        Sums are below 2^16 steps times 2^34 rows, so within the reach of the noise.
        """
        scales = self._scales(frame.schema, columns)
        points = [scale.points(frame[name]) for scale, name in zip(scales, columns, strict=True)]
        starts = group_starts(frame.height, self.k)
        return [
            np.add.reduceat(each[self._order(points, scales, place)], starts)
            for place, each in enumerate(points)
        ]

    def _scales(self, schema: pl.Schema, columns: Sequence[str]) -> list[_Scale]:
        return [_Scale.of(schema[name], self.bounds[name]) for name in columns]

    def _order(self, points: Sequence[Steps], scales: Sequence[_Scale], place: int) -> Steps:
        """The rows in the order that groups are made in: one that depends on each row alone."""
        if self.order == SEPARATE:
            return np.argsort(points[place], kind="stable")
        key = np.zeros(points[0].size, dtype=np.int64)
        for scale, each in zip(scales, points, strict=True):
            key += each * FINEST // scale.steps
        # Rows with the same key go by their values; rows with all values alike are as one.
        return np.lexsort((*points, key))

    def _noise(self, columns: int, *, steps: int, groups: int) -> Geometric:
        share = round_down(self.budget.total * Fraction(1, columns))
        moved = steps if self.order == SEPARATE else steps * groups
        return Geometric(
            epsilon=share, sensitivity=moved, dimension=groups, neighbours=self.neighbours
        )

    def leaves_open(self, columns: Sequence[str]) -> tuple[str, ...]:
        gaps = [*PrivateMethod.leaves_open(self, columns), Message("masking.gap.rows_published")]
        if self.order == SEPARATE and len(columns) > 1:
            gaps.append(Message("masking.gap.rows_composed"))
        return tuple(gaps)


def group_starts(rows: int, k: int) -> Steps:
    """Where groups begin: every k rows, the last group takes what is left over.

    >>> group_starts(8, 3).tolist()
    [0, 3]
    """
    return np.arange(max(rows // k, 1), dtype=np.int64) * k


def _rising(means: Numbers, sizes: Steps) -> Numbers:
    """The nearest means that never fall, as the true ones of ordered groups do not."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(means, weights=sizes).x)


@dataclass(frozen=True, slots=True)
class _Scale:
    """A range as whole steps from its lower bound."""

    low: float
    high: float
    steps: int

    @classmethod
    def of(cls, dtype: pl.DataType, bounds: Sequence[float]) -> _Scale:
        low, high = (float(bound) for bound in bounds)
        whole = dtype.is_integer() and low.is_integer() and high.is_integer()
        return cls(low, high, int(high - low) if whole and high - low < FINEST else FINEST)

    @property
    def step(self) -> float:
        """The size of a step."""
        return (self.high - self.low) / self.steps

    def points(self, series: pl.Series) -> Steps:
        """Clamped cells as numbers of steps, each by itself; an empty one is in the middle."""
        values = series.cast(pl.Float64, strict=False).to_numpy()
        filled = np.where(np.isnan(values), (self.low + self.high) / 2, values)
        found = np.rint((np.clip(filled, self.low, self.high) - self.low) / self.step)
        return np.clip(found, 0, self.steps).astype(np.int64)

    def values(self, points: Numbers) -> Numbers:
        """Numbers of steps as values."""
        return self.low + points * self.step
