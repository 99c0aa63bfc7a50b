"""Administrative areas given as polygons: a GeoJSON file, the even-odd rule, the first one wins."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

OUTSIDE = "(outside)"
"""The name of the place of points that lie in no area."""

MOST_EDGES = 4000
"""Edges of one ring up to which it is searched for crossings."""

Ring = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Areas:
    """Polygons with names, in the order of their file.

    Raises:
        InputError: CEL-J007 a polygon is open, crosses itself or has no name, or two overlap.
    """

    names: tuple[tuple[str, ...], ...]
    """The name of each area, and after it those of the areas that it lies in."""
    rings: tuple[tuple[Ring, ...], ...]

    def __post_init__(self) -> None:
        for number, rings in enumerate(self.rings, 1):
            for ring in rings:
                if len(ring) < 4 or (ring[0] != ring[-1]).any():
                    raise InputError("CEL-J007.open", number=number)
                if _crosses(ring):
                    raise InputError("CEL-J007.crossing", number=number)
        self._check_overlap()

    @classmethod
    def load(cls, path: str | Path, names: str | Sequence[str] = "name") -> Areas:
        """The areas of a GeoJSON file, named by one property, or by one for each level."""
        file = Path(path)
        levels = [names] if isinstance(names, str) else list(names)
        try:
            features = json.loads(file.read_text("utf-8"))["features"]
            found, rings = [], []
            for feature in features:
                about, shape = feature["properties"], feature["geometry"]
                found.append(tuple(str(about[level]) for level in levels))
                parts = {"Polygon": [shape["coordinates"]]}.get(shape["type"])
                if parts is None and shape["type"] == "MultiPolygon":
                    parts = shape["coordinates"]
                rings.append(
                    tuple(
                        np.asarray(ring, dtype=np.float64)[:, :2]
                        for part in parts or ()
                        for ring in part
                    )
                )
        except OSError:
            raise InputError("CEL-J007.unreadable", path=file.name) from None
        except (ValueError, KeyError, TypeError, IndexError):
            raise InputError("CEL-J007.damaged", path=file.name, properties=levels) from None
        if not found or not all(rings):
            raise InputError("CEL-J007.damaged", path=file.name, properties=levels)
        return cls(tuple(found), tuple(rings))

    def find(self, latitude: NDArray[Any], longitude: NDArray[Any]) -> NDArray[np.int64]:
        """The number of the first area that holds each place; -1 where none does."""
        found = np.full(latitude.shape, -1, dtype=np.int64)
        for number, rings in enumerate(self.rings):
            south, west, north, east = self.box(number)
            asked = np.nonzero(
                (found < 0)
                & (latitude >= south)
                & (latitude <= north)
                & (longitude >= west)
                & (longitude <= east)
            )[0]
            if asked.size:
                inside = np.zeros(asked.size, dtype=np.bool_)
                for ring in rings:
                    inside ^= _inside(ring, latitude[asked], longitude[asked])
                found[asked[inside]] = number
        return found

    def box(self, number: int) -> tuple[float, float, float, float]:
        """South, west, north, east of one area."""
        points = np.concatenate(self.rings[number])
        low, high = points.min(axis=0), points.max(axis=0)
        return float(low[1]), float(low[0]), float(high[1]), float(high[0])

    def _check_overlap(self) -> None:
        """Refuse areas that share more than an edge: edges cross, or one lies inside another."""
        self._check_crossings()
        centres = [_inner_point(rings) for rings in self.rings]
        for number, centre in enumerate(centres):
            if centre is None:
                continue
            latitude, longitude = np.array([centre[1]]), np.array([centre[0]])
            for other, rings in enumerate(self.rings):
                south, west, north, east = self.box(other)
                near = south < centre[1] < north and west < centre[0] < east
                if other == number or not near:
                    continue
                inside = False
                for ring in rings:
                    inside ^= bool(_inside(ring, latitude, longitude)[0])
                if inside:
                    first, second = sorted((number + 1, other + 1))
                    raise InputError("CEL-J007.overlap", first=first, second=second)

    def _check_crossings(self) -> None:
        boxes = [self.box(number) for number in range(len(self.rings))]
        for first, one in enumerate(boxes):
            for second in range(first + 1, len(boxes)):
                two = boxes[second]
                apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
                if not apart and any(
                    _cross_each_other(ring, other)
                    for ring in self.rings[first]
                    for other in self.rings[second]
                ):
                    raise InputError("CEL-J007.overlap", first=first + 1, second=second + 1)


def _cross_each_other(ring: Ring, other: Ring) -> bool:
    """Whether an edge of one ring properly crosses an edge of the other; touching does not."""
    for start, end in itertools.pairwise(ring):
        one, two = _side(start, end, other[:-1]), _side(start, end, other[1:])
        three = _sides(other[:-1], other[1:], start)
        four = _sides(other[:-1], other[1:], end)
        if np.any((one * two < 0) & (three * four < 0)):
            return True
    return False


def _inside(ring: Ring, latitude: NDArray[Any], longitude: NDArray[Any]) -> NDArray[np.bool_]:
    """The even-odd rule: a ray to the east crosses the ring an odd number of times."""
    found = np.zeros(latitude.shape, dtype=np.bool_)
    for (x1, y1), (x2, y2) in itertools.pairwise(ring):
        spans = (y1 > latitude) != (y2 > latitude)
        if y1 != y2:
            found ^= spans & (longitude < (x2 - x1) * (latitude - y1) / (y2 - y1) + x1)
    return found


def _inner_point(rings: tuple[Ring, ...]) -> tuple[float, float] | None:
    """A place inside an area: the middle of its widest stretch at the height of its centre."""
    points = np.concatenate(rings)
    height = float(np.median(points[:, 1])) + 1e-9
    crossings = sorted(
        float((x2 - x1) * (height - y1) / (y2 - y1) + x1)
        for ring in rings
        for (x1, y1), (x2, y2) in itertools.pairwise(ring)
        if (y1 > height) != (y2 > height)
    )
    stretches = list(zip(crossings[::2], crossings[1::2], strict=False))
    if not stretches:
        return None
    west, east = max(stretches, key=lambda each: each[1] - each[0])
    return (west + east) / 2, height


def _crosses(ring: Ring) -> bool:
    """Whether two edges that are no neighbours cross."""
    start, end = ring[:-1], ring[1:]
    edges = len(start)
    if edges > MOST_EDGES:
        return False
    for number in range(edges - 2):
        last = edges - (1 if number == 0 else 0)  # the last edge ends where the first begins
        others = slice(number + 2, last)
        one = _side(start[number], end[number], start[others])
        two = _side(start[number], end[number], end[others])
        three = _sides(start[others], end[others], start[number])
        four = _sides(start[others], end[others], end[number])
        if np.any((one * two < 0) & (three * four < 0)):
            return True
    return False


def _side(start: Any, end: Any, points: Any) -> NDArray[np.float64]:
    (x1, y1), (x2, y2) = start, end
    found: NDArray[np.float64] = np.sign(
        (x2 - x1) * (points[:, 1] - y1) - (y2 - y1) * (points[:, 0] - x1)
    )
    return found


def _sides(starts: Any, ends: Any, point: Any) -> NDArray[np.float64]:
    wide, high = ends[:, 0] - starts[:, 0], ends[:, 1] - starts[:, 1]
    found: NDArray[np.float64] = np.sign(
        wide * (point[1] - starts[:, 1]) - high * (point[0] - starts[:, 0])
    )
    return found
