"""Drawings of a graph before and after, with deleted and added edges marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.core import figures
from celosia.core.errors import InputError
from celosia.core.figures._axes import shorten
from celosia.core.figures._canvas import INK, MUTED, PAPER, SERIES, WIDTH, drawing, finish
from celosia.core.figures.svg import Svg
from celosia.core.messages import say
from celosia.core.numbers import whole
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.tables.masking.draws import uniforms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 500
"""Vertices that can be laid out and seen."""

MOST_NAMED = 60
"""Names that can be read in one drawing."""

CROWDED = 400
"""From so many edges on, those in both graphs are drawn finer."""

_ROUNDS = 120
_KEPT = "graphs.drawing.both"
_GONE = "graphs.drawing.only_original"
_COME = "graphs.drawing.only_release"
_LOOKS: dict[str, dict[str, Any]] = {
    _KEPT: {"color": MUTED, "linewidth": 0.8, "linestyle": "-"},
    _GONE: {"color": SERIES[2], "linewidth": 1.4, "linestyle": (0, (3, 2))},
    _COME: {"color": SERIES[0], "linewidth": 2.4, "linestyle": "-"},
}


def layout(graph: Graph, *, rng: Source, rounds: int = _ROUNDS) -> NDArray[np.float64]:
    """A place in the unit square for each vertex: edges pull, vertices push each other away.

    Parts that are not connected are held together by a weak pull to the middle.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.examples import g9
    >>> layout(g9(), rng=Seeded(1)).shape
    (9, 2)

    Reference: Fruchterman, Reingold 1991.
    """
    if graph.order > MOST_DRAWN:
        raise InputError("CEL-G420", order=graph.order, most_drawn=MOST_DRAWN)
    places = uniforms(rng, 2 * graph.order).reshape(-1, 2) - 0.5
    ideal = 1.0 / max(graph.order, 1) ** 0.5
    for turn in range(rounds):
        apart = places[:, None, :] - places[None, :, :]
        far = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-4)
        push = (apart * (ideal**2 / far**2)[:, :, None]).sum(axis=1)
        along = places[graph.edges[:, 0]] - places[graph.edges[:, 1]]
        pull = along * (np.sqrt((along**2).sum(axis=1)) / ideal)[:, None]
        np.add.at(push, graph.edges[:, 0], -pull)
        np.add.at(push, graph.edges[:, 1], pull)
        push -= 0.3 * places
        length = np.maximum(np.sqrt((push**2).sum(axis=1)), 1e-9)
        heat = 0.1 * (1.0 - turn / rounds) + 1e-3
        places += push * (np.minimum(length, heat) / length)[:, None]
    low, high = places.min(axis=0, initial=0.0), places.max(axis=0, initial=0.0)
    return np.asarray((places - low) / np.maximum(high - low, 1e-9))


def draw_comparison(
    original: Graph,
    release: Graph,
    *,
    rng: Source,
    names: bool = False,
    most: int = MOST_DRAWN,
    title: str = "",
) -> Svg:
    """Both graphs side by side with the same places: dashed what went, thick what came.

    Of a larger graph the vertices with most neighbours in the original are drawn, with the edges
    among them.

    Args:
        original: the graph before.
        release: the graph after, its first vertices in the order of the original.
        rng: where vertices start from; the same draws give the same drawing.
        names: write the names (or numbers) of the vertices; readers of the drawing see them.
        most: how many vertices are drawn.
        title: what is shown.

    Raises:
        InputError: CEL-G421 names for more than 60 vertices; CEL-G422 `most` is not in 1 .. 500.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.examples import g9
    >>> "only in" in str(draw_comparison(g9(), g9(), rng=Seeded(1)))
    False
    """
    old, new, chosen = _select_vertices(original, release, _check_most(most))
    _check_names(names, old)
    union = Graph.of(np.concatenate([old.edges, new.edges]), order=old.order)
    places = layout(union, rng=rng)
    labels = _labels(original, chosen) if names else None
    with drawing():
        figure, (left, right) = _axes(2)
        gone, come = ~new.has_edges(old.edges), ~old.has_edges(new.edges)
        _draw(left, places, old, gone, _GONE, labels)
        _draw(right, places, new, come, _COME, labels)
        sampled = _sample_note(old, original)
        left.set_title(
            say("graphs.drawing.original_edges", edges=original.size, sampled=sampled),
            size=8.6,
            loc="left",
        )
        right.set_title(
            say("graphs.drawing.release_edges", edges=release.size), size=8.6, loc="left"
        )
        handles = [
            _legend_line(name)
            for name, there in ((_KEPT, True), (_GONE, gone.any()), (_COME, come.any()))
            if there
        ]
        figure.legend(handles=handles, loc="outside lower left", ncols=3, borderaxespad=0)
        if title:
            figure.suptitle(shorten(title, 64), x=0.008, ha="left", size=10.5, weight="bold")
        return finish(figure)


def draw_graph(
    graph: Graph,
    *,
    rng: Source,
    names: bool = False,
    most: int = MOST_DRAWN,
    title: str = "",
) -> Svg:
    """One graph; of a larger one the vertices with most neighbours.

    Raises:
        InputError: as for `draw_comparison`.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.examples import g9
    >>> "12 edges" in str(draw_graph(g9(), rng=Seeded(1)))
    True
    """
    shown, _, chosen = _select_vertices(graph, graph, _check_most(most))
    _check_names(names, shown)
    labels = _labels(graph, chosen) if names else None
    with drawing():
        figure, (axes,) = _axes(1)
        _draw(axes, layout(shown, rng=rng), shown, np.zeros(shown.size, np.bool_), _KEPT, labels)
        sampled = _sample_note(shown, graph)
        words = say("graphs.drawing.edges", edges=graph.size, sampled=sampled)
        axes.set_title(words, size=8.6, loc="left")
        if title:
            figure.suptitle(shorten(title, 64), x=0.008, ha="left", size=10.5, weight="bold")
        return finish(figure)


def degree_chart(original: Graph, release: Graph, *, title: str = "") -> Svg:
    """The share of vertices with at least each degree, in both graphs: for graphs of any size.

    >>> from celosia.graphs.examples import g9
    >>> "degree" in str(degree_chart(g9(), g9()))
    True
    """
    most = max(1, int(original.degrees.max(initial=0)), int(release.degrees.max(initial=0)))
    places = np.unique(np.geomspace(1, most, 24).round().astype(np.int64))
    series = {
        name: [float(np.mean(graph.degrees >= place)) if graph.order else 0.0 for place in places]
        for name, graph in (
            (say("graphs.drawing.original"), original),
            (say("graphs.drawing.release"), release),
        )
    }
    return figures.lines(
        places.tolist(),
        series,
        title=title or say("graphs.drawing.at_least"),
        x_label=say("graphs.drawing.degree"),
        y_label=say("graphs.drawing.share"),
        percent=True,
        log=True,
        log_x=True,
    )


def _legend_line(name: str) -> Any:
    """A line for the legend."""
    from matplotlib.lines import Line2D  # matplotlib is slow to load

    return Line2D([], [], label=say(name), **_LOOKS[name])


def _check_most(most: object) -> int:
    number = whole(most)
    if number is None or not 1 <= number <= MOST_DRAWN:
        raise InputError("CEL-G422", most_drawn=MOST_DRAWN, most=most)
    return number


def _check_names(names: bool, shown: Graph) -> None:
    if names and shown.order > MOST_NAMED:
        raise InputError("CEL-G421", order=shown.order, most_named=MOST_NAMED)


def _sample_note(shown: Graph, graph: Graph) -> str:
    if shown.order == graph.order:
        return ""
    return say("graphs.drawing.sampled", hubs=shown.order, vertices=graph.order)


def _axes(count: int) -> tuple[Any, tuple[Axes, ...]]:
    from matplotlib.figure import Figure  # matplotlib is slow to load
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # Titles of axes that are switched off need room above.
    figure = Figure(figsize=(WIDTH, 3.1), layout=ConstrainedLayoutEngine(h_pad=0.12))
    made = tuple(figure.subplots(1, count, squeeze=False)[0])
    for axes in made:
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_xlim(-0.06, 1.06)
        axes.set_ylim(-0.06, 1.06)
    return figure, made


def _draw(  # noqa: PLR0917 - one side of the drawing
    axes: Axes,
    places: NDArray[np.float64],
    graph: Graph,
    changed: NDArray[np.bool_],
    kind: str,
    labels: list[str] | None,
) -> None:
    from matplotlib.collections import LineCollection  # matplotlib is slow to load

    for name, which in ((_KEPT, ~changed), (kind, changed)):
        if which.any():
            look = _LOOKS[name]
            crowded = name == _KEPT and graph.size > CROWDED
            lines = LineCollection(
                list(places[graph.edges[which]]),
                colors=look["color"],
                linewidths=look["linewidth"] / (2 if crowded else 1),
                linestyles=[look["linestyle"]],
                zorder=1,
            )
            axes.add_collection(lines)
    size = float(np.clip(1600 / max(graph.order, 1), 6, 46))
    across, up = places.T
    axes.scatter(across, up, s=size, c=INK, edgecolors=PAPER, linewidths=0.6, zorder=2)
    for place, label in zip(places, labels or [], strict=False):
        axes.annotate(shorten(label, 12), place, (0, 5), textcoords="offset points", ha="center")


def _select_vertices(
    original: Graph, release: Graph, most: int
) -> tuple[Graph, Graph, NDArray[np.int64]]:
    """The vertices that are drawn, and both graphs among them."""
    order = max(original.order, release.order)
    degrees = np.zeros(order, dtype=np.int64)
    degrees[: original.order] = original.degrees
    chosen = np.sort(np.argsort(-degrees, kind="stable")[:most])
    number = np.full(order, -1, dtype=np.int64)
    number[chosen] = np.arange(chosen.size)
    graphs = []
    for graph in (original, release):
        ends = number[graph.edges]
        graphs.append(Graph.of(ends[(ends >= 0).all(axis=1)], order=chosen.size))
    return graphs[0], graphs[1], chosen


def _labels(original: Graph, chosen: NDArray[np.int64]) -> list[str]:
    names = range(original.order) if original.labels is None else original.labels.to_list()
    return [str(names[at]) if at < original.order else f"new {at}" for at in chosen.tolist()]
