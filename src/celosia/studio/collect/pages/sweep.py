"""Collect: a grid of protocols and parameters, simulated point by point."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from celosia.studio.collect import jobs
from celosia.studio.collect.model import DATA
from celosia.studio.collect.pages.simulator import DATA_NAMES, PROTOCOL_NAMES
from celosia.studio.collect.sweep_model import MOST_REPORTS, MOST_RUNS, SWEPT, SweepForm
from celosia.studio.language import _, number
from celosia.studio.shell import page
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, main_heading, paragraph, quiet
from celosia.studio.worker import task


@page("/collect/sweep", "Sweep parameters", door="/collect")
def sweep() -> None:
    """A form of lists, and the charts of every combination."""
    main_heading("Sweep parameters")
    lead(
        "Every combination of protocols, epsilons, numbers of devices and parameters is simulated "
        "on made-up values. The charts show what each parameter does to error, time and memory."
    )
    form = SweepForm()
    _controls(form)
    button = ui.button(_("Start the sweep"), icon="play_arrow").classes("q-my-md")
    quiet(
        "The studio runs at most {runs} simulations with {reports} reports together. The command "
        "line has no such limit, and goes on where it was stopped.",
        runs=MOST_RUNS,
        reports=number(MOST_REPORTS),
    )
    place = ui.column().classes("w-full")

    def run() -> None:
        place.clear()
        with place:
            start(
                _("Sweep parameters"),
                task(jobs.sweep, form=replace(form)),
                on_done=partial(_show, form=replace(form)),
                address="/collect/sweep",
            )

    button.on_click(run)


def _controls(form: SweepForm) -> None:
    with ui.element("div").classes("celosia-sides"):
        ui.select(
            {each: _(DATA_NAMES[each]) for each in DATA}, label=_("Values of the devices")
        ).bind_value(form, "data")
        names = {each: _(PROTOCOL_NAMES.get(each, "Sequence Fragment Puzzle")) for each in SWEPT}
        ui.select(names, multiple=True, label=_("Protocols")).bind_value(form, "protocol").props(
            "use-chips"
        )
        for name, label in (
            ("epsilon", _("Epsilons of one report")),
            ("users", _("Numbers of devices")),
            ("vary", _("Parameters: hashes=64,1024; width=64,256")),
        ):
            ui.input(label).bind_value(form, name).props["data-test"] = f"sweep-{name}"
        ui.number(_("Runs of each point"), min=1, max=MOST_RUNS, precision=0).bind_value(
            form, "repeats", forward=lambda typed: int(typed or 1)
        )
    quiet(
        "hashes (k) and width (m) of sketches, bits of dBitFlip (d), fragment_hashes and pieces "
        "(T) of the Sequence Fragment Puzzle. A protocol does not vary in a parameter that it does "
        "not have."
    )


def _show(found: dict[str, Any], form: SweepForm) -> None:
    paragraph("{summary}", summary=found["summary"]).classes("text-bold")
    for each in found["left_out"]:
        quiet("Left out: {point}", point=each)
    for each in found["charts"]:
        heading("{title}", 2, title=each["title"])
        chart.lines(
            each["lines"],
            description=each["title"],
            x=each["x"],
            y=each["y"],
            log_x=each["log_x"],
            log_y=each["log_y"],
        )
    for name, listed in found["histograms"].items():
        heading("The data", 2)
        chart.bars(
            [value for value, _users in listed],
            [(_("Devices"), [users for _value, users in listed])],
            description=_("How many devices have each value of {data}.", data=name),
            x=_("Value"),
            y=_("Devices"),
        )
    heading("Numbers", 2)
    show_table(found["heads"], found["rows"], caption=_("Means over the runs of each point"))
    ui.button(
        _("Every run as CSV"),
        icon="download",
        on_click=lambda: ui.download.content(found["csv"], "sweep.csv"),
    ).props("flat")
    show_code([(_("Command line"), form.command), ("Python", form.python)])
