"""The step Models: what is promised, how much may be suppressed, and what is to be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio import shell
from celosia.studio.language import _, number, percent
from celosia.studio.publish import readers
from celosia.studio.publish.form import POPULATION, models
from celosia.studio.publish.model_kinds import (
    OFFERED,
    at_first,
    caveat,
    declared,
    promise,
    purpose,
    title,
)
from celosia.studio.publish.pages.settings import settings
from celosia.studio.publish.pages.steps import PublishWorkbench, problem
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.method_form import parameter_controls
from celosia.studio.widgets.text import heading, lead, paragraph
from celosia.studio.widgets.upload import upload
from celosia.studio.worker import task


def show(workbench: PublishWorkbench) -> None:
    """The models as cards, what they promise together, and the settings."""
    lead(
        "Choose the privacy models: conditions on every equivalence class (records with "
        "equal quasi-identifiers). Each model covers risks that others leave open."
    )
    with ui.element("div").classes("celosia-split"):
        with ui.element("div"):
            heading("Models")
            cards = ui.element("div").classes("column gap-2")
            _adding(workbench, cards)
        with ui.element("div"):
            heading("The guarantee in plain words")
            summary = ui.element("div").props('aria-live="polite" data-test="promise"')
            population = ui.element("div").classes("w-full")
    _cards(workbench, cards)

    def tell() -> None:
        summary.clear()
        with summary:
            _promise(workbench)

    drawn: Any = None

    def ask() -> None:
        nonlocal drawn
        wanted = _wanted_population(workbench)
        if wanted != drawn:
            drawn = wanted
            population.clear()
            with population:
                _population(workbench, asked=wanted[0], present=wanted[1])

    tell()
    ask()
    workbench.listen(tell)
    workbench.listen(ask)
    settings(workbench)


def _cards(workbench: PublishWorkbench, cards: ui.element) -> None:
    cards.clear()
    with cards:
        if not workbench.form.models:
            paragraph("No model yet: nothing would be guaranteed. Add one below.")
        for place, model in enumerate(workbench.form.models):
            _card(workbench, cards, place, model)


def _card(
    workbench: PublishWorkbench, cards: ui.element, place: int, model: Mapping[str, Any]
) -> None:
    name = model["method"]

    def change(given: dict[str, Any]) -> None:
        changed = [dict(each) for each in workbench.form.models]
        changed[place] = {"method": name, **given}
        workbench.update(lambda form: form.with_options(models=tuple(changed)))

    def remove() -> None:
        rest = [each for at, each in enumerate(workbench.form.models) if at != place]
        workbench.update(lambda form: form.with_options(models=tuple(rest)))
        _cards(workbench, cards)

    with (
        ui.element("div").classes("celosia-card q-pa-md w-full").props(f'data-test="model-{name}"')
    ):
        with ui.row().classes("items-center no-wrap w-full"):
            heading(title(name), 3).classes("grow")
            button = ui.button(icon="close", on_click=remove).props("flat round dense")
            button.props["aria-label"] = _("Remove {model}", model=title(name))
        ui.label(purpose(name)).classes("celosia-quiet")
        parameter_controls(
            name,
            declared(name),
            {key: value for key, value in model.items() if key != "method"},
            workbench.form.named("sensitive"),
            change,
            prefix=f"{name}-",
        )


def _adding(workbench: PublishWorkbench, cards: ui.element) -> None:
    def add(name: str) -> None:
        made = (*workbench.form.models, at_first(name))
        workbench.update(lambda form: form.with_options(models=made))
        _cards(workbench, cards)

    with (
        ui.button(_("Add a model"), icon="add")
        .props('outline data-test="add-model"')
        .classes("q-mt-sm"),
        ui.menu().classes("celosia-menu"),
    ):
        for name in OFFERED:
            with (
                ui.menu_item(on_click=lambda name=name: add(name)).props(f'data-test="add-{name}"'),
                ui.element("div"),
            ):
                ui.label(title(name)).classes("text-bold")
                ui.label(purpose(name)).classes("celosia-quiet")


def _promise(workbench: PublishWorkbench) -> None:
    """All promises, what is left open, and what does not go together."""
    found = problem(workbench.form)
    if found is not None:
        shell.show_error(found)
        return
    form = workbench.form
    with ui.element("ul").classes("celosia-points"):
        for model in form.models:
            with ui.element("li"):
                ui.label(promise(model))
        with ui.element("li"):
            paragraph(
                "At most {share} of the records ({count} of {rows}) are suppressed to reach this.",
                share=percent(form.suppression),
                count=number(int(form.suppression * form.rows)),
                rows=number(form.rows),
            )
    ui.label(caveat({model["method"] for model in form.models})).classes("celosia-quiet")


def _wanted_population(workbench: PublishWorkbench) -> tuple[bool, str | None]:
    """Whether a model compares with the population, and what was brought as one."""
    try:
        asked = any(model.needs_population for model in models(workbench.form))
    except CelosiaError:
        asked = False
    return asked, workbench.form.population


def _population(workbench: PublishWorkbench, *, asked: bool, present: str | None) -> None:
    if not asked and present is None:
        return
    heading("The population", 3)
    if present is not None:
        paragraph("The table is compared with {file}.", file=present).classes("celosia-break")

        def without() -> None:
            workbench.work.path(POPULATION).unlink(missing_ok=True)
            workbench.update(lambda form: form.with_options(population=None))

        ui.button(_("Remove the population"), icon="delete", on_click=without).props("flat dense")
    elif asked:
        paragraph(
            "A model compares the table with the population that it is a sample of: bring a "
            "table with the same quasi-identifiers."
        )

        def arrived(work: Work, file: str, shown: str) -> None:
            start(
                _("Reading {file}", file=shown),
                task(
                    readers.read_population,
                    folder=str(work.folder),
                    file=file,
                    shown=shown,
                    reading={},
                ),
                on_done=lambda result: workbench.update(lambda form: form),
                address=f"/publish/{work.id}?step=models",
                attend=True,
            )

        upload(lambda: workbench.work, arrived, name="people")
