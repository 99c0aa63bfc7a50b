"""Contribution bounding: of each person at most so many different cells, chosen at random.

Whatever a person's number of points, removing the person changes at most `per_person` counts by
one. The choice is uniform and not by time: the first cells of everybody would be those of mornings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.randomness import Source
from celosia.mechanisms.statistics.contributions import at_most
from celosia.traces.points import Traces


class Contributions(NamedTuple):
    """What is counted: one entry for each kept pair of a unit and a key."""

    unit: NDArray[np.int64]
    key: NDArray[np.int64]
    point: NDArray[np.int64]
    """A point of the unit with this key, chosen at random among all of them."""


def check_declared(traces: Traces) -> None:
    """Refuse a region that was measured on the data.

    Raises:
        PrivacyError: CEL-J030 it was.
    """
    if traces.declaration.is_measured:
        raise PrivacyError("CEL-J030")


def bounded(
    units: NDArray[np.int64], keys: NDArray[np.int64], most: int, *, rng: Source
) -> Contributions:
    """At most `most` different keys of each unit, uniformly chosen without replacement.

    >>> from celosia.core.randomness import Seeded
    >>> found = bounded(np.zeros(9, int), np.arange(9) % 4, 2, rng=Seeded(1))
    >>> found.key.size
    2
    """
    order = rng.permutation(units.size)  # the first of each pair is then a random one
    pairs = np.stack([units[order], keys[order]], axis=1)
    if not units.size:
        none = np.zeros(0, dtype=np.int64)
        return Contributions(none, none, none)
    _, first = np.unique(pairs, axis=0, return_index=True)
    kept = first[at_most(pairs[first, 0], most, rng=rng)]
    return Contributions(pairs[kept, 0], pairs[kept, 1], order[kept])
