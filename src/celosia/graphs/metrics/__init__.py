"""Graph metrics, and comparisons of two graphs: exact for small graphs, else sampled."""

from celosia.graphs.metrics.agreement import (
    EdgeChanges,
    changed_degrees,
    degree_earth_mover,
    degree_total_variation,
    edge_changes,
    edge_intersection,
    hub_retention,
    mutual_information,
    precision_index,
)
from celosia.graphs.metrics.centrality import (
    ShortestPaths,
    betweenness,
    coreness,
    distances,
    pagerank,
    sources_of,
)
from celosia.graphs.metrics.clustering import (
    Clustering,
    Communities,
    clustering,
    communities,
    modularity,
    triangle_corners,
)
from celosia.graphs.metrics.spectrum import SpectralMetrics, spectral_metrics
from celosia.graphs.metrics.summary import (
    GraphMetrics,
    GraphUtility,
    align_vertices,
    compare,
    measure,
)
from celosia.graphs.metrics.values import MetricValue, VertexVector

__all__ = [
    "Clustering",
    "Communities",
    "EdgeChanges",
    "GraphMetrics",
    "GraphUtility",
    "MetricValue",
    "ShortestPaths",
    "SpectralMetrics",
    "VertexVector",
    "align_vertices",
    "betweenness",
    "changed_degrees",
    "clustering",
    "communities",
    "compare",
    "coreness",
    "degree_earth_mover",
    "degree_total_variation",
    "distances",
    "edge_changes",
    "edge_intersection",
    "hub_retention",
    "measure",
    "modularity",
    "mutual_information",
    "pagerank",
    "precision_index",
    "sources_of",
    "spectral_metrics",
    "triangle_corners",
]
