"""The plane and the lattice: degrees of a declared region as whole numbers of steps in metres.

An equirectangular plane at the centre of the region: x = R cos(centre) (longitude - centre),
y = R (latitude - centre). Noise in degrees would be longer to the north than to the east; metres of
the plane are metres of the ground, up to an error that is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, floor, isfinite, log10, radians
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import real

EARTH = 6_371_008.8
"""The mean radius of the earth, in metres."""

MOST_LATITUDE = 85.0
"""Beyond, a degree of longitude is a few kilometres, and a plane no map."""

WARN_DISTORTION, MOST_DISTORTION = 0.01, 0.05
"""Relative errors of distances at which a region is warned about, and refused."""

Degrees = NDArray[np.float64]
Steps = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle in degrees, declared and never measured on the data.

    Raises:
        InputError: CEL-J002 it is none, or lies over a pole or the date line, or is too large.

    >>> Region.of([40.3, -3.9, 40.6, -3.5]).centre
    (40.45, -3.7)
    """

    south: float
    west: float
    north: float
    east: float

    @classmethod
    def of(cls, values: Any) -> Region:
        """A region from south, west, north, east."""
        if isinstance(values, Region):
            return values
        sides = [real(each) for each in values] if isinstance(values, list | tuple) else []
        if len(sides) != 4 or any(each is None or not isfinite(each) for each in sides):
            raise InputError("CEL-J002.numbers")
        return cls(*(float(each) for each in sides if each is not None))

    def __post_init__(self) -> None:
        if max(abs(self.south), abs(self.north)) > MOST_LATITUDE:
            raise InputError("CEL-J002.pole", most=MOST_LATITUDE)
        if max(abs(self.west), abs(self.east)) > 180 or self.west >= self.east:
            raise InputError("CEL-J002.date_line")
        if self.south >= self.north:
            raise InputError("CEL-J002.inverted")
        if self.distortion > MOST_DISTORTION:
            raise InputError("CEL-J002.too_large", distortion=self.distortion, most=MOST_DISTORTION)

    @property
    def centre(self) -> tuple[float, float]:
        """Latitude and longitude of the centre."""
        return round((self.south + self.north) / 2, 9), round((self.west + self.east) / 2, 9)

    @property
    def distortion(self) -> float:
        """The largest relative error of a distance: of one from west to east at an edge."""
        middle = cos(radians((self.south + self.north) / 2))
        edges = (cos(radians(self.south)), cos(radians(self.north)))
        return max(abs(edge / middle - 1) for edge in edges)

    @property
    def sides(self) -> list[float]:
        """South, west, north, east, as a declaration has them."""
        return [self.south, self.west, self.north, self.east]

    def holds(self, latitude: Degrees, longitude: Degrees) -> NDArray[np.bool_]:
        """Whether each place lies inside."""
        inside: NDArray[np.bool_] = (
            (latitude >= self.south)
            & (latitude <= self.north)
            & (longitude >= self.west)
            & (longitude <= self.east)
        )
        return inside


@dataclass(frozen=True, slots=True)
class Plane:
    """A region with a lattice of square cells of `step` metres.

    >>> plane = Plane(Region.of([40.3, -3.9, 40.6, -3.5]), step=10)
    >>> x, y = plane.cells(np.array([40.45]), np.array([-3.7]))
    >>> plane.decimals, plane.places(x, y)[0].tolist()
    (4, [40.45])
    """

    region: Region
    step: float = 10.0

    @property
    def decimals(self) -> int:
        """Decimals of a degree that a cell justifies: 5 of a metre, 4 of ten, 3 of a hundred."""
        return max(0, 5 - floor(log10(self.step)))

    @property
    def _scale(self) -> tuple[float, float]:
        """Metres of a degree of longitude and of latitude."""
        metres = EARTH * radians(1.0)
        return metres * cos(radians(self.region.centre[0])), metres

    def metres(self, latitude: Degrees, longitude: Degrees) -> tuple[Degrees, Degrees]:
        """Metres east and north of the centre."""
        centre, scale = self.region.centre, self._scale
        return (longitude - centre[1]) * scale[0], (latitude - centre[0]) * scale[1]

    def degrees(self, x: Any, y: Any) -> tuple[Degrees, Degrees]:
        """Latitude and longitude of metres east and north of the centre."""
        centre, scale = self.region.centre, self._scale
        return np.asarray(y) / scale[1] + centre[0], np.asarray(x) / scale[0] + centre[1]

    def cells(self, latitude: Degrees, longitude: Degrees) -> tuple[Steps, Steps]:
        """The lattice cell of each place: whole steps east and north of the centre."""
        x, y = self.metres(latitude, longitude)
        return (
            np.floor(x / self.step).astype(np.int32),
            np.floor(y / self.step).astype(np.int32),
        )

    def places(self, x: Steps, y: Steps) -> tuple[Degrees, Degrees]:
        """Latitude and longitude of the centre of each cell, in no more decimals than it has."""
        found = self.degrees((x + 0.5) * self.step, (y + 0.5) * self.step)
        return np.round(found[0], self.decimals), np.round(found[1], self.decimals)

    def corners(self, x: Steps, y: Steps) -> tuple[Degrees, Degrees]:
        """Latitude and longitude of the south-west corner of each cell."""
        found = self.degrees(x * self.step, y * self.step)
        return np.round(found[0], self.decimals), np.round(found[1], self.decimals)

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """The cells of the region: least x, least y, greatest x, greatest y."""
        region = self.region
        low = self.cells(np.array([region.south]), np.array([region.west]))
        high = self.cells(np.array([region.north]), np.array([region.east]))
        return int(low[0][0]), int(low[1][0]), int(high[0][0]), int(high[1][0])

    def clamp(self, x: NDArray[Any], y: NDArray[Any]) -> tuple[Steps, Steps]:
        """The nearest cells of the region: what is moved after noise costs no privacy."""
        west, south, east, north = self.bounds
        return (
            np.clip(x, west, east).astype(np.int32),
            np.clip(y, south, north).astype(np.int32),
        )
