"""The published table as an attacker sees it: what can be computed of each suppressed cell.

This reads nothing but published values and knows nothing of how cells were chosen, so that a fault
there shows here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent


@dataclass(frozen=True, slots=True)
class Interval:
    """What the published cells leave possible for a suppressed one."""

    low: float
    high: float
    """Infinite where no published total bounds the cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellAudit:
    """A suppressed cell: what is possible for it, and what was required."""

    cell: tuple[str, ...]
    status: str
    """`primary` (unsafe itself) or `secondary` (suppressed for others)."""
    value: float
    low: float
    high: float
    required_low: float
    """The interval must reach down to here."""
    required_high: float
    """And up to here."""
    holds: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no upper end is None."""
        values = asdict(self)
        values["cell"] = list(self.cell)
        values["high"] = None if np.isinf(self.high) else self.high
        return values


def feasible(
    published: NDArray[np.float64],
    *,
    known: Mapping[tuple[int, ...], float] | None = None,
    only: Collection[tuple[int, ...]] | None = None,
    progress: Progress = silent,
) -> dict[tuple[int, ...], Interval]:
    """For each suppressed cell (NaN) of a table with totals, the values it can have.

    A table is possible if no cell is negative and each total is the sum of its cells.

    Args:
        published: one axis a dimension, the total last in each; NaN where suppressed.
        known: suppressed cells that this attacker knows, being their only contributor.
        only: the cells to look at; all that are suppressed by default.
        progress: told after each set of cells that hang together.

    >>> feasible(np.array([np.nan, np.nan, 4.0, 10.0]))[(0,)]
    Interval(low=0.0, high=6.0)
    """
    seen = published.copy()
    for cell, value in (known or {}).items():
        seen[cell] = value
    hidden = np.argwhere(np.isnan(seen))
    number = np.full(seen.shape, -1)
    number[tuple(hidden.T)] = np.arange(len(hidden))
    rows, rest = _equations(seen, number)
    found: dict[tuple[int, ...], Interval] = {}
    names = [tuple(cell) for cell in hidden.tolist()]
    wanted = set(names) if only is None else set(only)
    for part in _components(rows, len(names)):
        wanted_cells = [cell for cell in part if names[cell] in wanted]
        equations = [place for place, row in enumerate(rows) if row[0][0] in part]
        if wanted_cells:
            program = _Program.of(part, equations, rows, rest)
            found |= {names[cell]: program.interval(part[cell]) for cell in wanted_cells}
        progress(Step(Message("tables.stage.auditing_cells"), len(found), len(wanted)))
    return dict(sorted(found.items()))


def _equations(
    seen: NDArray[np.float64], number: NDArray[np.int64]
) -> tuple[list[list[tuple[int, float]]], list[float]]:
    """Each line with suppressed cells: these with their signs, and what they must come to."""
    rows, rest = [], []
    for axis in range(seen.ndim):
        values = np.moveaxis(seen, axis, -1).reshape(-1, seen.shape[axis])
        numbers = np.moveaxis(number, axis, -1).reshape(-1, seen.shape[axis])
        for line, names in zip(values, numbers, strict=True):
            signs = np.ones(line.size)
            signs[-1] = -1
            gone = names >= 0
            if gone.any():
                rows.append(list(zip(names[gone].tolist(), signs[gone].tolist(), strict=True)))
                rest.append(float(-(signs[~gone] * line[~gone]).sum()))
    return rows, rest


def _components(rows: list[list[tuple[int, float]]], count: int) -> list[dict[int, int]]:
    """Cells that share lines, directly or through others; each set is a program of its own."""
    parent = list(range(count))

    def root(cell: int) -> int:
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    for row in rows:
        for cell, _ in row[1:]:
            parent[root(cell)] = root(row[0][0])
    sets: dict[int, dict[int, int]] = {}
    for cell in range(count):
        members = sets.setdefault(root(cell), {})
        members[cell] = len(members)
    return list(sets.values())


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """Cells that hang together, and the sums they must come to, scaled to 1."""

    matrix: Any
    sums: NDArray[np.float64]
    scale: float

    @classmethod
    def of(
        cls,
        part: Mapping[int, int],
        equations: list[int],
        rows: list[list[tuple[int, float]]],
        rest: list[float],
    ) -> _Program:
        from scipy.sparse import lil_array

        matrix = lil_array((len(equations), len(part)))
        for place, equation in enumerate(equations):
            for cell, sign in rows[equation]:
                matrix[place, part[cell]] = sign
        sums = np.array([rest[equation] for equation in equations])
        scale = float(np.abs(sums).max(initial=0.0)) or 1.0
        return cls(matrix.tocsr(), sums / scale, scale)

    def interval(self, place: int) -> Interval:
        return Interval(max(self._end(place, 1.0), 0.0), self._end(place, -1.0))

    def _end(self, place: int, sign: float) -> float:
        from scipy.optimize import linprog

        goal = np.zeros(self.matrix.shape[1])
        goal[place] = sign
        result = linprog(goal, A_eq=self.matrix, b_eq=self.sums, bounds=(0, None))
        if result.status == 0:
            return sign * float(result.fun) * self.scale
        # Status 3 is no bound at all. Anything else means that rounding made the sums contradict
        # each other: then nothing is known, and the audit must not pass (NaN is never enough).
        return np.inf if result.status == 3 else np.nan
