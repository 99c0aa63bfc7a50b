"""The lattice: a diagram of all nodes where they are few, a grid of levels where they are many."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from nicegui import ui

from celosia.studio.language import Words, _, n_, number, percent
from celosia.studio.publish.pages.results_choose import LevelPicker, Pick, detail_of
from celosia.studio.publish.pages.results_parts import Results, metric_name, picker, show_point
from celosia.studio.publish.results_solutions import Levels, Node, Solutions
from celosia.studio.widgets.chart import TEXT, Option, axis, chart
from celosia.studio.widgets.contrast import between, letters_on
from celosia.studio.widgets.text import heading, lead, paragraph, quiet

LOOKS = {
    "best": ("diamond", "#a5811a", 22),
    "meets": ("circle", "#0f7c93", 14),
    "fails": ("triangle", "#b84d6b", 12),
    "untried": ("emptyCircle", "#7d8b8f", 10),
    "release": ("pin", "#b4532a", 34),
}
"""Shape, colour and size of each sort of node: the shape alone tells them apart."""
RAMP = ("#bfe3ea", "#0f7c93", "#123b46")
"""Colours of the cells of the grid, from the least cost to the greatest."""
MOST_NAMED = 60
"""Nodes that still have their levels beside them."""


def show(found: Results) -> None:
    """The diagram or the grid, and the node that was clicked."""
    heading("The lattice of all generalisations", 2)
    solutions = found.solutions
    if solutions is None:
        return
    if not solutions.points:
        lead("No node of the lattice meets the models; this release recodes each class.")
        return
    shown = {key: found.query[key] for key in ("x", "y") if key in found.query}

    def pick(levels: Levels) -> None:
        detail.clear()
        with detail:
            show_point(found, levels)
        by_levels.show(levels)
        ui.navigate.history.replace(
            found.address("lattice", node="-".join(map(str, levels)), **shown)
        )

    if solutions.is_small:
        _diagram(found, solutions, pick)
    else:
        _grid(found, solutions, pick)
    named = solutions.parse(found.query.get("node", ""))
    by_levels = LevelPicker(found, solutions, pick, named)
    detail = detail_of(found, named)


STATE_NAMES = Words(
    {
        "best": "best of all",
        "meets": "meets the models",
        "fails": "does not meet them",
        "untried": "not tried",
        "release": "the release",
    }
)
"""What a sort of node is called."""


def _diagram(found: Results, solutions: Solutions, pick: Pick) -> None:
    lead(
        "Each node is a choice of levels: the raw table at the bottom, everything hidden at "
        "the top. A line goes from a node to those that hide one level more. Click a node, or "
        "choose its levels below the diagram."
    )
    nodes, pairs = solutions.diagram()
    present = [
        state
        for state in LOOKS
        if (state == "release" and found.chosen is not None)
        or any(node.state == state and node.levels != found.chosen for node in nodes)
    ]
    names = {state: STATE_NAMES[state] for state in present}
    if found.chosen == solutions.points[0].levels:
        names["release"] = _("the release, best of all")
    top = max(node.y for node in nodes)
    widest = max(abs(node.x) for node in nodes) or 1.0
    option: Option = {
        "legend": {
            "data": [{"name": names[each], "icon": LOOKS[each][0]} for each in present],
        },
        "tooltip": {"confine": True, "renderMode": "richText", "formatter": "{b}"},
        "series": [
            {
                "type": "graph",
                "layout": "none",
                "roam": "scale",
                "top": 60,
                "bottom": 30,
                "left": "8%",
                "right": "8%",
                "preserveAspect": True,  # on a phone the shapes would be stretched
                "categories": [
                    {
                        "name": names[each],
                        "symbol": LOOKS[each][0],
                        "itemStyle": {"color": LOOKS[each][1]},
                    }
                    for each in present
                ],
                "data": [
                    _drawn(node, found, present, top, widest, named=len(nodes) <= MOST_NAMED)
                    for node in nodes
                ],
                "links": [{"source": one, "target": other} for one, other in pairs],
                "lineStyle": {"color": "#8a979b", "opacity": 0.45, "width": 1},
            }
        ],
    }
    met = sum(node.state in ("best", "meets") for node in nodes)
    drawn = chart(
        option,
        description=_(
            "{count}, {met} of which meet the models. Levels stand for: {columns}.",
            count=n_("{count} node", "{count} nodes", len(nodes)),
            met=met,
            columns=", ".join(solutions.columns),
        ),
        columns=[_("levels"), _("state")],
        rows=[[_text(node.levels), STATE_NAMES[node.state]] for node in nodes],
        height="34rem",
        on_click=lambda event: _clicked(event, solutions, pick),
    )
    drawn.props["data-test"] = "lattice"
    quiet("Levels stand for: {columns}.", columns=", ".join(solutions.columns))


def _drawn(
    node: Node, found: Results, present: list[str], top: int, widest: float, *, named: bool
) -> Option:
    state = "release" if node.levels == found.chosen else node.state
    symbol, colour, size = LOOKS[state]
    return {
        "name": _text(node.levels),
        # As wide as its widest rank needs: a small lattice is then readable on a phone as well.
        "x": min(1000, max(450, 130 * widest)) * node.x / widest,
        "y": 900 * (top - node.y) / max(top, 1),
        "value": list(node.levels),
        "category": present.index(state),
        "symbol": symbol,
        "symbolSize": size,
        "itemStyle": {"color": colour},
        "label": {"show": named, "position": "right", "color": TEXT, "fontSize": 11},
    }


def _clicked(event: Any, solutions: Solutions, pick: Pick) -> None:
    levels = solutions.parse("-".join(str(event.name).split()))
    if levels is not None:
        pick(levels)


def _grid(found: Results, solutions: Solutions, pick: Pick) -> None:
    lead(
        "The lattice has too many nodes to draw each of them. This grid takes two columns: "
        "each cell stands for all nodes with these two levels, and says how many of them meet "
        "the models and what the best of them costs. Click a cell for its best node, or choose "
        "levels below the grid."
    )
    tall = sorted(range(len(solutions.shape)), key=lambda at: -solutions.shape[at])
    names = dict.fromkeys(solutions.columns)
    options = {name: name for name in names}
    first = _column(found, "x", solutions.columns[tall[0]], options)
    second = _column(found, "y", solutions.columns[tall[min(1, len(tall) - 1)]], options)
    if first == second and len(tall) > 1:
        second = next(name for name in solutions.columns if name != first)
    with ui.row():
        for key, label, value in (("x", _("Across"), first), ("y", _("Upwards"), second)):
            chosen = picker(label, options, value, f"grid-{key}")
            other = {"x": first, "y": second}
            chosen.on_value_change(
                lambda event, key=key, other=other: ui.navigate.to(
                    found.address("lattice", **(other | {key: event.value}))
                )
            )
    cells = solutions.grid(first, second)
    metric = metric_name(solutions.metric)
    costs = [cell.best.score for line in cells for cell in line if cell.best is not None]
    # Rounded outwards: a cost beyond its scale would not be drawn.
    least, most = floor(1000 * min(costs)) / 10, ceil(1000 * max(costs)) / 10
    most = max(most, least + 0.1)
    full: list[Option] = []
    empty: list[Option] = []
    rows = []
    for low, line in enumerate(cells):
        for high, cell in enumerate(line):
            if cell.best is None:
                empty.append({"value": [low, high, 0], "label": {"formatter": _("none meets")}})
                continue
            label = "\n".join(
                [f"{number(cell.solutions)} / {number(cell.nodes)}", percent(cell.best.score)]
            )
            cost = round(100 * cell.best.score, 2)
            colour = between(RAMP, (cost - least) / (most - least))
            full.append(
                {
                    "value": [low, high, cost],
                    "label": {"formatter": label, "color": letters_on(colour)},
                }
            )
            rows.append([low, high, cell.solutions, cell.nodes, percent(cell.best.score)])
    shape = solutions.shape
    sizes = [shape[solutions.columns.index(name)] for name in (first, second)]
    option: Option = {
        "tooltip": {"show": False},
        "xAxis": axis(
            _("level of {column}", column=first),
            kind="category",
            data=list(range(sizes[0])),
        ),
        "yAxis": axis(
            _("level of {column}", column=second),
            kind="category",
            data=list(range(sizes[1])),
        ),
        "visualMap": {
            "min": least,
            "max": most,
            "seriesIndex": 0,
            "orient": "horizontal",
            "left": "center",
            "top": 0,
            "inRange": {"color": list(RAMP)},
            "text": [percent(max(costs)), percent(min(costs))],
        },
        "series": [
            {
                "type": "heatmap",
                "data": full,
                "label": {"show": True, "lineHeight": 16},
                "itemStyle": {"borderColor": "#fff", "borderWidth": 2},
            },
            {
                "type": "heatmap",
                "data": empty,
                "label": {"show": True, "color": "#1d2528"},
                "itemStyle": {
                    "color": "#d9d2c5",
                    "borderColor": "#fff",
                    "borderWidth": 2,
                    "decal": {"symbol": "line"},
                },
            },
        ],
    }

    def clicked(event: Any) -> None:
        value = event.value if isinstance(event.value, list) else []
        if len(value) == 3 and all(isinstance(each, int | float) for each in value):
            low, high = int(value[0]), int(value[1])
            if 0 <= low < sizes[0] and 0 <= high < sizes[1]:
                best = cells[low][high].best
                if best is not None:
                    pick(best.levels)

    drawn = chart(
        option,
        description=_(
            "How many nodes meet the models, and the least {metric}, at each level of {first} and "
            "{second}.",
            metric=metric,
            first=first,
            second=second,
        ),
        columns=[first, second, _("nodes that meet the models"), _("nodes"), metric],
        rows=rows,
        height=f"{max(20, 4 * sizes[1] + 9)}rem",
        on_click=clicked,
    )
    drawn.props["data-test"] = "grid"
    quiet(
        "In each cell: nodes that meet the models / nodes, and below the {metric} of the best "
        "one. Grey and hatched: none meets them.",
        metric=metric.lower(),
    )
    if solutions.is_cut or solutions.is_thinned:
        _incomplete(solutions)


def _incomplete(solutions: Solutions) -> None:
    """Why the counts of the grid may be too small."""
    with ui.card().classes("w-full celosia-tight celosia-warning q-mt-md").props('role="note"'):
        if solutions.is_thinned:
            paragraph(
                "The grid counts only the {kept} solutions that were kept for this page (the "
                "front, and of the others evenly spread ones), of {found} that were found: a "
                "cell may have more that meet the models, and a grey one may have some.",
                kept=number(len(solutions.points)),
                found=number(solutions.found),
            )
        if solutions.is_cut:
            paragraph(
                "The time was up after {tried} of {nodes} nodes; those that were not tried "
                "are counted as if they did not meet the models.",
                tried=number(solutions.tried),
                nodes=number(solutions.nodes),
            )


def _column(found: Results, key: str, default: str, known: dict[str, str]) -> str:
    wanted = found.query.get(key, default)
    return wanted if wanted in known else default


def _text(levels: Levels) -> str:
    return " ".join(map(str, levels))
