"""The exact optimum over the generalisation lattice, by bisection on a lower bound.

Three facts prune, and none of them can lose the optimum:

- *bound*: suppression only adds loss, so a node's loss is at least its loss with nothing
  suppressed, which needs no look at the records. Nodes whose bound is above the best loss found are
  closed.
- *infeasible*: a class too small at a node is cut from classes no larger at every node below it, so
  whoever is suppressed at a node is suppressed at all nodes below. A node beyond the suppression
  limit closes all nodes below it.
- *forced suppression*: for the same reason a node must suppress at least as many records as any
  node above it, which raises its bound.

The last two hold for models that a larger class cannot break (`Model.is_monotone`). With any other
model only the first is used, and nodes are tried in the order of their bounds.

The order decides only how soon the facts bite. With no suppression allowed the loss of a node is
its bound, and going down from the top lets each failure close most. Otherwise the node in the
middle of the open ones, ordered by bound, is tried: a success halves what is open from above, a
failure closes a whole region below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import floor

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.numbers import real
from celosia.core.progress import Progress, Step, silent
from celosia.tables.models import Model
from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.roll_up import Node

MOST_NODES, MOST_COLUMNS = 10_000_000, 64
"""The search keeps every node in order of its bound, in arrays of one dimension a column."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why the solution is the optimum: every node was evaluated or closed by a rule."""

    nodes: int
    evaluated: int = 0
    closed_by_bound: int = 0
    closed_as_infeasible: int = 0
    closed_by_forced_suppression: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """The optimum and the account of the search."""

    best: Outcome
    certificate: Certificate


def allowance(suppression: float, rows: int) -> int:
    """How many records a suppression limit allows: floor of limit times rows, in exact decimals.

    >>> allowance(0.29, 100), allowance(0.05, 30162)
    (29, 1508)
    """
    limit = real(suppression)
    if limit is None or not 0 <= limit <= 1:
        raise InputError(
            "CEL-P011",
            f"the suppression limit must be between 0 and 1, got {suppression!r}.",
            fix="Write 0.05 to allow 5 % of the records to be suppressed.",
        )
    return floor(Decimal(repr(limit)) * rows)


def optimum(
    lattice: Lattice,
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    progress: Progress = silent,
) -> Found:
    """The node of least loss whose classes, after suppression within the limit, meet every model.

    Ties go to the lower node (fewer generalisation steps), then to the one that raises later
    columns.

    Raises:
        PrivacyError: CEL-P001 no node meets the models within the limit.
    """
    if lattice.nodes > MOST_NODES or len(lattice.shape) > MOST_COLUMNS:
        raise InputError(
            "CEL-P012",
            f"the lattice has {lattice.nodes:,} nodes over {len(lattice.shape)} columns, too many "
            "for the exact search.",
            why=f"It holds up to {MOST_NODES:,} nodes and {MOST_COLUMNS} columns.",
            fix="Use fewer levels per hierarchy, or fewer quasi-identifiers.",
            nodes=lattice.nodes,
        )
    search = _Search(lattice, models, allowance(suppression, lattice.rows))
    while search.open.size:
        search.step()
        closed = lattice.nodes - search.open.size
        progress(Step("Searching the lattice", closed, lattice.nodes))
    if search.best is None:
        raise _unreachable(lattice, models, suppression)
    return Found(search.best, search.certificate)


class _Search:
    """The state of one search: the best so far, and the nodes still open in order of bound."""

    def __init__(self, lattice: Lattice, models: Sequence[Model], allowed: int):
        self.lattice = lattice
        self.models = models
        # A release without a single kept class is none, whatever the limit.
        self.allowed = min(allowed, lattice.rows - 1)
        self.best: Outcome | None = None
        self.certificate = Certificate(nodes=lattice.nodes)
        self._monotone = all(model.is_monotone for model in models)
        self._bounds = lattice.loss.bounds.reshape(-1)
        self._feasible = np.ones(lattice.shape, dtype=bool)
        self._forced = np.zeros(lattice.shape, dtype=np.int64)
        self.open: NDArray[np.int64] = np.argsort(self._bounds, kind="stable")

    def step(self) -> None:
        """Close at least one node: try it, unless what is known of it already rules it out."""
        position = self._next()
        index = self.open[position]
        self.open = np.delete(self.open, position)
        node: Node = tuple(int(level) for level in np.unravel_index(index, self.lattice.shape))
        if self.best and self.lattice.loss.bound(node, self._forced[node]) > self.best.product:
            self._count(closed_by_forced_suppression=1)
            return
        self._learn(self.lattice.evaluate(node, self.models))

    def _next(self) -> int:
        if not self._monotone:
            return 0
        return self.open.size - 1 if self.allowed == 0 else self.open.size // 2

    def _learn(self, outcome: Outcome) -> None:
        self._count(evaluated=1)
        if self._monotone:
            self._learn_of_those_below(outcome)
        if outcome.suppressed > self.allowed:
            return
        if self.best is None or _rank(outcome) < _rank(self.best):
            self.best = outcome
            # Equal bounds stay open: a tie must be seen to be settled.
            within = np.searchsorted(self._bounds[self.open], outcome.product, side="right")
            self._count(closed_by_bound=int(self.open.size - within))
            self.open = self.open[:within]

    def _learn_of_those_below(self, outcome: Outcome) -> None:
        below = tuple(slice(0, level + 1) for level in outcome.node)
        if outcome.suppressed > self.allowed:
            self._feasible[below] = False
            still = self._feasible.reshape(-1)[self.open]
            self._count(closed_as_infeasible=int(self.open.size - still.sum()))
            self.open = self.open[still]
        else:
            np.maximum(self._forced[below], outcome.suppressed, out=self._forced[below])

    def _count(self, **more: int) -> None:
        self.certificate = replace(
            self.certificate,
            **{name: getattr(self.certificate, name) + number for name, number in more.items()},
        )


def _rank(outcome: Outcome) -> tuple[float, int, Node]:
    return outcome.product, sum(outcome.node), outcome.node


def _unreachable(lattice: Lattice, models: Sequence[Model], suppression: float) -> PrivacyError:
    promises = ", ".join(model.promise() for model in models)
    smallest = max(model.smallest for model in models)
    if lattice.rows < smallest:
        return PrivacyError(
            "CEL-P001",
            f"{promises} cannot be reached: the table has {lattice.rows} rows.",
            why=f"Even one class of all rows has fewer than {smallest} records.",
            fix=f"Ask for at most {lattice.rows}, or publish more rows.",
            rows=lattice.rows,
            smallest=smallest,
        )
    return PrivacyError(
        "CEL-P001",
        f"{promises} cannot be reached with at most {suppression:.4g} of the records suppressed.",
        why="Not even the node that generalises every column fully meets it.",
        fix="Weaken the model or raise the suppression limit.",
        rows=lattice.rows,
    )
