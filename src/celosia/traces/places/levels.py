"""Levels of place and of time: what each point becomes, from the finest cell to the whole region.

Every level holds a number for each point, and for each number a name and a box of the lattice. A
cell of one level lies in one cell of the next: H3 parents are computed from the cell, not from the
coordinates, since H3 cells do not nest exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import EngineError, InputError
from celosia.traces.places import geohash
from celosia.traces.places.areas import OUTSIDE, Areas
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.zones import NESTED, end_times, floor_times

Scheme = Literal["grid", "geohash", "h3", "areas", "place"]

Codes = NDArray[np.int64]
ROOT = "*"
H3_FINEST, H3_COARSEST = 10, 4
GEOHASH_FINEST, GEOHASH_COARSEST = 7, 3


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """What the points become at one level."""

    codes: Codes
    """The number of each point's cell, area or window; -1 where it has none."""
    names: tuple[str, ...]
    boxes: NDArray[np.int64]
    """West, south, east, north of each number, in steps of the lattice; or start and end, in
    seconds."""
    title: str
    """The name of the level."""


def place_levels(traces: Traces, scheme: Scheme, *, base: float | None = None) -> list[Level]:
    """The levels of a scheme of places; the last is the whole region.

    Args:
        traces: the points.
        scheme: what the cells are.
        base: side of the finest grid cell in metres, letters of the finest geohash, or the finest
            H3 resolution.

    Raises:
        InputError: CEL-J014 no such scheme, or one that needs what was not declared.
        EngineError: CEL-J015 the package h3 is not installed.
    """
    # Places are computed once for each distinct lattice cell.
    cells, place = _distinct_cells(traces)
    plane = traces.plane
    match scheme:
        case "grid":
            found = _grid(cells, plane, base)
        case "geohash":
            found = _geohash(cells, plane, base)
        case "h3":
            found = _h3(cells, plane, base)
        case "areas":
            found = _areas(cells, traces)
        case "place":
            return [*_places(traces), _root(traces.size, plane)]
        case _:
            raise InputError("CEL-J014.scheme", schemes=list(get_args(Scheme)))
    levels = [Level(each.codes[place], each.names, each.boxes, each.title) for each in found]
    return [*levels, _root(traces.size, plane)]


def time_levels(traces: Traces, *, base: str = "1min") -> list[Level]:
    """The windows of time from `base` on; the last is all time."""
    if base not in NESTED:
        raise InputError("CEL-J010", windows=list(NESTED))
    zone, found = traces.declaration.zone, []
    for window in NESTED[NESTED.index(base) :]:
        starts, codes = np.unique(floor_times(traces.time, window, zone), return_inverse=True)
        ends = end_times(starts, window, zone)
        found.append(
            Level(
                codes.astype(np.int64),
                tuple(map(str, starts.tolist())),
                np.stack([starts, ends], axis=1),
                window,
            )
        )
    return found


def _distinct_cells(traces: Traces) -> tuple[NDArray[np.int64], Codes]:
    packed = (traces.x.astype(np.int64) << 32) + traces.y
    distinct, place = np.unique(packed, return_inverse=True)
    y = (distinct << 32) >> 32
    return np.stack([(distinct - y) >> 32, y], axis=1), place.astype(np.int64)


def _root(size: int, plane: Plane) -> Level:
    return Level(
        np.zeros(size, dtype=np.int64), (ROOT,), np.array([plane.bounds], dtype=np.int64), ROOT
    )


def _numbered(keys: NDArray[np.int64], title: str, names: Any, boxes: Any) -> Level:
    distinct, codes = np.unique(keys, return_inverse=True)
    return Level(codes.astype(np.int64), tuple(names(distinct)), boxes(distinct), title)


def _grid(cells: NDArray[np.int64], plane: Plane, base: float | None) -> list[Level]:
    """Squares of g 2^i metres, aligned to the south-west corner of the declared region."""
    west, south, east, north = plane.bounds
    factor, found = 1, []
    while plane.step * factor < (plane.step if base is None else base):
        factor *= 2
    while factor <= max(east - west, north - south):
        wide = (east - west) // factor + 1

        def names(keys: Codes, wide: int = wide, factor: int = factor) -> list[str]:
            metres = plane.step * factor
            return [f"{metres:g}m:{key % wide}:{key // wide}" for key in keys.tolist()]

        def boxes(keys: Codes, wide: int = wide, factor: int = factor) -> NDArray[np.int64]:
            low = np.stack([keys % wide * factor + west, keys // wide * factor + south], axis=1)
            return np.concatenate([low, low + factor - 1], axis=1)

        keys = (cells[:, 1] - south) // factor * wide + (cells[:, 0] - west) // factor
        found.append(_numbered(keys, f"{plane.step * factor:g} m", names, boxes))
        factor *= 2
    return found


def _geohash(cells: NDArray[np.int64], plane: Plane, base: float | None) -> list[Level]:
    finest = GEOHASH_FINEST if base is None else int(base)
    if not 1 <= finest <= geohash.MOST:
        raise InputError("CEL-J014.geohash", most=geohash.MOST)
    latitude, longitude = plane.degrees(
        (cells[:, 0] + 0.5) * plane.step, (cells[:, 1] + 0.5) * plane.step
    )
    keys = geohash.encode(latitude, longitude, finest)
    found = []
    for letters in range(finest, min(finest, GEOHASH_COARSEST) - 1, -1):

        def names(codes: Codes, letters: int = letters) -> list[str]:
            return geohash.names(codes, letters)

        def boxes(codes: Codes, letters: int = letters) -> NDArray[np.int64]:
            return _boxes(plane, *geohash.boxes(codes, letters))

        level = keys >> (5 * (finest - letters))
        found.append(_numbered(level, f"geohash {letters}", names, boxes))
    return found


def _boxes(plane: Plane, south: Any, west: Any, north: Any, east: Any) -> NDArray[np.int64]:
    low = plane.cells(np.asarray(south), np.asarray(west))
    high = plane.cells(np.asarray(north), np.asarray(east))
    return np.stack([*low, *high], axis=1).astype(np.int64)


def _h3(cells: NDArray[np.int64], plane: Plane, base: float | None) -> list[Level]:
    try:
        import h3
    except ImportError:
        raise EngineError("CEL-J015") from None
    finest = H3_FINEST if base is None else int(base)
    if not 0 <= finest <= 15:
        raise InputError("CEL-J014.h3")
    latitude, longitude = plane.degrees(
        (cells[:, 0] + 0.5) * plane.step, (cells[:, 1] + 0.5) * plane.step
    )
    current = [
        h3.latlng_to_cell(north, east, finest)
        for north, east in zip(latitude.tolist(), longitude.tolist(), strict=True)
    ]
    found = []
    for resolution in range(finest, min(finest, H3_COARSEST) - 1, -1):
        current = [
            each if resolution == finest else h3.cell_to_parent(each, resolution)
            for each in current
        ]
        names, codes = np.unique(np.array(current), return_inverse=True)
        edges = [np.array(h3.cell_to_boundary(str(name))) for name in names]
        low = np.array([each.min(axis=0) for each in edges])
        high = np.array([each.max(axis=0) for each in edges])
        boxes = _boxes(plane, low[:, 0], low[:, 1], high[:, 0], high[:, 1])
        found.append(
            Level(codes.astype(np.int64), tuple(map(str, names)), boxes, f"H3 {resolution}")
        )
    return found


def _areas(cells: NDArray[np.int64], traces: Traces) -> list[Level]:
    declared = traces.declaration
    if declared.areas is None:
        raise InputError("CEL-J014.no_areas")
    areas = Areas.load(declared.areas, (declared.area_name, *declared.area_parents))
    plane = traces.plane
    latitude, longitude = plane.degrees(
        (cells[:, 0] + 0.5) * plane.step, (cells[:, 1] + 0.5) * plane.step
    )
    numbers = areas.find(latitude, longitude)
    boxes = np.array([areas.box(number) for number in range(len(areas.names))])
    found = []
    for level, title in enumerate((declared.area_name, *declared.area_parents)):
        labels = [names[level] for names in areas.names]
        distinct = list(dict.fromkeys(labels))
        code = np.array([distinct.index(label) for label in labels] + [-1])
        sides = np.array(
            [
                [
                    *boxes[[label == each for label in labels]][:, :2].min(axis=0),
                    *boxes[[label == each for label in labels]][:, 2:].max(axis=0),
                ]
                for each in distinct
            ]
        )
        found.append(Level(code[numbers], tuple(distinct), _boxes(plane, *sides.T), title))
    return found


def _places(traces: Traces) -> list[Level]:
    """Named places of check-ins under their hierarchy."""
    from celosia.tables.hierarchies import read_hierarchy

    declared = traces.declaration
    if traces.place is None:
        raise InputError("CEL-J014.no_places")
    if declared.place_hierarchy is None:
        raise InputError("CEL-J014.no_hierarchy")
    tree = read_hierarchy(declared.place_hierarchy)
    leaves = np.array([tree.index.get(name, -1) for name in traces.places], dtype=np.int64)
    unknown = int(np.isin(traces.place, np.nonzero(leaves < 0)[0]).sum())
    if unknown:
        raise InputError("CEL-J014.unknown_places", count=unknown)
    whole = np.array([traces.plane.bounds], dtype=np.int64)
    found = []
    for level in range(tree.levels - 1):
        codes = tree.nodes[level][leaves[traces.place]].astype(np.int64)
        names = tree.labels[level]
        boxes = np.repeat(whole, len(names), axis=0)
        found.append(Level(codes, names, boxes, str(level)))
    return found


__all__ = ["OUTSIDE", "ROOT", "Level", "Scheme", "place_levels", "time_levels"]
