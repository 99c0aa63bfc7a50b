"""Draws by whole numbers only, so that a seed gives the same facts on every machine."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.datasets.watdiv.values import EntityValue, Property

Numbers = NDArray[np.int64]

SPARE = 4
"""Objects drawn beyond what an entity needs, next to half as many again: some are drawn twice."""


def weights(size: int, flat: float) -> Numbers:
    """How likely each of `size` entities is, as whole numbers; see `values.EntityValue`.

    >>> (weights(4, 1)[[0, 1, 3]] >> 38).tolist()
    [4, 2, 1]
    """
    shift = int(flat) if flat >= 1 else max(1, int(size * flat))
    # Each is at most 2**40, and there are fewer than 2**22 of them: int64 holds their sum.
    return 2**40 // (np.arange(size, dtype=np.int64) + shift)


class Draws:
    """Draws of one graph, all from one source and in one order."""

    def __init__(self, rng: Source, sizes: Mapping[str, int]):
        self._rng = rng
        self._sizes = sizes
        self._tables: dict[EntityValue, Numbers] = {}

    def below(self, bound: int, size: int) -> Numbers:
        """Uniform numbers from 0 to `bound` - 1."""
        return self._rng.integers(bound, size)

    def between(self, least: int, most: int, size: int) -> Numbers:
        """Uniform numbers from `least` to `most`."""
        return least + self._rng.integers(most - least + 1, size)

    def spread(self, bound: int, size: int) -> Numbers:
        """Numbers from 0 to `bound` - 1 in random order, each as often as any other.

        As near to uniform as `size` numbers can be: sizes of graphs hardly depend on the seed.
        """
        return self._rng.permutation(size) * bound // max(size, 1)

    def entities(self, wanted: EntityValue, size: int) -> Numbers:
        """Numbers of entities of a kind, popular ones more often."""
        count = self._sizes[wanted.kind]
        if wanted.flat is None:
            return self.below(count, size)
        table = self._tables.get(wanted)
        if table is None:
            table = self._tables[wanted] = np.cumsum(weights(count, wanted.flat))
        drawn = self.below(int(table[-1]), size)
        return np.searchsorted(table, drawn, side="right").astype(np.int64)

    def pairs(self, subjects: Numbers, wanted: Property, kind: str) -> tuple[Numbers, Numbers]:
        """Several objects for each subject, each once, and none for itself.

        More objects are drawn than needed, and the first different ones are taken. Who likes the
        most popular things only may end up with one or two fewer.
        """
        assert isinstance(wanted.value, EntityValue)
        degrees = self._degrees(wanted, subjects.size)
        tries = degrees + degrees // 2 + SPARE
        place = np.repeat(np.arange(subjects.size), tries)
        objects = self.entities(wanted.value, place.size)
        if wanted.value.kind == kind:
            others = objects != subjects[place]
            place, objects = place[others], objects[others]
        # Fewer than 2**20 places and 2**22 entities of a kind: the key stays below 2**42.
        _, first = np.unique(place * self._sizes[wanted.value.kind] + objects, return_index=True)
        first.sort()
        place, objects = place[first], objects[first]
        starts = np.searchsorted(place, np.arange(subjects.size))
        kept = np.arange(place.size) - starts[place] < degrees[place]
        return subjects[place[kept]], objects[kept]

    def _degrees(self, wanted: Property, size: int) -> Numbers:
        assert isinstance(wanted.value, EntityValue)
        most = most_objects(wanted, self._sizes)
        if wanted.skewed:
            return 1 + self.spread(most, size) * self.spread(most, size) // most
        return 1 + self.spread(most, size)


def most_objects(wanted: Property, sizes: Mapping[str, int]) -> int:
    """The most objects of one subject: in a small graph not more than a third of all."""
    assert isinstance(wanted.value, EntityValue)
    return min(wanted.most, max(1, sizes[wanted.value.kind] // 3))


def mean_objects(wanted: Property, sizes: Mapping[str, int]) -> float:
    """The mean number of objects of a subject that has any."""
    if wanted.most == 1:
        return 1.0
    most = most_objects(wanted, sizes)
    if not wanted.skewed:
        return (most + 1) / 2
    drawn = np.arange(most, dtype=np.int64)
    return 1 + float((np.outer(drawn, drawn) // most).mean())
