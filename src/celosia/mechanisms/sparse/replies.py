"""What a stream of threshold questions answers."""

from __future__ import annotations

from enum import Enum


class Answer(Enum):
    """Whether a noisy answer reached the noisy threshold.

    >>> bool(Answer.ABOVE), bool(Answer.BELOW), str(Answer.BELOW)
    (True, False, 'below')
    """

    BELOW = "below"
    """Below the threshold; costs nothing, however often it is said."""
    ABOVE = "above"
    """At or above the threshold; a stream says it a limited number of times."""

    def __bool__(self) -> bool:
        return self is Answer.ABOVE

    def __str__(self) -> str:
        return self.value


ABOVE = Answer.ABOVE
BELOW = Answer.BELOW

Reply = Answer | float
"""`BELOW`, or what is said of an answer above: `ABOVE`, or its own noisy number."""
