"""A draft of a declaration: columns guessed by their names, and a region to be replaced."""

from __future__ import annotations

from math import ceil, floor
from pathlib import Path

import polars as pl

from celosia.core.errors import InputError
from celosia.traces.declaration import DamagedPoints
from celosia.traces.plane import Region

GUESSES = {
    "person": ("person", "user", "uid", "user_id", "person_id", "id", "device", "name"),
    "time": ("time", "when", "timestamp", "datetime", "date", "t"),
    "latitude": ("latitude", "lat", "y"),
    "longitude": ("longitude", "lon", "lng", "long", "x"),
}
"""Names that columns often have."""


def guess_columns(columns: list[str]) -> dict[str, str]:
    """The columns of a file by what they mean.

    Raises:
        InputError: CEL-J001.guess one cannot be told by its name.

    >>> guess_columns(["user", "when", "lat", "lon"])["time"]
    'when'
    """
    by_name = {column.lower(): column for column in columns}
    found = {}
    for meaning, names in GUESSES.items():
        hits = [by_name[name] for name in names if name in by_name]
        if not hits:
            raise InputError("CEL-J001.guess", key=meaning, columns=columns)
        found[meaning] = hits[0]
    return found


def draft(
    frame: pl.DataFrame,
    *,
    region: Region | None = None,
    zone: str | None = None,
    damaged: DamagedPoints = "refuse",
) -> str:
    """The text of a declaration for a table; a region that is not given is measured, and says so.

    Raises:
        InputError: CEL-J001 columns that cannot be guessed; CEL-J003 coordinates that are none.
    """
    from celosia.traces.checks import degrees

    columns = guess_columns(frame.columns)
    measured = region is None
    if region is None:
        north = degrees(frame[columns["latitude"]], columns["latitude"])
        east = degrees(frame[columns["longitude"]], columns["longitude"])
        sides = [north.min(), east.min(), north.max(), east.max()]
        # Rounded outwards to tenths of a degree, so that no edge is a person's place.
        region = Region.of(
            [
                round((floor if place < 2 else ceil)(10 * side) / 10, 1)
                for place, side in enumerate(sides)
            ]
        )
    lines = [
        "# What the columns of a file of points mean, and what is protected.",
        "[trace]",
        *(f'{meaning} = "{column}"' for meaning, column in columns.items()),
        f'zone = "{zone or "UTC"}"  # hours of the day are meant in this zone',
        f"region = {region.sides}  # south, west, north, east, in degrees",
    ]
    if measured:
        lines += [
            "# This region was measured on the data. Put in the one that everybody knows, and",
            "# remove the next line: private releases refuse a measured region.",
            "is_measured = true",
        ]
    if not measured and frame[columns["time"]].dtype.is_numeric():
        lines.append('epoch = "s"  # or "ms"')
    elif frame[columns["time"]].dtype.is_numeric():
        lines.append('epoch = "s"  # seconds since 1970, or "ms" for milliseconds')
    lines += [
        'unit = "person"     # person, person-day, trip or point: what one step of privacy hides',
        "step = 10           # side of a lattice cell, in metres",
        'outside = "refuse"  # what to do with points outside the region: refuse, drop or clamp',
        f'damaged = "{damaged}"  # several points of a person at one second: refuse, or drop',
        '# place = "venue"                      # a column of named places (check-ins)',
        '# areas = "areas.geojson"              # polygons of administrative areas',
        "# sensitive = [[40.41, -3.70, 300]]    # latitude, longitude and metres: left out",
    ]
    return "\n".join(lines) + "\n"


def table_of(path: Path) -> pl.DataFrame:
    """The table of a file of points, for a draft."""
    from celosia import frames
    from celosia.traces.declaration import Declaration
    from celosia.traces.readers import ENDINGS, read_frame

    return read_frame(path, Declaration()) if path.suffix.lower() in ENDINGS else frames.read(path)
