"""Groups of near records in several columns: MDAV and its kin, as functions of a matrix."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.tables.masking.microaggregation.limits import check_matrix
from celosia.tables.masking.microaggregation.scale import group_means, on_grid, standard_scores
from celosia.tables.masking.microaggregation.univariate import optimal_groups

_STAGE = 20_000
"""More records than this are grouped in stages, between which progress is told."""


def mdav_groups(
    matrix: ArrayLike,
    k: int,
    *,
    standardise: bool = True,
    block: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """The group of each record by MDAV (maximum distance to the average vector).

    The record farthest from the centroid of those left is grouped with its k-1 nearest, then the
    record farthest from that one, until fewer than 3k are left; groups have k to 2k-1 records.
    Ties go to the lowest index. Memory grows with the records and not with their square.

    Args:
        matrix: one row a record.
        k: the least size of a group.
        standardise: whether columns are brought to deviation one first.
        block: cut the records into blocks of this size at most, halving the widest column; group
            each block on its own: faster from a few hundred thousand records on, at a small loss.
        progress: told after each stage of a large table.

    >>> mdav_groups([[21], [22], [25], [29], [36], [43], [45], [48], [58], [72]], 3).tolist()
    [1, 1, 1, 2, 2, 2, 2, 0, 0, 0]

    Reference: Domingo-Ferrer and Torra 2005, Ordinal, continuous and heterogeneous k-anonymity
    through microaggregation.
    """
    table = check_matrix(matrix, k)
    check_block(block, k)
    grid = on_grid(standard_scores(table) if standardise else table)
    if block is None or len(grid) <= block:
        return _staged(grid, k, progress)
    labels = np.empty(len(grid), dtype=np.int64)
    groups = done = 0
    for rows in _blocks(grid, block):
        labels[rows] = _staged(grid[rows], k, silent) + groups
        groups = int(labels[rows].max()) + 1
        done += len(rows)
        progress(Step(Message("masking.stage.grouping_records"), done, len(grid)))
    return labels


def v_mdav_groups(
    matrix: ArrayLike, k: int, *, gamma: float = 0.2, standardise: bool = True
) -> NDArray[np.int64]:
    """The group of each record by V-MDAV, whose groups grow to 2k-1 where records are near.

    The free record farthest from the centroid of all is grouped with its k-1 nearest. Then the free
    record nearest to the group joins it while it is nearer to the group than `gamma` times its
    distance to the nearest other free record. The last records, fewer than k, join the group with
    the nearest centroid; a group that has 2k by then is cut in two by MDAV.

    Args:
        matrix: one row a record.
        k: the least size of a group.
        gamma: how readily groups grow; 0 never, 0.2 for scattered records, 1.1 for clusters.
        standardise: whether columns are brought to deviation one first.

    Reference: Solanas and Martinez-Balleste 2006, V-MDAV: a multivariate microaggregation with
    variable group size.
    """
    from celosia.tables.masking.microaggregation._mdav_kernels import (
        variable,
    )

    table = check_matrix(matrix, k)
    gamma = check_gamma(gamma)
    grid = on_grid(standard_scores(table) if standardise else table)
    labels = np.full(len(grid), -1, dtype=np.int64)
    groups = variable(grid, k, gamma, labels)
    rest = np.flatnonzero(labels < 0)
    if rest.size:
        means = group_means(grid[labels >= 0], labels[labels >= 0])
        for row in rest:
            labels[row] = int(np.argmin(((means - grid[row]) ** 2).sum(axis=1)))
        sizes = np.bincount(labels)
        for label in np.flatnonzero(sizes >= 2 * k):
            rows = np.flatnonzero(labels == label)
            halves = _staged(grid[rows], k, silent)
            labels[rows[halves == 1]] = groups
            groups += 1
    return labels


def principal_groups(matrix: ArrayLike, k: int, *, standardise: bool = True) -> NDArray[np.int64]:
    """The group of each record by the best cut along the first principal component.

    The loss is higher than that of MDAV unless one direction holds most of the spread; the time is
    that of a sort.
    """
    table = check_matrix(matrix, k)
    table = standard_scores(table) if standardise else table - table.mean(axis=0)
    _spread, directions = np.linalg.eigh(table.T @ table)
    direction = directions[:, -1]
    # A direction and its opposite are the same component: the sign must not depend on the machine.
    direction = direction * (1.0 if direction[np.argmax(np.abs(direction))] > 0 else -1.0)
    return optimal_groups(table @ direction, k)


def check_block(block: int | None, k: int) -> None:
    """Refuse blocks that may hold fewer than `k` records after a halving."""
    if block is None:
        return
    if isinstance(block, bool) or not isinstance(block, (int, np.integer)) or block < 2 * k:
        raise InputError("CEL-V104", k=2 * k, block=block)


def check_gamma(gamma: float) -> float:
    """The readiness to grow as a number, refused below zero."""
    if isinstance(gamma, bool) or not isinstance(gamma, (int, float)):
        valid = False
    else:
        valid = math.isfinite(gamma) and gamma >= 0
    if not valid:
        raise InputError("CEL-V105", gamma=gamma)
    return float(gamma)


def _staged(grid: NDArray[np.float64], k: int, progress: Progress) -> NDArray[np.int64]:
    """MDAV in stages: the records that are left are laid out anew, in their order."""
    from celosia.tables.masking.microaggregation._mdav_kernels import (
        mdav,
    )

    labels = np.full(len(grid), -1, dtype=np.int64)
    rows = np.arange(len(grid))
    groups = 0
    while rows.size:
        found = np.full(rows.size, -1, dtype=np.int64)
        until = rows.size * 3 // 4 if rows.size > max(_STAGE, 8 * k) else 0
        more = mdav(grid[rows], k, until, found)
        taken = found >= 0
        labels[rows[taken]] = found[taken] + groups
        groups += more
        rows = rows[~taken]
        progress(Step(Message("masking.stage.grouping_records"), len(grid) - rows.size, len(grid)))
    return labels


def _blocks(grid: NDArray[np.float64], size: int) -> list[NDArray[np.int64]]:
    """The records cut in halves along the widest column until none has more than `size`."""
    waiting = [np.arange(len(grid))]
    done = []
    while waiting:
        rows = waiting.pop()
        if rows.size <= size:
            done.append(np.sort(rows))  # ties go to the lowest index inside a block as well
            continue
        part = grid[rows]
        widest = int(np.argmax(part.max(axis=0) - part.min(axis=0)))
        rows = rows[np.argsort(part[:, widest], kind="stable")]
        waiting += [rows[rows.size // 2 :], rows[: rows.size // 2]]
    return done
