"""De-anonymisation without known people: hubs are recognised by their neighbours' degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.attacks.hubs import top_hubs
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.attacks.percolation import spread_marks
from celosia.graphs.attacks.propagation import Propagation, judge
from celosia.graphs.attacks.result import Numbers, checked_truth
from celosia.graphs.graph import Graph

HUBS = 1000
"""Vertices of highest degree in each graph that are compared."""
MOST_HUBS = 5000
"""Their distances take 200 MB."""
STANDS_OUT = 0.9
"""A match is a seed if its distance is below this share of the second best, both ways."""
ROUNDS = 3
"""How often pairs that their contacts confirm are spread again."""

_STEPS = 2
"""Bins of degrees for each doubling."""
_BINS = 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Seedless(AttackMethod[Propagation]):
    """The attacker knows another network and nobody in both; see `seedless`."""

    hubs: int = parameter(HUBS, least=2, most=MOST_HUBS)
    """Vertices of highest degree in each graph that are compared to find a start."""
    marks: int = parameter(3, least=1)
    """How many matched contacts must agree before two people are matched."""

    method_name = "seedless"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> Propagation:
        return seedless(
            pair.original,
            pair.release,
            hubs=self.hubs,
            marks=self.marks,
            numbers=pair.numbers,
            progress=progress,
        )


def seedless(
    known: Graph,
    release: Graph,
    *,
    hubs: int = HUBS,
    marks: int = 3,
    numbers: Numbers | None = None,
    progress: Progress = silent,
) -> Propagation:
    """Match the vertices of two graphs of which nobody is known in both.

    Each hub has a profile: how many of its neighbours have each degree, and each mean degree of
    their own neighbours, in bins. Hubs of the two graphs whose profiles are nearest to each other,
    and clearly nearer than any other, are the seeds of `percolation`. Then pairs that too few
    matched contacts confirm are given up, and the others spread again, a few times: wrong seeds go.

    Time and memory are bounded: hubs by number, marks and pairs as in `percolation` each time, all
    else is linear in edges.

    Args:
        known: the graph whose people the attacker knows.
        release: the graph to be de-anonymised.
        hubs: how many vertices of highest degree are compared.
        marks: how many matched contacts must agree.
        numbers: the number in the release of each vertex of the first graph (-1 if it is not
            there), the same by default; used to judge alone.
        progress: called as the work proceeds.

    Raises:
        InputError: CEL-G400 the numbers are not those of the release.

    Reference: Ding, Ma, Wu, Xu 2021 (degree profiles); Yartseva, Grossglauser 2013 (percolation).
    """
    truth = checked_truth(known, release, numbers)
    matched = np.full(known.order, -1, dtype=np.int64)
    pairs = _nearest(known, release, hubs)
    for turn in range(ROUNDS):
        progress(Step(Message("graphs.stage.spread"), turn, ROUNDS))
        if not len(pairs):
            break
        matched[:] = -1
        matched[pairs[:, 0]] = pairs[:, 1]
        spread_marks(known, release, matched, pairs[:, 0], marks)
        agreed = np.flatnonzero(agreements(known, release, matched) >= marks)
        again = np.stack([agreed, matched[agreed]], axis=1)
        if np.array_equal(again, pairs):
            break
        pairs = again
    return judge(matched, truth, np.empty(0, dtype=np.int64), way="seedless")


def _nearest(known: Graph, release: Graph, hubs: int) -> NDArray[np.int64]:
    """Pairs of hubs whose profiles are nearest to each other, and clearly so."""
    ours, theirs = (top_hubs(graph, min(hubs, graph.order)) for graph in (known, release))
    if min(ours.size, theirs.size) < 2:
        return np.empty((0, 2), dtype=np.int64)
    one, other = profiles(known, ours), profiles(release, theirs)
    apart = np.square(one).sum(axis=1)[:, None] + np.square(other).sum(axis=1) - 2 * one @ other.T
    apart = np.maximum(apart, 0)
    best, back = apart.argmin(axis=1), apart.argmin(axis=0)
    rows = np.flatnonzero(back[best] == np.arange(ours.size))
    here = apart[rows, best[rows]]
    second = np.minimum(
        np.partition(apart, 1, axis=1)[rows, 1], np.partition(apart, 1, axis=0)[1, best[rows]]
    )
    clear = rows[here < STANDS_OUT * second]
    return np.stack([ours[clear], theirs[best[clear]]], axis=1)


def profiles(graph: Graph, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """The profile of each chosen vertex: roots of counts, whose noise is alike for all counts."""
    degrees = graph.degrees
    sums = np.zeros(graph.order)
    one, other = graph.edges.T
    np.add.at(sums, one, degrees[other])
    np.add.at(sums, other, degrees[one])
    means = sums / np.maximum(degrees, 1)
    bins = [
        np.minimum(_STEPS * np.log2(np.maximum(values, 1)), _BINS - 1).astype(np.int64)
        for values in (degrees, means)
    ]
    found = np.zeros((chosen.size, 2 * _BINS))
    for row, vertex in enumerate(chosen.tolist()):
        near = graph.neighbours_of(vertex)
        found[row, :_BINS] = np.bincount(bins[0][near], minlength=_BINS)
        found[row, _BINS:] = np.bincount(bins[1][near], minlength=_BINS)
    return np.sqrt(found)


def agreements(known: Graph, release: Graph, matched: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many matched contacts of each matched vertex are contacts of its match."""
    one, other = known.edges[(matched[known.edges] >= 0).all(axis=1)].T
    ends = np.sort(np.stack([matched[one], matched[other]]), axis=0)
    keys = ends[0] * release.order + ends[1]
    place = np.minimum(np.searchsorted(release.keys, keys), max(release.size - 1, 0))
    same = release.keys[place] == keys if release.size else np.zeros(keys.size, dtype=np.bool_)
    return np.bincount(np.concatenate([one[same], other[same]]), minlength=known.order)
