"""The base of attacks by name: what the attacker knows or does, as declared parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from celosia.core.lazy_imports import ClassesByName
from celosia.core.methods import Method
from celosia.core.notation import method_from_text
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.graphs.attacks.result import Numbers
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod

Found = TypeVar("Found")
"""The result of an attack."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackedGraph:
    """A graph, and the release that is attacked."""

    original: Graph
    release: Graph
    numbers: Numbers | None = None
    """The number in the release of each vertex of the original, the same by default."""
    method: GraphMethod[Graph] | None = None
    """How the release was made, for an attack that begins before it; None if names were hidden."""


class AttackMethod(Method, ABC, Generic[Found]):
    """An attack; a frozen dataclass whose fields are its parameters."""

    @abstractmethod
    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> Found:
        """Attack a release."""


ATTACKS: Mapping[str, type[AttackMethod[Any]]] = ClassesByName(
    "celosia.graphs.attacks",
    {
        "degree": "structural.ByDegree",
        "refinement": "structural.ByRefinement",
        "neighbourhood": "structural.ByNeighbourhood",
        "subgraph": "subgraph.BySubgraph",
        "hubs": "hubs.ByHubs",
        "active": "active.ByPlantedAccounts",
        "links": "links.ByLinks",
        "propagation": "propagation.ByPropagation",
        "percolation": "percolation.ByPercolation",
        "seedless": "seedless.Seedless",
    },
)
"""The attacks by their names."""


def attack_from_text(text: str) -> AttackMethod[Any]:
    """An attack in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> attack_from_text("subgraph:edges=6")
    BySubgraph(edges=6)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(ATTACKS, text, what="attack")
