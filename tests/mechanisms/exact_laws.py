"""Exact laws of released numbers on tiny tables, by enumeration and independent of the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.core.neighbours import ADD_REMOVE, CHANGE_ONE, Relation
from celosia.core.randomness import Seeded, Source
from celosia.mechanisms.mechanism import Measurement, Mechanism
from celosia.mechanisms.noise import DiscreteLaplace

RELATIONS = pytest.mark.parametrize("neighbours", [ADD_REMOVE, CHANGE_ONE], ids=str)


def log_mass(scale: Fraction, point: int) -> float:
    """ln P(Z = point) with P(z) = (1 - q) / (1 + q) q^|z|, q = exp(-1 / scale)."""
    q = exp(-1 / float(scale))
    return log((1 - q) / (1 + q)) - abs(point) / float(scale)


def tables(values: Sequence[float], most: int, *, least: int = 0) -> Iterator[tuple[float, ...]]:
    """Every table of `least` to `most` rows with these values."""
    for size in range(least, most + 1):
        yield from product(values, repeat=size)


def pairs(
    values: Sequence[float], most: int, relation: Relation, *, least: int = 0
) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Every table with every neighbour of it, in one direction."""
    for table in tables(values, most, least=least):
        if relation is Relation.ADD_REMOVE:
            for value in values:
                yield table, (*table, value)
        else:
            for place, value in product(range(len(table)), values):
                yield table, (*table[:place], value, *table[place + 1 :])


Release = Callable[[Mechanism[Any, Any], Sequence[Any], Sequence[int]], Measurement[Any]]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Release:
    """Measures with chosen numbers in the place of the draws."""

    def measure(
        mechanism: Mechanism[Any, Any], rows: Sequence[Any], noise: Sequence[int]
    ) -> Measurement[Any]:
        left = list(noise)

        def draw(law: DiscreteLaplace, size: int, rng: Source) -> NDArray[np.int64]:
            taken = [left.pop(0) for _ in range(size)]
            return np.array(taken, dtype=np.int64)

        monkeypatch.setattr(DiscreteLaplace, "draw", draw)
        found = mechanism.measure(list(rows), rng=Seeded(0))
        assert not left, "fewer numbers were drawn than there are laws"
        return found

    return measure


def worst_log_ratio(
    exact: Iterable[int], other: Iterable[int], scales: Iterable[Fraction]
) -> float:
    """The largest |ln P(out) / P'(out)| of independent noisy integers, over all outcomes.

    Coordinates are independent, so the worst outcome is the worst in each; outcomes farther out
    than both exact numbers all have the same ratio.
    """
    total = 0.0
    for one, two, scale in zip(exact, other, scales, strict=True):
        outcomes = range(min(one, two) - 2, max(one, two) + 3)
        ratios = [log_mass(scale, out - one) - log_mass(scale, out - two) for out in outcomes]
        total += max(map(abs, ratios))
    return total
