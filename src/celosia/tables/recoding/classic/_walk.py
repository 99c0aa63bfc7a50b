"""The run of a classic algorithm over a lattice, which records every visit to a node."""

from __future__ import annotations

from collections.abc import Iterable

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
