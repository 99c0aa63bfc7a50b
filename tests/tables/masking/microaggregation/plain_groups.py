"""The groupings written down as their papers say, record by record, for small tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Record = Sequence[float]
Records = Sequence[Record]
Groups = list[list[int]]


def squared(one: Record, other: Record) -> float:
    """The squared distance, columns from left to right."""
    total = 0.0
    for a, b in zip(one, other, strict=True):
        total += (float(a) - float(b)) ** 2
    return total


def error(records: Records, groups: Groups) -> float:
    """The sum of squared distances to the centroids, groups as lists of rows."""
    total = 0.0
    for rows in groups:
        centre = [
            math.fsum(records[r][c] for r in rows) / len(rows) for c in range(len(records[0]))
        ]
        total += math.fsum(squared(records[r], centre) for r in rows)
    return total


def as_groups(labels: NDArray[np.int64]) -> Groups:
    """The rows of each group, in the order of their labels."""
    return [np.flatnonzero(labels == label).tolist() for label in range(int(max(labels)) + 1)]


def mdav(records: Records, k: int) -> Groups:
    """MDAV with ties to the lowest row; the groups in the order in which they are made."""
    left = list(range(len(records)))
    groups: Groups = []

    def farthest(point: Record) -> int:
        return min(left, key=lambda r: (-squared(records[r], point), r))

    def take(first: int) -> None:
        left.remove(first)
        near = sorted(left, key=lambda r: (squared(records[r], records[first]), r))[: k - 1]
        for row in near:
            left.remove(row)
        groups.append(sorted([first, *near]))

    def centroid() -> list[float]:
        return [sum(float(records[r][c]) for r in left) / len(left) for c in range(len(records[0]))]

    while len(left) >= 3 * k:
        first = farthest(centroid())
        take(first)
        take(farthest(records[first]))
    if len(left) >= 2 * k:
        take(farthest(centroid()))
    groups.append(sorted(left))
    return groups


def variable_mdav(records: Records, k: int, gamma: float) -> tuple[Groups, list[int]]:
    """V-MDAV without the last records, and those."""
    left = list(range(len(records)))
    width = len(records[0])
    centre = [sum(float(r[c]) for r in records) / len(records) for c in range(width)]
    groups: Groups = []
    while len(left) >= k:
        first = min(left, key=lambda r: (-squared(records[r], centre), r))
        left.remove(first)
        group = [
            first,
            *sorted(left, key=lambda r: (squared(records[r], records[first]), r))[: k - 1],
        ]
        left = [row for row in left if row not in group]
        while len(group) < 2 * k - 1 and left:
            near, guest = min(
                (min(squared(records[r], records[g]) for g in group), r) for r in left
            )
            others = [squared(records[r], records[guest]) for r in left if r != guest]
            if others and math.sqrt(near) >= gamma * math.sqrt(min(others)):
                break
            group.append(guest)
            left.remove(guest)
        groups.append(sorted(group))
    return groups, left


def partitions_of_line(size: int, k: int) -> Iterator[list[int]]:
    """Every cut of a line into runs of at least k, as lists of ends."""
    if size == 0:
        yield []
    for first in range(k, size + 1):
        for rest in partitions_of_line(size - first, k):
            yield [first, *[first + end for end in rest]]


def least_error_of_line(values: Sequence[float], k: int) -> float:
    """The least squared error over every cut of the sorted values."""
    line = [[v] for v in sorted(values)]
    return min(
        error(line, [list(range(a, b)) for a, b in pairwise([0, *ends])])
        for ends in partitions_of_line(len(line), k)
    )


def partitions(rows: list[int], k: int) -> Iterator[Groups]:
    """Every partition of rows into sets of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for mask in range(1 << len(rest)):
        chosen = [r for i, r in enumerate(rest) if mask >> i & 1]
        if len(chosen) + 1 >= k:
            others = [r for r in rest if r not in chosen]
            for more in partitions(others, k):
                yield [[first, *chosen], *more]
