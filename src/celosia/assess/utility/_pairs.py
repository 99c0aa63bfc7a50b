"""Two columns of one table together, computed on distinct pairs of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.assess.utility.spread import Spread

MOST_ENTRIES = 2**20
"""So many expected counts are held at a time on the way to a table of pairs."""


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
    """How many rows are expected to have each pair of values.

    The table has a cell for each pair of values, so callers keep the values few. What leads to it
    stays sparse: at most one count for each row, one share for each entry of the spreads, and
    `MOST_ENTRIES` products at a time, however many labels the columns have.
    """
    from scipy import sparse  # slow to import

    one, other, counts = pair_counts(first, second)
    rows = (first.spread.labels, second.spread.labels)
    labels = sparse.csr_array((counts, (one, other)), shape=rows)
    shares, other_shares = _shares(first.spread), _shares(second.spread)
    # The two labels of a row are spread one by one: values x labels x labels x values.
    found = np.zeros((first.spread.values, second.spread.values))
    step = max(1, MOST_ENTRIES // max(1, second.spread.values))
    for start in range(0, first.spread.labels, step):
        half = labels[start : start + step] @ other_shares
        found += (shares[start : start + step].T @ half).toarray()
    return found


def _shares(spread: Spread) -> Any:
    """The shares as a sparse matrix of labels and values; entries of one cell are added up."""
    from scipy import sparse  # slow to import

    size = (spread.labels, spread.values)
    return sparse.csr_array((spread.share, (spread.label, spread.value)), shape=size)
