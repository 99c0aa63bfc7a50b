"""How far the rank of a grid point misses a target, for all points between two values at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.noise.weighted_draw import draw_weighted


def rank_steps(share: Fraction, relation: Relation) -> int:
    """How far one neighbour moves the miss of a point, times the denominator of the share q.

    The miss of r is max(0, L - q n, q n - L - E) with L values below r and E equal to it, out of n.
    One row more moves L - q n by 1 - q (below r) or -q, and q n - L - E by q - 1 (at most r) or q
    (above r); so both, and their maximum, move by at most max(q, 1 - q). A changed row leaves n as
    it is and moves L and L + E by at most 1.

    >>> rank_steps(Fraction(1, 4), Relation.ADD_REMOVE)
    3
    """
    if relation is Relation.CHANGE_ONE:
        return share.denominator
    return max(share.numerator, share.denominator - share.numerator)


@dataclass(frozen=True, slots=True)
class Segments:
    """Runs of neighbouring grid points that all miss the target by the same number of rows."""

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    misses: NDArray[np.int64]
    """Times the denominator of the share, so that they are whole."""

    def draw(self, rate: Fraction, rng: Source) -> int:
        """A grid point with a chance proportional to exp(-rate * miss), exactly."""
        index = draw_weighted(self.misses, rate=rate, rng=rng, weights=self.sizes)
        return int(self.starts[index]) + int(rng.integers(int(self.sizes[index]), 1)[0])

    def in_order(self) -> Segments:
        """The same segments, lowest first."""
        order = np.argsort(self.starts)
        return Segments(self.starts[order], self.sizes[order], self.misses[order])


def segments(places: NDArray[np.int64], first: int, last: int, share: Fraction) -> Segments:
    """The segments of the points from `first` to `last` for sorted values among them.

    >>> found = segments(np.array([2, 2, 5]), 0, 9, Fraction(1, 2)).in_order()
    >>> found.starts.tolist(), found.sizes.tolist(), found.misses.tolist()
    ([0, 2, 3, 5, 6], [2, 1, 2, 1, 4], [3, 0, 1, 1, 3])
    """
    ends = np.flatnonzero(np.append(places[1:] != places[:-1], np.ones(min(places.size, 1), bool)))
    values, upto = places[ends], ends + 1
    below = np.concatenate([[0], upto])
    starts = np.concatenate([values, [first], values + 1])
    sizes = np.concatenate(
        [np.ones_like(values), np.append(values, last + 1) - starts[-below.size :]]
    )
    lower = np.concatenate([below[:-1], below])
    upper = np.concatenate([upto, below])
    # At most 2^32 rows times a denominator of at most 10^6: below 2^52.
    target = share.numerator * places.size
    misses = np.maximum(lower * share.denominator - target, target - upper * share.denominator)
    some = sizes > 0
    return Segments(starts[some], sizes[some], np.maximum(misses, 0)[some])
