"""The value of a metric with its error."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

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
        """How far two numbers are apart; their errors add up."""
        return MetricValue(abs(self.value - other.value), self.error + other.error)

    def as_dict(self) -> dict[str, float | None]:
        """Plain values for JSON; None where a number is infinite."""
        return {
            "value": self.value if isfinite(self.value) else None,
            "error": self.error if isfinite(self.error) else None,
        }

    def __str__(self) -> str:
        if self.is_exact:
            whole = self.value == int(self.value) if isfinite(self.value) else False
            return f"{self.value:,.0f}" if whole and self.value < 1e15 else f"{self.value:,.6g}"
        return f"{self.value:,.6g} ± {'?' if self.error == inf else f'{self.error:.2g}'}"


def two_errors(samples: NDArray[Any]) -> float:
    """Two standard errors of the mean of independent samples; infinite for fewer than two."""
    if len(samples) < 2:
        return inf
    return float(2.0 * samples.std(ddof=1) / len(samples) ** 0.5)
