"""One interval of a grid: which one holds a number, and how it is called."""

from __future__ import annotations

from bisect import bisect_right

from celosia.tables.hierarchies._numbers import plain

Interval = tuple[int | None, int | None]
"""Lower end (inside) and upper end (outside) in steps of the grid; None where it is open."""


def on_steps(number: int, *, start: int, width: int) -> Interval:
    """The interval of equal widths from `start` that holds a number.

    >>> on_steps(40, start=1, width=20), on_steps(0, start=1, width=20)
    ((21, 41), (None, 1))
    """
    if number < start:
        return None, start
    lower = number - (number - start) % width
    return lower, lower + width


def between(number: int, *, cuts: list[int]) -> Interval:
    """The interval between cut points that holds a number.

    >>> between(30, cuts=[20, 30, 60]), between(60, cuts=[20, 30, 60])
    ((30, 60), (60, None))
    """
    at = bisect_right(cuts, number)
    return cuts[at - 1] if at else None, cuts[at] if at < len(cuts) else None


def labels(intervals: list[Interval], *, places: int, ranged: bool) -> list[str]:
    """What each interval is called; equal intervals are named once.

    >>> labels([(21, 41), (None, 1)], places=0, ranged=True)
    ['21-40', '< 1']
    >>> labels([(15, 20)], places=1, ranged=False)
    ['[1.5, 2[']
    """
    name = {interval: _label(interval, places, ranged) for interval in set(intervals)}
    return [name[interval] for interval in intervals]


def _label(interval: Interval, places: int, ranged: bool) -> str:
    lower, upper = interval
    if lower is None:
        assert upper is not None, "an interval has an end"
        return f"< {plain(upper, places)}"
    if upper is None:
        return f">= {plain(lower, places)}"
    if not ranged:
        return f"[{plain(lower, places)}, {plain(upper, places)}["
    one = 10**places
    first, last = lower // one, upper // one - 1
    # '-5--1' would be a riddle, so negative ends are joined by a word.
    return str(first) if first == last else f"{first}{'-' if first >= 0 else ' to '}{last}"
