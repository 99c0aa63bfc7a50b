"""Bounds of the optimum of a packing program in whole numbers, from a solver's floats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
BITS = 62
FINEST = 40
"""Bits of a fraction, at most."""
WIDEST = 8
"""Binding people of a row up to which rows of the same people are looked for."""
REPAIRS = 8
METHODS = ("highs-ipm", "highs")
"""Interior points first: on rows of three people fifteen times as fast as the simplex method."""


@dataclass(frozen=True, slots=True)
class Program:
    """Maximise the sum of f over rows: at most `weights` a result and `cap` a person.

    `rows` and `people` are the pairs, sorted by row; `results` holds the result of each row. All
    are numbered from 0 without gaps.
    """

    rows: Whole
    people: Whole
    results: Whole
    weights: Whole
    cap: int

    def merged(self) -> Program:
        """The same optimum with one row for each set of people; each row is its own result."""
        starts = np.flatnonzero(np.r_[True, self.rows[1:] != self.rows[:-1]])
        sizes = np.diff(np.r_[starts, self.rows.size])
        if sizes.max() > WIDEST:
            return self
        sets = np.full((starts.size, int(sizes.max())), -1, dtype=np.int64)
        sets[self.rows, np.arange(self.rows.size) - starts[self.rows]] = self.people
        kinds, kind = np.unique(sets, axis=0, return_inverse=True)
        weights = np.zeros(len(kinds), dtype=np.int64)
        np.add.at(weights, kind.reshape(-1), self.weights[self.results])
        row, place = np.nonzero(kinds >= 0)
        return Program(row, kinds[row, place], np.arange(len(kinds)), weights, self.cap)


def bounds(program: Program) -> tuple[int, int, int]:
    """A lower and an upper bound of the optimum, and the scale that both are counted in.

    The bounds hold whatever the solver does; a bad solver makes them far apart.
    """
    reach = int(program.weights[program.results].sum())
    people = int(program.people.max()) + 1
    # Sums over rows of at most reach * scale, and sums of one number a person, stay below 2^62.
    scale = 1 << min(FINEST, BITS - max(reach, people, program.rows.size).bit_length())
    low, high = 0, reach * scale
    for method in METHODS:
        solved = _solved(program, people, method)
        if solved is None:
            continue
        flow, prices = solved
        low = max(low, _feasible(program, people, flow, scale))
        high = min(high, _dual(program, prices, scale))
        if (high - low) * 2**6 < scale:
            break
    return low, high, scale


def _solved(
    program: Program, people: int, method: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The solver's flow of each row and price of each person, or None where it gives up."""
    from scipy.optimize import linprog  # noqa: PLC0415 - slow to load
    from scipy.sparse import csr_array, vstack  # noqa: PLC0415

    count = program.results.size
    ones = np.ones(program.rows.size)
    matrix = csr_array((ones, (program.people, program.rows)), shape=(people, count))
    limits = np.full(people, float(program.cap))
    if program.weights.size < count:  # several rows for a result: else a bound of the row is enough
        shown = csr_array(
            (np.ones(count), (program.results, np.arange(count))),
            shape=(program.weights.size, count),
        )
        matrix = vstack([matrix, shown], format="csr")
        limits = np.r_[limits, program.weights.astype(np.float64)]
    most = program.weights[program.results].astype(np.float64)
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
    flow = np.asarray(outcome.x)
    if not (np.isfinite(prices).all() and np.isfinite(flow).all()):
        return None
    return flow, prices


def _dual(program: Program, prices: NDArray[np.float64], scale: int) -> int:
    """The upper bound that prices give, in whole numbers of 1 / scale."""
    whole = np.rint(np.clip(prices, 0.0, 1.0) * scale).astype(np.int64)
    paid = np.zeros(program.results.size, dtype=np.int64)
    np.add.at(paid, program.rows, whole[program.people])
    least = np.full(program.weights.size, scale, dtype=np.int64)
    np.minimum.at(least, program.results, paid)
    return program.cap * int(whole.sum()) + int((program.weights * (scale - least)).sum())


def _feasible(program: Program, people: int, flow: NDArray[np.float64], scale: int) -> int:
    """The value of a flow that was made feasible, in whole numbers of 1 / scale."""
    most = program.weights[program.results]
    parts = np.floor(np.clip(flow, 0.0, most) * scale).astype(np.int64)
    parts = np.minimum(parts, most * scale)
    for _ in range(REPAIRS):
        shown = np.zeros(program.weights.size, dtype=np.int64)
        np.add.at(shown, program.results, parts)
        held = np.zeros(people, dtype=np.int64)
        np.add.at(held, program.people, parts[program.rows])
        over_shown = shown > program.weights * scale
        # In Python's numbers where the cap times the scale may exceed 64 bits.
        limit = min(program.cap * scale, 2**62)
        over_held = held > limit
        if not (over_shown.any() or over_held.any()):
            return int(parts.sum())
        # A little below the ratio, so that a rounding of floats cannot leave it above.
        keep = np.ones(parts.size)
        ratio = program.weights * float(scale) / np.maximum(shown, 1)
        np.minimum(keep, np.where(over_shown, ratio, 1.0)[program.results], out=keep)
        by_person = np.where(over_held, limit / np.maximum(held, 1), 1.0)
        np.minimum.at(keep, program.rows, by_person[program.people])
        cut = keep < 1.0
        parts[cut] = np.floor(parts[cut] * keep[cut] * (1 - 2.0**-51)).astype(np.int64)
    return 0
