"""Sets of columns to blank in the order of what they cost, and what was spent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from celosia.assess.risk.individual import (
    BLANK,
    Codes,
    class_sizes,
    identify,
    matching,
    same_as,
)

__all__ = [
    "BLANK",
    "Codes",
    "class_sizes",
    "cost_of",
    "identify",
    "matching",
    "patterns_by_cost",
    "same_as",
]


def patterns_by_cost(costs: Sequence[float]) -> list[list[tuple[int, ...]]]:
    """All sets of columns to blank, those of equal cost together, the cheapest first.

    >>> patterns_by_cost([1, 1])
    [[(0,), (1,)], [(0, 1)]]
    """
    found: dict[float, list[tuple[int, ...]]] = {}
    columns = range(len(costs))
    for size in range(1, len(costs) + 1):
        for chosen in combinations(columns, size):
            # Rounded: sums of the same weights in another order are the same cost.
            cost = round(sum(costs[place] for place in chosen), 9)
            found.setdefault(cost, []).append(chosen)
    return [found[cost] for cost in sorted(found)]


def cost_of(before: Codes, after: Codes, costs: Sequence[float]) -> float:
    """What the cells blanked between two states of a table cost."""
    fresh = (after == BLANK) & (before != BLANK)
    return float(fresh.sum(axis=0) @ np.asarray(costs, dtype=np.float64))
