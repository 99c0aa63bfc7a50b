"""Maps of cells before and after, drawn as SVG from the declared region alone: no tile server.

A cell is drawn only where points of at least ten persons lie: the map of the original is for the
curator, and even there it shows no single person's place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.figures.svg import SVG_NAMESPACE, Svg
from celosia.core.messages import say
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.samples import Samples

COLUMNS = 40
"""Cells along the longer side of a map."""
FEWEST = 10
"""Persons that a cell needs to be drawn."""
WIDE, GAP, TITLE = 360, 24, 22
SHADES = ("#deebf7", "#9ecae1", "#6baed6", "#3182bd", "#08519c")


def shares(who: NDArray[Any], x: NDArray[Any], y: NDArray[Any], plane: Plane) -> Any:
    """The share of points in each cell of a map; 0 for a cell of fewer than ten persons."""
    west, south, east, north = plane.bounds
    factor = max(1, -(-max(east - west + 1, north - south + 1) // COLUMNS))
    wide, high = (east - west) // factor + 1, (north - south) // factor + 1
    column = np.clip((x.astype(np.int64) - west) // factor, 0, wide - 1)
    row = np.clip((y.astype(np.int64) - south) // factor, 0, high - 1)
    cells = row * wide + column
    counts = np.bincount(cells, minlength=wide * high).astype(np.float64)
    people = int(who.max(initial=0)) + 1
    pairs = np.unique(cells * people + who)
    persons = np.bincount(pairs // people, minlength=wide * high)
    counts[persons < FEWEST] = 0
    return (counts / max(who.size, 1)).reshape(high, wide)


def map_svg(maps: list[tuple[str, Any]]) -> Svg:
    """Maps side by side, each with its title, on one scale."""
    top = max((float(cells.max(initial=0)) for _, cells in maps), default=0.0) or 1.0
    parts = []
    high = max(round(WIDE * cells.shape[0] / cells.shape[1]) for _, cells in maps)
    for number, (title, cells) in enumerate(maps):
        left = number * (WIDE + GAP)
        side = WIDE / cells.shape[1]
        parts.append(f'<text x="{left}" y="15" font-size="13" fill="currentColor">{title}</text>')
        parts.append(
            f'<rect x="{left}" y="{TITLE}" width="{WIDE}" '
            f'height="{side * cells.shape[0]:.1f}" fill="none" stroke="currentColor" '
            'stroke-opacity="0.4"/>'
        )
        for row, column in zip(*np.nonzero(cells), strict=True):
            # The square root lets cells of few points be seen beside the centre.
            shade = SHADES[min(4, int(5 * np.sqrt(cells[row, column] / top)))]
            parts.append(
                f'<rect x="{left + column * side:.1f}" '
                f'y="{TITLE + (cells.shape[0] - 1 - row) * side:.1f}" width="{side:.2f}" '
                f'height="{side:.2f}" fill="{shade}"/>'
            )
    wide = len(maps) * (WIDE + GAP) - GAP
    return Svg(
        f'<svg xmlns="{SVG_NAMESPACE}" viewBox="0 0 {wide} {high + TITLE + 2}" '
        f'font-family="sans-serif">{"".join(parts)}</svg>'
    )


def before_and_after(original: Traces, release: Samples) -> tuple[Any, Any]:
    """The shares of both maps, by the owners of samples: pseudonyms do not count as persons."""
    plane = original.plane
    x, y = release.centres
    return (
        shares(original.person.astype(np.int64), original.x, original.y, plane),
        shares(release.persons, x, y, plane),
    )


def comparison(maps: tuple[Any, Any]) -> Svg:
    """The map of the original beside that of the release."""
    return map_svg(
        [(say("traces.report.map_original"), maps[0]), (say("traces.report.map_release"), maps[1])]
    )
