"""The step Columns: what the table holds, and what each column may give away."""

from __future__ import annotations

from html import escape
from typing import Any

import polars as pl
from nicegui import background_tasks, ui

from celosia.assess.risk import RiskProfile
from celosia.studio.language import _, figure, n_, number, percent
from celosia.studio.publish.form import DATA, RAW, ColumnForm, PublishForm
from celosia.studio.publish.labels import KIND_NAMES, ROLE_NAMES, finding
from celosia.studio.publish.pages.steps import PublishWorkbench
from celosia.studio.publish.suggestions import exposure, suggested_hierarchy
from celosia.studio.shell import in_thread
from celosia.studio.widgets.table import key_figures
from celosia.studio.widgets.text import heading, lead, paragraph, quiet

ROWS = 8
"""So many rows of the table are shown."""
MANY = 60
"""So many columns are shown at a time."""
FEW = 5_000
"""Up to so many distinct values a hierarchy is suggested at the click that asks for one."""
ROLES = {
    "identifier": "badge",
    "quasi-identifier": "person_search",
    "sensitive": "lock",
    "insensitive": "check",
}
"""The roles and their icons."""


def show(workbench: PublishWorkbench, first: int = 0) -> None:
    """The preview, the roles, and how many people they leave alone."""
    rows = pl.read_parquet(workbench.work.path(DATA), n_rows=ROWS).rows()
    lead(
        "Set the role of each column. The suggested roles follow from column names and "
        "values: check each of them."
    )
    figures = ui.element("div").classes("q-my-md celosia-even")
    figures.props('aria-live="polite" data-test="exposure"')
    shown = ui.html(sanitize=False)

    def draw_preview() -> None:
        shown.set_content(_preview(workbench, rows))

    async def count() -> None:
        quasi = workbench.form.named("quasi-identifier")
        places = [workbench.place(name) for name in quasi]
        profile = await in_thread(exposure, workbench.work.path(DATA), places)
        if profile is not None and quasi == workbench.form.named(
            "quasi-identifier"
        ):  # no other click in between
            figures.clear()
            with figures:
                _figures(workbench.form, profile)

    draw_preview()
    heading("Roles")
    _legend()
    with ui.element("div").classes("celosia-roles"):
        begin = first - first % MANY if 0 < first < len(workbench.facts) else 0
        part = slice(begin, begin + MANY)
        for column, facts in zip(workbench.form.columns[part], workbench.facts[part], strict=True):
            _row(workbench, column, facts)
    _pages(workbench, begin)
    people = ui.element("div").classes("q-mt-md")
    identifiers: list[str] = []

    def draw_people() -> None:
        names = list(workbench.form.named("identifier"))
        if names != identifiers:
            identifiers[:] = names
            people.clear()
            with people:
                _person(workbench)

    draw_people()
    workbench.listen(draw_people)
    workbench.listen(draw_preview)
    workbench.listen(lambda: background_tasks.create(count()))
    ui.timer(0.01, count, once=True)


RECORDS = ""
"""The choice that counts records."""


def _person(workbench: PublishWorkbench) -> None:
    """Whose record it is: the identifier by which people are counted."""
    form = workbench.form
    names = form.named("identifier")
    if not names:
        return
    heading("Whose record it is")
    quiet(
        "If a person may have several records, choose the identifier that tells people apart: the "
        "models then count people, not records. The column is never released."
    )
    units = {
        RECORDS: _("each record is another person"),
        **{f"person {place}": name for place, name in enumerate(names)},
        **{
            f"household {place}": _("households: {name}", name=name)
            for place, name in enumerate(names)
        },
    }

    def choose(chosen: str | None) -> None:
        unit, place = chosen.split(" ") if chosen else ("", "")
        name = names[int(place)] if unit else None
        workbench.update(
            lambda form: form.with_options(
                person=name, household=unit == "household", by_record=not unit
            )
        )

    value = RECORDS if form.by_record else None
    if form.person in names:
        unit = "household" if form.household else "person"
        value = f"{unit} {names.index(form.person)}"
    select = ui.select(
        units,
        value=value,
        label=_("Count people by"),
        on_change=lambda event: choose(event.value),
    )
    select.props('outlined dense data-test="person"').classes("celosia-field")


def _pages(workbench: PublishWorkbench, begin: int) -> None:
    """Links to the other columns of a table with many."""
    total = len(workbench.facts)
    if total <= MANY:
        return
    with ui.element("nav").classes("celosia-steps") as nav:
        nav.props["aria-label"] = _("More columns")
        for first in range(0, total, MANY):
            last = min(first + MANY, total)
            link = ui.link(
                _("Columns {first} to {last}", first=number(first + 1), last=number(last)),
                f"/publish/{workbench.work.id}?step=columns&column={first}",
            ).classes("celosia-step")
            if first == begin:
                link.props('aria-current="true"')


def _figures(form: PublishForm, profile: RiskProfile) -> None:
    quasi = form.named("quasi-identifier")
    if not quasi:
        paragraph(
            "No column is a quasi-identifier yet. Choose those by which somebody could "
            "recognise a person: age, sex, postal code, dates."
        ).classes("text-bold")
        return
    share = profile.unique / profile.records if profile.records else 0.0
    key_figures(
        [
            figure(
                "Unique records",
                f"{number(profile.unique)} ({percent(share)})",
                "no other record has the same quasi-identifiers",
            ),
            figure(
                "Smallest group",
                n_("{count} record", "{count} records", profile.smallest),
                "records that share all quasi-identifiers",
            ),
            (
                _("Different combinations"),
                number(profile.classes),
                n_(
                    "of the values of {count} quasi-identifier",
                    "of the values of {count} quasi-identifiers",
                    len(quasi),
                ),
            ),
        ]
    )


def _preview(workbench: PublishWorkbench, cells: list[tuple[Any, ...]]) -> str:
    """The first rows; the head of a column has the colour, the word and the mark of its role."""
    heads = "".join(
        f'<th scope="col" class="role-{escape(column.role)}">{escape(column.name)}'
        f'<br><span class="celosia-quiet">{escape(ROLE_NAMES[column.role])}</span></th>'
        for column in workbench.form.columns
    )
    rows = "".join(
        "<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in cells
    )
    caption = n_(
        "The first {shown} of {count} row",
        "The first {shown} of {count} rows",
        workbench.form.rows,
        shown=number(len(cells)),
    )
    return (
        f'<div class="celosia-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        '<table class="celosia-table">'
        f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    if value is None:
        text = escape(_("empty"))
        return f'<span class="celosia-quiet">{text}</span>'
    text = str(value)
    return escape(text if len(text) <= 60 else f"{text[:60]}…")


def _legend() -> None:
    meanings = {
        "identifier": _("identifies a person directly; never released"),
        "quasi-identifier": _("may identify a person in combination; generalised"),
        "sensitive": _("must not be disclosed about a person; released unchanged"),
        "insensitive": _("none of these; released unchanged"),
    }
    with ui.element("ul").classes("celosia-legend"):
        for role, icon in ROLES.items():
            with ui.element("li").classes(f"role-{role}"):
                ui.icon(icon).props('aria-hidden="true"')
                ui.label(f"{ROLE_NAMES[role]}: {meanings[role]}")


def _row(workbench: PublishWorkbench, column: ColumnForm, facts: dict[str, Any]) -> None:
    with ui.element("div").classes(f"celosia-role role-{column.role}") as row:
        with ui.element("div").classes("celosia-role-facts"):
            ui.label(column.name).classes("text-bold celosia-break")
            ui.label(_facts(facts, workbench.form.rows)).classes("celosia-quiet")
            quiet(
                "Seems to be: {kind} ({why}). Suggested: {role}.",
                kind=finding(facts["seems"]),
                why=_(facts["why"]),
                role=ROLE_NAMES[facts["role"]],
            )
        buttons: dict[str, ui.button] = {}
        with ui.element("div").classes("celosia-role-choice").props('role="group"') as group:
            group.props["aria-label"] = _("Role of {column}", column=column.name)
            for role, icon in ROLES.items():
                button = ui.button(ROLE_NAMES[role], icon=icon, color=None).props(
                    "no-caps dense unelevated"
                )
                button.classes("celosia-chip")
                buttons[role] = button

        reason = ui.input(
            _("Reason to publish it as it is, if records are unique on it"),
            value=column.accept_raw,
            on_change=lambda event: workbench.update(
                lambda form: form.with_column(column.name, accept_raw=event.value or "")
            ),
        )
        reason.classes("w-full").props('debounce=400 data-test="accept-raw"')

    def mark(chosen: str) -> None:
        reason.set_visibility(chosen in RAW)
        for role, button in buttons.items():
            pressed = role == chosen
            button.props["aria-pressed"] = "true" if pressed else "false"
            button.classes(add="chosen" if pressed else "", remove="" if pressed else "chosen")
            row.classes(
                add=f"role-{role}" if pressed else "", remove="" if pressed else f"role-{role}"
            )
            button.update()

    async def choose(role: str) -> None:
        mark(role)
        changes: dict[str, Any] = {"role": role}
        present = workbench.form.column(column.name)
        if role == "quasi-identifier":
            if present.hierarchy is None and facts["distinct"] <= FEW:
                changes["hierarchy"] = await in_thread(
                    _suggestion, workbench, workbench.place(column.name)
                )
            if facts["empty"] and present.missing == "refuse":
                changes["missing"] = "value"
        workbench.update(lambda form: form.with_column(column.name, **changes))

    for role, button in buttons.items():
        button.on_click(lambda role=role: choose(role))
    mark(column.role)


def _suggestion(workbench: PublishWorkbench, place: int) -> dict[str, Any]:
    return suggested_hierarchy(
        pl.read_parquet(workbench.work.path(DATA), columns=[place]).to_series()
    )


def _facts(facts: dict[str, Any], rows: int) -> str:
    parts = [
        KIND_NAMES[facts["kind"]],
        n_("{count} different value", "{count} different values", facts["distinct"]),
        n_("{count} empty cell", "{count} empty cells", facts["empty"]),
        _("{share} of the records have a value of their own", share=percent(facts["alone"] / rows)),
    ]
    return " · ".join(parts)
