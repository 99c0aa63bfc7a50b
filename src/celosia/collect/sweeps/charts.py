"""What a sweep shows as lines: errors, times, candidates and memory along what was varied.

The report draws them as SVG, the studio in the browser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.collect.sweeps.results import EXACT_COUNTER, LABELS, PointResult, Sweep
from celosia.core.messages import Message

MOST_LINES = 8
"""Lines of one chart; with more, there are several charts."""
BY_AXIS = {"users": "percent_error", "bits": "nrmse"}
"""What is drawn along an axis, where it is not the mean error."""
OF_SEARCH = ("estimate_ms", "values")
"""What is drawn besides for protocols that find values by themselves."""
SEARCHING = ("sfp", "pem", "treehist")
SKETCHES = ("cms", "hcms", "sfp", "rappor")
"""Protocols whose memory does not depend on the number of different values."""
DOMAINS = tuple(10**power for power in range(2, 10))
Line = tuple[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines along one parameter."""

    title: Message
    x_label: str
    y_label: str
    places: tuple[float, ...]
    lines: tuple[Line, ...]
    log_x: bool = True
    log_y: bool = True

    def rows(self) -> list[list[float]]:
        """A row for each place, with the value of each line."""
        return [
            [place, *(line[at] for _, line in self.lines)] for at, place in enumerate(self.places)
        ]


def charts(found: Sweep) -> list[Chart]:
    """Every chart for which the grid has at least two places."""
    made: list[Chart] = []
    for axis in _axes(found.points):
        among = [each for each in found.points if axis in each.point.coordinates()]
        made += _along(axis, BY_AXIS.get(axis, "mean_error"), among)
        searching = [each for each in among if each.point.protocol in SEARCHING]
        for measure in OF_SEARCH:
            made += _along(axis, measure, searching)
    return [*made, *_memory(found.points)]


def _axes(points: tuple[PointResult, ...]) -> list[str]:
    """The numeric coordinates that have at least two values."""
    values: dict[str, set[object]] = {}
    for each in points:
        for name, value in each.point.coordinates().items():
            values.setdefault(name, set()).add(value)
    return [
        name
        for name, seen in values.items()
        if len(seen) > 1 and all(isinstance(value, int | float) for value in seen)
    ]


def _along(axis: str, measure: str, points: list[PointResult]) -> Iterator[Chart]:
    """Charts of one measure along one axis, some lines each."""
    grouped: dict[tuple[tuple[str, object], ...], dict[float, float]] = {}
    for each in points:
        rest = each.point.coordinates()
        place = float(rest.pop(axis))
        value = getattr(each.mean, measure)
        if value is not None:
            grouped.setdefault(tuple(rest.items()), {})[place] = float(value)
    shared = [dict(key) for key in grouped]
    telling = {name for key in shared for name in key if _differs(name, shared)}
    lines = [
        (_label(key, telling), line) for key, line in zip(shared, grouped.values(), strict=True)
    ]
    lines = [each for each in lines if len(each[1]) > 1]
    places = tuple(sorted(set.intersection(*(set(line) for _, line in lines)) if lines else ()))
    if len(places) < 2:
        return
    for start in range(0, len(lines), MOST_LINES):
        yield Chart(
            Message(
                "collect.sweep.along",
                measure=Message(LABELS[measure]),
                axis=axis,
            ),
            axis,
            Message(LABELS[measure]),
            places,
            tuple(
                (label, tuple(line[place] for place in places))
                for label, line in lines[start : start + MOST_LINES]
            ),
            log_x=places[0] > 0 and places[-1] >= 8 * places[0],
            log_y=measure != "values" and all(v > 0 for _, line in lines for v in line.values()),
        )


def _differs(name: str, keys: list[dict[str, object]]) -> bool:
    return len({key.get(name) for key in keys}) > 1


def _label(key: dict[str, object], telling: set[str]) -> str:
    """What tells a line from the others; the protocol where nothing else does."""
    named = [
        str(value)
        if name in ("data", "protocol")
        else f"{name}={value:g}"
        if isinstance(value, int | float)
        else f"{name}={value}"
        for name, value in key.items()
        if name in telling
    ]
    return ", ".join(named) or str(key["protocol"])


def _memory(points: tuple[PointResult, ...]) -> Iterator[Chart]:
    """The memory of sketches beside that of a counter for each different value."""
    sketches = {
        (each.point.protocol, tuple(s for s in each.point.settings)): each.mean.server_bytes
        for each in points
        if each.point.protocol in SKETCHES
    }
    by_size: dict[float, str] = {}
    for (protocol, settings), size in sketches.items():
        told = ", ".join(f"{name}={value}" for name, value in settings)
        by_size.setdefault(size, f"{protocol} {told}".strip())
    if not by_size:
        return
    exact = (str(Message("collect.sweep.exact")), tuple(EXACT_COUNTER * many for many in DOMAINS))
    flat = [(label, (size,) * len(DOMAINS)) for size, label in sorted(by_size.items())]
    yield Chart(
        Message("collect.sweep.memory"),
        Message("collect.sweep.different"),
        Message("collect.sweep.bytes"),
        tuple(map(float, DOMAINS)),
        (exact, *flat[: MOST_LINES - 1]),
    )
