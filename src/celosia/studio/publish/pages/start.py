"""Publish: choose a sample or bring a file, or go on with what was begun."""

from __future__ import annotations

import time
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio.language import _, n_, number
from celosia.studio.publish import PublishForm, readers
from celosia.studio.publish.pages.steps import KIND
from celosia.studio.publish.samples import SAMPLES, Sample
from celosia.studio.runtime import studio
from celosia.studio.shell import page, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.text import heading, lead, main_heading, quiet
from celosia.studio.widgets.upload import upload
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
    with ui.element("div").classes("celosia-cards"):
        for sample in SAMPLES:
            _sample_card(sample, progress)
    heading("Bring a file")
    _own_file()
    _earlier()


def _sample_card(sample: Sample, progress: ui.element) -> None:
    title, story = _sample_text(sample.name)
    with ui.element("div").classes("celosia-card q-pa-md column"):
        heading(title, 3)
        ui.label(story)
        quiet(
            n_(
                "{count} row, {columns} columns",
                "{count} rows, {columns} columns",
                sample.rows,
                columns=number(sample.columns),
            )
        ).classes("q-mb-sm")
        ui.space()
        button = ui.button(
            _("Use this sample"), icon="play_circle", on_click=lambda: _use(sample, title, progress)
        ).props(f'outline data-test="sample-{sample.name}"')
        button.props["aria-label"] = _("Use the sample: {title}", title=title)


def _sample_text(name: str) -> tuple[str, str]:
    """The name of a sample and what it is good for."""
    return {
        "census": (
            _("Census"),
            _(
                "Invented people, distributed as in the US census of 1994, with eight "
                "quasi-identifiers and their hierarchies: the table that papers compare."
            ),
        ),
        "patients": (
            _("Patients"),
            _(
                "Three groups of three; in one of them all have the same disease, which is "
                "disclosed."
            ),
        ),
        "five-attributes": (
            _("Five attributes"),
            _("One outlier forces everybody to a coarser level: the case for suppression."),
        ),
        "ethnic-postal": (
            _("Ethnic group and postal code"),
            _("Two columns and a lattice of six nodes, small enough to follow by hand."),
        ),
        "suppression": (
            _("Generalise or suppress"),
            _("Four of eight records are unique: suppress them, or generalise further?"),
        ),
    }[name]


def _use(sample: Sample, title: str, progress: ui.element) -> None:
    work = visitor().new_work(KIND)
    progress.clear()
    with progress:
        _follow(work, title, readers.read_sample, folder=str(work.folder), name=sample.name)


def _own_file() -> None:
    quiet(
        "CSV with any delimiter, Excel, Parquet or JSON lines. The file is read at once and "
        "then removed; its table is removed an hour after your last visit, or when you say so."
    )
    options = _reading_options()

    def arrived(work: Work, file: str, shown: str) -> None:
        given = {key: select.value or None for key, select in options.items()}
        if given["header"] is not None:
            given["header"] = given["header"] == "yes"
        if file.endswith((".parquet", ".xlsx", ".jsonl", ".ndjson", ".json")):
            given = {}
        _follow(
            work,
            shown,
            readers.read_table,
            folder=str(work.folder),
            file=file,
            shown=shown,
            reading=given,
        )

    upload(lambda: visitor().new_work(KIND), arrived)


def _reading_options() -> dict[str, ui.select]:
    found_out = _("detected automatically")
    with (
        ui.expansion(_("How a text file is written"), icon="tune").classes("w-full"),
        ui.row().classes("w-full"),
    ):
        return {
            "delimiter": ui.select(
                {
                    "": found_out,
                    ",": _("comma"),
                    ";": _("semicolon"),
                    "\t": _("tabulator"),
                    "|": _("vertical bar"),
                },
                value="",
                label=_("Delimiter"),
            ).style("min-width: 12rem"),
            "encoding": ui.select(
                {
                    "": found_out,
                    "utf-8": "UTF-8",
                    "windows-1252": "Windows-1252",
                    "iso-8859-1": "ISO 8859-1",
                    "utf-16": "UTF-16",
                },
                value="",
                label=_("Encoding"),
            ).style("min-width: 12rem"),
            "header": ui.select(
                {"": found_out, "yes": _("names of columns"), "no": _("data already")},
                value="",
                label=_("The first line holds"),
            ).style("min-width: 12rem"),
            "decimal": ui.select(
                {"": found_out, ".": _("point"), ",": _("comma")},
                value="",
                label=_("Decimal mark"),
            ).style("min-width: 12rem"),
        }


def _follow(work: Work, title: str, function: Any, **arguments: Any) -> None:
    """Read, then go to the columns; a file that was refused leaves nothing behind."""

    def ended() -> None:
        if work.load("form") is None:
            work.remove()

    begun = start(
        _("Reading {file}", file=title),
        task(function, **arguments),
        on_done=lambda result: ui.navigate.to(f"/publish/{work.id}"),
        on_end=ended,
        address=f"/publish/{work.id}",
        attend=True,
    )
    if begun is None:
        work.remove()


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
        quiet(
            n_(
                "{count} row, {columns} columns",
                "{count} rows, {columns} columns",
                form.rows,
                columns=number(len(form.columns)),
            )
        )
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
