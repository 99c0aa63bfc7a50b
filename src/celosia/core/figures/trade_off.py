"""What protection costs: every choice by its risk and its loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.core.figures._axes import set_scale, set_words, shorten
from celosia.core.figures._canvas import INK, MUTED, PAPER, SERIES, drawing, finish, new_axes
from celosia.core.figures.svg import Svg
from celosia.core.messages import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]

CELLS = 32
"""Of points that fall into one of 32 by 32 squares one is drawn: more cannot be told apart."""


def trade_off(
    loss: Sequence[float],
    risk: Sequence[float],
    *,
    chosen: int | None = None,
    chosen_label: str | None = None,
    title: str = "",
    x_label: str | None = None,
    y_label: str | None = None,
    percent: bool = True,
    log: bool = False,
) -> Svg:
    """A point for every choice, a line through the best ones, and a star at the chosen one.

    The best choices (the Pareto front) are those for which no other has less of one and no more of
    the other. They are all drawn as diamonds on a line; of the others, small rings, one is drawn
    where many would lie on each other, so that the figure stays small.

    Args:
        loss: what each choice costs.
        risk: what each choice leaves.
        chosen: which choice is marked.
        chosen_label: what the mark says; "chosen" by default.
        title: what is shown.
        x_label: what the horizontal axis, of the loss, shows; "loss of information" by default.
        y_label: what the vertical axis, of the risk, shows; "risk" by default.
        percent: values are fractions, shown as per cent.
        log: a logarithmic scale for the risk; choices without any risk are not drawn on it.

    Raises:
        ValueError: no choices, a risk missing, values that are not finite, or no such choice.

    >>> "k = 5" in str(trade_off([0.1, 0.2], [0.5, 0.2], chosen=1, chosen_label="k = 5"))
    True
    """
    points = _points(loss, risk)
    if chosen is not None and not 0 <= chosen < len(points):
        raise ValueError(f"choice {chosen} does not exist; there are {len(points)}.")
    visible = [point for point in points if point[1] > 0 or not log]
    front = pareto_front(visible)
    with drawing():
        figure, axes = new_axes(3.4)
        _draw_points(axes, thin_points(visible, log=log), front)
        if log and visible:
            axes.set_yscale("log")
        if chosen is not None and points[chosen] in visible:
            _mark(axes, points[chosen], shorten(chosen_label or say("reports.chart.chosen"), 28))
        set_scale(axes, "x", percent=percent)
        set_scale(axes, "y", percent=percent, log=log)
        set_words(figure, axes, title, *axis_names(x_label, y_label))
        return finish(figure)


def axis_names(loss: str | None, risk: str | None) -> tuple[str, str]:
    """The names of the axes of loss and risk, where none are given the usual ones."""
    return loss or say("reports.chart.loss"), risk or say("reports.chart.risk")


def pareto_front(points: Sequence[Point]) -> list[Point]:
    """The points to which none is better: not in both, nor in one with the other equal.

    >>> pareto_front([(0.1, 0.5), (0.2, 0.2), (0.3, 0.2), (0.2, 0.6)])
    [(0.1, 0.5), (0.2, 0.2)]
    """
    front: list[Point] = []
    for point in sorted(set(points)):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front


def thin_points(points: Sequence[Point], *, log: bool = False) -> list[Point]:
    """At most one point for each square of a grid over all of them, the first that came.

    >>> thin_points([(0.0, 0.0), (1.0, 1.0), (0.999, 1.0)])
    [(0.0, 0.0), (1.0, 1.0)]
    """
    places = [(x, math.log(y) if log else y) for x, y in points]
    if not places:
        return []
    lows, highs = (tuple(map(pick, zip(*places, strict=True))) for pick in (min, max))
    widths = [high - low or 1.0 for low, high in zip(lows, highs, strict=True)]
    found: dict[tuple[int, ...], Point] = {}
    for point, place in zip(points, places, strict=True):
        parts = zip(place, lows, widths, strict=True)
        cell = tuple(min(CELLS - 1, int(CELLS * (at - low) / width)) for at, low, width in parts)
        found.setdefault(cell, point)
    return list(found.values())


def _points(loss: Sequence[float], risk: Sequence[float]) -> list[Point]:
    if len(loss) != len(risk) or not len(loss):
        raise ValueError(
            f"{len(loss)} losses and {len(risk)} risks; both need the same, 1 or more."
        )
    points = [(float(x), float(y)) for x, y in zip(loss, risk, strict=True)]
    if not all(math.isfinite(x) and math.isfinite(y) for x, y in points):
        raise ValueError("some losses or risks are not finite numbers.")
    return points


def _draw_points(axes: Axes, others: Sequence[Point], front: Sequence[Point]) -> None:
    best = set(front)
    dominated = [point for point in others if point not in best]
    if dominated:
        axes.plot(
            *zip(*dominated, strict=True),
            linestyle="none",
            marker="o",
            markersize=3.0,
            markerfacecolor="none",
            markeredgecolor=MUTED,
            markeredgewidth=0.6,
            label=say("reports.chart.possible"),
        )
    if front:
        axes.plot(
            *zip(*front, strict=True),
            color=SERIES[0],
            linewidth=1.6,
            marker="D",
            markersize=4.5,
            label=say("reports.chart.best"),
        )


def _mark(axes: Axes, point: Point, label: str) -> None:
    axes.plot(
        *([value] for value in point),
        linestyle="none",
        marker="*",
        markersize=15,
        markerfacecolor=SERIES[2],
        markeredgecolor=PAPER,
        zorder=5,
    )
    # On the side where there is room.
    low, high = axes.get_xlim()
    is_right = point[0] > (low + high) / 2
    axes.annotate(
        label,
        point,
        xytext=(-9 if is_right else 9, 7),
        textcoords="offset points",
        ha="right" if is_right else "left",
        color=INK,
        fontweight="bold",
        # The words stay legible where points lie behind them.
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.2},
        zorder=6,
    )
