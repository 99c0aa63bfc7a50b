"""Bounds on what many releases cost together, by the theorems of advanced composition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import e, expm1, fsum, inf, isinf, log, log1p, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from celosia.accounting.amounts import check_chance, check_epsilon, check_times
from celosia.core.errors import InputError
from celosia.core.methods import Parameter, PlainValues, checked


@dataclass(frozen=True, slots=True)
class Bound:
    """The epsilon that one theorem gives for a composition at a delta."""

    name: str
    epsilon: float
    adaptive: bool
    """Whether it still holds when each next loss is chosen by the answers so far, against a total
    that is fixed in advance (Feldman & Zrnic 2021; Whitehouse, Ramdas, Rogers & Wu 2023)."""
    reason: str = ""
    """Why it is infinite, where it is."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values; None for an infinite epsilon, which JSON does not know."""
        return {
            "name": self.name,
            "epsilon": None if isinf(self.epsilon) else self.epsilon,
            "adaptive": self.adaptive,
            "reason": self.reason,
        }


MOST_TERMS = 10**7


class ComposedEpsilon(NamedTuple):
    """The epsilon and the delta of a whole composition."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class BestComposition(PlainValues):
    """The best of several ways to compose."""

    name: str
    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"{self.name}: ({self.epsilon:.6g}, {self.delta:.6g})-DP"


def basic(count: int, epsilon: float, *, delta: float = 0.0) -> ComposedEpsilon:
    """`count` mechanisms, each (epsilon, delta)-DP: the sums.

    >>> basic(4, 0.25)
    ComposedEpsilon(epsilon=1.0, delta=0.0)
    """
    count, epsilon, delta = _checked(count, epsilon, delta)
    return ComposedEpsilon(count * epsilon, min(1.0, count * delta))


def advanced(count: int, epsilon: float, *, slack: float, delta: float = 0.0) -> ComposedEpsilon:
    """`count` adaptively chosen mechanisms, each (epsilon, delta)-DP, by the advanced theorem.

    Epsilon grows with the root of the count, for a further chance `slack` of failure.

    Reference: Dwork, Rothblum & Vadhan 2010; Dwork & Roth 2014, Thm 3.20.

    >>> round(advanced(100, 0.1, slack=1e-6).epsilon, 4)
    6.3082
    """
    count, epsilon, delta = _checked(count, epsilon, delta)
    root = sqrt(2 * count * log(1 / _check_slack(slack)))
    try:
        drift = count * epsilon * expm1(epsilon)
    except OverflowError:
        drift = inf
    return ComposedEpsilon(epsilon * root + drift, min(1.0, count * delta + slack))


def advanced_inverse(count: int, total: float, *, slack: float) -> float:
    """The largest epsilon of each of `count` mechanisms whose advanced composition is `total`.

    >>> from math import exp
    >>> round(advanced_inverse(10_000, 1.0, slack=exp(-32)), 8)
    0.00123104
    """
    count, total, _ = _checked(count, total, 0.0)
    _check_slack(slack)
    low, high = 0.0, 1.0
    while total < inf and advanced(count, high, slack=slack).epsilon <= total:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return low if total < inf else inf
        if advanced(count, middle, slack=slack).epsilon <= total:
            low = middle
        else:
            high = middle


def advanced_corollary(count: int, total: float, *, slack: float) -> float:
    """An epsilon of each mechanism that is always small enough, about half of the largest.

    Reference: Dwork & Roth 2014, Cor. 3.21.

    >>> from math import exp
    >>> round(1 / advanced_corollary(10_000, 1.0, slack=exp(-32)))
    1600

    Raises:
        InputError: CEL-B009 the total is above 1, where the corollary says nothing.
    """
    count, total, _ = _checked(count, total, 0.0)
    if total > 1:
        raise InputError("CEL-B009", total=total)
    found = total / (2 * sqrt(2 * count * log(1 / _check_slack(slack))))
    # The proof needs total <= 4 ln(1/slack), which a slack near 1 breaks.
    return min(found, advanced_inverse(count, total, slack=slack))


def advanced_mixed(epsilons: Iterable[float], *, slack: float) -> float:
    """The epsilon of mechanisms with different epsilons, for a chance `slack` of failure.

    Valid for a sequence of epsilons that is fixed in advance; the mechanisms may be adaptive.

    Reference: Kairouz, Oh & Viswanath 2015, Thm 3.5 (the least of its three bounds).
    """
    costs = [check_epsilon(epsilon) for epsilon in epsilons]
    return mixed_bound(
        total=fsum(costs),
        drift=fsum(cost * tanh(cost / 2) for cost in costs),
        squares=fsum(cost**2 for cost in costs),
        slack=_check_slack(slack),
    )


def mixed_bound(*, total: float, drift: float, squares: float, slack: float) -> float:
    """The bound of `advanced_mixed` from its three sums.

    Args:
        total: of the epsilons.
        drift: of epsilon * tanh(epsilon / 2).
        squares: of the squares of the epsilons.
        slack: the further chance of failure, above 0.
    """
    if squares == inf:
        return inf
    spread = min(log(1 / slack), log(e + sqrt(squares) / slack))
    return min(total, drift + sqrt(2 * squares * spread))


def optimal_delta(count: int, epsilon: float, *, at: float, delta: float = 0.0) -> float:
    """The exact delta at an epsilon `at` of `count` mechanisms, each (epsilon, delta)-DP.

    It is attained by randomised response: no better bound knows only epsilon, delta and the count.

    Reference: Kairouz, Oh & Viswanath 2015, Thm 3.3; Murtagh & Vadhan 2016, Thm 1.5.
    """
    from scipy.special import gammaln

    count, epsilon, delta = _checked(count, epsilon, delta)
    wanted = check_epsilon(at)
    likely = np.arange(count + 1, dtype=np.float64)  # how many answers are the likely ones
    ways = gammaln(count + 1) - gammaln(likely + 1) - gammaln(count - likely + 1)
    scale = count * np.logaddexp(0.0, epsilon)
    losses = (2 * likely - count) * epsilon
    chances = np.exp(ways + likely * epsilon - scale)
    over = losses > wanted
    gone = float((-np.expm1(wanted - losses[over]) * chances[over]).sum())
    # The logarithms of the chances are wrong by a few units in the last place of their terms.
    gone = min(1.0, gone * (1 + 2.0**-50 * (float(ways.max()) + float(gammaln(count + 1)) + scale)))
    return _either(count, delta, gone)


def optimal(count: int, epsilon: float, *, slack: float, delta: float = 0.0) -> ComposedEpsilon:
    """The least epsilon of `count` mechanisms, each (epsilon, delta)-DP, for a slack.

    The total delta is that of the mechanisms, 1 - (1 - delta)^count, and the slack.

    >>> print(round(optimal(100, 0.1, slack=1e-6).epsilon, 3))
    4.775
    """
    count, epsilon, delta = _checked(count, epsilon, delta)
    slack = _check_slack(slack)
    low, high = 0.0, count * epsilon
    if optimal_delta(count, epsilon, at=0.0) <= slack:
        high = 0.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if optimal_delta(count, epsilon, at=middle) <= slack:
            high = middle
        else:
            low = middle
    return ComposedEpsilon(high, _either(count, delta, slack))


def _either(count: int, delta: float, other: float) -> float:
    """The chance that one of `count` events of chance delta happens, or another event."""
    if delta == 1:
        return 1.0
    own = -expm1(count * log1p(-delta))  # 1 - (1 - delta)^count, which would lose a small delta
    return min(1.0, own + (1 - own) * other)


def best_composition(
    count: int, epsilon: float, *, slack: float, delta: float = 0.0
) -> BestComposition:
    """The smaller of the basic and the advanced bound.

    >>> print(best_composition(10, 0.1, slack=1e-6))
    basic: (1, 0)-DP
    """
    plain = basic(count, epsilon, delta=delta)
    rooted = advanced(count, epsilon, slack=slack, delta=delta)
    if plain.epsilon <= rooted.epsilon:
        return BestComposition("basic", plain.epsilon, plain.delta)
    return BestComposition("advanced", rooted.epsilon, rooted.delta)


def _checked(count: object, epsilon: object, delta: object) -> tuple[int, float, float]:
    number = check_times(count, most=MOST_TERMS)
    return number, check_epsilon(epsilon), check_chance(delta)


SLACK = Parameter(name="slack", kind="number", above=0, below=1, start=1e-8)


def _check_slack(slack: object) -> float:
    return float(checked("advanced composition", SLACK, slack))
