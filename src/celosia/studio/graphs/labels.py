"""What each number of a graph and each attack is called, in which unit, and what it means."""

from __future__ import annotations

METRICS: dict[str, tuple[str, str, str]] = {
    "order": ("Vertices", "vertices", "People in the graph."),
    "size": ("Edges", "edges", "Relations between two people."),
    "mean_degree": ("Mean degree", "edges per vertex", "How many contacts a person has."),
    "connected_pairs": (
        "Connected pairs",
        "share of pairs",
        "Pairs of people with a path between them.",
    ),
    "diameter": ("Diameter", "steps", "The longest of all shortest paths."),
    "average_distance": (
        "Average distance",
        "steps",
        "The mean length of the shortest path between two connected people.",
    ),
    "harmonic_distance": (
        "Harmonic mean distance",
        "steps",
        "The same, with far pairs counting little.",
    ),
    "transitivity": (
        "Transitivity",
        "from 0 to 1",
        "How often two contacts of a person know each other, over all pairs of contacts.",
    ),
    "mean_clustering": ("Mean clustering", "from 0 to 1", "The same for each person, averaged."),
    "triangles": ("Triangles", "triangles", "Three people who all know each other."),
    "modularity": (
        "Modularity",
        "from -0.5 to 1",
        "How much more edges lie inside communities than chance would put there.",
    ),
    "largest_eigenvalue": (
        "Largest eigenvalue",
        "no unit",
        "Of the adjacency matrix: how fast something spreads.",
    ),
    "connectivity": (
        "Algebraic connectivity",
        "no unit",
        "0 if the graph is in parts; greater if it is hard to cut.",
    ),
    "subgraph_centrality": (
        "Mean subgraph centrality",
        "no unit",
        "Closed walks through a person, short ones counting most.",
    ),
}
"""Of the whole graph: name, unit, meaning."""

SHARES: dict[str, tuple[str, str]] = {
    "edge_intersection": (
        "Edges in both",
        "Edges in both graphs, over the larger number of edges.",
    ),
    "equal_coreness": ("Same core number", "Vertices that are as deep in the graph as before."),
    "changed_degrees": ("Degrees changed", "Vertices with another number of contacts."),
    "degree_total_variation": (
        "Degrees, total variation",
        "How much of the distribution of degrees moved.",
    ),
    "degree_earth_mover": (
        "Degrees, earth mover's distance",
        "How far degrees moved on average, in contacts.",
    ),
    "hubs_kept": ("Hubs kept", "Vertices with most contacts that still are."),
    "communities_matched": ("Communities matched", "Vertices in the community that became theirs."),
    "communities_information": (
        "Communities kept",
        "Normalised mutual information of the communities: 1 if they are the same.",
    ),
}
"""What both graphs have in common: name, meaning."""

NOT_SHARES = frozenset({"degree_earth_mover"})
"""Numbers among them that are no share of one."""

REPAIRS: dict[str, str] = {
    "degree": "k-degree anonymity. Random switches do not help: they keep every degree.",
    "refinement": "k-automorphism or groups; random changes make it unsure.",
    "neighbourhood": "k-neighbourhood anonymity or groups; k-degree anonymity does not help.",
    "subgraph": "Changes of edges, or groups.",
    "hubs": "Changes around hubs, or groups.",
    "links": "Changes that look like the graph itself; 50 % is guessing.",
    "propagation": "Many changed edges, groups, or a private graph.",
    "percolation": "Many changed edges, groups, or a private graph.",
    "seedless": "Many changed edges, groups, or a private graph.",
    "active": "Changes of edges, groups, differential privacy.",
}
"""What helps against each attack."""

FIRST = ("degree", "refinement", "neighbourhood")
"""Attacks that are run with every release."""
MORE = ("subgraph", "hubs", "links", "propagation", "percolation", "seedless", "active")
"""Attacks that are run when asked for."""

FORMULAS: dict[str, str] = {
    "order": r"n",
    "size": r"m",
    "mean_degree": r"\frac{2 m}{n}",
    "connected_pairs": r"\frac{2 p}{n (n - 1)}",
    "diameter": r"\max l(u, v)",
    "average_distance": r"\frac{1}{p} \sum_{u, v} l(u, v)",
    "harmonic_distance": r"\frac{n (n - 1)}{2 \sum_{u, v} \frac{1}{l(u, v)}}",
    "transitivity": r"\frac{3 t}{\sum_{v} d_v (d_v - 1) / 2}",
    "mean_clustering": r"\frac{1}{n} \sum_{v} \frac{2 t_v}{d_v (d_v - 1)}",
    "triangles": r"t = \frac{1}{3} \sum_{v} t_v",
    "modularity": r"\sum_{C} (\frac{m_C}{m} - (\frac{d_C}{2 m})^2)",
    "largest_eigenvalue": r"\max_i \lambda_i(A)",
    "connectivity": r"\lambda_2(D - A)",
    "subgraph_centrality": r"\frac{1}{n} \sum_{i} e^{\lambda_i(A)}",
}
"""Of the whole graph."""

SHARED_FORMULAS: dict[str, str] = {
    "edge_intersection": r"\frac{|E \cap E'|}{\max(|E|, |E'|)}",
    "equal_coreness": r"\frac{1}{n} |\{ v : k_v = k_v' \}|",
    "changed_degrees": r"\frac{1}{n} |\{ v : d_v \ne d_v' \}|",
    "degree_total_variation": r"\frac{1}{2} \sum_{d} |p_d - p_d'|",
    "degree_earth_mover": r"\sum_{d} |P_d - P_d'|",
    "hubs_kept": r"\frac{|B \cap B'|}{|B|}",
    "communities_matched": r"\frac{1}{n} \sum_{C} |C \cap C'|",
    "communities_information": r"\frac{2 I(C, C')}{H(C) + H(C')}",
}
"""What both graphs have in common; a prime marks the release."""
