"""The map of variants: many maskings of the same columns by risk and loss, each to be applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.studio.language import _, percent, short
from celosia.studio.mask import jobs
from celosia.studio.mask.pages import charts
from celosia.studio.mask.pages.start import MaskWorkbench
from celosia.studio.mask.pages.steps import MASKING, masking_task
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.text import heading, lead, paragraph, quiet
from celosia.studio.worker import task


def show(workbench: MaskWorkbench) -> None:
    """Choose columns and measures, draw the map, apply a point."""
    lead(
        "Usual methods with four strengths each, on the same columns of numbers: what each "
        "loses, and how many records can still be linked. Left and low is good."
    )
    numbers = [
        each["name"]
        for each in workbench.columns
        if each["numeric"] and each["role"] != "identifier"
    ]
    if not numbers:
        quiet("The table has no column of numbers, which these methods need.")
        return
    found = workbench.work.load("map")
    with ui.element("div").classes("celosia-parameters"):
        known = [each for each in (found or {}).get("columns", numbers) if each in numbers]
        columns = ui.select(
            {name: name for name in numbers}, value=known, label=_("Columns"), multiple=True
        ).props('use-chips data-test="map-columns"')
        risk = ui.select(
            dict(charts.RISK_NAMES), value=(found or {}).get("risk", "distance"), label=_("Risk")
        )
        loss = ui.select(
            dict(charts.LOSS_NAMES), value=(found or {}).get("loss", "il1s"), label=_("Loss")
        )

    def compute() -> None:
        if not columns.value:
            ui.notify(_("Choose at least one column."), type="warning")
            return
        place.clear()
        with place:
            start(
                _("Map of variants"),
                task(
                    jobs.map_variants,
                    folder=workbench.folder,
                    columns=list(columns.value),
                    risk=risk.value,
                    loss=loss.value,
                    seed=workbench.seed,
                ),
                on_done=draw,
                address=workbench.address("map"),
            )

    def draw(result: dict[str, Any]) -> None:
        drawn.clear()
        with drawn:
            _drawn(workbench, result)

    ui.button(_("Draw the map"), icon="scatter_plot", on_click=compute).props(
        'data-test="map"'
    ).classes("q-my-md")
    place = ui.element("div").classes("w-full")
    drawn = ui.element("div").classes("w-full")
    if found is not None:
        draw(found)


def _drawn(workbench: MaskWorkbench, found: Mapping[str, Any]) -> None:
    by_name = {str(point["name"]): point for point in found["points"] if point["method"]}

    def choose(name: str) -> None:
        if name in by_name:
            chosen.clear()
            with chosen:
                _offer(workbench, by_name[name], list(found["columns"]))

    charts.variants(found, choose)
    quiet("Click a point to see it and to apply it, or choose it here.")
    heading("Best trade-offs")
    with ui.row():
        best = [point for point in by_name.values() if point["is_best"]]
        for point in sorted(best, key=lambda each: float(each["loss"])):
            ui.button(
                str(point["name"]), on_click=lambda name=str(point["name"]): choose(name)
            ).props("outline dense no-caps").classes("q-px-sm")
    every = ui.select(
        {name: name for name in sorted(by_name)},
        label=_("All maskings of the map"),
        on_change=lambda event: choose(str(event.value)),
    )
    every.props("outlined dense").classes("q-my-md").style("width: min(24rem, 100%)")
    every.props["data-test"] = "every-masking"
    chosen = ui.element("div").classes("w-full").props('aria-live="polite"')


def _offer(workbench: MaskWorkbench, point: Mapping[str, Any], columns: list[str]) -> None:
    with ui.card().classes("w-full").props('data-test="variant"'):
        ui.label(str(point["name"])).classes("text-bold")
        paragraph(
            "It leaves a risk of {risk} and loses {loss}.",
            risk=percent(point["risk"], 2),
            loss=short(round(point["loss"], 4)),
        )

        def apply() -> None:
            step = {
                "method": point["method"],
                "columns": columns,
                "parameters": point["parameters"],
            }
            workbench.save(steps=[step])
            workbench.run(place, MASKING, lambda: masking_task(workbench, [step]))

        ui.button(_("Apply it to the table"), icon="check", on_click=apply).props(
            'data-test="apply"'
        )
        quiet("It takes the place of the recipe, and is run at once.")
        place = ui.element("div").classes("w-full")
