"""Figures 5 to 12 as drawings: the small graphs, and what a method does to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celosia.core.figures import NetworkEdge, NetworkPanel, circle, networks
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading
from celosia.graphs import examples
from celosia.graphs.graph import Graph
from celosia.graphs.primitives import EditSession
from celosia.lab.findings import Findings
from celosia.lab.graphs.figure_graphs import figure_9, figure_10

USERS = "ABCDEFG"
"""Figure 6: seven users; of D's neighbours the text tells, of other edges it does not."""
FRIENDS_OF_D = "ACEF"
SUPER_PLACES = ((0.1, 0.1), (0.9, 0.1), (0.5, 0.9))


def shapes(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figures 5 to 8: followers, friends, Dan without his name, three small changes."""
    progress(Step(Message("lab.graphs.drawing_the_graphs"), 0))
    names = sorted({name for pair in examples.ARCS for name in pair})
    arcs = [NetworkEdge(names.index(one), names.index(other)) for one, other in examples.ARCS]
    followers = NetworkPanel(
        names=names,
        places=circle(len(names)),
        edges=arcs,
        directed=True,
        marked=frozenset({names.index("D")}),
        title=say("lab.graphs.panel_followers"),
    )
    centre = USERS.index("D")
    friends = NetworkPanel(
        names=list(USERS),
        places=circle(len(USERS)),
        edges=[NetworkEdge(centre, USERS.index(each)) for each in FRIENDS_OF_D],
        marked=frozenset({centre}),
        title=say("lab.graphs.panel_friends"),
    )
    graph = examples.g9()
    exchanged, rotated, switched = EditSession(graph), EditSession(graph), EditSession(graph)
    exchanged.add_delete((0, 4), (5, 6))
    rotated.rotate(0, 4, 8)
    switched.switch((0, 1), (4, 3))
    changes = [
        _after(graph, exchanged.graph, say("lab.graphs.add_delete")),
        _after(graph, rotated.graph, say("lab.graphs.rotation")),
        _after(graph, switched.graph, say("lab.graphs.switch")),
    ]
    return [
        Heading(say("lab.graphs.drawn_figures")),
        _figure([followers, friends], Message("lab.graphs.drawn_5_6")),
        _figure(_dan(), Message("lab.graphs.drawn_7")),
        _figure(changes, Message("lab.graphs.drawn_8")),
    ]


def _dan() -> list[NetworkPanel]:
    graph = examples.dan()
    names = [] if graph.labels is None else [str(each) for each in graph.labels.to_list()]
    known = names.index("Dan")
    return [
        _panel(graph, names, say("lab.graphs.panel_names"), marked={known}),
        _panel(
            graph,
            [str(each + 1) for each in range(graph.order)],
            say("lab.graphs.panel_numbers"),
            marked={known, *graph.neighbours_of(known).tolist()},
        ),
    ]


def random_changes(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figure 9: a graph, with edges added and deleted, and after a switch."""
    progress(Step(Message("lab.graphs.drawing_the_graphs"), 0))
    graph, changed, switched = figure_9()
    panels = [
        _panel(graph, _numbers(graph), say("lab.graphs.figure_9a")),
        _after(graph, changed, say("lab.graphs.figure_9b_added_and_deleted")),
        _after(graph, switched, say("lab.graphs.figure_9c_switched")),
    ]
    return [
        Heading(say("lab.graphs.drawn_figures")),
        _figure(panels, Message("lab.graphs.drawn_9")),
    ]


def anonymous_degrees(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figure 10: a graph, with an edge moved, with a vertex added; vertices with their degrees."""
    progress(Step(Message("lab.graphs.drawing_the_graphs"), 0))
    graph, moved, added = figure_10()
    panels = [
        _panel(graph, _degrees(graph), say("lab.graphs.figure_10a_2")),
        _after(graph, moved, say("lab.graphs.figure_10b"), names=_degrees(moved)),
        _after(graph, added, say("lab.graphs.figure_10c_a_as_10"), names=_degrees(added)),
    ]
    return [
        Heading(say("lab.graphs.drawn_figures")),
        _figure(panels, Message("lab.graphs.drawn_10")),
    ]


def chances(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figure 11: a graph as chances of 0 and 1, and an uncertain one in its place."""
    progress(Step(Message("lab.graphs.drawing_the_graphs"), 0))
    names, places = ["1", "2", "3", "4"], circle(4)
    certain = [NetworkEdge(one - 1, other - 1, "1") for one, other in examples.UNCERTAIN_EDGES]
    doubtful = [
        NetworkEdge(one - 1, other - 1, f"{chance:g}")
        for (one, other), chance in examples.UNCERTAIN.items()
        if chance > 0
    ]
    panels = [
        NetworkPanel(names=names, places=places, edges=edges, title=title)
        for edges, title in (
            (certain, say("lab.graphs.panel_certain")),
            (doubtful, say("lab.graphs.panel_uncertain")),
        )
    ]
    return [
        Heading(say("lab.graphs.drawn_figures")),
        _figure(panels, Message("lab.graphs.drawn_11")),
    ]


def super_vertices(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figure 12: a graph by clusters, and what is published of them."""
    progress(Step(Message("lab.graphs.drawing_the_graphs"), 0))
    graph = examples.g9()
    cluster = {
        vertex - 1: number
        for number, members in enumerate(examples.G9_PARTITION)
        for vertex in members
    }
    inside = [0] * len(SUPER_PLACES)
    between: dict[tuple[int, int], int] = {}
    for one, other in graph.edges.tolist():
        ends = tuple(sorted((cluster[one], cluster[other])))
        if ends[0] == ends[1]:
            inside[ends[0]] += 1
        else:
            between[ends[0], ends[1]] = between.get((ends[0], ends[1]), 0) + 1
    places = [(0.0, 0.0)] * graph.order
    for members, (x, y) in zip(examples.G9_PARTITION, SUPER_PLACES, strict=True):
        for vertex, (right, up) in zip(members, circle(len(members)), strict=True):
            places[vertex - 1] = (x + 0.26 * (right - 0.5), y + 0.3 * (up - 0.5))
    plain = NetworkPanel(
        names=_numbers(graph),
        places=places,
        edges=[NetworkEdge(one, other) for one, other in graph.edges.tolist()],
        title=say("lab.graphs.panel_clusters"),
    )
    general = NetworkPanel(
        names=[
            f"({len(members)}, {edges})"
            for members, edges in zip(examples.G9_PARTITION, inside, strict=True)
        ],
        places=SUPER_PLACES,
        edges=[NetworkEdge(*ends, str(count)) for ends, count in between.items()],
        title=say("lab.graphs.panel_super"),
    )
    return [
        Heading(say("lab.graphs.drawn_figures")),
        _figure([plain, general], Message("lab.graphs.drawn_12")),
    ]


def _figure(panels: Sequence[NetworkPanel], words: Message) -> Figure:
    """A drawing, with its edges in words."""
    listed = "; ".join(f"{panel.title}: {_edges_in_words(panel)}" for panel in panels)
    description = say("lab.collect.values_listed", words=words, listed=listed)
    return Figure(networks(panels), str(words), description)


def _edges_in_words(panel: NetworkPanel) -> str:
    arrow = " → " if panel.directed else "-"
    return ", ".join(
        f"{_name(panel, each.start)}{arrow}{_name(panel, each.end)}"
        + (f" ({each.label})" if each.label else "")
        for each in panel.edges
        if each.kind != "gone"
    )


def _name(panel: NetworkPanel, vertex: int) -> str:
    return panel.names[vertex].partition(":")[0]


def _panel(
    graph: Graph, names: Sequence[str], title: str, *, marked: Iterable[int] = ()
) -> NetworkPanel:
    return NetworkPanel(
        names=names,
        places=circle(graph.order),
        edges=[NetworkEdge(one, other) for one, other in graph.edges.tolist()],
        title=title,
        marked=frozenset(marked),
    )


def _after(
    graph: Graph, changed: Graph, title: str, *, names: Sequence[str] | None = None
) -> NetworkPanel:
    """A graph after a change: dashed what went, thick what came."""
    before, after = (
        {(one, other) for one, other in each.edges.tolist()} for each in (graph, changed)
    )
    edges = [
        *(NetworkEdge(one, other) for one, other in sorted(after & before)),
        *(NetworkEdge(one, other, kind="gone") for one, other in sorted(before - after)),
        *(NetworkEdge(one, other, kind="come") for one, other in sorted(after - before)),
    ]
    return NetworkPanel(
        names=_numbers(changed) if names is None else names,
        places=[*circle(graph.order), *((0.5, 0.5) for _ in range(graph.order, changed.order))],
        edges=edges,
        title=title,
        marked=frozenset(range(graph.order, changed.order)),
    )


def _numbers(graph: Graph) -> list[str]:
    return [str(each + 1) for each in range(graph.order)]


def _degrees(graph: Graph) -> list[str]:
    return [f"{each + 1}: {degree}" for each, degree in enumerate(graph.degrees.tolist())]
