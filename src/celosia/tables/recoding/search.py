"""The exact optimum over the generalisation lattice, by bisection on a lower bound.

Three facts prune, and none of them can lose the optimum:

- *bound*: a node's score is at least its floor, which needs no look at the records: for the loss,
  suppression only adds to what generalisation costs. Nodes whose floor is above the best score
  found are closed.
- *infeasible*: a model says of each class how many of its records must be suppressed however the
  class is split (`Verdict.must_go`), and at every node below, classes are split. If those are more
  than the limit, all nodes below are closed.
- *forced suppression*: for the same reason a node must suppress at least as many records as any
  node above it says, which raises its floor.

The order decides only how soon the facts bite. With no suppression allowed the loss of a node is
its floor, and one small class refuses a node: the node above most others is tried first, so that
each failure closes most. Under a limit the node in the middle of the open ones, ordered by floor,
is tried, or rather that of its neighbours there which is above most others: a success halves what
is open from above, a failure closes a whole region below. The longer nothing better is found, the
nearer is the best so far to the optimum, and the higher up the next node is taken from, where
failures close most. Before that the nodes beside the best are tried: where little can be closed, a
good node found early is what closes most.

A search that is stopped early knows the best so far and the lowest floor still open: between the
two lies the optimum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor, prod
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, joined
from celosia.core.methods import PlainValues
from celosia.core.numbers import real
from celosia.core.progress import Progress, Step, silent
from celosia.tables.metrics import Loss, Measure, Metric
from celosia.tables.metrics.metric import over_all_nodes
from celosia.tables.models import Classes, Model
from celosia.tables.recoding.lattice import Lattice, Outcome
from celosia.tables.recoding.roll_up import Node


@dataclass(frozen=True, slots=True)
class Certificate(PlainValues):
    """Why the solution is the optimum, or how far from it at most: every node is accounted for."""

    nodes: int
    evaluated: int = 0
    closed_by_bound: int = 0
    closed_as_infeasible: int = 0
    closed_by_forced_suppression: int = 0
    still_open: int = 0
    """Nodes about which nothing was decided when the time was over; 0 proves the optimum."""
    at_least: float = 0.0
    """No node scores below this, on the metric's scale from 0 to 1."""

    @property
    def is_optimal(self) -> bool:
        """Whether the solution is proven to be the best."""
        return self.still_open == 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node and the account of the search."""

    best: Outcome
    score: float
    """On the metric's scale from 0 to 1."""
    certificate: Certificate

    @property
    def gap(self) -> float:
        """How much better than the best found a node could be at most."""
        return max(0.0, self.score - self.certificate.at_least)


def allowance(suppression: float, rows: int) -> int:
    """How many records a suppression limit allows: floor of limit times rows, in exact decimals.

    >>> allowance(0.29, 100), allowance(0.05, 30162)
    (29, 1508)
    """
    limit = real(suppression)
    if limit is None or not 0 <= limit <= 1:
        raise InputError("CEL-P011", suppression=suppression)
    return floor(Decimal(repr(limit)) * rows)


def infeasibility_error(
    one_class: Classes, models: Sequence[Model], suppression: float
) -> PrivacyError:
    """The error for models that no recoding meets, with the reason if one is known.

    Args:
        one_class: all records as one class.
        models: what was asked for.
        suppression: the largest share of the records that might have been suppressed.
    """
    promises = [model.promise() for model in models]
    rows = int(one_class.sizes.sum())
    smallest = max(model.smallest for model in models)
    if rows < smallest:
        few = "CEL-P001.too_few_rows" if one_class.units is None else "CEL-P001.too_few_units"
        return PrivacyError(few, promises=promises, rows=rows, smallest=smallest)
    reasons = [
        reason for model in models if (reason := model.why_infeasible(one_class)) is not None
    ]
    return PrivacyError(
        "CEL-P001.unreachable_because" if reasons else "CEL-P001.unreachable",
        promises=promises,
        suppression=suppression,
        reason=joined("reports.joined.sentence", reasons) if reasons else "",
        rows=rows,
    )


MOST_NODES, MOST_COLUMNS = 10_000_000, 64
"""The search keeps every node in order of its floor, in arrays of one dimension a column."""

SWEEP = 16
"""Closed nodes are swept from the list when they are a sixteenth of it."""

NEAR = 100
"""Among how many nodes before and after the middle one the node above most others is tried."""

TOGETHER = 256
"""How many nodes are closed at once by what must go at them, where one was found to be closed."""

PATIENCE, PATIENCE_UNLIMITED = 4, 16
"""After this number of nodes in vain the next one is taken from half as far below the top."""


def is_searchable(lattice: Lattice) -> bool:
    """Whether the lattice is small enough for the exact search."""
    return lattice.nodes <= MOST_NODES and len(lattice.shape) <= MOST_COLUMNS


def find_optimum(
    lattice: Lattice,
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    metric: Metric | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> SearchResult:
    """The node of least loss whose classes, after suppression within the limit, meet every model.

    Ties go to the lower node (fewer generalisation steps), then to the one that raises later
    columns.

    Args:
        lattice: the table.
        models: what each class must meet.
        suppression: the largest share of the records that may be suppressed.
        metric: the metric to minimise; the loss if not given.
        time_limit: seconds after which the best so far is taken, with a bound on what it misses;
            the search goes on until there is one.
        progress: called as the search proceeds; may raise `Cancelled`.

    Raises:
        PrivacyError: CEL-P001 no node meets the models within the limit.
    """
    if not is_searchable(lattice):
        raise InputError(
            "CEL-P012.exact_search",
            columns=len(lattice.shape),
            most_nodes=MOST_NODES,
            most_columns=MOST_COLUMNS,
            nodes=lattice.nodes,
        )
    deadline = None if time_limit is None else monotonic() + time_limit
    measure = (metric or Loss()).over(lattice)
    search = _Search(lattice, models, allowance(suppression, lattice.rows), measure)
    stage = Message("tables.stage.searching")
    while search.step():
        progress(Step(stage, search.decided, lattice.nodes))
        if deadline is not None and search.best is not None and monotonic() > deadline:
            break
    if search.best is None:
        raise infeasibility_error(lattice.one_class(), models, suppression)
    return SearchResult(search.best, measure.share(search.score), search.certificate())


class _Search:
    """The state of one search: the best so far, and the nodes still open in order of floor.

    A node that is not evaluated is closed by one of three proofs, so the best that is left is the
    optimum. By bound: its floor, which its score cannot fall below, is above the best score. By
    forced suppression: so is its floor with the records gone that a node above it showed must go.
    As infeasible: more records must go than may.
    """

    def __init__(self, lattice: Lattice, models: Sequence[Model], allowed: int, measure: Measure):
        self.lattice = lattice
        self.models = models
        self.measure = measure
        # A release without a single kept class is none, whatever the limit.
        self.allowed = min(allowed, lattice.rows - 1)
        measure.allow(self.allowed)
        self.best: Outcome | None = None
        self.score = float("inf")
        self.decided = 0
        self._tally: Counter[str] = Counter()
        self._strides = [
            (prod(lattice.shape[column + 1 :]), levels)
            for column, levels in enumerate(lattice.shape)
        ]
        self._floors = measure.floors.reshape(-1)
        self._must_go = np.zeros(lattice.shape, dtype=np.int64)
        self._is_open = np.ones(lattice.shape, dtype=np.bool_)
        self._reach = over_all_nodes(
            [np.arange(1.0, levels + 1) for levels in lattice.shape], np.multiply
        ).reshape(-1)
        """How many nodes are at or below each."""
        self._by_reach = self.allowed == 0
        order = self._reach if self._by_reach else self._floors
        self._open: NDArray[np.int64] = np.argsort(order, kind="stable")
        """Nodes in order of floor, or of reach where nobody may be suppressed; those no longer open
        are swept out now and then."""
        self._stale = 0
        self._misses = 0
        """Nodes tried since the best so far was found."""
        self._beside: list[int] | None = None
        """The nodes beside the best that are still to be tried; None before they are made."""

    def step(self) -> bool:
        """Close at least one node; false if none was open."""
        index = self._next()
        if index is None:
            return False
        node: Node = tuple(index // stride % levels for stride, levels in self._strides)
        self._is_open[node] = False
        self._tell_closed(1)
        must_go = int(self._must_go[node])
        if self.best and must_go and self.measure.floor(node, must_go) > self.score:
            self._tally["closed_by_forced_suppression"] += 1
            self._close_others_forced(index)
        else:
            self._learn(self.lattice.evaluate(node, self.models))
        return True

    def certificate(self) -> Certificate:
        """The account of every node so far."""
        still_open = self._open[self._is_open.reshape(-1)[self._open]]
        lowest = self._floors[still_open].min(initial=self.score)
        return Certificate(
            nodes=self.lattice.nodes,
            still_open=still_open.size,
            at_least=self.measure.share(float(lowest)),
            **self._tally,
        )

    def _next(self) -> int | None:
        """The index of the node to try; None if none is open."""
        if self.decided == self.lattice.nodes:
            return None
        is_open = self._is_open.reshape(-1)
        beside = self._next_beside_best(is_open)
        if beside is not None:
            return beside
        if self._stale * SWEEP > self._open.size:
            self._open = self._open[is_open[self._open]]
            self._stale = 0
        if not self._by_reach:
            place = self._place(self._open.size)
            near = self._open[max(0, place - NEAR) : place + NEAR + 1]
            near = near[is_open[near]]
            if near.size:
                return int(near[np.argmax(self._reach[near])])
            self._open = self._open[is_open[self._open]]
        place = self._open.size - 1
        while not is_open[self._open[place]]:
            place -= 1
        return int(self._open[place])

    def _next_beside_best(self, is_open: NDArray[np.bool_]) -> int | None:
        """An open node one level in one column from the best, highest first; None if not yet."""
        if self.best is None or self.allowed == 0 or self._misses < PATIENCE_UNLIMITED:
            return None
        if self._beside is None:
            node = self.best.node
            at = sum(level * stride for level, (stride, _) in zip(node, self._strides, strict=True))
            beside = [
                at + step * stride
                for level, (stride, levels) in zip(node, self._strides, strict=True)
                for step in (-1, 1)
                if 0 <= level + step < levels
            ]
            self._beside = sorted(beside, key=lambda index: float(self._floors[index]))
        while self._beside:
            index = self._beside.pop()
            if is_open[index]:
                return index
        return None

    def _place(self, open_nodes: int) -> int:
        """Which of the open nodes, in order of floor, to try.

        Near the top first: what is feasible there gives a bound, and what is not closes all nodes
        below it. After nodes in vain half as far from the top, where better ones are.
        """
        unlimited = self.allowed == self.lattice.rows - 1
        halvings = self._misses // (PATIENCE_UNLIMITED if unlimited else PATIENCE)
        return open_nodes - 1 - (open_nodes - 1) // (2 << min(32, halvings))

    def _learn(self, outcome: Outcome) -> None:
        self._tally["evaluated"] += 1
        self._misses += 1
        self._learn_of_those_below(outcome)
        if outcome.suppressed > self.allowed:
            return
        score = self.measure.score(outcome)
        if self.best is None or _rank(score, outcome) < _rank(self.score, self.best):
            self.best, self.score, self._misses = outcome, score, 0
            self._beside = None
            # Equal floors stay open: a tie must be seen to be settled.
            beyond = self._floors[self._open] > score
            self._tally["closed_by_bound"] += self._close_all(self._open[beyond])
            self._open = self._open[~beyond]

    def _learn_of_those_below(self, outcome: Outcome) -> None:
        # Lower levels split classes, never join them; and `must_go` holds however a class is split
        # (see `Verdict`). So what must go here must go at every node below.
        below = tuple(slice(0, level + 1) for level in outcome.node)
        if outcome.must_go > self.allowed:
            self._tally["closed_as_infeasible"] += self._close_below(below)
        elif outcome.must_go:
            np.maximum(self._must_go[below], outcome.must_go, out=self._must_go[below])

    def _close_others_forced(self, index: int) -> None:
        """Of the open nodes next below one in the order of floors, close those closed likewise."""
        place = int(np.searchsorted(self._floors[self._open], self._floors[index], side="right"))
        near = self._open[max(0, place - TOGETHER) : place]
        near = near[self._is_open.reshape(-1)[near]]
        must_go = self._must_go.reshape(-1)[near]
        near, must_go = near[must_go > 0], must_go[must_go > 0]
        nodes = np.unravel_index(near, self.lattice.shape)
        beyond = self.measure.forced(nodes, must_go) > self.score
        self._tally["closed_by_forced_suppression"] += self._close_all(near[beyond])

    def _close_all(self, indices: NDArray[np.int64]) -> int:
        """Close nodes by their indices; returns how many were open."""
        is_open = self._is_open.reshape(-1)
        closed = int(np.count_nonzero(is_open[indices]))
        is_open[indices] = False
        self._tell_closed(closed)
        return closed

    def _close_below(self, region: tuple[slice, ...]) -> int:
        """Close a node and all below it; returns how many were open."""
        closed = int(np.count_nonzero(self._is_open[region]))
        self._is_open[region] = False
        self._tell_closed(closed)
        return closed

    def _tell_closed(self, closed: int) -> None:
        self.decided += closed
        self._stale += closed


def _rank(score: float, outcome: Outcome) -> tuple[float, int, Node]:
    return score, sum(outcome.node), outcome.node
