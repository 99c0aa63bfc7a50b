"""Make the neighbourhoods of two vertices isomorphic by adding edges."""

from __future__ import annotations

from itertools import combinations

from celosia.graphs.neighbourhood.neighbourhoods import Neighbourhoods

_SWAPS = 40
"""Neighbourhoods up to this size have their matching improved by exchanges."""


def align(state: Neighbourhoods, one: int, other: int) -> bool:
    """Add edges until some matching of the neighbours is an isomorphism; whether any was added.

    Where an end of a new edge is one of the two vertices, their neighbourhoods have changed, and
    it must be called again: edges are only added, so that comes to an end.
    """
    before = len(state.added)
    _same_number(state, one, other)
    partner = _matching(state, one, other)
    for u, v in combinations(list(partner), 2):
        first, second = v in state.near[u], partner[v] in state.near[partner[u]]
        if first and not second:
            state.join(partner[u], partner[v])
        elif second and not first:
            state.join(u, v)
    return len(state.added) > before


def _same_number(state: Neighbourhoods, one: int, other: int) -> None:
    """New neighbours for the vertex with fewer: those of low degree, strangers to the rest."""
    few, many = sorted((one, other), key=lambda v: len(state.near[v]))
    while len(state.near[few]) < len(state.near[many]):
        strangers = set(range(len(state.near))) - state.near[few] - {few}
        best = min(
            strangers,
            key=lambda v: (
                v == many,
                len(state.near[v] & state.near[few]),
                len(state.near[v]),
                v,
            ),
        )
        state.join(few, best)


def _matching(state: Neighbourhoods, one: int, other: int) -> dict[int, int]:
    """Pair the neighbours by their number of neighbours inside, then exchange where that helps."""
    first, second = state.inner(one), state.inner(other)
    left, right = (
        sorted(inner, key=lambda v, inner=inner: (-len(inner[v]), _fame(inner, v), v))  # type: ignore[misc]
        for inner in (first, second)
    )
    if len(left) <= _SWAPS:
        _improve(left, right, first, second)
    return dict(zip(left, right, strict=True))


def _fame(inner: dict[int, set[int]], vertex: int) -> list[int]:
    return sorted(-len(inner[near]) for near in inner[vertex])


def _improve(
    left: list[int], right: list[int], first: dict[int, set[int]], second: dict[int, set[int]]
) -> None:
    """Exchange partners in `right` as long as fewer pairs differ."""

    def differing(place: int) -> int:
        u, v = left[place], right[place]
        return sum((w in first[u]) != (x in second[v]) for w, x in zip(left, right, strict=True))

    better = True
    while better:
        better = False
        for a, b in combinations(range(len(left)), 2):
            before = differing(a) + differing(b)
            if not before:
                continue
            right[a], right[b] = right[b], right[a]
            # The pair (a, b) itself is counted twice before and after alike.
            if differing(a) + differing(b) < before:
                better = True
            else:
                right[a], right[b] = right[b], right[a]
