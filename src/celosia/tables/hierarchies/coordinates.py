"""Pairs of latitude and longitude, grouped by the cells of a grid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import polars as pl

from celosia.core.methods import check_list, parameter
from celosia.tables.hierarchies.hierarchy import (
    ROOT,
    Builder,
    Hierarchy,
    check_multiples,
    distinct_texts,
    is_number,
    misplaced,
)

_PAIR = re.compile(r"\(?\s*(-?\d{1,2}(?:\.\d+)?)\s*[,; ]\s*(-?\d{1,3}(?:\.\d+)?)\s*\)?")

Point = tuple[Fraction, Fraction]
"""Latitude and longitude in degrees."""


def _check_widths(value: Any) -> tuple[float, ...]:
    widths = check_list(value)
    if not widths or not all(is_number(each) and 0 < each <= 90 for each in widths):
        raise ValueError
    return widths


@dataclass(frozen=True, slots=True)
class Coordinates(Builder):
    """Cells of a grid above each pair of latitude and longitude, such as `40.4168, -3.7038`.

    A label is the south-western corner of the cell and the size of its sides in degrees. One degree
    of latitude is 111 km.

    Args:
        widths: the sides of the cells in degrees, each a multiple of the one before.

    >>> Coordinates(widths=(0.1, 1)).build(pl.Series(["40.4168, -3.7038"])).paths()
    [('40.4168, -3.7038', '40.4, -3.8 (0.1 degrees)', '40, -4 (1 degrees)', '*')]
    """

    method_name: ClassVar[str] = "coordinates"

    widths: Sequence[float] = parameter(
        (0.01, 0.1, 1, 10),
        check=_check_widths,
        allowed="tables.must_be.rising_numbers",
        start=(0.01, 0.1, 1),
    )

    def check(self) -> None:
        """Refuse widths that do not nest."""
        check_multiples(self.method_name, "widths", [Fraction(str(each)) for each in self.widths])

    def build(self, values: pl.Series) -> Hierarchy:
        """The pairs from south to north, one level per width.

        Raises:
            InputError: CEL-H043 a value is no pair of latitude and longitude.
        """
        texts = distinct_texts(values)
        points = [read_point(text) for text in texts]
        if strange := [at for at, point in enumerate(points) if point is None]:
            raise misplaced("CEL-H043", strange)
        placed = sorted((point, text) for point, text in zip(points, texts, strict=True) if point)
        return Hierarchy.from_paths(
            (text, *(_cell(point, width) for width in self.widths), ROOT) for point, text in placed
        )


def read_point(text: str) -> Point | None:
    """The latitude and the longitude that a text gives in degrees.

    >>> read_point("(40.5, -3.5)"), read_point("95, 10"), read_point("Lugo")
    ((Fraction(81, 2), Fraction(-7, 2)), None, None)
    """
    match = _PAIR.fullmatch(text.strip())
    if match is None:
        return None
    latitude, longitude = Fraction(match[1]), Fraction(match[2])
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def _cell(point: Point, width: float) -> str:
    side = Fraction(str(width))
    corner = (f"{float(degrees // side * side):g}" for degrees in point)
    return f"{', '.join(corner)} ({width:g} degrees)"
