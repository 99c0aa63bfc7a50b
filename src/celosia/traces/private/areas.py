"""Private visits and flows: persons of declared areas, and moves between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.accounting.losses import ApproximateLoss, Loss
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.mechanism import Measurement
from celosia.mechanisms.parameters import check_delta
from celosia.traces.places.areas import OUTSIDE, Areas
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

ARROW = " -> "


def area_keys(traces: Traces, grid: int | None) -> tuple[NDArray[np.int64], list[str]]:
    """The area of each point and the names of all areas: declared polygons, or cells of a grid.

    Raises:
        InputError: CEL-J034 no areas are declared, and no grid is asked for.
    """
    if grid is not None:
        size = check_size(grid, "grid", most=64)
        return grid_keys(traces, size), cell_names(traces.plane, grid_sides(size))
    declared = traces.declaration
    if declared.areas is None:
        raise InputError("CEL-J034")
    areas = Areas.load(declared.areas, declared.area_name)
    plane = traces.plane
    latitude, longitude = plane.degrees(
        (traces.x + 0.5) * plane.step, (traces.y + 0.5) * plane.step
    )
    names = [name[0] for name in areas.names]
    found = areas.find(latitude, longitude)
    return np.where(found < 0, len(names), found), [*names, OUTSIDE]


@dataclass(frozen=True, kw_only=True)
class Visits(TraceMechanism):
    """The number of persons that were in each area; areas are declared, empty ones get noise too.

    Guarantee: epsilon-DP with delta 0 for one person with all points, who is counted in at most
    `per_person` areas.
    """

    is_count = True
    grid: int | None = None
    """Cells along a side where no areas are declared."""

    @property
    def question(self) -> str:
        return Message("traces.statistic.visits", per_person=self.per_person)

    def measure(self, x: Traces, *, rng: Source) -> Measurement[Counts]:
        """The counts with noise, by the names of the areas."""
        traces = check_traces(x, self.unit)
        keys, names = area_keys(traces, self.grid)
        kept = bounded(traces.units(), keys, self.per_person, rng=rng)
        found = noisy(np.bincount(kept.key, minlength=len(names)), self.law, rng)
        return Measurement(dict(zip(names, found.tolist(), strict=True)))


def moves(units: NDArray[np.int64], areas: NDArray[np.int64], count: int) -> Any:
    """Pairs of areas of consecutive points of a unit that differ, and whose they are."""
    same = (np.diff(units) == 0) & (np.diff(areas) != 0)
    return units[1:][same], areas[:-1][same] * count + areas[1:][same]


@dataclass(frozen=True, kw_only=True)
class Flows(TraceMechanism):
    """The number of persons that moved from one declared area to another; zero flows get noise too.

    A move is a pair of consecutive points of a person in two areas. At most `per_person` different
    moves of a person are counted.

    Guarantee: epsilon-DP with delta 0 for one person with all points.
    """

    is_count = True
    grid: int | None = None

    @property
    def question(self) -> str:
        return Message("traces.statistic.flows", per_person=self.per_person)

    def measure(self, x: Traces, *, rng: Source) -> Measurement[Counts]:
        """The counts with noise, by origin and destination."""
        traces = check_traces(x, self.unit)
        keys, names = area_keys(traces, self.grid)
        count = len(names)
        units, pairs = moves(traces.units(), keys, count)
        kept = bounded(units, pairs, self.per_person, rng=rng)
        found = noisy(np.bincount(kept.key, minlength=count**2), self.law, rng)
        return Measurement(
            {
                f"{names[pair // count]}{ARROW}{names[pair % count]}": value
                for pair, value in enumerate(found.tolist())
                if pair // count != pair % count
            }
        )


@dataclass(frozen=True, kw_only=True)
class PlaceFlows(TraceMechanism):
    """Flows between named places that nobody declared: only those with many persons are released.

    A flow is released if its noisy count reaches a threshold, which a flow of one person alone does
    with a chance of at most delta / per_person.

    Guarantee: (epsilon, delta)-DP for one person with all points: flows that others have cost
    epsilon, and flows of the person alone appear with a chance of at most delta.

    Reference: Korolova, Kenthapadi, Mishra, Ntoulas 2009, with the discrete Laplace law.
    """

    is_count = True
    delta: float = field(default=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.delta:
            raise PrivacyError("CEL-J035")
        check_delta(self.delta)

    @property
    def question(self) -> str:
        return Message("traces.statistic.place_flows", per_person=self.per_person)

    @property
    def threshold(self) -> int:
        """The least count that is released."""
        reach = 1
        while self.per_person * self.law.tail(reach) > self.delta:
            reach += 1
        return reach + 1  # a flow of one person has the count 1

    def privacy_loss(self) -> Loss:
        return ApproximateLoss(self.price, self.delta)

    def measure(self, x: Traces, *, rng: Source) -> Measurement[Counts]:
        """The flows whose noisy counts reach the threshold."""
        traces = check_traces(x, self.unit)
        if traces.place is None:
            raise InputError("CEL-J014.no_places")
        count = len(traces.places)
        units, pairs = moves(traces.units(), traces.place.astype(np.int64), count)
        kept = bounded(units, pairs, self.per_person, rng=rng)
        keys, counts = np.unique(kept.key, return_counts=True)
        found = noisy(counts, self.law, rng)
        names = traces.places
        return Measurement(
            {
                f"{names[key // count]}{ARROW}{names[key % count]}": value
                for key, value in zip(keys.tolist(), found.tolist(), strict=True)
                if value >= self.threshold
            }
        )
