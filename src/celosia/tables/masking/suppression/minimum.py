"""The least cost of cells to blank, proved by an integer program; for small tables.

HiGHS stops after a number of nodes, not of seconds, so that a table gives the same on any machine.

Reference: Meyerson, Williams 2004 (the problem is NP-hard for k of 3 or more).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.tables.masking.suppression.costs import (
    BLANK,
    Codes,
    class_sizes,
    cost_of,
    identify,
)

NODES = 2_000
LARGEST_OWN = 4_000
"""Most pairs of a combination and a set of columns of the program for "own"."""
LARGEST_ANY = 190
"""Most pairs of records of the program for "any"."""

LARGEST_BOUND = 1 << 23
"""Most pairs of a record and a set of columns that the lower bound looks at."""


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The best solution known, and what no solution can go below."""

    released: Codes
    lower_bound: float
    proved: bool


def minimum_suppression(
    codes: Codes, k: int, costs: Sequence[float], start: Codes, reading: str
) -> Minimum:
    """A solution no worse than `start`, which must be one; proved the best where it is small."""
    spent = cost_of(codes, start, costs)
    if spent == 0:
        return Minimum(start, 0.0, True)
    bound = lower_bound(codes, k, costs) if reading == "own" else min(costs)
    if bound >= spent - 1e-9:
        return Minimum(start, spent, True)
    program = _own_value(codes, k, costs) if reading == "own" else _matching(codes, k, costs)
    if program is None:
        return Minimum(start, bound, False)
    found, dual, proved = program.solve(spent)
    better = start if found is None or cost_of(codes, found, costs) >= spent else found
    least_cost = cost_of(codes, better, costs)
    return Minimum(better, least_cost if proved else max(bound, dual), proved)


def lower_bound(codes: Codes, k: int, costs: Sequence[float]) -> float:
    """What the rare records must cost, each at its cheapest, if a blank is a value of its own.

    A record is released with a set of columns blank, and shares the others with k records at least;
    the cheapest such set in the original table is therefore a bound for it.
    """
    price_of = np.asarray(costs, dtype=np.float64)
    if len(codes) << codes.shape[1] > LARGEST_BOUND:  # then only that each needs one cell
        return float((class_sizes(codes) < k).sum() * price_of.min())
    best = np.full(len(codes), np.inf)
    for hidden in _subsets(codes.shape[1]):
        seen = [place for place in range(codes.shape[1]) if place not in hidden]
        names = identify(codes[:, seen])
        crowd = np.bincount(names)[names] >= k
        price = (codes[:, hidden] != BLANK) @ price_of[list(hidden)]
        best = np.where(crowd, np.minimum(best, price), best)
    return float(best.sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """An integer program, and how to read a solution of it."""

    cost: NDArray[np.float64]
    rows: Any
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    upper: NDArray[np.float64]
    read: Any

    def solve(self, spent: float) -> tuple[Codes | None, float, bool]:
        """A solution if one was found that costs at most `spent`, a bound, and whether it is it."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        result = milp(
            self.cost,
            constraints=[
                LinearConstraint(self.rows, self.low, self.high),
                LinearConstraint(self.cost[np.newaxis, :], -np.inf, spent + 1e-6),
            ],
            bounds=Bounds(0, self.upper),
            integrality=np.ones(self.cost.size),
            options={"node_limit": NODES, "mip_rel_gap": 0},
        )
        dual = 0.0 if result.mip_dual_bound is None else max(0.0, result.mip_dual_bound - 1e-6)
        found = None if result.x is None else self.read(np.rint(result.x).astype(np.int64))
        return found, dual, result.status == 0


def _subsets(columns: int) -> list[tuple[int, ...]]:
    sizes = range(columns + 1)
    return list(chain.from_iterable(combinations(range(columns), size) for size in sizes))


def _own_value(codes: Codes, k: int, costs: Sequence[float]) -> _Program | None:
    """How many records of each combination are released with which columns blank.

    The number of a released combination is 0, or k at least: for each a variable that says which.
    """
    names = identify(codes)
    _, first, groups = np.unique(names, return_index=True, return_counts=True)
    distinct = codes[first]
    if len(distinct) * 2 ** codes.shape[1] > LARGEST_OWN:
        return None
    from scipy.sparse import lil_array, vstack

    targets: dict[tuple[int, ...], list[int]] = {}
    owners: list[tuple[int, tuple[int, ...]]] = []
    cost: list[float] = []
    for group, row in enumerate(distinct.tolist()):
        for hidden in _subsets(len(row)):
            if any(row[place] == BLANK for place in hidden):
                continue  # the same as without that column
            target = tuple(BLANK if place in hidden else code for place, code in enumerate(row))
            targets.setdefault(target, []).append(len(owners))
            owners.append((group, target))
            cost.append(sum(costs[place] for place in hidden))
    width = len(owners) + len(targets)
    whole = lil_array((len(distinct), width))
    for place, (group, _) in enumerate(owners):
        whole[group, place] = 1
    enough, none = lil_array((len(targets), width)), lil_array((len(targets), width))
    upper = np.append([groups[group] for group, _ in owners], np.ones(len(targets)))
    for number, places in enumerate(targets.values()):
        most = sum(int(groups[owners[place][0]]) for place in places)
        for place in places:
            enough[number, place] = none[number, place] = 1
        enough[number, len(owners) + number] = -k
        none[number, len(owners) + number] = -most
        if most < k:  # never a class
            upper[places] = 0
            upper[len(owners) + number] = 0

    def read(solution: NDArray[np.int64]) -> Codes:
        released = codes.copy()
        left = {group: np.flatnonzero(names == names[first[group]]) for group in range(len(first))}
        for (group, target), number in zip(owners, solution.tolist(), strict=False):
            released[left[group][:number]] = target
            left[group] = left[group][number:]
        return released

    return _Program(
        cost=np.append(cost, np.zeros(len(targets))),
        rows=vstack([whole, enough, none]).tocsr(),
        low=np.concatenate([groups, np.zeros(len(targets)), np.full(len(targets), -np.inf)]),
        high=np.concatenate([groups, np.full(len(targets), np.inf), np.zeros(len(targets))]),
        upper=upper,
        read=read,
    )


def _matching(codes: Codes, k: int, costs: Sequence[float]) -> _Program | None:
    """Which cells are blank and which pairs then match: each record must match k - 1 others."""
    count, columns = codes.shape
    if count * (count - 1) // 2 > LARGEST_ANY:
        return None
    pairs = list(combinations(range(count), 2))
    from scipy.sparse import lil_array

    cells = count * columns
    differ = [
        (number, one * columns + place, other * columns + place)
        for number, (one, other) in enumerate(pairs)
        for place in range(columns)
        if codes[one, place] != codes[other, place]
        and BLANK not in (codes[one, place], codes[other, place])
    ]
    rows = lil_array((len(differ) + count, cells + len(pairs)))
    for row, (number, one, other) in enumerate(differ):
        rows[row, one] = rows[row, other] = 1
        rows[row, cells + number] = -1
    for number, (one, other) in enumerate(pairs):
        rows[len(differ) + one, cells + number] = 1
        rows[len(differ) + other, cells + number] = 1

    def read(solution: NDArray[np.int64]) -> Codes:
        blank = solution[:cells].reshape(count, columns) == 1
        return np.where(blank, BLANK, codes)

    upper = np.ones(cells + len(pairs))
    upper[:cells][codes.reshape(-1) == BLANK] = 0
    return _Program(
        cost=np.append(np.tile(np.asarray(costs, dtype=np.float64), count), np.zeros(len(pairs))),
        rows=rows.tocsr(),
        low=np.append(np.zeros(len(differ)), np.full(count, k - 1)),
        high=np.full(len(differ) + count, np.inf),
        upper=upper,
        read=read,
    )
