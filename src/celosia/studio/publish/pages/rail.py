"""The rail: risk and use of what is chosen, beside every step, and a line above it on a phone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio.jobs import Job
from celosia.studio.language import _, n_, number, percent
from celosia.studio.publish import PublishForm, estimates
from celosia.studio.publish.pages.steps import PublishWorkbench, problem
from celosia.studio.runtime import studio
from celosia.studio.shell import visitor
from celosia.studio.widgets.meanings import meaning_button
from celosia.studio.widgets.text import heading, quiet
from celosia.studio.worker import task

OFTEN = 0.3
"""Seconds between two looks at the choices: a slider asks not once for each pixel."""


class Rail:
    """Draws the figures of the present choices, and asks for new ones when these change.

    One estimate runs at a time: what is chosen meanwhile is estimated after it, so that no worker
    is ended and no queue grows.
    """

    def __init__(self, workbench: PublishWorkbench) -> None:
        self._workbench = workbench
        self._job: Job | None = None
        self._asked = ""
        self._shown: Any = None
        kept = workbench.work.load(estimates.SAVED) or {}
        self._form: str = kept.get("form", "")
        """The choices that the figures are of, as text."""
        self._facts: dict[str, Any] | None = kept.get("facts")
        self._error: CelosiaError | None = None
        self._figures, self._line = _frame()
        ui.timer(OFTEN, self._look)
        self._draw()

    def _look(self) -> None:
        """Take what has been estimated, ask for what has not, and draw what is new."""
        job = self._job
        if job is not None and job.over:
            self._job, self._form = None, self._asked
            self._facts = job.result if job.state == "done" else None
            self._error = job.error
            if self._facts is not None:
                kept = {"form": self._form, "facts": self._facts}
                self._workbench.work.save(estimates.SAVED, kept)
        form = self._workbench.form
        if self._job is None and self._form != _text(form) and problem(form) is None:
            self._ask(form)
        self._draw()

    def _ask(self, form: PublishForm) -> None:
        self._asked = _text(form)
        folder = str(self._workbench.work.folder)
        try:
            self._job = studio().jobs.submit(
                visitor().token,
                _("Estimating risk and use"),
                task(estimates.estimate, folder=folder, form=form.as_dict()),
                listed=False,
            )
        except CelosiaError as error:  # too many jobs, or no room: the steps go on without figures
            self._form, self._facts, self._error = self._asked, None, error

    def _draw(self) -> None:
        form = self._workbench.form
        refused = problem(form)
        is_waiting = refused is None and self._form != _text(form)
        error = refused or (None if is_waiting else self._error)
        state = (self._facts, is_waiting, None if error is None else error.what)
        if state == self._shown:
            return
        self._shown = state
        self._figures.clear()
        with self._figures:
            if error is not None:
                self._line.set_text(_("Not possible yet"))
                ui.label(error.what).classes("celosia-break")
                if error.fix:
                    ui.label(error.fix).classes("celosia-quiet celosia-break")
                return
            if is_waiting:
                bar = ui.linear_progress(show_value=False).props("indeterminate size=3px")
                bar.props["aria-label"] = _("Estimating risk and use")
            if self._facts is None:
                self._line.set_text(_("Estimating risk and use"))
                quiet("Estimating risk and use")
                return
            self._line.set_text(line_of(self._facts))
            draw(self._facts, faded=is_waiting)


def _text(form: PublishForm) -> str:
    """The choices as text, to see whether they are the same: JSON knows no tuples."""
    return json.dumps(form.as_dict(), sort_keys=True, default=str)


def show_results(found: dict[str, Any]) -> None:
    """The rail of a run that has ended."""
    facts = estimates.of_results(found)
    figures, line = _frame()
    line.set_text(line_of(facts))
    with figures:
        draw(facts, final=True)


def line_of(facts: Mapping[str, Any]) -> str:
    """Risk and use in one line."""
    risk, loss = percent(facts["risk"]["average"], 1), percent(facts["loss"], 1)
    return _("Average risk {risk}, loss {loss}", risk=risk, loss=loss)


def draw(facts: Mapping[str, Any], *, faded: bool = False, final: bool = False) -> None:
    """All figures, each with its meaning; faded while newer ones are being computed."""
    risk, before = facts["risk"], facts["before"]
    with ui.element("div").classes("celosia-rail-part" + (" faded" if faded else "")):
        heading("Risk", 3)
        _meter(_("Average risk"), risk["average"], _before(before["average"]))
        _meter(_("Highest risk"), risk["maximum"], _before(before["maximum"]))
        _number(
            _("Smallest class"),
            n_("{count} record", "{count} records", risk["smallest"]),
            _("{before} before", before=number(before["smallest"])),
        )
        heading("Use", 3)
        _meter(_("Loss"), facts["loss"], _("0 % is the raw table"))
        _meter(_("Suppressed"), facts["suppressed"], _("of the records"))
    if final:
        quiet("Measured on the release.")
    elif facts["looked_at"] < facts["rows"]:
        quiet(
            "Estimated on {part} of {rows} records; the run looks at all of them and usually loses "
            "less.",
            part=number(facts["looked_at"]),
            rows=number(facts["rows"]),
        )
    else:
        quiet("Estimated on all records, in two seconds at most; the run searches longer.")


def _before(value: float) -> str:
    return _("{before} before", before=percent(value, 1))


def _meter(name: str, value: float, note: str) -> None:
    _number(name, percent(value, 2 if value < 0.1 else 1), note)
    share = min(max(value, 0.0), 1.0)
    # The figure above says the same; the bar is for the eye.
    ui.html(
        f'<div class="celosia-meter" aria-hidden="true"><i style="width: {share:.2%}"></i></div>',
        sanitize=False,
    )


def _number(name: str, value: str, note: str) -> None:
    with ui.row().classes("items-center justify-between no-wrap w-full gap-1"):
        with ui.row().classes("items-center no-wrap gap-0"):
            ui.label(name).classes("name")
            meaning_button(name, **{name: value})
        ui.label(value).classes("value")
    ui.label(note).classes("celosia-quiet")


def _frame() -> tuple[ui.element, ui.label]:
    """The place of the figures, and the line that stands for them on a phone."""
    with ui.element("aside").classes("celosia-rail").props('data-test="rail"') as rail:
        rail.props["aria-label"] = _("Risk and use")
        button = ui.button().props("flat no-caps dense")
        button.classes("celosia-rail-line").props('aria-expanded="false" data-test="rail-line"')
        with button:
            line = ui.label().props('aria-live="polite"')
            ui.icon("expand_more").props('aria-hidden="true"')
        figures = ui.element("div").classes("celosia-rail-figures")

    def turn() -> None:
        is_open = button.props.get("aria-expanded") == "true"
        button.props["aria-expanded"] = "false" if is_open else "true"
        button.update()
        rail.classes(remove="open") if is_open else rail.classes(add="open")

    button.on_click(turn)
    return figures, line
