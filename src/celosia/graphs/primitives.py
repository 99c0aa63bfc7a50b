"""The three elementary changes of a graph, each checked first, and their log.

All keep the number of vertices and of edges; a rotation keeps one degree, a switch keeps all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from celosia.core.errors import InputError
from celosia.core.methods import PlainValues
from celosia.core.numbers import whole
from celosia.graphs.graph import Graph

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Edit(PlainValues):
    """One change: the edges that went and those that came."""

    kind: Literal["add-delete", "rotation", "switch"]
    deleted: tuple[Pair, ...]
    added: tuple[Pair, ...]

    def __str__(self) -> str:
        gone, come = (" ".join(f"{u}-{v}" for u, v in each) for each in (self.deleted, self.added))
        return f"{self.kind}: {gone} -> {come}"


@dataclass(slots=True, eq=False)
class EditSession:
    """A graph under change, edge by edge; the given one stays as it is.

    For many random changes of a large graph see `celosia.graphs.perturbation`.

    >>> from celosia.graphs.generators import ring
    >>> session = EditSession(ring(5))
    >>> session.rotate(0, 1, 2)
    >>> print(session.log[0])
    rotation: 0-1 -> 0-2
    >>> session.graph.degrees.tolist()
    [2, 1, 3, 2, 2]
    """

    given: Graph
    log: list[Edit] = field(default_factory=list)
    """What was done, in order."""
    _edges: set[Pair] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._edges = {(one, other) for one, other in self.given.edges.tolist()}

    @property
    def graph(self) -> Graph:
        """The graph as it is now."""
        return self.given.with_edges(np.array(sorted(self._edges), dtype=np.int64).reshape(-1, 2))

    def has_edge(self, one: int, other: int) -> bool:
        """Whether there is an edge now."""
        return _pair(one, other) in self._edges

    def add_delete(self, deleted: Pair, added: Pair) -> None:
        """Delete an edge {i, j} and add {k, p}, which is none: i, j lose a degree, k, p gain one.

        Raises:
            InputError: CEL-G020 no such edge, or one is there already, or it would be a loop.
        """
        self._change("add-delete", [deleted], [added])

    def rotate(self, pivot: int, old: int, new: int) -> None:
        """Turn the edge {i, j} to {i, p}: only j loses a degree and p gains one.

        Raises:
            InputError: CEL-G020 as for `add_delete`.
        """
        self._change("rotation", [(pivot, old)], [(pivot, new)])

    def switch(self, first: Pair, second: Pair) -> None:
        """Replace {i, j} and {k, p} by {i, p} and {k, j}: every degree stays."""
        (i, j), (k, p) = first, second
        if len({i, j, k, p}) != 4:
            raise InputError("CEL-G020.four_vertices")
        self._change("switch", [first, second], [(i, p), (k, j)])

    def _change(
        self,
        kind: Literal["add-delete", "rotation", "switch"],
        deleted: Sequence[Pair],
        added: Sequence[Pair],
    ) -> None:
        for pair in (*deleted, *added):
            if any(
                (number := whole(end)) is None or not 0 <= number < self.given.order for end in pair
            ):
                raise InputError("CEL-G020.no_vertex", last=self.given.order - 1)
        gone = tuple(_pair(*pair) for pair in deleted)
        come = tuple(_pair(*pair) for pair in added)
        if any(one == other for one, other in come):
            raise InputError("CEL-G020.loop")
        if any(pair not in self._edges for pair in gone):
            raise InputError("CEL-G020.no_edge")
        if any(pair in self._edges for pair in come):
            raise InputError("CEL-G020.edge_exists")
        self._edges.difference_update(gone)
        self._edges.update(come)
        self.log.append(Edit(kind, gone, come))


def _pair(one: int, other: int) -> Pair:
    return (int(one), int(other)) if one < other else (int(other), int(one))
