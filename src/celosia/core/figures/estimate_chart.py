"""Estimates with their errors, beside the truth."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.figures._axes import check_series, group_ticks, set_scale, set_words
from celosia.core.figures._canvas import INK, MUTED, SERIES, bar_look, drawing, finish, new_axes
from celosia.core.figures.svg import Svg
from celosia.core.messages import say


def estimates(
    labels: Sequence[str],
    real: Sequence[float],
    estimated: Sequence[float],
    errors: Sequence[float],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
) -> Svg:
    """A bar for each real number, and on it a point for its estimate with an error bar.

    Args:
        labels: the names of the values.
        real: the true number of each.
        estimated: its estimate.
        errors: how far the error bar reaches to either side.
        title: what is shown.
        x_label: what the horizontal axis shows.
        y_label: what the vertical axis shows.

    Raises:
        ValueError: nothing to draw, rows of different lengths, or a number that is not finite.

    >>> "real" in str(estimates(["a", "b"], [70, 30], [74, 28], [5, 5], title="Letters"))
    True
    """
    check_series(labels, {"real": real, "estimated": estimated, "errors": errors})
    with drawing():
        figure, axes = new_axes(2.9)
        places = range(len(labels))
        axes.bar(places, real, 0.72, label=say("reports.chart.real"), **bar_look(0))
        axes.errorbar(
            places,
            estimated,
            yerr=[max(0.0, reach) for reach in errors],
            label=say("reports.chart.estimated"),
            color=SERIES[1],
            marker="o",
            markersize=4.6,
            markeredgecolor=INK,
            linestyle="none",
            ecolor=INK,
            elinewidth=1.2,
            capsize=2.6,
        )
        axes.axhline(0, color=MUTED, linewidth=0.8)
        set_scale(axes, "y")
        group_ticks(axes, labels)
        set_words(figure, axes, title, x_label, y_label)
        return finish(figure)
