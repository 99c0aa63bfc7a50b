"""Traces as arrays: whose points, when, and in which cell of the lattice; sorted and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.traces.declaration import Declaration
from celosia.traces.plane import WARN_DISTORTION, Plane
from celosia.traces.zones import floor_times

TELEPORT = 1000 / 3.6
"""Metres a second beyond which nobody travels: 1,000 km/h."""

PERIODS = ("none", "trip", "day", "week", "whole")
"""How long one pseudonym lasts."""


@dataclass(frozen=True, eq=False)
class Traces:
    """The points of all people, sorted by person and time.

    Positions are cells of the lattice of `declaration.plane`, times are seconds since 1970 in
    Greenwich. `names` tells which person a number is: it is the curator's, and never published.
    """

    declaration: Declaration
    person: NDArray[np.int32]
    time: NDArray[np.int64]
    x: NDArray[np.int32]
    y: NDArray[np.int32]
    names: pl.Series = field(repr=False)
    place: NDArray[np.int32] | None = field(default=None, repr=False)
    places: tuple[str, ...] = field(default=(), repr=False)
    """The names of the places that points of check-ins have."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was found and done while reading: dropped, clamped, same_time, teleports."""

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        person: Any,
        time: Any,
        latitude: Any,
        longitude: Any,
        *,
        place: Any = None,
    ) -> Traces:
        """Traces from columns: names, seconds, degrees.

        Raises:
            InputError: CEL-J002 no region; CEL-J003 coordinates that are none, or lie outside.
        """
        from celosia.traces.checks import place_points

        return place_points(declaration, person, time, latitude, longitude, place)

    @property
    def size(self) -> int:
        """The number of points."""
        return int(self.person.size)

    @property
    def people(self) -> int:
        """The number of people."""
        return len(self.names)

    @property
    def plane(self) -> Plane:
        """The plane of the declared region."""
        return self.declaration.plane

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the points of each person begin, and at the end how many points there are."""
        return np.searchsorted(self.person, np.arange(self.people + 1)).astype(np.int64)

    def select(self, kept: NDArray[Any]) -> Traces:
        """Some of the points; people that have none left stay known."""
        return Traces(
            self.declaration,
            self.person[kept],
            self.time[kept],
            self.x[kept],
            self.y[kept],
            self.names,
            None if self.place is None else self.place[kept],
            self.places,
            self.counts,
        )

    @cached_property
    def trips(self) -> NDArray[np.int64]:
        """The number of the trip of each point: a run of one person without a long gap."""
        if not self.size:
            return np.zeros(0, dtype=np.int64)
        gap = self.declaration.trip_gap * 60
        new = (np.diff(self.person) != 0) | (np.diff(self.time) > gap)
        return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)

    def segments(self, period: str) -> NDArray[np.int64]:
        """The number of the trace of each point where a pseudonym lasts so long.

        Raises:
            InputError: CEL-J011 no such period.
        """
        if period not in PERIODS:
            raise InputError("CEL-J011", periods=list(PERIODS))
        if period == "whole":
            return self.person.astype(np.int64)
        if period == "none":
            return np.arange(self.size, dtype=np.int64)
        if period == "trip":
            return self.trips
        windows = floor_times(self.time, period, self.declaration.zone)
        new = (np.diff(self.person) != 0) | (np.diff(windows) != 0)
        return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)[: self.size]

    def units(self) -> NDArray[np.int64]:
        """The number of the privacy unit of each point, as declared."""
        periods = {"person": "whole", "person-day": "day", "trip": "trip", "point": "none"}
        return self.segments(periods[self.declaration.unit])

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a curator should hear of these points before they are used."""
        found = []
        if self.plane.region.distortion > WARN_DISTORTION:
            found.append(Message("traces.warning.distortion", share=self.plane.region.distortion))
        if self.size and 2 * int(np.bincount(self.person).max()) > self.size and self.people > 1:
            found.append(Message("traces.warning.one_person"))
        if self.counts.get("teleports"):
            found.append(Message("traces.warning.teleports", count=self.counts["teleports"]))
        if self.declaration.unit != "person":
            found.append(Message("traces.warning.unit", unit=self.declaration.unit))
        return tuple(found)

    def __str__(self) -> str:
        return str(Message("traces.size", points=self.size, people=self.people))


def sorted_traces(
    declaration: Declaration,
    names: pl.Series,
    codes: NDArray[Any],
    time: NDArray[np.int64],
    cells: tuple[NDArray[np.int32], NDArray[np.int32]],
    *,
    place: tuple[NDArray[np.int32], tuple[str, ...]] | None = None,
    counts: Mapping[str, int] | None = None,
) -> Traces:
    """Traces of points in any order, sorted, with teleports counted; times of a person differ."""
    found = dict(counts or {})
    order = np.lexsort((time, codes))
    codes, time = codes[order].astype(np.int32), time[order].astype(np.int64)
    x, y = cells[0][order], cells[1][order]
    label = None if place is None else place[0][order]
    if codes.size:
        step = declaration.plane.step
        gone = np.hypot(np.diff(x.astype(np.int64)), np.diff(y.astype(np.int64))) * step
        fast = (np.diff(codes) == 0) & (gone > TELEPORT * np.diff(time))
        found["teleports"] = int(fast.sum())
    return Traces(
        declaration,
        codes,
        time,
        x,
        y,
        names,
        label,
        () if place is None else place[1],
        {name: count for name, count in found.items() if count},
    )
