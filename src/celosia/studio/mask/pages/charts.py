"""Charts of two tables: distributions over each other, correlations, distances, the map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from celosia.studio.comparison import REST
from celosia.studio.language import Words, _, number, percent, short
from celosia.studio.widgets.chart import PALETTE, TEXT, axis, chart
from celosia.studio.widgets.contrast import between, letters_on
from celosia.studio.widgets.text import name_heading

DRIFT = ("#b4532a", "#f4efe6", "#0f7c93")
"""Colours from a correlation that fell over one that stayed to one that rose."""
SAFE_TOOLTIP = {"confine": True, "renderMode": "richText"}
"""Names of columns and categories are the visitor's: a tooltip must not read them as HTML."""


def distributions(found: Sequence[Mapping[str, Any]], names: tuple[str, str]) -> None:
    """One chart for each column, both tables over the same bins."""
    with ui.element("div").classes("celosia-sides"):
        for each in found:
            with ui.element("div"):
                _distribution(each, names)


def _distribution(found: Mapping[str, Any], names: tuple[str, str]) -> None:
    labels = [_label(each) for each in found["labels"]]
    # The second in front and narrower, so that both are seen: colour, width and order tell them.
    series = [
        {
            "type": "bar",
            "name": names[0],
            "data": [round(100 * value, 3) for value in found["before"]],
            "barGap": "-75%",
            "barWidth": "70%",
            "itemStyle": {"color": PALETTE[0], "opacity": 0.55},
        },
        {
            "type": "bar",
            "name": names[1],
            "data": [round(100 * value, 3) for value in found["after"]],
            "barWidth": "35%",
            "itemStyle": {"color": PALETTE[1]},
        },
    ]
    name_heading(str(found["column"]), 3)
    x = _("value") if not found["numeric"] else _("value, in bins of equal width")
    below: dict[str, Any] = {"hideOverlap": True}
    if not found["numeric"]:
        below |= {"rotate": 30, "width": 110, "overflow": "truncate", "interval": 0}
    chart(
        {
            "legend": {"data": list(names)},
            "grid": {"left": 50, "right": 15, "top": 36, "bottom": 10, "containLabel": True},
            "tooltip": {**SAFE_TOOLTIP, "trigger": "axis"},
            "xAxis": {"type": "category", "data": labels, "axisLabel": below},
            "yAxis": axis(_("share of the records, %"), nameGap=48),
            "series": series,
        },
        description=_(
            "Distribution of {column} in both tables: the share of the records in each bin.",
            column=found["column"],
        ),
        columns=[x, *names],
        rows=[
            [label, percent(one, 2), percent(two, 2)]
            for label, one, two in zip(labels, found["before"], found["after"], strict=True)
        ],
    )


def _label(given: str | float | Sequence[float]) -> str:
    """A category, a number, or a bin from one number to another."""
    if isinstance(given, int | float):
        return short(given)
    if not isinstance(given, str):
        return _("{low} to {high}", low=short(given[0]), high=short(given[1]))
    if given == REST:
        return _("all others")
    return given if given else _("empty")


def correlations(found: Mapping[str, Any]) -> None:
    """How far each correlation moved, as a matrix with the numbers written in it."""
    names = [str(each) for each in found["columns"]]
    cells: list[list[Any]] = []
    rows = []
    for first, second, before, after in found["pairs"]:
        if before is None or after is None:
            continue
        drift = round(after - before, 4)
        cells += [[first, second, drift], [second, first, drift]]
        rows.append([names[first], names[second], before, after, drift])
    most = max([abs(cell[2]) for cell in cells] + [0.05])
    chart(
        {
            "tooltip": {"show": False},
            "grid": {"left": 60, "right": 20, "top": 15, "bottom": 80, "containLabel": True},
            "xAxis": {"type": "category", "data": names, "axisLabel": {"rotate": 30}},
            "yAxis": {"type": "category", "data": names},
            "visualMap": {
                "min": -most,
                "max": most,
                "orient": "horizontal",
                "left": "center",
                "bottom": 0,
                "text": [f"+{short(round(most, 3))}", short(round(-most, 3))],
                "calculable": False,
                "inRange": {"color": list(DRIFT)},
            },
            "series": [
                {
                    "type": "heatmap",
                    "data": [
                        {
                            "value": cell,
                            "label": {
                                "formatter": short(cell[2]),
                                "color": letters_on(between(DRIFT, 0.5 + cell[2] / most / 2)),
                            },
                        }
                        for cell in cells
                    ],
                    "label": {"show": True},
                }
            ],
        },
        description=_("How far the correlation of each pair of columns moved: after less before."),
        columns=[_("column"), _("column"), _("before"), _("after"), _("drift")],
        rows=rows,
        height="22rem",
    )


def nearest(found: Mapping[str, Any]) -> None:
    """Distances to the nearest real record: of made records, and of real ones to each other."""
    edges = found["edges"]
    labels = [f"{short(round(low, 3))}" for low in edges[:-1]]
    names = (_("made record to the nearest real one"), _("real record to the nearest other"))
    chart(
        {
            "legend": {"data": list(names)},
            "tooltip": {"trigger": "axis", "confine": True},
            "xAxis": axis(
                _("distance (standard deviations)"),
                kind="category",
                data=labels,
            ),
            "yAxis": axis(_("share of the records, %"), nameGap=48),
            "series": [
                {
                    "type": "line",
                    "step": "middle",
                    "name": name,
                    "data": [round(100 * value, 3) for value in found[key]],
                    "lineStyle": {"width": 3, "type": style},
                    "areaStyle": {"opacity": 0.12},
                }
                for name, key, style in zip(
                    names, ("made", "real"), ("solid", "dashed"), strict=True
                )
            ],
        },
        description=_(
            "Distances to the nearest real record. Made records are {made} away in the median, "
            "real ones {real} from each other.",
            made=short(found["median_made"]),
            real=short(found["median_real"]),
        ),
        columns=[_("distance from"), *names],
        rows=[
            [label, percent(one, 2), percent(two, 2)]
            for label, one, two in zip(labels, found["made"], found["real"], strict=True)
        ],
    )


def variants(found: Mapping[str, Any], choose: Callable[[str], Any]) -> None:
    """The map: each masking by its loss and its risk; a click on a point chooses it."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for point in found["points"]:
        groups.setdefault(str(point["name"]).split()[0], []).append(point)
    symbols = ("circle", "rect", "triangle", "diamond", "arrow", "roundRect")
    series = []
    for place, (method, points) in enumerate(groups.items()):
        series.append(
            {
                "type": "scatter",
                "name": _("nothing done") if method == "none" else method,
                "symbol": symbols[place % len(symbols)],
                "symbolSize": 13,
                "data": [
                    {
                        "value": [round(point["loss"], 5), round(point["risk"], 5)],
                        "name": point["name"],
                        "itemStyle": {"borderColor": TEXT, "borderWidth": 2}
                        if point["is_best"]
                        else {},
                    }
                    for point in points
                ],
            }
        )
    best = sorted((point for point in found["points"] if point["is_best"]), key=lambda p: p["loss"])
    series.append(
        {
            "type": "line",
            "name": _("best trade-offs"),
            "data": [[round(point["loss"], 5), round(point["risk"], 5)] for point in best],
            "lineStyle": {"type": "dashed", "color": PALETTE[7]},
            "itemStyle": {"color": PALETTE[7]},
            "symbol": "none",
            "silent": True,
            "tooltip": {"show": False},
        }
    )
    chart(
        {
            "legend": {"type": "scroll", "data": [each["name"] for each in series]},
            "tooltip": {**SAFE_TOOLTIP, "formatter": "{b}: {c}"},
            "xAxis": axis(LOSS_NAMES[found["loss"]]),
            "yAxis": axis(
                RISK_NAMES[found["risk"]], max=1 if found["risk"] != "interval" else None
            ),
            "series": series,
        },
        description=_(
            "{count} maskings by what they lose (to the right) and the risk that they leave "
            "(upwards); the best trade-offs have a rim.",
            count=number(len(found["points"])),
        ),
        columns=[_("masking"), _("loss"), _("risk"), _("best trade-off")],
        rows=[
            [point["name"], point["loss"], percent(point["risk"], 2), bool(point["is_best"])]
            for point in found["points"]
        ],
        height="26rem",
        on_click=lambda event: choose(str(event.name)) if event.name else None,
    )


RISK_NAMES = Words(
    {
        "distance": "records linked by distance (share)",
        "rank": "records linked by rank (share)",
        "interval": "values inside their interval (share)",
        "highest": "records linked, by distance or rank (share)",
    }
)
"""What each measure of risk is called."""


LOSS_NAMES = Words(
    {
        "il1s": "information loss IL1s (0 is none)",
        "squares": "squared error lost (share)",
        "pmse": "propensity score pMSE (0 is none)",
        "correlations": "mean change of correlations",
        "total variation": "mean total variation (0 to 1)",
    }
)
"""What each measure of loss is called."""
