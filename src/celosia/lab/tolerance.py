"""How near a computed cell must come to the published one."""

from __future__ import annotations

from dataclasses import dataclass

Cell = int | float | str
"""What a cell of a published table holds."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The distance at which two numbers still count as the same; texts must be equal.

    >>> Tolerance(absolute=1e-5).matches(16.21326, 16.21326131666998)
    True
    >>> EXACT.matches(518, 519), EXACT.matches("[20-39]", "[20-39]")
    (False, True)
    """

    absolute: float = 0.0
    relative: float = 0.0
    """Times the published number: for figures printed with all their digits."""

    def matches(self, published: Cell, computed: Cell) -> bool:
        """Whether a computed cell is the published one; a number never matches a text."""
        if isinstance(published, str) or isinstance(computed, str):
            return published == computed
        # A gap of NaN is within nothing.
        return abs(computed - published) <= max(self.absolute, self.relative * abs(published))


EXACT = Tolerance()
"""For counts, labels and whole numbers."""
