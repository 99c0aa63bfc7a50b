"""The numbers of the figures, with the digits that they were stated with."""

from __future__ import annotations

from celosia.core.messages import Message

METRIC_NAMES = {
    "average_distance": Message("lab.graphs.average_distance"),
    "diameter": Message("lab.graphs.diameter"),
    "harmonic_distance": Message("lab.graphs.harmonic_distance"),
    "transitivity": Message("lab.graphs.transitivity"),
    "triangles": Message("lab.graphs.triangles"),
    "largest_eigenvalue": Message("lab.graphs.largest_eigenvalue"),
    "connectivity": Message("lab.graphs.connectivity"),
    "subgraph_centrality": Message("lab.graphs.subgraph_centrality"),
}

METRICS = {
    "average_distance": ("1.9167", "2.1111", "2.0000"),
    "diameter": ("3", "4", "4"),
    "harmonic_distance": ("1.6000", "1.6615", "1.6241"),
    "transitivity": ("0.2400", "0.4444", "0.2400"),
    "triangles": ("2", "4", "2"),
    "largest_eigenvalue": ("3.0465", "3.3084", "3.1016"),
    "connectivity": ("0.6473", "0.3478", "0.5876"),
    "subgraph_centrality": ("3.6068", "4.1979", "3.6817"),
}
"""Figure 9: of the graph, after edges were added and deleted, after a switch."""

DISTANCES = {
    "degree": ("0.1179", "0"),
    "betweenness": ("0.0758", "0.0418"),
    "closeness": ("0.0687", "0.0406"),
}
"""Figure 9: root mean squared differences of centralities, after each of the two."""

ANONYMOUS_METRICS = {
    "average_distance": ("2.1944", "2.1944", "2.2444"),
    "largest_eigenvalue": ("2.5055", "2.3226", "2.6751"),
    "connectivity": (".4892", ".4679", ".4558"),
    "triangles": ("1", "0", "2"),
}
"""Figure 10: of the graph, with an edge moved, with a vertex added."""

PRINCIPAL = (
    *(".3352", ".2708", ".4898", ".4589", ".2607"),
    *(".4272", ".2204", ".2126", ".1402"),
)
"""Figure 9: the eigenvector of the largest eigenvalue."""

CENTRALITIES = {
    (1, 2): 0.375,
    (1, 3): 0.625,
    (1, 5): 0.625,
    (2, 3): 0.5,
    (3, 4): 0.75,
    (3, 6): 0.75,
    (4, 5): 0.75,
    (4, 6): 0.75,
    (4, 7): 0.75,
    (6, 8): 0.75,
    (6, 9): 0.625,
    (7, 8): 0.5,
}
"""Figure 9: the neighbourhood centrality of each edge."""

REFINEMENT = (
    "{1} {2,5,7,8} {3,4,6} {9}",
    "{1} {2,5} {3} {4} {6} {7,8} {9}",
    "{1} {2} {3} {4} {5} {6} {7} {8} {9}",
)
"""Figure 9: classes by H1, H2, H3."""

FINGERPRINTS = {
    1: "100 100 011 101 010 110 010 001 001",
    2: "122 122 011 101 212 110 212 221 221",
}
"""Figure 9: distances to the hubs 3, 4, 6, up to one step and up to two."""

DEGREE_CHANCES = (
    ("0.006", "0.092", "0.398", "0.504"),
    ("0.054", "0.348", "0.542", "0.056"),
    ("0.020", "0.260", "0.720", "0.000"),
    ("0.180", "0.740", "0.080", "0.000"),
)
"""Figure 11: the chance of the degrees 0 to 3 for each vertex."""

DEGREE_ENTROPIES = ("1.2483", "1.6881", "1.7420", "0.4690")
"""Figure 11: the doubt about who has the degree 0, 1, 2 or 3."""
