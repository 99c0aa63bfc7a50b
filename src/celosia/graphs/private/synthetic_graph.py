"""A synthetic graph from private statistics of another graph."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs._edge_set import edge_set
from celosia.graphs.graph import Graph
from celosia.graphs.kdegree.realisation import construct_graph
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult
from celosia.graphs.perturbation.exchange import Exchanges
from celosia.graphs.private.community_graph import Wanted, community_graph
from celosia.graphs.private.community_structure import (
    CommunityStrength,
    DampedSpectrum,
    depth_of,
    slack_of,
)
from celosia.graphs.private.counts import TriangleCount
from celosia.graphs.private.degree_sequence import DegreeSequence, graphical_degrees
from celosia.graphs.private.joint_degrees import MOST, JointDegrees
from celosia.graphs.private.mechanism import check_graph
from celosia.mechanisms.parameters import LEAST_EPSILON, MOST_EPSILON, check_epsilon
from celosia.mechanisms.values import format_rounded_up

Model = Literal["degrees", "joint", "communities"]

SWITCHES = 10
"""For each edge: after about so many a graph forgets how it was made."""
GUIDED = 50
"""Attempts for each edge to bring the joint degrees nearer to what was released."""
SPLIT = {
    "degrees": Fraction(3, 10),
    "triangles": Fraction(1, 4),
    "spectrum": Fraction(3, 10),
    "strength": Fraction(3, 20),
}
"""What each release of the model communities takes of epsilon."""
DAMPING = 4
"""The damping of the spectrum, in mean degrees: the more, the less a single edge matters."""
CAP = 8
"""From which degree on ends count together, where nothing else is asked for."""

SURE = 0.9
"""How surely a wished number of edges differs by more than noise before switches go there."""

_BATCH = 1 << 20

_ALIKE: dict[Model, tuple[Message, ...]] = {
    "degrees": (Message("graphs.open.degrees_alike"),),
    "joint": (Message("graphs.open.joint_alike"),),
    "communities": (
        Message("graphs.open.communities_alike"),
        Message("graphs.open.computed_spectrum"),
    ),
}
"""What a graph of each model has of the given one, and what its promise rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateGraph(GraphMethod[Graph]):
    """A random graph whose degrees are those of the given graph with noise.

    The degrees are released as by `DegreeSequence`, lowered to the nearest that some graph has,
    realised (Havel, Hakimi) in a random order of the vertices, and mixed by random switches. With
    the model `joint` half of epsilon goes to `JointDegrees`, and further switches bring the edges
    between vertices of each two degrees as near to their noisy number as they can. With the model
    `communities` epsilon goes to the degrees (30 %), to `TriangleCount` (25 %), to `DampedSpectrum`
    (30 %) and to `CommunityStrength` (15 %), and a graph with communities is made that has these
    numbers, see `community_graph`. All but the releases only look at what was released.

    Guarantee: epsilon-DP with delta 0 for one edge; the number of vertices is public. Names and
    attributes are left out.

    Reference: Hay, Li, Miklau, Jensen 2009; Mahadevan, Krioukov, Fall, Vahdat 2006 (dK-graphs);
    Wang, Wu 2013.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.generators import ring
    >>> made = PrivateGraph(epsilon=2).apply(ring(100), rng=Seeded(1)).graph
    >>> made.order, 80 < made.size < 120
    (100, True)
    """

    epsilon: float = parameter(least=float(LEAST_EPSILON), most=float(MOST_EPSILON), start=1)
    model: Model = "degrees"
    """`degrees`, or `joint` for them and which of them are joined: for large graphs in which like
    joins like or unlike; elsewhere the half of epsilon that it takes from the degrees is missed. Or
    `communities` for degrees, triangles and communities: for a thousand vertices or more."""
    cap: int | None = parameter(None, least=1, most=MOST)
    """For the model joint: from which degree on ends count together; 8 where it is not given."""

    method_name = "private-graph"
    randomised = True
    is_private = True

    def check(self) -> None:
        """Refuse a cap that is of no use, and an epsilon whose half is too small."""
        if self.cap is not None and self.model != "joint":
            raise InputError("CEL-G306")
        if self.model == "communities":
            for part in SPLIT.values():
                check_epsilon(check_epsilon(self.epsilon) * part)
        else:
            self._mechanisms()

    def _mechanisms(self) -> tuple[DegreeSequence, JointDegrees | None]:
        price = check_epsilon(self.epsilon)
        if self.model == "degrees":
            return DegreeSequence(epsilon=self.epsilon), None
        half: Any = price / 2  # a fraction: two halves make epsilon
        return DegreeSequence(epsilon=half), JointDegrees(
            epsilon=half, cap=CAP if self.cap is None else self.cap
        )

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        if self.model == "communities":
            return self._with_communities(check_graph(graph), rng, progress)
        sequence, joint = self._mechanisms()
        released = sequence.release(check_graph(graph), rng=rng)
        wished = None if joint is None else joint.release(graph, rng=rng)
        degrees = graphical_degrees(released)
        made = construct_graph(degrees[rng.permutation(degrees.size)], rng=rng)
        assert made is not None, "the degrees are those of a graph"
        session = Exchanges(made, "switch")
        if made.size > 1:  # a star or a full graph has no switch, and stays as it is
            count = SWITCHES * made.size
            session.run(count, total=count, rng=rng, progress=progress)
        made = session.result()
        facts: dict[str, Any] = {
            Message("graphs.fact.vertices"): made.order,
            Message("graphs.fact.edges_after"): made.size,
            Message("graphs.fact.ends_lowered"): int(released.sum() - degrees.sum()),
            Message("graphs.fact.switches"): int(session.tally[0]),
        }
        if joint is not None and wished is not None:
            made, facts[Message("graphs.fact.guided_switches")] = _guide(
                made, joint, wished, rng, progress
            )
        return MethodResult(graph=made, facts=facts, kept=Message("graphs.kept.vertices"))

    def _with_communities(self, graph: Graph, rng: Source, progress: Progress) -> GraphChange:
        price: Any = check_epsilon(self.epsilon)  # fractions: the parts make epsilon
        released = DegreeSequence(epsilon=price * SPLIT["degrees"]).release(graph, rng=rng)
        degrees = graphical_degrees(released)
        triangles = TriangleCount(epsilon=price * SPLIT["triangles"]).release(graph, rng=rng)
        ends = int(degrees.sum())
        spectrum = DampedSpectrum(
            epsilon=price * SPLIT["spectrum"],
            damping=max(DAMPING * ends / max(graph.order, 1), 1.0),
            depth=depth_of(graph.order),
        )
        strength = CommunityStrength(epsilon=price * SPLIT["strength"], slack=slack_of(ends))
        wanted = Wanted(
            degrees=degrees,
            triangles=max(triangles, 0),
            spectrum=spectrum,
            sums=spectrum.release(graph, rng=rng),
            strength=strength.release(graph, rng=rng),
        )
        made = community_graph(wanted, rng=rng, progress=progress)
        facts: dict[str, Any] = {
            Message("graphs.fact.vertices"): made.order,
            Message("graphs.fact.edges_after"): made.size,
            Message("graphs.fact.ends_lowered"): int(released.sum() - made.degrees.sum()),
            Message("graphs.fact.triangles_wanted"): wanted.triangles,
            Message("graphs.fact.epsilon_degrees"): float(price * SPLIT["degrees"]),
            Message("graphs.fact.epsilon_triangles"): float(price * SPLIT["triangles"]),
            Message("graphs.fact.epsilon_spectrum"): float(price * SPLIT["spectrum"]),
            Message("graphs.fact.epsilon_strength"): float(price * SPLIT["strength"]),
        }
        return MethodResult(graph=made, facts=facts, kept=Message("graphs.kept.vertices"))

    def promise(self, graph: Graph) -> str:
        amount = format_rounded_up(self.epsilon)
        return Message("graphs.promise.private", amount=amount)

    def leaves_open(self) -> tuple[str, ...]:
        return (
            Message("graphs.open.one_edge"),
            Message("graphs.open.public_number"),
            *_ALIKE[self.model],
        )


def _guide(
    graph: Graph, joint: JointDegrees, wished: dict[str, int], rng: Source, progress: Progress
) -> tuple[Graph, int]:
    """The graph after switches towards wished joint degrees; every degree stays. How many."""
    from celosia.graphs.private._kernels import guided_switches

    excess = np.zeros((joint.cap + 1, joint.cap + 1), dtype=np.int64)
    low, high = np.array(joint.cells).T
    # Noise is below 2**62 and counts below 2**62: no difference overflows.
    apart = joint.counts(graph) - np.array(list(wished.values()))
    # What may well be noise is not followed.
    apart = np.sign(apart) * np.maximum(np.abs(apart) - joint.law.bound(SURE), 0)
    excess[low, high] = excess[high, low] = apart
    keys = graph.keys.copy()
    table, kinds = edge_set(keys), np.minimum(graph.degrees, joint.cap)
    total = GUIDED * graph.size if graph.size > 1 else 0
    done = 0
    for first in range(0, total, _BATCH):
        progress(Step(Message("graphs.stage.guided"), first, total))
        count = min(_BATCH, total - first)
        places, turned = rng.integers(graph.size, 2 * count), rng.integers(2, count) == 1
        made = guided_switches(keys, table, graph.order, kinds, excess, places, turned)
        done += made
        if not made:
            break
    return graph.with_keys(keys), int(done)
