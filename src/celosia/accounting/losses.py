"""The losses that mechanisms have."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from celosia.accounting.loss import Loss


@dataclass(frozen=True, slots=True)
class Pure(Loss):
    """Epsilon-DP, of whatever mechanism."""

    value: Fraction

    @property
    def pure(self) -> float:
        return float(self.value)


@dataclass(frozen=True, slots=True)
class Approximate(Loss):
    """(epsilon, delta)-DP, of whatever mechanism."""

    value: Fraction
    failure: float

    @property
    def pure(self) -> float:
        return inf


@dataclass(frozen=True, slots=True)
class BoundedRange(Loss):
    """The exponential mechanism: epsilon-DP with losses in an interval of length epsilon."""

    value: Fraction

    @property
    def pure(self) -> float:
        return float(self.value)


@dataclass(frozen=True, slots=True)
class Concentrated(Loss):
    """rho-zCDP, of whatever mechanism."""

    value: Fraction

    @property
    def pure(self) -> float:
        return inf


@dataclass(frozen=True, slots=True)
class LaplaceLoss(Loss):
    """Discrete Laplace noise of a scale on one number that moves by at most `shift` steps."""

    scale: Fraction
    shift: int

    @property
    def pure(self) -> float:
        return float(self.shift / self.scale)


@dataclass(frozen=True, slots=True)
class GaussianLoss(Loss):
    """Discrete Gaussian noise of parameter sigma^2 on one number that moves by `shift` steps."""

    variance: Fraction
    shift: int

    @property
    def pure(self) -> float:
        return inf


@dataclass(frozen=True, slots=True)
class Composed(Loss):
    """Several releases of the same data, one after the other."""

    parts: tuple[Loss, ...]

    @property
    def pure(self) -> float:
        return sum(part.pure for part in self.parts)
