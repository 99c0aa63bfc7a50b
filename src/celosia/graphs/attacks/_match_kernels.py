"""Scores of pairs of vertices, and matches that spread from seeds, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.compiled import njit

Starts = NDArray[np.int64]
Vertices = NDArray[np.int32]


@njit(cache=True, nogil=True)
def link_scores(
    starts: Starts, neighbours: Vertices, pairs: NDArray[np.int64], damping: float
) -> NDArray[np.float64]:
    """Three scores of each pair: common neighbours, Adamic and Adar's, walks of two and three.

    The edge between the two, if there is one, is never used: it is what is to be guessed.
    """
    found = np.zeros((len(pairs), 3))
    mark = np.full(len(starts) - 1, -1, dtype=np.int64)
    for each in range(len(pairs)):
        one, other = pairs[each, 0], pairs[each, 1]
        for step in range(starts[other], starts[other + 1]):
            mark[neighbours[step]] = each
        mark[one] = -1
        threes = 0.0
        for step in range(starts[one], starts[one + 1]):
            middle = neighbours[step]
            if middle == other:
                continue
            degree = starts[middle + 1] - starts[middle]
            if mark[middle] == each:
                found[each, 0] += 1.0
                found[each, 1] += 1.0 / np.log(degree)  # two neighbours at least
            for further in range(starts[middle], starts[middle + 1]):
                threes += mark[neighbours[further]] == each
        found[each, 2] = found[each, 0] + damping * threes
    return found


@njit(cache=True, nogil=True)
def best_match(
    starts: Starts,
    neighbours: Vertices,
    other_starts: Starts,
    other_neighbours: Vertices,
    matched: NDArray[np.int64],
    taken: NDArray[np.int64],
    vertex: int,
    scores: NDArray[np.float64],
    touched: NDArray[np.int64],
) -> tuple[int, float]:
    """The vertex of the other graph that has most of the matched neighbours, and how it stands out.

    Standing out is the gap between the two highest scores over their standard deviation, as
    Narayanan and Shmatikov call eccentricity. `scores` must be 0 everywhere, and is again after.
    """
    count = 0
    for step in range(starts[vertex], starts[vertex + 1]):
        friend = matched[neighbours[step]]
        if friend < 0:
            continue
        for further in range(other_starts[friend], other_starts[friend + 1]):
            there = other_neighbours[further]
            if taken[there] >= 0:
                continue
            if scores[there] == 0.0:
                touched[count] = there
                count += 1
            scores[there] += 1.0 / np.sqrt(other_starts[there + 1] - other_starts[there])
    best, most, second = -1, 0.0, 0.0
    total, squares = 0.0, 0.0
    for each in range(count):
        score = scores[touched[each]]
        total += score
        squares += score * score
        if score > most:
            best, second, most = touched[each], most, score
        elif score > second:
            second = score
        scores[touched[each]] = 0.0
    order = len(other_starts) - 1
    variance = squares / order - (total / order) ** 2
    if best < 0 or variance <= 0.0:
        return -1, 0.0
    return best, (most - second) / np.sqrt(variance)


@njit(cache=True, nogil=True)
def spread(
    starts: Starts,
    neighbours: Vertices,
    other_starts: Starts,
    other_neighbours: Vertices,
    sequence: NDArray[np.int64],
    matched: NDArray[np.int64],
    taken: NDArray[np.int64],
    threshold: float,
) -> int:
    """One round: each vertex is matched where both directions agree; how many were."""
    scores = np.zeros(max(len(starts), len(other_starts)))
    touched = np.empty(max(len(starts), len(other_starts)), dtype=np.int64)
    changed = 0
    for vertex in sequence:
        if matched[vertex] >= 0:
            continue
        there, clear = best_match(
            starts,
            neighbours,
            other_starts,
            other_neighbours,
            matched,
            taken,
            vertex,
            scores,
            touched,
        )
        if there < 0 or clear < threshold:
            continue
        back, clear = best_match(
            other_starts,
            other_neighbours,
            starts,
            neighbours,
            taken,
            matched,
            there,
            scores,
            touched,
        )
        if back != vertex or clear < threshold:
            continue
        matched[vertex] = there
        taken[there] = vertex
        changed += 1
    return changed
