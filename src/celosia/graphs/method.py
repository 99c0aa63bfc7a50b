"""Graph methods: their base, and the methods by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, get_args

from celosia.core.lazy_imports import ClassesByName
from celosia.core.messages import Message
from celosia.core.methods import Method, build
from celosia.core.notation import method_from_text as from_text
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


GraphChange = MethodResult[Graph]
"""A plain graph, and facts about the change."""


def differences(before: Graph, after: Graph) -> dict[str, int]:
    """How many edges a change took away and brought, for the facts of a method."""
    from celosia.graphs._kernels import shared_keys

    shared = int(shared_keys(before.keys, after.keys))
    return {
        Message("graphs.fact.vertices"): after.order,
        Message("graphs.fact.edges_before"): before.size,
        Message("graphs.fact.edges_after"): after.size,
        Message("graphs.fact.edges_deleted"): before.size - shared,
        Message("graphs.fact.edges_added"): after.size - shared,
    }


def additions(before: Graph, after: Graph) -> dict[str, int]:
    """As `differences`, where fake vertices and edges were added and nothing was taken away."""
    return {
        Message("graphs.fact.vertices"): after.order,
        Message("graphs.fact.fake_vertices"): after.order - before.order,
        Message("graphs.fact.edges_before"): before.size,
        Message("graphs.fact.edges_after"): after.size,
        Message("graphs.fact.edges_deleted"): 0,
        Message("graphs.fact.edges_added"): after.size - before.size,
    }


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

    gaps: ClassVar[tuple[str, ...]] = ()
    """What a reader of the release must know that the method does not do."""

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
        """What this method, with its parameters, leaves open."""
        return self.gaps


METHODS: Mapping[str, type[GraphMethod[Any]]] = ClassesByName(
    "celosia.graphs",
    {
        "fuzzy-neighbourhood": "fuzzy_neighbourhood.FuzzyNeighbourhood",
        "k-automorphism": "automorphism.KAutomorphism",
        "k-degree": "kdegree.method.KDegree",
        "k-isomorphism": "automorphism.KIsomorphism",
        "k-neighbourhood": "neighbourhood.KNeighbourhood",
        "k-obfuscation": "uncertain.method.KObfuscation",
        "partition-search": "generalisation.partition_search.PartitionSearch",
        "private-graph": "private.synthetic_graph.PrivateGraph",
        "random-add-delete": "perturbation.exchange.RandomAddDelete",
        "random-perturbation": "perturbation.deletion.RandomPerturbation",
        "random-sparsification": "perturbation.deletion.RandomSparsification",
        "random-switch": "perturbation.exchange.RandomSwitch",
        "relabelling": "relabelling.Relabelling",
        "relevance": "perturbation.relevance.Relevance",
        "sangreea": "generalisation.clustering.SaNGreeA",
        "spectral-add-delete": "perturbation.exchange.SpectralAddDelete",
        "spectral-switch": "perturbation.exchange.SpectralSwitch",
        "vertex-addition": "kdegree.vertex_addition.VertexAddition",
    },
)
"""Every method by its name, sorted; most load compiled kernels."""


def methods() -> Mapping[str, type[GraphMethod[Any]]]:
    """Every method by its name, sorted.

    >>> {"k-degree", "random-switch", "k-obfuscation", "sangreea"} <= set(methods())
    True
    """
    return METHODS


def method_from(name: Any, parameters: Mapping[str, Any]) -> GraphMethod[Any]:
    """A method by its name with its parameters.

    Raises:
        InputError: as `core.methods.build` says.

    >>> method_from("k-degree", {"k": 5}).as_dict()
    {'method': 'k-degree', 'k': 5}
    """
    return build(METHODS, name, parameters)


def method_from_text(text: str) -> GraphMethod[Any]:
    """A method in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> method_from_text("random-switch:amount=0.2")
    RandomSwitch(amount=0.2)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return from_text(METHODS, text)


def takes(method: type[GraphMethod[Any]]) -> list[str]:
    """The kinds of graph that a method takes: `simple`, and those that it declares.

    >>> takes(METHODS["relabelling"]), takes(METHODS["random-switch"])
    (['simple', 'directed', 'bipartite'], ['simple'])
    """
    from celosia.graphs.networks.method import NetworkMethod
    from celosia.graphs.networks.network import Kind

    declared = method.kinds if issubclass(method, NetworkMethod) else frozenset()
    return ["simple", *(kind for kind in get_args(Kind) if kind in declared)]


def makes(method: type[GraphMethod[Any]]) -> type:
    """What a method makes: `Graph`, `UncertainGraph` or `GeneralisedGraph`, as its class says.

    >>> makes(METHODS["k-obfuscation"]).__name__
    'UncertainGraph'
    """
    for base in getattr(method, "__orig_bases__", ()):
        for made in get_args(base):
            if isinstance(made, type):
                return made
    raise TypeError(f"{method.__name__} does not say what it makes")
