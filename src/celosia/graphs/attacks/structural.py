"""Structural attacks: by degree, vertex refinement and neighbourhood."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.attacks.isomorphism import neighbourhood_classes
from celosia.graphs.attacks.method import AttackedGraph, AttackMethod
from celosia.graphs.attacks.result import (
    GraphAttack,
    Numbers,
    candidate_sizes,
    checked_targets,
    checked_truth,
    classes,
    hits,
)
from celosia.graphs.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class ByDegree(AttackMethod[GraphAttack]):
    """The attacker knows how many contacts each target has; see `degree`."""

    method_name = "degree"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> GraphAttack:
        return degree(pair.original, pair.release, numbers=pair.numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRefinement(AttackMethod[GraphAttack]):
    """The attacker knows the degrees of contacts, and so on; see `refinement`."""

    rounds: int = parameter(2, least=0)
    """1 for degrees, 2 for the degrees of contacts, and so on."""

    method_name = "refinement"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> GraphAttack:
        return refinement(pair.original, pair.release, rounds=self.rounds, numbers=pair.numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByNeighbourhood(AttackMethod[GraphAttack]):
    """The attacker knows which contacts of each target know each other; see `neighbourhood`."""

    method_name = "neighbourhood"

    def run(self, pair: AttackedGraph, *, rng: Source, progress: Progress = silent) -> GraphAttack:
        return neighbourhood(pair.original, pair.release, numbers=pair.numbers, progress=progress)


STRUCTURAL = (ByDegree(), ByRefinement(), ByNeighbourhood())
"""Attacks that are run where none is named."""


def degree(
    original: Graph,
    release: Graph,
    *,
    targets: Iterable[int] | None = None,
    numbers: Numbers | None = None,
) -> GraphAttack:
    """The attacker knows how many contacts each target has.

    Args:
        original: what the attacker knows.
        release: what is published.
        targets: the vertices attacked; all where none are named.
        numbers: the number in the release of each vertex of the original, the same by default.

    >>> from celosia.graphs.examples import g9
    >>> print(degree(g9(), g9()))
    degree: 2 of 9 targets exposed (22.2%), smallest candidate set 1, a guess is right in 44.4%
    """
    return attack_by_classes(
        classes(original.degrees, release.degrees),
        checked_targets(original, targets),
        checked_truth(original, release, numbers),
        name=Message("graphs.attack.degree"),
        assumption=Message("graphs.attack.degree_knows"),
        mitigation=Message("graphs.attack.degree_prevent"),
    )


def refinement_classes(*graphs: Graph, rounds: int | None = None) -> tuple[Numbers, ...]:
    """Classes by H_i, numbered alike in all graphs; without `rounds` by H*, where nothing changes.

    H_0 is the same for all vertices, H_1 the degree, H_i the multiset of H_(i-1) around a vertex.

    Raises:
        InputError: CEL-I060 the rounds are not a whole number of at least 0.

    Reference: Hay, Miklau, Jensen, Towsley, Weis 2008.
    """
    from celosia.graphs.attacks._kernels import neighbour_sums

    number = None if rounds is None else ByRefinement(rounds=rounds).rounds
    codes = tuple(np.zeros(graph.order, dtype=np.int64) for graph in graphs)
    count, done = 1, 0
    while number is None or done < number:
        sums = [
            neighbour_sums(graph.starts, graph.neighbours, code)
            for graph, code in zip(graphs, codes, strict=True)
        ]
        codes = classes(*sums)
        found = max((int(code.max(initial=-1)) for code in codes), default=-1) + 1
        done += 1
        if found <= count and done > 1:  # each round refines the one before: nothing will change
            break
        count = found
    return codes


def refinement(
    original: Graph,
    release: Graph,
    *,
    rounds: int | None = None,
    targets: Iterable[int] | None = None,
    numbers: Numbers | None = None,
) -> GraphAttack:
    """The attacker knows H_i of each target, such as the degrees of its contacts (i = 2).

    Args:
        original: what the attacker knows.
        release: what is published.
        rounds: i; without it H*, all that counting contacts of contacts can tell.
        targets: the vertices attacked; all where none are named.
        numbers: the number in the release of each vertex of the original, the same by default.

    >>> from celosia.graphs.examples import g9
    >>> refinement(g9(), g9(), rounds=2).sizes.tolist()
    [1, 2, 1, 1, 2, 1, 2, 2, 1]
    """
    return attack_by_classes(
        refinement_classes(original, release, rounds=rounds),
        checked_targets(original, targets),
        checked_truth(original, release, numbers),
        name=Message("graphs.attack.refinement", rounds="*" if rounds is None else rounds),
        assumption=Message("graphs.attack.refinement_knows_all")
        if rounds is None
        else Message("graphs.attack.refinement_knows", rounds=rounds),
        mitigation=Message("graphs.attack.refinement_prevent"),
    )


def neighbourhood(
    original: Graph,
    release: Graph,
    *,
    targets: Iterable[int] | None = None,
    numbers: Numbers | None = None,
    progress: Progress = silent,
) -> GraphAttack:
    """The attacker knows which contacts of each target know each other.

    Args:
        original: what the attacker knows.
        release: what is published.
        targets: the vertices attacked; all where none are named.
        numbers: the number in the release of each vertex of the original, the same by default.
        progress: called now and then.

    >>> from celosia.graphs.examples import dan, vertices
    >>> found = neighbourhood(dan(), dan())
    >>> set(found.exposed.tolist()) == set(vertices(dan(), ["Dan", "Joe"]).tolist())
    True
    """
    progress(Step(Message("graphs.stage.compare"), 0, 1))
    graphs = (original,) if release is original else (original, release)
    codes, undecided = neighbourhood_classes(*graphs, progress=progress)
    codes = codes if len(codes) == 2 else codes * 2
    return attack_by_classes(
        codes,
        checked_targets(original, targets),
        checked_truth(original, release, numbers),
        name=Message("graphs.attack.neighbourhood"),
        assumption=Message("graphs.attack.neighbourhood_knows"),
        mitigation=Message("graphs.attack.neighbourhood_prevent"),
        facts={Message("graphs.fact.compared_in_part"): undecided} if undecided else {},
    )


def attack_by_classes(
    codes: tuple[Numbers, ...],
    targets: Numbers,
    truth: Numbers,
    *,
    facts: dict[str, int | float | str] | None = None,
    **words: str,
) -> GraphAttack:
    """The attack that knows the class of each target, with one numbering for both graphs."""
    known, published = codes
    inside: NDArray[np.bool_] = hits(known, published, truth)
    return GraphAttack(
        targets=targets,
        sizes=candidate_sizes(known, published)[targets],
        hit=inside[targets],
        facts=facts or {},
        **words,
    )
