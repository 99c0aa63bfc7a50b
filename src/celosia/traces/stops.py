"""Stops, home and work: where people stay, found from their points alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.traces.points import Traces
from celosia.traces.zones import hours_of_day, weekdays

HOME_CELL = 200.0
"""Metres: the side of the cells among which a home is looked for."""

NIGHT = (22, 6)
OFFICE = (9, 17)
WEEKEND = 5


class Stops(NamedTuple):
    """Stays of people: whose, where (cells of the lattice), from when, until when."""

    person: NDArray[np.int32]
    x: NDArray[np.int32]
    y: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    point: NDArray[np.int64]
    """The number of the stop of each point; -1 where it belongs to none."""


class Places(NamedTuple):
    """One place of each person, in metres east and north of the centre; NaN where none is known."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    cell: NDArray[np.int64]
    """The number of its cell; -1 where none is known."""


def find_stops(traces: Traces) -> Stops:
    """Runs within the declared radius of their first point for the declared time.

    The place of a stop is the median of its coordinates.
    """
    from celosia.traces._kernels import stop_runs  # compiled when it is needed

    declared = traces.declaration
    radius = declared.stop_radius / traces.plane.step
    point = stop_runs(
        traces.person,
        traces.time,
        traces.x.astype(np.float64),
        traces.y.astype(np.float64),
        radius,
        int(declared.stop_minutes * 60),
    )
    inside = np.nonzero(point >= 0)[0]
    if not inside.size:
        none = np.zeros(0, dtype=np.int32)
        empty = np.zeros(0, dtype=np.int64)
        return Stops(none, none, none, empty, empty, point)
    first = np.unique(point[inside], return_index=True)[1]
    groups = np.split(inside, first[1:])
    x = np.array([np.median(traces.x[each]) for each in groups]).astype(np.int32)
    y = np.array([np.median(traces.y[each]) for each in groups]).astype(np.int32)
    begin = inside[first]
    last = np.array([each[-1] for each in groups])
    return Stops(traces.person[begin], x, y, traces.time[begin], traces.time[last], point)


def night(times: NDArray[np.int64], zone: str) -> NDArray[np.bool_]:
    """Whether each time is one of the night, 22 to 6 local."""
    hours = hours_of_day(times, zone)
    found: NDArray[np.bool_] = (hours >= NIGHT[0]) | (hours < NIGHT[1])
    return found


def office(times: NDArray[np.int64], zone: str) -> NDArray[np.bool_]:
    """Whether each time is one of office hours: 9 to 17 on weekdays, local."""
    hours = hours_of_day(times, zone)
    found: NDArray[np.bool_] = (
        (hours >= OFFICE[0]) & (hours < OFFICE[1]) & (weekdays(times, zone) < WEEKEND)
    )
    return found


def home_and_work(
    person: NDArray[np.int64],
    time: NDArray[np.int64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    people: int,
    zone: str,
    cell: float = HOME_CELL,
) -> tuple[Places, Places]:
    """The home and the work place of each person.

    Home is the cell with most points of the night (ties by all points, then by number), its
    position the mean of the points of the night in it; work the same for office hours, home left
    out.

    Args:
        person: whose each point is.
        time: when.
        x: metres east of the centre.
        y: metres north of it.
        people: how many there are.
        zone: in which hours are meant.
        cell: the side of the cells, in metres.
    """
    columns = np.floor(x / cell).astype(np.int64)
    rows = np.floor(y / cell).astype(np.int64)
    keys = (rows + 2**20) * 2**21 + columns + 2**20
    home = _most_frequent(person, keys, night(time, zone), x, y, people)
    elsewhere = office(time, zone) & (keys != home.cell[person])
    return home, _most_frequent(person, keys, elsewhere, x, y, people)


def _most_frequent(  # noqa: PLR0917 - columns, in their order
    person: NDArray[np.int64],
    keys: NDArray[np.int64],
    counted: NDArray[np.bool_],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    people: int,
) -> Places:
    found = Places(
        np.full(people, np.nan), np.full(people, np.nan), np.full(people, -1, dtype=np.int64)
    )
    if not counted.any():
        return found
    distinct, codes = np.unique(keys, return_inverse=True)
    pairs = person.astype(np.int64) * distinct.size + codes
    total_pairs, total = np.unique(pairs, return_counts=True)
    chosen, place, count = np.unique(pairs[counted], return_inverse=True, return_counts=True)
    overall = total[np.searchsorted(total_pairs, chosen)]
    owners, cells = chosen // distinct.size, distinct[chosen % distinct.size]
    order = np.lexsort((cells, -overall, -count, owners))
    first = order[np.unique(owners[order], return_index=True)[1]]
    east = np.bincount(place, x[counted]) / count
    north = np.bincount(place, y[counted]) / count
    found.x[owners[first]] = east[first]
    found.y[owners[first]] = north[first]
    found.cell[owners[first]] = cells[first]
    return found
