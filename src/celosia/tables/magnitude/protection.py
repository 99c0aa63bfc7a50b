"""Protect a magnitude table: suppress unsafe cells, and cells from which they could be computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, did_you_mean, say
from celosia.core.progress import Progress, Step, silent
from celosia.tables.magnitude.attack import Threat, in_cube, insiders_everywhere, relations, threats
from celosia.tables.magnitude.audit import CellAudit, Interval, feasible
from celosia.tables.magnitude.rules import Rule, primary_cells
from celosia.tables.magnitude.secondary_suppression import (
    SuppressionPattern,
    SuppressionProblem,
    choose_cells,
)
from celosia.tables.magnitude.table import Cell, MagnitudeTable

COSTS = ("cells", "value", "contributors")
Cost = Literal["cells", "value", "contributors"]
_SLACK = 1e-5
"""The audit takes an interval for wide enough if it lacks no more than this share of the need."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProtectedTable:
    """A magnitude table of which some cells are not published.

    Guarantee: from the published cells and totals no attacker can compute unsafe cells more closely
    than its rules allow: neither an outsider nor the only contributor of another cell (`insiders`
    says whether of any, or in a very large table of one in the same line), who know that no value
    is negative and nothing else.
    """

    table: MagnitudeTable = field(repr=False)
    rules: tuple[Rule, ...]
    unsafe: NDArray[np.bool_] = field(repr=False)
    """The cells that the rules forbid."""
    hidden: NDArray[np.bool_] = field(repr=False)
    """All cells that are not published, the unsafe ones among them."""
    protection: NDArray[np.float64] = field(repr=False)
    """How far from its value each unsafe cell must seem possible."""
    cost: Cost
    proved_minimal: bool
    """Whether no other choice of cells is cheaper."""

    @property
    def insiders(self) -> str:
        """Which single contributors cannot compute an unsafe cell: all, or in the same line."""
        return "all" if insiders_everywhere(self.table, self.unsafe) else "same line"

    def published(self) -> NDArray[np.float64]:
        """The values, NaN where they are suppressed."""
        return np.where(self.hidden, np.nan, self.table.values)

    def frame(self, *, for_officer: bool = False) -> pl.DataFrame:
        """One row a cell: its categories, its value or nothing, and its status.

        A reader must not learn which cells were unsafe, so the status is only `published` or
        `suppressed`; for the officer it says `primary` or `secondary`, and the true values stand
        beside.
        """
        table = self.table
        if not for_officer:
            status = np.where(self.hidden, "suppressed", "published")
            return table.labelled({table.value: self.published(), "status": status})
        status = np.where(self.hidden, "secondary", "published")
        return table.labelled(
            {
                table.value: table.values,
                "published": self.published(),
                "status": np.where(self.unsafe, "primary", status),
                "contributors": table.counts,
                "largest": table.largest[..., 0],
                "second_largest": table.largest[..., 1],
                "protection": self.protection,
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """What was done, as plain values without cells."""
        return {
            "table": self.table.as_dict(),
            "rules": [rule.as_dict() for rule in self.rules],
            "cells": int(self.hidden.size),
            "primary": int(self.unsafe.sum()),
            "secondary": int((self.hidden & ~self.unsafe).sum()),
            "insiders": self.insiders,
            "published_share_of_value": _share(self.table.values, ~self.hidden),
            "cost": self.cost,
            "proved_minimal": self.proved_minimal,
        }

    def __str__(self) -> str:
        facts = self.as_dict()
        return say(
            "tables.report.protected_minimal" if self.proved_minimal else "tables.report.protected",
            table=str(self.table),
            unsafe=facts["primary"],
            further=facts["secondary"],
        )


def protect(
    table: MagnitudeTable,
    rules: Sequence[Rule],
    *,
    cost: Cost = "cells",
    progress: Progress = silent,
) -> ProtectedTable:
    """Suppress unsafe cells and as little else as is needed, and audit the result.

    Args:
        table: the table with its totals.
        rules: which cells are unsafe: by any of them.
        cost: what to lose least of: `cells` (a total counts as its line), `value`, `contributors`.
        progress: told as the work goes on.

    Raises:
        PrivacyError: CEL-V330 a cell cannot be protected; CEL-V331 the audit found one that is not.

    >>> from celosia.tables.magnitude import MinimumFrequency, magnitude_table
    >>> firms = pl.DataFrame({"region": ["n", "s", "s", "w", "w"], "sales": [9, 5, 7, 4, 4]})
    >>> table = magnitude_table(firms, by=["region"], value="sales")
    >>> protect(table, [MinimumFrequency(2)]).frame()["sales"].to_list()
    [None, 12.0, None, 29.0]
    """
    if cost not in COSTS:
        raise InputError(
            "CEL-V323", costs=", ".join(COSTS), cost=cost, hint=did_you_mean(cost, COSTS)
        )
    unsafe, protection = primary_cells(table, rules)
    lines = relations(table.shape)
    problem = SuppressionProblem(
        shape=table.shape,
        values=table.values.reshape(-1),
        unsafe=unsafe.reshape(-1),
        # A cell without contributors is known to be zero; to suppress it would hide nothing.
        allowed=(table.counts > 0).reshape(-1),
        cost=_prices(table, cost).reshape(-1),
        threats=threats(table, unsafe, protection, lines),
        lines=lines,
    )
    pattern = choose_cells(problem, progress=progress)
    if insiders_everywhere(table, unsafe):
        rest = threats(table, unsafe, protection, lines, far=True)
        pattern = _against(rest, problem, pattern, progress)
    result = ProtectedTable(
        table=table,
        rules=tuple(rules),
        unsafe=unsafe,
        hidden=pattern.hidden.reshape(table.shape),
        protection=protection,
        cost=cost,
        proved_minimal=pattern.proved_minimal,
    )
    broken = [each for each in audit(result, progress=progress) if not each.holds]
    if broken:
        raise PrivacyError("CEL-V331", cells=len(broken))
    return result


def _against(
    rest: list[Threat], problem: SuppressionProblem, pattern: SuppressionPattern, progress: Progress
) -> SuppressionPattern:
    """A pattern that withstands further threats as well; only those that break one are added."""
    while True:
        broken = [threat for threat in rest if not problem.withstands(threat, pattern.hidden)]
        if not broken:
            return pattern
        rest = [threat for threat in rest if threat not in broken]
        # What was broken once stays a condition, so this ends; and what is least under some of the
        # conditions and meets the others too is least under all.
        problem = replace(problem, threats=[*problem.threats, *broken])
        pattern = choose_cells(problem, progress=progress)


def audit(protected: ProtectedTable, *, progress: Progress = silent) -> tuple[CellAudit, ...]:
    """What can be computed of each suppressed cell, from the published ones alone.

    The intervals are those of an outsider. They tell the cells of those who contribute: they are
    for the officer, not for readers. Whether an unsafe cell holds is also tried by each contributor
    who is alone in another cell (in a very large table: in one of the same line).
    """
    published, table = protected.published(), protected.table
    intervals = feasible(published, progress=progress)
    insiders: dict[int, list[Cell]] = {}
    everybody = insiders_everywhere(table, protected.unsafe)
    for cell in map(tuple, np.argwhere(protected.unsafe & (table.sole >= 0)).tolist()):
        insiders.setdefault(int(table.sole[cell]), []).append(cell)
    audits = []
    for number, (cell, interval) in enumerate(intervals.items()):
        progress(Step(Message("tables.stage.auditing_insiders"), number, len(intervals)))
        needs = _needs(protected, cell)
        holds = _covers(interval, needs) and (
            not protected.unsafe[cell]
            or all(
                _holds_against(protected, published, cell, insider, his)
                for insider, his in insiders.items()
                if insider != table.sole[cell]
                and (everybody or any(_in_line(cell, each) for each in his))
            )
        )
        audits.append(
            CellAudit(
                cell=table.label(cell),
                status="primary" if protected.unsafe[cell] else "secondary",
                value=float(table.values[cell]),
                low=interval.low,
                high=interval.high,
                required_low=needs.low,
                required_high=needs.high,
                holds=holds,
            )
        )
    return tuple(audits)


def _holds_against(
    protected: ProtectedTable,
    published: NDArray[np.float64],
    cell: Cell,
    insider: int,
    his: Sequence[Cell],
) -> bool:
    """Whether a cell is wide enough to the only contributor of others; a cube proves it."""
    hidden = protected.hidden.copy()
    for each in his:
        hidden[each] = False
    values = protected.table.values
    needs = _needs(protected, cell, protected.table.known_part(cell, insider))
    if all(
        in_cube(cell, needed=needed, upwards=upwards, hidden=hidden, values=values)
        for needed, upwards in (
            (needs.high - values[cell], True),
            (values[cell] - needs.low, False),
        )
    ):
        return True
    seen = feasible(published, known={each: float(values[each]) for each in his}, only=[cell])
    return cell in seen and _covers(seen[cell], needs)


def _needs(protected: ProtectedTable, cell: Cell, part: float = 0.0) -> Interval:
    """What must seem possible for a cell, of which the attacker knows a part to be there."""
    value, needed = float(protected.table.values[cell]), float(protected.protection[cell])
    return Interval(max(part, value - needed), value + needed)


def _covers(found: Interval, needs: Interval) -> bool:
    # The last digits of the sums are lost to rounding, also where nothing is needed.
    slack = _SLACK * (needs.high - needs.low) + 1e-9 * needs.high
    return bool(found.low <= needs.low + slack and found.high >= needs.high - slack)


def _in_line(one: Cell, other: Cell) -> bool:
    return sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _prices(table: MagnitudeTable, cost: Cost) -> NDArray[np.float64]:
    if cost == "contributors":
        return np.maximum(table.counts, 1).astype(np.float64)
    if cost == "value":
        highest = float(table.values.max())
        return table.values + (1e-6 * highest if highest else 1.0)
    prices = np.ones(table.shape)
    for axis, size in enumerate(table.shape):
        np.moveaxis(prices, axis, -1)[..., -1] *= size
    return prices


def _share(values: NDArray[np.float64], shown: NDArray[np.bool_]) -> float | None:
    """Of the sum over all inner cells, the share of those published; None if it is suppressed.

    An attacker who adds up the published cells would compute the grand total from the share.
    """
    if not shown[(-1,) * shown.ndim]:
        return None
    inner = tuple(slice(0, -1) for _ in values.shape)
    whole = float(values[inner].sum())
    return float(values[inner][shown[inner]].sum()) / whole if whole else 1.0
