"""What may be spent in total, fixed before the first release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from celosia.accounting.amounts import delta_amount, epsilon_amount, share_amount
from celosia.accounting.filters import (
    ORDERS,
    AdvancedFilter,
    BasicFilter,
    ConcentratedFilter,
    EpsilonOrRhoFilter,
    Filter,
    RenyiFilter,
    advanced_limit,
    concentrated_limit,
    renyi_limits,
)
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.numbers import exact
from celosia.core.wording import did_you_mean

FILTERS = ("basic", "concentrated", "renyi", "advanced", "either")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What may be spent in total, and by which rule it is added up.

    Args:
        epsilon: the total epsilon; or give `rho`.
        delta: the total delta. 0 allows only the basic rule.
        rho: the total rho of zero-concentrated differential privacy, instead of an epsilon.
        filter: `basic` (sums; for few releases), `concentrated`, `renyi`, `advanced` (for many), or
            `either`: basic or concentrated, whichever lasts longer. Without one: `basic` where
            delta is 0, `concentrated` for a rho, otherwise `either`.
        slack: how much of delta the rule itself may use, from 0 to 1; the rest is for releases that
            have a delta of their own. Of no matter to `basic`; all of it for `renyi`.
        orders: of the `renyi` rule.
        neighbours: whom the budget protects.

    Raises:
        InputError: CEL-B060 not exactly one of epsilon and rho; CEL-B061 a rule that does not
            exist or does not fit; CEL-I060 an amount is out of range.
    """

    epsilon: float | Fraction | None = None
    delta: float | Fraction = 0
    rho: float | Fraction | None = None
    filter: str | None = None
    slack: float | Fraction = Fraction(1, 2)
    orders: Sequence[float] = ORDERS
    neighbours: Neighbours = ADD_REMOVE
    rule: Filter = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise InputError("CEL-B060.epsilon_or_rho")
        object.__setattr__(self, "rule", self._rule())
        object.__setattr__(self, "filter", self.rule.name)

    def _rule(self) -> Filter:
        delta = delta_amount(self.delta, zero=True)
        name = self._name(delta)
        if self.rho is not None:
            return ConcentratedFilter(epsilon_amount(self.rho, name="rho"), delta)
        epsilon = epsilon_amount(self.epsilon)
        if name == "basic":
            return BasicFilter(epsilon, delta)
        if name == "renyi":
            return RenyiFilter(self._orders(epsilon, delta))
        slack = delta * share_amount(self.slack, name="slack")
        own = delta - slack
        if name == "advanced":
            return AdvancedFilter(advanced_limit(epsilon, slack), own)
        rho = concentrated_limit(epsilon, slack)
        return (
            ConcentratedFilter(rho, own)
            if name == "concentrated"
            else EpsilonOrRhoFilter(epsilon, rho, own)
        )

    def _name(self, delta: Fraction) -> str:
        name = self.filter
        if name is None:
            return "concentrated" if self.rho is not None else "either" if delta else "basic"
        fits = FILTERS if delta else ("basic",)
        fits = ("concentrated",) if self.rho is not None else fits
        if name not in fits:
            hint = did_you_mean(name, FILTERS)
            raise InputError("CEL-B061.unknown", fits=", ".join(fits), name=name, hint=hint)
        return name

    def _orders(self, epsilon: Fraction, delta: Fraction) -> tuple[tuple[float, Fraction], ...]:
        found = [exact(each) for each in self.orders]
        orders = tuple(float(each) for each in found if each is not None and each > 1)
        if not orders or len(set(orders)) < len(found):
            raise InputError("CEL-B061.orders")
        limits = renyi_limits(epsilon, delta, orders)
        if not limits:
            raise InputError("CEL-B061.orders_too_low", orders=max(orders))
        return limits

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "epsilon": None if self.epsilon is None else float(self.epsilon),
            "delta": float(self.delta),
            "rho": None if self.rho is None else float(self.rho),
            "neighbours": self.neighbours.message,
            **self.rule.as_dict(),
        }

    def __str__(self) -> str:
        amount = self.rho if self.epsilon is None else self.epsilon
        named = {"amount": amount, "rule": self.rule.name, "neighbours": self.neighbours.message}
        if self.epsilon is None and self.delta:
            return Message("accounting.allowance.rho_delta", delta=self.delta, **named)
        if self.epsilon is None:
            return Message("accounting.allowance.rho", **named)
        if self.delta:
            return Message("accounting.allowance.epsilon_delta", delta=self.delta, **named)
        return Message("accounting.allowance.epsilon", **named)
