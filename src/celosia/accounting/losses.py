"""Privacy losses: the price of one release as a value, in every currency that it can be paid in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import cosh, exp, expm1, inf, log, log1p, sinh
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting import distributions
from celosia.accounting.amounts import (
    check_chance,
    check_cost,
    check_epsilon,
    check_order,
    format_amount,
    round_up,
)
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import PlainValues
from celosia.core.numbers import exact

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from celosia.accounting.accountant import Accountant


class Loss(PlainValues, ABC):
    """What one release costs: a frozen value that every way of composition can read.

    A subclass says what it knows; what it does not know is infinite, never a guess. All numbers are
    upper bounds: rounding goes up.
    """

    @property
    @abstractmethod
    def pure(self) -> float:
        """The epsilon with delta 0; infinite where there is none."""

    @property
    def rho(self) -> float:
        """The rho of zero-concentrated differential privacy; infinite where there is none.

        Epsilon-DP is epsilon^2/2-zCDP (Bun & Steinke 2016, Prop. 1.4).
        """
        cost = exact(self.pure)
        return inf if cost is None else round_up(cost**2 / 2)

    @abstractmethod
    def renyi(self, order: float) -> float:
        """The Renyi divergence bound of an order above 1."""

    @abstractmethod
    def distribution(self) -> PrivacyLossDistribution:
        """A privacy loss distribution that dominates the release, rounded against us."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """The least delta known to hold with an epsilon of at least 0."""

    @abstractmethod
    def epsilon(self, delta: float) -> float:
        """The least epsilon known to hold with a delta; infinite where there is none."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with a `kind`."""

    @property
    def finite(self) -> bool:
        """Whether anything at all is promised with a small delta."""
        return self.pure < inf or self.rho < inf


TAIL = 1e-17
"""Mass that a distribution may put on an infinite loss where the curve never reaches 0."""
DEFAULT_STEP = 1e-4
"""The step of dp_accounting, so that its distributions and ours compose."""
ROUNDS, PARTS = 8, 64


class CurveLoss(Loss):
    """A loss with a curve that bounds every pair of neighbours, in both directions.

    The curve is all that composition needs: a privacy loss distribution with a curve at least as
    high at every epsilon dominates the release, and products of dominating distributions dominate
    compositions (Zhu, Dong & Wang 2022, Thm 10).
    """

    __slots__ = ()

    @abstractmethod
    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """An upper bound of delta at each epsilon of at least 0; never rising."""

    def delta(self, epsilon: float) -> float:
        """The least delta known to hold with an epsilon."""
        wanted = check_epsilon(epsilon)
        if wanted >= self.pure:
            return 0.0
        return min(1.0, float(self.curve(np.array([wanted]))[0]))

    def epsilon(self, delta: float) -> float:
        """The least epsilon known to hold with a delta."""
        wanted = check_chance(delta)
        if wanted == 0 or self.pure == 0:
            return self.pure
        if wanted == 1:
            return 0.0
        return self._reach(wanted)

    def distribution(self, *, step: float = DEFAULT_STEP) -> PrivacyLossDistribution:
        """A privacy loss distribution that dominates the release.

        Args:
            step: the distance of its losses. Where the losses reach so far that the distribution
                would not fit into memory, it is doubled as often as needed.
        """
        step = distributions.fitting_step(step, self.reach())
        return distributions.for_dp_accounting(self.directions(step))

    def on_grid(self, step: float) -> distributions.LossDistribution:
        """The distribution on multiples of a step, rounded against us."""
        return distributions.distribution_from_curve(self.curve, reach=self.reach(), step=step)

    def directions(self, step: float) -> distributions.Directions:
        """The distributions of neighbours in either order; the same unless a loss knows better."""
        found = self.on_grid(step)
        return found, found

    def reach(self) -> float:
        """A loss that is exceeded at most with a chance that does not count."""
        return self.pure if self.pure < inf else self._reach(TAIL)

    def _reach(self, delta: float) -> float:
        # The curve falls, so a bracket can be cut into parts again and again; its upper end, where
        # the curve was seen to be low enough, is an upper bound whatever the rounding.
        low, high = 0.0, min(self.pure, 1.0)
        if self.curve(np.zeros(1))[0] <= delta:
            return 0.0
        while high < self.pure and self.curve(np.array([high]))[0] > delta:
            low, high = high, min(2 * high, self.pure)
            if high > 1e300:
                return inf
        for _ in range(ROUNDS):
            points = np.linspace(low, high, PARTS + 1)
            enough = self.curve(points[1:-1]) <= delta
            first = int(np.argmax(enough)) if enough.any() else PARTS - 1
            low, high = float(points[first]), float(points[first + 1])
        return high


TINY = 1e-9
"""Of an epsilon: below it nothing is left of a difference to 1."""
LARGE = 300.0
"""Of the argument of a hyperbolic sine: beyond it the exponential is all that counts."""


def randomised_response_renyi(epsilon: float, order: float) -> float:
    """The Renyi divergence of the two answers of randomised response, the worst epsilon-DP pair.

    It is log(cosh((order - 1/2) epsilon) / cosh(epsilon / 2)) / (order - 1); the difference of the
    two cosines is written as a product, so that small values do not cancel.

    >>> round(randomised_response_renyi(1.0, 2.0), 6)
    0.735326
    """
    if (order - 0.5) * epsilon > LARGE:
        return epsilon
    gain = 2 * sinh(order * epsilon / 2) * sinh((order - 1) * epsilon / 2) / cosh(epsilon / 2)
    return min(epsilon, order * epsilon**2 / 2, log1p(gain) / (order - 1))


@dataclass(frozen=True, slots=True)
class _EpsilonLoss(CurveLoss):
    """A loss that is bounded by an exact epsilon."""

    value: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check_cost(self.value))

    @property
    def pure(self) -> float:
        return round_up(self.value)


@dataclass(frozen=True, slots=True)
class PureLoss(_EpsilonLoss):
    """Epsilon-DP, of whatever mechanism: no worse than randomised response.

    Reference: Kairouz, Oh & Viswanath 2015, Thm 3.3 (the dominating pair).

    >>> loss = PureLoss(Fraction(1, 2))
    >>> print(loss, loss.pure, loss.rho)
    0.5-DP 0.5 0.125
    """

    def renyi(self, order: float) -> float:
        """That of randomised response."""
        return randomised_response_renyi(self.pure, check_order(order))

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """Delta of randomised response: (e^pure - e^epsilon) / (e^pure + 1)."""
        return _response_curve(self.pure, epsilon)

    def on_grid(self, step: float) -> distributions.LossDistribution:
        """The two losses of randomised response, on the grid."""
        return _response(self.pure, 0.0, step)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "pure", "epsilon": self.pure}

    def __str__(self) -> str:
        return f"{format_amount(self.value)}-DP"


@dataclass(frozen=True, slots=True)
class ApproximateLoss(CurveLoss):
    """(epsilon, delta)-DP, of whatever mechanism: randomised response that at times tells all.

    Reference: Kairouz, Oh & Viswanath 2015, Thm 3.4.

    >>> print(ApproximateLoss(Fraction(1, 2), 1e-6))
    (0.5, 1e-06)-DP
    """

    value: Fraction
    failure: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check_cost(self.value))
        object.__setattr__(self, "failure", check_chance(self.failure))

    @property
    def pure(self) -> float:
        """Infinite, unless the delta is 0."""
        return inf if self.failure else round_up(self.value)

    @property
    def finite(self) -> bool:
        """Whether it promises anything."""
        return self.failure < 1

    def renyi(self, order: float) -> float:
        """Infinite, unless the delta is 0: an event of chance delta may tell all."""
        check_order(order)
        return inf if self.failure else randomised_response_renyi(round_up(self.value), order)

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """Delta, and for what delta leaves that of randomised response."""
        return self.failure + (1 - self.failure) * _response_curve(round_up(self.value), epsilon)

    def delta(self, epsilon: float) -> float:
        """At least the own delta, however large the epsilon."""
        return min(1.0, float(self.curve(np.array([check_epsilon(epsilon)]))[0]))

    def epsilon(self, delta: float) -> float:
        """The least epsilon; infinite below the own delta."""
        if check_chance(delta) < self.failure:
            return inf
        if delta == 1:
            return 0.0
        if delta == self.failure:
            return round_up(self.value)
        return min(round_up(self.value), self._reach(delta))

    def reach(self) -> float:
        """The epsilon: the only finite losses are plus and minus that."""
        return round_up(self.value)

    def on_grid(self, step: float) -> distributions.LossDistribution:
        """Its three losses, on the grid."""
        return _response(round_up(self.value), self.failure, step)

    def as_dict(self) -> dict[str, Any]:
        """The kind, the epsilon and the delta."""
        return {"kind": "approximate", "epsilon": round_up(self.value), "delta": self.failure}

    def __str__(self) -> str:
        return f"({format_amount(self.value)}, {self.failure:g})-DP"


@dataclass(frozen=True, slots=True)
class BoundedRangeLoss(_EpsilonLoss):
    """The exponential mechanism: epsilon-DP with losses in an interval of length epsilon.

    A pair of neighbours with losses in [t - epsilon, t] is no worse than a binary pair with just
    these two losses. Its chance of t is (e^epsilon - e^t) / (e^epsilon - 1), and its delta at x is
    that times 1 - e^(x - t). The largest over t, at t = (epsilon + x) / 2, is
    (e^(epsilon/2) - e^(x/2))^2 / (e^epsilon - 1): a largest of curves of pairs is the curve of a
    pair that dominates them all (Zhu, Dong & Wang 2022, Prop. 8).

    Reference: Durfee & Rogers 2019; Dong, Durfee & Rogers 2020; Cesar & Rogers 2021 for rho.

    >>> BoundedRangeLoss(Fraction(1)).rho
    0.125
    """

    @property
    def rho(self) -> float:
        """epsilon^2 / 8, a quarter of what epsilon-DP alone gives."""
        return round_up(self.value**2 / 8)

    def renyi(self, order: float) -> float:
        """The largest over the place of the interval, in closed form."""
        order, size = check_order(order), self.pure
        simple = min(size, order * self.rho)
        if not TINY < size < LARGE or order * size > LARGE:
            return simple  # too small or too large for the closed form below in floats
        # The mean of e^((order-1) loss) is (e^((order-1)t) outer - e^(order t) inner)/(e^size - 1).
        outer, inner = exp(size) - exp(-(order - 1) * size), -expm1(-(order - 1) * size)
        place = log((order - 1) * outer / (order * inner))
        moment = (exp((order - 1) * place) * outer - exp(order * place) * inner) / expm1(size)
        # The two terms are about order times as large as their difference, which is about size.
        error = 1e-15 * (4 + order) * (4 + order * size) * (1 + 1 / size)
        return min(simple, max(0.0, log(moment) + error) / (order - 1))

    def curve(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """(e^(pure/2) - e^(epsilon/2))^2 / (e^pure - 1), written so that it cannot overflow."""
        gap = np.minimum(epsilon - self.pure, 0.0) / 2
        bottom = -expm1(-self.pure) if self.pure else 1.0
        return np.expm1(gap) ** 2 / bottom

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "bounded-range", "epsilon": self.pure}

    def __str__(self) -> str:
        return Message("accounting.loss.bounded_range", epsilon=format_amount(self.value))


def _response_curve(epsilon: float, at: NDArray[np.float64]) -> NDArray[np.float64]:
    return -np.expm1(np.minimum(at - epsilon, 0.0)) / (1 + exp(-epsilon))


def _response(epsilon: float, failure: float, step: float) -> distributions.LossDistribution:
    likely = (1 - failure) / (1 + exp(-epsilon))
    unlikely = (1 - failure) * exp(-epsilon) / (1 + exp(-epsilon))
    return distributions.distribution_from_losses(
        [epsilon, -epsilon], [likely, unlikely], infinity=failure, step=step
    )


@dataclass(frozen=True, slots=True)
class ComposedLoss(Loss):
    """Several releases of the same data, one after the other.

    The mechanisms may be chosen by the answers so far, their losses may not: the sequence of
    losses is fixed in advance. Epsilon and delta are the tightest of all bounds that hold for one
    (see `explain`). Parts that are composed themselves are taken apart.
    """

    parts: tuple[Loss, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", parts_of(self.parts))

    @property
    def pure(self) -> float:
        """The sum of the epsilons."""
        return _total(part.pure for part in self.parts)

    @property
    def rho(self) -> float:
        """The sum of the rhos."""
        return _total(part.rho for part in self.parts)

    @property
    def finite(self) -> bool:
        """Whether each part promises anything."""
        return all(part.finite for part in self.parts)

    def renyi(self, order: float) -> float:
        """The sum of the divergences of the order."""
        return _total(
            divergence
            for part, times in Counter(self.parts).items()
            for divergence in [part.renyi(order)] * times
        )

    def delta(self, epsilon: float) -> float:
        """The least delta that any bound gives."""
        return account_of(self.parts).delta(check_epsilon(epsilon))

    def epsilon(self, delta: float) -> float:
        """The least epsilon that any bound gives."""
        return account_of(self.parts).epsilon(check_chance(delta))

    def distribution(self) -> PrivacyLossDistribution:
        """The distribution of the sum of the losses, on a grid that fits its spread."""
        return distributions.for_dp_accounting(account_of(self.parts).directions())

    def as_dict(self) -> dict[str, Any]:
        """The kind and the parts."""
        return {"kind": "composed", "parts": [part.as_dict() for part in self.parts]}

    def __str__(self) -> str:
        counts = Counter(self.parts)
        terms = [f"{times} x {part}" if times > 1 else str(part) for part, times in counts.items()]
        return " + ".join(terms) if terms else Message("accounting.loss.nothing")


def parts_of(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """The losses of a list, with composed ones taken apart."""
    parts: list[Loss] = []
    for loss in losses:
        if isinstance(loss, ComposedLoss):
            parts.extend(loss.parts)
        elif isinstance(loss, Loss):
            parts.append(loss)
        else:
            raise InputError("CEL-B005", name=type(loss).__name__)
    return tuple(parts)


def _total(values: Iterable[float]) -> float:
    total = Fraction(0)
    for value in values:
        number = exact(value)
        if number is None:
            return inf
        total += number
    return round_up(total)


@lru_cache(maxsize=16)
def account_of(parts: tuple[Loss, ...]) -> Accountant:
    """The account of a list of losses; it is shared, so nothing may be added to it."""
    from celosia.accounting.accountant import Accountant, reach_of  # they know each other

    account = Accountant()
    # Small losses first, on a fine grid, which becomes coarser with the large ones.
    counts = Counter(parts)
    for part in sorted(counts, key=reach_of):
        account.add(part, times=counts[part])
    return account
