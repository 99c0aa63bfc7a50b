"""Privacy filters: rules that stop a sequence of releases before it breaks a promise.

The analyst may choose every next release, and its epsilon, by what the earlier ones answered. A
bound that is right for a fixed list of releases is then not enough. Each rule here has a proof for
this case; which one is used is fixed before the first release.

All of them rest on one argument. Let L be the privacy loss of the transcript, a sum of terms, and P
the law of the transcript. A promise (epsilon, delta) follows from E_P[(1 - e^(epsilon - L))^+] <=
delta. If E_P[e^(s L_i) | past] <= e^(s c_i) with c_i known from the past, then e^(s (L - sum c_i))
is a supermartingale, so that E_P[e^(s L)] <= e^(s c) at every stopping time up to which the sum of
the c_i is at most c; the bound that c gives for a fixed list holds for it too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import log, log1p, sqrt
from typing import Any, ClassVar

import numpy as np

from celosia.accounting.amounts import (
    below,
    delta_amount,
    epsilon_amount,
    raised,
    round_up,
    share_amount,
)
from celosia.accounting.losses import ApproximateLoss, BoundedRangeLoss, Loss, PureLoss, parts_of
from celosia.accounting.noise_losses import (
    ConcentratedLoss,
    GaussianLoss,
    LaplaceLoss,
    concentrated_curve,
    concentrated_epsilon,
    laplace_rho,
)
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Language, Message, did_you_mean
from celosia.core.methods import PlainValues
from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.numbers import exact

EPSILON, DELTA, RHO, SQUARES = "epsilon", "delta", "rho", "squares"


@dataclass(frozen=True, slots=True)
class Price(PlainValues):
    """Amounts of several currencies; one that a loss cannot be paid in is None.

    >>> print(Price({"epsilon": Fraction(1, 10), "delta": Fraction(0)}))
    epsilon 0.1, delta 0
    """

    amounts: Mapping[str, Fraction | None]
    promise: tuple[float, float] | None = field(default=None, compare=False)
    """The (epsilon, delta) that amounts of another currency give, where that is told."""

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
        facts = {
            name: None if amount is None else float(amount) for name, amount in self.amounts.items()
        }
        if self.promise is not None:
            facts["as_epsilon"], facts["at_delta"] = self.promise
        return facts

    def render(self, into: Language | None = None) -> str:
        """The amounts as a text in a language, the current one where none is named."""
        text = ", ".join(self._amount(name).render(into) for name in self.amounts)
        if self.promise is None:
            return text
        epsilon, delta = self.promise
        told = Message("accounting.price.promise", amounts=text, epsilon=epsilon, delta=delta)
        return told.render(into)

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


# Pure epsilon: Bun & Steinke 2016, Prop. 1.4. Laplace noise: `laplace_rho`. Bounded range:
# Cesar & Rogers 2021. Discrete Gaussian noise: Canonne, Kamath & Steinke 2020, Thm 4.
_RHO: dict[type, Callable[[Any], Fraction]] = {
    PureLoss: lambda loss: loss.value**2 / 2,
    LaplaceLoss: lambda loss: laplace_rho(loss.scale, loss.shift),
    BoundedRangeLoss: lambda loss: loss.value**2 / 8,
    ConcentratedLoss: lambda loss: loss.value,
    GaussianLoss: lambda loss: loss.shift**2 / (2 * loss.variance),
}


def epsilon_delta_of(loss: Loss, delta: Fraction | None) -> tuple[Fraction, Fraction]:
    """The (epsilon, delta) that one release is charged.

    Args:
        loss: of one release.
        delta: the failure to charge where the loss has no pure epsilon and states none.
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


ORDERS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0)


class Filter(ABC):
    """A rule over sums of prices."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def why(self) -> Message:
        """Why the rule is right when each release is chosen by the answers to the earlier ones."""

    @property
    @abstractmethod
    def limits(self) -> Mapping[str, Fraction]:
        """The most of each currency."""

    @abstractmethod
    def price_of_loss(self, loss: Loss, delta: Fraction | None) -> Price:
        """The price of a single release; depends on no data."""

    def price(self, loss: Loss, *, delta: Fraction | None = None) -> Price:
        """The price of a loss: that of its single releases together."""
        total = self.nothing
        for single in parts_of([loss]):
            total = total + self.price_of_loss(single, delta)
        return total

    @property
    def nothing(self) -> Price:
        """The price of no release at all."""
        return Price(dict.fromkeys(self.limits, Fraction(0)))

    def admits(self, total: Price) -> bool:
        """Whether so much in total may be spent."""
        return all(self._within(total, name) for name in self.limits)

    def _within(self, total: Price, name: str) -> bool:
        amount = total[name]
        return amount is not None and amount <= self.limits[name]

    def converted(self, amounts: Price) -> tuple[float, float] | None:
        """The (epsilon, delta) that amounts of its currency give; None where they are told as such.

        The delta is the declared one, and the epsilon is rounded up.
        """
        return None

    def told(self, amounts: Price) -> Price:
        """The same amounts, with the epsilon and the delta that they give."""
        return replace(amounts, promise=self.converted(amounts))

    def as_dict(self) -> dict[str, Any]:
        return {"filter": self.name, "limits": {k: float(v) for k, v in self.limits.items()}}


@dataclass(frozen=True, slots=True)
class BasicFilter(Filter):
    """Epsilons add up, deltas add up (Rogers, Roth, Ullman & Vadhan 2016)."""

    name = "basic"

    epsilon: Fraction
    delta: Fraction

    @property
    def why(self) -> Message:
        return Message("accounting.filter.basic")

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """The epsilon and the delta of the promise."""
        return {EPSILON: self.epsilon, DELTA: self.delta}

    def price_of_loss(self, loss: Loss, delta: Fraction | None) -> Price:
        """Its epsilon and its delta."""
        epsilon, failure = epsilon_delta_of(loss, delta)
        return Price({EPSILON: epsilon, DELTA: failure})


def concentrated_price(loss: Loss, delta: Fraction | None) -> tuple[Fraction, Fraction]:
    """The (rho, delta) of a release: (epsilon, delta)-DP is delta-approximate epsilon^2/2-zCDP."""
    rho = exact_rho(loss)
    if rho is not None:
        return rho, Fraction(0)
    if delta is None and not isinstance(loss, ApproximateLoss):
        raise PrivacyError("CEL-B062.no_rho")
    epsilon, failure = epsilon_delta_of(loss, delta)
    return epsilon**2 / 2, failure


@dataclass(frozen=True, slots=True)
class ConcentratedFilter(Filter):
    """Rhos add up (Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023)."""

    name = "concentrated"

    rho: Fraction
    own: Fraction
    """How much of delta may be spent by releases that have a delta themselves."""
    slack: Fraction = Fraction(0)
    """The delta at which a rho is told as an epsilon; 0 for a promise of rho alone."""

    @property
    def why(self) -> Message:
        return Message("accounting.filter.concentrated")

    def converted(self, amounts: Price) -> tuple[float, float] | None:
        """The epsilon at the slack and all of delta that is set aside."""
        rho = amounts[RHO]
        if not self.slack or rho is None:
            return None
        failure = float(below(float(self.slack)))
        epsilon = concentrated_epsilon(round_up(rho), failure) if rho else 0.0
        return raised(epsilon), round_up(self.slack + self.own)

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """The rho and what is set aside of delta."""
        return {RHO: self.rho, DELTA: self.own}

    def price_of_loss(self, loss: Loss, delta: Fraction | None) -> Price:
        """Its rho and its delta."""
        rho, failure = concentrated_price(loss, delta)
        return Price({RHO: rho, DELTA: failure})


@dataclass(frozen=True, slots=True)
class EpsilonOrRhoFilter(Filter):
    """Go on while the basic or the concentrated rule would.

    At the end of a transcript one of the two still held, so its loss is that of the basic rule at
    its stopping time, at most epsilon for certain, or that of the concentrated rule at its own.
    E[(1 - e^(epsilon - L))^+] is therefore at most the sum of the two, 0 + slack: the choice
    between them costs nothing. (Two rules that can both fail would have to share delta.)
    """

    name = "either"

    epsilon: Fraction
    rho: Fraction
    own: Fraction

    @property
    def why(self) -> Message:
        return Message("accounting.filter.either")

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """Epsilon or rho, and what is set aside of delta."""
        return {EPSILON: self.epsilon, RHO: self.rho, DELTA: self.own}

    def price_of_loss(self, loss: Loss, delta: Fraction | None) -> Price:
        """Its epsilon where it has one, its rho, and its delta."""
        rho, failure = concentrated_price(loss, delta)
        if failure:
            return Price({EPSILON: epsilon_delta_of(loss, delta)[0], RHO: rho, DELTA: failure})
        return Price({EPSILON: exact_pure(loss), RHO: rho, DELTA: failure})

    def admits(self, total: Price) -> bool:
        """Whether one of the two sums is within its limit, and the deltas are."""
        either = self._within(total, EPSILON) or self._within(total, RHO)
        return either and self._within(total, DELTA)


@dataclass(frozen=True, slots=True)
class AdvancedFilter(Filter):
    """The rate of advanced composition (Whitehouse, Ramdas, Rogers & Wu 2023).

    sqrt(2 ln(1/slack) S) + S/2 <= epsilon with S the sum of the squared epsilons: a limit on S.
    """

    name = "advanced"

    squares: Fraction
    own: Fraction

    @property
    def why(self) -> Message:
        return Message("accounting.filter.advanced")

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """The sum of squares and what is set aside of delta."""
        return {SQUARES: self.squares, DELTA: self.own}

    def price_of_loss(self, loss: Loss, delta: Fraction | None) -> Price:
        """The square of its epsilon, and its delta."""
        epsilon, failure = epsilon_delta_of(loss, delta)
        return Price({SQUARES: epsilon**2, DELTA: failure})


@dataclass(frozen=True, slots=True)
class RenyiFilter(Filter):
    """Renyi divergences of fixed orders add up, each order by itself.

    Going on while any order allows it stops at the last of their stopping times, so the failures
    of all orders add up: delta is shared among them beforehand.
    """

    name = "renyi"

    bounds: tuple[tuple[float, Fraction], ...]

    @property
    def why(self) -> Message:
        return Message("accounting.filter.renyi")

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """The most of each order."""
        return {f"order {order:g}": bound for order, bound in self.bounds}

    def price_of_loss(self, loss: Loss, delta: Fraction | None) -> Price:
        """Its Renyi divergence of each order."""
        found = {order: loss.renyi(order) for order, _ in self.bounds}
        amounts = {f"order {order:g}": exact(value) for order, value in found.items()}
        if all(amount is None for amount in amounts.values()):
            raise PrivacyError("CEL-B062.no_divergence")
        return Price(amounts)

    def admits(self, total: Price) -> bool:
        """Whether one of the orders is still within its limit."""
        return any(self._within(total, name) for name in self.limits)


@dataclass(frozen=True, slots=True)
class RenyiCurveFilter(Filter):
    """Renyi divergences of declared orders add up, and none may exceed its own limit.

    Each order by itself is a filter (Feldman & Zrnic 2021), and what is promised is all of them at
    once: a curve. So an epsilon follows by the best of the orders, at the whole of the slack. An
    (epsilon, delta)-private release is, but for an event of chance delta, a pure one (Kairouz, Oh &
    Viswanath 2015); its delta is paid from what is set aside.
    """

    name = "renyi"

    bounds: tuple[tuple[Fraction, Fraction], ...]
    own: Fraction
    slack: Fraction

    @property
    def why(self) -> Message:
        return Message("accounting.filter.renyi_curve")

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """The most of each order, and what is set aside of delta."""
        return {_order(order): bound for order, bound in self.bounds} | {DELTA: self.own}

    def price_of_loss(self, loss: Loss, delta: Fraction | None) -> Price:
        """Its Renyi divergence of each order, and its delta."""
        failure, inner = Fraction(0), loss
        if isinstance(loss, ApproximateLoss) or not loss.finite:
            epsilon, failure = epsilon_delta_of(loss, delta)
            inner = PureLoss(epsilon)
        found = {_order(order): _divergence(inner, order) for order, _ in self.bounds}
        return Price(found | {DELTA: failure})

    def converted(self, amounts: Price) -> tuple[float, float] | None:
        """The epsilon of the best order at the slack, and all of delta that is set aside."""
        failure, found = float(below(float(self.slack))), []
        for order, _ in self.bounds:
            amount, a = amounts[_order(order)], float(order)
            if amount is not None:
                # Canonne, Kamath & Steinke 2020, Prop. 12.
                cost = round_up(amount) + log1p(-1 / a) - (log(failure) + log(a)) / (a - 1)
                found.append(max(0.0, cost))
        return (raised(min(found)), round_up(self.slack + self.own)) if found else None


def _order(order: Fraction) -> str:
    return f"order {float(order):g}"


def _divergence(loss: Loss, order: Fraction) -> Fraction | None:
    """An upper bound of the Renyi divergence of a loss; exact where that is simple."""
    rho = exact_rho(loss)
    plain = None if rho is None else order * rho
    found = exact(raised(loss.renyi(float(order))))
    return plain if found is None else found if plain is None else min(found, plain)


def advanced_limit(epsilon: Fraction, slack: Fraction) -> Fraction:
    """The largest S with sqrt(2 ln(1/slack) S) + S/2 <= epsilon, rounded down."""
    width = 2 * log(1 / slack)
    # (sqrt(w + 2e) - sqrt(w))^2, in the form that does not cancel.
    return below((2 * float(epsilon) / (sqrt(width + 2 * float(epsilon)) + sqrt(width))) ** 2)


def concentrated_limit(epsilon: Fraction, slack: Fraction) -> Fraction:
    """The largest rho found for which rho-zCDP gives (epsilon, slack)-DP, rounded down."""
    wanted, place = float(below(float(slack))), np.array([float(epsilon)])

    def holds(rho: float) -> bool:
        return bool(concentrated_curve(rho, place)[0] <= wanted)

    low = float(advanced_limit(epsilon, slack)) / 2
    high = 2 * low
    while holds(high):
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return below(low)


def renyi_limits(
    epsilon: Fraction, delta: Fraction, orders: tuple[float, ...]
) -> tuple[tuple[float, Fraction], ...]:
    """The most of each order that gives (epsilon, delta / number of orders)-DP, rounded down.

    The inverse of delta = e^((a-1)(R - epsilon)) (1 - 1/a)^a / (a - 1) (Canonne et al. 2020,
    Prop. 12). Orders that allow nothing at all are left out.
    """
    share = float(delta) / len(orders)
    found = (
        (a, float(epsilon) + (log(share) + log(a - 1) - a * log1p(-1 / a)) / (a - 1))
        for a in orders
    )
    return tuple((order, below(limit)) for order, limit in found if limit > 0)


FILTERS = ("basic", "concentrated", "renyi", "advanced", "either")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance(PlainValues):
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
