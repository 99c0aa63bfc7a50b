"""Synthesise: a method, what private ones must be told, the run, and both tables side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio.language import _, n_
from celosia.studio.mask import figures as mask_figures
from celosia.studio.mask import model as masking
from celosia.studio.mask.pages import charts
from celosia.studio.mask.pages.result import both_sides, original_file, side_by_side
from celosia.studio.mask.pages.start import MaskWorkbench
from celosia.studio.shell import in_thread, notify_error, page
from celosia.studio.synthesise import jobs, model
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.method_form import parameter_controls, promise
from celosia.studio.widgets.text import figures, heading, lead, notice, quiet
from celosia.studio.workbench import MethodChoice, certificate_file, report_file
from celosia.studio.worker import Task, task

RESULT = "/synthesise/{work}?step=result"
FAMILIES = {"Measured, without a guarantee": model.PLAIN, "With a privacy loss": model.PRIVATE}


@page("/synthesise/{work_id}", "Mask and synthesise", door="/mask")
async def synthesise(work_id: str, step: str = "method") -> None:
    """Choose a method and run it, or look at what it made."""
    workbench = MaskWorkbench.open(work_id)
    workbench.head("/synthesise/{work}")
    await in_thread(masking.cards)  # loads compiled kernels, once
    if step == "result" and workbench.work.load("synthetic") is not None:
        await _result(workbench)
    else:
        _choose(workbench)


def _choice(workbench: MaskWorkbench) -> dict[str, Any]:
    found: dict[str, Any] | None = workbench.state.get("synthesis")
    return found or model.first_choice("copula", workbench.columns)


def _choose(workbench: MaskWorkbench) -> None:
    lead(
        "Synthetic rows: none of them is a real person's record. They are drawn from a "
        "model of the table. Without a privacy loss there is no guarantee: the studio "
        "measures how many real records are repeated."
    )
    if workbench.work.load("synthetic") is not None:
        ui.link(_("See the last synthetic table"), workbench.address(RESULT))

    def form() -> None:
        choice = _choice(workbench)
        _method(workbench, choice)
        if choice["method"] in model.PRIVATE:
            _declared(workbench, choice, methods.form.refresh)

    def holdout() -> None:
        ui.checkbox(
            _("Hold back a fifth of the records for a membership inference attack"),
            value=bool(workbench.state.get("holdout")),
            on_change=lambda event: workbench.save(holdout=bool(event.value)),
        )

    methods = MethodChoice(
        FAMILIES,
        masking.cards(),
        chosen=lambda: str(_choice(workbench)["method"]),
        choose=lambda kind: workbench.save(synthesis=model.first_choice(kind, workbench.columns)),
        form=form,
    )
    methods.form()
    workbench.run_button(
        "Make the synthetic table",
        "Synthesising {name}",
        lambda: _task(workbench),
        result=RESULT,
        beside=holdout,
    )
    methods.cards()


def _method(workbench: MaskWorkbench, choice: Mapping[str, Any]) -> None:
    card = masking.cards()[choice["method"]]

    def put(**values: Any) -> None:
        workbench.save(synthesis={**_choice(workbench), **values})

    with ui.card().classes("w-full").props('data-test="chosen"'):
        heading(card.title)
        quiet(card.summary)
        select = ui.select(
            {name: name for name in workbench.names},
            value=[name for name in choice["columns"] if name in workbench.names],
            label=_("Columns that are made"),
            multiple=True,
            on_change=lambda event: put(columns=list(event.value or [])),
        )
        select.props("use-chips").classes("w-full")
        parameter_controls(
            card.kind,
            card.controls,
            choice["parameters"],
            workbench.names,
            lambda parameters: put(parameters=parameters),
            prefix="synthesis-",
        )


def _declared(workbench: MaskWorkbench, choice: Mapping[str, Any], draw: Any) -> None:
    """What is public of each column: the only thing that a private method may know beforehand."""
    state: dict[str, Any] = workbench.work.load("declared") or {}
    with ui.card().classes("w-full q-mt-md"):
        heading("Public facts about the columns")
        quiet(
            "A private method must not learn the possible values from the data: enter "
            "public bounds, such as ages from 0 to 100."
        )
        place = ui.element("div").classes("w-full")
        if workbench.state["sample"] is not None:
            quiet("Of a sample everything is public, so its values may be used.")
            label = _("Use the values of the sample")
        else:
            notice(
                "Values taken from the data break the guarantee, because they may "
                "disclose the value of one person. Use them to try the method, not to "
                "publish."
            )
            label = _("Use the values from the data")

        def fill() -> None:
            place.clear()
            with place:
                start(
                    _("Looking at the columns"),
                    task(
                        jobs.declare,
                        folder=workbench.folder,
                        columns=[
                            each for each in workbench.columns if each["name"] in workbench.names
                        ],
                    ),
                    on_done=lambda _result: draw(),
                )

        ui.button(label, on_click=fill).props('outline data-test="declare"')

        def put(name: str, **values: Any) -> None:
            found = workbench.work.load("declared") or {}
            workbench.work.save("declared", found | {name: values})

        with ui.element("div").classes("celosia-parameters q-mt-sm"):
            for each in workbench.columns:
                if each["name"] in model.declared_columns(choice):
                    _declaration(each, state.get(each["name"], {}), put)


def _declaration(column: Mapping[str, Any], state: Mapping[str, Any], put: Any) -> None:
    name = column["name"]
    with ui.element("div").classes("celosia-parameter"):
        ui.label(name).classes("text-bold celosia-break")
        if not column["numeric"]:
            box = ui.input(
                _("All values, with commas"),
                value=", ".join(map(str, state.get("values", []))),
                on_change=lambda event: put(
                    name, values=[part.strip() for part in event.value.split(",") if part.strip()]
                ),
            ).props("debounce=600")
            box.classes("w-full").props["aria-label"] = _("All values of {column}", column=name)
            return
        bounds = list(state.get("bounds") or [None, None])

        def set_bound(place: int, value: Any) -> None:
            bounds[place] = value
            if None not in bounds:
                put(name, bounds=list(bounds))

        with ui.row().classes("no-wrap"):
            for place, label in enumerate((_("Least"), _("Greatest"))):
                field = ui.number(
                    label,
                    value=bounds[place],
                    on_change=lambda event, place=place: set_bound(place, event.value),
                ).props("debounce=400")
                field.props["aria-label"] = f"{label}: {name}"


def _task(workbench: MaskWorkbench) -> Task[Any]:
    choice = _choice(workbench)
    declared = workbench.work.load("declared") or {}
    model.method_parameters(choice, declared)
    return task(
        jobs.run,
        folder=workbench.folder,
        columns=workbench.columns,
        choice=choice,
        declared=declared,
        holdout=bool(workbench.state.get("holdout")),
        seed=workbench.seed,
    )


async def _result(workbench: MaskWorkbench) -> None:
    result: dict[str, Any] = workbench.work.load("synthetic")
    choice = result["choice"]
    card = masking.cards()[choice["method"]]
    lead(
        n_(
            "{count} made record by {method}.",
            "{count} made records by {method}.",
            result["rows"],
            method=card.title,
        )
    )
    ui.link(_("Another method, or other settings"), workbench.address("/synthesise/{work}"))
    if result["private"]:
        notice(
            "The table itself is covered by the privacy loss. The figures and drawings here "
            "compare it with the real rows, and are not: keep them to yourself."
        )
        if workbench.state["sample"] is None:
            quiet(
                "Whether a column holds numbers was found out from the file; on the command "
                "line it is read as declared, which tells nothing."
            )
    heading("Privacy")
    figures(mask_figures.privacy_figures(result))
    heading("Fidelity")
    lost = mask_figures.loss_figures(result)
    if lost:
        figures(lost)
    else:
        quiet("Counts were made, not records: there is nothing to compare one by one.")
    promise(result["guarantee"], simulation=result["simulation"])
    if result["nearest"] is not None:
        heading("Distance to the nearest real record")
        quiet(
            "In a good synthetic table, rows are about as far from real records as real "
            "records from each other. A peak at 0 that the dashed line lacks means "
            "copies. A different category counts as one standard deviation."
        )
        charts.nearest(result["nearest"])
    heading("Side by side")
    quiet("Rows on the right do not correspond to rows on the left.")
    sides = await in_thread(both_sides, workbench.work.folder, ("real", "made"))
    if sides is not None:  # None where the studio is closing
        side_by_side(*sides, (_("Original"), _("Synthetic")))
    if result["distributions"]:
        heading("Distributions")
        quiet("Broad bars are the original, narrow ones the synthetic table.")
        charts.distributions(result["distributions"], (_("original"), _("synthetic")))
    if result["correlations"] is not None:
        heading("Drift of correlations")
        charts.correlations(result["correlations"])
    _take(workbench, result)


def _take(workbench: MaskWorkbench, result: Mapping[str, Any]) -> None:
    held_back = [
        (
            "members.parquet",
            "group",
            _("Members"),
            _("original rows that the table was made from; keep them to yourself"),
        ),
        (
            "outsiders.parquet",
            "group_off",
            _("Held back"),
            _("original rows that were held back; keep them to yourself"),
        ),
    ]
    workbench.take_away(
        [
            ("synthetic.csv", "table_view", _("Synthetic data"), _("CSV, to be published")),
            certificate_file("synthetic-certificate.json", "synthetic.csv"),
            report_file("synthetic-report.html"),
            original_file(),
            *(held_back if result["holdout"] else ()),
        ]
    )
    try:
        texts = model.code(
            workbench.name,
            workbench.state["sample"],
            workbench.columns,
            result["choice"],
            workbench.work.load("declared") or {},
            holdout=bool(result["holdout"]),
            seed=result["seed"],
        )
    except CelosiaError as error:  # what was declared has been taken back since
        notify_error(error)
        return
    workbench.same_elsewhere(texts)
