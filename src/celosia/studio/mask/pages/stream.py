"""The stream: records are masked as they arrive, and a restart goes on where it stopped."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.studio.language import _, number, short
from celosia.studio.mask import jobs, model, stream
from celosia.studio.mask.pages.start import MaskWorkbench
from celosia.studio.mask.pages.steps import MASKING
from celosia.studio.shell import in_thread
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import figures, heading, lead, quiet
from celosia.studio.workbench import certificate_file
from celosia.studio.worker import task


async def show(workbench: MaskWorkbench) -> None:
    """What arrives, whose records they are, and what was released so far."""
    lead(
        "Records are masked as they arrive, without the others. The state is kept in your work: "
        "close the page, restart the studio, and the stream goes on where it stopped."
    )
    quiet(
        "The table of this work is the reference: types, categories and deviations come from it. "
        "Noise, PRAM, rounding, coding and recoding can mask a record by itself."
    )
    kept = workbench.work.load("stream", {})
    text = ui.textarea(_("Records that arrive, as CSV with a header")).classes("w-full")
    text.props('data-test="arriving" rows=8')
    with ui.element("div").classes("celosia-parameters"):
        person = ui.select(
            {"": _("no column")} | {each["name"]: each["name"] for each in workbench.columns},
            value=kept.get("person") or "",
            label=_("Column that says whose record it is"),
        )
        most = ui.number(
            _("Records of one person, at most"), value=kept.get("most") or 1, min=1, precision=0
        )
        most.bind_enabled_from(person, "value", bool)
        workbench.seed_box()

    async def take() -> None:
        first = int((workbench.work.load("stream", {}).get("found") or {}).get("records", 0))
        text.set_value(await in_thread(stream.arriving, workbench.work.folder, first))

    def own_steps() -> None:
        workbench.save(steps=stream.stream_steps(workbench.columns))
        ui.notify(_("The recipe masks each record by itself now."))

    def anew() -> None:
        stream.begin_anew(workbench.work.folder)
        workbench.work.save("stream", {})
        place.clear()
        drawn.clear()
        ui.notify(_("A new stream begins."))

    def mask() -> None:
        whose = person.value or None
        limit = int(most.value or 1) if whose else None
        place.clear()
        with place:
            start(
                _(MASKING, name=workbench.name),
                task(
                    jobs.stream_records,
                    folder=workbench.folder,
                    columns=workbench.columns,
                    steps=workbench.state["steps"],
                    text=str(text.value or ""),
                    person=whose,
                    most=limit,
                    seed=workbench.seed,
                ),
                on_done=done,
                address=workbench.address("stream"),
            )

    def done(found: dict[str, Any]) -> None:
        text.set_value("")
        draw(found)

    def draw(found: dict[str, Any]) -> None:
        drawn.clear()
        with drawn:
            _released(workbench, found)

    with ui.row().classes("q-my-sm"):
        ui.button(_("Take the next records of the table"), icon="south", on_click=take).props(
            'flat data-test="take-records"'
        )
        ui.button(_("Mask what arrived"), icon="play_arrow", on_click=mask).props(
            'data-test="mask-arrived"'
        )
        ui.button(_("Use steps that mask a record by itself"), on_click=own_steps).props(
            'flat data-test="stream-steps"'
        )
        ui.button(_("Begin a new stream"), icon="restart_alt", on_click=anew).props("flat")
    place = ui.element("div").classes("w-full")
    drawn = ui.element("div").classes("w-full")
    if kept.get("found"):
        draw(kept["found"])


def _released(workbench: MaskWorkbench, found: dict[str, Any]) -> None:
    heading("Released so far")
    epsilon = found["loss"]
    figures(
        [
            (
                _("Arrived"),
                number(found["records"]),
                _("records, those of earlier starts included"),
            ),
            (_("Released"), number(found["released"]), _("records")),
            (_("Withheld"), number(found["withheld"]), _("beyond the limit of a person")),
            *(
                (name, short(epsilon[key]), _("of randomised response"))
                for name, key in (
                    (_("epsilon of a record"), "record"),
                    (_("epsilon of a person"), "person"),
                )
                if epsilon.get(key) is not None
            ),
        ]
    )
    with ui.element("div").classes("celosia-preview w-full"):
        show_table(found["heads"], found["rows"], caption=_("The last released records"))
    promise(found["guarantee"], simulation=found["simulation"])
    workbench.take_away(
        [
            (stream.OUTPUT, "table_view", _("Masked data"), _("CSV, to be published")),
            certificate_file(stream.CERTIFICATE, stream.OUTPUT),
        ]
    )
    told = workbench.work.load("stream", {})
    table = model.recipe_table(workbench.columns, workbench.state["steps"])
    workbench.same_elsewhere(
        [
            (
                "Command line",
                stream.command(
                    person=told.get("person"), most=told.get("most"), seed=workbench.seed
                ),
            ),
            ("Recipe (TOML)", model.recipe_text(table)),
        ],
        "A stream without an end comes through a pipe; the state survives a restart there too.",
    )
