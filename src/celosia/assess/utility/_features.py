"""Columns as features that hold both released labels and raw values.

A classifier trained on a release knows labels; the people it is tried on have raw values. So each
test value is mapped up, to what the release would have made of it: the mixture of the labels that
cover it, each by its posterior chance P(label | value), which is proportional to how often the
label occurs times its share for the value. Where a column was recoded globally, one label covers
each value and the mixture is that label alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.assess.utility.column_pair import ColumnPair
from celosia.assess.utility.spread import Spread, tally

MOST_LABELS = 200
"""Of a category, the labels with a feature of their own; rarer ones have none."""

Table = NDArray[np.float64]


class Features(NamedTuple):
    """What the labels (for training) and the raw values (for testing) of a column become."""

    of_label: Table
    of_value: Table


def features(column: ColumnPair, codes: NDArray[np.int32], spread: Spread) -> Features:
    """The features of a column, learnt from the labels of the training rows.

    A category has one feature for each label, 1 where the row has it; an amount has one feature,
    the mean of what its label stands for, in standard deviations from the mean of the training
    rows. An empty amount counts as the mean. A value that no training label covers has no feature
    set, or its own amount.
    """
    counts = np.bincount(codes, minlength=spread.labels).astype(np.float64)
    chance = _posterior(spread, counts)
    if column.numbers is None:
        return _indicators(spread, counts, chance)
    return _amounts(column.numbers, spread, counts, chance)


def _posterior(spread: Spread, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(label | value) for each entry of the spread; 0 where no label of the value occurs."""
    weight = counts[spread.label] * spread.share
    total = tally(spread.value, weight, spread.values)[spread.value]
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _indicators(
    spread: Spread, counts: NDArray[np.float64], chance: NDArray[np.float64]
) -> Features:
    frequent = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    frequent = frequent[counts[frequent] > 0]
    feature = np.full(spread.labels, -1)
    feature[frequent] = np.arange(frequent.size)
    of_label = np.zeros((spread.labels, frequent.size))
    of_label[frequent, np.arange(frequent.size)] = 1.0
    of_value = np.zeros((spread.values, frequent.size))
    has = feature[spread.label] >= 0
    np.add.at(of_value, (spread.value[has], feature[spread.label[has]]), chance[has])
    return Features(of_label, of_value)


def _amounts(
    numbers: NDArray[np.float64],
    spread: Spread,
    counts: NDArray[np.float64],
    chance: NDArray[np.float64],
) -> Features:
    is_amount = ~np.isnan(numbers)
    # Squares of huge amounts would overflow.
    numbers = numbers / (float(np.abs(numbers[is_amount]).max(initial=0.0)) or 1.0)
    part = spread.expected(is_amount.astype(np.float64))
    total = spread.expected(np.where(is_amount, numbers, 0.0))
    mean = np.divide(total, part, out=np.full(spread.labels, np.nan), where=part > 0)
    known = ~np.isnan(mean)
    weights = counts * known
    filled = np.where(known, mean, 0.0)
    centre = float((filled * weights).sum() / max(weights.sum(), 1.0))
    of_label = np.where(known, mean, centre) - centre
    scale = float(np.sqrt((of_label**2 * weights).sum() / max(weights.sum(), 1.0))) or 1.0
    of_label /= scale
    mixed = tally(spread.value, chance * of_label[spread.label], spread.values)
    covered = tally(spread.value, chance, spread.values) > 0
    own = np.where(is_amount, (numbers - centre) / scale, 0.0)
    return Features(of_label[:, None], np.where(covered, mixed, own)[:, None])
