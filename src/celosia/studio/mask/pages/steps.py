"""The steps of masking: roles of columns, the recipe, the result, the map of variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import run, ui

from celosia.core.errors import CelosiaError
from celosia.studio.language import _, n_
from celosia.studio.mask import jobs, model
from celosia.studio.mask.pages.start import KIND
from celosia.studio.runtime import studio
from celosia.studio.shell import page, show_error, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import follow, start
from celosia.studio.widgets.method_form import method_cards, parameter_controls, step_links
from celosia.studio.widgets.text import heading, lead, main_heading, paragraph, quiet
from celosia.studio.workbench import Workbench
from celosia.studio.worker import task

STEPS = ("columns", "recipe", "result", "map")


class MaskWorkbench(Workbench):
    """One piece of work: its table, roles, recipe and results."""

    def __init__(self, work: Work) -> None:
        super().__init__(work, "mask")

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What is known of the columns, and their roles."""
        return list(self.state["columns"])

    @property
    def names(self) -> list[str]:
        """The columns that may be masked: all but identifiers, which are never released."""
        return [each["name"] for each in self.columns if each["role"] != "identifier"]


def open_workbench(work_id: str) -> MaskWorkbench:
    """The work of an address.

    Raises:
        InputError: CEL-W011, there is none; CEL-W076, its table was not read to the end.
    """
    return MaskWorkbench(visitor().work(work_id, KIND))


def mask_head(workbench: MaskWorkbench, current: str) -> None:
    """The name of the table and the way to every step."""
    with ui.row().classes("items-baseline"):
        main_heading("Mask and synthesise")
        ui.label(str(workbench.state["name"])).classes("celosia-quiet celosia-break")
        quiet(n_("{count} record", "{count} records", workbench.state["rows"]))
    step_links(
        f"/mask/{workbench.work.id}",
        [
            ("columns", _("Columns"), "view_column"),
            ("recipe", _("Recipe"), "format_list_numbered"),
            ("result", _("Result"), "compare"),
            ("map", _("Map of variants"), "scatter_plot"),
            (f"/synthesise/{workbench.work.id}", _("Synthesise"), "auto_awesome"),
        ],
        current,
    )


@page("/mask/{work_id}", "Mask and synthesise", door="/mask")
async def mask_steps(work_id: str, step: str = "recipe") -> None:
    """Show one step of a piece of work."""
    from celosia.studio.mask.pages import map as mask_map  # they use this module
    from celosia.studio.mask.pages import result  # they use this module

    workbench = open_workbench(work_id)
    known = step if step in STEPS else "recipe"
    mask_head(workbench, known)
    if known == "columns":
        _columns(workbench)
    elif known == "recipe":
        await run.io_bound(model.cards)  # loads compiled kernels, once
        _recipe(workbench)
    elif known == "result":
        await result.show(workbench)
    else:
        mask_map.show(workbench)


def role_names() -> dict[str, str]:
    """What each role is called."""
    return {
        "identifier": _("identifier: never released"),
        "quasi-identifier": _("quasi-identifier: others may know it"),
        "sensitive": _("sensitive: must not be disclosed about a person"),
        "insensitive": _("insensitive"),
    }


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
                        role_names(),
                        value=each["role"],
                        label=_("Role"),
                        on_change=lambda event, name=each["name"]: put(name, event.value),
                    ).classes("w-full")
                    select.props["aria-label"] = _("Role of {column}", column=each["name"])
    _weights(workbench)
    ui.link(_("On to the recipe"), f"/mask/{workbench.work.id}?step=recipe").classes(
        "q-mt-md block"
    )


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

    def begin() -> None:
        start_masking(workbench, workbench.state["steps"], running)

    steps()
    with ui.row().classes("items-center q-mt-md"):
        ui.button(_("Run the recipe"), icon="play_arrow", on_click=begin).props('data-test="run"')
        _seed(workbench)
    running = ui.element("div").classes("w-full")
    _running(workbench, running)

    def add(kind: str) -> None:
        workbench.save(steps=[*workbench.state["steps"], model.new_step(kind, workbench.columns)])
        steps.refresh()
        ui.notify(_("Added as step {number}", number=len(workbench.state["steps"])))

    heading("Add a step")
    method_cards(model.FAMILIES, model.cards(), add, label=_("Add"))


def _seed(workbench: MaskWorkbench) -> None:
    box = ui.number(
        _("Seed (for a simulation)"),
        value=workbench.state.get("seed"),
        min=0,
        on_change=lambda event: workbench.save(
            seed=None if event.value is None else max(0, int(event.value))
        ),
    ).style("min-width: min(17rem, 100%)")
    box.props("clearable debounce=400")
    box.tooltip(_("With a seed every draw can be repeated; leave it empty for a release."))


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


def _running(workbench: MaskWorkbench, place: ui.element) -> None:
    """Show a job of this work that is still at it, after a reload."""
    address = f"/mask/{workbench.work.id}?step=result"
    for job in studio().jobs.of(visitor().token):
        if job.address == address and not job.over:
            with place:
                follow(job, on_done=lambda _result: ui.navigate.to(address))
            return


def start_masking(workbench: MaskWorkbench, steps: list[dict[str, Any]], place: ui.element) -> None:
    """Run a recipe, and go to its result; what is wrong with it is said at once."""
    place.clear()
    address = f"/mask/{workbench.work.id}?step=result"
    with place:
        try:
            model.check(workbench.columns, steps)
        except CelosiaError as error:
            show_error(error)
            return
        start(
            _("Masking {name}", name=str(workbench.state["name"])),
            task(
                jobs.run,
                folder=str(workbench.work.folder),
                columns=workbench.columns,
                steps=steps,
                seed=workbench.state.get("seed"),
                weights=workbench.state.get("weights"),
            ),
            on_done=lambda _result: ui.navigate.to(address),
            address=address,
        )
