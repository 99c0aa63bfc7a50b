"""Two columns of one table together: on distinct pairs of labels, never row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.assess.utility.spread import Spread, tally


class Side(NamedTuple):
    """One column of one table: the label of each row, and what the labels stand for."""

    codes: NDArray[np.int32]
    spread: Spread


def pair_counts(
    first: Side, second: Side
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The pairs of labels that occur, and in how many rows each of them does."""
    width = second.spread.labels
    pairs, counts = np.unique(
        first.codes.astype(np.int64) * width + second.codes, return_counts=True
    )
    return pairs // width, pairs % width, counts.astype(np.float64)


def joint_mass(first: Side, second: Side) -> NDArray[np.float64]:
    """How many rows are expected to have each pair of values."""
    one, other, counts = pair_counts(first, second)
    # First (value, label), then (value, value): the two labels of a row are spread one by one.
    half = _spread_over(first.spread, one, counts, other, second.spread.labels)
    value, label = np.nonzero(half)
    return _spread_over(second.spread, label, half[value, label], value, first.spread.values).T


def _spread_over(
    spread: Spread,
    labels: NDArray[np.int64],
    mass: NDArray[np.float64],
    partner: NDArray[np.int64],
    partners: int,
) -> NDArray[np.float64]:
    """Mass of pairs (label, partner) as a table of (value, partner)."""
    starts = np.searchsorted(spread.label, np.arange(spread.labels + 1))
    sizes = np.diff(starts)[labels]
    pair = np.repeat(np.arange(labels.size), sizes)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entry = starts[labels][pair] + within
    cells = tally(
        spread.value[entry] * partners + partner[pair],
        spread.share[entry] * mass[pair],
        spread.values * partners,
    )
    return cells.reshape(spread.values, partners)
