"""Grouped bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from celosia.core.figures._axes import (
    MOST_VALUE_LABELS,
    check_series,
    format_number,
    group_ticks,
    set_scale,
    set_words,
    shorten,
)
from celosia.core.figures._canvas import MUTED, bar_look, drawing, finish, new_axes
from celosia.core.figures.svg import Svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bars(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    horizontal: bool = False,
    percent: bool = False,
    log: bool = False,
) -> Svg:
    """Grouped bars: one group for each label, and in it one bar for each series.

    Args:
        labels: the names of the groups.
        series: name to one value per label; a legend appears from the second series on.
        title: what is shown.
        x_label: what the horizontal axis shows, whichever way the bars lie.
        y_label: what the vertical axis shows.
        horizontal: lay the bars down, which suits long labels.
        percent: values are fractions, shown as per cent.
        log: a logarithmic scale for the values; zeros get no bar.

    >>> figure = bars(["average", "highest"], {"before": [0.3, 1.0], "after": [0.02, 0.2]},
    ...               title="Risk of re-identification", percent=True)
    >>> "Risk of re-identification" in str(figure)
    True
    """
    check_series(labels, series)
    count = len(labels) * len(series)
    height = 1.0 + max(0.3 * len(labels), 0.22 * count) if horizontal else 2.9
    with drawing():
        figure, axes = new_axes(height)
        _draw_groups(
            axes, series, horizontal=horizontal, numbers=count <= MOST_VALUE_LABELS, percent=percent
        )
        set_scale(axes, "x" if horizontal else "y", percent=percent, log=log)
        group_ticks(axes, labels, horizontal=horizontal)
        set_words(figure, axes, title, x_label, y_label)
        return finish(figure)


def _draw_groups(
    axes: Axes,
    series: Mapping[str, Sequence[float]],
    *,
    horizontal: bool,
    numbers: bool,
    percent: bool,
) -> None:
    width = 0.8 / len(series)
    draw = axes.barh if horizontal else axes.bar
    for turn, (name, values) in enumerate(series.items()):
        offset = (turn - (len(series) - 1) / 2) * width
        places = [place + offset for place in range(len(values))]
        drawn = draw(places, values, 0.94 * width, label=shorten(name, 28), **bar_look(turn))
        if numbers:
            texts = [format_number(value, percent=percent) for value in values]
            axes.bar_label(drawn, labels=texts, padding=3, fontsize=8.2)
    if min(map(min, series.values())) < 0:
        (axes.axvline if horizontal else axes.axhline)(0, color=MUTED, linewidth=0.8)
    if numbers:  # room for them beyond the longest bar
        axes.margins(x=0.14 if horizontal else None, y=None if horizontal else 0.14)
