"""How much each of many equal releases may spend, so that all of them stay within a total."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from math import nextafter
from typing import Any

from celosia.accounting.advanced_composition import (
    advanced_corollary,
    advanced_inverse,
    optimal_delta,
)
from celosia.accounting.amounts import MARGIN, count_amount, delta_amount, epsilon_amount
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues
from celosia.core.numbers import exact

MOST_RELEASES = 10**6
SURELY = 1 - 2 * float(MARGIN)
CLOSE = 1e-12


@dataclass(frozen=True, slots=True)
class Share(PlainValues):
    """The epsilon that one theorem allows each release."""

    name: str
    epsilon: float


@dataclass(frozen=True, slots=True)
class Split:
    """A total epsilon, divided among equal releases by several theorems."""

    total: float
    releases: int
    delta: float
    shares: tuple[Share, ...]

    @property
    def best(self) -> Share:
        """The theorem that allows each release most."""
        return max(self.shares, key=lambda share: share.epsilon)

    def as_dict(self) -> dict[str, Any]:
        best = self.best
        return {
            "total": self.total,
            "releases": self.releases,
            "delta": self.delta,
            "shares": [{**share.as_dict(), "best": share is best} for share in self.shares],
        }

    def __str__(self) -> str:
        each = Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(self.best.epsilon)
        return say(
            "accounting.split.summary",
            releases=self.releases,
            epsilon=each.normalize(),
            name=self.best.name,
            total=self.total,
            delta=self.delta,
        )


def split(total: float, *, releases: int, delta: float) -> Split:
    """The largest epsilon of each of many epsilon-DP releases within a total.

    The epsilons are fixed in advance; what is asked may depend on the answers so far.

    Args:
        total: the epsilon of all releases together.
        releases: how many there are.
        delta: of all releases together; 0 leaves equal parts only.

    Raises:
        InputError: CEL-I060 the total, the delta or the number is out of range.

    >>> print(split(1, releases=100, delta=1e-6))
    each of 100 releases may spend epsilon 0.024011 (optimal composition) within (1, 1e-06)-DP
    """
    exact_total = epsilon_amount(total, name="total")
    amount = float(exact_total)
    count = count_amount(releases, name="number of releases", most=MOST_RELEASES)
    failure = float(delta_amount(delta, zero=True))
    shares = [Share(Message("accounting.share.equal_parts"), _part(exact_total, count))]
    if failure:
        if amount <= 1:
            corollary = advanced_corollary(count, amount, slack=failure)
            name = Message("accounting.share.corollary")
            shares.append(Share(name, corollary * SURELY))
        theorem = advanced_inverse(count, amount, slack=failure)
        shares.append(Share(Message("accounting.share.advanced"), theorem * SURELY))
        largest = _largest(
            lambda each: optimal_delta(count, each, at=amount) <= failure * SURELY,
            least=max(share.epsilon for share in shares),
        )
        shares.append(Share(Message("accounting.share.optimal"), largest * SURELY))
    return Split(amount, count, failure, tuple(shares))


def _part(total: Fraction, count: int) -> float:
    """The largest float that, as it is written, is at most an equal part."""
    part = float(total / count)
    written = exact(part)
    return part if written is not None and written * count <= total else nextafter(part, 0.0)


def _largest(holds: Callable[[float], bool], *, least: float) -> float:
    """The largest epsilon at which a falling condition holds; it does at `least`."""
    low, high = least, 2 * least
    while holds(high):
        low, high = high, 2 * high
    while high - low > CLOSE * low:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
