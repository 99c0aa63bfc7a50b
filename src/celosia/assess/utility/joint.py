"""How often two columns have each pair of values, before and after: what a heat map shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.assess.utility.column_pair import ColumnPair
from celosia.assess.utility.comparison import Comparison
from celosia.assess.utility.distributions import assign_bins, shares
from celosia.assess.utility.spread import Spread
from celosia.core.errors import InputError
from celosia.core.messages import say_of
from celosia.core.methods import PlainValues
from celosia.core.numbers import whole

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


BINS = 12
"""Values of one column; a reader sees no more of them in a map."""
OTHERS = "(others)"
"""What the rarest categories are called together."""


@dataclass(frozen=True, slots=True)
class JointDistribution(PlainValues):
    """The shares of all pairs of values in both tables; each side adds up to 1."""

    first: str
    second: str
    first_values: tuple[str, ...]
    second_values: tuple[str, ...]
    before: tuple[tuple[float, ...], ...]
    """A line for each value of the first column."""
    after: tuple[tuple[float, ...], ...]

    @property
    def moved(self) -> float:
        """The share of the records whose pair would have to change: total variation."""
        return float(np.abs(np.array(self.after) - np.array(self.before)).sum()) / 2

    def __str__(self) -> str:
        return say_of("assess.line.joint", self)


def joint(
    comparison: Comparison, first: str, second: str, *, bins: int = BINS
) -> JointDistribution:
    """The pairs of values of two columns, before and after.

    Released labels are spread over what they stand for, independently in the two columns. Amounts
    with more than `bins` values are put in bins as `distributions` does; of categories, the rarest
    go together.

    Raises:
        InputError: CEL-A071 no such column, CEL-A077 fewer than 2 bins.

    >>> from celosia.assess.utility import compare
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["1", "1", "1", "2"]}
    >>> joint(compare(table, table, ["a", "b"]), "a", "b").before
    ((0.5, 0.0), (0.25, 0.25))
    """
    number = whole(bins)
    if number is None or number < 2:
        raise InputError("CEL-A077.joint", bins=bins)
    one, other = comparison.column(first), comparison.column(second)
    names, place = _group(one, number)
    other_names, other_place = _group(other, number)
    groups = ((place, len(names)), (other_place, len(other_names)))
    before = _map(((one.before, one.itself()), (other.before, other.itself())), groups)
    after = _map(((one.after, one.spread), (other.after, other.spread)), groups)
    return JointDistribution(first, second, names, other_names, before, after)


def _group(column: ColumnPair, bins: int) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The names on one side of the map, and the place there of each value."""
    size = len(column.values)
    if size <= bins:
        return column.values, np.arange(size, dtype=np.int64)
    if column.numbers is not None:
        return assign_bins(column.numbers, column.values, bins)
    frequent = np.sort(np.argsort(-column.counts_before(), kind="stable")[: bins - 1])
    place = np.full(size, bins - 1, dtype=np.int64)
    place[frequent] = np.arange(bins - 1)
    return (*(column.values[at] for at in frequent.tolist()), OTHERS), place


def _map(
    columns: Sequence[tuple[NDArray[np.int32], Spread]],
    groups: Sequence[tuple[NDArray[np.int64], int]],
) -> tuple[tuple[float, ...], ...]:
    """The shares of the pairs in one table; values are grouped first, so the table stays small."""
    one, other = (
        Side(codes, Spread(all_.label, place[all_.value], all_.share, all_.labels, size))
        for (codes, all_), (place, size) in zip(columns, groups, strict=True)
    )
    return tuple(tuple(line) for line in shares(joint_mass(one, other)).tolist())
