"""k-degree anonymity: every degree is shared by at least k vertices."""

from celosia.graphs.kdegree.method import KDegree
from celosia.graphs.kdegree.microaggregation import microaggregated_degrees
from celosia.graphs.kdegree.realisation import construct_graph, supergraph
from celosia.graphs.kdegree.rotation import rewire
from celosia.graphs.kdegree.sequence import anonymous_degrees, is_graphical, least_edge_changes
from celosia.graphs.kdegree.swapping import swap_back
from celosia.graphs.kdegree.vertex_addition import VertexAddition

METHODS = (KDegree, VertexAddition)
"""The methods of this folder."""

__all__ = [
    "METHODS",
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
