"""Publish graphs: perturbation, k-degree anonymity, uncertain graphs, generalisation, privacy.

`read` a graph, `publish` it by a method, `compare` it with its original, attack it (`attacks`), ask
for private statistics of it (`private`). Names load on first use.

>>> from celosia import Seeded, graphs
>>> release = graphs.publish(graphs.examples.g9(), graphs.KDegree(k=3), rng=Seeded(7))
>>> print(release.guarantee.promise)
k-degree anonymity, k = 3: every degree is shared by at least 3 vertices
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.graphs import (
        attacks,
        examples,
        generators,
        metrics,
        networks,
        private,
        verification,
    )
    from celosia.graphs.automorphism import KAutomorphism, KIsomorphism
    from celosia.graphs.fuzzy_neighbourhood import FuzzyNeighbourhood
    from celosia.graphs.generalisation.clustering import SaNGreeA
    from celosia.graphs.generalisation.graph import GeneralisedGraph
    from celosia.graphs.generalisation.partition_search import PartitionSearch
    from celosia.graphs.graph import Graph
    from celosia.graphs.kdegree.method import KDegree
    from celosia.graphs.kdegree.vertex_addition import VertexAddition
    from celosia.graphs.method import (
        GraphMethod,
        MethodResult,
        method_from,
        method_from_text,
        methods,
    )
    from celosia.graphs.metrics import GraphUtility, compare, measure
    from celosia.graphs.neighbourhood import KNeighbourhood
    from celosia.graphs.networks.network import Network
    from celosia.graphs.perturbation.deletion import RandomPerturbation, RandomSparsification
    from celosia.graphs.perturbation.exchange import (
        RandomAddDelete,
        RandomSwitch,
        SpectralAddDelete,
        SpectralSwitch,
    )
    from celosia.graphs.perturbation.relevance import Relevance
    from celosia.graphs.private import PrivateGraph
    from celosia.graphs.readers import ReadResult, as_graph, read, to_networkx
    from celosia.graphs.relabelling import Relabelling
    from celosia.graphs.release import GraphRelease
    from celosia.graphs.run import publish
    from celosia.graphs.uncertain.graph import UncertainGraph
    from celosia.graphs.uncertain.method import KObfuscation
    from celosia.graphs.writers import write

__all__ = [
    "FuzzyNeighbourhood",
    "GeneralisedGraph",
    "Graph",
    "GraphMethod",
    "GraphRelease",
    "GraphUtility",
    "KAutomorphism",
    "KDegree",
    "KIsomorphism",
    "KNeighbourhood",
    "KObfuscation",
    "MethodResult",
    "Network",
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
    "networks",
    "private",
    "publish",
    "read",
    "to_networkx",
    "verification",
    "write",
]


__getattr__, __dir__ = on_first_use(__name__)
