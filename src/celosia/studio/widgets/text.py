"""Words on a page: headings that a reader of the screen finds as such."""

from __future__ import annotations

from nicegui import ui


def heading(text: str, level: int = 1) -> ui.label:
    """A heading of the page, of level 1 to 3."""
    return ui.label(text).classes(f"celosia-h{level}").props(f"role=heading aria-level={level}")
