"""A source of randomness that proves that none was drawn."""

from __future__ import annotations

from celosia.core.randomness import Source


class ForbiddenSource(Source):
    """Randomness that must not be drawn."""

    simulation = True

    def raw(self, count: int) -> bytes:
        raise AssertionError("noise was drawn")
