"""A project as one file: saved from a piece of work, opened in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from celosia.studio.language import _
from celosia.studio.publish import project
from celosia.studio.shell import in_thread
from celosia.studio.visitors import Work
from celosia.studio.widgets.text import quiet
from celosia.studio.widgets.upload import upload

if TYPE_CHECKING:
    from celosia.studio.publish.pages.steps import PublishWorkbench


def show(workbench: PublishWorkbench) -> None:
    """All choices as one file, to go on with later or on another machine."""
    work = workbench.work

    async def save(with_data: bool) -> None:
        await in_thread(project.save, work, with_data=with_data)
        ui.download.from_url(f"/files/{work.id}/{project.FILE}")

    def arrived(_work: Work, file: str, shown: str) -> None:
        project.open_choices(work, file, shown)
        ui.navigate.reload()

    with ui.expansion(_("Project"), icon="inventory_2").classes("w-full q-mt-md"):
        quiet(
            "One file with the roles, hierarchies, models, settings and candidates. Without the "
            "table it holds no record; but trees of values name the values of their columns."
        )
        with ui.row():
            ui.button(
                _("Save the project"), icon="save", on_click=lambda: save(with_data=False)
            ).props('flat data-test="save-project"')
            ui.button(
                _("Save it with the table"), icon="save", on_click=lambda: save(with_data=True)
            ).props('flat data-test="save-whole"')
        upload(
            lambda: work,
            arrived,
            suffixes=(".celosia",),
            name="project-upload",
            label=_("Open a project here: its choices are taken for this table"),
        )
