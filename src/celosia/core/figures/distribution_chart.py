"""The distribution of a column, before and after."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.core.figures.bar_chart import bars
from celosia.core.figures.svg import Svg
from celosia.core.messages import say

MOST_GROUPS = 24
"""More pairs of bars than this are too thin to be told apart."""


def before_after(
    values: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    title: str = "",
    x_label: str = "",
) -> Svg:
    """Two bars for each value: its share in the original, plain, and in the release, hatched.

    Of more than 24 values the most frequent ones (by the larger of their two shares) are shown, in
    the order given, and the rest as one pair of bars.

    Raises:
        ValueError: no values, shares of another number than the values, or a share outside [0, 1].

    >>> "released" in str(before_after(["F", "M"], [0.33, 0.67], [0.4, 0.6], title="sex"))
    True
    """
    if not len(values) == len(before) == len(after) or not len(values):
        raise ValueError(
            f"{len(before)} shares before and {len(after)} after for {len(values)} values."
        )
    # Sums of rounded shares may pass 1 in their last digits.
    if not all(0 <= share <= 1 + 1e-9 for share in (*before, *after)):
        raise ValueError("a share must be in [0, 1].")
    names, old, new = _most_frequent(list(values), list(before), list(after))
    crowded = max(map(len, names)) > 12 or len(names) > 12
    return bars(
        names,
        {say("reports.chart.original"): old, say("reports.chart.released"): new},
        title=title,
        x_label="" if crowded else x_label,
        y_label=x_label if crowded else "",
        horizontal=crowded,
        percent=True,
    )


def _most_frequent(
    values: list[str], before: list[float], after: list[float]
) -> tuple[list[str], list[float], list[float]]:
    if len(values) <= MOST_GROUPS:
        return values, before, after
    by_share = sorted(range(len(values)), key=lambda at: (-max(before[at], after[at]), at))
    shown = sorted(by_share[: MOST_GROUPS - 1])
    rest = by_share[MOST_GROUPS - 1 :]
    return (
        [*(values[at] for at in shown), say("reports.chart.all_others", number=len(rest))],
        [*(before[at] for at in shown), sum(before[at] for at in rest)],
        [*(after[at] for at in shown), sum(after[at] for at in rest)],
    )
