"""A quick proof that a suppressed cell is protected: a cube of suppressed cells around it.

Take two cells that differ in every dimension, and the cells that mix their categories. If one goes
up by an amount, its neighbours in the cube down, theirs up again and so on, every line still
adds up; a total counts with the opposite sign. So if the whole cube is suppressed, and those
that go down have so much, the cell may be that far from its value for all an attacker knows.

Reference: Repsilber 1994, Giessing, Repsilber 2002 (the hypercube method).
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from celosia.tables.magnitude.table import Cell


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
