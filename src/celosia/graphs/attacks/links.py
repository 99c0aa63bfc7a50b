"""Link disclosure: what a perturbed graph says about single edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say, say_of, sentence
from celosia.core.methods import PlainValues, parameter
from celosia.core.numbers import whole
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.core.report import Block, Facts, Heading, Paragraph, Table
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.attacks.result import Numbers
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod
from celosia.graphs.metrics.summary import align_vertices
from celosia.graphs.metrics.values import MetricValue
from celosia.graphs.sampling import all_non_edges, among, keys_to_pairs, non_edges, pairs_of, subset

SCORES = (Message("graphs.score.common_neighbours"), "Adamic-Adar", Message("graphs.score.katz"))
MOST_PAIRS = 20_000
"""Pairs of each kind that are scored; more are drawn from."""

_DAMPING = 0.05
"""A walk of one more step counts by this much (Katz 1953)."""


@dataclass(frozen=True, slots=True)
class LinkPosterior(PlainValues):
    """The confidence in an edge of a reader who knows only the method."""

    of_edge: float
    """The chance that a published edge is true."""
    of_non_edge: float
    """The chance that a pair without a published edge is joined in truth."""

    def __str__(self) -> str:
        return say("graphs.attack.posterior", of_edge=self.of_edge, of_non_edge=self.of_non_edge)


def link_posterior(*, order: int, size: int, changed: int) -> LinkPosterior:
    """The chances after `changed` of `size` edges were deleted and as many false ones added.

    (m - r) / m for a published edge, r / (N - m) for another pair; N = n (n - 1) / 2.

    >>> print(link_posterior(order=9, size=12, changed=2))
    a published edge is true with chance 0.8333, an absent one with 0.0833

    Raises:
        InputError: CEL-G409 the numbers are not those of a graph and a change of it.

    Reference: Ying, Wu 2008.
    """
    numbers = whole(order), whole(size), whole(changed)
    free = pairs_of(order) - size if None not in numbers else -1
    if free < 0 or not 0 <= changed <= min(size, free):
        raise InputError("CEL-G409", changed=changed, size=size, order=order)
    return LinkPosterior((size - changed) / size if size else 0.0, changed / free if free else 0.0)


def simulated_posterior(
    graph: Graph, method: GraphMethod[Graph], *, rng: Source, runs: int = 100
) -> LinkPosterior:
    """The same chances by counting: a pair drawn from those published, or not, over several runs.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.examples import g9
    >>> from celosia.graphs.perturbation.deletion import RandomPerturbation
    >>> print(simulated_posterior(g9(), RandomPerturbation(amount=2), rng=Seeded(1), runs=3))
    a published edge is true with chance 0.8333, an absent one with 0.0833
    """
    true, published, missed, absent = 0, 0, 0, 0
    for _ in range(runs):
        changed = method.apply(graph, rng=rng).graph
        kept = int(np.count_nonzero(among(graph.keys, changed.keys)))
        true += kept
        published += changed.size
        missed += graph.size - kept
        absent += pairs_of(graph.order) - changed.size
    return LinkPosterior(true / max(published, 1), missed / max(absent, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkAttack:
    """How well scores of pairs in the release tell true edges from others.

    Each number is the chance that a pair of the one kind scores higher than a pair of the other:
    0.5 is a coin, 1 certainty.
    """

    deleted: Mapping[str, MetricValue]
    """Edges that were deleted, against pairs that never were edges; empty if none was."""
    false: Mapping[str, MetricValue]
    """True edges of the release, against false ones; empty if none was added."""
    edges_deleted: int
    edges_added: int
    posterior: LinkPosterior

    @property
    def best(self) -> float:
        """The highest of all chances; 0.5 if there is nothing to tell apart.

        A score that ranks the wrong way round tells as much as its opposite.
        """
        found = [each.value for each in (*self.deleted.values(), *self.false.values())]
        return max((max(value, 1 - value) for value in found), default=0.5)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": Message("graphs.attack.links"),
            "deleted": {name: value.as_dict() for name, value in self.deleted.items()},
            "false": {name: value.as_dict() for name, value in self.false.items()},
            "edges_deleted": self.edges_deleted,
            "edges_added": self.edges_added,
            "posterior": self.posterior.as_dict(),
        }

    def blocks(self) -> list[Block]:
        """The attack as parts of a report."""
        rows = [
            [
                str(name),
                str(self.deleted.get(name, say("graphs.report.none_deleted"))),
                str(self.false.get(name, say("graphs.report.none_added"))),
            ]
            for name in SCORES
        ]
        return [
            Heading(say("graphs.report.links"), level=3),
            Paragraph(sentence(str(self))),
            Table(
                [
                    say("graphs.report.score"),
                    say("graphs.report.deleted_found"),
                    say("graphs.report.false_found"),
                ],
                rows,
                say("graphs.report.ranking"),
                numeric=(1, 2),
            ),
            Facts(
                [
                    (say("graphs.report.no_score"), sentence(str(self.posterior))),
                    (say("graphs.report.prevent"), say("graphs.report.links_prevent")),
                ]
            ),
        ]

    def __str__(self) -> str:
        return say_of("graphs.attack.links_line", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByLinks(AttackMethod[LinkAttack]):
    """The attacker guesses deleted and false edges; see `link_prediction`."""

    most_pairs: int = parameter(MOST_PAIRS, least=1)
    """How many pairs of each kind are scored."""

    method_name = "links"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> LinkAttack:
        return link_prediction(
            pair.original, pair.release, rng=rng, numbers=pair.numbers, most_pairs=self.most_pairs
        )


def link_prediction(
    original: Graph,
    release: Graph,
    *,
    rng: Source,
    numbers: Numbers | None = None,
    most_pairs: int = MOST_PAIRS,
) -> LinkAttack:
    """Score pairs by their neighbourhoods in the release, and measure what the scores disclose.

    Args:
        original: the truth.
        release: what the attacker sees.
        rng: which pairs are scored where there are many.
        numbers: the number in the release of each vertex of the original, the same by default.
        most_pairs: how many of each kind.

    Reference: Liben-Nowell, Kleinberg 2003.
    """
    seen = release if numbers is None else align_vertices(release, numbers)
    order = max(original.order, seen.order)
    truth, shown = (Graph.of(graph.edges, order=order) for graph in (original, seen))
    stayed = among(shown.keys, truth.keys)
    gone, kept = truth.keys[~stayed], truth.keys[stayed]
    false = shown.keys[~among(truth.keys, shown.keys)]
    either = Graph.from_keys(np.union1d(truth.keys, shown.keys), order=order)
    free = pairs_of(order) - either.size
    # Drawing nearly all of them one by one would take long; then they are listed.
    never = all_non_edges(either) if free <= 4 * most_pairs else non_edges(either, most_pairs, rng)
    return LinkAttack(
        deleted=_score_ranking(shown, gone, never, rng, most_pairs),
        false=_score_ranking(shown, kept, false, rng, most_pairs),
        edges_deleted=gone.size,
        edges_added=false.size,
        posterior=LinkPosterior(
            kept.size / max(shown.size, 1), gone.size / max(pairs_of(order) - shown.size, 1)
        ),
    )


def _score_ranking(
    shown: Graph, wanted: Numbers, others: Numbers, rng: Source, most: int
) -> dict[str, MetricValue]:
    from celosia.graphs.attacks._kernels import link_scores

    if not wanted.size or not others.size:
        return {}
    few = [keys[subset(keys.size, min(most, keys.size), rng)] for keys in (wanted, others)]
    scores = [
        link_scores(shown.starts, shown.neighbours, keys_to_pairs(keys, shown.order), _DAMPING)
        for keys in few
    ]
    return {
        name: ranking_chance(scores[0][:, place], scores[1][:, place])
        for place, name in enumerate(SCORES)
    }


def ranking_chance(high: NDArray[np.float64], low: NDArray[np.float64]) -> MetricValue:
    """The chance that one of the first scores above one of the second; a tie is half.

    The area under the curve of receiver and operator, with two standard errors.

    >>> ranking_chance(np.array([2.0, 1.0]), np.array([0.0, 1.0])).value
    0.875

    Reference: Hanley, McNeil 1982.
    """
    ranked = np.sort(low)
    below = np.searchsorted(ranked, high, side="left")
    level = np.searchsorted(ranked, high, side="right")
    chance = float((below + level).sum() / (2 * high.size * low.size))
    both, pair = chance / (2 - chance), 2 * chance**2 / (1 + chance)
    spread = (
        chance * (1 - chance)
        + (high.size - 1) * (both - chance**2)
        + (low.size - 1) * (pair - chance**2)
    )
    return MetricValue(chance, 2.0 * float(np.sqrt(max(spread, 0.0) / (high.size * low.size))))
