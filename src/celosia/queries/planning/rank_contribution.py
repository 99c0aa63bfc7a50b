"""How many rows of one unit count in a rank, and how far the unit can move the rank."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.statistics.quantiles import rank_steps
from celosia.queries.bounds.private_cap import PrivateCap

MOST_ROWS = 2**20
"""The largest cap that is chosen from: a rank that misses by more has no use."""
CAP_SHARE = Fraction(1, 5)
"""The share of epsilon that the choice of a cap costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankContribution:
    """The rows of a unit that count in a rank."""

    most: int = 1
    """The rows of one unit, over all groups, at most."""
    is_chosen: bool = False
    """Whether a cap of 1, 2, 4, ... up to `most` is chosen privately, and enforced."""
    is_reduced: bool = False
    """Whether a unit counts once in each group, by its own least or greatest value there."""
    is_paired: bool = True
    """Whether rows that a changed unit takes out can be matched with rows that it puts in."""

    def steps(self, share: Fraction, relation: Relation, *, rows: int, groups: int) -> int:
        """How far a unit with so many rows moves the misses of one point a group, in sum.

        It is counted in rows times the denominator of the share q, whatever the points. One row
        that comes or goes moves the misses of its own group, and of no other, by at most
        s = max(q, 1 - q), and one that is replaced within its group by at most 1 <= 2 s (see
        `mechanisms.statistics.ranks.rank_steps`). Taken one after the other, so many rows move
        them by at most rows * s.

        A changed unit takes out up to `rows` rows and puts in as many. Each pair of these in one
        group costs 1 instead of 2 s. With one group all are such pairs. With one row in each of
        several groups, two sets of `rows` groups among all of them share at least
        2 rows - groups. In any other case there need be no such pair. A pair that is counted as
        none costs no less, so the fewest pairs cost the most.

        >>> rows, share = RankContribution(most=3), Fraction(9, 10)
        >>> rows.steps(share, Relation.ADD_REMOVE, rows=3, groups=5)
        27
        >>> rows.steps(share, Relation.CHANGE_ONE, rows=3, groups=1)
        30
        >>> rows.steps(share, Relation.CHANGE_ONE, rows=3, groups=5)
        54
        """
        single = rank_steps(share, Relation.ADD_REMOVE)
        if relation is Relation.ADD_REMOVE:
            return rows * single
        pairs = 0
        if self.is_paired:
            pairs = rows if groups == 1 else max(0, 2 * rows - groups) if self.is_reduced else 0
        return 2 * rows * single - pairs * (2 * single - share.denominator)


@dataclass(frozen=True, kw_only=True)
class RowCap:
    """The choice of a cap on the rows of each unit, by how many units have how many.

    Too small a cap loses rows of those who have many; too large a cap makes ranks miss by more.
    Both are weighed in rows, as `PrivateCap` weighs what a cap takes from a count against noise.

    Guarantee: epsilon-DP, delta 0. A unit is at one level. Added or removed, it moves one number by
    one, which gets discrete Laplace noise of scale 1 / epsilon; changed, it may move two, and the
    scale is twice that (Dwork & Roth 2014, Thm 3.6). The cap is a function of the noisy numbers.

    Reference: as `PrivateCap`.
    """

    epsilon: Fraction
    most: int
    miss: float
    """Rows by which a rank misses for each row of the cap."""
    relation: Relation

    @cached_property
    def mechanism(self) -> PrivateCap:
        """The noise of the numbers, the thresholds and the rule; its totals are not used."""
        halved = self.relation is Relation.CHANGE_ONE
        counting = self.epsilon / 2 if halved else self.epsilon
        # The price at which noise in a count would be as large as the miss: 1.4 caps / price.
        price = max(Fraction(sqrt(2) / self.miss).limit_denominator(10**9), Fraction(1, 10**9))
        whole: Any = counting + price
        share: Any = counting / (counting + price)
        return PrivateCap(epsilon=whole, share=share, most=self.most)

    def levels(self, held: Iterable[tuple[int, int]]) -> list[int]:
        """The exact numbers of units at each cap, from numbers of rows with their units."""
        caps = self.mechanism.caps
        found = [0] * len(caps)
        for rows, people in held:
            found[min(bisect_left(caps, rows), len(caps) - 1)] += people
        return found

    def choose(self, levels: list[int], rng: Source) -> tuple[int, list[int]]:
        """The cap, and the noisy numbers of units that it was chosen by."""
        noise = self.mechanism.level_noise.draw(len(levels), rng).tolist()
        noisy = [level + each for level, each in zip(levels, noise, strict=True)]
        return self.mechanism.caps[self.mechanism.choose_cap(noisy)], noisy
