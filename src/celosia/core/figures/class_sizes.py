"""How large the equivalence classes are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from celosia.core.figures._axes import (
    MOST_VALUE_LABELS,
    format_number,
    group_ticks,
    set_scale,
    set_words,
)
from celosia.core.figures._canvas import alert_look, bar_look, drawing, finish, new_axes
from celosia.core.figures.svg import Svg
from celosia.core.messages import number, say

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SizeBins:
    """Equivalence classes sorted by size into the bins 1, 2-4, 5-9, 10-19, 20-49, ..."""

    labels: tuple[str, ...]
    classes: tuple[int, ...]
    """How many classes fall in each bin."""
    records: tuple[int, ...]
    """How many records live in those classes."""
    below: int
    """How many bins, from the first, lie below the threshold."""


def size_bins(sizes: NDArray[np.integer], *, threshold: int | None = None) -> SizeBins:
    """Classes and records by class size, with a bin that starts exactly at the threshold.

    Raises:
        ValueError: a class is empty.

    >>> import numpy as np
    >>> found = size_bins(np.array([1, 1, 3, 5, 12]), threshold=3)
    >>> found.labels
    ('1', '2', '3–4', '5–9', '10–19')
    >>> found.classes, found.records, found.below
    ((2, 0, 1, 1, 1), (2, 0, 3, 5, 12), 2)
    """  # noqa: RUF002 - ranges are written with an en dash
    import numpy as np  # a report without figures needs none

    if sizes.min(initial=1) < 1:
        raise ValueError("the size of an equivalence class must be at least 1.")
    starts, end = _bin_starts(max(int(sizes.max(initial=1)), threshold or 1), threshold or 1)
    place = np.searchsorted(starts, sizes, side="right") - 1
    return SizeBins(
        labels=tuple(map(_range, starts, [*starts[1:], end])),
        classes=tuple(np.bincount(place, minlength=len(starts)).tolist()),
        records=tuple(int(sizes[place == number].sum()) for number in range(len(starts))),
        below=starts.index(threshold or 1),
    )


def size_histogram(
    sizes: NDArray[np.integer],
    *,
    threshold: int | None = None,
    weight_by_records: bool = True,
    title: str = "",
) -> Svg:
    """How many records (or classes) have company of which size; sizes below `threshold` stand out.

    Args:
        sizes: the number of records of each equivalence class.
        threshold: the k that was promised or is wished for.
        weight_by_records: count the records that live in the classes, rather than the classes.
        title: what is shown.

    >>> import numpy as np
    >>> "below k = 5" in str(size_histogram(np.array([1, 2, 2, 8, 30]), threshold=5))
    True
    """
    found = size_bins(sizes, threshold=threshold)
    with drawing():
        figure, axes = new_axes(2.9)
        _draw_bins(axes, found, threshold, found.records if weight_by_records else found.classes)
        set_scale(axes, "y")
        group_ticks(axes, found.labels)
        what = say("reports.chart.records" if weight_by_records else "reports.chart.classes")
        set_words(figure, axes, title, say("reports.chart.class_size"), what)
        return finish(figure)


def _draw_bins(
    axes: Axes, found: SizeBins, threshold: int | None, heights: tuple[int, ...]
) -> None:
    parts = [
        (range(found.below), say("reports.chart.below_k", k=threshold), alert_look()),
        (range(found.below, len(heights)), say("reports.chart.from_k", k=threshold), bar_look(0)),
    ]
    for places, name, look in parts:
        if not places:
            continue
        values = [heights[place] for place in places]
        drawn = axes.bar(places, values, 0.86, label=name, **look)
        if len(heights) <= MOST_VALUE_LABELS:
            axes.bar_label(
                drawn, labels=[format_number(value) for value in values], padding=3, fontsize=8.2
            )
    axes.margins(y=0.14)
    if not any(heights):
        axes.set_ylim(0, 1)


def _bin_starts(largest: int, threshold: int) -> tuple[list[int], int]:
    """The first sizes of the bins 1-2-5 up to `largest`, and where the bin after them starts."""
    powers = range(len(str(largest)) + 1)
    edges = sorted({step * 10**power for power in powers for step in (1, 2, 5)} | {threshold})
    used = [edge for edge in edges if edge <= largest]
    return used, edges[len(used)]


def _range(start: int, end: int) -> str:
    return number(start) if end == start + 1 else f"{number(start)}\N{EN DASH}{number(end - 1)}"
