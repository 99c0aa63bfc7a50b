"""The steps of publishing: one address for each, the way to the next, the run and its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio import shell
from celosia.studio.language import _
from celosia.studio.publish import (
    PublishForm,
    changes,
    command_text,
    publish_options,
    python_text,
    schema_text,
)
from celosia.studio.publish.code import SCHEMA_FILE
from celosia.studio.publish.form import SAVED
from celosia.studio.publish.readers import PROFILE
from celosia.studio.runtime import signing_key, studio
from celosia.studio.shell import page, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.method_form import table_size
from celosia.studio.widgets.text import heading, name_heading, quiet
from celosia.studio.worker import task

KIND = "publish"
"""What works of this door are called."""
AGREE = 1.0
"""Seconds after which another window of the same work shows what was chosen in this one."""
LONGEST = 20_000
"""So many letters of a text are shown; a schema with long trees has more, and is downloaded."""


class PublishWorkbench:
    """What a page of a step works on: the choices, and who wants to know when they change."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.form = PublishForm.load(work)
        self.facts: list[dict[str, Any]] = work.load(PROFILE, [])
        self._listeners: list[Callable[[], Any]] = []
        self._stamp = self._written()

    def update(self, change: Callable[[PublishForm], PublishForm]) -> None:
        """Change what is kept now, which another window may have changed, and tell everybody."""
        self._stamp = self._written()  # what a job or another window wrote is seen from here on
        before = PublishForm.load(self.work)
        self.form = change(before)
        if self.form != before:
            changes.note(self.work, before)
            self.form.save(self.work)
            self._stamp = self._written()
        for listener in self._listeners:
            listener()

    @property
    def is_outdated(self) -> bool:
        """Whether another window, or a job, has changed the choices since this page saw them."""
        return self._written() != self._stamp

    def _written(self) -> int:
        try:
            return self.work.path(f"{SAVED}.json").stat().st_mtime_ns
        except FileNotFoundError:  # the work was removed
            return 0

    def listen(self, listener: Callable[[], Any]) -> None:
        """Call this after every change."""
        self._listeners.append(listener)

    def place(self, name: str) -> int:
        """The place of a column in the table."""
        return [column.name for column in self.form.columns].index(name)


@page("/publish/{work_id}", "Publish", door="/publish")
async def steps(work_id: str, step: str = "columns", column: int = -1) -> None:
    """Show one step of a piece of work."""
    from celosia.studio.publish.pages import (  # they use this module
        columns,
        hierarchies,
        models,
        projects,
        rail,
    )

    workbench = PublishWorkbench(visitor().work(work_id, KIND))
    known = step if step in ("hierarchies", "models") else "columns"
    _head(workbench, known)
    with ui.element("div").classes("celosia-railed"):
        with ui.element("div").classes("celosia-work"):
            if known == "columns":
                columns.show(workbench, column)
            elif known == "hierarchies":
                hierarchies.show(workbench, column)
            else:
                models.show(workbench)
            _onward(workbench, known)
            _drawer(workbench)
            projects.show(workbench)
        rail.Rail(workbench)
    ui.timer(AGREE, lambda: ui.navigate.reload() if workbench.is_outdated else None)


def step_bar(work_id: str, current: str) -> None:
    """Links to all steps of a piece of work; the present one is marked."""
    names = {
        "columns": (_("Columns"), "view_column"),
        "hierarchies": (_("Hierarchies"), "account_tree"),
        "models": (_("Models"), "shield"),
        "results": (_("Results"), "insights"),
    }
    with ui.element("nav").classes("celosia-steps") as nav:
        nav.props["aria-label"] = _("Steps")
        for place, (step, (name, icon)) in enumerate(names.items(), 1):
            address = (
                f"/publish/{work_id}/results"
                if step == "results"
                else f"/publish/{work_id}?step={step}"
            )
            with ui.link(target=address).classes("celosia-step") as link:
                ui.icon(icon).props('aria-hidden="true"')
                ui.label(f"{place}. {name}")
            if step == current:
                link.props('aria-current="step"')


def run(workbench: PublishWorkbench) -> None:
    """Check the choices together, begin the search, and go where its result will be."""
    from celosia.studio.publish import jobs  # it is heavy

    work, form = workbench.work, workbench.form
    try:
        publish_options(form)
        before = studio().jobs.find(visitor().token, (work.load("run") or {}).get("job", ""))
        if before is not None and not before.over:
            studio().jobs.cancel(before)  # it would write the same files
        job = studio().jobs.submit(
            visitor().token,
            _("Publishing {file}", file=form.file),
            task(jobs.run, folder=str(work.folder), form=form.as_dict(), key=signing_key()),
            address=f"/publish/{work.id}/results",
        )
    except CelosiaError as error:
        shell.notify_error(error)
        return
    work.save("run", {"job": job.id})
    ui.navigate.to(f"/publish/{work.id}/results")


def problem(form: PublishForm) -> CelosiaError | None:
    """What keeps these choices from being run, if anything."""
    try:
        publish_options(form)
    except CelosiaError as error:
        return error
    return None


def _head(workbench: PublishWorkbench, step: str) -> None:
    form = workbench.form
    with ui.row().classes("items-end justify-between w-full"):
        title(form)
        with ui.row().classes("items-start no-wrap"):
            _undo_buttons(workbench)
            _run_button(workbench)
    step_bar(workbench.work.id, step)


def _undo_buttons(workbench: PublishWorkbench) -> None:
    """The choice before the last one, and back again."""
    work = workbench.work

    def step(change: Callable[[Work], None]) -> None:
        change(work)
        ui.navigate.reload()

    ways = (
        ("undo", _("Undo"), changes.undo, changes.can_undo),
        ("redo", _("Redo"), changes.redo, changes.can_redo),
    )
    for name, text, change, can in ways:
        button = ui.button(icon=name, on_click=lambda change=change: step(change)).props(
            f'flat round dense data-test="{name}"'
        )
        button.props["aria-label"] = text
        button.tooltip(text)
        _enabled_while(workbench, button, can)


def _enabled_while(
    workbench: PublishWorkbench, button: ui.button, can: Callable[[Work], bool]
) -> None:
    button.set_enabled(can(workbench.work))
    workbench.listen(lambda: button.set_enabled(can(workbench.work)))


def title(form: PublishForm) -> None:
    """The name of the table that a page is about, and its size."""
    with ui.column().classes("gap-0"):
        name_heading(form.file, 1).classes("celosia-break")
        quiet(table_size(form.rows, len(form.columns)))


def _run_button(workbench: PublishWorkbench) -> None:
    with ui.element("div"):
        button = ui.button(_("Run now"), icon="play_arrow", on_click=lambda: run(workbench)).props(
            'unelevated data-test="run"'
        )
        why = ui.label().classes("celosia-quiet celosia-break").style("max-width: 26rem")

    def look() -> None:
        found = problem(workbench.form)
        button.set_enabled(found is None)
        why.set_text("" if found is None else found.what)
        why.set_visibility(found is not None)

    look()
    workbench.listen(look)


def _onward(workbench: PublishWorkbench, step: str) -> None:
    """Buttons to the step before and the step after."""
    order = ("columns", "hierarchies", "models")
    place = order.index(step)
    with ui.row().classes("w-full justify-between q-mt-lg"):
        if place:
            before = f"/publish/{workbench.work.id}?step={order[place - 1]}"
            ui.button(_("Back"), icon="arrow_back", on_click=lambda: ui.navigate.to(before)).props(
                "flat"
            )
        ui.space()
        if place < len(order) - 1:
            after = f"/publish/{workbench.work.id}?step={order[place + 1]}"
            ui.button(
                _("Next step"), icon="arrow_forward", on_click=lambda: ui.navigate.to(after)
            ).props("outline")
        else:
            ui.button(_("Run now"), icon="play_arrow", on_click=lambda: run(workbench)).props(
                "unelevated"
            )


def _drawer(workbench: PublishWorkbench) -> None:
    """The same choices as text, up to date after every click."""
    heading("The same as text")
    quiet(
        "Everything that you choose here can be written down: keep the schema and the command, "
        "and the release can be made again without this studio."
    )
    update = show_code(_texts(workbench.form))
    workbench.listen(lambda: update(_texts(workbench.form)))
    ui.button(
        _("Download {file}", file=SCHEMA_FILE),
        icon="download",
        on_click=lambda: ui.download.content(schema_text(workbench.form), SCHEMA_FILE),
    ).props("flat dense")


def _texts(form: PublishForm) -> list[tuple[str, str]]:
    writers = (
        (_("Command line"), command_text),
        (_("Python"), python_text),
        (_("Schema (TOML)"), schema_text),
    )
    found = []
    for name, write in writers:
        try:
            text = write(form)
        except CelosiaError as error:
            text = f"# {error.what}"
        if len(text) > LONGEST:
            text = text[:LONGEST] + "\n# " + _("The rest is in the file to download.")
        found.append((name, text))
    return found
