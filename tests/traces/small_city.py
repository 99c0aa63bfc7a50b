"""A small city that tests of traces share; made once."""

from __future__ import annotations

from functools import cache
from typing import Any

from celosia.datasets import City, city
from celosia.traces import Declaration, Traces

REGION = [40.0, -4.0, 40.2, -3.7]


@cache
def small_city(people: int = 120, days: int = 4, seed: int = 1) -> City:
    return city(people, days, seed=seed)


def points(
    person: list[Any],
    time: list[int],
    latitude: list[float],
    longitude: list[float],
    **declared: Any,
) -> Traces:
    known = Declaration(**({"region": REGION, "zone": "Europe/Madrid"} | declared))
    return Traces.of(known, person, time, latitude, longitude)
