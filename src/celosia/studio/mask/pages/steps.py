"""The steps of masking: roles of columns, the recipe, the result, the map of variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.studio.language import Words, _, n_
from celosia.studio.mask import jobs, model
from celosia.studio.mask.pages.start import MaskWorkbench
from celosia.studio.shell import in_thread, page
from celosia.studio.widgets.method_form import method_cards, parameter_controls
from celosia.studio.widgets.text import heading, lead, paragraph, quiet
from celosia.studio.worker import Task, task

MASKING = "Masking {name}"
"""What the job is called."""


@page("/mask/{work_id}", "Mask and synthesise", door="/mask")
async def mask_steps(work_id: str, step: str = "recipe") -> None:
    """Show one step of a piece of work."""
    from celosia.studio.mask.pages import map as mask_map  # they use this module
    from celosia.studio.mask.pages import result, stream  # they use this module

    workbench, known = MaskWorkbench.open_at(work_id, step)
    if known == "columns":
        _columns(workbench)
    elif known == "recipe":
        await in_thread(model.cards)  # loads compiled kernels, once
        _recipe(workbench)
    elif known == "result":
        await result.show(workbench)
    elif known == "stream":
        await stream.show(workbench)
    else:
        mask_map.show(workbench)


ROLE_NAMES = Words(
    {
        "identifier": "identifier: never released",
        "quasi-identifier": "quasi-identifier: others may know it",
        "sensitive": "sensitive: must not be disclosed about a person",
        "insensitive": "insensitive",
    }
)
"""What each role is called."""


def _columns(workbench: MaskWorkbench) -> None:
    lead(
        "The role of each column, suggested by its name and its values; check each of "
        "them. Linkage attacks use quasi-identifiers and masked columns."
    )

    def put(name: str, role: str) -> None:
        workbench.save(
            columns=[
                each | ({"role": role} if each["name"] == name else {})
                for each in workbench.columns
            ]
        )

    with ui.element("div").classes("celosia-roles"):
        for each in workbench.columns:
            with ui.element("div").classes("celosia-card q-pa-sm celosia-sides"):
                with ui.element("div"):
                    ui.label(each["name"]).classes("text-bold celosia-break")
                    quiet(_facts(each))
                with ui.element("div"):
                    select = ui.select(
                        dict(ROLE_NAMES),
                        value=each["role"],
                        label=_("Role"),
                        on_change=lambda event, name=each["name"]: put(name, event.value),
                    ).classes("w-full")
                    select.props["aria-label"] = _("Role of {column}", column=each["name"])
    _weights(workbench)
    ui.link(_("On to the recipe"), workbench.address("recipe")).classes("q-mt-md block")


def _weights(workbench: MaskWorkbench) -> None:
    numbers = {each["name"]: each["name"] for each in workbench.columns if each["numeric"]}
    heading("Survey weights")
    quiet(
        "If the table is a sample, a column may say how many people each record stands for. "
        "Then the individual risk of the records is estimated too."
    )
    ui.select(
        {"": _("no column")} | numbers,
        value=workbench.state.get("weights") or "",
        label=_("Column with the weights"),
        on_change=lambda event: workbench.save(weights=event.value or None),
    ).style("max-width: 24rem")


def _facts(column: Mapping[str, Any]) -> str:
    kind = _("numbers") if column["numeric"] else _("categories")
    state = n_("{count} distinct value", "{count} distinct values", column["distinct"])
    empty = n_("{count} empty cell", "{count} empty cells", column["empty"])
    return f"{kind} · {state} · {empty}"


def _recipe(workbench: MaskWorkbench) -> None:
    lead(
        "A recipe masks columns step by step. Change what stands here, add steps, and run it: "
        "nothing leaves this machine before you download it."
    )

    @ui.refreshable
    def steps() -> None:
        found = workbench.state["steps"]
        if not found:
            quiet("No step yet: choose a method below.")
        for place, step in enumerate(found):
            _step(workbench, place, step, len(found), steps.refresh)

    steps()
    workbench.run_button(
        "Run the recipe",
        MASKING,
        lambda: masking_task(workbench, workbench.state["steps"]),
        beside=lambda: workbench.seed_box().style("min-width: min(17rem, 100%)"),
    )

    def add(kind: str) -> None:
        workbench.save(steps=[*workbench.state["steps"], model.new_step(kind, workbench.columns)])
        steps.refresh()
        ui.notify(_("Added as step {number}", number=len(workbench.state["steps"])))

    heading("Add a step")
    method_cards(model.FAMILIES, model.cards(), add, label=_("Add"))


def _step(
    workbench: MaskWorkbench, place: int, step: Mapping[str, Any], count: int, draw: Any
) -> None:
    card = model.cards()[step["method"]]

    def put(**values: Any) -> None:
        found = list(workbench.state["steps"])
        found[place] = {**found[place], **values}
        workbench.save(steps=found)

    def move(by: int) -> None:
        workbench.save(steps=model.moved(workbench.state["steps"], place, by))
        draw()

    def remove() -> None:
        found = list(workbench.state["steps"])
        del found[place]
        workbench.save(steps=found)
        draw()

    with ui.card().classes("w-full q-mb-md").props(f'data-test="step-{place + 1}"'):
        with ui.row().classes("items-center w-full"):
            paragraph("Step {number}: {method}", number=place + 1, method=card.title).classes(
                "celosia-h3"
            ).props("role=heading aria-level=2").style("margin: 0")
            ui.space()
            for icon, label, action, allowed in (
                ("arrow_upward", _("Earlier"), lambda: move(-1), place > 0),
                ("arrow_downward", _("Later"), lambda: move(1), place < count - 1),
                ("delete", _("Remove"), remove, True),
            ):
                button = ui.button(icon=icon, on_click=action).props("flat round dense")
                button.props["aria-label"] = f"{label}: {card.title}"
                button.set_enabled(allowed)
        quiet(card.summary)
        known = [name for name in step["columns"] if name in workbench.names]
        select = ui.select(
            {name: name for name in workbench.names},
            value=known,
            label=_("Columns"),
            multiple=True,
            on_change=lambda event: put(columns=list(event.value or [])),
        )
        select.props(f'use-chips data-test="columns-{place + 1}"').classes("w-full")
        parameter_controls(
            card.kind,
            card.controls,
            step["parameters"],
            workbench.names,
            lambda parameters: put(parameters=parameters),
            prefix=f"step-{place + 1}-",
        )


def masking_task(workbench: MaskWorkbench, steps: list[dict[str, Any]]) -> Task[Any]:
    """Masking by these steps, if they can be run.

    Raises:
        InputError: what is wrong with them.
    """
    model.check(workbench.columns, steps)
    return task(
        jobs.run,
        folder=workbench.folder,
        columns=workbench.columns,
        steps=steps,
        seed=workbench.seed,
        weights=workbench.state.get("weights"),
    )
