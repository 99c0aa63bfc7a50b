"""k-degree anonymity: every degree is shared by at least k vertices."""

from celosia.graphs.kdegree.method import KDegree
from celosia.graphs.kdegree.realisation import construct_graph, supergraph
from celosia.graphs.kdegree.rewiring import rewire, swap_back
from celosia.graphs.kdegree.sequence import (
    anonymous_degrees,
    is_graphical,
    least_edge_changes,
    microaggregated_degrees,
)
from celosia.graphs.kdegree.vertex_addition import VertexAddition

__all__ = [
    "KDegree",
    "VertexAddition",
    "anonymous_degrees",
    "construct_graph",
    "is_graphical",
    "least_edge_changes",
    "microaggregated_degrees",
    "rewire",
    "supergraph",
    "swap_back",
]
