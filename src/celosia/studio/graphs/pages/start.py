"""Graphs: choose a sample or bring a graph, choose a method, publish it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.studio.graphs import jobs, model
from celosia.studio.graphs.pages.drawing import draw_one
from celosia.studio.language import _, current, n_
from celosia.studio.shell import in_thread, page
from celosia.studio.widgets.text import notice, quiet
from celosia.studio.workbench import Door, Workbench, WorkStep, start_page
from celosia.studio.worker import Task, task


def _size(state: Mapping[str, Any]) -> str:
    edges = n_("{count} edge", "{count} edges", state["edges"])
    return n_("{count} vertex", "{count} vertices", state["vertices"]) + f", {edges}"


class GraphWorkbench(Workbench):
    """One piece of work: a graph, the chosen method, and its results."""

    door = Door(
        name="graphs",
        title="Graphs",
        steps=(
            WorkStep("method", "Method", "tune"),
            WorkStep("result", "Before and after", "compare"),
            WorkStep("attacks", "Attacks", "gpp_bad"),
        ),
        first="method",
        prepare=jobs.prepare,
        samples=model.SAMPLES,
        size=_size,
        heading="Publish a network",
        about="A network without names can still be re-identified by the number of contacts of "
        "a person and by the edges among them. See how each method changes the graph, "
        "which vertices are still found, and what utility is left.",
        bring="Bring a network",
        kinds="An edge list (two names on each line, as text or CSV), GraphML, GML, Pajek, "
        "node-link JSON, METIS, MatrixMarket, GEXF or KONECT. Directions, loops and repeated edges "
        "are taken away, and counted.",
        suffixes=model.SUFFIXES,
    )

    @property
    def edge_attributes(self) -> list[str]:
        """What the edges have that no drawing, measure or method looks at."""
        return list(self.state.get("edge_attributes", ()))


start_page(GraphWorkbench.door)


@page("/graphs/{work_id}", "Graphs", door="/graphs")
async def graphs_steps(work_id: str, step: str = "method") -> None:
    """Show one step of a piece of work."""
    from celosia.studio.graphs.pages import attacks, result  # they use this module

    workbench, known = GraphWorkbench.open_at(work_id, step)
    await in_thread(model.cards)  # loads compiled kernels, once
    {"method": _method, "result": result.show, "attacks": attacks.show}[known](workbench)


def _method(workbench: GraphWorkbench) -> None:
    names = ", ".join(workbench.edge_attributes)
    if names:
        notice(
            "The edges have attributes: {names}. Keep a weight or a time below, for a method that "
            "protects it; what is not kept must be left out.",
            names=names,
        )
    reading = workbench.state["reading"]
    if reading:
        # The work of an earlier version has one text.
        text = reading if isinstance(reading, str) else reading[current()]
        with ui.expansion(_("How the file was read")).classes("w-full"):
            ui.label(text).classes("celosia-break")
    methods = workbench.methods(
        model.FAMILIES, model.cards(), prefix="graph-", beside=lambda: _beside(workbench)
    )
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"):
            draw_one(workbench.state["drawing"])
        with ui.element("div"):
            methods.form()
            workbench.run_button("Publish the graph", "Publishing {name}", lambda: _task(workbench))
    methods.cards()


def _beside(workbench: GraphWorkbench) -> None:
    if workbench.state.get("network") is not None:
        _network(workbench)
    _attributes(workbench)


def _network(workbench: GraphWorkbench) -> None:
    """What of a file is kept beyond a simple graph."""
    kept: dict[str, Any] = workbench.state["network"]
    names = {"": _("none"), **{name: name for name in workbench.edge_attributes}}

    def keep(key: str, value: Any) -> None:
        kept[key] = value
        workbench.save(network=kept)

    with ui.expansion(_("Directions, weights, times and sides"), value=bool(kept)).classes(
        "w-full"
    ):
        quiet("k-degree anonymity protects what is kept here; other methods refuse it.")
        for key, on, text in (
            ("directed", "keep", _("Keep the directions")),
            ("bipartite", True, _("Keep two sides: the two columns of the file")),
        ):
            ui.switch(
                text,
                value=bool(kept.get(key)),
                on_change=lambda event, key=key, on=on: keep(key, on if event.value else None),
            ).props(f'data-test="keep-{key}"')
        for key, text in (("weight", _("Weight")), ("time", _("Time"))):
            ui.select(
                names,
                label=text,
                value=kept.get(key) or "",
                on_change=lambda event, key=key: keep(key, event.value or None),
            ).props(f'data-test="keep-{key}"').classes("w-full")
        ui.number(
            _("Snapshots"),
            value=kept.get("snapshots"),
            min=1,
            precision=0,
            on_change=lambda event: keep("snapshots", int(event.value) if event.value else None),
        ).props('data-test="keep-snapshots"').classes("w-full")


def _attributes(workbench: GraphWorkbench) -> None:
    if names := workbench.edge_attributes:
        ui.switch(
            _("Leave out the edge attributes: {names}", names=", ".join(names)),
            value=bool(workbench.state.get("drop_edge_attributes")),
            on_change=lambda event: workbench.save(drop_edge_attributes=bool(event.value)),
        ).props('data-test="drop-edge-attributes"').classes("celosia-break")
    quiet(
        "Every release gets random numbers in place of names; attributes of the vertices stay here."
    )


def _task(workbench: GraphWorkbench) -> Task[Any]:
    model.check(workbench.choice)
    return task(
        jobs.run,
        folder=workbench.folder,
        choice=workbench.choice,
        seed=workbench.seed,
        drop_edge_attributes=bool(workbench.state.get("drop_edge_attributes")),
        network=workbench.state.get("network"),
    )
