"""Publish graphs: perturbation, k-degree anonymity, uncertain graphs, generalisation, privacy.

`read` a graph, `publish` it by a method, `compare` it with its original, attack it (`attacks`), ask
for private statistics of it (`private`). Names load on first use.

>>> from celosia import Seeded, graphs
>>> release = graphs.publish(graphs.examples.g9(), graphs.KDegree(k=3), rng=Seeded(7))
>>> print(release.guarantee.promise)
k-degree anonymity, k = 3: every degree is shared by at least 3 vertices
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.graphs import attacks, examples, generators, metrics, private, verification
    from celosia.graphs.adapters import as_graph, to_networkx
    from celosia.graphs.automorphism import KAutomorphism
    from celosia.graphs.generalisation import GeneralisedGraph, PartitionSearch, SaNGreeA
    from celosia.graphs.graph import Graph
    from celosia.graphs.kdegree import KDegree, VertexAddition
    from celosia.graphs.method import GraphMethod, MethodResult
    from celosia.graphs.metrics import GraphUtility, compare, measure
    from celosia.graphs.neighbourhood import KNeighbourhood
    from celosia.graphs.perturbation import (
        RandomAddDelete,
        RandomPerturbation,
        RandomSparsification,
        RandomSwitch,
        Relevance,
        SpectralAddDelete,
        SpectralSwitch,
    )
    from celosia.graphs.private import PrivateGraph
    from celosia.graphs.readers import ReadResult, read
    from celosia.graphs.registry import method_from, method_from_text, methods
    from celosia.graphs.relabelling import Relabelling
    from celosia.graphs.release import GraphRelease
    from celosia.graphs.run import publish
    from celosia.graphs.uncertain import KObfuscation, UncertainGraph
    from celosia.graphs.writers import write

_HOMES = {
    "MethodResult": "method",
    "GeneralisedGraph": "generalisation",
    "Graph": "graph",
    "GraphMethod": "method",
    "GraphRelease": "release",
    "GraphUtility": "metrics",
    "KAutomorphism": "automorphism",
    "KDegree": "kdegree",
    "KNeighbourhood": "neighbourhood",
    "PartitionSearch": "generalisation",
    "PrivateGraph": "private",
    "RandomAddDelete": "perturbation",
    "RandomPerturbation": "perturbation",
    "RandomSparsification": "perturbation",
    "RandomSwitch": "perturbation",
    "ReadResult": "readers",
    "Relabelling": "relabelling",
    "Relevance": "perturbation",
    "SaNGreeA": "generalisation",
    "SpectralAddDelete": "perturbation",
    "SpectralSwitch": "perturbation",
    "KObfuscation": "uncertain",
    "UncertainGraph": "uncertain",
    "VertexAddition": "kdegree",
    "as_graph": "adapters",
    "compare": "metrics",
    "measure": "metrics",
    "method_from": "registry",
    "method_from_text": "registry",
    "methods": "registry",
    "publish": "run",
    "read": "readers",
    "to_networkx": "adapters",
    "write": "writers",
}

__all__ = [
    "GeneralisedGraph",
    "Graph",
    "GraphMethod",
    "GraphRelease",
    "GraphUtility",
    "KAutomorphism",
    "KDegree",
    "KNeighbourhood",
    "KObfuscation",
    "MethodResult",
    "PartitionSearch",
    "PrivateGraph",
    "RandomAddDelete",
    "RandomPerturbation",
    "RandomSparsification",
    "RandomSwitch",
    "ReadResult",
    "Relabelling",
    "Relevance",
    "SaNGreeA",
    "SpectralAddDelete",
    "SpectralSwitch",
    "UncertainGraph",
    "VertexAddition",
    "as_graph",
    "attacks",
    "compare",
    "examples",
    "generators",
    "measure",
    "method_from",
    "method_from_text",
    "methods",
    "metrics",
    "private",
    "publish",
    "read",
    "to_networkx",
    "verification",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"celosia.graphs.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"celosia.graphs.{name}")
    raise AttributeError(f"module 'celosia.graphs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
