"""Parts of a page that follow what others do."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

SECONDS = 1.0
"""Between two looks."""


def follow_changes(
    changes: Callable[[], int], draw: Callable[[], object], place: ui.element | None = None
) -> None:
    """Draw now, and again whenever the number of changes is another.

    Args:
        changes: how many there were so far.
        draw: draws the part.
        place: where it stands, emptied before each time; without it, `draw` knows the place.
    """
    drawn = -1

    def look() -> None:
        nonlocal drawn
        if changes() == drawn:
            return
        drawn = changes()
        if place is None:
            draw()
            return
        place.clear()
        with place:
            draw()

    look()
    ui.timer(SECONDS, look)
