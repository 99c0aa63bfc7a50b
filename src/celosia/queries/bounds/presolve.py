"""What of a packing program is settled before a solver sees it, in whole numbers.

Each step leaves the optimum as it is:

- *People within others.* If every row of p is also a row of q, the limit of q, which is the same
  cap, holds that of p. Of people with the same rows one is enough. A review whose rows all belong
  to one reviewer, an offer of one shop: most owners of a join go, and rows of many people become
  rows of one or two.
- *Rows of the same people* are in the same constraints, so only the sum of their parts matters: a
  number from 0 to the sum of their weights. They are one row of that weight.
- *What a row can hold* is at most the cap, the limit of each of its people: weights are cut off.
- *People below the cap.* If the weights of all rows of p, so cut off, add up to no more than the
  cap, the limit of p never binds. It does not under larger caps either, where the sum grows by no
  larger factor than the cap: min(w, t) / t falls with t. So what was dropped under a cap stays
  dropped under all larger ones, and each cap begins where the last one ended.
- *Rows without a person that binds* hold what they can.

Rows of one person are settled by the last two together: they are one row, cut off at the cap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
WIDEST = 8
"""People of a row up to which rows of the same people, and people within others, are looked for."""
HALF = 2**30


@dataclass(frozen=True, slots=True)
class PackingRows:
    """Rows that hold a weight each, and the pairs of rows and people, sorted by row.

    Rows and people are numbered from 0 without gaps; every row has a person.
    """

    rows: Whole
    people: Whole
    weights: Whole

    def merge_equal(self, most: int) -> PackingRows:
        """One row for each set of people, with all their weight up to a number of at most 2^41."""
        sets = people_table(self.rows, self.people)
        if sets is None:
            return self
        first, kind = _equal_rows(sets)
        if first.size == len(sets):
            return self
        weights = capped_sums(kind, self.weights, most)
        row, place = np.nonzero(sets[first] >= 0)
        return PackingRows(row, sets[first[row], place], weights)

    def drop_people(self, dropped: NDArray[np.bool_]) -> tuple[PackingRows, Whole]:
        """The same without some people, and the weights of rows that have no person any more."""
        kept = ~dropped[self.people]
        rows, people = self.rows[kept], self.people[kept]
        held = np.zeros(self.weights.size, dtype=bool)
        held[rows] = True
        number = np.cumsum(held) - 1
        names = np.cumsum(~dropped) - 1
        return PackingRows(number[rows], names[people], self.weights[held]), self.weights[~held]


def presolve(shares: PackingRows, caps: Sequence[int]) -> Iterator[tuple[int, int, PackingRows]]:
    """For each cap, from the least: the cap, what counts without a solver, and what is left.

    Weights of what is left are cut off at the cap.
    """
    done = np.zeros(0, dtype=np.int64)
    most = max(caps, default=1)
    shares = shares.merge_equal(most)
    for cap in sorted(caps):
        while shares.rows.size:
            loads = capped_sums(
                shares.people, np.minimum(shares.weights, cap)[shares.rows], cap + 1
            )
            if (loads > cap).all():
                break
            shares, alone = shares.drop_people(loads <= cap)
            done = np.r_[done, alone]
            shares = shares.merge_equal(most)
        rest = PackingRows(shares.rows, shares.people, np.minimum(shares.weights, cap))
        yield cap, exact_sum(np.minimum(done, cap)), rest


def find_undominated(rows: Whole, people: Whole) -> NDArray[np.bool_]:
    """For each person, by number, whether no other has all of their rows; one of equals has not.

    Pairs are sorted by row, without gaps in the numbers of people.
    """
    size = int(people.max(initial=-1)) + 1
    kept = np.ones(size, dtype=bool)
    sets = people_table(rows, people)
    if sets is None or sets.shape[1] < 2:
        return kept
    degree = np.bincount(people, minlength=size)
    # A person with all rows of p has the first and the last one: few others are compared in full.
    first, last = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    last[people] = rows
    first[people[::-1]] = rows[::-1]
    everyone = np.arange(size)
    for other in sets[first].T:
        wider = (other >= 0) & (
            (degree[other] > degree) | ((degree[other] == degree) & (other < everyone))
        )
        wider &= kept & (sets[last] == other[:, None]).any(axis=1)
        pairs = np.flatnonzero(wider[people])
        mine = people[pairs]
        shared = (sets[rows[pairs]] == other[mine][:, None]).any(axis=1)
        kept &= ~(wider & (np.bincount(mine[shared], minlength=size) == degree))
    return kept


def people_table(rows: Whole, people: Whole) -> Whole | None:
    """The people of each row, filled up with -1; None for rows of too many, or no row."""
    if not rows.size:
        return None
    sizes = np.bincount(rows)
    if sizes.max() > WIDEST:
        return None
    starts = np.cumsum(sizes) - sizes
    sets = np.full((sizes.size, int(sizes.max())), -1, dtype=np.int64)
    sets[rows, np.arange(rows.size) - starts[rows]] = people
    return sets


def capped_sums(places: Whole, amounts: Whole, cap: int) -> Whole:
    """Sums of amounts by place, cut off at a cap of at most 2^41.

    In two halves of 30 bits each, amounts being at most 2^50: both sums stay below 2^62 for 2^32
    amounts, and what leaves the range of their sum is cut off before they are put together.
    """
    size = int(places.max(initial=-1)) + 1
    low, high = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    np.add.at(low, places, amounts & (HALF - 1))
    np.add.at(high, places, amounts >> 30)
    high += low >> 30
    return np.minimum((np.minimum(high, 2**31) << 30) + (low & (HALF - 1)), cap)


def exact_sum(amounts: Whole) -> int:
    """The sum of amounts of at most 2^50, which need not fit in 64 bits."""
    return int((amounts & (HALF - 1)).sum()) + (int((amounts >> 30).sum()) << 30)


def _equal_rows(sets: Whole) -> tuple[Whole, Whole]:
    """A row of each kind, and the kind of each row."""
    size = int(sets.max()) + 2
    key = sets[:, 0] + 1
    for column in sets.T[1:]:
        if int(key.max()) >= 2**62 // size:  # the next key need not fit in 64 bits
            _, key = np.unique(key, return_inverse=True)
        key = key * size + column + 1
    _, first, kind = np.unique(key, return_index=True, return_inverse=True)
    return first, kind
