"""Associations of pairs of columns, before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.assess.labels import label
from celosia.assess.utility.column_pair import ColumnPair
from celosia.assess.utility.comparison import Comparison
from celosia.assess.utility.joint import Side, joint_mass, pair_counts
from celosia.assess.utility.spread import tally
from celosia.core.messages import Message, say, say_of
from celosia.core.methods import PlainValues, derived
from celosia.core.progress import Progress, Step, silent

MOST_VALUES = 1_000
"""Categories beyond this are names rather than categories, and go together with nothing."""

Measure = Literal["Cramér's V", "correlation", "correlation ratio"]


@dataclass(frozen=True, slots=True)
class Association(PlainValues):
    """One pair of columns: 0 when they have nothing to do with each other, 1 (or -1) at most."""

    first: str
    second: str
    measure: Measure
    before: float
    after: float

    @property
    @derived
    def change(self) -> float:
        """How far the release is off."""
        return abs(self.after - self.before)

    def __str__(self) -> str:
        return say_of("assess.line.association", self, measure=label(self.measure))


@dataclass(frozen=True, slots=True)
class Associations(PlainValues):
    """All pairs of columns, and the mean of their changes."""

    pairs: tuple[Association, ...]
    left_out: tuple[str, ...]
    """Columns with too many categories to go together with anything."""

    @property
    @derived
    def mean_change(self) -> float:
        """Mean absolute difference between before and after; 0 without pairs."""
        return math.fsum(pair.change for pair in self.pairs) / max(1, len(self.pairs))

    def __str__(self) -> str:
        return say("assess.line.associations", pairs=len(self.pairs), mean_change=self.mean_change)


def associations(comparison: Comparison, *, progress: Progress = silent) -> Associations:
    """The association of every pair of columns, before and after.

    Two categories: Cramér's V, corrected for bias; two amounts: Pearson's correlation; one of each:
    the correlation ratio. Released labels count by what they are expected to be: the two labels of
    a row are spread over their values independently of each other. Empty cells are a category, and
    rows without an amount are left out of a pair that needs it.

    >>> from celosia.assess.utility import compare
    >>> table = {"x": [1, 2, 3, 4], "y": [2, 4, 6, 8]}
    >>> print(*associations(compare(table, table, ["x", "y"])).pairs)
    x and y: correlation 1.000 before, 1.000 after

    References: Bergsma 2013 (the correction of V); Pearson 1905 (the correlation ratio).
    """
    fit = [c for c in comparison.columns if c.is_numeric or len(c.values) <= MOST_VALUES]
    pairs: list[Association] = []
    wanted = list(combinations(fit, 2))
    for done, (first, second) in enumerate(wanted):
        progress(Step(Message("assess.stage.associations"), done, len(wanted)))
        pairs.append(_association(first, second))
    progress(Step(Message("assess.stage.associations"), len(wanted), len(wanted)))
    left_out = tuple(column.name for column in comparison.columns if column not in fit)
    return Associations(tuple(pairs), left_out)


def cramers_v(joint: NDArray[np.float64]) -> float:
    """Cramér's V of a table of counts, corrected for the bias of small samples.

    >>> cramers_v(np.array([[50.0, 0.0], [0.0, 50.0]]))
    1.0

    Reference: Bergsma 2013.
    """
    table = joint[joint.sum(axis=1) > 0][:, joint.sum(axis=0) > 0]
    (rows, columns), total = table.shape, float(table.sum())
    if min(rows, columns) < 2 or total <= 1:
        return 0.0
    independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    square = float(((table - independent) ** 2 / independent).sum() / total)
    square = max(0.0, square - (rows - 1) * (columns - 1) / (total - 1))
    least = min(size - (size - 1) ** 2 / (total - 1) for size in (rows, columns)) - 1
    return min(1.0, math.sqrt(square / least)) if least > 0 else 0.0


def _association(first: ColumnPair, second: ColumnPair) -> Association:
    before = (Side(first.before, first.itself()), Side(second.before, second.itself()))
    after = (Side(first.after, first.spread), Side(second.after, second.spread))
    numbers = (first.numbers, second.numbers)
    measure: Measure
    if first.is_numeric and second.is_numeric:
        measure, strength = "correlation", _correlation
    elif first.is_numeric or second.is_numeric:
        measure, strength = "correlation ratio", _ratio
    else:
        measure, strength = "Cramér's V", _cramers_v
    return Association(
        first.name, second.name, measure, strength(before, numbers), strength(after, numbers)
    )


_Numbers = Sequence[NDArray[np.float64] | None]


def _cramers_v(sides: tuple[Side, Side], numbers: _Numbers) -> float:
    return cramers_v(joint_mass(*sides))


def _correlation(sides: tuple[Side, Side], numbers: _Numbers) -> float:
    one, other, count = pair_counts(*sides)
    x, y = (_moments(side, amounts) for side, amounts in zip(sides, numbers, strict=True))
    x, y = x[:, one], y[:, other]
    rows = (count * x[0] * y[0]).sum()
    if rows == 0:
        return 0.0
    mean_x, mean_y = (count * x[1] * y[0]).sum() / rows, (count * x[0] * y[1]).sum() / rows
    spread_x = (count * x[2] * y[0]).sum() / rows - mean_x**2
    spread_y = (count * x[0] * y[2]).sum() / rows - mean_y**2
    together = (count * x[1] * y[1]).sum() / rows - mean_x * mean_y
    if min(spread_x, spread_y) <= _NOTHING:
        return 0.0
    return float(np.clip(together / math.sqrt(spread_x * spread_y), -1.0, 1.0))


def _ratio(sides: tuple[Side, Side], numbers: _Numbers) -> float:
    group, amount = sides if numbers[0] is None else sides[::-1]
    amounts = numbers[1] if numbers[0] is None else numbers[0]
    one, other, count = pair_counts(group, amount)
    y = _moments(amount, amounts)[:, other]
    size, total, square = (
        group.spread.mass(tally(one, count * part, group.spread.labels)) for part in y
    )
    if size.sum() == 0:
        return 0.0
    mean = total.sum() / size.sum()
    everything = square.sum() / size.sum() - mean**2
    if everything <= _NOTHING:
        return 0.0
    filled = size > 0
    between = (total[filled] ** 2 / size[filled]).sum() / size.sum() - mean**2
    return math.sqrt(min(1.0, max(0.0, between / everything)))


_NOTHING = 1e-12
"""A variance of standardised amounts that is only rounding."""


def _moments(side: Side, numbers: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """For each label: its share of amounts, and the expected amount and square within it."""
    assert numbers is not None, "only amounts have moments"
    amount = ~np.isnan(numbers)
    if not amount.any():
        return np.zeros((3, side.spread.labels))
    # Standardised first, or a column of large amounts would lose its variance to rounding.
    scale = numbers[amount].std() or 1.0
    x = np.where(amount, (numbers - numbers[amount].mean()) / scale, 0.0)
    return np.stack([side.spread.expected(part) for part in (amount.astype(np.float64), x, x**2)])
