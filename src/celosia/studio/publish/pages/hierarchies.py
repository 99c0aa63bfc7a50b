"""The step Hierarchies: what each quasi-identifier becomes, level by level."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio import shell
from celosia.studio.language import _, n_, number
from celosia.studio.publish.form import DATA, ColumnForm
from celosia.studio.publish.hierarchies import Preview, Values, preview, values_of
from celosia.studio.publish.hierarchy_tasks import LARGE, ask, is_small
from celosia.studio.publish.labels import KIND_NAMES
from celosia.studio.publish.pages.rules import edit_rule
from celosia.studio.publish.pages.steps import PublishWorkbench
from celosia.studio.publish.readers import ask_column
from celosia.studio.runtime import studio
from celosia.studio.shell import in_thread
from celosia.studio.widgets.job_progress import OFTEN
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import lead, name_heading, paragraph, quiet
from celosia.studio.worker import task

CHECKED = 5_000
"""Columns with at most so many distinct values are checked beside the one that is edited."""


def show(workbench: PublishWorkbench, place: int) -> None:
    """The quasi-identifiers to choose from, and the hierarchy of the one that was chosen."""
    lead(
        "Define the generalisation hierarchy of each quasi-identifier. Level 0 is the "
        "raw value; the last level hides it completely."
    )
    columns = [
        (at, column)
        for at, column in enumerate(workbench.form.columns)
        if column.role == "quasi-identifier" or _is_measured(workbench, column)
    ]
    if not columns:
        paragraph(
            "No column is a quasi-identifier yet: give some that role in the step Columns."
        ).classes("text-bold")
        return
    chosen = next(((at, each) for at, each in columns if at == place), columns[0])
    marks = _chooser(workbench, columns, chosen[0])
    work = ui.element("div").classes("w-full")

    async def fill() -> None:
        values = None
        if workbench.facts[chosen[0]]["distinct"] <= LARGE:
            values = await in_thread(values_of, workbench.work.path(DATA), chosen[0])
        with work:
            Editor(workbench, chosen[1].name, values, marks[chosen[0]])
        for at, column in columns:
            if at != chosen[0] and workbench.facts[at]["distinct"] <= CHECKED:
                await _check(workbench, at, column.name, marks[at])

    ui.timer(0.01, fill, once=True)


def _is_measured(workbench: PublishWorkbench, column: ColumnForm) -> bool:
    """Whether a model measures distances in the hierarchy of a sensitive column."""
    return column.role == "sensitive" and any(
        model.get("distance") == "hierarchical" and model.get("column") in (None, column.name)
        for model in workbench.form.models
    )


def _chooser(
    workbench: PublishWorkbench, columns: list[tuple[int, ColumnForm]], chosen: int
) -> dict[int, ui.icon]:
    marks = {}
    with ui.element("nav").classes("celosia-steps") as nav:
        nav.props["aria-label"] = _("Columns")
        for at, column in columns:
            target = f"/publish/{workbench.work.id}?step=hierarchies&column={at}"
            with ui.link(target=target).classes("celosia-step") as link:
                marks[at] = ui.icon("help_outline")
                _call(marks[at], _("not checked yet"))
                ui.label(column.name).classes("celosia-break")
            if at == chosen:
                link.props('aria-current="true"')
    return marks


async def _check(workbench: PublishWorkbench, at: int, name: str, mark: ui.icon) -> None:
    """Mark a column as covered or not, in sign and words."""

    def look() -> Preview | None:
        column, values = workbench.form.column(name), values_of(workbench.work.path(DATA), at)
        return preview(column, values) if is_small(column, values) else None

    if (found := await in_thread(look)) is not None:
        _mark(mark, found)


def _mark(mark: ui.icon, found: Preview) -> None:
    good = found.error is None and not found.uncovered_values
    mark.set_name("check_circle" if good else "warning")
    with mark:  # the language is that of its page
        _call(mark, _("all values are covered") if good else _("needs a look"))
    mark.style(f"color: var(--{'good' if good else 'warn'})")


def _call(mark: ui.icon, name: str) -> None:
    """Say in words what a sign says."""
    mark.props["role"] = "img"
    mark.props["aria-label"] = mark.props["title"] = name
    mark.update()


class Editor:
    """The hierarchy of one column: its rule on one side, what it makes of the values beside it."""

    def __init__(
        self, workbench: PublishWorkbench, name: str, values: Values | None, mark: ui.icon
    ) -> None:
        self.workbench, self.name, self.values, self._mark = workbench, name, values, mark
        self.facts = workbench.facts[workbench.place(name)]
        name_heading(name).classes("celosia-break")
        quiet(
            "{kind}, {values}, {empty}",
            kind=KIND_NAMES[self.column.kind],
            values=n_(
                "{count} different value", "{count} different values", self.facts["distinct"]
            ),
            empty=n_("{count} empty cell", "{count} empty cells", self.facts["empty"]),
        )
        with ui.element("div").classes("celosia-split"):
            with ui.element("div"):
                self._missing()
                self._rule = ui.element("div").classes("w-full")
            self._shown = (
                ui.element("div")
                .classes("celosia-preview")
                .props('aria-live="polite" data-test="preview"')
            )
        self.draw_rule()
        ui.timer(0.01, self.look, once=True)

    @property
    def column(self) -> ColumnForm:
        """The column as it is chosen now."""
        return self.workbench.form.column(self.name)

    def draw_rule(self) -> None:
        """Draw the fields of the present rule."""
        self._rule.clear()
        with self._rule:
            edit_rule(self)

    async def choose(self, rule: dict[str, Any], *, redraw: bool = False) -> None:
        """Take another rule and show what it does."""
        self.workbench.update(lambda form: form.with_column(self.name, hierarchy=rule))
        if redraw:
            self.draw_rule()
        await self.look()

    async def ask(self, what: str, **how: Any) -> Any:
        """Ask about the column beside the page; None if it was refused, which is then said.

        Long columns are for a job: the page stays free, and the job is in the list.
        """
        try:
            if self.values is not None and is_small(self.column, self.values):
                return await in_thread(partial(ask, what, self.column, self.values, **how))
            job = studio().jobs.submit(
                shell.visitor().token,
                _("Hierarchy of {column}", column=self.name),
                task(
                    ask_column,
                    folder=str(self.workbench.work.folder),
                    column=self.column,
                    place=self.workbench.place(self.name),
                    what=what,
                    how=how,
                ),
            )
            while not job.over:
                await asyncio.sleep(OFTEN)
            if job.error is not None:
                raise job.error
        except CelosiaError as error:
            shell.notify_error(error)
            return None
        return job.result

    async def look(self) -> None:
        """Show what the present rule makes of the column."""
        column = self.column
        if self.values is None:
            self._shown.clear()
            with self._shown, ui.row().classes("items-center"):
                ui.spinner(size="lg")
                quiet("Building the hierarchy")
        found = await self.ask("preview")
        if (
            found is None or column != self.column
        ):  # another change came in between, and will be shown
            return
        _mark(self._mark, found)
        self._shown.clear()
        with self._shown:
            self._draw(found)

    def _missing(self) -> None:
        if not self.facts["empty"]:
            return

        async def changed(event: Any) -> None:
            self.workbench.update(lambda form: form.with_column(self.name, missing=event.value))

        ui.select(
            {
                "value": _("a separate value"),
                "suppress": _("suppress the record"),
                "refuse": _("an error: refuse the table"),
            },
            value=self.column.missing,
            label=_("An empty cell is"),
            on_change=changed,
        ).classes("w-full")

    def _draw(self, found: Preview) -> None:
        if found.error is not None:
            shell.show_error(found.error)
        if found.uncovered_values:
            self._uncovered(found)
        elif found.error is not None:
            ui.button(
                _("Use the suggested hierarchy"), icon="auto_fix_high", on_click=self._repair
            ).props("unelevated")
        if found.levels:
            show_table(
                [
                    _("level"),
                    _("labels"),
                    _("fewest records"),
                    _("most records"),
                    _("examples"),
                ],
                [
                    [each.level, each.labels, each.fewest, each.most, _joined(each.examples)]
                    for each in found.levels
                ],
                caption=_("Each level: how many labels it has, and how many records share one"),
            )
        if found.paths:
            depth = len(found.paths[0])
            show_table(
                [_("level {number}", number=number(level)) for level in range(depth)],
                found.paths,
                caption=_("Some values at each level"),
            )

    def _uncovered(self, found: Preview) -> None:
        with ui.card().classes("celosia-error w-full").props('role="alert"'):
            paragraph(
                "Not covered by the hierarchy: {values} ({rows}).",
                values=n_("{count} value", "{count} values", found.uncovered_values),
                rows=n_("{count} record", "{count} records", found.uncovered_rows),
            ).classes("text-bold")
            show_table([_("value"), _("records")], found.uncovered)
            ui.button(
                _("Add them to the hierarchy"), icon="auto_fix_high", on_click=self._repair
            ).props('unelevated data-test="repair"')

    async def _repair(self) -> None:
        rule = await self.ask("repair", other=_("Other values"))
        if rule is not None:
            await self.choose(rule, redraw=True)


def _joined(labels: tuple[str, ...]) -> str:
    short = [label if len(label) <= 24 else f"{label[:24]}…" for label in labels[:3]]
    return ", ".join(short)
