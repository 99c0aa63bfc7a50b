"""Risk gauges: five attackers, before and after, with the threshold and the worst class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from celosia.studio.language import Words, _, n_, percent
from celosia.studio.publish.pages.results_parts import Results
from celosia.studio.widgets.chart import TEXT, Option, chart
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, paragraph, quiet


def show(found: Results) -> None:
    """One gauge for each attacker."""
    heading("Success of each attacker", 2)
    lead(
        "Each gauge goes from 0 % (no chance) to 100 % (certain). The filled needle is the "
        "release, the thin one the raw table; the scale turns red above the threshold."
    )
    with ui.element("div").classes("celosia-cards"):
        for gauge in found.facts["gauges"]:
            with ui.card().classes("celosia-tight"):
                heading(_title(gauge), 3)
                quiet(_meaning(gauge))
                if gauge["after"] is None:
                    ui.label(_why_none(found))
                    continue
                _draw(gauge)
                _figures(gauge)
    _show_records(found.facts["record_measures"])


def _show_records(measures: Sequence[Mapping[str, Any]]) -> None:
    """What the records give away, in figures."""
    if not measures:
        return
    heading("Measures of the records", 2)
    lead(
        "A special unique is unique on at most three columns. l is the smallest number of distinct "
        "sensitive values of a class, t the largest distance of a class from the whole table."
    )
    rows = [[_measure(each), _value(each, "before"), _value(each, "after")] for each in measures]
    show_table([_("measure"), _("raw table"), _("release")], rows)


def _measure(measure: Mapping[str, Any]) -> str:
    return {
        "special": _("special uniques (SUDA)"),
        "separation": _("pairs of records that differ"),
        "smallest_distinct_l": _("smallest l of {column}", column=measure["column"]),
        "largest_t": _("largest t of {column}", column=measure["column"]),
    }[measure["name"]]


def _value(measure: Mapping[str, Any], when: str) -> str:
    value = measure[when]
    if measure["name"] in ("special", "separation"):
        return percent(value, 2)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _title(gauge: Mapping[str, Any]) -> str:
    return {
        "prosecutor": _("Prosecutor"),
        "journalist": _("Journalist"),
        "marketer": _("Marketer"),
        "uniqueness": _("Uniqueness"),
        "disclosure": _("Attribute disclosure: {column}", column=gauge["column"]),
    }[gauge["name"]]


_MEANINGS = Words(
    {
        "prosecutor": (
            "knows that a person is in the table: the probability of finding the record, for the "
            "most exposed person"
        ),
        "journalist": (
            "knows the population but not who is in the table: the probability of identifying a "
            "person correctly"
        ),
        "marketer": "attacks all records: the share that is identified correctly",
        "uniqueness": "the share of records that look like no other",
        "disclosure": (
            "how surely an attacker who finds the class of a person knows the sensitive value, on"
            " average"
        ),
    }
)


def _meaning(gauge: Mapping[str, Any]) -> str:
    return _MEANINGS[gauge["name"]]


def _why_none(found: Results) -> str:
    if found.facts["form"]["population"] is None:
        return _(
            "This needs the population that the table was drawn from. Add one under Models, with a "
            "model that asks for it."
        )
    return _("This needs one level for each column, to compare the population by.")


def _draw(gauge: Mapping[str, Any]) -> None:
    names = (_("Before"), _("After"))
    threshold = gauge["threshold"]
    option: Option = {
        "tooltip": {"show": False},
        "series": [
            {
                "type": "gauge",
                "min": 0,
                "max": 100,
                "startAngle": 200,
                "endAngle": -20,
                "radius": "100%",
                "center": ["50%", "62%"],
                "splitNumber": 5,
                "axisLine": {
                    "lineStyle": {
                        "width": 12,
                        "color": [[threshold, "#5a8a2e"], [1, "#c4574f"]],
                    }
                },
                "axisTick": {"show": False},
                "splitLine": {"length": 12, "lineStyle": {"color": "#fff", "width": 2}},
                "axisLabel": {"distance": 16, "color": TEXT, "fontSize": 11},
                "anchor": {"show": True, "size": 10, "itemStyle": {"color": "#5b676b"}},
                "title": {"show": False},
                "detail": {"show": False},
                "data": [
                    {
                        "value": round(100 * gauge["before"], 3),
                        "name": names[0],
                        "pointer": {"width": 2, "length": "78%"},
                        "itemStyle": {"color": "#8a979b"},
                    },
                    {
                        "value": round(100 * gauge["after"], 3),
                        "name": names[1],
                        "pointer": {"width": 7, "length": "66%"},
                        "itemStyle": {"color": "#0f7c93"},
                    },
                ],
            }
        ],
    }
    chart(
        option,
        description=_(
            "{name}: {before} before, {after} after, threshold {threshold}.",
            name=_title(gauge),
            before=percent(gauge["before"], 2),
            after=percent(gauge["after"], 2),
            threshold=percent(threshold, 0),
        ),
        height="11rem",
    ).classes("celosia-gauge-chart")


def _figures(gauge: Mapping[str, Any]) -> None:
    paragraph(
        "{after} after, {before} before",
        after=percent(gauge["after"], 2),
        before=percent(gauge["before"], 2),
    ).classes("text-bold")
    over = gauge["after"] > gauge["threshold"]
    with ui.row().classes("items-center no-wrap"):
        ui.icon("warning" if over else "check_circle").props('aria-hidden="true"').style(
            f"color: var(--{'warn' if over else 'good'})"
        )
        ui.label(
            _("above the threshold of {share}", share=percent(gauge["threshold"], 0))
            if over
            else _("within the threshold of {share}", share=percent(gauge["threshold"], 0))
        )
    if gauge["baseline"] is not None:
        quiet(
            "{share} without the release, from how common each value is; the threshold is 20 "
            "points above",
            share=percent(gauge["baseline"], 2),
        )
    quiet(
        n_(
            "worst class: {count} record ({before} before)",
            "worst class: {count} records ({before} before)",
            gauge["worst"],
            before=gauge["worst_before"],
        )
        if gauge["name"] != "journalist"
        else n_(
            "worst class: {count} person of the population ({before} before)",
            "worst class: {count} people of the population ({before} before)",
            gauge["worst"],
            before=gauge["worst_before"],
        )
    )
