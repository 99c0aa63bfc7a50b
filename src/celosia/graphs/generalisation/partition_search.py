"""Groups that leave the fewest possible worlds, searched by simulated annealing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.generalisation import partition
from celosia.graphs.generalisation.attributes import (
    Blocks,
    code_attributes,
    schema_of,
    schema_parameter,
)
from celosia.graphs.generalisation.clustering import greedy_blocks, plain_parameters
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod, MethodResult
from celosia.tables.schema import Schema

USUAL_STEPS = 300
"""Moves that are tried for each vertex where no number is given."""

MOST_STEPS = 3_000_000
"""Moves that are tried where no number is given: more take minutes."""

HEAVIEST = 2000
"""Edges of a group beyond which it stays as it was at the start: each step looks at all of them."""

WARM, COLD = 2.0, 0.02
"""Temperatures at the beginning and at the end, in units of log |W|.

With fewer moves for each vertex than usual it begins colder: what heat spoils takes moves to mend.
"""

_BATCHES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSearch(GraphMethod[GeneralisedGraph]):
    """Groups of at least k vertices under which the true graph is the likeliest.

    A partition is the better, the fewer graphs have its numbers. Simulated annealing starts from
    the groups of `sangreea` and shifts, swaps, splits and merges; the best partition seen is
    taken, so it never leaves more worlds than the start. Attributes play no part in the search, and
    groups of hubs, with more than 2,000 edges, stay as they were at the start.

    Guarantee: every published super-vertex stands for at least k vertices, which the release
    does not distinguish.

    Reference: Hay, Miklau, Jensen, Towsley, Weis 2008.
    """

    k: int = parameter(least=2, start=3)
    """The least number of vertices of a group."""
    steps: int | None = parameter(None, least=0)
    """How many moves are tried; by default 300 for each vertex, from 20,000 to 3 million."""
    schema: Schema | str | None = schema_parameter()  # noqa: RUF009 - it declares a field
    """Which attributes of vertices are quasi-identifiers: a schema of tables, or its file."""

    method_name = "partition-search"
    randomised = True
    gaps = partition.LEFT_OPEN

    def apply(
        self, graph: Graph, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[GeneralisedGraph]:
        k = partition.check_k(self.k, graph)
        attributes = code_attributes(graph, schema_of(self.schema))
        usual = min(max(20_000, USUAL_STEPS * graph.order), MOST_STEPS)
        steps = usual if self.steps is None else self.steps
        start = greedy_blocks(graph, k, progress=progress)
        found = anneal_partition(graph, start, k=k, steps=steps, rng=rng, progress=progress)
        return partition.publish_partition(graph, found, k=k, attributes=attributes)

    def promise(self, graph: Graph) -> str | None:
        return partition.promise_of(self.k)

    def as_dict(self) -> dict[str, Any]:
        return plain_parameters(self)


def anneal_partition(
    graph: Graph,
    start: Blocks,
    *,
    k: int,
    steps: int,
    rng: Source,
    progress: Progress = silent,
) -> Blocks:
    """The best partition met on the way from `start`, every group with at least k; secret."""
    from celosia.graphs.generalisation._kernels import anneal, list_members

    most = max(graph.order // k, 1)
    block = start.astype(np.int64).copy()
    sizes = np.bincount(block, minlength=most).astype(np.int64)
    members = np.empty(2 * graph.order + sizes.size, dtype=np.int64)
    list_members(block, members)
    empty = np.flatnonzero(sizes == 0)
    free = np.zeros(sizes.size + 1, dtype=np.int64)
    free[: empty.size], free[-1] = empty, empty.size
    best, costs = block.copy(), np.zeros(2)
    warmest = max(WARM * min(steps / max(USUAL_STEPS * graph.order, 1), 1.0), COLD)
    for batch in range(_BATCHES):
        progress(Step(Message("graphs.stage.partition"), batch * steps // _BATCHES, steps))
        count = (batch + 1) * steps // _BATCHES - batch * steps // _BATCHES
        warmth = tuple(warmest * (COLD / warmest) ** ((batch + far) / _BATCHES) for far in (0, 1))
        state = (block, sizes, members, free, k, rng.words(count), HEAVIEST, warmth, best, costs)
        anneal(graph.starts, graph.neighbours, *state)
    return np.unique(best, return_inverse=True)[1].astype(np.int64)
