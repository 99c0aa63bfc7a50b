"""A number for each vertex, and the distance of two such vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.graphs.metrics.metric_value import MetricValue

BATCHES = 8
"""Parts of a sample, whose differences give the error of the whole."""


@dataclass(frozen=True, slots=True, eq=False)
class VertexVector:
    """One number a vertex."""

    values: NDArray[np.float64]
    batches: NDArray[np.float64] | None = None
    """The same from each part of the sample, one a row; None where nothing was sampled."""

    @classmethod
    def from_batches(
        cls, batches: NDArray[np.float64], weights: NDArray[np.int64], *, exact: bool
    ) -> VertexVector:
        """The mean of the parts by their sizes."""
        values = weights @ batches / max(int(weights.sum()), 1)
        return cls(values, None if exact else batches)

    def distance(self, other: VertexVector) -> MetricValue:
        """The root of the mean squared difference over the vertices that both graphs have.

        By the triangle inequality the true distance is within the root mean square of what the
        sample gets wrong, which is estimated from the spread of its parts.
        """
        both = min(self.values.size, other.values.size)
        value = _root_mean_square(self.values[:both] - other.values[:both])
        if self.batches is None and other.batches is None:
            return MetricValue(value)
        return MetricValue(value, 2.0 * _noise(_parts(self, both) - _parts(other, both)))


def _parts(vector: VertexVector, both: int) -> NDArray[np.float64]:
    return vector.values[None, :both] if vector.batches is None else vector.batches[:, :both]


def _noise(parts: NDArray[np.float64]) -> float:
    return float(np.sqrt(parts.var(axis=0, ddof=1).mean() / len(parts)))


def _root_mean_square(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
