"""Rows of up to two people filled one after the other, compiled; the twin is in its test."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Whole = NDArray[np.int64]


@njit(cache=True, nogil=True)
def fill_in_turn(
    one: Whole, other: Whole, weights: Whole, results: Whole, cap: int, load: Whole, most: int
) -> int:
    """What all rows hold together if each, in turn, takes what its people and its result leave.

    Args:
        one: a person of each row.
        other: the other one, or the same again.
        weights: what each row may hold; where it shows a result, what the result may.
        results: the result of each row, those of one result beside each other; empty without.
        cap: the most that the rows of a person hold together.
        load: zeros, one for each person.
        most: where the sum is cut off.
    """
    total, shown, last = 0, 0, -1
    for row in range(len(one)):
        held = min(weights[row], cap - load[one[row]], cap - load[other[row]])
        if len(results):
            if results[row] != last:
                last, shown = results[row], 0
            held = min(held, weights[row] - shown)
            shown += held
        if held > 0:
            load[one[row]] += held
            if other[row] != one[row]:
                load[other[row]] += held
            total = min(total + held, most)
    return total
