"""The code drawer: what was chosen here, as a command and as Python, to copy and to keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from nicegui import ui

from celosia.studio.language import _

Texts = Sequence[tuple[str, str]]
"""Names of tabs and what they show."""


def show_code(texts: Texts) -> Callable[[Texts], None]:
    """Tabs of (name, text), such as ("Command line", "celosia publish ..."), each to copy.

    Gives a function that shows other texts under the same names.
    """
    now = dict(texts)
    places: dict[str, ui.html] = {}
    with ui.tabs().props("dense align=left").classes("q-mt-md") as tabs:
        for name in now:
            ui.tab(name)
    with ui.tab_panels(tabs, value=texts[0][0]).classes("w-full").style("background: none"):
        for name, text in texts:
            with ui.tab_panel(name).style("padding: .3rem 0"):
                places[name] = ui.html(_block(text), sanitize=False)
                ui.button(
                    _("Copy"), icon="content_copy", on_click=lambda name=name: _copied(now[name])
                ).props("flat dense").classes("celosia-copy")

    def update(others: Texts) -> None:
        for name, text in others:
            if now[name] != text:
                now[name] = text
                places[name].set_content(_block(text))

    return update


def _block(text: str) -> str:
    return f'<pre class="celosia-code" tabindex="0">{escape(text)}</pre>'


def _copied(text: str) -> None:
    ui.clipboard.write(text)
    ui.notify(_("Copied"))
