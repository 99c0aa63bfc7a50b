"""Private statistics of a graph, each with interval and guarantee, paid from a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf
from typing import Any, Unpack, get_args

from celosia.accounting.budget import Budget
from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source, System
from celosia.core.release import Guarantee
from celosia.graphs.graph import Graph
from celosia.graphs.private.bounded_counts import BoundedStarCount, BoundedTriangleCount
from celosia.graphs.private.counts import (
    BoundedEdgeCount,
    EdgeCount,
    StarCount,
    SubgraphCount,
    TriangleCount,
)
from celosia.graphs.private.degree_histograms import (
    BoundedDegreeHistogram,
    DegreeHistogram,
    Strategy,
)
from celosia.graphs.private.degree_sequence import DegreeSequence
from celosia.graphs.private.joint_degrees import JointDegrees
from celosia.graphs.private.local_sensitivity import Sensitive
from celosia.graphs.private.mechanism import ONE_EDGE, GraphMechanism, Level, check_graph
from celosia.graphs.private.projection import CAPS
from celosia.mechanisms.guarantees import guarantee_of, stated_epsilon_delta
from celosia.mechanisms.noisy_answer import (
    AnswerOptions,
    NoisyAnswer,
    ReleaseOptions,
    release_promised,
)
from celosia.mechanisms.values import format_rounded_up

Cap = int | Sequence[int]

HUGE = 700
"""An epsilon whose power of e is beyond all decimals."""


def release(
    graph: Graph,
    mechanism: GraphMechanism[Any],
    *,
    confidence: float = 0.95,
    budget: Budget | None = None,
    rng: Source | None = None,
    progress: Progress = silent,
) -> NoisyAnswer:
    """One answer about a graph, with its interval and guarantee.

    Args:
        graph: stays as it is.
        mechanism: what to ask, with its price.
        confidence: of the interval, where there is one.
        budget: pays for the answer; made for the same neighbours, `ONE_EDGE` or `ONE_VERTEX`.
        rng: where randomness comes from; a seed makes the answer a simulation.
        progress: reports how far the count of triangles has come.

    Raises:
        InputError: CEL-G300 not a graph; CEL-G304 too large a graph for this count.
        BudgetExceeded: the budget does not allow it.

    >>> from celosia.core.randomness import Seeded
    >>> graph = Graph.of([(0, 1), (1, 2)])
    >>> print(release(graph, EdgeCount(epsilon=1), rng=Seeded(1)))
    number of edges: 2 (95% interval 0 to 5); 1-differential privacy
    """
    options = ReleaseOptions(
        question=mechanism.question,
        confidence=confidence,
        budget=budget,
        rng=System() if rng is None else rng,
    )
    options.check_affordable(mechanism)
    counted: Graph | Sensitive = check_graph(graph)
    if isinstance(mechanism, SubgraphCount):  # takes long in large graphs
        counted = mechanism.sensitive(graph, progress=progress)
    promise = graph_promise(mechanism, simulation=options.rng.simulation)
    name = "celosia.graphs.private.release"
    return release_promised(mechanism, counted, options, promise, name)


def graph_promise(mechanism: GraphMechanism[Any], *, simulation: bool = False) -> Guarantee:
    """What one answer about a graph promises, in words that are true of graphs."""
    made = guarantee_of(mechanism, simulation=simulation)
    open_points: tuple[str, ...] = (Message("graphs.note.beyond_cap"),)
    unit, one = Message("graphs.unit.vertex"), Message("graphs.unit.a_vertex")
    if mechanism.neighbours == ONE_EDGE:
        unit, one = Message("graphs.unit.edge"), Message("graphs.unit.an_edge")
        open_points = (
            Message("graphs.note.public_vertices"),
            Message("graphs.note.many_edges"),
        )
    return replace(
        made,
        unit=unit,
        neighbours=Message("graphs.neighbours.one", unit=one),
        protects=_protects(mechanism, one),
        leaves_open=(
            Message("graphs.note.one_budget"),
            Message("graphs.note.inference"),
            *open_points,
        ),
    )


def _protects(mechanism: GraphMechanism[Any], one: Message) -> Message:
    """The ratio of probabilities that an answer keeps to: e to the power of epsilon."""
    epsilon, delta = stated_epsilon_delta(mechanism)
    assert epsilon is not None, "mechanisms of graphs have an epsilon"
    factor = format_rounded_up(exp(epsilon) if epsilon < HUGE else inf, 4)
    if not delta:
        return Message("graphs.promise.answer", unit=one, factor=factor)
    chance = format_rounded_up(delta)
    return Message("graphs.promise.answers", unit=one, factor=factor, delta=chance)


def edge_count(
    graph: Graph,
    *,
    epsilon: float,
    level: Level = "edge",
    cap: Cap | None = None,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """The number of edges.

    Args:
        graph: stays as it is.
        epsilon: from 1e-9 to 100.
        level: what is hidden, one `edge` or one `vertex` with all its edges.
        cap: for a vertex: how many of its edges count; of several, one is chosen privately. The
            powers of two from 2 to 1024 where none is given.
        options: `confidence`, `budget` and `rng`, as of `release`.

    Raises:
        InputError: CEL-G301 no such level; CEL-G302 not a cap.
    """
    mechanism: GraphMechanism[Any]
    if check_level(level) == "vertex":
        mechanism = BoundedEdgeCount(epsilon=epsilon, cap=_caps(cap))
    else:
        _no_cap(cap)
        mechanism = EdgeCount(epsilon=epsilon)
    return release(graph, mechanism, **options)


def degree_histogram(
    graph: Graph,
    *,
    epsilon: float,
    level: Level = "edge",
    cap: Cap | None = None,
    strategy: Strategy = "cumulative",
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """The number of vertices of each degree.

    Args:
        graph: stays as it is.
        epsilon: from 1e-9 to 100.
        level: what is hidden, one `edge` or one `vertex` with all its edges.
        cap: for an edge: the degree from which on vertices are counted together. For a vertex: as
            in `edge_count`.
        strategy: `cumulative` or `bins`, see `DegreeHistogram`.
        options: `confidence`, `budget` and `rng`, as of `release`.

    Raises:
        InputError: CEL-G301 no such level; CEL-G302 not a cap; CEL-G305 no such strategy.
    """
    mechanism: GraphMechanism[Any]
    if check_level(level) == "vertex":
        mechanism = BoundedDegreeHistogram(epsilon=epsilon, cap=_caps(cap), strategy=strategy)
    else:
        mechanism = DegreeHistogram(epsilon=epsilon, cap=cap, strategy=strategy)  # type: ignore[arg-type]
    return release(graph, mechanism, **options)


def degree_sequence(
    graph: Graph,
    *,
    epsilon: float,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """The degrees in rising order, hiding one edge; see `DegreeSequence`."""
    mechanism = DegreeSequence(epsilon=epsilon)
    return release(graph, mechanism, **options)


def triangle_count(
    graph: Graph,
    *,
    epsilon: float,
    delta: float | None = None,
    level: Level = "edge",
    cap: Cap | None = None,
    progress: Progress = silent,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """The number of triangles.

    Args:
        graph: stays as it is.
        epsilon: from 1e-9 to 100.
        delta: for an edge: noise by smooth sensitivity; the ladder where none is given.
        level: what is hidden, one `edge` or one `vertex` with all its edges.
        cap: for a vertex: how many of its triangles count, see `BoundedTriangleCount`; of several,
            one is chosen privately. The powers of two from 2 to 1024 where none is given.
        progress: reports how far the count has come.
        options: `confidence`, `budget` and `rng`, as of `release`.

    Raises:
        InputError: CEL-G301 no such level; CEL-G302 not a cap, or a delta beside a cap.
    """
    mechanism: GraphMechanism[Any]
    if check_level(level) == "vertex":
        _no_delta(delta)
        mechanism = BoundedTriangleCount(epsilon=epsilon, cap=_caps(cap))
    else:
        _no_cap(cap)
        mechanism = TriangleCount(epsilon=epsilon, delta=delta)
    return release(graph, mechanism, progress=progress, **options)


def star_count(
    graph: Graph,
    *,
    k: int = 2,
    epsilon: float,
    delta: float | None = None,
    level: Level = "edge",
    cap: Cap | None = None,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """The number of stars with k rays; arguments as of `triangle_count`, caps as in `edge_count`.

    Raises:
        InputError: CEL-G301 no such level; CEL-G302 not a cap, or a delta beside a cap; CEL-G304
            not a number of rays, or too large a graph for so many.
    """
    mechanism: GraphMechanism[Any]
    if check_level(level) == "vertex":
        _no_delta(delta)
        mechanism = BoundedStarCount(epsilon=epsilon, cap=_caps(cap), k=k)
    else:
        _no_cap(cap)
        mechanism = StarCount(epsilon=epsilon, delta=delta, k=k)
    return release(graph, mechanism, **options)


def joint_degrees(
    graph: Graph,
    *,
    epsilon: float,
    cap: int,
    **options: Unpack[AnswerOptions],
) -> NoisyAnswer:
    """The number of edges by the degrees of their ends, hiding one edge; see `JointDegrees`."""
    mechanism = JointDegrees(epsilon=epsilon, cap=cap)
    return release(graph, mechanism, **options)


def check_level(level: object) -> Level:
    """Refuse what is neither `edge` nor `vertex`."""
    for known in get_args(Level):
        if level == known:
            return known  # type: ignore[no-any-return]
    raise InputError("CEL-G301", level=level, hint=did_you_mean(str(level), get_args(Level)))


def _caps(cap: Cap | None) -> int | tuple[int, ...]:
    return CAPS if cap is None else cap if isinstance(cap, int) else tuple(cap)


def _no_cap(cap: object) -> None:
    if cap is not None:
        raise InputError("CEL-G302.idle")


def _no_delta(delta: object) -> None:
    if delta is not None:
        raise InputError("CEL-G302.delta")
