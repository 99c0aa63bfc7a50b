"""Private maps: how many persons are in each cell of a grid, a quadtree, an adaptive grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.traces.points import Traces
from celosia.traces.private.bounding import bounded
from celosia.traces.private.mechanism import (
    Counts,
    TraceMechanism,
    cell_names,
    check_size,
    check_traces,
    grid_keys,
    grid_sides,
    noisy,
)

HALF = Fraction(1, 2)
FEWEST_FIRST = 10
MOST_SECOND = 64
"""Cells of the second level of an adaptive grid along a side."""


def advised_size(people: int, epsilon: float) -> int:
    """Cells along a side of a uniform grid (Qardaji, Yang and Li 2013), at the level of persons.

    The rule is sqrt(N epsilon / 10) for N contributions; with c of each person both N and the noise
    grow by c, so that c does not matter.

    >>> advised_size(1000, 1.0)
    10
    """
    if not isfinite(epsilon):
        return 1  # the mechanism refuses it
    return max(1, round(sqrt(people * epsilon / 10)))


@dataclass(frozen=True, kw_only=True)
class UniformGrid(TraceMechanism):
    """The number of persons in each cell of a grid of `size` by `size` over the declared region.

    Each person is counted in at most `per_person` cells, chosen at random; every cell gets noise of
    scale per_person / epsilon, empty ones too.

    Guarantee: epsilon-DP with delta 0 for one person with all points. Removing the person changes
    at most per_person counts by 1.

    Reference: Qardaji, Yang, Li 2013, with the person as the unit.
    """

    is_count = True
    size: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_size(self.size, "size", most=1024)

    @property
    def question(self) -> str:
        return Message("traces.statistic.grid", size=self.size, per_person=self.per_person)

    def counts(self, traces: Traces, rng: Source) -> NDArray[np.int64]:
        """The exact counts of what is kept of each person, which are private."""
        kept = bounded(traces.units(), grid_keys(traces, self.size), self.per_person, rng=rng)
        return np.bincount(kept.key, minlength=self.size**2)

    def measure(self, x: Traces, *, rng: Source) -> Measurement[Counts]:
        """The counts with noise, by the sides of the cells."""
        traces = check_traces(x, self.unit)
        found = noisy(self.counts(traces, rng), self.law, rng)
        names = cell_names(traces.plane, grid_sides(self.size))
        return Measurement(dict(zip(names, found.tolist(), strict=True)))


@dataclass(frozen=True, kw_only=True)
class Quadtree(TraceMechanism):
    """Counts of a tree of cells, each cut into four, made consistent; the leaves are released.

    The levels share epsilon in proportion to 2^(i/3), more towards the leaves. Counts of all levels
    are combined by least squares, so that large ranges gain from the coarse levels.

    Guarantee: epsilon-DP with delta 0 for one person. A person is in at most per_person leaves, and
    so in at most as many cells of each level. The height is fixed, never chosen by the data.

    Reference: Cormode, Procopiuc, Srivastava, Shen, Yu 2012.
    """

    height: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_size(self.height, "height", most=9)

    @property
    def question(self) -> str:
        return Message("traces.statistic.quadtree", height=self.height, per_person=self.per_person)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Epsilon of each level, from the root to the leaves; they sum to epsilon exactly."""
        weights = [
            Fraction(2 ** (level / 3)).limit_denominator(10**6) for level in range(self.height + 1)
        ]
        total = sum(weights)
        return tuple(self.price * weight / total for weight in weights)

    @property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The noise of each level: a person adds `per_person` to the cells of every level."""
        return tuple(DiscreteLaplace(self.per_person / share) for share in self.shares)

    def measure(self, x: Traces, *, rng: Source) -> Measurement[Counts]:
        """The leaves after least squares."""
        traces = check_traces(x, self.unit)
        size = 2**self.height
        kept = bounded(traces.units(), grid_keys(traces, size), self.per_person, rng=rng)
        row, column = kept.key // size, kept.key % size
        levels = []
        for level, law in enumerate(self.laws):
            cut = self.height - level
            cells = (row >> cut) * 2**level + (column >> cut)
            counts = np.bincount(cells, minlength=4**level)
            levels.append(noisy(counts, law, rng))
        leaves = least_squares(levels, [float(share) for share in self.shares])
        names = cell_names(traces.plane, grid_sides(size))
        values = [round(value, 3) for value in leaves.tolist()]
        return Measurement(dict(zip(names, values, strict=True)))

    def interval(
        self, measurement: Measurement[Counts], confidence: float = 0.95
    ) -> tuple[Counts, Counts] | None:
        """None: the leaves are combinations of many counts."""
        return None


def least_squares(levels: list[NDArray[np.int64]], epsilons: list[float]) -> NDArray[np.float64]:
    """The leaves of the tree that is nearest to all noisy counts, each weighed by its noise.

    Bottom up, each cell is the weighted mean of its own count and the sum of its children; top
    down, what a cell differs from the sum of its children is shared out to them.

    >>> least_squares([np.array([8]), np.array([1, 1, 1, 1])], [1.0, 1.0]).tolist()
    [1.8, 1.8, 1.8, 1.8]
    """
    variances = [2 / epsilon**2 for epsilon in epsilons]
    means = [levels[-1].astype(np.float64)]
    spread = [variances[-1]]
    for level in range(len(levels) - 2, -1, -1):
        below, width = means[0], 2**level
        sums = below.reshape(width, 2, width, 2).sum(axis=(1, 3)).ravel()
        own, rest = variances[level], 4 * spread[0]
        weight = rest / (own + rest)
        means.insert(0, weight * levels[level] + (1 - weight) * sums)
        spread.insert(0, own * rest / (own + rest))
    current = means[0]
    for level in range(1, len(levels)):
        width = 2 ** (level - 1)
        below = means[level]
        sums = below.reshape(width, 2, width, 2).sum(axis=(1, 3)).ravel()
        gap = ((current - sums) / 4).reshape(width, width)
        current = below + np.repeat(np.repeat(gap, 2, axis=0), 2, axis=1).ravel()
    return current


@dataclass(frozen=True, kw_only=True)
class AdaptiveGrid(TraceMechanism):
    """A coarse grid whose crowded cells are cut finer, by their noisy counts.

    Half of epsilon counts the first level; each of its cells is cut into m2 by m2 cells, where m2
    follows from its noisy count; the other half counts those. Both levels are then made consistent.

    Guarantee: epsilon-DP with delta 0 for one person. Each kept pair of a person and a coarse cell
    has one point, so that a person moves per_person counts of each level by 1; how cells are cut is
    post-processing of noisy counts.

    Reference: Qardaji, Yang, Li 2013, with epsilon / per_person for epsilon.
    """

    people: int = 1000
    """A public or private guess of the number of persons; never counted on the data."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_size(self.people, "people", most=10**9)

    @property
    def question(self) -> str:
        return Message("traces.statistic.adaptive", per_person=self.per_person)

    @property
    def first_size(self) -> int:
        """Cells along a side of the first level."""
        return min(512, max(FEWEST_FIRST, ceil(sqrt(self.people * float(self.price) / 10) / 4)))

    def measure(self, x: Traces, *, rng: Source) -> Measurement[Counts]:
        """The cells of the second level."""
        traces = check_traces(x, self.unit)
        size = self.first_size
        kept = bounded(traces.units(), grid_keys(traces, size), self.per_person, rng=rng)
        made = refined(traces, kept.point, size, self.price / self.per_person, rng=rng)
        sides = []
        for cell, cut in enumerate(made.cuts.tolist()):
            corner = np.array([cell % size, cell // size, cell % size, cell // size]) / size
            sides.append(grid_sides(cut) / size + corner)
        names = cell_names(traces.plane, np.concatenate(sides))
        found = np.round(np.concatenate(made.counts), 6).tolist()
        return Measurement(
            dict(zip(names, found, strict=True)),
            {"first": made.first.tolist(), "cuts": made.cuts.tolist()},
        )

    def interval(
        self, measurement: Measurement[Counts], confidence: float = 0.95
    ) -> tuple[Counts, Counts] | None:
        """None: the cells are combinations of two counts."""
        return None


class Refined(NamedTuple):
    """A grid whose crowded cells were cut again: all of it is noisy."""

    first: NDArray[np.int64]
    cuts: NDArray[np.int64]
    """Cells along a side that each cell was cut into."""
    counts: list[NDArray[np.float64]]
    """The counts inside each cell, made consistent with its own."""


def refined(
    traces: Traces, point: NDArray[np.int64], size: int, price: Fraction, *, rng: Source
) -> Refined:
    """Counts of the given points in a grid, cut finer where the noisy counts are large.

    Args:
        traces: with the points.
        point: which points are counted, each in one cell of both levels.
        size: cells along a side of the first level.
        price: epsilon for each point that a person adds; half of it for each level.
        rng: where noise is drawn from.
    """
    law = DiscreteLaplace(1 / (price * HALF))
    cell = grid_keys(traces, size)[point]
    first = noisy(np.bincount(cell, minlength=size**2), law, rng)
    cuts = np.ceil(np.sqrt(np.maximum(first, 0) * float(price) / 2 / 5)).astype(np.int64)
    cuts = np.clip(cuts, 1, MOST_SECOND)
    offsets = np.concatenate([[0], np.cumsum(cuts**2)])
    fine = offsets[cell] + _fine(traces, point, cuts[cell], size)
    second = noisy(np.bincount(fine, minlength=int(offsets[-1])), law, rng).astype(np.float64)
    parts = np.split(second, offsets[1:-1])
    counts = [
        consistent(parent, part, cut)
        for parent, part, cut in zip(first.tolist(), parts, cuts.tolist(), strict=True)
    ]
    return Refined(first, cuts, counts)


def _fine(
    traces: Traces, point: NDArray[np.int64], cut: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """The place of each point inside its cell of the first level."""
    west, south, east, north = traces.plane.bounds
    wide, high = east - west + 1, north - south + 1
    # Shares of the cell in whole numbers: (x size mod wide) is the place inside the cell.
    column = (traces.x[point].astype(np.int64) - west) * size % wide * cut // wide
    row = (traces.y[point].astype(np.int64) - south) * size % high * cut // high
    found: NDArray[np.int64] = np.clip(row, 0, cut - 1) * cut + np.clip(column, 0, cut - 1)
    return found


def consistent(parent: float, children: NDArray[np.float64], cut: int) -> NDArray[np.float64]:
    """Children that sum to the weighted mean of their parent and their own sum.

    With halves of epsilon the weights are m2^2 for the parent and 1 for the sum of the children.
    """
    weight = cut * cut
    total = (weight * parent + float(children.sum())) / (1 + weight)
    return children + (total - float(children.sum())) / weight


def check_grid(name: str) -> None:
    """Refuse a sort of grid that is not known.

    Raises:
        InputError: CEL-J033 it is none.
    """
    if name not in ("uniform", "quadtree", "adaptive"):
        raise InputError("CEL-J033", known=["uniform", "quadtree", "adaptive"])
