"""The account of a published graph: re-identification risk and utility."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.graphs.attacks import GraphAttack, degree, neighbourhood, refinement
from celosia.graphs.drawing import MOST_DRAWN
from celosia.graphs.generalisation import GeneralisedGraph
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import GraphUtility, compare
from celosia.graphs.metrics.paths import MOST_STEPS
from celosia.graphs.metrics.summary import align_vertices
from celosia.graphs.uncertain import UncertainGraph

MOST_NEIGHBOURHOODS = 20_000
"""Vertices up to which neighbourhoods are compared: beyond, degrees and their refinement tell."""

STEPS = MOST_STEPS // 8
"""How much walking a release is worth; `celosia graph assess` takes its time, and tells better."""

MOST_COMPARED = 2_000_000
"""Edges up to which a release is compared with its original by every metric: ten million take
minutes, and `celosia graph assess` can take them."""

WITHOUT_MATCH = ("degree_total_variation", "degree_earth_mover")
"""What compares two graphs without knowing which vertex is which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAccount:
    """The comparison of a published graph with its original."""

    utility: GraphUtility | None = None
    """None of a graph with more than two million edges, or where nothing was to be measured."""
    attacks: tuple[GraphAttack, ...] = field(default=())
    before: tuple[GraphAttack, ...] = field(default=())
    """The same attacks on the original itself, under numbers for names: what changed nothing."""
    drawn: tuple[Graph, Graph] | None = field(default=None, repr=False)
    """A small original and its release, vertex by vertex, for a drawing of both in the report."""
    matched: bool = True
    """Whether it is known which vertex is which: not of super-vertices, nor of a graph that is new,
    where only numbers of the whole graph mean anything."""
    world: bool = False
    """Whether a random world of the release was compared, for the release is no plain graph."""

    def figures(self) -> dict[str, Any]:
        """What a certificate may hold: shares and counts of edges, no number of a vertex."""
        found: dict[str, Any] = {
            each.name: {
                "smallest": each.smallest,
                "share_exposed": each.share_exposed,
                "chance": each.chance,
            }
            for each in self.attacks
        }
        if self.utility is None:
            return found
        shares = self.utility.shares
        utility = shares if self.matched else {name: shares[name] for name in WITHOUT_MATCH}
        if self.matched:
            found["edges"] = self.utility.edges.as_dict()
        return found | {"utility": utility}


def account(
    original: Graph,
    published: Graph | UncertainGraph | GeneralisedGraph,
    *,
    numbers: NDArray[np.int64] | None,
    matched: bool = True,
    rng: Source,
    progress: Progress,
) -> GraphAccount:
    """Compare a published graph with its original.

    Args:
        original: the graph before.
        published: what is released.
        numbers: the number in the release of each vertex of the original; None where it is the
            same, or where the release has no vertices.
        matched: False where no vertex of the release is one of the original.
        rng: where worlds and samples are drawn from.
        progress: called as the work proceeds.
    """
    progress(Step(Message("graphs.stage.measure"), 0))
    world = published if isinstance(published, Graph) else published.sample_world(rng)
    utility = None
    if max(original.size, world.size) <= MOST_COMPARED:
        utility = compare(
            original, world, rng=rng, numbers=numbers, most_steps=STEPS, progress=progress
        )
    if isinstance(published, GeneralisedGraph) or not matched:
        return GraphAccount(utility=utility, world=world is not published, matched=False)
    drawn = None
    if max(original.order, world.order) <= MOST_DRAWN:
        drawn = original, world if numbers is None else align_vertices(world, numbers)
    return GraphAccount(
        utility=utility,
        attacks=_attacks(original, world, numbers),
        before=_attacks(original, original, None),
        drawn=drawn,
        world=isinstance(published, UncertainGraph),
    )


def _attacks(
    original: Graph, world: Graph, numbers: NDArray[np.int64] | None
) -> tuple[GraphAttack, ...]:
    found = [
        degree(original, world, numbers=numbers),
        refinement(original, world, rounds=2, numbers=numbers),
    ]
    if original.order <= MOST_NEIGHBOURHOODS:
        found.append(neighbourhood(original, world, numbers=numbers))
    return tuple(found)
