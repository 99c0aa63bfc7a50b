"""Possible worlds and structural information loss of a generalised graph."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log, prod
from typing import Any

import numpy as np

from celosia.core.messages import say
from celosia.graphs.generalisation.graph import GeneralisedGraph


def count_worlds(graph: GeneralisedGraph) -> int:
    """How many graphs have the published numbers: |W|, exactly; for small graphs.

    >>> from celosia.graphs.examples import G9_PARTITION, g9, vertices
    >>> from celosia.graphs.generalisation.partition import blocks, summarise
    >>> graph = g9()
    >>> count_worlds(summarise(graph, blocks([vertices(graph, b) for b in G9_PARTITION])))
    104976

    Reference: Hay, Miklau, Jensen, Towsley, Weis 2008.
    """
    edges = [*graph.internal.tolist(), *graph.between.tolist()]
    return prod(comb(n, e) for n, e in zip(graph.capacities().tolist(), edges, strict=True))


def log2_worlds(graph: GeneralisedGraph) -> float:
    """The bits needed to name one of the worlds, for graphs of any size."""
    from scipy.special import betaln

    pairs = graph.capacities().astype(np.float64)
    edges = np.concatenate([graph.internal, graph.between]).astype(np.float64)
    # log C(n, e) = -log(n + 1) - log B(n - e + 1, e + 1): factorials would cancel badly.
    logs = -np.log1p(pairs) - betaln(pairs - edges + 1, edges + 1)
    return max(float(logs.sum()), 0.0) / log(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuralLoss:
    """How badly the numbers tell where the edges are."""

    total: float
    """SIL: of each box of pairs, twice the edges times the share of pairs that have none."""
    normalised: float
    """NSIL: the same over its greatest value, n (n - 1) / 4."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"SIL": self.total, "NSIL": self.normalised}

    def __str__(self) -> str:
        return say("graphs.graph.loss", normalised=self.normalised)


def structural_loss(graph: GeneralisedGraph) -> StructuralLoss:
    """SIL and NSIL.

    Reference: Campan, Truta 2009, definitions 8 to 11.
    """
    pairs = np.maximum(graph.capacities(), 1)  # a single vertex has no pair and no edge
    edges = np.concatenate([graph.internal, graph.between])
    total = float((2 * edges * (1 - edges / pairs)).sum())
    greatest = graph.order * (graph.order - 1) / 4
    return StructuralLoss(total=total, normalised=total / max(greatest, 1.0))
