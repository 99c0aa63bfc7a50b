"""Groups along a line: cut every k values, or where the squared error is least."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.tables.masking.microaggregation.scale import below_one, check_line


def fixed_groups(values: ArrayLike, k: int) -> NDArray[np.int64]:
    """The group of each value when the sorted values are cut every `k`; the rest joins the last.

    Groups are numbered from the least values up; equal values are taken in the order given.

    >>> fixed_groups([29, 48, 21, 36, 45], 2).tolist()
    [0, 1, 0, 1, 1]
    """
    line = check_line(values, k)
    order = np.argsort(line, kind="stable")
    labels = np.empty(line.size, dtype=np.int64)
    labels[order] = np.minimum(np.arange(line.size) // k, line.size // k - 1)
    return labels


def optimal_groups(values: ArrayLike, k: int) -> NDArray[np.int64]:
    """The group of each value in a partition with the least squared error, groups of k to 2k-1.

    Groups are runs of the sorted values, numbered from the least values up; equal values are taken
    in the order given. Of two cuts with the same error, the one whose last group is smaller is
    taken, from the greatest values down. It takes O(n k) steps after the sort.

    >>> optimal_groups([21, 22, 25, 29, 36, 43, 45, 48, 58, 72], 3).tolist()
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]

    Reference: Hansen and Mukherjee 2003, A polynomial algorithm for optimal univariate
    microaggregation.
    """
    from celosia.tables.masking.microaggregation._line_kernels import (
        best_cuts,
    )

    line = check_line(values, k)
    order = np.argsort(line, kind="stable")
    last = best_cuts(below_one(line[order]), k)
    starts = np.zeros(line.size, dtype=np.int64)
    end = line.size
    while end > 0:
        end -= int(last[end])
        starts[end] = 1
    labels = np.empty(line.size, dtype=np.int64)
    labels[order] = np.cumsum(starts) - 1
    return labels
