"""MDAV made better by a local search over its groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.tables.masking.microaggregation.limits import check_matrix
from celosia.tables.masking.microaggregation.multivariate import mdav_groups
from celosia.tables.masking.microaggregation.scale import on_grid, squared_error, standard_scores

NEAR = 8
"""Groups that a record may go to, by the distance of their centres; more gained little."""

PASSES = 20
"""The search ends by itself after five to ten on the reference tables."""

_LEAST = 1e-10
"""A change must lower the squared error by this part of it, far above rounding."""


def refined_groups(
    matrix: ArrayLike,
    k: int,
    *,
    standardise: bool = True,
    block: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """The group of each record by MDAV, improved by a local search.

    In each pass every record may move to one of the eight nearest groups or change places with a
    record there, whatever lowers the squared error most, while groups keep k to 2k-1 records; then
    a group is dissolved where its records cost less in the groups around. The squared error is
    never above that of MDAV, and nothing is drawn: the same records give the same groups.

    Args:
        matrix: one row a record.
        k: the least size of a group.
        standardise: whether columns are brought to deviation one first.
        block: as in `mdav_groups`, for the start; the search runs over the whole.
        progress: told after each stage and pass.

    >>> refined_groups([[21], [22], [25], [29], [36], [43], [45], [48], [58], [72]], 3).tolist()
    [1, 1, 1, 1, 2, 2, 2, 0, 0, 0]
    """
    from celosia.tables.masking.microaggregation._search_kernels import (
        dissolve,
        lay_out,
        near_groups,
        rearrange,
    )

    table = check_matrix(matrix, k)
    grid = on_grid(standard_scores(table) if standardise else table)
    labels = mdav_groups(grid, k, standardise=False, block=block, progress=progress)
    groups = lay_out(grid, labels, k)
    near = np.empty((len(grid), min(NEAR, len(groups.sizes))), dtype=np.int64)
    least = max(_LEAST * squared_error(grid, labels), 1.0)  # the grid's own step
    for done in range(PASSES):
        near_groups(grid, groups, near)
        changes = rearrange(grid, k, groups, near, least)
        changes += dissolve(grid, k, groups, near, least)
        progress(Step(Message("masking.stage.improving_groups"), done + 1, None))
        if not changes:
            break
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
