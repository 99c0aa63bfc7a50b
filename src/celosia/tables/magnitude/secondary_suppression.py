"""Which further cells to suppress, so that an attacker cannot compute the unsafe ones.

Small tables are solved by an integer program, larger ones cell by cell: the cheapest way in which
an unsafe cell can deviate far enough shows which cells must be hidden with it. Cells that
turn out not to be needed are published again at the end.

Reference: Fischetti, Salazar 2001 (the program); Kelly, Golden, Assad 1992, Castro 2012 (the
sequence of linear programs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.tables.magnitude.attack import (
    TOLERANCE,
    Threat,
    bounded,
    deviation,
    withstands,
)

LARGEST = 2_500
"""Most pairs of a cell and a threat of the integer program."""
NODES = 200
CHECKS = 3_000
"""Most linear programs that are spent on publishing cells again."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SuppressionProblem:
    """What is to be protected; all arrays flat."""

    shape: tuple[int, ...]
    values: NDArray[np.float64]
    unsafe: NDArray[np.bool_]
    """The cells that must be hidden."""
    allowed: NDArray[np.bool_]
    """The cells that may be hidden, the unsafe ones among them."""
    cost: NDArray[np.float64]
    """What hiding a cell costs; above zero."""
    threats: Sequence[Threat]
    lines: Any
    """The sums of the table, by `relations`."""

    def withstands(self, threat: Threat, hidden: NDArray[np.bool_]) -> bool:
        """Whether hiding these cells is enough against a threat."""
        return withstands(threat, hidden, self.values, self.lines, self.shape)

    def withstands_all(self, hidden: NDArray[np.bool_]) -> bool:
        """Whether hiding these cells is enough against every threat."""
        return all(self.withstands(each, hidden) for each in self.threats)


@dataclass(frozen=True, slots=True, eq=False)
class SuppressionPattern:
    """The cells to suppress, flat, and whether their cost is proved to be the least."""

    hidden: NDArray[np.bool_]
    proved_minimal: bool


def choose_cells(problem: SuppressionProblem, *, progress: Progress = silent) -> SuppressionPattern:
    """The cells to suppress: the unsafe ones, and others that are allowed.

    Raises:
        PrivacyError: CEL-V330, where even all allowed cells would not be enough.
    """
    hidden = _in_turn(problem, progress)
    hidden = _publish_again(problem, hidden, progress)
    if not (hidden & ~problem.unsafe).any():
        return SuppressionPattern(hidden, True)
    if int(problem.allowed.sum()) * len(problem.threats) > LARGEST:
        return SuppressionPattern(hidden, False)
    progress(Step(Message("tables.stage.fewest_cells"), 0))
    return _program(problem, hidden)


def _in_turn(problem: SuppressionProblem, progress: Progress) -> NDArray[np.bool_]:
    """Hide for each threat what it needs; cells hidden before cost next to nothing."""
    hidden = problem.unsafe.copy()
    cheap = 1e-4 * float(problem.cost[problem.allowed].min(initial=np.inf))
    for number, threat in enumerate(problem.threats):
        progress(Step(Message("tables.stage.suppressing_cells"), number, len(problem.threats)))
        if problem.withstands(threat, hidden):
            continue
        cost = np.where(hidden, cheap, problem.cost)
        change = deviation(threat, problem.allowed, problem.values, problem.lines, cost)
        if change is None:
            raise PrivacyError("CEL-V330")
        hidden |= np.abs(change) > TOLERANCE / 100
        if not problem.withstands(threat, hidden):
            hidden |= change != 0  # a deviation too small to see was needed
    return hidden


def _publish_again(
    problem: SuppressionProblem, hidden: NDArray[np.bool_], progress: Progress
) -> NDArray[np.bool_]:
    """Take back cells, the dearest first, without which every threat is withstood."""
    kept = hidden.copy()
    extra = np.flatnonzero(hidden & ~problem.unsafe)
    if extra.size * len(problem.threats) > CHECKS:
        return kept
    for number, cell in enumerate(extra[np.argsort(-problem.cost[extra], kind="stable")].tolist()):
        progress(Step(Message("tables.stage.publishing_cells"), number, int(extra.size)))
        kept[cell] = False
        if not problem.withstands_all(kept):
            kept[cell] = True
    return kept


def _program(problem: SuppressionProblem, start: NDArray[np.bool_]) -> SuppressionPattern:
    """The least cost: a yes or no for each cell, and for each threat a deviation of the hidden.

    In two dimensions a deviation is a circulation, which falls into cycles through the cell that is
    threatened: no other cell need deviate further than that one. In three it may, so there the
    bound below is a choice, and nothing is proved.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, csr_array, diags_array, eye_array

    flat = len(problem.shape) < 3
    furthest = 1.0 if flat else 8.0
    cells = np.flatnonzero(problem.allowed)
    part = problem.lines[:, cells]
    part = part[np.diff(part.indptr) > 0]
    count, rows, many = cells.size, part.shape[0], len(problem.threats)
    blocks: list[list[Any]] = []
    high: list[NDArray[np.float64]] = []
    low: list[NDArray[np.float64]] = []
    least = [problem.unsafe[cells].astype(np.float64)]
    most = [np.ones(count)]
    for number, threat in enumerate(problem.threats):
        down = bounded(problem.values[cells] / threat.needed, furthest)
        up = np.full(count, furthest)
        for wall, own in (
            (csr_array((rows, count)), part),  # lines add up to zero
            (diags_array(-up), eye_array(count)),  # only hidden cells deviate, upwards
            (diags_array(-down), -eye_array(count)),  # and downwards
        ):
            blocks.append([wall, *(own if each == number else None for each in range(many))])
        low += [np.zeros(rows), np.full(2 * count, -np.inf)]
        high += [np.zeros(rows + 2 * count)]
        known = np.isin(cells, threat.known_cells)
        down[known] = up[known] = 0
        place = int(np.searchsorted(cells, threat.cell))
        up[place] = 1.0 if threat.upwards else -1.0
        down[place] = -up[place]
        least.append(-down)
        most.append(up)
    result = milp(
        np.append(problem.cost[cells], np.zeros(count * many)),
        constraints=LinearConstraint(
            block_array(blocks).tocsr(), np.concatenate(low), np.concatenate(high)
        ),
        bounds=Bounds(np.concatenate(least), np.concatenate(most)),
        integrality=np.append(np.ones(count), np.zeros(count * many)),
        options={"node_limit": NODES, "mip_rel_gap": 1e-6, "presolve": False},
    )
    if result.x is None:
        return SuppressionPattern(start, False)
    hidden = np.zeros(problem.allowed.size, dtype=np.bool_)
    hidden[cells] = result.x[:count] > 0.5
    sound = problem.withstands_all(hidden)
    proved = sound and flat and result.status == 0
    if not sound or problem.cost[hidden].sum() >= problem.cost[start].sum() - 1e-9:
        return SuppressionPattern(start, proved)
    return SuppressionPattern(hidden, proved)
