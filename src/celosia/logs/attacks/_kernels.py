"""Kernels of attacks; each has a plain twin in the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core._kernels import first_at_least
from celosia.core.kernels import njit


@njit(cache=True, nogil=True)
def candidate_counts(
    starts: NDArray[np.int64], units: NDArray[np.int64], known: NDArray[np.int64], total: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each target how many units have all its known items, and the last of them.

    Args:
        starts: where the units of each item begin.
        units: the units of each item, in ascending order.
        known: the items that are known of each target, a row each; -1 for none.
        total: how many units there are: the candidates of a target of whom nothing is known.
    """
    counts = np.zeros(len(known), dtype=np.int64)
    last = np.full(len(known), -1, dtype=np.int64)
    for target in range(len(known)):
        shortest = -1
        for item in known[target]:
            if item >= 0 and (
                shortest < 0
                or starts[item + 1] - starts[item] < starts[shortest + 1] - starts[shortest]
            ):
                shortest = item
        if shortest < 0:
            counts[target] = total
            continue
        for at in range(starts[shortest], starts[shortest + 1]):
            unit = units[at]
            fits = True
            for item in known[target]:
                if item < 0 or item == shortest:
                    continue
                end = starts[item + 1]
                low = first_at_least(units, starts[item], end, unit)
                if low == end or units[low] != unit:
                    fits = False
                    break
            if fits:
                counts[target] += 1
                last[target] = unit
    return counts, last
