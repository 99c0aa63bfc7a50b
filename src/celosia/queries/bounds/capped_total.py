"""A total in which no person counts for more than a given cap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_epsilon
from celosia.mechanisms.values import from_zero
from celosia.queries.bounds.caps import check_most, read_totals


@dataclass(frozen=True, kw_only=True)
class CappedTotal(Mechanism[int, int]):
    """The sum over people of what each contributes, cut off at a declared cap, with noise.

    It takes the exact total of contributions that were cut off already (`capped_totals`, or
    SUM(LEAST(contribution, cap)) in the engine). What the cap takes away is not part of the error
    that it states: where people may exceed the cap, the answer is too low by what they have beyond.

    Guarantee: epsilon-DP for one person with all their rows, under either relation. What is left of
    a person lies in [0, cap], so adding, removing or changing a person moves the total by at most
    `cap`; with `signed` it lies in [-cap, cap], and changing a person moves it by at most twice the
    cap. It assumes that the contributions were cut off, and that each row belongs to one person.

    Reference: Dwork & Roth 2014, Thm 3.6; Ghosh, Roughgarden & Sundararajan 2012 for the noise.

    >>> CappedTotal(epsilon=1, cap=50).accuracy(0.95)
    150.0
    """

    epsilon: float
    cap: int
    signed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_epsilon(self.epsilon)
        check_most(self.cap)
        if not isinstance(self.signed, bool):
            raise InputError("CEL-Q081.truth_value")
        _ = self.law  # a scale out of reach is refused here

    @property
    def sensitivity(self) -> float:
        """The cap, or twice the cap where a person's contribution may change its sign."""
        return float(self._shift)

    @property
    def _shift(self) -> int:
        # A changed person leaves with -cap and comes back with +cap at the worst; unsigned, both
        # lie in [0, cap].
        doubled = self.signed and self.neighbours.relation is Relation.CHANGE_ONE
        return check_most(self.cap) * (2 if doubled else 1)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise: discrete Laplace of scale sensitivity / epsilon."""
        return DiscreteLaplace(self._shift / check_epsilon(self.epsilon))

    def privacy_loss(self) -> LaplaceLoss:
        return LaplaceLoss(self.law.scale, self._shift)

    def measure(self, x: Any, *, rng: Source) -> Measurement[int]:
        """The total with noise; it may be below 0, because cutting it off would bias sums.

        Raises:
            InputError: CEL-Q081 not a whole number within 2^50.
        """
        # What is no total is refused before any noise is drawn, so a refusal costs nothing.
        (total,) = read_totals([x], 1)
        noise = int(self.law.draw(1, rng)[0])
        return Measurement(total + noise, {"cap": self.cap})

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error of the capped total that none of `size` such totals exceeds."""
        return float(self.law.bound(check_confidence(confidence), size=size))

    def interval(self, measurement: Measurement[int], confidence: float = 0.95) -> tuple[int, int]:
        """Bounds of the exact capped total."""
        error = self.law.bound(check_confidence(confidence))
        value = measurement.value
        low, high = value - error, value + error
        # Cutting off the interval is post-processing of a released value, so it costs nothing.
        return (low, high) if self.signed else from_zero(low, value, high)
