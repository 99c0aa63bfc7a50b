"""The base of graph mechanisms, and their two neighbour relations: one edge, one vertex."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from celosia.accounting.losses import PureLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import whole
from celosia.graphs.graph import Graph
from celosia.mechanisms.mechanism import ExactEpsilon, Mechanism, Output
from celosia.mechanisms.noise.laws import DiscreteLaplace
from celosia.mechanisms.parameters import check_epsilon

Level = Literal["edge", "vertex"]

ONE_EDGE = Neighbours(Relation.ADD_REMOVE, unit="edge")
"""The same vertices, one edge more or less: the vertices and their number are public."""
ONE_VERTEX = Neighbours(Relation.ADD_REMOVE, unit="vertex with its edges")
"""One vertex more or less with any number of edges: the number of vertices is private."""

LARGEST_CAP = 2**20
"""Of a degree: a histogram has a bin for each."""


@dataclass(frozen=True, kw_only=True)
class GraphMechanism(ExactEpsilon, Mechanism[Graph, Output]):
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
    @abstractmethod
    def question(self) -> str:
        """What is asked, in a few words."""


class LaplaceStatistic(GraphMechanism[Output]):
    """A statistic of whole numbers with Laplace noise, whatever else is done to it."""

    @property
    @abstractmethod
    def shift(self) -> int:
        """By how much an edge moves the statistic, in sum."""

    @property
    def sensitivity(self) -> float:
        """The same."""
        return float(self.shift)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise of each number."""
        return DiscreteLaplace(self.shift / self.price)

    def privacy_loss(self) -> PureLoss:
        return PureLoss(self.price)


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
