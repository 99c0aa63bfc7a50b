"""What a stream of threshold questions answers."""

from __future__ import annotations

from enum import Enum


class ThresholdAnswer(Enum):
    """Whether a noisy answer reached the noisy threshold.

    >>> bool(ThresholdAnswer.ABOVE), bool(ThresholdAnswer.BELOW), str(ThresholdAnswer.BELOW)
    (True, False, 'below')
    """

    BELOW = "below"
    """Below the threshold; costs nothing, however often it is said."""
    ABOVE = "above"
    """At or above the threshold; a stream says it a limited number of times."""

    def __bool__(self) -> bool:
        return self is ThresholdAnswer.ABOVE

    def __str__(self) -> str:
        return self.value


ABOVE = ThresholdAnswer.ABOVE
BELOW = ThresholdAnswer.BELOW

Reply = ThresholdAnswer | float
"""`BELOW`, or what is said of an answer above: `ABOVE`, or its own noisy number."""
