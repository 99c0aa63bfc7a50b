"""What a loss costs in the currencies that add up, as exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from celosia.accounting.loss import Loss
from celosia.accounting.losses import (
    ApproximateLoss,
    BoundedRangeLoss,
    ConcentratedLoss,
    GaussianLoss,
    LaplaceLoss,
    PureLoss,
)
from celosia.core.errors import PrivacyError
from celosia.core.messages import Language, Message
from celosia.core.numbers import exact

EPSILON, DELTA, RHO, SQUARES = "epsilon", "delta", "rho", "squares"


@dataclass(frozen=True, slots=True)
class Price:
    """Amounts of several currencies; one that a loss cannot be paid in is None.

    >>> print(Price({"epsilon": Fraction(1, 10), "delta": Fraction(0)}))
    epsilon 0.1, delta 0
    """

    amounts: Mapping[str, Fraction | None]

    def __getitem__(self, currency: str) -> Fraction | None:
        return self.amounts[currency]

    def __add__(self, other: Price) -> Price:
        return Price({name: _sum(self[name], other[name]) for name in self.amounts})

    def subtracted_from(self, limits: Mapping[str, Fraction]) -> Price:
        """What is left of limits, currency by currency; never below 0."""
        left: dict[str, Fraction | None] = {}
        for name, limit in limits.items():
            amount = self[name]
            left[name] = Fraction(0) if amount is None else max(Fraction(0), limit - amount)
        return Price(left)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None for what cannot be paid."""
        return {
            name: None if amount is None else float(amount) for name, amount in self.amounts.items()
        }

    def render(self, into: Language | None = None) -> str:
        """The amounts as a text in a language, the current one where none is named."""
        return ", ".join(self._amount(name).render(into) for name in self.amounts)

    def _amount(self, currency: str) -> Message:
        amount = self[currency]
        if amount is None:
            return Message("accounting.price.unbounded", currency=currency)
        return Message("accounting.price.amount", currency=currency, amount=float(amount))

    def __str__(self) -> str:
        return self.render()


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def exact_pure(loss: Loss) -> Fraction | None:
    """The pure epsilon of a loss without rounding; None where it has none.

    >>> exact_pure(LaplaceLoss(Fraction(10), 1))
    Fraction(1, 10)
    """
    if isinstance(loss, PureLoss | BoundedRangeLoss):
        return loss.value
    if isinstance(loss, LaplaceLoss):
        return loss.shift / loss.scale
    return exact(loss.pure)


def exact_rho(loss: Loss) -> Fraction | None:
    """The rho of a loss without rounding; None where it has none."""
    found = _RHO[type(loss)](loss) if type(loss) in _RHO else None
    stated = exact(loss.rho)
    return stated if found is None else found if stated is None else min(found, stated)


# Pure epsilon: Bun & Steinke 2016, Prop. 1.4. Bounded range: Cesar & Rogers 2021. Discrete
# Gaussian noise: Canonne, Kamath & Steinke 2020, Thm 4.
_RHO: dict[type, Callable[[Any], Fraction]] = {
    PureLoss: lambda loss: loss.value**2 / 2,
    LaplaceLoss: lambda loss: (loss.shift / loss.scale) ** 2 / 2,
    BoundedRangeLoss: lambda loss: loss.value**2 / 8,
    ConcentratedLoss: lambda loss: loss.value,
    GaussianLoss: lambda loss: loss.shift**2 / (2 * loss.variance),
}


def epsilon_delta_of(loss: Loss, delta: Fraction | None) -> tuple[Fraction, Fraction]:
    """The (epsilon, delta) that one release is charged.

    Args:
        loss: of one release.
        delta: the failure to charge where the loss has no pure epsilon and states none.

    Raises:
        PrivacyError: CEL-B062 it has no price of this kind.
    """
    pure = exact_pure(loss)
    if pure is not None:
        return pure, Fraction(0)
    if isinstance(loss, ApproximateLoss):
        return loss.value, exact(loss.failure) or Fraction(0)
    found = None if delta is None else exact(loss.epsilon(float(delta)))
    if found is None or delta is None:
        raise PrivacyError("CEL-B062.no_epsilon")
    return found, max(delta, exact(float(delta)) or delta)  # whichever the loss was asked with
