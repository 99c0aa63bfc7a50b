"""The effect of an epsilon on the belief of an attacker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, inf, isinf, log, log1p
from typing import Any

from celosia.accounting.amounts import MARGIN, delta_amount, epsilon_amount, share_amount
from celosia.core.errors import PrivacyError
from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues

USUAL_DELTA = Fraction(1, 10**6)
"""The largest delta that is accepted without a warning where the number of people is private."""
PRIORS = (0.001, 0.01, 0.1, 0.5, 0.75, 0.99)
EPSILONS = (0.01, 0.1, 1.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Belief(PlainValues):
    """Between what bounds a probability can move when one person's data change.

    >>> print(belief_interval(0.5, epsilon=1))
    0.5000 -> 0.1839 .. 0.8161
    """

    prior: float
    epsilon: float
    delta: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.prior:.4f} -> {self.low:.4f} .. {self.high:.4f}"


def belief_interval(prior: float, epsilon: float, *, delta: float = 0) -> Belief:
    """The bounds of the probability of an event after one neighbour step.

    With P(E) = p before and p' after: p' <= e^epsilon p + delta and p <= e^epsilon p' + delta, and
    the same two for the complement of E.

    Args:
        prior: the probability before, between 0 and 1.
        epsilon: at least 0.
        delta: at least 0 and below 1.

    Raises:
        InputError: CEL-I060 the prior, the epsilon or the delta is out of range.
    """
    p = float(share_amount(prior, name="prior"))
    size = float(epsilon_amount(epsilon, zero=True))
    failure = float(delta_amount(delta, zero=True))
    less = exp(-size)
    more = exp(size) if size < 700 else inf
    low = max(0.0, less * (p - failure), 1 - more * (1 - p) - failure)
    high = min(1.0, more * p + failure, 1 - less * (1 - p - failure))
    return Belief(p, size, failure, low, high)


@dataclass(frozen=True, slots=True)
class BeliefTable:
    """Beliefs for several priors and epsilons, one row a prior."""

    epsilons: tuple[float, ...]
    rows: tuple[tuple[Belief, ...], ...]

    @property
    def factors(self) -> tuple[float, ...]:
        """e^epsilon for each column."""
        return tuple(exp(each) if each < 700 else inf for each in self.epsilons)

    def as_dict(self) -> dict[str, Any]:
        """Plain values; None for a factor beyond all floats, which JSON does not know."""
        return {
            "epsilons": list(self.epsilons),
            "factors": [None if isinf(factor) else factor for factor in self.factors],
            "rows": [[belief.as_dict() for belief in row] for row in self.rows],
        }

    def __str__(self) -> str:
        names = [say("accounting.belief.epsilon", epsilon=each) for each in self.epsilons]
        head = f"{say('accounting.belief.prior'):<8}" + " ".join(f"{name:>15}" for name in names)
        lines = [
            f"{row[0].prior:<8.4g}"
            + " ".join(f"{f'{cell.low:.4f}-{cell.high:.4f}':>15}" for cell in row)
            for row in self.rows
        ]
        return "\n".join([head, *lines])


def belief_table(
    priors: Sequence[float] = PRIORS,
    epsilons: Sequence[float] = EPSILONS,
    *,
    delta: float = 0,
) -> BeliefTable:
    """The belief interval of every prior under every epsilon."""
    rows = tuple(
        tuple(belief_interval(prior, epsilon, delta=delta) for epsilon in epsilons)
        for prior in priors
    )
    return BeliefTable(tuple(float(epsilon_amount(each, zero=True)) for each in epsilons), rows)


def epsilon_for_belief(prior: float, *, at_most: float, delta: float = 0) -> float:
    """The largest epsilon under which a belief of `prior` stays at or below `at_most`.

    The upper end is the lesser of p e^epsilon + delta and 1 - e^-epsilon (1 - p - delta), so it
    stays within b as long as one of them does:
    epsilon = max(ln((b - delta)/p), ln((1 - p - delta)/(1 - b))).

    >>> print(round(epsilon_for_belief(0.5, at_most=0.75), 6))
    0.693147

    Raises:
        InputError: CEL-I060 not two probabilities and a delta.
        PrivacyError: CEL-B071 the target is below the prior (and delta): no epsilon takes knowledge
            away.
    """
    p, b = share_amount(prior, name="prior"), share_amount(at_most, name="target belief")
    failure = delta_amount(delta, zero=True)
    if b < p + failure:
        raise PrivacyError("CEL-B071.belief", p=float(p), b=float(b))
    found = max(log((b - failure) / p), log((1 - p - failure) / (1 - b)))
    return found * (1 - float(MARGIN))


def advantage(epsilon: float, *, delta: float = 0) -> float:
    """The most that membership can be told: true positive rate less false positive rate.

    (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), for any test (Kairouz, Oh & Viswanath 2015).

    >>> print(round(advantage(1), 6))
    0.462117
    """
    size = float(epsilon_amount(epsilon, zero=True))
    failure = float(delta_amount(delta, zero=True))
    less = exp(-size)
    return min(1.0, (-expm1(-size) + 2 * failure * less) / (1 + less))


def epsilon_for_advantage(at_most: float, *, delta: float = 0) -> float:
    """The largest epsilon under which no membership test has more than this advantage.

    Raises:
        InputError: CEL-I060 not an advantage and a delta.
        PrivacyError: CEL-B071 delta alone gives a greater advantage.
    """
    target = share_amount(at_most, name="advantage")
    failure = delta_amount(delta, zero=True)
    if failure > target:
        raise PrivacyError("CEL-B071.advantage", failure=float(failure), target=float(target))
    gain = 2 * (target - failure) / (1 - target)
    return log1p(gain) * (1 - float(MARGIN))


def delta_warning(delta: float | Fraction, people: int | None = None) -> Message | None:
    """A warning where a delta allows to give away whole people; None where it is small enough.

    A mechanism that publishes the data of each of n people with probability delta is
    (0, delta)-differentially private, and gives away delta * n of them on average
    (Dwork & Roth 2014, section 2.3).

    Args:
        delta: the chance that a promise fails.
        people: a public number of people, or a public bound on it; None where it is private.

    >>> delta_warning(1e-8, people=1_000_000) is None, delta_warning(1e-6) is None
    (True, True)
    >>> print(delta_warning(1e-4, people=20_000))
    a delta of 0.0001 is not below 1/20,000: such a promise allows to publish the data of one \
person in full. Take a delta far below one divided by the number of people
    """
    if people is not None and delta * people >= 1:
        return Message("accounting.warning.delta_of_people", delta=float(delta), people=people)
    if people is None and delta > USUAL_DELTA:
        return Message("accounting.warning.delta", delta=float(delta), usual=float(USUAL_DELTA))
    return None
