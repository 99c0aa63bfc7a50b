"""The trade-off: every solution by its cost and its risk; click one to publish it."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.studio.language import _, n_, number, percent
from celosia.studio.publish.pages.results_choose import LevelPicker, detail_of
from celosia.studio.publish.pages.results_parts import Results, metric_name, picker, show_point
from celosia.studio.publish.results_solutions import Levels, Point, Solutions
from celosia.studio.widgets.chart import axis, chart
from celosia.studio.widgets.text import heading, lead, paragraph, quiet

LARGE = 2000
"""From this many points on they are drawn in one go."""

MANY = 500
"""From this many on they are drawn smaller."""


def show(found: Results) -> None:
    """The scatter with its front, and the solution that was clicked."""
    heading("Every solution: its loss and its risk", 2)
    solutions = found.solutions
    if solutions is None or not solutions.points:
        lead(
            "No generalisation of the whole table meets the models, so there is nothing to "
            "choose from: this release recodes each class by itself."
        )
        return
    lead(
        "Each point is a solution. The points on the line form the Pareto front: no "
        "other solution is better in both. Click a point, choose one of the front from "
        "the list, or enter its levels below the chart."
    )
    highest = found.query.get("risk") == "highest"
    with ui.row().classes("items-center"):
        wanted = picker(
            _("Risk"),
            {"average": _("Average risk"), "highest": _("Highest risk")},
            "highest" if highest else "average",
            "risk-kind",
        )
        wanted.on_value_change(
            lambda event: ui.navigate.to(found.address("tradeoff", risk=event.value))
        )
        front = picker(_("Solutions on the front"), _front(solutions, highest), None, "front")
        front.style("min-width: 20rem")
    named = solutions.parse(found.query.get("node", ""))
    drawn = _draw(found, solutions, highest, named)

    def pick(levels: Levels) -> None:
        detail.clear()
        with detail:
            show_point(found, levels)
        by_levels.show(levels)
        drawn.run_chart_method(
            "setOption", {"series": [{"id": "picked", "data": _rim(solutions, levels, highest)}]}
        )
        kind = {"risk": "highest"} if highest else {}
        ui.navigate.history.replace(
            found.address("tradeoff", node="-".join(map(str, levels)), **kind)
        )

    def clicked(event: Any) -> None:
        # What a browser sends is checked: a place among the points, or nothing happens.
        data = event.data if isinstance(event.data, list) else []
        if len(data) == 3 and isinstance(data[2], int):
            pick(solutions.number(data[2]).levels)

    def chosen(event: Any) -> None:
        if event.value is not None:
            pick(_levels(event.value))

    drawn.on_point_click(clicked)
    front.on_value_change(chosen)
    by_levels = LevelPicker(found, solutions, pick, named)
    detail = detail_of(found, named)
    _remarks(solutions, highest)


def _draw(found: Results, solutions: Solutions, highest: bool, named: Levels | None) -> ui.echart:
    places = {point.levels: place for place, point in enumerate(solutions.points)}
    short_names = [
        metric_name(solutions.metric),
        _("Highest risk") if highest else _("Average risk"),
    ]
    every = [[*_spot(point, highest), place] for place, point in enumerate(solutions.points)]
    front = [[*_spot(point, highest), places[point.levels]] for point in _line(solutions, highest)]
    here = _here(found, highest)
    names = (_("Solutions"), _("The front"), _("The release"), _("Picked"))
    common = {"type": "scatter", "dimensions": [*short_names, ""], "encode": {"tooltip": [0, 1]}}
    option = {
        "legend": {"data": list(names)},
        "tooltip": {"confine": True, "renderMode": "richText"},
        "xAxis": axis(f"{short_names[0]}, %", scale=True),
        "yAxis": axis(f"{short_names[1]}, %", kind="log", nameGap=48),
        "series": [
            {
                **common,
                "id": "all",
                "name": names[0],
                "data": every,
                "symbolSize": 7 if len(every) <= MANY else 4,
                "large": len(every) > LARGE,
                "largeThreshold": LARGE,
                "itemStyle": {"color": "#288aa0", "opacity": 0.8},  # seen on paper and in the dark
            },
            {
                **common,
                "type": "line",
                "id": "front",
                "name": names[1],
                "data": front,
                "symbol": "diamond",
                "symbolSize": 11,
                "itemStyle": {"color": "#b4532a"},
                "lineStyle": {"color": "#b4532a"},
                "z": 4,
            },
            {
                **common,
                "id": "release",
                "name": names[2],
                "data": [here],
                "symbol": "pin",
                "symbolSize": 34,
                "itemStyle": {"color": "#8266a3"},
                "symbolOffset": [0, -12],
                "silent": True,
                "z": 5,
            },
            {
                **common,
                "id": "picked",
                "name": names[3],
                "data": _rim(solutions, named, highest),
                "symbol": "circle",
                "symbolSize": 20,
                "itemStyle": {"color": "transparent", "borderColor": "#5a8a2e", "borderWidth": 3},
                "silent": True,
                "z": 6,
            },
        ],
    }
    best = solutions.points[0]
    description = _(
        "{count}; {front} of them on the front. The least {metric} is {cost} with an average risk "
        "of {risk}.",
        count=n_("{count} solution", "{count} solutions", solutions.found),
        front=len(solutions.front),
        metric=metric_name(solutions.metric),
        cost=percent(best.score),
        risk=percent(best.average_risk, 2),
    )
    drawn = chart(
        option,
        description=description,
        columns=[
            _("levels"),
            metric_name(solutions.metric),
            _("suppressed records"),
            _("classes"),
            _("average risk"),
            _("highest risk"),
        ],
        rows=[
            [
                " ".join(map(str, point.levels)),
                percent(point.score, 2),
                point.suppressed,
                point.classes,
                percent(point.average_risk, 3),
                percent(point.highest_risk, 2),
            ]
            for point in solutions.front
        ],
        height="28rem",
    )
    drawn.props["data-test"] = "scatter"
    return drawn


def _remarks(solutions: Solutions, highest: bool) -> None:
    quiet(
        "{metric}: 0 % is the raw table, 100 % hides everything.",
        metric=metric_name(solutions.metric),
    )
    quiet(
        _("Highest risk: the chance to pick the record of the person who is most exposed.")
        if highest
        else _("Average risk: the chance to pick the record of a random person.")
    )
    quiet(
        "{found} of {nodes} nodes of the lattice meet the models. Levels stand for: {columns}.",
        found=number(solutions.found),
        nodes=number(solutions.nodes),
        columns=", ".join(solutions.columns),
    )
    if solutions.is_cut:
        paragraph(
            "The lattice is so large that the time was up before all of it was tried: "
            "{tried} of {nodes} nodes were, spread over the whole lattice.",
            tried=number(solutions.tried),
            nodes=number(solutions.nodes),
        )
    if solutions.is_thinned:
        quiet(
            n_(
                "{count} point is drawn: the front, and of the others evenly spread ones.",
                "{count} points are drawn: the front, and of the others evenly spread ones.",
                len(solutions.points),
            )
        )


def _spot(point: Point, highest: bool) -> tuple[float, float]:
    """Where a solution is drawn; more digits than a screen shows would only be sent."""
    risk = point.highest_risk if highest else point.average_risk
    return round(100 * point.score, 2), float(f"{100 * risk:.3g}")


def _rim(solutions: Solutions, levels: Levels | None, highest: bool) -> list[tuple[float, float]]:
    """Where the ring round the picked solution is drawn; nowhere round a node that is none."""
    if levels is None or not solutions.has(levels):
        return []
    return [_spot(solutions.point(levels), highest)]


def _line(solutions: Solutions, highest: bool) -> list[Point]:
    """The points that no other beats, by the risk that is drawn."""
    if not highest:
        return list(solutions.front)
    line: list[Point] = []
    for point in sorted(solutions.points, key=lambda each: (each.score, each.highest_risk)):
        if not line or point.highest_risk < line[-1].highest_risk:
            line.append(point)
    return line


def _here(found: Results, highest: bool) -> list[float]:
    risk = found.facts["risk"]["maximum" if highest else "average"]
    return [round(100 * found.facts["solution"]["score"], 2), float(f"{100 * risk:.3g}")]


def _front(solutions: Solutions, highest: bool) -> dict[str, str]:
    """The points of the line that is drawn, in words."""
    metric = metric_name(solutions.metric)
    return {
        "-".join(map(str, point.levels)): _(
            "{metric} {cost}, highest risk {risk}",
            metric=metric,
            cost=percent(point.score),
            risk=percent(point.highest_risk, 2),
        )
        if highest
        else _(
            "{metric} {cost}, average risk {risk}",
            metric=metric,
            cost=percent(point.score),
            risk=percent(point.average_risk, 2),
        )
        for point in _line(solutions, highest)
    }


def _levels(text: str) -> Levels:
    return tuple(int(each) for each in text.split("-"))
