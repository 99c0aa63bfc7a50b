"""Candidate sets: vertices of a release that look like a target in the original."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.graphs.graph import Graph

Numbers = NDArray[np.int64]


def classes(*signatures: NDArray[np.integer]) -> tuple[Numbers, ...]:
    """Small numbers for signatures of two or more graphs: equal ones for equal rows.

    >>> [each.tolist() for each in classes(np.array([7, 9]), np.array([9, 9, 7]))]
    [[0, 1], [1, 1, 0]]
    """
    sizes = np.cumsum([len(each) for each in signatures])[:-1]
    rows = np.concatenate(signatures)
    if rows.ndim == 2:
        order = np.lexsort(rows.T[::-1])
        ranked = rows[order]
        new = np.any(ranked[1:] != ranked[:-1], axis=1)
    else:
        order = np.argsort(rows, kind="stable")
        ranked = rows[order]
        new = ranked[1:] != ranked[:-1]
    codes = np.empty(len(rows), dtype=np.int64)
    codes[order] = np.concatenate([[0], np.cumsum(new)]) if len(rows) else []
    return tuple(np.split(codes, sizes))


def candidate_sizes(original: Numbers, release: Numbers) -> Numbers:
    """How many vertices of the release are in the class of each vertex of the original."""
    most = max(int(original.max(initial=-1)), int(release.max(initial=-1))) + 1
    return np.bincount(release, minlength=most)[original]


def checked_targets(graph: Graph, targets: Iterable[int] | None) -> Numbers:
    """The vertices to attack: all where none are named.

    Raises:
        InputError: CEL-G401 a target is no vertex of the graph.
    """
    if targets is None:
        return np.arange(graph.order, dtype=np.int64)
    chosen = np.asarray(list(targets))
    whole = chosen.size == 0 or np.issubdtype(chosen.dtype, np.integer)
    if not whole or (chosen.size and (chosen.min() < 0 or chosen.max() >= graph.order)):
        raise InputError("CEL-G401", order=graph.order - 1)
    return chosen.astype(np.int64)


def checked_truth(original: Graph, release: Graph, numbers: Numbers | None) -> Numbers:
    """The number in the release of each vertex of the original; -1 for one that is not there.

    Raises:
        InputError: CEL-G402 there is no number for each vertex, or one is not in the release.
    """
    if numbers is None:
        same = np.arange(original.order, dtype=np.int64)
        return np.where(same < release.order, same, -1)
    truth = np.asarray(numbers, dtype=np.int64)
    fits = truth.shape == (original.order,)
    if not fits or truth.min(initial=-1) < -1 or truth.max(initial=-1) >= release.order:
        raise InputError("CEL-G402", order=original.order, last=release.order - 1)
    return truth


def hits(original: Numbers, release: Numbers, truth: Numbers) -> NDArray[np.bool_]:
    """Whether each vertex of the original is in the same class as itself in the release."""
    found = np.zeros(len(original), dtype=np.bool_)
    there = truth >= 0
    found[there] = original[there] == release[truth[there]]
    return found


def groups(codes: Numbers) -> list[list[int]]:
    """The classes themselves, each sorted, by their first vertices.

    >>> groups(np.array([5, 2, 5]))
    [[0, 2], [1]]
    """
    found: dict[int, list[int]] = {}
    for vertex, code in enumerate(codes.tolist()):
        found.setdefault(code, []).append(vertex)
    return list(found.values())
