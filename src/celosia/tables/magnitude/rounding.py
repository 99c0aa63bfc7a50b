"""Controlled rounding: every cell and total a multiple of a base, and totals still add up.

All arithmetic is on whole numbers: cells are fractions of the base over one denominator.

Reference: Cox, Ernst 1982 (two dimensions: always possible); Cox 1987 (unbiased at random).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.numbers import exact
from celosia.core.randomness import Source, System
from celosia.tables.magnitude.attack import relations
from celosia.tables.magnitude.table import MagnitudeTable

Manner = Literal["nearest", "random"]
LARGEST = 1 << 52
"""Whole numbers up to here are the same as floats, so nothing is lost between them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoundedTable:
    """A table rounded with its totals, which are last in each dimension."""

    values: NDArray[np.float64] = field(repr=False)
    base: float
    manner: Manner
    unbiased: bool
    """Whether the expectation of each cell is its true value."""
    zero_restricted: bool
    """Whether each cell is the multiple just below or above its value (itself if it is one)."""
    furthest: float
    """The largest change of a cell, totals included."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "base": self.base,
            "manner": self.manner,
            "unbiased": self.unbiased,
            "zero_restricted": self.zero_restricted,
            "furthest": self.furthest,
            "values": self.values.tolist(),
        }

    def __str__(self) -> str:
        return f"rounded to {self.base:g}, no cell changed by more than {self.furthest:g}"


def controlled_rounding(
    table: MagnitudeTable | ArrayLike,
    *,
    base: float,
    manner: Manner = "nearest",
    rng: Source | None = None,
) -> RoundedTable:
    """Round a table of one to three dimensions so that its totals still add up.

    Each cell and each total moves to the multiple of the base below or above it, and a multiple
    stays (zero-restricted). Up to two dimensions that is always possible. In three it may not be;
    then multiples may move by one base, and if that does not help the table is refused.

    Guarantee: none of differential privacy. A reader of a rounded cell knows its value to one base.

    Args:
        table: a magnitude table, or its inner cells as an array without totals.
        base: what to round to multiples of.
        manner: `nearest` changes as little as can be in all; `random` draws. In one and two
            dimensions the draw is unbiased: each cell is its true value in expectation.
        rng: the source of randomness for `random`.

    Raises:
        InputError: CEL-V340 .. CEL-V343.
        PrivacyError: CEL-V344, no rounding of this table adds up.

    >>> controlled_rounding([[1, 4], [7, 2]], base=5).values.tolist()
    [[0.0, 5.0, 5.0], [10.0, 0.0, 10.0], [10.0, 5.0, 15.0]]
    """
    if manner not in ("nearest", "random"):
        raise InputError("CEL-V343", manner=manner)
    step = exact(base)
    if step is None or step <= 0:
        raise InputError("CEL-V340", base=base)
    parts, denominator = _with_totals(_inner(table), step)
    low, odd = np.divmod(parts, denominator)
    if manner == "random" and parts.ndim < 3:
        up: NDArray[np.int64] | None = _unbiased(odd, denominator, rng or System())
        restricted = True
    else:
        source = None if manner == "nearest" else rng or System()
        up, restricted = _by_program(low, odd, denominator, source)
    if up is None:
        raise PrivacyError("CEL-V344")
    rounded = (low + up).astype(np.float64) * float(step)
    moved = np.abs((low + up) * denominator - parts).max() / denominator * float(step)
    return RoundedTable(
        values=rounded,
        base=float(step),
        manner=manner,
        unbiased=manner == "random" and parts.ndim < 3,
        zero_restricted=restricted,
        furthest=float(moved),
    )


def _inner(table: MagnitudeTable | ArrayLike) -> NDArray[Any]:
    if isinstance(table, MagnitudeTable):
        return table.values[tuple(slice(0, -1) for _ in table.shape)]
    cells = np.asarray(table)
    if not 1 <= cells.ndim <= 3 or not cells.size or cells.dtype.kind not in "iuf":
        raise InputError("CEL-V341.not_an_array")
    if not np.isfinite(cells).all():
        raise InputError("CEL-V341.not_finite")
    return cells


def _with_totals(cells: NDArray[Any], step: Fraction) -> tuple[NDArray[np.int64], int]:
    """The cells in parts of the base over one denominator, with totals after each dimension."""
    shares = [Fraction(exact(cell) or 0) / step for cell in cells.reshape(-1).tolist()]
    denominator = lcm(*(share.denominator for share in shares))
    parts = [share.numerator * (denominator // share.denominator) for share in shares]
    if sum(map(abs, parts)) > LARGEST or denominator > LARGEST:
        raise InputError("CEL-V342")
    table = np.array(parts, dtype=np.int64).reshape(cells.shape)
    for axis in range(cells.ndim):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    return table, denominator


def _unbiased(odd: NDArray[np.int64], whole: int, rng: Source) -> NDArray[np.int64]:
    """Which cells go up, such that each does with the chance of its remainder.

    With the signs of totals turned, every line of remainders adds up to zero modulo the base, so a
    line has no remainder or two at least, and remainders lie on cycles of cells. Along a cycle they
    are moved up and down in turn, by as much as one of them allows, to one side or the other with
    the chances that keep the expectation. Each move ends a remainder.
    """
    left = odd.reshape(1, -1).copy() if odd.ndim == 1 else odd.copy()
    if odd.ndim == 1:  # a single row with itself as its total
        left = np.concatenate([left, left])
    rows: list[set[int]] = [set(np.flatnonzero(line % whole).tolist()) for line in left]
    columns: list[set[int]] = [set(np.flatnonzero(line % whole).tolist()) for line in left.T]
    last = (left.shape[0] - 1, left.shape[1] - 1)
    for start in range(left.shape[0]):
        while rows[start]:
            cycle = _cycle(rows, columns, start)
            signs = [
                (1 if turn % 2 else -1) * (-1) ** ((row == last[0]) + (column == last[1]))
                for turn, (row, column) in enumerate(cycle)
            ]
            rooms = [
                (whole - int(left[cell]), int(left[cell]))[:: 1 if sign > 0 else -1]
                for cell, sign in zip(cycle, signs, strict=True)
            ]
            forth, back = (min(room[side] for room in rooms) for side in (0, 1))
            move = forth if int(rng.integers(forth + back, 1)[0]) < back else -back
            for cell, sign in zip(cycle, signs, strict=True):
                left[cell] += sign * move
                if left[cell] % whole == 0:
                    rows[cell[0]].discard(cell[1])
                    columns[cell[1]].discard(cell[0])
    up = left // whole
    return up[0] if odd.ndim == 1 else up


def _cycle(rows: list[set[int]], columns: list[set[int]], start: int) -> list[tuple[int, int]]:
    """A closed walk over cells with remainders, by row and by column in turn."""
    row, column = start, -1
    path: list[tuple[int, int]] = []
    seen = {("row", start): 0}
    while True:
        column = min(each for each in rows[row] if each != column)
        path.append((row, column))
        if ("column", column) in seen:
            return path[seen["column", column] :]
        seen["column", column] = len(path)
        row = min(each for each in columns[column] if each != row)
        path.append((row, column))
        if ("row", row) in seen:
            return path[seen["row", row] :]
        seen["row", row] = len(path)


def _by_program(
    low: NDArray[np.int64], odd: NDArray[np.int64], whole: int, rng: Source | None
) -> tuple[NDArray[np.int64] | None, bool]:
    """Which cells go up: the least change in all, or by drawn prices; None where nothing adds up.

    The second is whether multiples of the base stay.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import hstack

    lines = relations(low.shape)
    missing = -(lines @ low.reshape(-1))
    share = odd.reshape(-1) / whole
    cost = 1 - 2 * share
    if rng is not None:  # a coin for each cell, weighed by its remainder
        coins = rng.integers(1 << 53, share.size) / 2.0**53
        cost = np.where(coins < share, -1.0, 1.0)
    still = odd.reshape(-1) == 0
    for restricted in (True, False):
        if not restricted:
            # A multiple may now move by one base, at a price above that of any other change.
            cost = np.where(still, 4.0, cost)
        downs = np.where(still, 4.0, 0.0)
        reach = np.zeros(share.size) if restricted else still.astype(np.float64)
        result = milp(
            np.concatenate([cost, downs]),
            constraints=LinearConstraint(hstack([lines, -lines]).tocsr(), missing, missing),
            bounds=Bounds(0, np.concatenate([np.where(still, reach, 1.0), reach])),
            integrality=np.ones(2 * share.size),
            options={"node_limit": 5_000},
        )
        if result.x is not None:
            found = np.rint(result.x).astype(np.int64)
            up = found[: share.size] - found[share.size :]
            return up.reshape(low.shape), restricted
    return None, False
