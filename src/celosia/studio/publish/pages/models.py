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
    KINDS,
    Kind,
    Parameter,
    caveat,
    kind_of_model,
    parameter_name,
    promise,
    purpose,
    title,
    word,
)
from celosia.studio.publish.pages.settings import settings
from celosia.studio.publish.pages.steps import PublishWorkbench, problem
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.upload import upload

ALL = ""
"""Stands for every sensitive column."""


def show(workbench: PublishWorkbench) -> None:
    """The models as cards, what they promise together, and the settings."""
    ui.label(
        _(
            "Choose the privacy models: conditions on every equivalence class (records with "
            "equal quasi-identifiers). Each model covers risks that others leave open."
        )
    ).classes("celosia-lead")
    with ui.element("div").classes("celosia-split"):
        with ui.element("div"):
            _heading(_("Models"))
            cards = ui.element("div").classes("column gap-2")
            _adding(workbench, cards)
        with ui.element("div"):
            _heading(_("The guarantee in plain words"))
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


def _heading(text: str) -> None:
    ui.label(text).classes("celosia-h2").props("role=heading aria-level=2")


def _cards(workbench: PublishWorkbench, cards: ui.element) -> None:
    cards.clear()
    with cards:
        if not workbench.form.models:
            ui.label(_("No model yet: nothing would be guaranteed. Add one below."))
        for place, model in enumerate(workbench.form.models):
            _card(workbench, cards, place, model)


def _card(
    workbench: PublishWorkbench, cards: ui.element, place: int, model: Mapping[str, Any]
) -> None:
    kind = kind_of_model(model["model"])

    def change(key: str, value: Any) -> None:
        changed = [dict(each) for each in workbench.form.models]
        changed[place][key] = value
        workbench.update(lambda form: form.with_options(models=tuple(changed)))

    def remove() -> None:
        rest = [each for at, each in enumerate(workbench.form.models) if at != place]
        workbench.update(lambda form: form.with_options(models=tuple(rest)))
        _cards(workbench, cards)

    with (
        ui.element("div")
        .classes("celosia-card q-pa-md w-full")
        .props(f'data-test="model-{kind.name}"')
    ):
        with ui.row().classes("items-center no-wrap w-full"):
            ui.label(title(kind.name)).classes("celosia-h3 grow").props("role=heading aria-level=3")
            button = ui.button(icon="close", on_click=remove).props("flat round dense")
            button.props["aria-label"] = _("Remove {model}", model=title(kind.name))
        ui.label(purpose(kind.name)).classes("celosia-quiet")
        with ui.row().classes("w-full"):
            for parameter in kind.parameters:
                _number(kind, parameter, model, change)
        for key, words in kind.options.items():
            ui.select(
                {each: word(each) for each in words},
                value=model[key],
                label=parameter_name(key),
                on_change=lambda event, key=key: change(key, event.value),
            ).classes("w-full")
        for key in kind.flags:
            ui.switch(
                parameter_name(key),
                value=model[key],
                on_change=lambda event, key=key: change(key, event.value),
            )
        if kind.sensitive:
            _column(workbench, model, change)


def _number(kind: Kind, parameter: Parameter, model: Mapping[str, Any], change: Any) -> None:
    optional = parameter.key in kind.optional

    def changed(event: Any) -> None:
        value = event.value
        if value is None and not optional:
            return
        if value is not None and parameter.whole:
            value = int(value)
        change(parameter.key, value)

    label = parameter_name(parameter.key)
    ui.number(
        _("{label} (may be empty)", label=label) if optional else label,
        value=model[parameter.key],
        min=parameter.low,
        max=parameter.high,
        step=parameter.step,
        on_change=changed,
    ).props(f'debounce=300 data-test="{kind.name}-{parameter.key}"').style("min-width: 13rem")


def _column(workbench: PublishWorkbench, model: Mapping[str, Any], change: Any) -> None:
    sensitive = workbench.form.named("sensitive")
    chosen = model.get("column") or ALL
    options = {name: name for name in (*sensitive, chosen)} | {ALL: _("every sensitive column")}
    ui.select(
        options,
        value=chosen,
        label=_("Sensitive column"),
        on_change=lambda event: change("column", event.value or None),
    ).classes("w-full")


def _adding(workbench: PublishWorkbench, cards: ui.element) -> None:
    def add(kind: Kind) -> None:
        made = (*workbench.form.models, kind.at_first())
        workbench.update(lambda form: form.with_options(models=made))
        _cards(workbench, cards)

    with (
        ui.button(_("Add a model"), icon="add")
        .props('outline data-test="add-model"')
        .classes("q-mt-sm"),
        ui.menu().classes("celosia-menu"),
    ):
        for kind in KINDS:
            with (
                ui.menu_item(on_click=lambda kind=kind: add(kind)).props(
                    f'data-test="add-{kind.name}"'
                ),
                ui.element("div"),
            ):
                ui.label(title(kind.name)).classes("text-bold")
                ui.label(purpose(kind.name)).classes("celosia-quiet")


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
            ui.label(
                _(
                    "At most {share} of the records ({count} of {rows}) are suppressed to reach "
                    "this.",
                    share=percent(form.suppression),
                    count=number(int(form.suppression * form.rows)),
                    rows=number(form.rows),
                )
            )
    ui.label(caveat({model["model"] for model in form.models})).classes("celosia-quiet")


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
    ui.label(_("The population")).classes("celosia-h3").props("role=heading aria-level=3")
    if present is not None:
        ui.label(_("The table is compared with {file}.", file=present)).classes("celosia-break")

        def without() -> None:
            workbench.work.path(POPULATION).unlink(missing_ok=True)
            workbench.update(lambda form: form.with_options(population=None))

        ui.button(_("Remove the population"), icon="delete", on_click=without).props("flat dense")
    elif asked:
        ui.label(
            _(
                "A model compares the table with the population that it is a sample of: bring a "
                "table with the same quasi-identifiers."
            )
        )

        def arrived(work: Work, file: str, shown: str) -> None:
            start(
                _("Reading {file}", file=shown),
                readers.read_population,
                on_done=lambda result: workbench.update(lambda form: form),
                address=f"/publish/{work.id}?step=models",
                attend=True,
                folder=str(work.folder),
                file=file,
                shown=shown,
                reading={},
            )

        upload(lambda: workbench.work, arrived, name="people")
