"""Traces: choose a sample or bring points, choose a method, publish; maps, attacks, utility."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.core.messages import render
from celosia.studio.language import _, n_, percent, short
from celosia.studio.shell import in_thread, page
from celosia.studio.traces import jobs, model
from celosia.studio.traces.private import private_step
from celosia.studio.widgets.chart import bars
from celosia.studio.widgets.meanings import formula_drawer
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, notice, quiet
from celosia.studio.workbench import (
    Door,
    Workbench,
    WorkStep,
    certificate_file,
    report_file,
    start_page,
)
from celosia.studio.worker import Task, task


def _size(state: Mapping[str, Any]) -> str:
    people = n_("{count} person", "{count} persons", state["people"])
    return n_("{count} point", "{count} points", state["points"]) + f", {people}"


class TraceWorkbench(Workbench):
    """One piece of work: points, the chosen method, and its results."""

    door = Door(
        name="traces",
        title="Traces",
        steps=(
            WorkStep("method", "Method", "tune"),
            WorkStep("result", "Before and after", "compare"),
            WorkStep("private", "Private release", "lock"),
        ),
        first="method",
        prepare=jobs.prepare,
        samples=model.SAMPLES,
        size=_size,
        heading="Publish locations and traces",
        about="A few known points single out nearly everybody in traces without names. See how "
        "few, make traces alike or add noise, and see what attackers still find.",
        bring="Bring points",
        kinds="A table with a column for the person, the time, the latitude and the longitude "
        "(CSV, Parquet), a GPX file, or GeoJSON.",
        suffixes=model.SUFFIXES,
        lenient="Keep the first of several points of a person at a second, and count the others",
    )


start_page(TraceWorkbench.door)


@page("/traces/{work_id}", "Traces", door="/traces")
async def traces_steps(work_id: str, step: str = "method") -> None:
    """Show one step of a piece of work."""
    workbench, known = TraceWorkbench.open_at(work_id, step)
    await in_thread(model.cards)  # loads the methods, once
    {"method": _method, "result": _result, "private": private_step}[known](workbench)


def _drawing(svg: str, description: str) -> None:
    """A map; the SVG was checked when it was drawn."""
    place = ui.html(svg, sanitize=False).classes("w-full celosia-map").style("max-width: 60rem")
    place.props('role="img"')
    place.props["aria-label"] = description


def _method(workbench: TraceWorkbench) -> None:
    if workbench.state["measured"]:
        notice(
            "The region was measured on the points, and times without an offset are taken for "
            "those of Greenwich. For a release, declare both: on the command line, in the "
            "declaration."
        )
    for warning in workbench.state["warnings"]:
        quiet(render(warning))
    methods = workbench.methods(
        model.FAMILIES,
        model.cards(),
        prefix="trace-",
        beside=lambda: quiet("Every release gets random numbers in place of names."),
    )
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"):
            heading("Known points")
            _unicity(workbench)
            _drawing(
                workbench.state["map"],
                _("A map of the points: cells with at least ten persons, darker where more are."),
            )
            quiet("Only cells with at least ten persons are drawn.")
        with ui.element("div"):
            methods.form()
            workbench.run_button(
                "Publish the traces", "Publishing {name}", lambda: _task(workbench)
            )
    methods.cards()


def _unicity(workbench: TraceWorkbench) -> None:
    """How few known points single a person out, as cell and window are chosen."""
    known = {"cell": 1000, "hours": 1}
    curves = workbench.state["unicity"]

    @ui.refreshable
    def table() -> None:
        shares = curves[f"{known['cell']}/{known['hours']}"]
        show_table(
            [_("known points"), _("persons singled out")],
            [[str(number), percent(share)] for number, share in enumerate(shares, 1)],
            caption=_("Random points of a person, of which the attacker knows cell and window."),
        )

    def put(name: str, value: Any) -> None:
        known[name] = int(value)
        table.refresh()

    with ui.row():
        for name, label, values, unit in (
            ("cell", _("Cell"), model.CELLS, "m"),
            ("hours", _("Window"), model.HOURS, "h"),
        ):
            ui.select(
                {each: f"{each} {unit}" for each in values},
                value=known[name],
                label=label,
                on_change=lambda event, name=name: put(name, event.value),
            ).props(f'data-test="known-{name}"').style("min-width: 8rem")
    table()


def _task(workbench: TraceWorkbench) -> Task[Any]:
    model.check(workbench.choice)
    return task(jobs.run, folder=workbench.folder, choice=workbench.choice, seed=workbench.seed)


def _result(workbench: TraceWorkbench) -> None:
    result = workbench.published(model.cards())
    if result is None:
        return
    notice("What is shown here compares with the original: keep it to yourself.")
    promise(result["guarantee"], simulation=result["simulation"])
    if result["maps"] is not None:
        heading("Before and after")
        quiet("The original is on the left, the release on the right.")
        _drawing(result["maps"], _("Two maps: the original on the left, the release on the right."))
    _facts(result)
    _attacks(result)
    _utility(result)
    workbench.take_away(
        [
            ("published.csv", "place", _("Traces"), _("CSV, to be published")),
            certificate_file("certificate.json", "published.csv"),
            report_file("report.html"),
            ("key.csv", "key", _("Key"), _("which person each trace is; keep this file secret")),
            ("points.csv", "map", _("Points"), _("the original, for the command below")),
            ("trace.toml", "description", _("Declaration"), _("what its columns mean")),
        ]
    )
    workbench.same_elsewhere(
        model.code(workbench.state["sample"], result["choice"], seed=result["seed"])
    )


def _facts(result: Mapping[str, Any]) -> None:
    from celosia.traces.report import fact_rows, left_out_rows

    rows = fact_rows(result["facts"]) + left_out_rows(result["left_out"])
    if rows:
        heading("What was done")
        show_table([_("what"), _("value")], [list(row) for row in rows])


def _attacks(result: Mapping[str, Any]) -> None:
    found = result["attacks"]
    if not found:
        return
    heading("Attacks")
    titles = [render(each["after"]["name"]) for each in found]
    bars(
        titles,
        [
            (_("original, names hidden"), [round(100 * e["before"]["share"], 2) for e in found]),
            (_("release"), [round(100 * e["after"]["share"], 2) for e in found]),
        ],
        description=_("Persons found by each attack, in the original and in the release."),
        x=_("attack"),
        y=_("persons found (%)"),
    )
    show_table(
        [_("attack"), _("found before"), _("found after"), _("by chance")],
        [
            [
                title,
                percent(each["before"]["share"]),
                percent(each["after"]["share"]),
                percent(each["after"]["chance"]),
            ]
            for title, each in zip(titles, found, strict=True)
        ],
        caption=_("Before means the original with names removed."),
    )


FORMULAS = {
    "density_divergence": r"H(\frac{p + q}{2}) - \frac{H(p) + H(q)}{2}",
    "top_cells_tau": r"\frac{c - d}{\sqrt{a b}}",
    "hour_divergence": r"H(\frac{p + q}{2}) - \frac{H(p) + H(q)}{2}",
    "gyration_distance": (
        r"\sum_{r} |F(r) - G(r)|, \quad r = \sqrt{\frac{1}{k} \sum_{i} |x_i - \bar{x}|^2}"
    ),
    "trip_length_distance": r"\sum_{r} |F(r) - G(r)|",
    "flow_overlap": r"\frac{2 \sum_{i} \min(f_i, g_i)}{\sum_{i} (f_i + g_i)}",
    "range_error_1": r"\frac{|n' N / N' - n|}{\max(n, 0.001 N)}",
    "range_error_10": r"\frac{|n' N / N' - n|}{\max(n, 0.001 N)}",
    "published_share": r"\frac{N'}{N}",
}
"""Of the measures of utility."""


def _utility(result: Mapping[str, Any]) -> None:
    from celosia.traces.metrics.utility import WORDS

    if result["utility"]:
        heading("Utility of the traces")
        show_table(
            [_("figure"), _("value")],
            [[render(WORDS[name]), short(value)] for name, value in result["utility"].items()],
        )
        formula_drawer(
            _(
                "p and q are the shares of the original and of the release in each cell or hour, H "
                "their entropy; c pairs of cells in the same order, d in the other, a and b those "
                "that are not tied in each; F and G the distributions of lengths, or of root mean "
                "square distances r of a trace's k points x from their mean; f and g the moves "
                "from cell to cell; n and n' the points in a square, of N and N' in all."
            ),
            [(render(WORDS[name]), FORMULAS[name]) for name in result["utility"]],
        )
