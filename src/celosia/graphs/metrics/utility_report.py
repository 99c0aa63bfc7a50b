"""The comparison of two graphs as parts of a report; measures of the whole graph, no names."""

from __future__ import annotations

from celosia.core.messages import Message, say
from celosia.core.report import Block, Heading, KeyFigure, KeyFigures, Notice, Paragraph, Table
from celosia.graphs.metrics.summary import GraphUtility

WORDS = {
    "order": Message("graphs.metric.vertices"),
    "size": Message("graphs.metric.edges"),
    "mean_degree": Message("graphs.metric.mean_degree"),
    "connected_pairs": Message("graphs.metric.connected"),
    "diameter": Message("graphs.metric.diameter"),
    "average_distance": Message("graphs.metric.average_distance"),
    "harmonic_distance": Message("graphs.metric.harmonic_distance"),
    "transitivity": Message("graphs.metric.transitivity"),
    "mean_clustering": Message("graphs.metric.mean_clustering"),
    "triangles": Message("graphs.metric.triangles"),
    "modularity": Message("graphs.metric.modularity"),
    "largest_eigenvalue": Message("graphs.metric.largest_eigenvalue"),
    "connectivity": Message("graphs.metric.connectivity"),
    "subgraph_centrality": Message("graphs.metric.subgraph_centrality"),
    "degree": Message("graphs.metric.degree_centrality"),
    "betweenness": Message("graphs.metric.betweenness"),
    "closeness": Message("graphs.metric.closeness"),
    "coreness": Message("graphs.metric.core_number"),
    "pagerank": "PageRank",
    "clustering": Message("graphs.metric.local_clustering"),
    "edge_intersection": Message("graphs.metric.edges_in_both"),
    "equal_coreness": Message("graphs.metric.same_core"),
    "changed_degrees": Message("graphs.metric.other_degree"),
    "degree_total_variation": Message("graphs.metric.degrees_variation"),
    "degree_earth_mover": Message("graphs.metric.degrees_earth_mover"),
    "hubs_kept": Message("graphs.metric.hubs_kept"),
    "communities_matched": Message("graphs.metric.matched_communities"),
    "communities_information": Message("graphs.metric.communities_information"),
}
"""What each number is called in a report."""


def blocks(found: GraphUtility) -> list[Block]:
    """Tables of the graph before and after."""
    facts = found.as_dict()
    made: list[Block] = [Heading(say("graphs.report.kept_title")), _cards(found)]
    if any(not value.is_exact for _, value in found.before.items()):
        made.append(Notice(say("graphs.report.sampled")))
        if found.is_simulation:
            made.append(Notice(say("graphs.report.seeded")))
    after, moved = dict(found.after.items()), found.errors
    made += [
        Paragraph(say("graphs.report.connected_pairs")),
        Table(
            [
                say("graphs.report.number"),
                say("graphs.report.original"),
                say("graphs.report.changed"),
                say("graphs.report.difference"),
            ],
            [
                [str(WORDS[name]), str(value), str(after[name]), str(moved[name])]
                for name, value in found.before.items()
            ],
            say("graphs.report.whole_graph"),
            numeric=(1, 2, 3),
        ),
        Table(
            [say("graphs.report.number_of_vertex"), say("graphs.report.rms")],
            [[str(WORDS[name]), str(value)] for name, value in found.distances.items()],
            say("graphs.report.the_vertices"),
            numeric=(1,),
        ),
        Table(
            [say("graphs.report.both_have"), say("graphs.report.value")],
            [[str(WORDS[name]), f"{facts[name]:.4f}"] for name in found.shares],
            say("graphs.report.in_common"),
            numeric=(1,),
        ),
    ]
    return made


def _cards(found: GraphUtility) -> KeyFigures:
    return KeyFigures(
        [
            KeyFigure(
                say("graphs.report.edges_kept"),
                f"{found.edges.share_kept:.1%}",
                say(
                    "graphs.report.removed_added",
                    removed=found.edges.removed,
                    added=found.edges.added,
                ),
            ),
            KeyFigure(
                say("graphs.report.degrees_changed"),
                f"{found.changed_degrees:.1%}",
                say("graphs.report.of_vertices"),
            ),
            KeyFigure(
                say("graphs.report.communities_kept"),
                f"{found.communities_information:.1%}",
                say("graphs.report.mutual_information"),
            ),
            KeyFigure(say("graphs.report.hubs_kept"), f"{found.hubs_kept:.0%}"),
        ]
    )
