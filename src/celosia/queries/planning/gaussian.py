"""Totals of all rows with Gaussian noise for a bound that caps guarantee: method "gaussian"."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from celosia.accounting.filters import concentrated_limit
from celosia.accounting.losses import Loss
from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss
from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.mechanisms.noise.laws import DiscreteGaussian
from celosia.queries.planning import plan
from celosia.queries.planning.laplace import LaplaceStep

rho_of = lru_cache(maxsize=256)(concentrated_limit)
"""The rho of an epsilon and a delta, rounded down."""


@dataclass(frozen=True, kw_only=True)
class GaussianStep(LaplaceStep):
    """Totals of all rows, each with discrete Gaussian noise for its own bound.

    Guarantee: with rho the largest one found that gives the epsilon and the delta of all totals,
    total i has noise of sigma^2 = shift_i^2 count / (2 rho). The groups of a total move by at most
    shift_i in the sum of their sizes, so by no more in the root of their squares: each total is
    rho/count-zCDP (Canonne, Kamath & Steinke 2020, Thm 14), all of them together rho-zCDP, and so
    (epsilon, delta)-differentially private. A budget in rho is charged rho and no delta.
    """

    delta: Fraction
    """Of all totals together."""

    @cached_property
    def rho(self) -> Fraction:
        """Of each total."""
        count = len(self.totals)
        return rho_of(self.epsilon * count, self.delta) / count

    @cached_property
    def laws(self) -> tuple[DiscreteGaussian, ...]:  # type: ignore[override]
        """The noise of each total."""
        return tuple(DiscreteGaussian(shift**2 / (2 * self.rho)) for shift in self.shifts)

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        share = self.delta / len(self.totals)
        return tuple(
            plan.Part(
                name=total.label,
                mechanism=Message("queries.mechanism.gaussian"),
                bound=bound,
                epsilon=self.epsilon,
                delta=share,
                error=float(law.parameter) ** 0.5 * float(total.step),
            )
            for total, law, bound in zip(self.totals, self.laws, self.bound, strict=True)
        )

    def losses(self, groups: int) -> tuple[Loss, ...]:
        if groups > 1:
            return tuple(ConcentratedLoss(self.rho) for _ in self.totals)
        return tuple(
            GaussianLoss(law.parameter, shift)
            for law, shift in zip(self.laws, self.shifts, strict=True)
        )


def with_gaussian_noise(step: LaplaceStep, delta: Fraction) -> GaussianStep:
    """The same totals and bounds with Gaussian noise.

    Raises:
        QueryRefused: CEL-Q148 without a delta.
    """
    if not delta:
        raise QueryRefused("CEL-Q148.gaussian")
    plain = {name: getattr(step, name) for name in LaplaceStep.__dataclass_fields__}
    return GaussianStep(**plain, delta=delta)
