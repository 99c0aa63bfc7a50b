"""A published graph: both drawings, degrees, what the numbers of the graph became, files, text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.core.messages import render
from celosia.studio.graphs import model
from celosia.studio.graphs.labels import (
    FORMULAS,
    METRICS,
    NOT_SHARES,
    SHARED_FORMULAS,
    SHARES,
)
from celosia.studio.graphs.pages.drawing import draw_both
from celosia.studio.graphs.pages.start import GraphWorkbench
from celosia.studio.language import _, figure, percent, short
from celosia.studio.widgets.chart import axis, chart
from celosia.studio.widgets.meanings import formula_drawer
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import figures, heading, notice, quiet
from celosia.studio.workbench import certificate_file, report_file

WITHOUT_MATCH = ("degree_total_variation", "degree_earth_mover")
"""What compares two graphs without knowing which vertex is which."""
HUGE, TINY = 1e9, 1e-6
"""Numbers from so large on have an exponent; errors relative to them are not seen."""
STEEP = 50
"""Degrees from which on their line is drawn on logarithmic axes."""


def show(workbench: GraphWorkbench) -> None:
    """Everything about the last release."""
    result = workbench.published(model.cards())
    if result is None:
        return
    _figures(result)
    if result["private"]:
        notice(
            "The graph itself is covered by the privacy loss. The figures and drawings here "
            "compare it with the original, and are not: keep them to yourself."
        )
    promise(result["guarantee"], simulation=result["simulation"])
    _left_out(result.get("left_out", {}))
    heading("Before and after")
    draw_both(result["drawing"])
    heading("Degrees")
    _degrees(result)
    heading("Utility of the graph")
    _metrics(result)
    _take(workbench, result)


def _left_out(left_out: Mapping[str, Any]) -> None:
    """What was given and is not in the release."""
    from celosia.graphs.report import LEFT_OUT

    rows = [
        [_(words), short(what) if isinstance(what, int) else ", ".join(map(render, what))]
        for name, words in LEFT_OUT.items()
        if (what := left_out.get(name))
    ]
    if rows:
        heading("What is left out")
        show_table([_("what"), _("which, or how many")], rows, caption=_("What is left out"))


def _figures(result: Mapping[str, Any]) -> None:
    found = []
    if result["attacks"]:
        first = result["attacks"][0]
        found.append(
            figure(
                "Found by degree",
                f"{percent(first['before']['exposed'])} → {percent(first['after']['exposed'])}",
                "Vertices with a unique degree, before and after.",
            )
        )
        worst = max(each["after"]["exposed"] for each in result["attacks"])
        found.append(
            figure(
                "Found by the best attack",
                percent(worst),
                "Vertices found for certain by degrees, contacts or neighbourhoods.",
            )
        )
    utility = result["utility"]
    if utility is not None:
        if result["matched"] and "edges" in utility:  # not in what an earlier version kept
            found.append(_edges(utility["edges"]))
        for name in ("changed_degrees", "communities_information"):
            if result["matched"]:
                title, meaning = SHARES[name]
                found.append((_(title), percent(utility[name]), _(meaning)))
        distance = "average_distance"
        before, after = (utility[side][distance]["value"] for side in ("before", "after"))
        found.append(
            (
                _(METRICS[distance][0]),
                f"{_value(before)} → {_value(after)}",
                _(METRICS[distance][2]),
            )
        )
    figures(found)


def _edges(changes: Mapping[str, int]) -> tuple[str, str, str]:
    before = changes["kept"] + changes["removed"]
    return figure(
        "Edges kept",
        percent(changes["kept"] / before if before else 1.0),
        "{removed} removed, {added} added",
        removed=short(changes["removed"]),
        added=short(changes["added"]),
    )


def _value(value: float | None) -> str:
    if value is None:
        return _("unknown")
    return f"{value:.3g}" if abs(value) >= HUGE else short(round(value, 4))


def _degrees(result: Mapping[str, Any]) -> None:
    facts = result["degrees"]
    names = (_("original"), _("release"))
    if result["drawing"]["kind"] == "uncertain":
        quiet("Of the release the expected degrees are drawn: the sums of the chances.")
    elif result["drawing"]["kind"] == "groups":
        quiet("Of the release one random graph that fits the groups is drawn.")
    else:
        quiet(
            "All vertices from most contacts to fewest. Steps in the line are vertices that "
            "share a degree, and hide among each other."
        )
    x, y = _("rank of the vertex"), _("degree (contacts)")
    kind = "value"
    if max(point[1] for point in facts["before"]) >= STEEP:
        kind, x, y = "log", _("{axis}, logarithmic", axis=x), _("{axis}, logarithmic", axis=y)
        # A vertex without contacts has no place on such an axis.
        facts = {key: [point for point in facts[key] if point[1] > 0] for key in facts}
    chart(
        {
            "legend": {"data": list(names)},
            "tooltip": {"trigger": "axis", "confine": True},
            "xAxis": axis(x, kind=kind, min=1),
            "yAxis": axis(y, kind=kind),
            "series": [
                {
                    "type": "line",
                    "step": "end",
                    "name": name,
                    "data": facts[key],
                    "symbol": "none",
                    "lineStyle": {"width": 2.5, "type": style},
                }
                for name, key, style in zip(
                    names, ("before", "after"), ("dashed", "solid"), strict=True
                )
            ],
        },
        description=_("Degrees of both graphs, from the greatest to the least."),
        columns=["", x, y],
        rows=[
            [name, *point]
            for name, key in zip(names, ("before", "after"), strict=True)
            for point in facts[key][:100]
        ],
    )


def _metrics(result: Mapping[str, Any]) -> None:
    utility = result["utility"]
    if utility is None:
        quiet("Not measured: the graph has more than two million edges.")
        return
    if result["world"]:
        quiet("The release is no plain graph: one random world of it is measured.")
    if not result["matched"]:
        quiet(
            "The vertices of the release do not correspond to those of the original, so "
            "only measures of the whole graph are compared."
        )
    rows = []
    for name, (title, unit, meaning) in METRICS.items():
        before, after = utility["before"][name], utility["after"][name]
        drift = (
            None
            if before["value"] is None or after["value"] is None
            else after["value"] - before["value"]
        )
        rows.append(
            [_(title), _with_error(before), _with_error(after), _signed(drift), _(unit), _(meaning)]
        )
    with ui.element("div").classes("celosia-wrap"):
        _metric_tables(result, rows)


def _metric_tables(result: Mapping[str, Any], rows: list[list[Any]]) -> None:
    utility = result["utility"]
    show_table(
        [_("measure"), _("original"), _("release"), _("change"), _("unit"), _("meaning")],
        rows,
        caption=_("The whole graph"),
    )
    shares = [
        [
            _(title),
            short(round(utility[name], 4)) if name in NOT_SHARES else percent(utility[name]),
            _(meaning),
        ]
        for name, (title, meaning) in SHARES.items()
        if result["matched"] or name in WITHOUT_MATCH
    ]
    show_table(
        [_("measure"), _("value"), _("meaning")], shares, caption=_("What both have in common")
    )
    formula_drawer(
        _(
            "n vertices, m edges E, t triangles, p connected pairs u, v at the distance l(u, v); "
            "d, t and k of a vertex: its degree, triangles and core number; m and d of a community "
            "C: its edges and the sum of its degrees; A the adjacency matrix, D the degrees, λ "
            "eigenvalues in rising order; p and P the share of vertices with the degree d and with "
            "at most d; B hubs; I shared information and H entropy; a prime marks the release."
        ),
        [
            *((_(METRICS[name][0]), formula) for name, formula in FORMULAS.items()),
            *((_(SHARES[name][0]), formula) for name, formula in SHARED_FORMULAS.items()),
        ],
    )


def _with_error(measured: Mapping[str, float | None]) -> str:
    value, error = measured["value"], measured["error"]
    if value is None:
        return _("unknown")
    facts = _value(value)
    seen = error is None or error > TINY * abs(value)
    return facts if not seen else f"{facts} ± {'?' if error is None else short(error)}"


def _signed(drift: float | None) -> str:
    if drift is None:
        return ""
    facts = _value(drift)
    return f"+{facts}" if drift > 0 and facts != "0" else facts


def _take(workbench: GraphWorkbench, result: Mapping[str, Any]) -> None:
    kinds = {
        "edges": _("edge list, to be published"),
        "csv": _("pairs with their chances, to be published"),
        "json": _("groups and the edges between them, to be published"),
    }
    data = result["files"]["data"]
    workbench.take_away(
        [
            (data, "hub", _("Published graph"), kinds[data.rpartition(".")[2]]),
            certificate_file("certificate.json", data),
            report_file("report.html"),
            ("graph.json", "lock", _("Original graph"), _("what you brought; keep it to yourself")),
        ]
    )
    if "key" in result["files"]:
        notice(
            "Keep this file secret: it re-identifies every vertex. Download the key only "
            "if you need it, store it apart from the graph, and never publish it."
        )
        link = ui.link(_("Download the key (secret)"), f"/files/{workbench.work.id}/key.csv")
        link.props('download data-test="file-key.csv"')
    workbench.same_elsewhere(
        model.code(
            workbench.name,
            workbench.state["sample"],
            result["choice"],
            seed=result["seed"],
            drop_edge_attributes=result.get("drop_edge_attributes", False),
            network=result.get("network"),
        ),
        "Draws are new each time, so the released graph differs unless it is seeded.",
    )
