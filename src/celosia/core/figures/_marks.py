"""Lines and points that are told apart by more than their colour."""

from __future__ import annotations

from typing import Any

from celosia.core.figures._canvas import SERIES

_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


def line_look(number: int) -> dict[str, Any]:
    """Colour, marker and dashes of one line."""
    turn = number % len(SERIES)
    return {
        "color": SERIES[turn],
        "marker": _MARKERS[turn],
        "linestyle": _DASHES[turn],
        "linewidth": 1.8,
        "markersize": 5.0,
    }
