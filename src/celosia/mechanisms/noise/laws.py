"""The discrete Laplace and the discrete Gaussian law."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from celosia.mechanisms.noise.law import Law


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Law):
    """P(z) proportional to exp(-|z| / scale), z whole, for a rational scale above 0."""

    scale: Fraction


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Law):
    """P(z) proportional to exp(-z^2 / (2 parameter)), z whole; `parameter` is sigma^2, rational."""

    parameter: Fraction
