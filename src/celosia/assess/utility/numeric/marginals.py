"""How far the distribution of each single column moved."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.assess.utility.distances import equal_distance, hellinger
from celosia.assess.utility.distributions import shares
from celosia.core.messages import say

BINS = 20
"""Amounts are put in as many bins, each with as many original records."""


@dataclass(frozen=True, slots=True)
class Marginal:
    """Distances between a column before and after, in [0, 1]; 0 means the same distribution."""

    column: str
    hellinger: float
    total_variation: float
    kolmogorov: float | None
    """The greatest difference of the distribution functions; None for categories."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        last = "" if self.kolmogorov is None else f", Kolmogorov-Smirnov {self.kolmogorov:.4f}"
        return say(
            "assess.line.marginal",
            column=self.column,
            hellinger=self.hellinger,
            total_variation=self.total_variation,
            last=last,
        )


def marginals(tables: AlignedTables) -> tuple[Marginal, ...]:
    """The distances of every column; empty cells are a value in all but Kolmogorov-Smirnov.

    Amounts are put in at most twenty bins with equally many original records for Hellinger's
    distance and the total variation: masked amounts are seldom equal to any original one.

    >>> from celosia.assess.alignment import align
    >>> print(*marginals(align({"sex": ["f", "f", "m", "m"]}, {"sex": ["f", "m", "m", "m"]})))
    sex: Hellinger 0.1846, total variation 0.2500
    """
    found = []
    for place, name in enumerate(tables.columns):
        before, after = tables.before[:, place], tables.after[:, place]
        is_code = bool(tables.nominal[place])
        edges = _categories(before, after) if is_code else _bins(before)
        p, q = (shares(_counts(side, edges)) for side in (before, after))
        found.append(
            Marginal(
                column=name,
                hellinger=hellinger(p, q),
                total_variation=equal_distance(p, q),
                kolmogorov=None if is_code else kolmogorov_smirnov(before, after),
            )
        )
    return tuple(found)


def kolmogorov_smirnov(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """The greatest difference of two distribution functions; gaps are left out.

    >>> kolmogorov_smirnov(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    one, other = (np.sort(side[~np.isnan(side)]) for side in (before, after))
    if not one.size or not other.size:
        return 0.0 if one.size == other.size else 1.0
    places = np.concatenate([one, other])
    reached = (np.searchsorted(side, places, side="right") / side.size for side in (one, other))
    return float(np.abs(np.subtract(*reached)).max())


def _categories(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    top = np.nanmax(np.concatenate([before, after, np.zeros(1)]))
    return np.arange(-0.5, top, 1.0)[1:]


def _bins(before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where one bin ends and the next begins."""
    known = before[~np.isnan(before)]
    if not known.size:
        return np.zeros(0)
    # Nearest ranks are values of the column, so that equal values are never cut by rounding.
    inner = np.arange(1, BINS) / BINS
    return np.unique(np.quantile(known, inner, method="inverted_cdf"))


def _counts(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[~np.isnan(values)]
    inside = np.bincount(np.searchsorted(edges, known), minlength=edges.size + 1)
    return np.append(inside, values.size - known.size).astype(np.float64)
