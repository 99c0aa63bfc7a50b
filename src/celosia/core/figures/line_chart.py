"""Lines for sweeps of a parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from celosia.core.figures._axes import check_series, format_number, set_scale, set_words, shorten
from celosia.core.figures._canvas import drawing, finish, new_axes
from celosia.core.figures._marks import line_look
from celosia.core.figures.svg import Svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM_FOR_NUMBER = 0.04
"""The part of the axis that a number below it takes."""


def lines(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    percent: bool = False,
    log: bool = False,
    log_x: bool = False,
) -> Svg:
    """How values change along `x`: one line with its own marker and dashes for each series.

    Args:
        x: where the values were measured, in growing order.
        series: name to one value per place; a legend appears from the second series on.
        title: what is shown.
        x_label: what the horizontal axis shows.
        y_label: what the vertical axis shows.
        percent: values are fractions, shown as per cent.
        log: a logarithmic scale for the values, with gaps at zeros; a linear one starts at 0.
        log_x: a logarithmic scale for `x`, as suits 2, 5, 10, 20, 50.

    Raises:
        ValueError: nothing to draw, series of another length than `x`, a value that is not finite,
            places that do not grow, or a place of 0 or less on a logarithmic scale.

    >>> "loss by k" in str(lines([2, 5, 10], {"loss": [0.08, 0.16, 0.2]}, title="loss by k"))
    True
    """
    check_series(x, series)
    _check_places(x, log=log_x)
    with drawing():
        figure, axes = new_axes(2.9)
        for number, (name, values) in enumerate(series.items()):
            # A zero has no place on a logarithmic scale; the line has a gap there.
            shown = [value if value > 0 or not log else math.nan for value in values]
            axes.plot(x, shown, label=shorten(name, 28), clip_on=False, **line_look(number))
        if not log:
            axes.set_ylim(bottom=min(0.0, *map(min, series.values())))
        set_scale(axes, "y", percent=percent, log=log)
        _name_places(axes, x, log=log_x)
        set_words(figure, axes, title, x_label, y_label)
        return finish(figure)


def _check_places(x: Sequence[float], *, log: bool) -> None:
    if not all(map(math.isfinite, x)) or any(after <= before for before, after in pairwise(x)):
        raise ValueError("the places of a line must be finite numbers in growing order.")
    if log and x[0] <= 0:
        raise ValueError("a logarithmic scale has no place for 0 or less.")


def _name_places(axes: Axes, x: Sequence[float], *, log: bool) -> None:
    """Ticks where something was measured, unless their numbers would collide."""
    if log:
        axes.set_xscale("log")
        axes.minorticks_off()
    steps = sorted(axes.transData.transform([(place, 1.0) for place in set(x)])[:, 0])
    gap = min((after - before for before, after in pairwise(steps)), default=math.inf)
    if gap > ROOM_FOR_NUMBER * axes.bbox.width:
        axes.set_xticks(list(x), labels=[format_number(place) for place in x])
    else:
        axes.xaxis.set_major_formatter(lambda value, _: format_number(value))
