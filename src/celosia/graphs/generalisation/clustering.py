"""SaNGreeA: groups of k vertices with like neighbours and like attributes, found greedily."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.generalisation import partition
from celosia.graphs.generalisation.attributes import (
    Attributes,
    Blocks,
    code_attributes,
    schema_of,
    schema_parameter,
)
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.tables.schema import Schema

_AT_A_TIME = 64
"""Groups that are made between two reports of progress, in graphs of up to 10,000 vertices."""
MOST_LOOKS = 500_000_000
"""Neighbours of neighbours that are looked at in all: a few seconds; see `crowd_limit`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaNGreeA(GraphMethod[GeneralisedGraph]):
    """Groups of at least k vertices, grown one vertex at a time from the greatest degree down.

    The next vertex of a group is the one that costs least: `alpha` times how far the attributes of
    the group would be generalised, plus `beta` times how much its neighbours differ from those of
    the group. Of equal costs the lowest number is taken, so the method draws nothing. Vertices
    that are left over at the end join the group that costs least.

    Neighbours that two vertices share count as long as all of them together are looked at no more
    than half a billion times; beyond, as with a million vertices and hubs of thousands, the largest
    hubs are left out of this count, which only changes who is grouped with whom. With attributes,
    time grows with the combinations of their values that occur.

    Guarantee: every published super-vertex stands for at least k vertices, which the release
    does not distinguish.

    Reference: Campan, Truta 2009.
    """

    k: int = parameter(least=2, start=3)
    """The least number of vertices of a group."""
    alpha: float = parameter(0.0, least=0, is_asked=False)
    """The weight of attributes; above 0 it needs a schema."""
    beta: float = parameter(1.0, least=0, is_asked=False)
    """The weight of neighbours; the two weights add up to 1."""
    schema: Schema | str | None = schema_parameter()  # noqa: RUF009 - it declares a field
    """Which attributes of vertices are quasi-identifiers: a schema of tables, or its file."""

    method_name = "sangreea"
    randomised = False
    gaps = partition.LEFT_OPEN

    def check(self) -> None:
        """Refuse weights that do not add up to 1, and a weight of attributes without a schema."""
        if not isclose(self.alpha + self.beta, 1):
            raise InputError("CEL-G215.weights", alpha=self.alpha, beta=self.beta)
        if self.alpha and self.schema is None:
            raise InputError("CEL-G215.no_schema")

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[GeneralisedGraph]:
        k = partition.check_k(self.k, graph)
        attributes = code_attributes(graph, schema_of(self.schema))
        found = greedy_blocks(graph, k, alpha=self.alpha, attributes=attributes, progress=progress)
        return partition.publish_partition(graph, found, k=k, attributes=attributes)

    def promise(self, graph: Graph) -> str | None:
        return partition.promise_of(self.k)

    def as_dict(self) -> dict[str, Any]:
        return plain_parameters(self)


def plain_parameters(method: GraphMethod[GeneralisedGraph]) -> dict[str, Any]:
    """The parameters of a method, of its schema the names of the quasi-identifiers."""
    parameters = GraphMethod.as_dict(method)
    schema = parameters.get("schema")
    if isinstance(schema, Schema):
        names = [each.name for each in schema.quasi_identifiers]
        parameters["schema"] = {"quasi-identifiers": names}
    return parameters


def greedy_blocks(
    graph: Graph,
    k: int,
    *,
    alpha: float = 0.0,
    attributes: Attributes | None = None,
    progress: Progress = silent,
) -> Blocks:
    """The groups of SaNGreeA, in the order in which they are made; secret."""
    from celosia.graphs.generalisation._greedy_kernels import clusters

    known = _encode_attributes(graph, attributes)
    state = graph.degrees << 32
    block = np.full(graph.order, -1, dtype=np.int64)
    progress_made = np.zeros(2, dtype=np.int64)
    steps = (
        (graph.starts, graph.neighbours, graph.neighbours.copy(), graph.starts[1:].copy()),
        np.argsort(-graph.degrees, kind="stable"),
        _profiles(graph.degrees, known if alpha > 0 else None),
        known,
        (alpha, 1.0 - alpha),
        k,
        crowd_limit(graph.degrees),
        state,
        block,
        progress_made,
        max(_AT_A_TIME, graph.order // 200),
    )
    while clusters(*steps):
        progress(Step(Message("graphs.stage.group"), int((block >= 0).sum()), graph.order))
    last = int(progress_made[1]) - 1
    left = np.flatnonzero(block == last)
    if left.size < k:
        block[left] = -1
        for vertex in left.tolist():
            block[vertex] = _closest(graph, block, vertex, known, (alpha, 1.0 - alpha))
    return block


def _profiles(
    degrees: NDArray[np.int64],
    known: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]] | None,
) -> tuple[NDArray[np.int64], ...]:
    """Vertices by what is known of them, as the kernel `clusters` takes them."""
    profile = np.zeros(degrees.size, dtype=np.int64)
    for column in () if known is None else (*known[0], *known[1][:, 0]):
        values, place = np.unique(column, return_inverse=True)
        profile = np.unique(profile * values.size + place, return_inverse=True)[1]
    ranked = np.lexsort((degrees, profile))
    starts = np.concatenate([[0], np.cumsum(np.bincount(profile, minlength=1))])
    places = np.empty_like(ranked)
    places[ranked] = np.arange(degrees.size)
    begin, none = starts[:-1], np.zeros(starts.size - 1, dtype=np.int64)
    return (profile, ranked, starts, places, begin.copy(), begin.copy(), none, none.copy())


def crowd_limit(degrees: NDArray[np.int64], looks: int = MOST_LOOKS) -> int:
    """The most neighbours of a vertex that count as shared by them.

    A vertex with d neighbours is looked at d times, and each time all of them are: d * d looks. Up
    to four times the mean they always count.

    >>> crowd_limit(np.array([1, 3, 1000]), looks=10), crowd_limit(np.array([1, 3, 1000]))
    (1338, 1000)
    >>> crowd_limit(np.array([1, 1, 1, 1, 1, 1, 1, 3, 1000]), looks=16)
    999
    """
    ranked = np.sort(degrees)
    allowed = np.flatnonzero(np.cumsum(np.square(ranked.astype(np.float64))) <= looks)
    if allowed.size == ranked.size:
        return int(ranked.max(initial=0))
    return max(int(ranked[allowed.size]) - 1, int(4 * ranked.mean()))


def _encode_attributes(
    graph: Graph, attributes: Attributes | None
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    if attributes is None:
        return (
            np.empty((0, graph.order)),
            np.empty((0, 1, graph.order), dtype=np.int32),
            np.empty(0, dtype=np.int64),
        )
    return attributes.numbers, attributes.ancestors, attributes.heights


def _closest(
    graph: Graph,
    block: Blocks,
    vertex: int,
    known: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]],
    weights: tuple[float, float],
) -> int:
    """The group that costs least with one more vertex, the first of equal ones."""
    from celosia.graphs.generalisation._greedy_kernels import TIE

    inside = np.flatnonzero(block >= 0)
    groups = block[inside]
    sizes = np.bincount(groups)
    near = graph.neighbours_of(vertex)
    met = [near, *(graph.neighbours_of(middle) for middle in near.tolist())]
    shared = np.bincount(np.concatenate(met), minlength=graph.order)
    apart = graph.degrees[vertex] + graph.degrees - 2 * shared
    total = np.bincount(groups, weights=apart[inside])
    cost = weights[1] * total / sizes / max(graph.order - 2, 1)
    if weights[0] > 0:
        cost = cost + weights[0] * _widening(inside, groups, vertex, known)
    return int(np.flatnonzero(cost <= cost.min() + TIE)[0])


def _widening(
    inside: NDArray[np.int64],
    groups: NDArray[np.int64],
    vertex: int,
    known: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]],
) -> NDArray[np.float64]:
    """How far each group is generalised with the vertex in it, from 0 to 1."""
    numbers, ancestors, heights = known
    count = int(groups.max()) + 1
    total = np.zeros(count)
    for row in numbers:
        least, most = np.full(count, row[vertex]), np.full(count, row[vertex])
        np.minimum.at(least, groups, row[inside])
        np.maximum.at(most, groups, row[inside])
        total += most - least
    for rows, height in zip(ancestors, heights, strict=True):
        for level in rows:
            differs = np.zeros(count, dtype=np.bool_)
            differs[groups[level[inside] != level[vertex]]] = True
            total += differs / height
    return total / max(len(numbers) + len(ancestors), 1)
