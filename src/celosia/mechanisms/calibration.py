"""Calibration: the epsilon for a target error, for a target risk, or for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, log10
from typing import Any

from celosia.accounting.belief import (
    PRIORS,
    Belief,
    advantage,
    belief_interval,
    epsilon_for_advantage,
    epsilon_for_belief,
)
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message, say, say_of
from celosia.core.methods import PlainValues
from celosia.mechanisms import parameters
from celosia.mechanisms.mechanism import DIGITS, Mechanism

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
AnyMechanism = Mechanism[Any, Any]


@dataclass(frozen=True, slots=True)
class ErrorPoint(PlainValues):
    """The error of a mechanism at one epsilon."""

    epsilon: float
    error: float


@dataclass(frozen=True, slots=True)
class ErrorCurve(PlainValues):
    """The error that is not exceeded with a confidence, epsilon by epsilon."""

    parameter: str
    """What is called epsilon here: rho for some mechanisms."""
    confidence: float
    size: int
    points: tuple[ErrorPoint, ...]

    def __str__(self) -> str:
        error = say("mechanisms.calibration.error_column", confidence=self.confidence)
        lines = [f"{self.parameter:>10} {error:>14}"]
        lines += [f"{point.epsilon:>10g} {point.error:>14.6g}" for point in self.points]
        return "\n".join(lines)


def error_curve(
    mechanism: AnyMechanism,
    epsilons: Sequence[float] = EPSILONS,
    *,
    confidence: float = 0.95,
    size: int = 1,
) -> ErrorCurve:
    """The error of a mechanism at several epsilons, from its parameters alone.

    Args:
        mechanism: with any epsilon.
        epsilons: to try; of rho where that is what the mechanism takes.
        confidence: how often the error is not exceeded.
        size: as in `Mechanism.accuracy`.

    Raises:
        InputError: CEL-I060 an epsilon or the confidence is out of range.
    """
    share = parameters.check_confidence(confidence)
    points = []
    for epsilon in epsilons:
        tried = _with_price(mechanism, parameters.check_epsilon(epsilon, name=mechanism.parameter))
        points.append(ErrorPoint(float(epsilon), float(tried.accuracy(share, size=size))))
    return ErrorCurve(mechanism.parameter, share, size, tuple(points))


@dataclass(frozen=True, slots=True)
class EpsilonRecommendation:
    """A mechanism that meets the targets, with its error and its risk."""

    mechanism: AnyMechanism
    epsilon: float
    delta: float
    error: float
    confidence: float
    beliefs: tuple[Belief, ...]
    advantage: float
    """The largest advantage of a membership test over a guess."""
    reason: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "method": str(self.mechanism),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "error": self.error,
            "confidence": self.confidence,
            "beliefs": [belief.as_dict() for belief in self.beliefs],
            "advantage": self.advantage,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        return say_of("mechanisms.calibration.summary", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Targets of error and risk that an epsilon must meet.

    Args:
        error: the largest acceptable error.
        confidence: how often it must hold.
        size: as in `Mechanism.accuracy`.
        prior: the belief of an attacker before the release, for `belief`.
        belief: the largest belief that the attacker may have after the release.
        advantage: the largest advantage of a membership test over a guess.
        delta: of the promise; 0 for mechanisms that have a pure epsilon.
    """

    error: float | None = None
    confidence: float = 0.95
    size: int = 1
    prior: float = 0.5
    belief: float | None = None
    advantage: float | None = None
    delta: float = 0

    def most_epsilon(self) -> float:
        """The largest epsilon that the risk targets allow; infinite without any."""
        allowed = inf
        if self.belief is not None:
            allowed = epsilon_for_belief(self.prior, at_most=self.belief, delta=self.delta)
        if self.advantage is not None:
            allowed = min(allowed, epsilon_for_advantage(self.advantage, delta=self.delta))
        return allowed


def choose_epsilon(mechanism: AnyMechanism, targets: Targets) -> EpsilonRecommendation:
    """The epsilon of a mechanism that meets all targets.

    With a target error, the least epsilon that meets it: privacy that is not needed is not spent.
    Without one, the largest epsilon that the risk targets allow. Only parameters are used, never
    data.

    Args:
        mechanism: with any epsilon.
        targets: of error, of risk or of both.

    Raises:
        InputError: CEL-B072 there is no target.
        PrivacyError: CEL-B071 the targets contradict each other; CEL-B071 a risk target, or
            CEL-M011 the target error, cannot be met at all.
    """
    delta = parameters.check_delta(targets.delta, zero=True)
    most = targets.most_epsilon()
    if targets.error is None:
        if most == inf:
            raise InputError("CEL-B072")
        return _recommendation(
            _largest(mechanism, most, delta), targets, Message("mechanisms.calibration.risk_allows")
        )
    found = mechanism.with_accuracy(targets.error, confidence=targets.confidence, size=targets.size)
    needed = found.privacy_loss().epsilon(delta)
    if needed > most:
        raise PrivacyError("CEL-B071.targets_contradiction", needed=needed, allowed=most)
    return _recommendation(found, targets, Message("mechanisms.calibration.error_needs"))


def _recommendation(
    mechanism: AnyMechanism, targets: Targets, reason: str
) -> EpsilonRecommendation:
    epsilon = mechanism.privacy_loss().epsilon(float(targets.delta))
    priors = sorted({*PRIORS, targets.prior})
    return EpsilonRecommendation(
        mechanism,
        epsilon,
        float(targets.delta),
        float(mechanism.accuracy(targets.confidence, size=targets.size)),
        targets.confidence,
        tuple(belief_interval(prior, epsilon, delta=targets.delta) for prior in priors),
        advantage(epsilon, delta=targets.delta),
        reason,
    )


def _largest(mechanism: AnyMechanism, most: float, delta: float) -> AnyMechanism:
    """The mechanism with the largest parameter whose epsilon is at most `most`."""

    def holds(price: Fraction) -> bool:
        return _with_price(mechanism, price).privacy_loss().epsilon(delta) <= most

    low, high = parameters.LEAST_EPSILON, parameters.MOST_EPSILON
    if not holds(low):
        raise PrivacyError(
            "CEL-B071.targets_no_price", parameter=mechanism.parameter, most=most, delta=delta
        )
    if holds(high):
        return _with_price(mechanism, high)
    while high / low > 1 + Fraction(1, 10 ** (DIGITS + 2)):
        middle = Fraction(float(low * high) ** 0.5)
        low, high = (middle, high) if holds(middle) else (low, middle)
    step = Fraction(10) ** (floor(log10(low)) + 1 - DIGITS)
    return _with_price(mechanism, max(parameters.LEAST_EPSILON, low // step * step))


def _with_price(mechanism: AnyMechanism, price: Fraction) -> AnyMechanism:
    return mechanism._with_price(price)  # not `replace`: for some the price is no field
