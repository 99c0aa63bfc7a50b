"""Charts by ECharts, each with a description in words and a table of the same numbers.

The toolkit's own description would read cells out in English, so it is always replaced by ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from celosia.studio.language import _, current
from celosia.studio.widgets.table import show_table

PALETTE = ("#0f7c93", "#b4532a", "#8266a3", "#5a8a2e", "#a5811a", "#4f70b8", "#b84d6b", "#66747a")
"""Colours of series: each at least 3 to 1 on light and on dark paper."""
SYMBOLS = ("emptyCircle", "rect", "triangle", "diamond")
MOST_LISTED = 200
"""Rows of the table beside a chart."""

TEXT = "var(--quiet)"
"""The colour of letters on a drawing. No one colour is read well (4.5 to 1) on light and on dark
paper alike, so it stands for the colour that the style sheet has for quiet text at the time."""
LINE = "#6f7d82"
"""Axes and ranges: lines are seen at 3 to 1, which one grey has on both papers."""
_INK = "getComputedStyle(document.body).getPropertyValue('--quiet').trim()"
"""How the browser finds that colour: a fixed text of ours; studio.js follows when it changes."""
_INKED = ("color", "borderColor", "pageIconColor")
"""Keys that may have it."""

Option = dict[str, Any]
GRID: Option = {
    "left": 12,
    "right": 24,
    "top": 40,
    "bottom": 12,
    "outerBoundsMode": "same",  # numbers and names of the axes have their place within
    "outerBoundsContain": "all",
}
RANGE = """(params, api) => {
  const low = api.coord([api.value(0), api.value(1)]);
  const high = api.coord([api.value(0), api.value(2)]);
  const x = low[0] + api.size([1, 0])[0] * SHIFT;
  return {type: 'line', shape: {x1: x, y1: low[1], x2: x, y2: high[1]},
          style: {stroke: 'LINE', lineWidth: 2}};
}""".replace("LINE", LINE)
"""How a range is drawn: a fixed text of ours, with numbers as its only data."""
NUMBERS = """(value) => {
  const style = {maximumFractionDigits: 6, useGrouping: 'always'};
  const write = (plain) => plain.toLocaleString('PLACE', style);
  const size = Math.abs(value);
  if (size < 1e9 && (size === 0 || size >= 1e-5)) return write(value);
  const power = Math.floor(Math.log10(size) + 1e-9);
  const head = Math.round(value / 10 ** power * 1e3) / 1e3;
  const raise = (each) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(each)];
  const raised = [...String(power)].map(raise).join('');
  return (head === 1 ? '' : write(head) + ' \u00d7 ') + '10' + raised;
}"""
"""How numbers are written on axes: very large and very small ones with a power of ten."""
_AXIS: Option = {
    "nameTextStyle": {"color": TEXT},
    "axisLabel": {"color": TEXT},
    "axisLine": {"lineStyle": {"color": LINE}},
    "splitLine": {"lineStyle": {"color": "rgba(128, 128, 128, 0.25)"}},
}
_LEGEND: Option = {
    "top": 0,
    "type": "scroll",
    "textStyle": {"color": TEXT},
    "pageTextStyle": {"color": TEXT},
    "pageIconColor": TEXT,
}


def chart(
    option: Option,
    *,
    description: str,
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[Any]] = (),
    height: str = "20rem",
    on_click: Callable[[Any], Any] | None = None,
) -> ui.echart:
    """A chart, what it shows in a sentence, and its numbers in a table that opens.

    Args:
        option: the option of ECharts; colours, grid and accessibility are filled in.
        description: what is to be seen, for those who do not see it; in the page's language.
        columns: the heads of the table twin.
        rows: its rows; none for no table.
        height: the height of the drawing.
        on_click: called with the event when a point is clicked.
    """
    check_keys(option)
    full: Option = {
        "color": list(PALETTE),
        "animation": False,
        "grid": GRID,
        "backgroundColor": "transparent",
        **_inked(_readable(option)),
        # Drawn as letters, never as HTML: names of series and categories may come from a table.
        "tooltip": _tooltip() | option.get("tooltip", {}) | {"renderMode": "richText"},
        "aria": {"enabled": True, "label": {"description": description}},
    }
    drawn = ui.echart(full, on_point_click=on_click, renderer="canvas")
    drawn.props('role="img"').props["aria-label"] = description
    drawn.style(f"height: {height}")
    if rows:
        with ui.expansion(_("The same as a table")).classes("w-full celosia-quiet"):
            show_table(columns, rows[:MOST_LISTED])
    return drawn


def check_keys(option: Any) -> None:
    """Refuse an option with a key that the toolkit would run as a program, but for ours.

    It runs the value of each key that begins with a colon, however deep, so no text of a table may
    ever be a key.

    Raises:
        ValueError: there is one.
    """
    if isinstance(option, dict):
        for key, value in option.items():
            if str(key).startswith(":") and key != ":renderItem":
                raise ValueError("a key of a chart would be run")
            check_keys(value)
    elif isinstance(option, list | tuple):
        for each in option:
            if isinstance(each, dict | list | tuple):
                check_keys(each)


def _readable(option: Option) -> Option:
    """The same option with the colour of letters wherever it does not say another."""
    found = dict(option)
    if "legend" in found:
        found["legend"] = _LEGEND | found["legend"]
    if "visualMap" in found:
        found["visualMap"] = {"textStyle": {"color": TEXT}} | found["visualMap"]
    for name in ("xAxis", "yAxis"):
        given = found.get(name)
        if given is not None:
            axes = given if isinstance(given, list) else [given]
            full = [_AXIS | each | {"axisLabel": _axis_label(each)} for each in axes]
            found[name] = full if isinstance(given, list) else full[0]
    return found


def _inked(option: Any) -> Any:
    """The same option with the colour of letters as the browser finds it."""
    if isinstance(option, list) and any(isinstance(each, dict) for each in option):
        return [_inked(each) for each in option]
    if not isinstance(option, dict):
        return option
    found: Option = {}
    for key, value in option.items():
        if key in _INKED and value == TEXT:
            found[f":{key}"] = _INK
        else:
            found[key] = _inked(value)
    return found


def _axis_label(given: Option) -> Option:
    """The words along an axis; its numbers as the page's language writes them."""
    label: Option = _AXIS["axisLabel"] | given.get("axisLabel", {})
    if given.get("type", "value") in ("value", "log") and "formatter" not in label:
        label[":formatter"] = _numbers()
    return label


def _tooltip() -> Option:
    value = f"(value) => typeof value === 'number' ? ({_numbers()})(value) : value"
    paper = {"backgroundColor": "#ffffff", "textStyle": {"color": "#1d2528"}}
    return {"confine": True, ":valueFormatter": value, **paper}


def _numbers() -> str:
    """A script that writes numbers in the page's language; a fixed text of ours."""
    place = "es-ES" if current() == "es" else "en-GB"
    return NUMBERS.replace("PLACE", place)


def axis(name: str, *, kind: str = "value", **more: Any) -> Option:
    """An axis with its name in the middle."""
    return {"type": kind, "name": name, "nameLocation": "middle", "nameGap": 32, **more}


def ranges(name: str, bands: Sequence[Sequence[float]], *, shift: float = 0.0) -> Option:
    """A series of thin lines from low to high, one on each category.

    Args:
        name: what the lines are.
        bands: the low and the high end on each category.
        shift: how far to the right of the middle, in widths of a category.
    """
    return {
        "type": "custom",
        "name": name,
        "data": [[place, *band] for place, band in enumerate(bands)],
        "encode": {"x": 0, "y": [1, 2]},
        ":renderItem": RANGE.replace("SHIFT", f"{shift:.3f}"),
        "z": 5,
    }


def bars(
    categories: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    description: str,
    x: str = "",
    y: str = "",
    log_y: bool = False,
    **more: Any,
) -> ui.echart:
    """Bars side by side, one colour for each series; `x` and `y` name the axes with their units."""
    option: Option = {
        "legend": {"data": [name for name, _values in series]},
        "tooltip": {"trigger": "axis"},
        "xAxis": axis(x, kind="category", data=list(categories)),
        "yAxis": axis(y, kind="log" if log_y else "value"),
        "series": [{"type": "bar", "name": name, "data": list(values)} for name, values in series],
    }
    rows = [
        [category, *(values[place] for _name, values in series)]
        for place, category in enumerate(categories)
    ]
    heads = [x, *(name for name, _values in series)]
    return chart(option, description=description, columns=heads, rows=rows, **more)


def lines(
    series: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    *,
    description: str,
    x: str = "",
    y: str = "",
    log_x: bool = False,
    log_y: bool = False,
    **more: Any,
) -> ui.echart:
    """Lines through points, one for each series; either axis may be logarithmic."""
    option: Option = {
        "legend": {"data": [name for name, _points in series]},
        "tooltip": {"trigger": "axis"},
        "xAxis": axis(x, kind="log" if log_x else "value"),
        "yAxis": axis(y, kind="log" if log_y else "value"),
        "series": [
            {
                "type": "line",
                "name": name,
                "data": [list(each) for each in points],
                "symbol": SYMBOLS[place // len(PALETTE) % len(SYMBOLS)],  # colours come again
            }
            for place, (name, points) in enumerate(series)
        ],
    }
    rows = [[name, *point] for name, points in series for point in points]
    return chart(option, description=description, columns=["", x, y], rows=rows, **more)


def scatter(
    points: Sequence[tuple[str, Sequence[tuple[float, ...]]]],
    *,
    description: str,
    x: str = "",
    y: str = "",
    large: bool = False,
    **more: Any,
) -> ui.echart:
    """Points of one or more series: (x, y) and whatever else a click should carry."""
    option: Option = {
        "legend": {"data": [name for name, _points in points]},
        "xAxis": axis(x, scale=True),
        "yAxis": axis(y, scale=True),
        "series": [
            {
                "type": "scatter",
                "name": name,
                "data": [list(each) for each in some],
                "symbolSize": 8,
                "large": large,
            }
            for name, some in points
        ],
    }
    rows = [[name, *each[:2]] for name, some in points for each in some]
    return chart(option, description=description, columns=["", x, y], rows=rows, **more)
