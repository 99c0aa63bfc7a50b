"""Distributions overlaid column by column, and two columns together as heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from celosia.assess.utility.column_pair import EMPTY
from celosia.assess.utility.joint import OTHERS
from celosia.studio.language import _, n_, percent
from celosia.studio.publish.pages.results_parts import Results, not_computed, picker
from celosia.studio.widgets.chart import Option, axis, chart
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, name_heading, quiet


def show(found: Results) -> None:
    """The bars of one column, how far each moved, and a pair of columns."""
    shown = found.facts["distributions"]
    names = {each["column"]: each["column"] for each in shown}
    heading("How often each value occurs, before and after", 2)
    lead(
        "A label of the release that stands for several values counts for each of them in "
        "equal parts, as a reader of the release would have to count it."
    )
    not_computed(found)
    column = found.query.get("column", "")
    column = column if column in names else next(iter(names), "")
    if column:
        with ui.row():
            chosen = picker(_("Column"), names, column, "column")
        chosen.on_value_change(lambda event: _go(found, column=event.value))
        _bars(next(each for each in shown if each["column"] == column))
        with ui.expansion(_("How far each column moved")).classes("w-full"):
            show_table(
                [_("column"), _("share of the records that would have to change")],
                [[each["column"], percent(each["moved"])] for each in shown],
            )
    _pair(found)


def _go(found: Results, **changes: Any) -> None:
    kept = {key: found.query[key] for key in ("column", "x", "y") if key in found.query}
    ui.navigate.to(found.address("shapes", **(kept | changes)))


def _bars(shown: dict[str, Any]) -> None:
    values = list(map(_label, shown["values"]))
    if shown["others"]:
        values.append(n_("{count} other", "{count} others", shown["others"]))
    series = [(_("Before"), shown["before"]), (_("After"), shown["after"])]
    patterns = ("#0f7c93", "#cc7447")
    option: Option = {
        "legend": {"data": [name for name, _values in series]},
        "tooltip": {"trigger": "axis", "confine": True, "renderMode": "richText"},
        "xAxis": axis(
            shown["column"],
            kind="category",
            data=values,
            nameGap=78 if len(values) > 6 else 34,
            axisLabel={
                "rotate": 40 if len(values) > 6 else 0,
                "width": 90,
                "overflow": "truncate",
            },
        ),
        "yAxis": axis(_("share of the records, %"), nameGap=40),
        "grid": {"left": 60, "right": 20, "top": 40, "bottom": 90, "containLabel": True},
        "series": [
            {
                "type": "bar",
                "name": name,
                "data": [round(100 * share, 3) for share in shares],
                "barGap": "-35%",
                "itemStyle": {
                    "color": patterns[place],
                    "opacity": 0.85,
                    **(
                        {
                            "decal": {
                                "symbol": "line",
                                "dashArrayX": [1, 0],
                                "dashArrayY": [3, 4],
                                "rotation": -0.7,
                            }
                        }
                        if place
                        else {}
                    ),
                },
            }
            for place, (name, shares) in enumerate(series)
        ],
    }
    drawn = chart(
        option,
        description=_(
            "Shares of the values of {column} before and after; {moved} of the records would have "
            "to change.",
            column=shown["column"],
            moved=percent(shown["moved"]),
        ),
        columns=[shown["column"], *(name for name, _values in series)],
        rows=[
            [value, *(percent(shares[place], 2) for _name, shares in series)]
            for place, value in enumerate(values)
        ],
        height="26rem",
    )
    drawn.props["data-test"] = "bars"
    quiet(
        "{moved} of the records would have to change for both sides to be the same (total "
        "variation).",
        moved=percent(shown["moved"]),
    )


def _label(value: str) -> str:
    """A value, or what stands for empty cells and rare values, in the language of the page."""
    return {EMPTY: _("(missing)"), OTHERS: _("(others)")}.get(value, value)


def _pair(found: Results) -> None:
    pairs = found.facts["pairs"]
    if not pairs:
        return
    heading("Two columns together", 2)
    names = {name: name for pair in pairs for name in (pair["first"], pair["second"])}
    first = found.query.get("x", pairs[0]["first"])
    second = found.query.get("y", pairs[0]["second"])
    pair = next(
        (each for each in pairs if {each["first"], each["second"]} == {first, second}), None
    )
    with ui.row():
        for key, label, value in (("x", _("Across"), first), ("y", _("Upwards"), second)):
            chosen = picker(label, names, value if value in names else None, f"pair-{key}")
            both = {"x": first, "y": second}
            chosen.on_value_change(
                lambda event, key=key, both=both: _go(found, **(both | {key: event.value}))
            )
    if pair is None:
        quiet("Choose two different columns.")
        return
    turned = pair["first"] != first
    across = pair["second_values"] if turned else pair["first_values"]
    upwards = pair["first_values"] if turned else pair["second_values"]
    most = max(max(map(max, pair[side])) for side in ("before", "after"))
    with ui.element("div").classes("celosia-split"):
        for name, side in ((_("Before"), "before"), (_("After"), "after")):
            with ui.element("section"):
                name_heading(name, 3)
                table = pair[side] if turned else list(zip(*pair[side], strict=True))
                _map((first, across), (second, upwards), table, most=most, side=side)
    quiet(
        "Darker is more frequent, on the same scale on both sides. {moved} of the records "
        "would have to change their pair.",
        moved=percent(pair["moved"]),
    )


def _map(
    across: tuple[str, Sequence[str]],
    upwards: tuple[str, Sequence[str]],
    table: Sequence[Sequence[float]],
    *,
    most: float,
    side: str,
) -> None:
    cells = [
        (low, high, share) for high, line in enumerate(table) for low, share in enumerate(line)
    ]
    labels = {"width": 84, "overflow": "truncate"}
    option: Option = {
        "tooltip": {"confine": True, "renderMode": "richText"},
        "grid": {"left": 20, "right": 20, "top": 50, "bottom": 80, "containLabel": True},
        "xAxis": axis(
            across[0],
            kind="category",
            data=list(map(_label, across[1])),
            nameGap=76,
            axisLabel={"rotate": 40, **labels},
        ),
        "yAxis": {
            "type": "category",
            "name": upwards[0],
            "data": list(map(_label, upwards[1])),
            "axisLabel": labels,
        },
        "visualMap": {
            "min": 0,
            "max": round(100 * most, 3) or 1,
            "orient": "horizontal",
            "left": "center",
            "top": 0,
            "itemHeight": 90,
            "inRange": {"color": ["#eef6f8", "#0f7c93", "#102f38"]},
            "text": [percent(most), percent(0, 0)],
        },
        "series": [
            {
                "type": "heatmap",
                "data": [[low, high, round(100 * share, 3)] for low, high, share in cells],
            }
        ],
    }
    drawn = chart(
        option,
        description=_(
            "Shares of the pairs of {first} and {second}, in %.", first=across[0], second=upwards[0]
        ),
        columns=[across[0], upwards[0], _("share of the records")],
        rows=[
            [_label(across[1][low]), _label(upwards[1][high]), percent(share, 2)]
            for low, high, share in cells
        ],
        height="26rem",
    )
    drawn.props["data-test"] = f"map-{side}"
