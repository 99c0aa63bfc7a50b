"""An invented city: where people live, work and go, and the points that their phones leave.

A square of 20 km around latitude 40, longitude -3, with six centres and 2,000 places; some people
live outside it. Only uniform
numbers of a named bit generator are used, whose stream NumPy promises to keep, so a seed gives the
same people on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.traces.declaration import Declaration
from celosia.traces.plane import Plane
from celosia.traces.points import Traces, sorted_traces
from celosia.traces.zones import iso_texts, universal

SIDE = 20_000.0
"""Metres of a side of the city."""
PEOPLE, DAYS, SEED = 1_000, 14, 20_261
"""What one gets without asking for anything else."""
POINTS_EACH = 132
"""Points that a person leaves in the days that one gets."""
PLACES, CENTRES, FAVOURITES = 2_000, 6, 6
MOST_PEOPLE, MOST_DAYS = 1_000_000, 366
MONDAY = 1_772_409_600
"""2 March 2026, a Monday, at midnight by the clock of the zone."""
ZONE = "Europe/Madrid"
COLUMNS = ("user", "when", "lat", "lon")
DAY, HOUR = 86_400, 3_600
LATEST = 23.5
"""The hour at which everybody is at home again."""

DECLARATION = """# What the columns of these points mean, and what is protected.
[trace]
person = "user"
time = "when"
latitude = "lat"
longitude = "lon"
zone = "Europe/Madrid"                    # hours of the day are meant in this zone
region = [39.81, -3.25, 40.19, -2.75]   # south, west, north, east: declared, never measured
unit = "person"                           # person, person-day, trip or point
"""

Metres = NDArray[np.float64]


def city_declaration() -> str:
    """The declaration file of `city`, to copy and change."""
    return DECLARATION


def city_points(rows: int | None = None, seed: int = SEED) -> pl.DataFrame:
    """The points of a city as a table; with `rows` of so many people that there are about as many.

    Raises:
        InputError: CEL-D031 no such size.
    """
    people = PEOPLE if rows is None else max(1, round((whole(rows) or 0) / POINTS_EACH))
    return city(people, seed=seed).frame


def declaration(**changes: Any) -> Declaration:
    """The declaration of the city, which is public."""
    known: dict[str, Any] = {
        "person": "user",
        "time": "when",
        "latitude": "lat",
        "longitude": "lon",
        "zone": ZONE,
        "region": [39.81, -3.25, 40.19, -2.75],
    }
    return Declaration(**(known | changes))


@dataclass(frozen=True, eq=False)
class City:
    """Points of people, and the truth about them: homes, work places, favourites."""

    person: NDArray[np.int64] = field(repr=False)
    clock: NDArray[np.int64] = field(repr=False)
    """Seconds of the local clock."""
    x: Metres = field(repr=False)
    y: Metres = field(repr=False)
    people: int
    days: int
    homes: Metres = field(repr=False)
    """East and north of the centre, in metres, for each person."""
    works: Metres = field(repr=False)
    """The same of the work place; NaN for people without one."""
    favourites: NDArray[np.int64] = field(repr=False)
    places: Metres = field(repr=False)

    @property
    def size(self) -> int:
        """The number of points."""
        return int(self.person.size)

    @cached_property
    def _degrees(self) -> tuple[Metres, Metres]:
        return Plane(declaration().region).degrees(self.x, self.y)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The points as a table: user, when, lat, lon."""
        times = universal(self.clock, ZONE)
        order = np.lexsort((times, self.person))
        north, east = self._degrees
        width = len(str(self.people - 1))
        user = pl.Series(self.person[order]).cast(pl.String).str.zfill(width)
        return pl.DataFrame(
            {
                "user": "u" + user,
                "when": iso_texts(times[order], ZONE),
                "lat": np.round(north[order], 6),
                "lon": np.round(east[order], 6),
            }
        )

    @cached_property
    def traces(self) -> Traces:
        """The points on the lattice of the declared region."""
        known = declaration()
        width = len(str(self.people - 1))
        names = "u" + pl.Series("person", range(self.people)).cast(pl.String).str.zfill(width)
        north, east = self._degrees
        cells = known.plane.cells(np.round(north, 6), np.round(east, 6))
        return sorted_traces(known, names, self.person, universal(self.clock, ZONE), cells)

    def __str__(self) -> str:
        return str(self.traces)


class _Draws:
    """Laws made of the uniform numbers of one stream."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, *shape: int) -> Metres:
        return self._generator.random(shape)

    def normal(self, *shape: int) -> Metres:
        # A number of 53 bits may be 0, of which the normal quantile is no number.
        found: Metres = ndtri(np.clip(self.uniform(*shape), 2.0**-54, 1 - 2.0**-53))
        return found

    def exponential(self, *shape: int) -> Metres:
        return -np.log1p(-self.uniform(*shape))

    def poisson(self, mean: Metres) -> NDArray[np.int64]:
        """By the inverse of the distribution; means here are below 30."""
        level = self.uniform(*mean.shape)
        term = np.exp(-mean)
        total, found = term.copy(), np.zeros(mean.shape, dtype=np.int64)
        for count in range(1, 200):
            above = level > total
            if not above.any():
                break
            found += above
            term = term * mean / count
            total += term
        return found

    def choose(self, weights: Metres) -> NDArray[np.int64]:
        """One column of each row, with chances as the weights."""
        sums = np.cumsum(weights, axis=1)
        level = self.uniform(len(weights)) * sums[:, -1]
        found = (sums < level[:, None]).sum(axis=1)
        chosen: NDArray[np.int64] = np.clip(found, 0, weights.shape[1] - 1).astype(np.int64)
        return chosen


def city(people: int = PEOPLE, days: int = DAYS, *, seed: int = SEED) -> City:
    """People of an invented city with their points; the same seed makes the same ones.

    Args:
        people: how many; each leaves about nine points a day.
        days: from a Monday on.
        seed: what the people are drawn from.

    Raises:
        InputError: CEL-D031 no such size.

    >>> city(people=10, days=2).people
    10
    """
    count, length = whole(people), whole(days)
    if (
        count is None
        or length is None
        or not (1 <= count <= MOST_PEOPLE and 1 <= length <= MOST_DAYS)
    ):
        raise InputError("CEL-D031", most=MOST_PEOPLE, days=MOST_DAYS)
    draws = _Draws(seed)
    places, popularity, centres, shares = _places(draws)
    homes = _homes(draws, count, centres, shares)
    works, favourites = _habits(draws, homes, places, popularity)
    employed = draws.uniform(count) < 0.75
    stays = _stays(draws, length, homes, places, works, favourites, employed)
    person, clock, x, y = _pings(draws, *stays)
    truth = np.where(employed[:, None], places[works], np.nan)
    return City(
        person,
        _one_each_second(person, clock),
        x,
        y,
        count,
        length,
        homes,
        truth,
        favourites,
        places,
    )


def _one_each_second(person: NDArray[np.int64], clock: NDArray[np.int64]) -> NDArray[np.int64]:
    """Times at which nobody has two points: the later of two goes on by a second.

    >>> _one_each_second(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 5])).tolist()
    [5, 6, 7, 5]
    """
    order = np.lexsort((clock, person))
    rank = np.arange(order.size)
    apart = person[order].astype(np.int64) << 40  # no time of a person reaches into the next
    found = clock.copy()
    found[order] = np.maximum.accumulate(clock[order] - rank + apart) - apart + rank
    return found


def _places(draws: _Draws) -> tuple[Metres, Metres, Metres, Metres]:
    centres = (draws.uniform(CENTRES, 2) - 0.5) * 0.6 * SIDE
    weights = draws.exponential(CENTRES, 2).sum(axis=1)  # Dirichlet(2, ...), before its sum
    shares = weights / weights.sum()
    chosen = draws.choose(np.repeat(shares[None], PLACES, axis=0))
    sign = np.where(draws.uniform(PLACES, 2) < 0.5, -1.0, 1.0)
    places = centres[chosen] + sign * 1_500 * draws.exponential(PLACES, 2)
    popularity = np.exp(1.2 * draws.normal(PLACES))
    return _inside(places), popularity, centres, shares


def _inside(places: Metres) -> Metres:
    return np.clip(places, -SIDE / 2 + 100, SIDE / 2 - 100)


def _homes(draws: _Draws, people: int, centres: Metres, shares: Metres) -> Metres:
    chosen = draws.choose(np.repeat(shares[None], people, axis=0))
    # Some live beyond the city, but nobody beyond the declared region.
    return np.clip(centres[chosen] + 3_000 * draws.normal(people, 2), -SIDE, SIDE)


def _habits(
    draws: _Draws, homes: Metres, places: Metres, popularity: Metres
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The work place and the favourite places of each person, a thousand people at a time."""
    works = np.empty(len(homes), dtype=np.int64)
    favourites = np.empty((len(homes), FAVOURITES), dtype=np.int64)
    for start in range(0, len(homes), 1_000):
        part = homes[start : start + 1_000]
        away = np.hypot(
            part[:, None, 0] - places[None, :, 0], part[:, None, 1] - places[None, :, 1]
        )
        works[start : start + len(part)] = draws.choose(popularity * np.exp(-away / 5_000))
        near = popularity * np.exp(-away / 3_000)
        for rank in range(FAVOURITES):
            chosen = draws.choose(near)
            favourites[start : start + len(part), rank] = chosen
            near[np.arange(len(part)), chosen] = 0
    return works, favourites


def _stays(  # noqa: PLR0917 - what is known of the people
    draws: _Draws,
    days: int,
    homes: Metres,
    places: Metres,
    works: NDArray[np.int64],
    favourites: NDArray[np.int64],
    employed: NDArray[np.bool_],
) -> tuple[Any, ...]:
    """Stays of all people: whose, where, from when to when, and whether at home."""
    people = len(homes)
    leaving = 8 + 0.7 * draws.normal(people)
    ranks = 1 / np.arange(1, FAVOURITES + 1)
    every = np.arange(people)
    found: list[tuple[Any, ...]] = []

    def add(who: Any, where: Metres, start: Metres, end: Metres, home: bool) -> None:
        long = end > start
        found.append((who[long], where[long], start[long], end[long], home))

    at_home_since = np.zeros(people)
    for day in range(days):
        begin = 24.0 * day
        working = employed & (day % 7 < 5) & (draws.uniform(people) < 0.93)
        out = begin + leaving + 0.25 * draws.normal(people)
        free = begin + 10 + 6 * draws.uniform(people)
        arrive = out + 0.5
        depart = np.minimum(arrive + 8.5 + 0.7 * draws.normal(people), begin + LATEST - 0.5)
        works_today = np.nonzero(working)[0]
        add(works_today, places[works[works_today]], arrive[working], depart[working], False)
        left_home = np.where(working, out, np.nan)
        clock = np.where(working, depart, free)
        stops = draws.poisson(np.where(working, 0.6, 1.4))
        last = np.where(working, depart, np.nan)
        for number in range(int(stops.max(initial=0))):
            start = clock + 0.3
            end = np.minimum(start + 0.3 + 1.2 * draws.exponential(people), begin + LATEST)
            chosen = draws.choose(np.repeat(ranks[None], people, axis=0))
            going = (stops > number) & (start < begin + LATEST - 0.1)
            who = np.nonzero(going)[0]
            place = places[favourites[every, chosen]]
            add(who, place[going], start[going], end[going], False)
            left_home = np.where(going & np.isnan(left_home), start - 0.3, left_home)
            last = np.where(going, end, last)
            clock = np.where(going, end, clock)
        away = ~np.isnan(left_home)
        add(np.nonzero(away)[0], homes[away], at_home_since[away], left_home[away], True)
        at_home_since = np.where(away, last + 0.3, at_home_since)
    add(every, homes, at_home_since, np.full(people, 24.0 * days), True)
    who = np.concatenate([each[0] for each in found])
    return (
        who,
        np.concatenate([each[1] for each in found]),
        np.concatenate([each[2] for each in found]),
        np.concatenate([each[3] for each in found]),
        np.concatenate([np.full(each[0].size, each[4]) for each in found]),
    )


def _pings(  # noqa: PLR0917 - the columns of stays
    draws: _Draws, who: Any, where: Metres, start: Metres, end: Metres, home: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], Metres, Metres]:
    mean = 0.35 * (end - start)
    # A stay at home may last for days: its points are drawn by the day.
    counts = np.zeros(who.size, dtype=np.int64)
    left = mean.copy()
    while (left > 0).any():
        counts += draws.poisson(np.minimum(left, 8.0).clip(0))
        left = left - 8.0
    counts += ~home
    row = np.repeat(np.arange(who.size), counts)
    hours = start[row] + (end - start)[row] * draws.uniform(row.size)
    noise = 10 * draws.normal(row.size, 2)
    position = where[row] + noise
    clock = MONDAY + np.floor(hours * HOUR).astype(np.int64)
    return who[row], clock, position[:, 0], position[:, 1]
