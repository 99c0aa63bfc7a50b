"""What the figures share: words on axes, scales, and numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from celosia.core.messages import number, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_VALUE_LABELS = 16
"""Above this many bars their numbers would collide."""

_ROOM_FOR_LABELS = 62
"""Characters that fit side by side under a figure; more are slanted."""


def format_number(value: float, *, percent: bool = False) -> str:
    """A number as people write it: three significant digits, thousands apart.

    >>> format_number(30162), format_number(0.16234), format_number(2.5), format_number(0.0)
    ('30,162', '0.162', '2.5', '0')
    >>> format_number(0.0185, percent=True), format_number(1.0, percent=True)
    ('1.85 %', '100 %')
    """
    if percent:
        return f"{format_number(100 * value)} %"
    if value == 0 or abs(value) >= 100:
        return number(value, ",.0f")
    digits = 2 - math.floor(math.log10(abs(value)))
    if digits > 8:
        return number(value, ".2g")
    text = number(value, f".{digits}f")
    return text.rstrip("0").rstrip(".,") if digits > 0 else text


def shorten(text: str, most: int) -> str:
    """At most `most` characters on one line, with an ellipsis where some are missing.

    >>> shorten("Married-civ-spouse with dependants", 20)
    'Married-civ-spouse…'
    """
    # Control characters and lone surrogates may not stand in a page at all.
    plain = " ".join("".join(c if c.isprintable() else " " for c in render(text)).split())
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def check_series(places: Sequence[object], series: Mapping[str, Sequence[float]]) -> None:
    """Refuse series of another length than their labels, and values that have no place."""
    if not places or not series:
        raise ValueError("a figure needs at least one label and one series.")
    for label, values in series.items():
        if len(values) != len(places):
            raise ValueError(f"series {label!r}: {len(values)} values for {len(places)} labels.")
        if not all(math.isfinite(value) for value in values):
            raise ValueError(f"series {label!r}: some values are not finite numbers.")


def group_ticks(axes: Axes, labels: Sequence[str], *, horizontal: bool = False) -> None:
    """Names at 0, 1, 2, ...: upright where they fit, slanted where they would collide."""
    names = [shorten(label, 28 if horizontal else 22) for label in labels]
    if horizontal:
        axes.set_yticks(range(len(names)), labels=names)
        axes.invert_yaxis()
        axes.spines["bottom"].set_visible(False)
        axes.spines["left"].set_visible(True)
        return
    crowded = len(names) * (max(map(len, names), default=0) + 1) > _ROOM_FOR_LABELS
    axes.set_xticks(range(len(names)), labels=names)
    spare = max(0.0, 4 - len(names)) / 2  # one bar alone should be a bar, not a wall
    axes.set_xlim(-0.6 - spare, len(names) - 0.4 + spare)
    if crowded:
        for text in axes.get_xticklabels():
            text.set(rotation=35, horizontalalignment="right", rotation_mode="anchor")


def set_scale(
    axes: Axes, which: Literal["x", "y"], *, percent: bool = False, log: bool = False
) -> None:
    """A linear or logarithmic value axis with quiet grid lines; call it when all is drawn."""
    from matplotlib.ticker import (  # matplotlib is slow to load
        FuncFormatter,
        LogLocator,
        NullLocator,
    )

    axis = axes.xaxis if which == "x" else axes.yaxis
    if log and axis.get_minpos() < math.inf:  # a scale of zeros alone stays linear
        axes.set(**{f"{which}scale": "log"})
        low, high = axis.get_view_interval()
        short = high / low < 1000  # up to three decades have room for 1, 2, 5
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if short else (1,)))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: format_number(value, percent=percent)))
    axes.grid(axis=which)


def set_words(figure: Figure, axes: Axes, title: str, x_label: str, y_label: str) -> None:
    """Axis names and a title, with a legend below it when there are two or more series."""
    axes.set_xlabel(shorten(x_label, 60))
    axes.set_ylabel(shorten(y_label, 40))
    words = shorten(title, 64)
    handles, names = axes.get_legend_handles_labels()
    if len(handles) < 2:
        if words:
            figure.suptitle(words, x=0.008, ha="left", size=10.5, weight="bold")
        return
    legend = figure.legend(
        handles,
        names,
        loc="outside upper left",
        ncols=max(1, min(4, int(72 / (max(map(len, names)) + 7)))),
        borderpad=0.3,
        borderaxespad=0,
        handlelength=1.8,
        columnspacing=1.8,
        alignment="left",
    )
    if words:
        legend.set_title(words)
        legend.get_title().set(size=10.5, weight="bold")
