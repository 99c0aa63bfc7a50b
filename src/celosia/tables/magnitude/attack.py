"""What an attacker can compute of suppressed cells: linear programs over the table's own sums.

Cells are flat here, and a state of the attacker's knowledge is a deviation from the true table:
zero in published cells, and zero along each line in sum. Whatever deviation keeps every cell from
being negative is possible to the attacker, so the reach of a cell is its largest deviation.

Reference: Fischetti, Salazar 2001; Hundepool et al. 2012, Statistical Disclosure Control, 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.tables.magnitude.table import Cell, MagnitudeTable


def in_cube(
    cell: Cell,
    *,
    needed: float,
    upwards: bool,
    hidden: NDArray[np.bool_],
    values: NDArray[np.float64],
) -> bool:
    """Whether some cube of hidden cells lets a cell deviate as far as is needed.

    >>> hidden = np.array([[True, True, False], [True, True, False], [False] * 3])
    >>> values = np.array([[3.0, 4.0, 7.0], [5.0, 6.0, 11.0], [8.0, 10.0, 18.0]])
    >>> in_cube((0, 0), needed=4, upwards=True, hidden=hidden, values=values)
    True
    >>> in_cube((0, 0), needed=4, upwards=False, hidden=hidden, values=values)
    False
    """
    enough = hidden & (values >= needed)
    last = [size - 1 for size in hidden.shape]
    possible = np.ones(hidden.shape, dtype=np.bool_)
    for axis, place in enumerate(cell):
        np.moveaxis(possible, axis, 0)[place] = False  # the opposite cell differs in each
    for mixed in product((False, True), repeat=hidden.ndim):
        # Where `mixed` is true the category is the opposite cell's, and the axis stays open.
        where = tuple(
            slice(None) if open_ else slice(place, place + 1)
            for open_, place in zip(mixed, cell, strict=True)
        )
        up = np.full((1,) * hidden.ndim, upwards)
        for axis, (open_, place) in enumerate(zip(mixed, cell, strict=True)):
            if open_:
                shape = [1] * hidden.ndim
                shape[axis] = hidden.shape[axis]
                is_total = (np.arange(hidden.shape[axis]) == last[axis]).reshape(shape)
                # Against a neighbour the sign turns, unless one of the two is the total.
                up = up ^ (is_total == (place == last[axis]))
        possible &= np.where(up, hidden[where], enough[where])
    return bool(possible.any())


TOLERANCE = 1e-6
"""Programs are scaled so that the protection needed is 1; a shortfall below this is rounding."""


FURTHEST = 1e3
"""No cell is let deviate by more times the protection needed: none need to, and solvers like it."""


MOST_PAIRS = 10_000
"""Pairs of an unsafe cell and a single contributor up to which all are tried: each is a linear
program. Beyond, a contributor is tried against the cells that share a line with his."""


def bounded(room: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Room to deviate without the extremes that upset a solver; less room is the safe side."""
    return np.where(room < TOLERANCE, 0.0, np.minimum(room, most))


def relations(shape: tuple[int, ...]) -> Any:
    """The sums of a table as a sparse matrix: each row a line, +1 its cells and -1 its total.

    >>> relations((3,)).toarray().tolist()
    [[1.0, 1.0, -1.0]]
    """
    from scipy.sparse import csr_array

    index = np.arange(int(np.prod(shape))).reshape(shape)
    lines = [
        line
        for axis, size in enumerate(shape)
        for line in np.moveaxis(index, axis, -1).reshape(-1, size)
    ]
    rows = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    signs = np.concatenate([np.append(np.ones(len(line) - 1), -1.0) for line in lines])
    columns = np.fromiter(chain.from_iterable(lines), dtype=np.int64, count=rows.size)
    return csr_array((signs, (rows, columns)), shape=(len(lines), index.size))


@dataclass(frozen=True, slots=True)
class Threat:
    """A cell that must not be computed too closely, in one direction, by an attacker.

    The attacker may be the only contributor of other cells, who knows these.
    """

    cell: int
    needed: float
    """How far the cell must be able to deviate."""
    upwards: bool
    known_cells: tuple[int, ...] = ()
    """The hidden cells whose value the attacker knows; none for an outsider."""


def threats(
    table: MagnitudeTable,
    unsafe: NDArray[np.bool_],
    protection: NDArray[np.float64],
    lines: Any,
    *,
    far: bool = False,
) -> list[Threat]:
    """What each unsafe cell must withstand, those that need most first.

    That is outsiders, and contributors who are alone in a cell of the same line; or, with `far`,
    those who are alone in a cell elsewhere. The corner of a rectangle of suppressed cells tells the
    opposite one, with which it shares no line.
    """
    values, needed = table.values.reshape(-1), protection.reshape(-1)
    cells = np.flatnonzero(unsafe.reshape(-1))
    sole = np.where(unsafe, table.sole, -1).reshape(-1)
    share = (lines.T @ lines).tocsr()
    found: list[Threat] = []
    for cell in cells[np.argsort(-needed[cells], kind="stable")].tolist():
        near = share.indices[share.indptr[cell] : share.indptr[cell + 1]]
        among = np.setdiff1d(sole, sole[near]) if far else sole[near]
        # No contributor attacks a cell that only this contributor has.
        insiders = np.setdiff1d(among, [-1, sole[cell]])
        place = tuple(int(axis) for axis in np.unravel_index(cell, table.shape))
        for insider in (*(() if far else (None,)), *insiders.tolist()):
            known = () if insider is None else tuple(np.flatnonzero(sole == insider).tolist())
            part = 0.0 if insider is None else table.known_part(place, insider)
            found.append(Threat(cell, float(needed[cell]), True, known))
            below = min(float(needed[cell]), float(values[cell]) - part)
            if below > 0:
                found.append(Threat(cell, below, False, known))
    return found


def insiders_everywhere(table: MagnitudeTable, unsafe: NDArray[np.bool_]) -> bool:
    """Whether every single contributor is tried against every unsafe cell, or those near it."""
    insiders = np.unique(table.sole[unsafe & (table.sole >= 0)])
    return int(unsafe.sum()) * insiders.size <= MOST_PAIRS


def withstands(
    threat: Threat,
    hidden: NDArray[np.bool_],
    values: NDArray[np.float64],
    lines: Any,
    shape: tuple[int, ...],
) -> bool:
    """Whether a cell can deviate far enough when these cells, flat, are hidden."""
    open_ = hidden.copy()
    open_[list(threat.known_cells)] = False
    place = tuple(int(axis) for axis in np.unravel_index(threat.cell, shape))
    return in_cube(
        place,
        needed=threat.needed,
        upwards=threat.upwards,
        hidden=open_.reshape(shape),
        values=values.reshape(shape),
    ) or (deviation(threat, hidden, values, lines, np.zeros(hidden.size)) is not None)


def deviation(
    threat: Threat,
    hidden: NDArray[np.bool_],
    values: NDArray[np.float64],
    lines: Any,
    cost: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """The cheapest deviation of the hidden cells that is far enough for a threat, None if none is.

    In units of what is needed: ups and downs of each cell are variables of their own, so that the
    cost of either is linear.
    """
    from scipy.optimize import linprog
    from scipy.sparse import hstack

    cells = np.flatnonzero(hidden)
    place = int(np.searchsorted(cells, threat.cell))
    part = lines[:, cells]
    part = part[np.diff(part.indptr) > 0]
    down = bounded(values[cells] / threat.needed, FURTHEST)
    up = np.full(cells.size, FURTHEST)
    known = np.isin(cells, threat.known_cells)
    up[known] = down[known] = 0
    (up if threat.upwards else down)[place] = 1
    (down if threat.upwards else up)[place] = 0
    least = np.zeros(2 * cells.size)
    least[place if threat.upwards else cells.size + place] = 1 - TOLERANCE / 10
    result = linprog(
        np.concatenate([cost[cells], cost[cells]]),
        A_eq=hstack([part, -part]).tocsr(),
        b_eq=np.zeros(part.shape[0]),
        bounds=np.column_stack([least, np.maximum(least, np.concatenate([up, down]))]),
        method="highs",
    )
    if result.status != 0:
        return None
    found = np.zeros(hidden.size)
    found[cells] = result.x[: cells.size] - result.x[cells.size :]
    return found
