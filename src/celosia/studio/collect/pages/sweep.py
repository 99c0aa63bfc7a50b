"""Collect: a grid of protocols and parameters, simulated point by point."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.core.messages import capital
from celosia.studio.collect import jobs, sweep_model
from celosia.studio.collect.model import DATA
from celosia.studio.collect.pages.simulator import DATA_NAMES, PROTOCOL_NAMES
from celosia.studio.collect.sweep_model import MOST_REPORTS, MOST_RUNS, SWEPT, SweepForm
from celosia.studio.jobs import Job
from celosia.studio.language import _, number
from celosia.studio.runtime import studio
from celosia.studio.shell import page, show_error, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets import chart
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.job_progress import follow
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, main_heading, paragraph, quiet
from celosia.studio.worker import task


@page("/collect/sweep", "Sweep parameters", door="/collect")
def sweep() -> None:
    """A form of lists, and earlier sweeps to go on with."""
    _Sweep(SweepForm()).draw()
    found = sweep_model.begun(visitor().works(sweep_model.KIND))
    if found:
        heading("Go on with", 2)
    for work, form in found[:8]:
        with ui.row().classes("items-center"):
            title = f"{_(DATA_NAMES[form.data])}: {', '.join(form.protocol)}"
            ui.link(title, _address(work)).classes("celosia-break")
            _finished(work, form)


@page("/collect/sweep/{work_id}", "Sweep parameters", door="/collect")
def begun_sweep(work_id: str) -> None:
    """A sweep that was begun: it runs, has ended, or was stopped and goes on from there."""
    work = visitor().work(work_id, sweep_model.KIND)
    view = _Sweep(sweep_model.kept_form(work))
    view.draw()
    view.follow(work)


def _address(work: Work) -> str:
    return f"/collect/sweep/{work.id}"


class _Sweep:
    """The form, and below it the charts of every combination."""

    def __init__(self, form: SweepForm) -> None:
        self._form = form

    def draw(self) -> None:
        """The form."""
        main_heading("Sweep parameters")
        lead(
            "Every combination of protocols, epsilons, numbers of devices and parameters is "
            "simulated on made-up values. The charts show what each parameter does to error, time "
            "and memory."
        )
        _controls(self._form)
        button = ui.button(_("Start the sweep"), icon="play_arrow", on_click=self._start)
        button.classes("q-my-md").props("data-test=run-sweep")
        quiet(
            "The studio runs at most {runs} simulations with {reports} reports together. Each "
            "finished run is kept: a sweep that was stopped goes on from there, and so does one "
            "with more values in its lists.",
            runs=MOST_RUNS,
            reports=number(MOST_REPORTS),
        )
        self._place = ui.column().classes("w-full")

    def follow(self, work: Work) -> None:
        """Show a sweep that runs; the charts of one that has ended; or how far it came."""
        form = replace(self._form)
        job = _running(work)
        if job is None and sweep_model.has_ended(work, form):
            with suppress(CelosiaError):  # too many jobs: the button is there
                job = _submit(work, form, listed=False)  # every run is there already

        def ended(job: Job) -> None:
            if job.state != "done":
                _finished(work, form)

        with self._place:
            if job is None:
                _finished(work, form)
            else:
                follow(
                    job,
                    on_done=partial(_show, form=form, work=work),
                    on_end=partial(ended, job),
                    keeps=True,
                )

    def _start(self) -> None:
        form = replace(self._form)
        try:
            work = sweep_model.keep(visitor(), form)
            earlier = _running(work)
            if earlier is not None:  # of other lists perhaps; what it has finished is kept
                studio().jobs.cancel(earlier)
            _submit(work, form)
        except CelosiaError as error:
            self._place.clear()
            with self._place:
                show_error(error, attend=True)
            return
        ui.navigate.to(_address(work))


def _running(work: Work) -> Job | None:
    """The job of a sweep that is not over."""
    mine = studio().jobs.of(visitor().token)
    return next((each for each in mine if each.address == _address(work) and not each.over), None)


def _submit(work: Work, form: SweepForm, *, listed: bool = True) -> Job:
    asked = task(jobs.sweep, folder=str(work.folder), form=form)
    title = _("Sweep parameters")
    address = _address(work)
    return studio().jobs.submit(visitor().token, title, asked, address=address, listed=listed)


def _finished(work: Work, form: SweepForm) -> None:
    """How far a sweep came."""
    done, total = form.finished(work.path(sweep_model.STATE))
    quiet(
        "{done} of {total} runs are finished and kept.", done=number(done), total=number(total)
    ).props("data-test=finished-runs")


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
            # With its value from the start: one that is bound later is sent after the page, over
            # what has been typed by then.
            typed = ui.input(label, value=getattr(form, name)).bind_value(form, name)
            typed.props["data-test"] = f"sweep-{name}"
        ui.number(
            _("Runs of each point"), value=form.repeats, min=1, max=MOST_RUNS, precision=0
        ).bind_value(form, "repeats", forward=lambda typed: int(typed or 1))
    quiet(
        "hashes (k) and width (m) of sketches, bits of dBitFlip (d), fragment_hashes and pieces "
        "(T) of the Sequence Fragment Puzzle. A protocol does not vary in a parameter that it does "
        "not have."
    )


def _show(found: dict[str, Any], form: SweepForm, work: Work) -> None:
    paragraph("{summary}", summary=found["summary"]).classes("text-bold")
    if found["resumed"]:
        quiet("{runs} of the runs had been finished before.", runs=number(found["resumed"]))
    for each in found["left_out"]:
        quiet("Left out: {point}", point=each)
    for each in found["charts"]:
        heading("{title}", 2, title=capital(each["title"]))
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
    quiet("The command below goes on with the finished runs of this file:")
    link = ui.link(_("Finished runs"), f"/files/{work.id}/{sweep_model.STATE}")
    link.props(f'download data-test="file-{sweep_model.STATE}"')
    show_code([(_("Command line"), form.command), ("Python", form.python)])
