"""Loops over all records of a table: laying it out for the cuts, and counting sensitive values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def fill(matrix: Array, column: int, rank_of_leaf: Array, leaf_of_row: Array) -> None:
    """Write one column of the matrix."""
    for row in range(leaf_of_row.size):
        matrix[row, column] = rank_of_leaf[leaf_of_row[row]]


@njit(cache=True, nogil=True)
def histogram(
    nodes: Array, rows: Array, value_of_row: Array, values: int, records: Array
) -> tuple[Array, Array, Array]:
    """The sensitive values of each node in compressed rows: starts, values, counts.

    `records` are how many records each row stands for; empty for one each.
    """
    tallies = np.zeros(values, dtype=np.int64)
    seen = np.empty(values, dtype=np.int64)
    room = 0
    for node in range(nodes.shape[0]):
        room += min(values, nodes[node, 1] - nodes[node, 0])
    starts = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
    out_values = np.empty(room, dtype=np.int32)
    counts = np.empty(room, dtype=np.int64)
    entry = 0
    for node in range(nodes.shape[0]):
        distinct = 0
        for row in range(nodes[node, 0], nodes[node, 1]):
            value = value_of_row[rows[row]]
            if tallies[value] == 0:
                seen[distinct] = value
                distinct += 1
            tallies[value] += records[rows[row]] if records.size else 1
        seen[:distinct].sort()
        for place in range(distinct):
            out_values[entry] = seen[place]
            counts[entry] = tallies[seen[place]]
            tallies[seen[place]] = 0
            entry += 1
        starts[node + 1] = entry
    return starts, out_values[:entry], counts[:entry]
