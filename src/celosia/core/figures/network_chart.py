"""Small networks and trees: vertices with their names, edges with theirs, arrows, changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, Literal

from celosia.core.figures._axes import shorten
from celosia.core.figures._canvas import INK, MUTED, PAPER, SERIES, WIDTH, drawing, finish
from celosia.core.figures.svg import Svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place = tuple[float, float]

MOST_VERTICES = 80
"""Names that can be read in one panel."""
LABEL = 0.62
"""How far from its end an edge has its label."""
ROW = 0.22
"""Inches of a row of a tree."""

_LOOKS: dict[str, dict[str, Any]] = {
    "kept": {"color": MUTED, "linewidth": 0.9, "linestyle": "-"},
    "gone": {"color": SERIES[2], "linewidth": 1.3, "linestyle": (0, (3, 2))},
    "come": {"color": SERIES[0], "linewidth": 2.2, "linestyle": "-"},
}
"""What is in both drawings, only in the one before (dashed), only in this one (thick)."""


@dataclass(frozen=True, slots=True)
class NetworkEdge:
    """A line between two vertices, by their places in the list."""

    start: int
    end: int
    label: str = ""
    kind: Literal["kept", "gone", "come"] = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPanel:
    """One drawing of a figure: its names have places in the unit square."""

    names: Sequence[str]
    places: Sequence[Place]
    edges: Sequence[NetworkEdge]
    title: str = ""
    directed: bool = False
    marked: frozenset[int] = field(default_factory=frozenset)
    """Vertices that are drawn with a thick frame."""


def circle(vertices: int) -> list[Place]:
    """Places on a circle, from the top and clockwise.

    >>> [(round(x, 2), round(y, 2)) for x, y in circle(2)]
    [(0.5, 1.0), (0.5, 0.0)]
    """
    turns = [2 * pi * each / max(vertices, 1) for each in range(vertices)]
    return [(0.5 + sin(turn) / 2, 0.5 + cos(turn) / 2) for turn in turns]


def networks(panels: Sequence[NetworkPanel], *, title: str = "", height: float = 2.9) -> Svg:
    """Drawings of small networks, side by side.

    Args:
        panels: what is drawn, from left to right.
        title: of all.
        height: in inches.

    Raises:
        ValueError: nothing to draw, more vertices than can be read, or not as many places as names.

    >>> pair = NetworkPanel(names=["a", "b"], places=circle(2), edges=[NetworkEdge(0, 1, "0.7")])
    >>> "0.7" in str(networks([pair]))
    True
    """
    if not panels:
        raise ValueError("a figure needs at least one panel.")
    for panel in panels:
        if len(panel.names) != len(panel.places) or not 1 <= len(panel.names) <= MOST_VERTICES:
            raise ValueError(f"a panel has 1 to {MOST_VERTICES} names, with a place for each.")
    from matplotlib.figure import Figure  # matplotlib is slow to load
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with drawing():
        # Titles of axes that are switched off need room above.
        figure = Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(h_pad=0.12))
        for axes, panel in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            axes.set_axis_off()
            axes.set_xlim(-0.14, 1.14)
            axes.set_ylim(-0.1, 1.1)
            axes.set_title(shorten(panel.title, 84 // len(panels)), size=8.6, loc="left")
            _draw(axes, panel)
        if title:
            figure.suptitle(shorten(title, 64), x=0.008, ha="left", size=10.5, weight="bold")
        return finish(figure)


def _draw(axes: Axes, panel: NetworkPanel) -> None:
    for edge in panel.edges:
        one, other = panel.places[edge.start], panel.places[edge.end]
        axes.annotate(
            "",
            xy=other,
            xytext=one,
            arrowprops={
                "arrowstyle": "-|>" if panel.directed else "-",
                "shrinkA": 7,
                "shrinkB": 9 if panel.directed else 7,
                # Two arcs between the same vertices are drawn beside each other.
                "connectionstyle": "arc3,rad=0.12" if panel.directed else "arc3",
                **_LOOKS[edge.kind],
            },
        )
        if edge.label:
            # Not in the middle, where edges cross.
            across, up = (LABEL * one[at] + (1 - LABEL) * other[at] for at in (0, 1))
            axes.annotate(
                shorten(edge.label, 12),
                (across, up),
                ha="center",
                va="center",
                size=7.4,
                color=MUTED,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "edgecolor": "none"},
            )
    for number, (name, place) in enumerate(zip(panel.names, panel.places, strict=True)):
        thick = number in panel.marked
        axes.annotate(
            shorten(name, 26),
            place,
            ha="center",
            va="center",
            size=7.6,
            color=INK,
            weight="bold" if thick else "normal",
            bbox={
                "boxstyle": "round,pad=0.28",
                "facecolor": PAPER,
                "edgecolor": INK if thick else MUTED,
                "linewidth": 1.8 if thick else 0.8,
            },
        )


def tree(paths: Iterable[Sequence[str]], *, title: str = "") -> Svg:
    """A hierarchy as a tree: values on the left, what generalises them to their right.

    Args:
        paths: the labels of each value, from itself to the root; repeated labels are one.
        title: what is shown.

    Raises:
        ValueError: as for `networks`.

    >>> "person" in str(tree([["mapuche", "person"], ["rapanui", "person"]]))
    True
    """
    listed = [list(each) for each in paths]
    depth = max(map(len, listed), default=0)
    if not listed or any(len(each) != depth for each in listed):
        raise ValueError("a tree needs paths of one length.")
    vertices = list(
        dict.fromkeys((level, label) for each in listed for level, label in enumerate(each))
    )
    number = {vertex: place for place, vertex in enumerate(vertices)}
    rows = list(dict.fromkeys(each[0] for each in listed))
    height = {label: 1 - (place + 0.5) / len(rows) for place, label in enumerate(rows)}
    below: dict[tuple[int, str], list[float]] = {}
    for each in {each[0]: each for each in listed}.values():
        for level, label in enumerate(each):
            below.setdefault((level, label), []).append(height[each[0]])
    places = _tree_places(vertices, below, depth)
    links = dict.fromkeys(
        (number[level, one], number[level + 1, other])
        for each in listed
        for level, (one, other) in enumerate(pairwise(each))
    )
    panel = NetworkPanel(
        names=[label for _, label in vertices],
        places=places,
        edges=[NetworkEdge(start, end) for start, end in links],
    )
    return networks([panel], title=title, height=max(1.6, 0.5 + ROW * len(rows)))


def _tree_places(
    vertices: Sequence[tuple[int, str]], below: Mapping[tuple[int, str], list[float]], depth: int
) -> list[Place]:
    """The middle of what is below a vertex, at its level."""
    return [
        (vertex[0] / max(depth - 1, 1), (max(below[vertex]) + min(below[vertex])) / 2)
        for vertex in vertices
    ]
