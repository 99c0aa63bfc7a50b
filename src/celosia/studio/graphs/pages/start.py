"""Graphs: choose a sample or bring a graph, choose a method, publish it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import run, ui

from celosia.core.errors import CelosiaError
from celosia.studio.graphs import jobs, model
from celosia.studio.graphs.pages.drawing import draw_one
from celosia.studio.language import _, current, n_
from celosia.studio.runtime import studio
from celosia.studio.shell import page, show_error, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import follow, start
from celosia.studio.widgets.method_form import (
    method_cards,
    parameter_controls,
    sample_cards,
    step_links,
    summary_of,
)
from celosia.studio.widgets.text import heading, lead, main_heading, notice, quiet
from celosia.studio.widgets.upload import upload
from celosia.studio.workbench import Workbench
from celosia.studio.worker import task

KIND = "graphs"
"""What works of this door are called."""
STEPS = ("method", "result", "attacks")


class GraphWorkbench(Workbench):
    """One piece of work: a graph, the chosen method, and its results."""

    def __init__(self, work: Work) -> None:
        super().__init__(work, "graphs")


@page("/graphs", "Graphs", door="/graphs")
def graphs_start() -> None:
    """Show the samples, the place for a file, and earlier work."""
    main_heading("Publish a network")
    lead(
        "A network without names can still be re-identified by the number of contacts of "
        "a person and by the edges among them. See how each method changes the graph, "
        "which vertices are still found, and what utility is left."
    )
    heading("Try with a sample")
    progress = ui.element("div").classes("w-full")

    def choose(sample: model.Sample) -> None:
        progress.clear()
        with progress:
            _begin(visitor().new_work(KIND), _(sample.title), sample=sample.name)

    sample_cards(model.SAMPLES, choose, lambda each: "")
    heading("Bring a network")
    quiet(
        "An edge list (two names on each line, as text or CSV), GraphML, GML, Pajek or "
        "node-link JSON. Directions, loops and repeated edges are taken away, and counted."
    )

    def arrived(work: Work, file: str, shown: str) -> None:
        _begin(work, shown, file=file, shown=shown)

    upload(lambda: visitor().new_work(KIND), arrived, suffixes=model.SUFFIXES)
    _earlier()


def _begin(work: Work, title: str, **arguments: Any) -> None:
    address = f"/graphs/{work.id}?step=method"
    start(
        _("Reading {name}", name=title),
        task(jobs.prepare, folder=str(work.folder), **arguments),
        on_done=lambda _result: ui.navigate.to(address),
        address=address,
        attend=True,
    )


def _earlier() -> None:
    found = [
        (work, state)
        for work in visitor().works(KIND)
        if (state := work.load("graphs")) is not None
    ]
    if not found:
        return
    heading("Go on with")
    for work, state in found[:8]:
        with ui.row().classes("items-center"):
            ui.link(str(state["name"]), f"/graphs/{work.id}?step=method").classes("celosia-break")
            quiet(_size(state))


def _size(state: Mapping[str, Any]) -> str:
    edges = n_("{count} edge", "{count} edges", state["edges"])
    return n_("{count} vertex", "{count} vertices", state["vertices"]) + f", {edges}"


@page("/graphs/{work_id}", "Graphs", door="/graphs")
async def graphs_steps(work_id: str, step: str = "method") -> None:
    """Show one step of a piece of work."""
    from celosia.studio.graphs.pages import attacks, result  # they use this module

    workbench = GraphWorkbench(visitor().work(work_id, KIND))
    known = step if step in STEPS else "method"
    with ui.row().classes("items-baseline"):
        main_heading("Graphs")
        ui.label(str(workbench.state["name"])).classes("celosia-quiet celosia-break")
        quiet(_size(workbench.state))
    step_links(
        f"/graphs/{workbench.work.id}",
        [
            ("method", _("Method"), "tune"),
            ("result", _("Before and after"), "compare"),
            ("attacks", _("Attacks"), "gpp_bad"),
        ],
        known,
    )
    await run.io_bound(model.cards)  # loads compiled kernels, once
    if known == "method":
        _method(workbench)
    elif known == "result":
        result.show(workbench)
    else:
        attacks.show(workbench)


def _method(workbench: GraphWorkbench) -> None:
    _unseen(workbench)
    reading = workbench.state["reading"]
    if reading:
        # The work of an earlier version has one text.
        text = reading if isinstance(reading, str) else reading[current()]
        with ui.expansion(_("How the file was read")).classes("w-full"):
            ui.label(text).classes("celosia-break")
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"):
            draw_one(workbench.state["drawing"])
        with ui.element("div"):

            @ui.refreshable
            def chosen() -> None:
                _chosen(workbench)

            chosen()

            def begin() -> None:
                _run(workbench, place)

            ui.button(_("Publish the graph"), icon="play_arrow", on_click=begin).props(
                'data-test="run"'
            ).classes("q-mt-md")
            place = ui.element("div").classes("w-full")
            _running(workbench, place)

    def choose(kind: str) -> None:
        workbench.save(choice=model.first_choice(kind))
        chosen.refresh()
        cards.refresh()

    @ui.refreshable
    def cards() -> None:
        method_cards(
            model.FAMILIES,
            model.cards(),
            choose,
            label=_("Choose"),
            chosen=workbench.state["choice"]["method"],
        )

    heading("Methods")
    cards()


def _unseen(workbench: GraphWorkbench) -> None:
    """Name what no drawing, measure or method looks at."""
    names = workbench.state.get("edge_attributes", [])
    if names:
        state = ", ".join(names)
        notice(
            "The edges have attributes: {names}. Drawings, measures and attacks do not look at "
            "them, and no method protects them.",
            names=state,
        )


def _chosen(workbench: GraphWorkbench) -> None:
    choice = workbench.state["choice"]
    card = model.cards()[choice["method"]]
    with ui.card().classes("w-full").props('data-test="chosen"'):
        heading(card.title)
        quiet(summary_of(card))
        parameter_controls(
            card.kind,
            card.controls,
            choice["parameters"],
            [],
            lambda parameters: workbench.save(
                choice={"method": choice["method"], "parameters": parameters}
            ),
            prefix="graph-",
        )
        box = ui.number(
            _("Seed (for a simulation)"),
            value=workbench.state.get("seed"),
            min=0,
            on_change=lambda event: workbench.save(
                seed=None if event.value is None else max(0, int(event.value))
            ),
        ).props("clearable debounce=400")
        box.classes("w-full")
        box.tooltip(_("With a seed every draw can be repeated; leave it empty for a release."))
        if names := workbench.state.get("edge_attributes", []):
            ui.switch(
                _("Leave out the edge attributes: {names}", names=", ".join(names)),
                value=bool(workbench.state.get("drop_edge_attributes")),
                on_change=lambda event: workbench.save(drop_edge_attributes=bool(event.value)),
            ).props('data-test="drop-edge-attributes"').classes("celosia-break")
        quiet(
            "Every release gets random numbers in place of names; attributes of the vertices "
            "stay here."
        )


def _running(workbench: GraphWorkbench, place: ui.element) -> None:
    """Show a job of this work that is still at it, after a reload."""
    address = f"/graphs/{workbench.work.id}?step=result"
    for job in studio().jobs.of(visitor().token):
        if job.address == address and not job.over:
            with place:
                follow(job, on_done=lambda _result: ui.navigate.to(address))
            return


def _run(workbench: GraphWorkbench, place: ui.element) -> None:
    choice = workbench.state["choice"]
    address = f"/graphs/{workbench.work.id}?step=result"
    place.clear()
    with place:
        try:
            model.check(choice)
        except CelosiaError as error:
            show_error(error)
            return
        start(
            _("Publishing {name}", name=str(workbench.state["name"])),
            task(
                jobs.run,
                folder=str(workbench.work.folder),
                choice=choice,
                seed=workbench.state.get("seed"),
                drop_edge_attributes=bool(workbench.state.get("drop_edge_attributes")),
            ),
            on_done=lambda _result: ui.navigate.to(address),
            address=address,
        )
