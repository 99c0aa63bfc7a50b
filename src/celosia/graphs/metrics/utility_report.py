"""The comparison of two graphs as parts of a report; measures of the whole graph, no names."""

from __future__ import annotations

from celosia.core.report import Block, Heading, KeyFigure, KeyFigures, Notice, Paragraph, Table
from celosia.graphs.metrics.summary import GraphUtility

WORDS = {
    "order": "Vertices",
    "size": "Edges",
    "mean_degree": "Mean degree",
    "connected_pairs": "Share of pairs that are connected",
    "diameter": "Diameter",
    "average_distance": "Average distance",
    "harmonic_distance": "Harmonic mean distance",
    "transitivity": "Transitivity",
    "mean_clustering": "Mean clustering",
    "triangles": "Triangles",
    "modularity": "Modularity",
    "largest_eigenvalue": "Largest eigenvalue",
    "connectivity": "Algebraic connectivity",
    "subgraph_centrality": "Mean subgraph centrality",
    "degree": "Degree centrality",
    "betweenness": "Betweenness",
    "closeness": "Closeness",
    "coreness": "Core number",
    "pagerank": "PageRank",
    "clustering": "Local clustering",
    "edge_intersection": "Edges in both, over the larger number",
    "equal_coreness": "Vertices with the same core number",
    "changed_degrees": "Vertices with another degree",
    "degree_total_variation": "Degrees, total variation",
    "degree_earth_mover": "Degrees, earth mover's distance",
    "hubs_kept": "Hubs that stayed hubs",
    "communities_matched": "Vertices in matched communities",
    "communities_information": "Communities, mutual information",
}
"""What each number is called in a report."""


def blocks(found: GraphUtility) -> list[Block]:
    """Tables of the graph before and after."""
    facts = found.as_dict()
    made: list[Block] = [Heading("What the graph kept"), _cards(found)]
    if any(not value.is_exact for _, value in found.before.items()):
        seed = " The sample came from a seed." if found.is_simulation else ""
        made.append(
            Notice(
                "The graph is large: numbers with ± are from a sample of vertices, and off by "
                f"more than that in one of twenty cases.{seed}"
            )
        )
    after, moved = dict(found.after.items()), found.errors
    made += [
        Paragraph("Distances are over the pairs of vertices that are connected."),
        Table(
            ["Number", "Original", "Changed", "Difference"],
            [
                [WORDS[name], str(value), str(after[name]), str(moved[name])]
                for name, value in found.before.items()
            ],
            "The whole graph",
            numeric=(1, 2, 3),
        ),
        Table(
            ["Number of each vertex", "Root mean squared difference"],
            [[WORDS[name], str(value)] for name, value in found.distances.items()],
            "The vertices",
            numeric=(1,),
        ),
        Table(
            ["What both have", "Value"],
            [[WORDS[name], f"{facts[name]:.4f}"] for name in found.shares],
            "In common",
            numeric=(1,),
        ),
    ]
    return made


def _cards(found: GraphUtility) -> KeyFigures:
    return KeyFigures(
        [
            KeyFigure(
                "Edges kept",
                f"{found.edges.share_kept:.1%}",
                f"{found.edges.removed:,} removed, {found.edges.added:,} added",
            ),
            KeyFigure("Degrees changed", f"{found.changed_degrees:.1%}", "of the vertices"),
            KeyFigure(
                "Communities kept",
                f"{found.communities_information:.1%}",
                "normalised mutual information",
            ),
            KeyFigure("Hubs kept", f"{found.hubs_kept:.0%}"),
        ]
    )
