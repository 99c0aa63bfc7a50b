"""Private releases of traces: maps, visits, flows and synthetic trips, paid from one budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from celosia.core.messages import render
from celosia.studio.language import _, short
from celosia.studio.traces import model, private_jobs
from celosia.studio.widgets.budget import budget_boxes, price_boxes, show_left
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, quiet
from celosia.studio.workbench import certificate_file, report_file
from celosia.studio.worker import Task, task

if TYPE_CHECKING:
    from celosia.studio.traces.pages import TraceWorkbench

STATISTICS = {
    "grid": "A map: persons in each cell",
    "visits": "Visits: persons in each area",
    "flows": "Flows: persons who moved between areas",
    "synthetic": "Synthetic trips",
}
SIDES = ("South", "West", "North", "East")


def private_step(workbench: TraceWorkbench) -> None:
    """The choices of a private release, and the last one that was made."""
    lead(
        "Maps, visits, flows and invented trips with differential privacy: one person with all "
        "points is hidden. Every release is charged to one budget of this data."
    )
    wanted, put = workbench.choices("private", model.FIRST_PRIVATE)
    done = workbench.work.load("private")
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"), ui.card().classes("w-full"):
            _controls(wanted, put, begun=done is not None)
            if workbench.state["measured"]:
                _region(wanted, put)
            workbench.seed_box().classes("w-full")
            workbench.run_button(
                "Release privately",
                "Releasing {name}",
                lambda: _task(workbench, wanted),
                result="private",
            )
        with ui.element("div"):
            if done is None:
                draw_empty("release")
                quiet("Nothing was released privately yet.")
            else:
                _shown(workbench, done)


def _controls(wanted: dict[str, Any], put: Any, *, begun: bool) -> None:
    ui.select(
        {name: _(title) for name, title in STATISTICS.items()},
        value=wanted["statistic"],
        label=_("What is released"),
        on_change=lambda event: put("statistic", event.value),
    ).props('data-test="private-statistic"').classes("w-full")
    labels = {
        "epsilon": _("Epsilon of this release"),
        "per_person": _("Cells, moves or trips of a person that count"),
        "size": _("Cells along a side of the region"),
    }
    price_boxes(labels, wanted, put)
    budget_boxes(wanted, put, begun=begun)


def _region(wanted: dict[str, Any], put: Any) -> None:
    quiet("The region must be declared: the edges of a measured one are places of single persons.")
    sides = list(wanted["region"] or [None] * 4)

    def side(number: int, value: Any) -> None:
        sides[number] = value
        put("region", None if None in sides else list(sides))

    with ui.row():
        for number, name in enumerate(SIDES):
            ui.number(
                _(name),
                value=sides[number],
                on_change=lambda event, number=number: side(number, event.value),
            ).props(f'data-test="private-{name.lower()}"').style("width: 6rem")


def _task(workbench: TraceWorkbench, wanted: Mapping[str, Any]) -> Task[Any]:
    return task(
        private_jobs.release, folder=workbench.folder, wanted=dict(wanted), seed=workbench.seed
    )


def _shown(workbench: TraceWorkbench, done: Mapping[str, Any]) -> None:
    heading(STATISTICS[done["wanted"]["statistic"]])
    promise(done["guarantee"], simulation=done["simulation"])
    show_left(done["left"])
    if done["map"] is not None:
        place = ui.html(done["map"], sanitize=False).classes("w-full celosia-map")
        place.props('role="img"')
        place.props["aria-label"] = _("A map of what was released, darker where more is counted.")
    if done["rows"]:
        show_table(
            [_("what"), _("value")],
            [[key, short(value)] for key, value in done["rows"]],
            caption=render(done["question"]),
        )
    workbench.take_away(
        [
            ("private.csv", "lock", _("Release"), _("CSV, to be published")),
            certificate_file("private-certificate.json", "private.csv"),
            report_file("private-report.html"),
            ("points.csv", "map", _("Points"), _("the original, for the command below")),
            ("trace.toml", "description", _("Declaration"), _("what its columns mean")),
        ]
    )
    workbench.same_elsewhere(
        model.private_code(workbench.state["sample"], done["wanted"], seed=done["seed"])
    )
