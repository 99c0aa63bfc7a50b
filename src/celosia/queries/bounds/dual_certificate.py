"""Bounds of the optimum of a packing program in whole numbers, from a solver's floats.

Give every person p two copies, p' with an arc of capacity t from the source, and p'' with one to
the sink. A row of p and q with weight w becomes arcs p' -> q'' and q' -> p'' of capacity w, a row
of p alone arcs p' -> sink and source -> p''. Twice a feasible f is a flow: f on both arcs of a row.
Half of a flow, averaged over both arcs, is feasible: what leaves p' and what enters p'' are at most
t each. So the largest flow is twice the optimum, and a smallest cut gives the prices: half for each
copy on the wrong side of it (fractional b-matching; Schrijver, Combinatorial Optimization, 2003,
section 30.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.queries.bounds.presolve import PackingRows

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
    arcs = np.r_[amounts, amounts, np.full(2 * size, cap >> grid)]
    through, reached = _largest_flow(tail, head, arcs, 2 * count)
    prices = (~reached[:size]).astype(np.float64) / 2 + reached[size : 2 * size] / 2
    return through.reshape(2, count).sum(axis=0) / 2 * 2.0**grid, prices


def solve_results_by_flow(
    rows: Whole, people: Whole, results: Whole, weights: Whole, cap: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The same where rows share results; None where no flow tells the optimum.

    Rows have at most two people, and those of a result one person in common, or one each.
    """
    count, size, shown = results.size, int(people.max()) + 1, weights.size
    held = np.bincount(rows, minlength=count)
    if held.max() > 2 or 2 * (size + shown) + 2 > WIDEST:
        return None
    starts = np.cumsum(held) - held
    one, other = people[starts], people[starts + held - 1]
    home = _common_person(one, other, results, shown)
    at = home[results]
    if (held[at < 0] > 1).any():
        return None
    far = np.where(one == at, other, one)
    far[far == at] = -1  # the row of one person, whom its result has in common
    grid = max(0, max(cap, int(weights.max())).bit_length() - WIDEST.bit_length())
    amounts, limit = weights >> grid, cap >> grid
    source, sink = 2 * (size + shown), 2 * (size + shown) + 1
    everyone, numbers = np.arange(size), np.arange(shown)
    out, back = 2 * size + results, 2 * size + shown + results
    tail = np.r_[out, np.where(far < 0, source, far)]
    head = np.r_[np.where(far < 0, sink, far + size), back]
    tail = np.r_[tail, np.full(size, source), everyone + size]
    head = np.r_[head, everyone, np.full(size, sink)]
    tail = np.r_[tail, np.where(home < 0, source, home), 2 * size + shown + numbers]
    head = np.r_[head, 2 * size + numbers, np.where(home < 0, sink, home + size)]
    arcs = np.r_[amounts[results], amounts[results], np.full(2 * size, limit), amounts, amounts]
    through, reached = _largest_flow(tail, head, arcs, 2 * count)
    prices = (~reached[:size]).astype(np.float64) / 2 + reached[size : 2 * size] / 2
    flow = through.reshape(2, count).sum(axis=0) / 2 * 2.0**grid
    # Rows of one result and the same people are one arc, whose flow is that of the first.
    first = np.unique(results * (size + 1) + far + 1, return_index=True)[1]
    alone = np.zeros(count)
    alone[first] = flow[first]
    return alone, prices


def _common_person(one: Whole, other: Whole, results: Whole, shown: int) -> Whole:
    """For each result a person whom all of its rows have; -1 without one."""
    home = np.full(shown, -1, dtype=np.int64)
    total = np.bincount(results, minlength=shown)
    first = np.empty(shown, dtype=np.int64)
    first[results[::-1]] = np.arange(results.size)[::-1]
    for candidate in (other[first], one[first]):
        mine = candidate[results]
        have = np.bincount(results[(one == mine) | (other == mine)], minlength=shown)
        home = np.where(have == total, candidate, home)
    return home


def _largest_flow(
    tail: Whole, head: Whole, arcs: Whole, asked: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What the first arcs carry in a largest flow, and what the source still reaches.

    Nodes are numbered without gaps, the source and the sink last.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    nodes = int(max(tail.max(), head.max())) + 1
    source, sink = nodes - 2, nodes - 1
    network = csr_array((arcs.astype(np.int32), (tail, head)), shape=(nodes, nodes))
    carried = csr_array(maximum_flow(network, source, sink).flow)
    rest = csr_array(network - carried)
    rest.eliminate_zeros()
    reached = np.zeros(nodes, dtype=bool)
    reached[breadth_first_order(rest, source, return_predecessors=False)] = True
    through = np.asarray(carried[tail[:asked], head[:asked]]).astype(np.float64)
    return through, reached


Solved = tuple[NDArray[np.float64], NDArray[np.float64]]
BITS = 62
FINEST = 12
"""Bits by which the rounding of all flows, or all prices, together is finer than the cap."""
REPAIRS = 8
ROUNDS = 8
METHODS = ("spread", "flow", "highs-ipm", "highs")
"""The first only tries whether all results fit under the cap at once. The second knows rows of up
to two people only, and needs no floats, see the head of this file.

Interior points next: on rows of three people fifteen times as fast as the simplex method."""


@dataclass(frozen=True, slots=True)
class Program:
    """Maximise the sum of f over rows: at most `weights` a result and `cap` a person.

    `rows` and `people` are the pairs, sorted by row; `results` holds the result of each row. All
    are numbered from 0 without gaps. No result has a weight above the cap times its rows.
    """

    rows: Whole
    people: Whole
    results: Whole
    weights: Whole
    cap: int

    @classmethod
    def of(cls, shares: PackingRows, cap: int) -> Program:
        """Rows that are their own results, of weights up to the cap."""
        everything = np.arange(shares.weights.size)
        return cls(shares.rows, shares.people, everything, shares.weights, cap)


def bound_optimum(program: Program, *, gap: Fraction) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of the optimum, closer together than `gap` if a solver manages.

    The bounds hold whatever the solver does; a bad solver makes them far apart.
    """
    people = int(program.people.max()) + 1
    low, high = Fraction(0), Fraction(sum(program.weights.tolist()))
    for method in METHODS:
        solved = _solve(program, people, method)
        if solved is None:
            continue
        flow, prices = solved
        low = max(low, _primal_bound(program, people, flow))
        high = min(high, _dual_bound(program, prices))
        if high - low < gap:
            break
    return low, high


def _solve(program: Program, people: int, method: str) -> Solved | None:
    """The solver's flow of each row and price of each person, or None where it gives up."""
    if method in ("spread", "flow"):
        return _solve_directly(program, people, method)
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack

    count = program.results.size
    ones = np.ones(program.rows.size)
    matrix = csr_array((ones, (program.people, program.rows)), shape=(people, count))
    # In parts of the cap: the numbers of the program are then from 0 to 1, whatever the amounts.
    limits = np.ones(people)
    shares = program.weights / float(program.cap)
    most = shares[program.results]
    if program.weights.size < count:  # several rows for a result: else a bound of the row is enough
        # Without such bounds, which would take over some of the prices of people.
        most = np.full(count, np.inf)
        shown = csr_array(
            (np.ones(count), (program.results, np.arange(count))),
            shape=(program.weights.size, count),
        )
        matrix = vstack([matrix, shown], format="csr")
        limits = np.r_[limits, shares]
    outcome = linprog(
        -np.ones(count),
        A_ub=matrix,
        b_ub=limits,
        bounds=np.column_stack([np.zeros(count), most]),
        method=method,
        options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    if outcome.x is None or outcome.ineqlin.marginals is None:
        return None
    prices = -np.asarray(outcome.ineqlin.marginals)[:people]
    flow = np.asarray(outcome.x) * float(program.cap)
    if not (np.isfinite(prices).all() and np.isfinite(flow).all()):
        return None
    return flow, prices


def _solve_directly(program: Program, people: int, method: str) -> Solved | None:
    """A solution without a linear program; None where the method does not know the rows."""
    pairs = (program.rows, program.people)
    if program.weights.size < program.results.size:
        if method == "spread":
            return _spread_results(program, people), np.zeros(people)
        return solve_results_by_flow(*pairs, program.results, program.weights, program.cap)
    if method == "spread":
        return None  # what fits at once is settled before, see `presolve`
    return solve_by_flow(*pairs, program.weights[program.results], program.cap)


def _spread_results(program: Program, people: int) -> NDArray[np.float64]:
    """Every result shared out over its rows: evenly first, then less over people who hold too much.

    Prices of 0 say that it is the optimum where nobody holds too much in the end.
    """
    weights = program.weights.astype(np.float64)
    even = weights / np.maximum(np.bincount(program.results, minlength=weights.size), 1)
    flow = even[program.results]
    for _ in range(ROUNDS):
        held = np.bincount(program.people, flow[program.rows], minlength=people)
        if not (held > program.cap).any():
            break
        keep = np.ones(flow.size)
        by_person = np.minimum(program.cap / np.maximum(held, 1e-300), 2.0)
        np.minimum.at(keep, program.rows, by_person[program.people])
        flow *= keep
        shown = np.bincount(program.results, flow, minlength=weights.size)
        flow *= (weights / np.maximum(shown, 1e-300))[program.results]
    return flow


def _dual_bound(program: Program, prices: NDArray[np.float64]) -> Fraction:
    """The upper bound that prices give, rounded to whole numbers of 1 / scale.

    Weak duality: any prices y >= 0 of people give an upper bound, with the price of a result set to
    max(0, 1 - the least sum of y over its rows), so that rounded ones do no harm.
    """
    # Sums over a row's people, and over all people, stay below 2^62.
    size = max(prices.size, program.rows.size).bit_length()
    scale = 1 << min(size + FINEST, BITS - size)
    whole = np.rint(np.clip(prices, 0.0, 1.0) * scale).astype(np.int64)
    paid = np.zeros(program.results.size, dtype=np.int64)
    np.add.at(paid, program.rows, whole[program.people])
    least = np.full(program.weights.size, scale, dtype=np.int64)
    np.minimum.at(least, program.results, paid)
    # In Python's numbers: the products need not fit in 64 bits.
    open_ = least < scale
    rest = np.dot(program.weights[open_].astype(object), (scale - least[open_]).astype(object))
    return Fraction(program.cap * int(whole.sum()) + int(rest), scale)


def _primal_bound(program: Program, people: int, flow: NDArray[np.float64]) -> Fraction:
    """The value of a flow that was made feasible, in whole numbers of 1 / scale.

    Any feasible flow is a lower bound. What floats put above a limit is scaled down, never up.
    """
    size = program.rows.size.bit_length()
    scale = 1 << max(0, size + FINEST - program.cap.bit_length() + 1)
    # Sums over rows are below 2^62 in 64 bits; Python's numbers carry what may be more.
    fits = size + (program.cap * scale).bit_length() <= BITS
    kind: Any = np.int64 if fits else object
    limit = program.cap * scale
    weights = program.weights.astype(kind) * scale
    most = weights[program.results]
    # A row holds at most the cap: in parts far below 2^53, so exact as a float.
    wished = np.clip(flow, 0.0, float(program.cap))
    parts = np.minimum(np.floor(wished * scale).astype(np.int64).astype(kind), most)
    for _ in range(REPAIRS):
        shown = np.zeros(program.weights.size, dtype=kind)
        np.add.at(shown, program.results, parts)
        held = np.zeros(people, dtype=kind)
        np.add.at(held, program.people, parts[program.rows])
        over_shown, over_held = shown > weights, held > limit
        if not (over_shown.any() or over_held.any()):
            return Fraction(int(parts.sum()), scale)
        # A little below the ratio, so that a rounding of floats cannot leave it above.
        keep = np.ones(parts.size)
        ratio = weights.astype(np.float64) / np.maximum(shown, 1).astype(np.float64)
        np.minimum(keep, np.where(over_shown, ratio, 1.0)[program.results], out=keep)
        by_person = np.where(over_held, limit / np.maximum(held, 1).astype(np.float64), 1.0)
        np.minimum.at(keep, program.rows, by_person[program.people])
        cut = keep < 1.0
        reduced = np.floor(parts[cut].astype(np.float64) * keep[cut] * (1 - 2.0**-51))
        parts[cut] = reduced.astype(np.int64).astype(kind)
    return Fraction(0)


def load_solvers() -> None:
    """Load what solves programs, so that its first use takes no longer than others."""
    import scipy.optimize
    import scipy.sparse.csgraph  # noqa: F401 - likewise
