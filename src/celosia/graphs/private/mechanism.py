"""The base of graph mechanisms, and their two neighbour relations: one edge, one vertex."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from celosia.core.errors import InputError
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import whole
from celosia.graphs.graph import Graph
from celosia.mechanisms.mechanism import Mechanism, Output
from celosia.mechanisms.parameters import check_epsilon

Level = Literal["edge", "vertex"]

ONE_EDGE = Neighbours(Relation.ADD_REMOVE, unit="edge")
"""The same vertices, one edge more or less: the vertices and their number are public."""
ONE_VERTEX = Neighbours(Relation.ADD_REMOVE, unit="vertex with its edges")
"""One vertex more or less with any number of edges: the number of vertices is private."""

LARGEST_CAP = 2**20
"""Of a degree: a histogram has a bin for each."""


@dataclass(frozen=True, kw_only=True)
class GraphMechanism(Mechanism[Graph, Output]):
    """A statistic of a graph that hides one edge; the vertices and their number are public.

    A budget that pays for it must be one for the same neighbours:
    `Budget(epsilon=1, neighbours=ONE_EDGE)`.
    """

    epsilon: float
    neighbours: Neighbours = field(default=ONE_EDGE, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_epsilon(self.epsilon)

    @property
    def price(self) -> Fraction:
        """Epsilon as the exact number that it is written as."""
        return check_epsilon(self.epsilon)

    @property
    @abstractmethod
    def question(self) -> str:
        """What is asked, in a few words."""


def check_graph(graph: object) -> Graph:
    """Refuse what is no graph."""
    if isinstance(graph, Graph):
        return graph
    raise InputError("CEL-G300", name=type(graph).__name__)


def check_cap(cap: object, *, most: int = LARGEST_CAP) -> int:
    """A bound of degrees."""
    number = whole(cap)
    if number is None or not 1 <= number <= most:
        raise InputError("CEL-G302.no_cap_value", most=most, cap=cap)
    return number
