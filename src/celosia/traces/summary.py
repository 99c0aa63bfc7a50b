"""A description of points in numbers, without a place or a person."""

from __future__ import annotations

import numpy as np

from celosia.core.messages import Message
from celosia.traces.points import Traces
from celosia.traces.stops import find_stops

WORDS = {
    "points": Message("traces.summary.points"),
    "people": Message("traces.summary.people"),
    "days": Message("traces.summary.days"),
    "median_points": Message("traces.summary.median_points"),
    "most_points": Message("traces.summary.most_points"),
    "median_gap_minutes": Message("traces.summary.median_gap_minutes"),
    "trips": Message("traces.summary.trips"),
    "stops": Message("traces.summary.stops"),
}
"""What each number is called."""


def summary(traces: Traces) -> dict[str, float]:
    """Counts of points, people, days, trips and stops, and the gap between points.

    >>> from celosia.datasets import city
    >>> summary(city(people=5, days=1).traces)["people"]
    5
    """
    counts = np.bincount(traces.person, minlength=traces.people)
    same = np.diff(traces.person) == 0
    gaps = np.diff(traces.time)[same]
    span = int(traces.time.max() - traces.time.min()) if traces.size else 0
    return {
        "points": traces.size,
        "people": traces.people,
        "days": round(span / 86_400, 2),
        "median_points": float(np.median(counts)) if counts.size else 0,
        "most_points": int(counts.max(initial=0)),
        "median_gap_minutes": round(float(np.median(gaps)) / 60, 1) if gaps.size else 0,
        "trips": int(traces.trips[-1]) + 1 if traces.size else 0,
        "stops": int(find_stops(traces).start.size),
    }
