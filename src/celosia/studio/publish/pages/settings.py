"""How a release is looked for: suppression, what is kept, the method, and the order of rows."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.studio.language import _, percent
from celosia.studio.parameters import declares
from celosia.studio.publish.form import HISTORY, PublishForm, metric
from celosia.studio.publish.pages.steps import KIND, PublishWorkbench
from celosia.studio.shell import visitor
from celosia.studio.widgets.text import heading, quiet

METRICS = (
    "loss",
    "arithmetic-loss",
    "precision",
    "height",
    "discernibility",
    "average-class-size",
    "entropy",
    "ambiguity",
)


def settings(workbench: PublishWorkbench) -> None:
    """Everything beside the models; what is usual is chosen already."""
    heading("How it is done")
    with ui.element("div").classes("celosia-split"):
        with ui.element("div").classes("celosia-card q-pa-md"):
            _suppression(workbench)
            _method(workbench)
            _switches(workbench)
            _sorting(workbench)
            _history(workbench)
        with ui.element("div").classes("celosia-card q-pa-md"):
            _metric(workbench)


def _suppression(workbench: PublishWorkbench) -> None:
    labels = ui.label()

    def tell(share: float) -> None:
        labels.set_text(_("Records that may be suppressed, at most: {share}", share=percent(share)))

    def changed(event: Any) -> None:
        share = float(event.args) / 100
        tell(share)
        workbench.update(lambda form: form.with_options(suppression=share))

    tell(workbench.form.suppression)
    slider = ui.slider(min=0, max=100, step=0.5, value=workbench.form.suppression * 100)
    slider.props('label data-test="suppression"').on("change", changed)
    slider.props["aria-label"] = _("Records that may be suppressed, at most, in per cent")
    quiet(
        "A suppressed record keeps its sensitive values and loses all quasi-identifiers. A "
        "few suppressed records often save much precision for all the others."
    ).classes("q-mb-md")


def _method(workbench: PublishWorkbench) -> None:
    options = {
        "lattice": _("lattice: the best of all full-domain generalisations"),
        "mondrian": _("Mondrian: finer where the table is crowded, fast"),
        "mondrian-relaxed": _("relaxed Mondrian: finer still, equal values may be split"),
    }
    ui.select(
        options,
        value=workbench.form.method,
        label=_("Method"),
        on_change=lambda event: workbench.update(
            lambda form: form.with_options(method=event.value)
        ),
    ).classes("w-full").props('data-test="method"')
    seconds = ui.number(
        _("Time limit in seconds (may be empty)"),
        value=workbench.form.time_limit,
        min=1,
        on_change=lambda event: workbench.update(
            lambda form: form.with_options(time_limit=event.value or None)
        ),
    )
    seconds.classes("w-full").props("debounce=300")


def _switches(workbench: PublishWorkbench) -> None:
    names = {
        "local": _("recode suppressed records once more (local recoding)"),
        "drop_suppressed": _("leave suppressed records out of the file"),
        "keep_order": _("keep the order of the rows (it may re-identify records)"),
    }
    for name, label in names.items():
        ui.switch(
            label,
            value=getattr(workbench.form, name),
            on_change=lambda event, name=name: workbench.update(
                lambda form: form.with_options(**{name: event.value})
            ),
        )


def _sorting(workbench: PublishWorkbench) -> None:
    """By which released columns the shuffled rows are sorted; rows that show the same stay so."""
    names = [each.name for each in workbench.form.columns if each.role != "identifier"]
    ui.select(
        names,
        value=[name for name in workbench.form.sort if name in names],
        label=_("Sort the shuffled rows by (may be empty)"),
        multiple=True,
        on_change=lambda event: workbench.update(
            lambda form: form.with_options(sort=tuple(event.value))
        ),
    ).classes("w-full").props('use-chips data-test="sort"')


def _history(workbench: PublishWorkbench) -> None:
    """Whether the release is one of a series, and which earlier ones it goes on with."""
    own = workbench.work.id
    names = {
        each.id: PublishForm.load(each).file
        for each in visitor().works(KIND)
        if each.id != own and each.path(HISTORY).is_file()
    }
    choices = {
        "": _("no history: this table is published once"),
        own: _("a history of this table"),
        **{key: _("the history of {file}", file=file) for key, file in names.items()},
    }

    def chosen(event: Any) -> None:
        workbench.update(lambda form: form.with_options(history=event.value or None))
        reason.set_visibility(bool(event.value))

    current = workbench.form.history or ""
    ui.select(
        choices,
        value=current if current in choices else "",
        label=_("History of releases"),
        on_change=chosen,
    ).classes("w-full").props('data-test="history"')
    quiet(
        "With a history the release stays anonymous together with the earlier ones of the same "
        "people. You see the combined risk before it is recorded and its files are written."
    )
    reason = ui.input(
        _("Why classes that become too small together are accepted (else refused)"),
        value=workbench.form.accept_joint,
        on_change=lambda event: workbench.update(
            lambda form: form.with_options(accept_joint=event.value or "")
        ),
    )
    reason.classes("w-full").props('debounce=300 data-test="accept-joint"')
    reason.set_visibility(bool(current))


def _metric(workbench: PublishWorkbench) -> None:
    def draw() -> None:
        weights.clear()
        with weights:
            _weights(workbench)

    def changed(event: Any) -> None:
        def change(form: Any) -> Any:
            other = form.with_options(metric=event.value)
            return other if declares(metric(other), "weights") else other.with_options(weights={})

        workbench.update(change)
        draw()

    labels = {
        "loss": _("loss: how many values a label stands for"),
        "arithmetic-loss": _("arithmetic loss: the plain mean over the columns"),
        "precision": _("precision: how high the levels are"),
        "height": _("height: the sum of the levels"),
        "discernibility": _("discernibility: records that cannot be told apart"),
        "average-class-size": _("average class size"),
        "entropy": _("entropy: information that is gone"),
        "ambiguity": _("ambiguity: combinations that a record may stand for"),
    }
    select = ui.select(
        {name: labels[name] for name in METRICS},
        value=workbench.form.metric,
        label=_("Metric to minimise"),
        on_change=changed,
    ).classes("w-full")
    select.props('data-test="metric"')
    weights = ui.element("div")
    draw()


def _weights(workbench: PublishWorkbench) -> None:
    if not declares(metric(workbench.form), "weights"):
        quiet("This metric has no weights: it does not look at columns one by one.")
        return
    quiet("Weight of each column. Columns with a larger weight keep more detail.").classes(
        "q-mt-md"
    )
    for name in workbench.form.named("quasi-identifier"):

        def changed(event: Any, name: str = name) -> None:
            def change(form: Any) -> Any:
                rest = {key: each for key, each in form.weights.items() if key != name}
                more = {} if event.value in (None, 1) else {name: float(event.value)}
                return form.with_options(weights=rest | more)

            workbench.update(change)

        with ui.row().classes("items-center no-wrap w-full"):
            ui.label(name).classes("grow celosia-break")
            field = ui.number(
                value=workbench.form.weights.get(name, 1), min=0, step=0.5, on_change=changed
            ).props("dense debounce=300")
            field.style("max-width: 6rem")
            field.props["aria-label"] = _("Weight of {column}", column=name)
