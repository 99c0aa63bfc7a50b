"""The base of graph methods: validated parameters, and one function of a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from celosia.core.methods import Method
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph

Result = TypeVar("Result")
"""The result: a `Graph`, an uncertain graph, or a graph of super-vertices."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodResult(Generic[Result]):
    """The result of one method: a graph, and facts about the change."""

    graph: Result
    """What can be published, vertex by vertex in the order of the given graph where it has any."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Counts and losses for the report, as plain values; never a name or an attribute."""
    kept: str
    """What is the same as before, in words."""


class GraphMethod(Method, ABC, Generic[Result]):
    """A way to protect a graph; a frozen dataclass whose fields are its parameters.

    What it is called and what it does, in words, is in the catalogue of methods.
    A method says what it makes: `class RandomSwitch(GraphMethod[Graph])`.
    """

    randomised: ClassVar[bool]
    """Whether it draws: a method that does is repeated by a seed, and only a simulation then."""
    is_private: ClassVar[bool] = False
    """Whether it is differentially private: nothing exact may be published beside its result."""
    needs_original: ClassVar[bool] = False
    """Whether its promise is against those who know the graph that it is given: nothing may have
    changed that before."""

    @abstractmethod
    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Result]:
        """Protect a graph; the given one stays as it is.

        Raises:
            InputError: a parameter does not fit the graph.
            PrivacyError: what is asked cannot be reached on this graph.
        """

    def promise(self, graph: Graph) -> str | None:
        """What is guaranteed of what `apply` makes of this graph; None where nothing is."""
        return None

    def leaves_open(self) -> tuple[str, ...]:
        """What a reader of the release must know that the method does not do."""
        return ()
