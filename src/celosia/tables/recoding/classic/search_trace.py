"""The trace of a classic algorithm: its solutions, and each node that it visited."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from celosia.core.messages import say, say_of
from celosia.tables.recoding.roll_up import Node


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit to a node: why, how many records would be suppressed, and what follows from that.

    >>> print(Visit(("age", "zip"), (0, 1), "the raw table failed", 3, False, "generalise 'age'"))
    age 0, zip 1 (the raw table failed): 3 records to suppress, generalise 'age'
    """

    columns: tuple[str, ...]
    """The columns looked at; fewer than all only where an algorithm treats subsets."""
    node: Node
    """A level for each of these columns."""
    why: str
    suppressed: int
    """Records in classes smaller than k."""
    satisfies: bool
    """Whether that is within the limit."""
    decision: str
    settled: int = 0
    """How many other nodes this look settled without a look of their own."""

    def __str__(self) -> str:
        place = ", ".join(f"{n} {lv}" for n, lv in zip(self.columns, self.node, strict=True))
        return say_of("tables.trace.visit", self, place=place, records=self.suppressed)


@dataclass(frozen=True, slots=True)
class NodeSolution:
    """A node that an algorithm offers, with what it costs."""

    node: Node
    suppressed: int
    loss: float
    """Information lost in [0, 1], suppression included, as everywhere else."""

    @property
    def height(self) -> int:
        """Generalisation steps from the raw table."""
        return sum(self.node)


@dataclass(frozen=True, slots=True)
class LatticeTally:
    """How much of the lattice over some columns an algorithm had to look at."""

    columns: tuple[str, ...]
    nodes: int
    """Nodes of that lattice."""
    checked: int
    """Nodes looked at; all others were settled by an argument, or never needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTrace:
    """The solutions of an algorithm, and the visits that led to them."""

    algorithm: str
    k: int
    rows: int
    allowed: int
    """The most records that could be suppressed."""
    columns: tuple[str, ...]
    shape: Node
    """Levels of each column."""
    solutions: tuple[NodeSolution, ...]
    """The nodes that it offers, least loss first; ties go to the lower node."""
    guarantee: str
    """What is known of these nodes, and what is not."""
    visits: tuple[Visit, ...] = field(repr=False)
    tallies: tuple[LatticeTally, ...] = field(repr=False)

    @property
    def best(self) -> NodeSolution:
        """The node of least loss among those found."""
        return self.solutions[0]

    @property
    def nodes(self) -> int:
        """Nodes of all lattices that had a part in the search."""
        return sum(tally.nodes for tally in self.tallies)

    @property
    def checked(self) -> int:
        """Nodes looked at."""
        return sum(tally.checked for tally in self.tallies)

    def as_dict(self) -> dict[str, Any]:
        values = asdict(self)
        values["best"] = asdict(self.best)
        values["nodes"] = self.nodes
        values["checked"] = self.checked
        return _lists(values)  # type: ignore[no-any-return]  # a dictionary stays one

    def __str__(self) -> str:
        one = len(self.solutions) == 1
        return say(
            "tables.trace.one_solution" if one else "tables.trace.several_solutions",
            algorithm=self.algorithm,
            k=self.k,
            node=self.best.node,
            solutions=len(self.solutions),
            suppressed=self.best.suppressed,
            records=self.rows,
            loss=100 * self.best.loss,
            checked=self.checked,
            nodes=self.nodes,
        )


def _lists(value: Any) -> Any:
    """The same value with lists for tuples, as JSON gives it back."""
    if isinstance(value, dict):
        return {key: _lists(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_lists(inner) for inner in value]
    return value
