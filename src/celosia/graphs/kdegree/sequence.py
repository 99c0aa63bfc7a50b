"""k-anonymous degree sequences, as close to the given degrees as possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.numbers import whole
from celosia.tables.masking.microaggregation import optimal_groups

TargetRule = Literal["raise", "greedy", "median"]
NO_LIMIT = 2**62


def check_k(k: object, order: int) -> None:
    """Refuse a k that is no whole number of at least 2, or above the number of vertices."""
    number = whole(k)
    if number is None or number < 2:
        raise InputError("CEL-G100.no_k", k=k)
    if number > order:
        raise InputError("CEL-G100.too_large", k=number, vertices=order)


def anonymous_degrees(
    degrees: NDArray[np.int64], k: int, *, target_rule: TargetRule = "raise"
) -> NDArray[np.int64]:
    """A degree for each vertex, each of them at least k times.

    `raise` only raises degrees, with the least sum of raises; `greedy` raises them by one walk
    through the sorted degrees, at a cost not much greater; `median` also lowers them, with the
    least sum of changes. The exact ways take O(n k) steps.

    >>> anonymous_degrees(np.array([2, 4, 2, 1, 3, 2, 2, 2, 2]), 2).tolist()
    [2, 4, 2, 2, 4, 2, 2, 2, 2]

    Raises:
        InputError: CEL-G100 k is below 2 or above the number of vertices.

    Reference: Liu, Terzi 2008, sections 4 and 6.
    """
    from celosia.graphs.kdegree._sequence_kernels import (
        cheapest_groups,
        greedy_groups,
    )

    check_k(k, len(degrees))
    by_rank, ranked = sort_falling(degrees)
    if target_rule == "greedy":
        starts = greedy_groups(ranked, k)
    else:
        starts = cheapest_groups(ranked, k, target_rule == "median", NO_LIMIT)
    if target_rule == "median":
        sizes = np.bincount(starts, minlength=len(ranked))
        starts = starts + sizes[starts] // 2
    targets = np.empty_like(ranked)
    targets[by_rank] = ranked[starts]
    return targets


def sort_falling(degrees: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The vertices by falling degree, and their degrees."""
    by_rank = np.argsort(-degrees, kind="stable")
    return by_rank, np.asarray(degrees[by_rank], dtype=np.int64)


def least_edge_changes(degrees: NDArray[np.int64], k: int, *, additions_only: bool) -> int:
    """The least number of edges that any method must change: each changes two degrees by one.

    >>> least_edge_changes(np.array([2, 4, 2, 1, 3, 2, 2, 2, 2]), 2, additions_only=True)
    1
    """
    targets = anonymous_degrees(degrees, k, target_rule="raise" if additions_only else "median")
    return (int(np.abs(targets - degrees).sum()) + 1) // 2


def is_graphical(degrees: NDArray[np.int64]) -> bool:
    """Whether some simple graph has these degrees.

    >>> is_graphical(np.array([3, 3, 1, 1])), is_graphical(np.array([2, 2, 2]))
    (False, True)

    Reference: Erdos, Gallai 1960.
    """
    _, ranked = sort_falling(degrees)
    count = len(ranked)
    if not count:
        return True
    if ranked[-1] < 0 or ranked[0] >= count or int(ranked.sum()) % 2:
        return False
    first = np.arange(1, count + 1)
    total = np.concatenate([[0], np.cumsum(ranked)])
    # Of the vertices behind the first l, those with degrees above l count l and the others theirs.
    above = np.searchsorted(-ranked, -first, side="left")
    split = np.maximum(above, first)
    spare = first * (first - 1) + first * (split - first) + total[-1] - total[split]
    return bool((total[1:] <= spare).all())


_WORK = 1 << 30
_FREE = 1000


def microaggregated_degrees(degrees: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """A degree for each vertex, each of them at least k times, with a sum near the given one.

    The sorted degrees are cut into groups of k to 2k - 1 with the least variance, and each group
    gets its mean rounded down or up: so that the sum is even and as near as possible to that of
    the degrees, then with the least change, then with low degrees rather rounded up. That choice
    is a sum of group sizes, solved exactly by dynamic programming; beyond a billion steps, all
    groups but a thousand are rounded to the nearer number first.

    >>> microaggregated_degrees(np.array([2, 4, 2, 1, 3, 2, 2, 2, 2]), 2).tolist()
    [2, 3, 2, 2, 3, 2, 2, 2, 2]

    Raises:
        InputError: CEL-G100 k is below 2 or above the number of vertices.
        PrivacyError: CEL-G103 every choice has an odd sum.

    Reference: Casas-Roma, Herrera-Joancomarti, Torra 2017, k-degree anonymity and edge selection.
    """
    check_k(k, len(degrees))
    rounding = Rounding.of(degrees, optimal_groups(degrees, k))
    sums = rounding.sums
    sums = sums[sums % 2 == 0]
    if not sums.size:
        raise PrivacyError("CEL-G103", k=k)
    return rounding.targets(rounding.nearest(sums, int(degrees.sum())))


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """Groups of vertices, and the sums that their degrees have if each gets its mean, rounded."""

    groups: NDArray[np.int64]
    sizes: NDArray[np.int64]
    base: NDArray[np.int64]
    """The degree of each group before any open one is rounded up."""
    names: NDArray[np.int64]
    """The groups that may be rounded either way."""
    kinds: NDArray[np.int64]
    """Their distinct sizes, and for each the groups of that size, cheapest first."""
    members: list[NDArray[np.int64]]
    best: NDArray[np.int64]
    """The least change for each number of ends that rounding up brings; 2**62 for none."""
    taken: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        degrees: NDArray[np.int64],
        groups: NDArray[np.int64],
        *,
        more: NDArray[np.bool_] | None = None,
    ) -> Rounding:
        """The roundings of these groups, numbered from 0.

        Groups whose mean is a whole number keep it; those of `more` may get one more all the same.
        """
        from celosia.graphs.kdegree._sequence_kernels import cheapest_sums

        sizes = np.bincount(groups)
        totals = np.zeros(len(sizes), dtype=np.int64)
        np.add.at(totals, groups, degrees)
        low, rest = np.divmod(totals, sizes)
        # Rounding up instead of down: one more for the degrees up to `low`, one less for others.
        above = np.bincount(groups[degrees > low[groups]], minlength=len(sizes))
        extra = sizes - 2 * above
        names = np.flatnonzero(rest if more is None else (rest > 0) | more)
        base = low.copy()
        if names.size * int(sizes[names].sum()) > _WORK:
            by_cost = np.argsort(np.abs(extra[names]), kind="stable")
            names, settled = np.split(names[by_cost], [_FREE])
            base[settled] += 2 * rest[settled] > sizes[settled]
            names.sort()
        kinds = np.unique(sizes[names]).astype(np.int64)
        members = [names[sizes[names] == kind] for kind in kinds]
        members = [each[np.argsort(extra[each], kind="stable")] for each in members]
        costs = [np.concatenate([[0], np.cumsum(extra[each])]) for each in members]
        starts = np.cumsum([0, *(len(each) for each in costs)]).astype(np.int64)
        flat = np.concatenate(costs) if costs else np.empty(0)
        best, taken = cheapest_sums(kinds, starts, flat.astype(np.int64), int(sizes[names].sum()))
        return cls(groups, sizes, base, names, kinds, members, best, taken)

    @property
    def sums(self) -> NDArray[np.int64]:
        """The sums of all degrees that can be reached."""
        return np.flatnonzero(self.best < NO_LIMIT) + self._floor

    @property
    def _floor(self) -> int:
        return int((self.base * self.sizes).sum())

    def cost(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """How far degrees change for each of these sums, beyond rounding down."""
        return self.best[sums - self._floor]

    def nearest(self, sums: NDArray[np.int64], wanted: int) -> int:
        """The sum nearest to the wanted one, then the one of least change."""
        return int(sums[np.lexsort((self.cost(sums), np.abs(sums - wanted)))[0]])

    def targets(self, total: int) -> NDArray[np.int64]:
        """A degree for each vertex, with this sum."""
        left, made = total - self._floor, self.base.copy()
        for kind in reversed(range(len(self.kinds))):
            count = int(self.taken[kind, left])
            made[self.members[kind][:count]] += 1
            left -= count * int(self.kinds[kind])
        return np.asarray(made[self.groups], dtype=np.int64)
