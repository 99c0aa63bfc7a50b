"""The result of an audit: a lower bound of epsilon beside the claimed epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from celosia.accounting.losses import ApproximateLoss, Loss
from celosia.assess.audit.bounds import Detectable, Estimate
from celosia.assess.labels import label
from celosia.core.errors import InputError
from celosia.core.messages import say, say_of
from celosia.core.methods import PlainValues
from celosia.core.numbers import real

Verdict = Literal["violated", "consistent", "unclaimed"]

DELTAS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3)
"""Where the curve of a loss without a pure epsilon is tried; samples show the large ones only."""


@dataclass(frozen=True, slots=True, order=True)
class Claim(PlainValues):
    """An epsilon and a delta that a mechanism claims to keep.

    >>> print(Claim(1.0), "|", Claim(0.5, 1e-6))
    epsilon 1 | epsilon 0.5, delta 1e-06
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        epsilon, delta = real(self.epsilon), real(self.delta)
        if epsilon is None or not 0 <= epsilon < inf or delta is None or not 0 <= delta < 1:
            raise InputError("CEL-A100", epsilon=self.epsilon, delta=self.delta)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)

    def __str__(self) -> str:
        if not self.delta:
            return say("assess.audit.epsilon_claim", epsilon=self.epsilon)
        return say("assess.audit.epsilon_delta_claim", epsilon=self.epsilon, delta=self.delta)


def claims_of(claim: object) -> tuple[Claim, ...]:
    """The claims that a number, a pair, a loss or a claim makes.

    A loss with a pure epsilon claims that; another claims a whole curve of epsilon and delta, and
    the audit chooses the point of it that is easiest to contradict.
    """
    if isinstance(claim, Claim):
        return (claim,)
    if isinstance(claim, Loss):
        if isinstance(claim, ApproximateLoss):
            return (Claim(float(claim.value), claim.failure),)
        return (Claim(claim.pure),) if claim.pure < inf else tuple(_curve(claim))
    if isinstance(claim, tuple) and len(claim) == 2:
        return (Claim(*claim),)
    return (Claim(claim),)  # type: ignore[arg-type]  # checked by Claim


def _curve(loss: Loss) -> Iterator[Claim]:
    seen = inf
    for delta in DELTAS:
        epsilon = loss.epsilon(delta)
        if epsilon < seen:  # a larger delta that buys nothing is a weaker claim
            seen = epsilon
            yield Claim(epsilon, delta)
    if seen == inf:
        raise InputError("CEL-A101")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """One mechanism, tried on one pair of neighbouring inputs."""

    name: str
    """The mechanism in words."""
    pair: str
    """The two inputs in words."""
    claim: Claim | None
    lower: float
    """The mechanism's epsilon on this pair is at least this, at the delta of the claim."""
    event: str
    """The outputs that tell the two inputs apart best."""
    more: Estimate
    """How probable the event is under the input that makes it likelier."""
    less: Estimate
    """How probable it is under the other input."""
    swapped: bool
    """Whether the second input is the one that makes it likelier."""
    samples: int
    """Outputs drawn from each input; half of them chose the event, half gave the bound."""
    confidence: float
    """How surely the lower bound holds; in a family, how surely all bounds hold together."""
    detectable: Detectable | None
    """What this many samples would have shown; None without a claim."""
    seconds: float
    seed: int | None
    """The seed that repeats it; None if it was drawn from the system's entropy."""

    @property
    def delta(self) -> float:
        """The delta at which the lower bound holds."""
        return 0.0 if self.claim is None else self.claim.delta

    @property
    def verdict(self) -> Verdict:
        """Violated if the lower bound exceeds the claim; consistent is not the same as proven."""
        if self.claim is None:
            return "unclaimed"
        return "violated" if self.lower > self.claim.epsilon else "consistent"

    @property
    def reach(self) -> float | None:
        """The lower bound as a part of the claim; near 1 the claim is nearly tight."""
        if self.claim is None or self.claim.epsilon == 0:
            return None
        return self.lower / self.claim.epsilon

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "pair": self.pair,
            "claim": None if self.claim is None else self.claim.as_dict(),
            "lower": self.lower,
            "delta": self.delta,
            "verdict": self.verdict,
            "event": self.event,
            "more": self.more.as_dict(),
            "less": self.less.as_dict(),
            "likelier_under": "second" if self.swapped else "first",
            "samples": self.samples,
            "confidence": self.confidence,
            "detectable": None if self.detectable is None else self.detectable.as_dict(),
            "seconds": self.seconds,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        line = self._line()
        if self.verdict != "consistent" or self.detectable is None:
            return line
        return say("assess.audit.line_detectable", line=line, detectable=str(self.detectable))

    def _line(self) -> str:
        return say_of(
            "assess.audit.line_delta" if self.delta else "assess.audit.line",
            self,
            verdict=label(self.verdict),
            claim=say("assess.audit.no_claim") if self.claim is None else str(self.claim),
            more=self.more.share,
            less=self.less.share,
        )
