"""The program of rows with at most two people, as a flow: whole numbers, so that nothing fails.

Give every person p two copies, p' with an arc of capacity t from the source, and p'' with one to
the sink. A row of p and q with weight w becomes arcs p' -> q'' and q' -> p'' of capacity w, a row
of p alone arcs p' -> sink and source -> p''. Twice a feasible f is a flow: f on both arcs of a row.
Half of a flow, averaged over both arcs, is feasible: what leaves p' and what enters p'' are at most
t each. So the largest flow is twice the optimum, and a smallest cut gives the prices: half for each
copy on the wrong side of it (fractional b-matching; Schrijver, Combinatorial Optimization, 2003,
section 30.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
WIDEST = 2**31 - 1
"""The largest capacity that SciPy's flows know."""


def solve_by_flow(
    rows: Whole, people: Whole, weights: Whole, cap: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """An optimal flow of each row and price of each person; None for rows of more than two.

    No two rows have the same people, and no weight is above the cap (`PackingRows.merge_equal`).
    Exact for caps below 2^31; beyond, amounts are rounded down to a coarser grid.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    count, size = weights.size, int(people.max()) + 1
    held = np.bincount(rows, minlength=count)
    if held.max() > 2 or 2 * size + 2 > WIDEST:
        return None
    grid = max(0, cap.bit_length() - WIDEST.bit_length())
    amounts = weights >> grid
    starts = np.cumsum(held) - held
    one, other = people[starts], people[starts + held - 1]
    pair = held == 2
    source, sink = 2 * size, 2 * size + 1
    everyone = np.arange(size)
    tail = np.r_[one, np.where(pair, other, source), np.full(size, source), everyone + size]
    head = np.r_[np.where(pair, other + size, sink), one + size, everyone, np.full(size, sink)]
    arcs = np.r_[amounts, amounts, np.full(2 * size, cap >> grid)].astype(np.int32)
    shape = (2 * size + 2, 2 * size + 2)
    network = csr_array((arcs, (tail, head)), shape=shape)
    carried = csr_array(maximum_flow(network, source, sink).flow)
    rest = csr_array(network - carried)
    rest.eliminate_zeros()
    reached = np.zeros(2 * size + 2, dtype=bool)
    reached[breadth_first_order(rest, source, return_predecessors=False)] = True
    prices = (~reached[:size]).astype(np.float64) / 2 + reached[size : 2 * size] / 2
    through = np.asarray(carried[tail[: 2 * count], head[: 2 * count]]).astype(np.float64)
    return through.reshape(2, count).sum(axis=0) / 2 * 2.0**grid, prices
