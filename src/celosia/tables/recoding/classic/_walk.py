"""Nodes of a lattice, and the run of a classic algorithm over them, which records every visit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.tables.models import KAnonymity, Model
from celosia.tables.recoding.classic.search_trace import (
    LatticeTally,
    NodeSolution,
    SearchTrace,
    Visit,
)
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import infeasibility_error

MOST_NODES, MOST_COLUMNS = 100_000, 32
"""A trace with more nodes is too long to read; the exact search takes far more."""

Region = tuple[slice, ...]
"""Part of an array that has one place for each node."""


def bottom(shape: Node) -> Node:
    """The raw table."""
    return (0,) * len(shape)


def top(shape: Node) -> Node:
    """Every column at its root."""
    return tuple(levels - 1 for levels in shape)


def every(shape: Node) -> Iterator[Node]:
    """All nodes, later columns first."""
    return product(*(range(levels) for levels in shape))


def of_height(height: int, low: Node, high: Node) -> Iterator[Node]:
    """The nodes from `low` to `high` that are `height` steps above the raw table.

    >>> list(of_height(2, (0, 0), (1, 2)))
    [(0, 2), (1, 1)]
    """
    if not low:
        if height == 0:
            yield ()
        return
    least, most = sum(low[1:]), sum(high[1:])
    # The columns after the first one must be able to make up the rest.
    for level in range(max(low[0], height - most), min(high[0], height - least) + 1):
        for rest in of_height(height - level, low[1:], high[1:]):
            yield (level, *rest)


def between(low: Node, high: Node) -> Region:
    """All nodes that generalise one and are generalised by the other."""
    return tuple(slice(lo, hi + 1) for lo, hi in zip(low, high, strict=True))


def below(node: Node) -> Region:
    """The node and all that it generalises."""
    return tuple(slice(0, level + 1) for level in node)


def above(node: Node) -> Region:
    """The node and all that generalise it."""
    return tuple(slice(level, None) for level in node)


def predecessors(node: Node) -> Iterator[Node]:
    """The nodes one step below."""
    for column, level in enumerate(node):
        if level > 0:
            yield (*node[:column], level - 1, *node[column + 1 :])


def check_size(nodes: int, shape: Node) -> None:
    """Refuse what would take too long to enumerate.

    Raises:
        InputError: CEL-P051 too many nodes or columns.
    """
    if nodes > MOST_NODES or len(shape) > MOST_COLUMNS:
        raise InputError(
            "CEL-P051",
            columns=len(shape),
            most_nodes=MOST_NODES,
            most_columns=MOST_COLUMNS,
            nodes=nodes,
        )


def check_node(node: Node, shape: Node) -> None:
    """Refuse what is no node of the lattice.

    Raises:
        InputError: CEL-P052.
    """
    if len(node) != len(shape) or not all(
        0 <= level < levels for level, levels in zip(node, shape, strict=True)
    ):
        raise InputError("CEL-P052.not_a_node", node=node, columns=len(shape), top=top(shape))


def as_k_anonymity(k: int | KAnonymity, algorithm: str) -> KAnonymity:
    """The requested k as a model.

    Raises:
        InputError: CEL-I060 k is too small, CEL-P050 another model.
    """
    if isinstance(k, KAnonymity):
        return k
    if isinstance(k, Model):
        raise InputError("CEL-P050", algorithm=algorithm, promise=k.promise())
    return KAnonymity(k)


class Walk:
    """One run of an algorithm over a lattice, with the visits so far."""

    def __init__(
        self,
        algorithm: str,
        lattice: Lattice,
        model: KAnonymity,
        allowed: int,
        progress: Progress,
    ):
        if lattice.rows < model.k:  # otherwise the top works: all records are one class there
            raise infeasibility_error(lattice.one_class(), [model], allowed / lattice.rows)
        self.algorithm = algorithm
        self.lattice = lattice
        self.model = model
        # A release without a single kept class is none, whatever the limit.
        self.allowed = min(allowed, lattice.rows - 1)
        self.columns = tuple(column.name for column in lattice.columns)
        self.visits: list[Visit] = []
        self._progress = progress

    def suppressed(self, node: Node) -> int:
        """How many records are in classes smaller than k at a node."""
        return self.lattice.evaluate(node, [self.model]).suppressed

    def record(self, visit: Visit) -> None:
        """Add a visit to the trace."""
        self.visits.append(visit)
        self._progress(
            Step(Message("tables.stage.walking", algorithm=self.algorithm), len(self.visits))
        )

    def trace(
        self,
        nodes: Iterable[Node],
        *,
        guarantee: str,
        tallies: Iterable[LatticeTally] | None = None,
    ) -> SearchTrace:
        """The trace of the run, with the nodes that it offers."""
        whole = LatticeTally(self.columns, self.lattice.nodes, len(self.visits))
        solutions = [self._solution(node) for node in nodes]
        return SearchTrace(
            algorithm=self.algorithm,
            k=self.model.k,
            rows=self.lattice.rows,
            allowed=self.allowed,
            columns=self.columns,
            shape=self.lattice.shape,
            solutions=tuple(sorted(solutions, key=_rank)),
            guarantee=guarantee,
            visits=tuple(self.visits),
            tallies=(whole,) if tallies is None else tuple(tallies),
        )

    def _solution(self, node: Node) -> NodeSolution:
        outcome = self.lattice.evaluate(node, [self.model])
        return NodeSolution(node, outcome.suppressed, self.lattice.loss.total(outcome.leaf_sums))


def _rank(solution: NodeSolution) -> tuple[float, int, Node]:
    # The last digits of a loss depend on the order of columns; they must not settle a tie.
    return round(solution.loss, 12), solution.height, solution.node
