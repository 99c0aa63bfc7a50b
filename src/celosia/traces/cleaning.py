"""Cleaning before any method: sensitive places left out, and the ends of trips trimmed.

Neither promises anything formal. The circle that is trimmed around an end has its centre moved at
random, once for each person and place: otherwise several trips of a person would show the home as
the middle of the circle in which there are no points.
"""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source
from celosia.traces.points import Traces

AROUND = 600
"""Seconds before and after a sensitive place in which points go too: a gap would give it away."""
ANGLES = 1 << 16


def clean(traces: Traces, *, trim: float, rng: Source) -> tuple[Traces, dict[str, int]]:
    """The points that may be published, and how many were left out for which reason."""
    found: dict[str, int] = {}
    if traces.declaration.sensitive:
        kept = ~_near_sensitive(traces)
        found["sensitive_points"] = int((~kept).sum())
        traces = traces.select(kept)
    if trim > 0:
        kept = ~_near_ends(traces, trim, rng)
        found["trimmed_points"] = int((~kept).sum())
        traces = traces.select(kept)
    return traces, {name: count for name, count in found.items() if count}


def _near_sensitive(traces: Traces) -> NDArray[np.bool_]:
    """Points at a sensitive place, and points of the same person shortly before and after."""
    plane = traces.plane
    gone = np.zeros(traces.size, dtype=np.bool_)
    east, north = (traces.x + 0.5) * plane.step, (traces.y + 0.5) * plane.step
    for latitude, longitude, radius in traces.declaration.sensitive:
        x, y = plane.metres(np.array([latitude]), np.array([longitude]))
        gone |= np.hypot(east - x[0], north - y[0]) <= radius
    stays = np.nonzero(gone)[0]
    if not stays.size:
        return gone
    # Points are sorted by person and time: one number orders both.
    span = int(traces.time.max() - traces.time.min()) + 2 * AROUND + 1
    key = traces.person.astype(np.int64) * span + (traces.time - traces.time.min()) + AROUND
    after = np.searchsorted(key[stays], key)
    for side in (np.clip(after, 0, stays.size - 1), np.clip(after - 1, 0, stays.size - 1)):
        gone |= np.abs(key[stays][side] - key) <= AROUND
    return gone


def _near_ends(traces: Traces, trim: float, rng: Source) -> NDArray[np.bool_]:
    """Points of a trip near its first or last point, around centres that are moved at random."""
    trips = traces.trips
    if not trips.size:
        return np.zeros(0, dtype=np.bool_)
    first = np.unique(trips, return_index=True)[1]
    last = np.append(first[1:], trips.size) - 1
    reach = trim / traces.plane.step
    gone = np.zeros(traces.size, dtype=np.bool_)
    for ends in (first, last):
        east, north = _moved_centres(traces, ends, reach, rng)
        apart = np.hypot(traces.x - east[trips], traces.y - north[trips])
        gone |= apart <= reach
    return gone


def _moved_centres(
    traces: Traces, ends: NDArray[np.int64], reach: float, rng: Source
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres of circles that hold the ends: one offset for each person and cell of that size."""
    side = max(1, int(reach))
    cells = (traces.x[ends] // side).astype(np.int64) * 2**31 + traces.y[ends] // side
    _, place = np.unique(cells, return_inverse=True)
    keys = traces.person[ends].astype(np.int64) * (int(place.max()) + 1) + place
    distinct, inverse = np.unique(keys, return_inverse=True)
    angle = rng.integers(ANGLES, distinct.size) * (2 * pi / ANGLES)
    # Uniform in the disc of two thirds of the reach: the end itself stays inside the circle.
    radius = reach * 2 / 3 * np.sqrt(rng.integers(ANGLES, distinct.size) / ANGLES)
    east = traces.x[ends] + (radius * np.cos(angle))[inverse]
    north = traces.y[ends] + (radius * np.sin(angle))[inverse]
    return east, north
