"""A hierarchy that comes as a file, or goes as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from celosia.core.errors import InputError
from celosia.studio.language import _
from celosia.studio.publish.code import toml_text
from celosia.studio.publish.form import schema_table
from celosia.studio.publish.hierarchies import imported
from celosia.studio.shell import in_thread
from celosia.studio.visitors import Work
from celosia.studio.widgets.upload import upload

if TYPE_CHECKING:
    from celosia.studio.publish.pages.hierarchies import Editor

LARGEST = 2_000_000
"""Bytes of a hierarchy that is imported."""


def exchange(editor: Editor) -> None:
    """Bring a hierarchy as a file, or take it away as one."""
    with ui.expansion(_("Import or export"), icon="swap_vert").classes("w-full"):
        with ui.row():
            ui.button(
                _("Labels as CSV"), icon="download", on_click=lambda: _export_csv(editor)
            ).props("flat dense")
            ui.button(
                _("Rule as TOML"), icon="download", on_click=lambda: _export_toml(editor)
            ).props("flat dense")

        async def arrived(work: Work, file: str, shown: str) -> None:
            path = work.path(file)
            try:
                if path.stat().st_size > LARGEST:
                    raise _too_long()
                found = await in_thread(imported, path, editor.name)
            finally:
                path.unlink(missing_ok=True)
            if found is not None:
                ui.notify(_("The hierarchy was imported."), type="positive")
                if found.note is not None:
                    ui.notify(str(found.note), type="info")
                await editor.choose(found.rule, redraw=True)

        upload(
            lambda: editor.workbench.work,
            arrived,
            suffixes=(".csv", ".toml"),
            name="hierarchy",
            label=_("CSV with a row for each value and a column for each level, or TOML"),
        )


async def _export_csv(editor: Editor) -> None:
    text = await editor.ask("labels")
    if text is not None:
        ui.download.content(text, "hierarchy.csv")


def _export_toml(editor: Editor) -> None:
    table = schema_table(editor.workbench.form)["columns"][editor.name]
    ui.download.content(toml_text({"columns": {editor.name: table}}), "hierarchy.toml")


def _too_long() -> InputError:
    return InputError("CEL-W056.too_large", largest=LARGEST // 1000000)
