"""Groups of vertices, k = 5, of a power-law graph with a million vertices and five million edges.

A ratio is processor time over the minute that each method may take, the search with its start; at
a tenth of the size it shows how time grows. Attributes are an age and a place of 50 in 5 regions.
"""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from bench.memory import forget_peak, peak
from celosia.core.randomness import Seeded
from celosia.graphs.examples import karate
from celosia.graphs.generalisation.clustering import SaNGreeA
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.partition_search import PartitionSearch
from celosia.graphs.generalisation.verification import violations
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.method import GraphMethod
from celosia.tables import Schema, Tree

_K = 5
_SECONDS = 60
_PLACES = Tree({f"region {r}": [f"place {r}-{p}" for p in range(10)] for r in range(5)})
_SCHEMA = Schema.of(quasi_identifiers={"age": None, "place": _PLACES})


def run(rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Processor seconds and memory for `rows` vertices and five times the edges."""
    methods: dict[str, GraphMethod[GeneralisedGraph]] = {
        "sangreea": SaNGreeA(k=_K),
        "sangreea with attributes": SaNGreeA(k=_K, alpha=0.5, beta=0.5, schema=_SCHEMA),
        "partition-search": PartitionSearch(k=_K),
    }
    for method in methods.values():  # compiles
        method.apply(_with_people(karate()), rng=Seeded(1))
    found: dict[str, dict[str, Any]] = {"facts": {}, "seconds": {}, "memory MB": {}, "ratios": {}}
    for order in (rows // 10, rows):
        graph = _with_people(power_law(order, 5 * order, 2.5, Seeded(2026)))
        for name, method in methods.items():
            given = Graph(order=order, edges=graph.edges, attributes=graph.attributes)
            forget_peak()
            started = process_time()
            changed = method.apply(given, rng=Seeded(1))
            taken, title = process_time() - started, f"{name}, {order:,} vertices"
            assert violations(changed.graph, graph, k=_K) == ()
            found["facts"][f"{title}, NSIL"] = round(changed.facts["NSIL"], 6)
            found["seconds"][title] = round(taken, 2)
            found["memory MB"][title] = round(peak() / 1e6)
            found["ratios"][f"{title} / {_SECONDS} s"] = round(taken / _SECONDS, 3)
    return found


def _with_people(graph: Graph) -> Graph:
    draws = np.random.default_rng(1)
    ages, regions, places = (draws.integers(0, most, graph.order) for most in (80, 5, 10))
    names = [f"place {r}-{p}" for r, p in zip(regions.tolist(), places.tolist(), strict=True)]
    return replace(graph, attributes=pl.DataFrame({"age": ages, "place": names}))
