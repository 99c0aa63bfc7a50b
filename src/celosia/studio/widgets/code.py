"""The code drawer: what was chosen here, as a command and as Python, to copy and to keep."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import ui

from celosia.studio.language import _


def show_code(texts: Sequence[tuple[str, str]]) -> None:
    """Tabs of (name, text), such as ("Command line", "celosia publish ..."), each to copy."""
    with ui.tabs().props("dense align=left") as tabs:
        for name, _text in texts:
            ui.tab(name)
    with ui.tab_panels(tabs, value=texts[0][0]).classes("w-full").style("background: none"):
        for name, text in texts:
            with ui.tab_panel(name).classes("q-pa-none"):
                ui.html(
                    f'<pre class="celosia-code" tabindex="0">{escape(text)}</pre>', sanitize=False
                )
                ui.button(
                    _("Copy"), icon="content_copy", on_click=lambda text=text: _copied(text)
                ).props("flat dense")


def _copied(text: str) -> None:
    ui.clipboard.write(text)
    ui.notify(_("Copied"))
