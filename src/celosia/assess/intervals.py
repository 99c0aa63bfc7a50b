"""How sure the share of found targets is: they are a sample of all whom one could attack."""

from __future__ import annotations

from math import sqrt

Z = 1.959963984540054
"""The 97.5 % quantile of the normal law: intervals hold 95 %."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927).

    >>> low, high = wilson(0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    if not trials:
        return 0.0, 1.0
    share = successes / trials
    middle = (share + Z * Z / (2 * trials)) / (1 + Z * Z / trials)
    half = Z / (1 + Z * Z / trials) * sqrt(share * (1 - share) / trials + Z * Z / (4 * trials**2))
    return max(0.0, middle - half), min(1.0, middle + half)
