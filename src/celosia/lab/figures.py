"""Figures that several studies draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celosia.core import figures
from celosia.core.messages import say
from celosia.core.report import Figure


def listed_lines(
    words: str,
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
) -> Figure:
    """Lines on a logarithmic scale, with their values beside them in words."""
    drawing = figures.lines(x, series, title=words, x_label=x_label, y_label=y_label, log=True)
    listed = "; ".join(
        f"{name}: {', '.join(f'{each:g}' for each in heights)}" for name, heights in series.items()
    )
    return Figure(drawing, words, say("lab.collect.values_listed", words=words, listed=listed))
