"""A gauge for a risk or a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.figures._axes import format_number, shorten
from celosia.core.figures._canvas import (
    GRID,
    INK,
    MUTED,
    alert_look,
    bar_look,
    drawing,
    finish,
    new_axes,
)
from celosia.core.figures.svg import Svg
from celosia.core.messages import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def gauge(
    value: float, *, threshold: float | None = None, title: str = "", caption: str = ""
) -> Svg:
    """A meter from 0 to 100 % with its number, and a mark at the highest accepted value.

    Args:
        value: in [0, 1]; a tiny one still shows, as a pin and as a number.
        threshold: the highest value that is accepted.
        title: what is measured.
        caption: what the number means, in a few words.

    Raises:
        ValueError: a number outside [0, 1].

    >>> "1.85 %" in str(gauge(0.0185, threshold=0.2, title="Average risk"))
    True
    """
    for name, number in (("value", value), ("threshold", threshold)):
        if number is not None and not 0 <= number <= 1:
            raise ValueError(f"the {name} of a gauge must be in [0, 1], got {number}.")
    exceeded = threshold is not None and value > threshold
    look = alert_look() if exceeded else bar_look(0)
    with drawing():
        figure, axes = new_axes(1.3)
        axes.set(xlim=(-0.012, 1.012), ylim=(-0.75, 1.75))
        axes.set_axis_off()
        axes.barh(0, 1, 0.44, color=GRID, linewidth=0)
        axes.barh(0, value, 0.44, **look)
        axes.plot([value], [0.38], marker="v", color=look["facecolor"], markersize=7)
        _write_words(axes, format_number(value, percent=True), title, caption)
        if threshold is not None:
            _mark_threshold(axes, threshold, exceeded=exceeded)
        return finish(figure)


def _write_words(axes: Axes, number: str, title: str, caption: str) -> None:
    axes.text(0, 1.72, shorten(title, 44), va="top", fontsize=10.5, fontweight="bold")
    axes.text(0, 1.2, shorten(caption, 64), va="top", color=MUTED, fontsize=8.5)
    axes.text(1, 1.72, number, va="top", ha="right", fontsize=17, fontweight="bold")


def _mark_threshold(axes: Axes, threshold: float, *, exceeded: bool) -> None:
    """A tick through the meter and words below it, on the side where there is room."""
    axes.plot([threshold, threshold], [-0.34, 0.34], color=INK, linewidth=1.4)
    key = "reports.chart.exceeds" if exceeded else "reports.chart.within"
    words = say(key, threshold=format_number(threshold, percent=True))
    side = "left" if threshold < 0.2 else "right" if threshold > 0.8 else "center"
    axes.text(threshold, -0.42, words, va="top", ha=side, fontsize=8.5)
