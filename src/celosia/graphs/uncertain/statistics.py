"""Statistics of an uncertain graph: exact expectations, or means over sampled worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message, say_of
from celosia.core.methods import PlainValues
from celosia.core.numbers import whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.graphs.graph import Graph
from celosia.graphs.uncertain.graph import UncertainGraph

Statistic = Callable[[Graph], float]
"""A number that a plain graph has."""


def maximum_degree(graph: Graph) -> float:
    """The greatest degree of a graph, 0 without vertices."""
    return float(graph.degrees.max(initial=0))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExpectedStatistics(PlainValues):
    """Averages over all worlds, in closed form."""

    edges: float
    degrees: NDArray[np.float64] = field(repr=False)
    """Of each vertex."""
    mean_degree: float
    degree_variance: float
    """The average of the variance that the degrees of one world have."""

    def __str__(self) -> str:
        return say_of("graphs.graph.expected", self)


def expected_statistics(graph: UncertainGraph) -> ExpectedStatistics:
    """Edges, degrees, their mean and their variance, on average over all worlds.

    >>> print(expected_statistics(UncertainGraph.of({(0, 1): 0.5})))
    0.5 edges, mean degree 0.5, variance 0
    """
    count = max(graph.order, 1)
    chances = graph.probabilities
    edges = graph.expected_edges
    degrees = _at_vertices(graph, chances)
    spread = _at_vertices(graph, chances * (1 - chances))
    # Mean of the squares less mean of the squared mean 2 m / n: E[m^2] = var(m) + E[m]^2.
    of_edges = float((chances * (1 - chances)).sum()) + edges**2
    variance = float((spread + degrees**2).sum()) / count - 4 * of_edges / count**2
    return ExpectedStatistics(
        edges=edges,
        degrees=degrees,
        mean_degree=2 * edges / count,
        degree_variance=max(variance, 0.0),
    )


def _at_vertices(graph: UncertainGraph, of_pair: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum over the pairs of each vertex."""
    first, second = (
        np.bincount(graph.pairs[:, side], weights=of_pair, minlength=graph.order)
        for side in range(2)
    )
    return np.asarray(first + second, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledMean(PlainValues):
    """The mean of a number over sampled worlds."""

    mean: float
    error: float
    """The standard error of the mean."""
    worlds: int

    def __str__(self) -> str:
        return say_of("graphs.graph.estimate", self)


def sampled_statistics(
    graph: UncertainGraph,
    statistics: Mapping[str, Statistic] | None = None,
    *,
    worlds: int = 100,
    rng: Source,
    progress: Progress = silent,
) -> dict[str, SampledMean]:
    """Means over sampled worlds, for what has no closed form; by default the maximum degree.

    Raises:
        InputError: CEL-G204 fewer than two worlds, which have no standard error.
    """
    number = whole(worlds)
    if number is None or number < 2:
        raise InputError("CEL-G204", worlds=worlds)
    asked = {"maximum degree": maximum_degree} if statistics is None else dict(statistics)
    found = np.empty((number, len(asked)))
    for row in range(number):
        progress(Step(Message("graphs.stage.sample_worlds"), row, number))
        world = graph.sample_world(rng)
        found[row] = [float(statistic(world)) for statistic in asked.values()]
    means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(number)
    return {
        name: SampledMean(mean=float(mean), error=float(error), worlds=number)
        for name, mean, error in zip(asked, means, errors, strict=True)
    }
