"""Drawings of graphs: points in fixed places, lines that tell by more than their colour."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from nicegui import ui

from celosia.studio.language import _, n_, number
from celosia.studio.widgets.chart import chart
from celosia.studio.widgets.text import heading, quiet

KEPT, GONE, COME = "#8a979b", "#b4532a", "#0f7c93"
POINT = "#5478c4"
SMALL, LARGE = 7, 26
"""Pixels of the smallest and of the largest point."""
CROWD = 60
"""Points from which on the largest are drawn half as large."""


def draw_one(drawing: Mapping[str, Any]) -> None:
    """A graph by itself."""
    side = drawing["before"]
    _note(drawing)
    _chart(
        side,
        named=drawing["named"],
        title=_("The graph"),
        level=2,
        marked="",
        words=n_("A graph with {count} edge.", "A graph with {count} edges.", side["edges"]),
    )
    quiet("A larger point has more contacts. Move the drawing by dragging, zoom by scrolling.")


def draw_both(drawing: Mapping[str, Any]) -> None:
    """The graph before and after, with the same places where the vertices are the same."""
    kind = drawing["kind"]
    _note(drawing)
    _legend(kind, drawing)
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"):
            before = drawing["before"]
            _chart(
                before,
                named=drawing["named"],
                title=_("Original"),
                marked="gone" if kind == "same" else "",
                words=n_(
                    "The original graph with {count} edge.",
                    "The original graph with {count} edges.",
                    before["edges"],
                ),
            )
        with ui.element("div"):
            after = drawing["after"]
            _chart(
                after,
                named=drawing["groups_named"] if kind == "groups" else drawing["named"],
                title=_("Release"),
                marked="come",
                words=n_(
                    "The released graph with {count} edge.",
                    "The released graph with {count} edges.",
                    after["edges"],
                ),
                chances=kind == "uncertain",
                groups=kind == "groups",
            )


def _note(drawing: Mapping[str, Any]) -> None:
    if drawing["drawn"] < drawing["of"]:
        quiet(
            "The graph has {all} vertices, too many to be seen: the {some} with most contacts "
            "are drawn, with the edges among them.",
            all=number(drawing["of"]),
            some=number(drawing["drawn"]),
        )


def _legend(kind: str, drawing: Mapping[str, Any]) -> None:
    """What the lines mean, in words; lines of the same look stand beside them."""
    if kind == "groups":
        quiet(
            n_(
                "The release is {count} group: each point stands for its people, written as "
                "people / edges among them; a thicker line has more edges.",
                "The release is {count} groups: each point stands for its people, written as "
                "people / edges among them; a thicker line has more edges.",
                drawing["groups"],
            )
        )
        return
    if kind == "new":
        quiet(
            "The released graph is new: points on the right do not correspond to points "
            "on the left, so edges cannot be compared."
        )
        return
    labels = [("", _("in both graphs"))]
    if kind == "uncertain":
        labels.append(("come", _("pair that was no edge; the thicker, the likelier")))
    else:
        labels += [
            (
                "gone",
                n_(
                    "dashed: {count} edge of the original that is gone",
                    "dashed: {count} edges of the original that are gone",
                    drawing["gone"],
                ),
            ),
            (
                "come",
                n_(
                    "thick: {count} edge that was added",
                    "thick: {count} edges that were added",
                    drawing["come"],
                ),
            ),
        ]
    inside = "".join(f'<span><i class="{name}"></i>{escape(text)}</span>' for name, text in labels)
    ui.html(f'<div class="celosia-lines">{inside}</div>', sanitize=False)  # escaped above
    quiet(
        "Points keep their places and names here, so that you can compare; the released file "
        "has random numbers."
    )


def _chart(
    side: Mapping[str, Any],
    *,
    named: bool,
    title: str,
    level: int = 3,
    marked: str,
    words: str,
    chances: bool = False,
    groups: bool = False,
) -> None:
    degrees = [point[3] for point in side["points"]]
    most = max([*degrees, 1])
    largest = LARGE if len(degrees) <= CROWD else LARGE // 2
    widest = max([line[3] for line in side["lines"]] + [1]) if groups else 1
    points = [
        {
            "id": str(place),
            "name": str(name),
            "x": x * 1000,
            "y": -y * 1000,
            "value": degree,
            "symbolSize": SMALL + (largest - SMALL) * (degree / most) ** 0.5,
        }
        for place, (x, y, name, degree) in enumerate(side["points"])
    ]
    links = [
        {
            "source": str(u),
            "target": str(v),
            "lineStyle": _look(bool(alone), marked, weight / widest, chances or groups),
        }
        for u, v, alone, weight in side["lines"]
    ]
    names = [str(point[2]) for point in side["points"]]
    alone_word = _("only here") if marked else ""
    heading(title, level)
    chart(
        {
            "tooltip": {"confine": True, "renderMode": "richText", "formatter": "{b}: {c}"},
            "series": [
                {
                    "type": "graph",
                    "layout": "none",
                    "data": points,
                    "links": links,
                    "roam": True,
                    # As large as height and width allow: circles stay round, names are not cut.
                    "left": "7%",
                    "right": "7%",
                    "top": "8%",
                    "bottom": "8%",
                    "preserveAspect": True,
                    "itemStyle": {"color": POINT, "borderColor": "#ffffff", "borderWidth": 1},
                    "label": {
                        "show": named,
                        "position": "top",
                        "fontSize": 11,
                        # A dark letter with a light rim is read on paper and at night.
                        "color": "#1d2528",
                        "textBorderColor": "#ffffff",
                        "textBorderWidth": 3,
                        "formatter": "{b}",
                    },
                    "emphasis": {"focus": "adjacency"},
                    "edgeSymbol": ["none", "none"],
                }
            ],
        },
        description=words,
        columns=[_("first vertex"), _("second vertex"), _("in the other graph")],
        rows=[
            [names[int(u)], names[int(v)], alone_word if alone and marked else _("in both graphs")]
            for u, v, alone, _weight in sorted(side["lines"], key=lambda line: -line[2])
        ],
        height="26rem",
    )


def _look(alone: bool, marked: str, weight: float, by_weight: bool) -> dict[str, Any]:
    """How a line is drawn: colour, width and dashes together."""
    if by_weight:
        colour = COME if alone else KEPT
        return {"color": colour, "width": 0.5 + 4 * weight, "opacity": 0.25 + 0.75 * weight}
    if alone and marked == "gone":
        return {"color": GONE, "width": 2.5, "type": "dashed", "opacity": 1}
    if alone and marked == "come":
        return {"color": COME, "width": 4, "opacity": 1}
    return {"color": KEPT, "width": 1, "opacity": 0.7}
