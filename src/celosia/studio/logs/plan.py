"""What each mechanism would name, on a simulated log of a declared size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.studio.language import _, number, percent
from celosia.studio.logs import jobs, model
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, quiet
from celosia.studio.workbench import Workbench
from celosia.studio.worker import Task, task


def show_plan(workbench: Workbench) -> None:
    """The size of the log and the price, and the table of the last plan."""
    lead(
        "How many keys each mechanism would name, on a simulated log of a size that you declare. "
        "Choose the number of keys of a person here: the private log has no part in it."
    )
    wanted, put = workbench.choices("plan", model.FIRST_PLAN)
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"), ui.card().classes("w-full"):
            for name, label in (
                ("people", _("Persons of the log, about")),
                ("epsilon", _("Epsilon")),
                ("delta", _("Delta")),
            ):
                ui.number(
                    label,
                    value=wanted[name],
                    min=0,
                    on_change=lambda event, name=name: put(name, event.value),
                ).props(f'data-test="plan-{name}" debounce=400').classes("w-full")
            workbench.run_button(
                "Compare mechanisms",
                "Comparing mechanisms",
                lambda: _task(workbench, wanted),
                result="plan",
            )
        with ui.element("div"):
            _shown(workbench)


def _task(workbench: Workbench, wanted: Mapping[str, Any]) -> Task[Any]:
    return task(jobs.plan, folder=workbench.folder, wanted=dict(wanted))


def _shown(workbench: Workbench) -> None:
    done = workbench.work.load("plan")
    if done is None:
        draw_empty("comparison")
        quiet("Nothing was compared yet.")
        return
    heading("Keys that each mechanism names")
    most = max(each["keys"] for each in done["rows"])
    show_table(
        [_("keys of a person"), _("mechanism"), _("keys named"), _("records"), _("persons needed")],
        [
            [
                each["per_person"],
                each["method"],
                number(round(each["keys"], 1)),
                percent(each["records"]),
                each["least_persons"],
            ]
            for each in done["rows"]
        ],
        caption=_("Means of several runs on a simulated log."),
        marked=[at for at, each in enumerate(done["rows"]) if each["keys"] == most],
    )
    given = done["wanted"]
    command = (
        f"celosia log plan --people {int(given['people'])} --epsilon {given['epsilon']:g} "
        f"--delta {given['delta']:g}"
    )
    workbench.same_elsewhere([("Command line", command)])
