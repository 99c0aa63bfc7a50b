"""De-anonymisation by percolation: two people match once enough matched contacts agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.attacks.hubs import top_hubs
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.attacks.propagation import Propagation, judge, known_seeds
from celosia.graphs.attacks.result import Numbers
from celosia.graphs.graph import Graph

MOST_PAIRS = 1 << 25
"""Pairs of vertices that are counted at once: 400 MB. Once full, no new pair is counted."""
MOST_MARKS = 1_000_000_000
"""Marks that are given in all, a minute or so; then the matching stops where it is."""
MOST_OF_ONE = 4_000_000
"""Marks that one matched pair may give: two hubs would spend all there are, and tell little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByPercolation(AttackMethod[Propagation]):
    """The attacker knows another network and a few hubs in both; see `percolation`."""

    seeds: int = parameter(20, least=1)
    """How many hubs are known in both graphs."""
    marks: int = parameter(4, least=1)
    """How many matched contacts must agree before two people are matched."""

    method_name = "percolation"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> Propagation:
        return percolation(
            pair.original,
            pair.release,
            seeds=top_hubs(pair.original, self.seeds).tolist(),
            marks=self.marks,
            numbers=pair.numbers,
            progress=progress,
        )


def percolation(
    known: Graph,
    release: Graph,
    *,
    seeds: Iterable[int],
    marks: int = 4,
    numbers: Numbers | None = None,
    progress: Progress = silent,
) -> Propagation:
    """Match the vertices of two graphs, starting from some that are known in both.

    Every matched pair gives a mark to each pair of its neighbours; a pair with `marks` marks whose
    vertices are free is matched, and gives marks in turn. Where few edges differ, a few seeds
    suffice for all: the matching percolates. Time and memory are bounded, see `MOST_MARKS` and
    `MOST_PAIRS`: beyond, fewer are matched.

    Args:
        known: the graph whose people the attacker knows.
        release: the graph to be de-anonymised.
        seeds: vertices of the first whose place in the second is known.
        marks: how many matched contacts must agree.
        numbers: the number in the release of each vertex of the first graph (-1 if it is not
            there), the same by default; only seeds are used to match, the others to judge.
        progress: called when the work begins.

    Raises:
        InputError: CEL-G401 a seed is no vertex; CEL-G410 a seed is not in the release.

    Reference: Yartseva, Grossglauser 2013, On the performance of percolation graph matching.
    """
    truth, chosen = known_seeds(known, release, seeds, numbers)
    progress(Step(Message("graphs.stage.spread"), 0))
    matched = np.full(known.order, -1, dtype=np.int64)
    matched[chosen] = truth[chosen]
    spread_marks(known, release, matched, chosen, marks)
    return judge(matched, truth, chosen, way="percolation")


def spread_marks(
    known: Graph, release: Graph, matched: Numbers, seeds: Numbers, marks: int
) -> None:
    """Spread the matches of the seeds, which are in `matched`, into `matched`."""
    from celosia.graphs._edge_set import EMPTY
    from celosia.graphs.attacks._percolation_kernels import percolate

    taken = np.zeros(release.order, dtype=np.bool_)
    taken[matched[seeds]] = True
    contacts = int(np.square(known.degrees.astype(np.float64)).sum())
    room = min(MOST_PAIRS, 1 << max(10, (2 * contacts).bit_length()))
    percolate(
        (known.starts, known.neighbours),
        (release.starts, release.neighbours),
        matched,
        taken,
        seeds,
        marks,
        np.full(room, EMPTY, dtype=np.int64),
        np.zeros(room, dtype=np.min_scalar_type(marks)),
        MOST_MARKS,
        MOST_OF_ONE,
    )
