"""Greedy local suppression where a blank cell is a value of its own.

Records whose combination is too rare are settled in the order of what it costs: first those that
need one cheap cell. Among sets of columns of the same cost the one that lets most records join a
class of k goes first. The few that find no company at all take some of a class that can spare them.

Reference: Samarati 2001; Hundepool et al., mu-Argus manual (local suppression).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.tables.masking.suppression.costs import (
    BLANK,
    Codes,
    class_sizes,
    identify,
    patterns_by_cost,
    same_as,
)


def greedy(codes: Codes, k: int, costs: Sequence[float], *, progress: Progress = silent) -> Codes:
    """The codes with blanks, so that each row occurs at least k times; there must be k rows.

    >>> greedy(np.array([[0, 0], [0, 1], [1, 0], [1, 0]]), 2, [1, 1]).tolist()
    [[0, -1], [0, -1], [1, 0], [1, 0]]
    """
    released = codes.copy()
    waiting = np.flatnonzero(class_sizes(codes) < k)
    everyone = waiting.size
    for level in patterns_by_cost(costs):
        while waiting.size:
            progress(
                Step(Message("masking.stage.blanking"), int(everyone - waiting.size), int(everyone))
            )
            joining = max(
                (_joining(codes, released, waiting, pattern, k) for pattern in level),
                key=lambda found: int(found[1].sum()),
            )
            pattern, settled = joining
            if not settled.any():
                break
            released[np.ix_(waiting[settled], np.array(pattern))] = BLANK
            waiting = waiting[~settled]
    while waiting.size:
        _with_donors(codes, released, waiting, k, costs)
        waiting = np.flatnonzero(class_sizes(released) < k)
    _restore(codes, released, k, costs)
    return released


def _joining(
    codes: Codes,
    released: Codes,
    waiting: NDArray[np.int64],
    pattern: tuple[int, ...],
    k: int,
) -> tuple[tuple[int, ...], NDArray[np.bool_]]:
    """Which of the waiting records would be in a class of k with these columns blank."""
    rows = codes[waiting]
    rows[:, pattern] = BLANK
    settled = np.ones(len(codes), dtype=np.bool_)
    settled[waiting] = False
    for place in pattern:
        settled &= released[:, place] == BLANK
    return pattern, same_as(rows, np.concatenate([rows, released[settled]])) >= k


def _with_donors(
    codes: Codes,
    released: Codes,
    waiting: NDArray[np.int64],
    k: int,
    costs: Sequence[float],
) -> None:
    """Settle the first waiting record, and those like it, with records of larger classes.

    The columns are those for which the cells to be blanked cost least. A class gives only what it
    has above k, unless that is not enough: then the smallest one joins as a whole.
    """
    price = np.asarray(costs, dtype=np.float64)
    sizes = class_sizes(released)
    names = identify(released)
    best: tuple[float, NDArray[np.int64], tuple[int, ...]] | None = None
    for pattern in (each for level in patterns_by_cost(costs) for each in level):
        seen = np.setdiff1d(np.arange(codes.shape[1]), pattern)
        wanted = codes[waiting[0]][seen]
        equal = (released[:, seen] == wanted).all(axis=1)
        group = waiting[equal[waiting]]
        donors = np.flatnonzero(equal & (sizes >= k))
        chosen = _donors(names[donors], sizes[donors], k, k - group.size)
        if chosen is None:
            continue
        moved = np.concatenate([group, donors[chosen]])
        fresh = released[np.ix_(moved, np.array(pattern))] != BLANK
        cost = float(fresh.sum(axis=0) @ price[list(pattern)])
        if best is None or cost < best[0]:
            best = (cost, moved, pattern)
    assert best is not None, "with every column blank all records are alike, and there are k"
    released[best[1]] = np.where(
        np.isin(np.arange(codes.shape[1]), best[2]), BLANK, released[best[1]]
    )


def _donors(
    names: NDArray[np.int64], sizes: NDArray[np.int64], k: int, needed: int
) -> NDArray[np.int64] | None:
    """Places of records whose leaving breaks no class; None where there are not enough."""
    if needed > names.size:
        return None
    order = np.argsort(names, kind="stable")
    start = np.flatnonzero(np.diff(names[order], prepend=-1))
    run = np.arange(names.size) - np.repeat(start, np.diff(np.append(start, names.size)))
    spare = order[run < sizes[order] - k]
    if spare.size >= needed:
        return spare[:needed]
    smallest = int(np.argmin(sizes))
    return np.flatnonzero(names == names[smallest])  # k records or more, so enough


def _restore(codes: Codes, released: Codes, k: int, costs: Sequence[float]) -> None:
    """Give back cells that are no longer needed: some classes grew after a record had left."""
    touched = np.flatnonzero(((released == BLANK) & (codes != BLANK)).any(axis=1))
    if not touched.size:
        return
    members = Counter(map(tuple, released.tolist()))
    patterns = [
        each for level in patterns_by_cost(costs) for each in level if len(each) < len(costs)
    ]
    for row in touched.tolist():
        now = tuple(released[row].tolist())
        original = codes[row].tolist()
        if members[now] <= k:
            continue
        blank = {place for place, code in enumerate(now) if code == BLANK}
        for pattern in ((), *patterns):
            if not blank.issuperset(pattern):
                continue
            tried = tuple(
                BLANK if place in pattern else code for place, code in enumerate(original)
            )
            if tried != now and members[tried] >= k:
                members[now] -= 1
                members[tried] += 1
                released[row] = tried
                break
