"""Publish: choose a sample or bring a file, or go on with what was begun."""

from __future__ import annotations

import time

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio.language import _, n_
from celosia.studio.publish import PublishForm, project, readers
from celosia.studio.publish.form import SAVED
from celosia.studio.publish.pages.steps import KIND
from celosia.studio.publish.samples import SAMPLES
from celosia.studio.runtime import studio
from celosia.studio.samples import Sample
from celosia.studio.shell import page, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.method_form import sample_cards, table_size
from celosia.studio.widgets.text import heading, lead, main_heading, quiet
from celosia.studio.widgets.upload import upload
from celosia.studio.workbench import begin
from celosia.studio.worker import task


@page("/publish", "Publish", door="/publish")
def publish_start() -> None:
    """Show the samples, the place for a file, and earlier work."""
    main_heading("Publish a table")
    lead(
        "Generalise and suppress records until the privacy models hold, with the least "
        "loss of information. Choose a sample to try it, or upload your own table."
    )
    heading("Try with a sample")
    progress = ui.element("div").classes("w-full")

    def use(sample: Sample) -> None:
        work = visitor().new_work(KIND)
        progress.clear()
        with progress:
            asked = task(readers.read_sample, folder=str(work.folder), name=sample.name)
            begin(work, _(sample.title), asked, f"/publish/{work.id}", saved=SAVED)

    sample_cards(SAMPLES, use)
    heading("Bring a file")
    _own_file()
    _own_project()
    _earlier()


def _own_file() -> None:
    quiet(
        "CSV with any delimiter, Excel, Parquet, JSON lines, SPSS, Stata or SAS. The file is read "
        "at once and then removed; its table is removed an hour after your last visit, or when "
        "you say so."
    )
    options = _reading_options()

    def arrived(work: Work, file: str, shown: str) -> None:
        given = {key: select.value or None for key, select in options.items()}
        if given["header"] is not None:
            given["header"] = given["header"] == "yes"
        if not file.endswith((".csv", ".tsv", ".txt")):
            given = {}
        asked = task(
            readers.read_table, folder=str(work.folder), file=file, shown=shown, reading=given
        )
        begin(work, shown, asked, f"/publish/{work.id}", saved=SAVED)

    upload(lambda: visitor().new_work(KIND), arrived)


def _own_project() -> None:
    """A project that was saved with its table."""

    def arrived(work: Work, file: str, shown: str) -> None:
        asked = task(project.open_whole, folder=str(work.folder), file=file, shown=shown)
        begin(work, shown, asked, f"/publish/{work.id}", saved=SAVED)

    with ui.expansion(_("Open a project"), icon="inventory_2").classes("w-full"):
        upload(
            lambda: visitor().new_work(KIND),
            arrived,
            suffixes=(".celosia",),
            label=_("A project that was saved with its table"),
        )


def _reading_options() -> dict[str, ui.select]:
    found_out = _("detected automatically")
    comma = _("comma")
    options = {
        "delimiter": (
            _("Delimiter"),
            {",": comma, ";": _("semicolon"), "\t": _("tabulator"), "|": _("vertical bar")},
        ),
        "encoding": (
            _("Encoding"),
            {
                "utf-8": "UTF-8",
                "windows-1252": "Windows-1252",
                "iso-8859-1": "ISO 8859-1",
                "utf-16": "UTF-16",
            },
        ),
        "header": (
            _("The first line holds"),
            {"yes": _("names of columns"), "no": _("data already")},
        ),
        "decimal": (_("Decimal mark"), {".": _("point"), ",": comma}),
    }
    with (
        ui.expansion(_("How a text file is written"), icon="tune").classes("w-full"),
        ui.row().classes("w-full"),
    ):
        return {
            name: ui.select({"": found_out} | known, value="", label=label).style(
                "min-width: 12rem"
            )
            for name, (label, known) in options.items()
        }


def _earlier() -> None:
    """What was begun, to go on with or to remove now."""
    works = visitor().works(KIND)
    if not works:
        return
    heading("Your earlier work")
    busy = {
        job.address.split("?")[0].split("/")[2]
        for job in studio().jobs.of(visitor().token)
        if not job.over and job.address.startswith("/publish/")
    }
    with ui.element("div").classes("celosia-cards"):
        for work in works:
            try:
                form = PublishForm.load(work)
            except CelosiaError:
                if work.id not in busy:  # its file was never read, and no job is reading it
                    work.remove()
                continue
            _work_card(work, form)


def _work_card(work: Work, form: PublishForm) -> None:
    minutes = int((time.time() - work.folder.stat().st_mtime) // 60)
    with ui.element("div").classes("celosia-card q-pa-md column") as card:
        link = ui.link(form.file, f"/publish/{work.id}").classes("celosia-h3 celosia-break")
        link.props["aria-label"] = _("Go on with {file}", file=form.file)
        quiet(table_size(form.rows, len(form.columns)))
        quiet(n_("changed {count} minute ago", "changed {count} minutes ago", minutes))
        ui.space()

        def delete() -> None:
            for job in studio().jobs.of(visitor().token):
                if job.address.startswith(f"/publish/{work.id}"):
                    studio().jobs.cancel(job)
            work.remove()
            card.delete()
            ui.notify(_("Removed: the table, the choices and all results."))

        button = ui.button(_("Delete now"), icon="delete", on_click=delete).props(
            'flat color=negative data-test="delete"'
        )
        button.props["aria-label"] = _("Delete {file} now", file=form.file)
