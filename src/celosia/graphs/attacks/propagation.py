"""De-anonymisation of two releases: matches spread from a few known people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say, sentence
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.core.report import Block, Facts, Heading, Paragraph, Table
from celosia.graphs.attacks.hubs import top_hubs
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.attacks.result import Numbers, checked_targets, checked_truth
from celosia.graphs.graph import Graph

THRESHOLD = 0.5
"""How far the best match must stand out, in standard deviations (Narayanan, Shmatikov 2009)."""

_MOST_ROUNDS = 50

Way = Literal["propagation", "percolation", "seedless"]

_HEADINGS = {
    "propagation": Message("graphs.report.propagation"),
    "percolation": Message("graphs.report.percolation"),
    "seedless": Message("graphs.report.seedless"),
}
_LINES = {
    "propagation": "graphs.attack.propagation",
    "percolation": "graphs.attack.percolation",
    "seedless": "graphs.attack.seedless",
}
_ATTACKERS = {
    "propagation": Message("graphs.report.propagation_attacker"),
    "percolation": Message("graphs.report.propagation_attacker"),
    "seedless": Message("graphs.report.seedless_attacker"),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Propagation:
    """What spread from the seeds, judged by the truth. Seeds count for nothing."""

    matched: NDArray[np.int64]
    """The vertex of the second graph for each of the first; -1 where none was found."""
    seeds: NDArray[np.int64]
    correct: int
    wrong: int
    unmatched: int
    """Vertices that are in both graphs and were not matched."""
    exposed: NDArray[np.int64]
    """The vertices of the first graph that were matched with themselves."""
    way: Way = "propagation"
    """How matches spread."""

    @property
    def share_correct(self) -> float:
        """The share of the vertices in both graphs, seeds apart, that were found."""
        total = self.correct + self.wrong + self.unmatched
        return self.correct / total if total else 0.0

    @property
    def precision(self) -> float:
        """The share of the matches that are true; 0 if there is none."""
        made = self.correct + self.wrong
        return self.correct / made if made else 0.0

    def as_dict(self, *, limit: int = 100) -> dict[str, Any]:
        """Plain values for JSON; exposed vertices by number, no more than `limit`."""
        return {
            "name": self.way,
            "seeds": int(self.seeds.size),
            "correct": self.correct,
            "wrong": self.wrong,
            "unmatched": self.unmatched,
            "share_correct": self.share_correct,
            "precision": self.precision,
            "exposed": self.exposed[:limit].tolist(),
        }

    def blocks(self) -> list[Block]:
        """The attack as parts of a report."""
        return [
            Heading(str(_HEADINGS[self.way]), level=3),
            Paragraph(sentence(str(self))),
            Table(
                [say("graphs.report.match"), say("graphs.report.vertices")],
                [
                    [say("graphs.report.correct"), self.correct],
                    [say("graphs.report.wrong"), self.wrong],
                    [say("graphs.report.no_match"), self.unmatched],
                ],
                say("graphs.report.in_both"),
            ),
            Facts(
                [
                    (say("graphs.report.attacker"), str(_ATTACKERS[self.way])),
                    (say("graphs.report.prevent"), say("graphs.report.propagation_prevent")),
                ]
            ),
        ]

    def __str__(self) -> str:
        return say(
            _LINES[self.way],
            seeds=self.seeds.size,
            correct=self.correct,
            wrong=self.wrong,
            unmatched=self.unmatched,
            share_correct=self.share_correct,
        )

    def __repr__(self) -> str:
        return f"Propagation({self})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByPropagation(AttackMethod[Propagation]):
    """The attacker knows another network and a few hubs in both; see `propagation`."""

    seeds: int = parameter(10, least=1)
    """How many hubs are known in both graphs."""
    threshold: float = parameter(THRESHOLD, least=0)
    """How far the best match must stand out, in standard deviations of the scores."""

    method_name = "propagation"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> Propagation:
        return propagation(
            pair.original,
            pair.release,
            seeds=top_hubs(pair.original, self.seeds).tolist(),
            rng=rng,
            numbers=pair.numbers,
            threshold=self.threshold,
            progress=progress,
        )


def propagation(
    known: Graph,
    release: Graph,
    *,
    seeds: Iterable[int],
    rng: Source,
    numbers: Numbers | None = None,
    threshold: float = THRESHOLD,
    progress: Progress = silent,
) -> Propagation:
    """Match the vertices of two graphs, starting from some that are known in both.

    A vertex is matched with the one that shares most matched neighbours with it, by 1 / sqrt of
    its degree each, where that stands out and the same holds the other way round.

    Args:
        known: the graph whose people the attacker knows.
        release: the graph to be de-anonymised.
        seeds: vertices of the first whose place in the second is known.
        rng: the order of visits.
        numbers: the number in the release of each vertex of the first graph (-1 if it is not
            there), the same by default; only seeds are used to match, the others to judge.
        threshold: how far the best must stand out, in standard deviations of the scores.
        progress: called now and then.

    Raises:
        InputError: CEL-G401 a seed is no vertex; CEL-G410 a seed is not in the release.

    Reference: Narayanan, Shmatikov 2009.
    """
    from celosia.graphs.attacks._kernels import spread

    truth, chosen = known_seeds(known, release, seeds, numbers)
    matched = np.full(known.order, -1, dtype=np.int64)
    taken = np.full(release.order, -1, dtype=np.int64)
    matched[chosen], taken[truth[chosen]] = truth[chosen], chosen
    graphs = (known.starts, known.neighbours, release.starts, release.neighbours)
    for turn in range(_MOST_ROUNDS):
        progress(Step(Message("graphs.stage.spread"), turn))
        if not spread(*graphs, rng.permutation(known.order), matched, taken, float(threshold)):
            break
    return judge(matched, truth, chosen, way="propagation")


def known_seeds(
    known: Graph, release: Graph, seeds: Iterable[int], numbers: Numbers | None
) -> tuple[Numbers, Numbers]:
    """Where each vertex is in the release, and the seeds."""
    truth = checked_truth(known, release, numbers)
    chosen = np.unique(checked_targets(known, seeds))
    if chosen.size == 0 or truth[chosen].min() < 0:
        raise InputError("CEL-G410")
    return truth, chosen


def judge(matched: Numbers, truth: Numbers, chosen: Numbers, *, way: Way) -> Propagation:
    """What was found, by the truth; seeds count for nothing."""
    judged = truth >= 0
    judged[chosen] = False
    right = judged & (matched == truth)
    wrong = judged & (matched >= 0) & ~right
    return Propagation(
        matched=matched,
        seeds=chosen,
        correct=int(right.sum()),
        wrong=int(wrong.sum()),
        unmatched=int((judged & (matched < 0)).sum()),
        exposed=np.flatnonzero(right),
        way=way,
    )
