"""Words on a page: headings that a reader of the screen finds as such."""

from __future__ import annotations

import json

from nicegui import ui


def name_editor(editor: ui.codemirror, text: str) -> None:
    """Give an editor its name: it is the inner element that has the focus, drawn by the browser."""
    editor.props["aria-label"] = text
    run = f"getElement({editor.id}).$el.querySelector('.cm-content')"
    ui.timer(
        0.5,
        lambda: ui.run_javascript(f"{run}?.setAttribute('aria-label', {json.dumps(text)})"),
        once=True,
    )


def heading(text: str, level: int = 1) -> ui.label:
    """A heading of the page, of level 1 to 3."""
    return ui.label(text).classes(f"celosia-h{level}").props(f"role=heading aria-level={level}")
