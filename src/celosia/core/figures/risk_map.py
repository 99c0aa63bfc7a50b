"""Many maskings of a table by risk and loss, method by method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.core.figures._axes import set_scale, set_words, shorten
from celosia.core.figures._canvas import INK, MUTED, PAPER, drawing, finish, new_axes
from celosia.core.figures._marks import line_look
from celosia.core.figures.svg import Svg
from celosia.core.figures.trade_off import axis_names, pareto_front
from celosia.core.messages import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NamedPoint = tuple[str, float, float]

MOST_NAMES = 30
"""Above this many points only the best ones have their parameters beside them."""


def risk_map(
    points: Sequence[NamedPoint],
    *,
    title: str = "",
    x_label: str | None = None,
    y_label: str | None = None,
) -> Svg:
    """A mark for each masking, of its own look for each method, and a ring at the best ones.

    The first word of a name is the method; the points of a method are joined in the order given,
    and the rest of the name, its parameters, stands beside the point.

    Args:
        points: name, loss and risk (a share) of each.
        title: what is shown.
        x_label: what the horizontal axis, of the loss, shows; "loss of information" by default.
        y_label: what the vertical axis, of the risk, shows; "risk" by default.

    Raises:
        ValueError: no points, or values that are not finite.

    >>> tried = [("mdav k=3", 0.1, 0.4), ("mdav k=5", 0.2, 0.1), ("noise p=0.1", 0.3, 0.2)]
    >>> drawn = str(risk_map(tried))
    >>> "mdav" in drawn, "k=5" in drawn, "noise" in drawn
    (True, True, True)
    """
    if not points or not all(math.isfinite(x) and math.isfinite(y) for _, x, y in points):
        raise ValueError("a map needs at least one point, and finite numbers.")
    front = pareto_front([(x, y) for _, x, y in points])
    methods: dict[str, list[NamedPoint]] = {}
    for name, x, y in points:
        method, _, rest = name.partition(" ")
        methods.setdefault(method, []).append((rest.strip(), x, y))
    with drawing():
        figure, axes = new_axes(3.8)
        for number, (method, tried) in enumerate(methods.items()):
            look = line_look(number) | {"linewidth": 1.0}
            places = [[x for _, x, _ in tried], [y for *_, y in tried]]
            axes.plot(*places, label=shorten(method, 28), zorder=3, **look)
        _ring(axes, front)
        for tried in methods.values():
            for rest, x, y in tried:
                if rest and (len(points) <= MOST_NAMES or (x, y) in front):
                    _name(axes, shorten(rest, 18), x, y)
        axes.margins(0.08)
        set_scale(axes, "x")
        set_scale(axes, "y", percent=True)
        set_words(figure, axes, title, *axis_names(x_label, y_label))
        return finish(figure)


def _ring(axes: Axes, front: Sequence[tuple[float, float]]) -> None:
    axes.plot(
        *zip(*front, strict=True),
        linestyle="none",
        marker="o",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor=INK,
        markeredgewidth=0.9,
        label=say("reports.chart.best"),
        zorder=4,
    )


def _name(axes: Axes, words: str, x: float, y: float) -> None:
    axes.annotate(
        words,
        (x, y),
        xytext=(7, 5),
        textcoords="offset points",
        size=7.2,
        color=MUTED,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.4, "alpha": 0.7},
        zorder=2,
    )
