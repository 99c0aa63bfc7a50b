"""How near a computed cell must come to the number that it is compared with, and why so near."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.core.messages import Message, say
from celosia.core.methods import PlainValues

Cell = int | float | str
"""What a cell of a table holds."""


@dataclass(frozen=True, slots=True)
class Tolerance(PlainValues):
    """What a computed cell may be, beside a stated number; texts must be equal.

    >>> Tolerance(absolute=1e-5).matches(16.21326, 16.21326131666998)
    True
    >>> EXACT.matches(518, 519), EXACT.matches("[20-39]", "[20-39]")
    (False, True)
    >>> at_most(0.05).matches(0.05, 0.04), at_least(5).matches(5, 4)
    (True, False)
    """

    absolute: float = 0.0
    """The distance at which two numbers still count as the same."""
    relative: float = 0.0
    """The same, times the stated number."""
    least: float | None = None
    """A limit from below, whatever the distance."""
    most: float | None = None
    """A limit from above."""
    refuted: bool = False
    """Whether a number must lie farther away: what was stated is shown to be wrong."""
    why: str = Message("lab.tolerance.exact")
    """How the tolerance follows, in one line."""

    def matches(self, stated: Cell, computed: Cell) -> bool:
        """Whether a computed cell is as it should be; a number never matches a text."""
        if isinstance(stated, str) or isinstance(computed, str):
            return stated == computed
        if self.least is not None or self.most is not None:
            above = self.least is None or computed >= self.least
            return above and (self.most is None or computed <= self.most)
        reach = max(self.absolute, self.relative * abs(stated))
        # A gap of NaN is within nothing, and refutes nothing.
        gap = abs(computed - stated)
        return gap > reach if self.refuted else gap <= reach

    def __str__(self) -> str:
        if self.least is not None and self.most is not None:
            return say("lab.tolerance.between", least=self.least, most=self.most)
        if self.least is not None:
            return say("lab.tolerance.at_least", least=self.least)
        if self.most is not None:
            return say("lab.tolerance.at_most", most=self.most)
        if self.refuted:
            return say("lab.tolerance.farther", reach=self.absolute)
        if self.relative:
            return say("lab.tolerance.relative", reach=self.relative)
        return say("lab.tolerance.within", reach=self.absolute)


EXACT = Tolerance()
"""For counts, labels and whole numbers."""

LIMIT = Message("lab.tolerance.limit")
"""Why a limit is one."""


def at_most(limit: float, why: str = LIMIT) -> Tolerance:
    """Any number up to a limit."""
    return Tolerance(most=limit, why=why)


def at_least(limit: float, why: str = LIMIT) -> Tolerance:
    """Any number from a limit on."""
    return Tolerance(least=limit, why=why)
