"""Greedy local suppression where a blank cell matches every value.

To blank a cell can only raise counts here, its own and those of others: where two records differ in
one column, it is enough to blank it in one of them. So records are blanked one by one, the rarest
first, and the others of the same group gain by each.

Reference: Templ, Kowarik, Meindl 2015 (sdcMicro counts an empty key so); mu-Argus manual.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.tables.masking.suppression.costs import (
    BLANK,
    Codes,
    identify,
    matching,
    patterns_by_cost,
)

SMALL = 400
"""The largest number of blanked cells that are tried again, each at the cost of a count."""


def greedy(codes: Codes, k: int, costs: Sequence[float], *, progress: Progress = silent) -> Codes:
    """The codes with blanks, so that each row matches at least k rows; there must be k rows.

    >>> greedy(np.array([[0, 0], [0, 1], [1, 0], [1, 0]]), 2, [1, 1]).tolist()
    [[0, -1], [0, 1], [1, 0], [1, 0]]
    """
    released = codes.copy()
    counts = matching(released, released)
    everyone = int((counts < k).sum())
    for level in patterns_by_cost(costs):
        untried = list(level)
        while untried and (counts < k).any():
            waiting = np.flatnonzero(counts < k)
            progress(Step(Message("masking.stage.blanking"), everyone - waiting.size, everyone))
            reach = {each: _reach(released, waiting, each) >= k for each in untried}
            pattern = max(untried, key=lambda each: int(reach[each].sum()))
            untried.remove(pattern)
            ready = waiting[reach[pattern]]
            if not ready.size:
                break
            chosen = _chosen(released, ready, pattern, counts, k)
            _blank(released, chosen, pattern, counts, waiting)
            if (counts[ready] < k).any():  # some gained less than was hoped for: once more
                untried.append(pattern)
    _restore(codes, released, k, costs)
    return released


def _reach(released: Codes, waiting: NDArray[np.int64], pattern: tuple[int, ...]) -> Codes:
    """How many records each waiting one would match with these columns blank."""
    rows = released[waiting]
    rows[:, pattern] = BLANK
    return matching(rows, released)


def _chosen(
    released: Codes,
    ready: NDArray[np.int64],
    pattern: tuple[int, ...],
    counts: NDArray[np.int64],
    k: int,
) -> NDArray[np.int64]:
    """Which records to blank so that, in each group, those left out gain enough by the others."""
    rows = released[ready]
    detail = identify(rows)
    rows[:, pattern] = BLANK
    group = identify(rows)
    order = np.lexsort((counts[ready], group))
    chosen: list[int] = []
    now, blanked, by_detail = -1, 0, dict[int, int]()
    for place in order.tolist():
        if group[place] != now:
            now, blanked, by_detail = int(group[place]), 0, {}
        equal = by_detail.get(int(detail[place]), 0)  # these it matched already
        if counts[ready[place]] + blanked - equal < k:
            chosen.append(int(ready[place]))
            blanked += 1
            by_detail[int(detail[place])] = equal + 1
    return np.array(chosen, dtype=np.int64)


def _blank(
    released: Codes,
    chosen: NDArray[np.int64],
    pattern: tuple[int, ...],
    counts: NDArray[np.int64],
    waiting: NDArray[np.int64],
) -> None:
    """Blank columns of records, and correct the counts of those that wait: they can only gain."""
    before = released[chosen]
    released[np.ix_(chosen, np.array(pattern))] = BLANK
    after = released[chosen]
    others = np.setdiff1d(waiting, chosen)
    counts[others] += matching(released[others], after) - matching(released[others], before)
    counts[chosen] = matching(after, released)


def _restore(codes: Codes, released: Codes, k: int, costs: Sequence[float]) -> None:
    """Give back, the most important first, cells without which every count is still k."""
    rows, places = np.nonzero((released == BLANK) & (codes != BLANK))
    if rows.size > SMALL or len(codes) > SMALL * 10:
        return
    for each in np.argsort(-np.asarray(costs, dtype=np.float64)[places], kind="stable").tolist():
        row, place = int(rows[each]), int(places[each])
        released[row, place] = codes[row, place]
        if matching(released, released).min() < k:
            released[row, place] = BLANK
