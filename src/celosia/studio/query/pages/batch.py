"""Query: a batch of questions, asked many times; errors by question, shape and epsilon."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from celosia.studio.language import _, number
from celosia.studio.query import batch, jobs
from celosia.studio.query.batch import BatchForm
from celosia.studio.query.pages.start import KIND
from celosia.studio.shell import page, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import (
    heading,
    lead,
    main_heading,
    name_editor,
    notice,
    paragraph,
    quiet,
)
from celosia.studio.worker import task


@page("/query/{work_id}/batch", "Batch of questions", door="/query")
def batch_page(work_id: str) -> None:
    """The questions, how often each is asked, and what came out."""
    made = visitor().work(work_id, KIND)
    main_heading("Batch of questions")
    lead(
        "Many private answers to each question, beside the true ones: how large the errors are, by "
        "question, by shape and by epsilon. Nothing is charged, because nothing is released."
    )
    ui.link(_("Back to the database"), f"/query/{made.id}")
    place = ui.column().classes("w-full")
    with place:
        start(
            _("Opening the database"),
            task(jobs.schema, folder=str(made.folder)),
            on_done=partial(_form, made),
        )


def _form(made: Work, schema: dict[str, Any]) -> None:
    kept = made.load("batch", {})
    form = BatchForm(**kept) if kept else BatchForm(text=batch.first_text(schema))
    editor = ui.codemirror(
        form.text, language="SQL" if schema["language"] == "SQL" else "SPARQL", line_wrapping=True
    )
    editor.classes("w-full celosia-editor").style("height: 18rem")
    name_editor(editor, _("The questions"))
    quiet("A line that begins with === and a name begins a question.")
    with ui.row().classes("items-center"):
        epsilons = ui.input(_("Epsilons"), value=form.epsilons)
        epsilons.props["data-test"] = "batch-epsilons"
        repeats = ui.number(
            _("Private answers to each"), value=form.repeats, min=1, max=1000, precision=0
        ).style("width: 13rem")
        repeats.props["data-test"] = "batch-repeats"
    button = ui.button(_("Run the batch"), icon="play_arrow").props("data-test=run-batch")
    button.classes("q-mt-md q-mb-sm")
    quiet(
        "The studio draws at most {runs} answers in one batch. The command line has no such limit.",
        runs=number(batch.MOST_RUNS),
    )
    place = ui.column().classes("w-full")

    def run() -> None:
        asked = BatchForm(str(editor.value), str(epsilons.value), int(repeats.value or 1))
        made.save(
            "batch", {"text": asked.text, "epsilons": asked.epsilons, "repeats": asked.repeats}
        )
        place.clear()
        with place:
            start(
                _("Batch of questions"),
                task(jobs.simulate, folder=str(made.folder), form=replace(asked)),
                on_done=partial(_show, made, asked),
                address=f"/query/{made.id}/batch",
            )

    button.on_click(run)


def _show(made: Work, form: BatchForm, found: dict[str, Any]) -> None:
    heading("For the owner of the data only", 2)
    paragraph(
        "Errors are measured against the true answers. They are not for an analyst, and not for a "
        "report to others."
    )
    if found["few"]:
        notice("Fewer than 100 private answers: the means are not exact.")
    with ui.element("div").classes("celosia-preview w-full"):
        show_table(found["heads"], found["rows"], caption=_("Errors by question"))
    if len(found["bars"]["names"]) > 1:
        chart.bars(
            found["bars"]["names"],
            found["bars"]["series"],
            description=_("The median relative error of each question, for each epsilon."),
            x=_("Question"),
            y=_("Median relative error"),
        )
    show_table(found["shape_heads"], found["shape_rows"], caption=_("Errors by shape"))
    if found["curves"]:
        chart.lines(
            found["curves"],
            description=_("The median relative error of each question falls as epsilon grows."),
            x="epsilon",
            y=_("Median relative error"),
            log_x=True,
            log_y=True,
        )
    for each in found["refused"]:
        quiet("Refused: {name}. {why}", name=each["name"], why=each["why"])
    ui.button(
        _("Report with figures"),
        icon="download",
        on_click=lambda: ui.download.content(made.path(batch.REPORT).read_bytes(), batch.REPORT),
    ).props("flat")
    show_code([(_("Command line"), form.command), ("Python", form.python)])
