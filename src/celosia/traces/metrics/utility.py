"""Utility of published traces: how near their statistics are to those of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message, say
from celosia.core.report import Block, Heading, Table
from celosia.traces.points import Traces
from celosia.traces.samples import Samples
from celosia.traces.zones import hours_of_day

CELL = 1000.0
"""Metres of the cells in which visits are counted."""
TOP = 20
QUERIES = 200
"""Squares that are asked for of each size."""

WORDS = {
    "density_divergence": Message("traces.utility.density_divergence"),
    "top_cells_tau": Message("traces.utility.top_cells_tau"),
    "hour_divergence": Message("traces.utility.hour_divergence"),
    "gyration_distance": Message("traces.utility.gyration_distance"),
    "trip_length_distance": Message("traces.utility.trip_length_distance"),
    "flow_overlap": Message("traces.utility.flow_overlap"),
    "range_error_1": Message("traces.utility.range_error_1"),
    "range_error_10": Message("traces.utility.range_error_10"),
    "published_share": Message("traces.utility.published_share"),
}
"""What each figure is called."""


@dataclass(frozen=True, slots=True)
class TraceUtility:
    """Figures of a release beside its original."""

    figures: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        return dict(self.figures)

    def blocks(self) -> list[Block]:
        """The figures as parts of a report."""
        return [
            Heading(say("traces.report.utility")),
            Table(
                [say("traces.report.figure"), say("traces.report.value")],
                [[str(WORDS[name]), f"{value:,.4g}"] for name, value in self.figures.items()],
                say("traces.report.utility_caption"),
                numeric=(1,),
            ),
        ]


def compare(original: Traces, release: Samples) -> TraceUtility:
    """The utility of a release beside its original.

    Jensen-Shannon divergences are in bits, from 0 (alike) to 1; distances of lengths and of radii
    of gyration are earth mover's distances in metres; flows overlap from 0 to 1; range queries have
    a mean relative error with the sanity bound 0.1 % of the points.
    """
    plane = original.plane
    x, y = release.centres
    zone = original.declaration.zone
    before = _cells(original.x, original.y, original)
    after = _cells(x, y, original)
    figures = {
        "published_share": release.size / max(original.size, 1),
        "density_divergence": jensen_shannon(before, after),
        "top_cells_tau": _top_agreement(before, after),
        "hour_divergence": jensen_shannon(
            np.bincount(hours_of_day(original.time, zone), minlength=24),
            np.bincount(hours_of_day(release.moments, zone), minlength=24),
        ),
        "gyration_distance": earth_mover(
            gyration(original.person, original.x, original.y) * plane.step,
            gyration(release.trace, x, y) * plane.step,
        ),
        "trip_length_distance": earth_mover(
            lengths(original.trips, original.x, original.y) * plane.step,
            lengths(_runs(release, original.declaration.trip_gap), x, y) * plane.step,
        ),
        "flow_overlap": flow_overlap(original, release),
    }
    for name, share in (("range_error_1", 0.01), ("range_error_10", 0.1)):
        figures[name] = range_error(original, (x, y), share)
    return TraceUtility(figures)


def _cells(x: NDArray[Any], y: NDArray[Any], traces: Traces) -> NDArray[np.int64]:
    """Visits of each cell of the region, in its order."""
    west, south, east, north = traces.plane.bounds
    factor = max(1, round(CELL / traces.plane.step))
    wide, high = (east - west) // factor + 1, (north - south) // factor + 1
    column = np.clip((x.astype(np.int64) - west) // factor, 0, wide - 1)
    row = np.clip((y.astype(np.int64) - south) // factor, 0, high - 1)
    return np.bincount(row * wide + column, minlength=wide * high)


def jensen_shannon(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The Jensen-Shannon divergence of two counts, in bits.

    >>> jensen_shannon(np.array([1, 0]), np.array([0, 1]))
    1.0
    """
    if not one.sum() or not other.sum():
        return 1.0
    p, q = one / one.sum(), other / other.sum()
    middle = (p + q) / 2

    def entropy(shares: NDArray[np.float64]) -> float:
        filled = shares[shares > 0]
        return float(-(filled * np.log2(filled)).sum())

    return max(0.0, entropy(middle) - (entropy(p) + entropy(q)) / 2)


def _top_agreement(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    from scipy.stats import kendalltau

    top = np.argsort(-before, kind="stable")[:TOP]
    tau = kendalltau(before[top], after[top]).statistic
    return 0.0 if np.isnan(tau) else float(tau)


def earth_mover(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The mean distance by which one set of numbers must be moved to become the other."""
    if not one.size or not other.size:
        return 0.0
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(one, other))


def gyration(who: NDArray[Any], x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """The radius of gyration of each trace: the root mean square distance from its mean."""
    if not who.size:
        return np.zeros(0)
    _, codes = np.unique(who, return_inverse=True)
    count = np.bincount(codes)
    total = np.zeros(count.size)
    for each in (x.astype(np.float64), y.astype(np.float64)):
        mean = np.bincount(codes, each) / count
        total += np.bincount(codes, (each - mean[codes]) ** 2) / count
    return np.sqrt(total)


def lengths(runs: NDArray[Any], x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """The length of each trip, from point to point."""
    if runs.size < 2:
        return np.zeros(0)
    same = np.diff(runs) == 0
    steps = np.hypot(np.diff(x.astype(np.float64)), np.diff(y.astype(np.float64)))
    _, codes = np.unique(runs[1:][same], return_inverse=True)
    found: NDArray[np.float64] = np.bincount(codes, steps[same]).astype(np.float64)
    return found if codes.size else np.zeros(0)


def _runs(release: Samples, gap: float) -> NDArray[np.int64]:
    if not release.size:
        return np.zeros(0, dtype=np.int64)
    new = (np.diff(release.trace) != 0) | (np.diff(release.moments) > gap * 60)
    return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)


def flow_overlap(original: Traces, release: Samples) -> float:
    """How far moves between cells agree: 2 sum of minima / sum of both, from 0 to 1."""
    one = _flows(original.person, original.x, original.y, original)
    x, y = release.centres
    other = _flows(release.trace, x, y, original)
    total = sum(one.values()) + sum(other.values())
    if not total:
        return 1.0
    return 2 * sum(min(count, other.get(key, 0)) for key, count in one.items()) / total


def _flows(who: Any, x: Any, y: Any, traces: Traces) -> dict[int, int]:
    west, south, east, _ = traces.plane.bounds
    factor = max(1, round(CELL / traces.plane.step))
    wide = (east - west) // factor + 2
    cells = (y.astype(np.int64) - south) // factor * wide + (x.astype(np.int64) - west) // factor
    moved = (np.diff(who) == 0) & (np.diff(cells) != 0)
    keys, counts = np.unique(cells[:-1][moved] * 2**31 + cells[1:][moved], return_counts=True)
    return dict(zip(keys.tolist(), counts.tolist(), strict=True))


def range_error(original: Traces, release: tuple[Any, Any], share: float) -> float:
    """The mean relative error of the number of points in squares of a share of the region.

    Squares lie on a fixed lattice of places: the same ones for every release.
    """
    west, south, east, north = original.plane.bounds
    side = np.sqrt(share)
    wide, high = (east - west + 1) * side, (north - south + 1) * side
    places = np.modf(np.arange(1, QUERIES + 1)[:, None] * np.array([0.7548776662, 0.5698402910]))[0]
    bound = 0.001 * original.size
    scale = original.size / max(release[0].size, 1)
    errors = []
    for east_share, north_share in places:
        left = west + east_share * (east - west + 1 - wide)
        low = south + north_share * (north - south + 1 - high)
        true = _inside(original.x, original.y, (left, low, wide, high))
        told = _inside(release[0], release[1], (left, low, wide, high)) * scale
        errors.append(abs(told - true) / max(true, bound))
    return float(np.mean(errors))


def _inside(x: Any, y: Any, square: tuple[float, float, float, float]) -> int:
    left, low, wide, high = square
    return int(((x >= left) & (x < left + wide) & (y >= low) & (y < low + high)).sum())
