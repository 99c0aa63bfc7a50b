"""Random numbers in place of names, the first step of a release; and the key that leads back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.frames.readers import read as read_table
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphChange, GraphMethod, MethodResult
from celosia.graphs.networks.method import NetworkMethod
from celosia.graphs.networks.network import Network


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # the key must reach no log
class RelabelledGraph:
    """A graph with new numbers, and the key to the old ones, which the curator keeps."""

    graph: Graph
    numbers: NDArray[np.int64]
    """The new number of each old vertex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relabelling(GraphMethod[Graph], NetworkMethod):
    """Give the vertices random numbers and drop their names; the structure stays as it is.

    Attributes go along with their vertex or edge. Edges are sorted by the new numbers, so that
    their order says nothing of the old one.

    Guarantee: none. An attacker who knows a few facts about a person's contacts finds the vertex.

    Reference: Backstrom, Dwork, Kleinberg 2007.
    """

    method_name = "relabelling"
    randomised = True
    kinds = frozenset({"directed", "bipartite"})
    gaps = (Message("graphs.open.structure"), Message("graphs.open.planted"))

    def apply(self, graph: Graph, *, rng: Source, progress: Progress = silent) -> GraphChange:
        changed = relabel(graph, rng).graph
        facts: dict[str, Any] = {
            Message("graphs.fact.vertices"): changed.order,
            Message("graphs.fact.edges_after"): changed.size,
        }
        return MethodResult(graph=changed, facts=facts, kept=Message("graphs.kept.structure"))

    def apply_to_network(
        self, network: Network, *, rng: Source, progress: Progress = silent
    ) -> MethodResult[Network]:
        changed = network.renumbered(random_numbers(network, rng))
        return MethodResult(graph=changed, kept=Message("graphs.kept.structure"))

    def network_promise(self, network: Network) -> str | None:
        return None


def random_numbers(network: Network, rng: Source) -> NDArray[np.int64]:
    """A random number for each vertex; those of the first of two sides are the lower ones."""
    numbers = rng.permutation(network.order)
    if network.sides is None:
        return numbers
    placed = np.empty_like(numbers)
    placed[np.lexsort((numbers, network.sides))] = np.arange(network.order)
    return placed


def relabel(graph: Graph, rng: Source) -> RelabelledGraph:
    """The graph under random numbers, with the mapping; keep the mapping secret.

    >>> from celosia.core.randomness import Seeded
    >>> from celosia.graphs.examples import dan
    >>> made = relabel(dan(), Seeded(1))
    >>> made.graph.labels is None, sorted(made.numbers.tolist()) == list(range(9))
    (True, True)
    """
    numbers = rng.permutation(graph.order)
    ends = numbers[graph.edges]
    keys = ends.min(axis=1, initial=graph.order) * graph.order + ends.max(axis=1, initial=0)
    order = np.argsort(keys)
    changed = Graph.from_keys(keys[order], order=graph.order)
    known, edges = graph.attributes, graph.edge_attributes
    return RelabelledGraph(
        replace(
            changed,
            attributes=None if known is None else known[np.argsort(numbers)],
            edge_attributes=None if edges is None else edges[order],
        ),
        numbers,
    )


COLUMNS = ("vertex", "number")


def names_of(graph: Graph | Network) -> pl.Series:
    """The name of each vertex as a text; its number where it has none.

    >>> names_of(Graph.of([(0, 1)])).to_list()
    ['0', '1']
    """
    names = graph.labels
    if names is None:
        names = pl.Series(np.arange(graph.order, dtype=np.int64))
    return names.cast(pl.String).alias(COLUMNS[0])


@contextmanager
def write_key(
    graph: Graph | Network, numbers: NDArray[np.int64], path: Path, *, overwrite: bool = False
) -> Iterator[None]:
    """Write a key as CSV that only its owner can read; it takes its name if the block ends well."""
    with replacing(path, overwrite=overwrite, secret=True) as draft:
        table = pl.DataFrame([names_of(graph), pl.Series(COLUMNS[1], numbers)])
        table.sort(COLUMNS[1]).write_csv(draft)
        yield
    path.chmod(0o600)


def read_key(path: Path, original: Graph | Network) -> pl.Series:
    """The published number of each vertex of the original, as a text, in its order."""
    table = read_table(path, types=dict.fromkeys(COLUMNS, "string"))
    if tuple(table.columns) != COLUMNS:
        raise InputError("CEL-G027.columns", path=path)
    asked = pl.DataFrame([names_of(original)])
    found = asked.join(table, on=COLUMNS[0], how="left", maintain_order="left")
    numbers = found.get_column(COLUMNS[1])
    if table.height != original.order or numbers.null_count() or not numbers.is_unique().all():
        raise InputError("CEL-G027.numbers", path=path, vertices=original.order)
    return numbers
