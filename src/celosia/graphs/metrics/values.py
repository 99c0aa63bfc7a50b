"""Values of metrics: one number, or one for each vertex, exact or from a sample."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A value and its error: 0 where every vertex was used, else a bound of the error.

    The error of a sample is two standard errors (95 of 100 samples are within it); that of a
    bound is certain. Infinity stands for an unknown error.

    >>> print(MetricValue(2.5), "and", MetricValue(2.5, 0.12))
    2.5 and 2.5 ± 0.12
    """

    value: float
    error: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled."""
        return self.error == 0

    def difference(self, other: MetricValue) -> MetricValue:
        """How far it is from this number to another, with its sign; their errors add up."""
        return MetricValue(other.value - self.value, self.error + other.error)

    def signed(self) -> str:
        """The number with its sign, also where it is positive.

        >>> MetricValue(2.5).signed(), MetricValue(0.0).signed()
        ('+2.5', '0')
        """
        return f"+{self}" if self.value > 0 else str(self)

    def as_dict(self) -> dict[str, float | None]:
        """Plain values for JSON; None where a number is infinite."""
        return {
            "value": self.value if isfinite(self.value) else None,
            "error": self.error if isfinite(self.error) else None,
        }

    def __str__(self) -> str:
        if self.is_exact:
            whole = self.value == int(self.value) if isfinite(self.value) else False
            return (
                f"{self.value:,.0f}" if whole and abs(self.value) < 1e15 else f"{self.value:,.6g}"
            )
        return f"{self.value:,.6g} ± {'?' if self.error == inf else f'{self.error:.2g}'}"


def two_errors(samples: NDArray[Any]) -> float:
    """Two standard errors of the mean of independent samples; infinite for fewer than two."""
    if len(samples) < 2:
        return inf
    return float(2.0 * samples.std(ddof=1) / len(samples) ** 0.5)


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
