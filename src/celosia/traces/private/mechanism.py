"""The base of private statistics of traces: one person with all points is hidden."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import Loss, PureLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import Neighbours, Relation
from celosia.core.numbers import whole
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import ExactEpsilon, Measurement, Mechanism
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import check_confidence, check_epsilon, check_whole
from celosia.mechanisms.values import counts_from_zero
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.private.bounding import check_declared

Counts = dict[str, Any]
MOST_CELLS = 4096
"""Cells along a side, and the root of the cells of a release."""


def check_traces(traces: object, unit: str) -> Traces:
    """Refuse what is no traces, a region that was measured, or another unit than is promised.

    Raises:
        InputError: CEL-J031 it is something else.
        PrivacyError: CEL-J030 the region was measured.
    """
    if not isinstance(traces, Traces) or traces.declaration.unit != unit:
        raise InputError("CEL-J031", unit=unit)
    check_declared(traces)
    return traces


def check_size(size: object, name: str, *, most: int = MOST_CELLS) -> int:
    """A whole number that the caller declares.

    Raises:
        InputError: CEL-J032 it is none, or out of range.
    """
    number = whole(size)
    if number is None or not 1 <= number <= most:
        raise InputError("CEL-J032", name=name, most=most)
    return number


@dataclass(frozen=True, kw_only=True)
class TraceMechanism(ExactEpsilon, Mechanism[Traces, Counts]):
    """A statistic of traces that hides one person, whatever the number of that person's points.

    A budget that pays for it must be one for the same neighbours:
    `Budget(epsilon=1, neighbours=one_unit("person"))`.
    """

    epsilon: float
    per_person: int = 1
    """How many different cells (or trips) of a person are counted; declare it."""
    unit: str = "person"
    neighbours: Neighbours = field(default=Neighbours(Relation.ADD_REMOVE, "person"), init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", one_unit(self.unit))
        super().__post_init__()
        check_epsilon(self.epsilon)
        check_size(self.per_person, "per_person", most=2**20)

    @property
    @abstractmethod
    def question(self) -> str:
        """What is asked, in a few words."""

    @property
    def sensitivity(self) -> float:
        """The number of counts that one unit moves by one."""
        return float(self.per_person)

    def privacy_loss(self) -> Loss:
        return PureLoss(self.price)

    @property
    def law(self) -> DiscreteLaplace:
        """The noise of each count: one unit moves `per_person` of them by one."""
        return DiscreteLaplace(self.per_person / self.price)

    def accuracy(self, confidence: float = 0.95, *, size: int = 1) -> float:
        """An error that none of `size` counts exceeds, besides the points that were not counted."""
        return float(self.law.bound(check_confidence(confidence), size=check_whole(size, name="n")))

    def interval(
        self, measurement: Measurement[Counts], confidence: float = 0.95
    ) -> tuple[Counts, Counts] | None:
        """Bounds of the exact counts of what was kept: all hold together with this confidence."""
        size = max(len(measurement.value), 1)
        return counts_from_zero(
            measurement.value, self.law.bound(check_confidence(confidence), size=size)
        )


def one_unit(unit: str) -> Neighbours:
    """The neighbour relation: one person (or day of a person, trip, point) more or less."""
    return Neighbours(Relation.ADD_REMOVE, unit)


def grid_keys(traces: Traces, size: int) -> NDArray[np.int64]:
    """The cell of each point in a grid of `size` by `size` over the declared region."""
    west, south, east, north = traces.plane.bounds
    column = (traces.x.astype(np.int64) - west) * size // (east - west + 1)
    row = (traces.y.astype(np.int64) - south) * size // (north - south + 1)
    return np.clip(row, 0, size - 1) * size + np.clip(column, 0, size - 1)


def cell_names(plane: Plane, sides: NDArray[np.float64]) -> list[str]:
    """Names of cells by their sides: south, west, north and east in degrees.

    Args:
        plane: with the region.
        sides: low east, low north, high east, high north as shares of the region.
    """
    region = plane.region
    wide, high = region.east - region.west, region.north - region.south
    return [
        f"{region.south + b * high:.5f} {region.west + a * wide:.5f} "
        f"{region.south + d * high:.5f} {region.west + c * wide:.5f}"
        for a, b, c, d in sides.tolist()
    ]


def grid_sides(size: int) -> NDArray[np.float64]:
    """The sides of the cells of a grid, in its order, as shares of the region."""
    column, row = np.meshgrid(np.arange(size), np.arange(size))
    low = np.stack([column.ravel(), row.ravel()], axis=1) / size
    return np.concatenate([low, low + 1 / size], axis=1)


def noisy(counts: NDArray[np.int64], law: DiscreteLaplace, rng: Source) -> NDArray[np.int64]:
    """Counts with exact noise, zeros too."""
    return counts.astype(np.int64) + law.draw(counts.size, rng)
