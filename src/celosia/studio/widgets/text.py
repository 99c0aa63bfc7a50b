"""Words on a page, put into its language here: headings, what a page is for, remarks, warnings.

A text is a sentence of the catalogues with its places filled in; any other text stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from celosia.studio.language import _
from celosia.studio.widgets.table import key_figures


def heading(text: str, level: int = 2, /, **values: object) -> ui.label:
    """A heading of level 1 to 3, which a reader of the screen finds as such."""
    return name_heading(_(text, **values), level)


def name_heading(name: str, level: int = 2) -> ui.label:
    """A heading that is a name of the visitor's, such as that of a column: it stays as it is."""
    found = ui.label(name).classes(f"celosia-h{level}")
    return found.props(f"role=heading aria-level={level}")


def main_heading(text: str, /, **values: object) -> ui.label:
    """The heading of the whole page."""
    return heading(text, 1, **values)


def lead(text: str, /, **values: object) -> ui.label:
    """What a page is for."""
    return paragraph(text, **values).classes("celosia-lead q-mb-md")


def quiet(text: str, /, **values: object) -> ui.label:
    """A remark or a short explanation."""
    return paragraph(text, **values).classes("celosia-quiet").style("max-width: 46rem")


def paragraph(text: str, /, **values: object) -> ui.label:
    """A sentence as it is."""
    return ui.label(_(text, **values))


def notice(text: str, /, **values: object) -> None:
    """Something that must not be overlooked."""
    with ui.card().classes("celosia-warning w-full q-my-sm").props('role="note"'):
        paragraph(text, **values)


def figures(found: Sequence[tuple[str, str, str]]) -> None:
    """Key figures in boxes of one width."""
    with ui.element("div").classes("celosia-even w-full"):
        key_figures(found)


def name_editor(editor: ui.codemirror, text: str) -> None:
    """Give an editor its name; the script of the studio hands it to the part that has the focus."""
    editor.props["aria-label"] = text
