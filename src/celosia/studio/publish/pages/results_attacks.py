"""Attacks on the release: how often each succeeds, before and after, against guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from celosia.studio.language import Words, _, n_, number, percent
from celosia.studio.publish.pages.results_parts import Results, not_computed
from celosia.studio.widgets.chart import Option, axis, chart
from celosia.studio.widgets.text import heading, lead, paragraph, quiet


def show(found: Results) -> None:
    """All attacks in one chart, and each in words."""
    heading("Attacks on the release", 2)
    lead(
        "Each attack was run on the raw table and on the release. The attackers know the "
        "quasi-identifiers of people who are in the table: the worst case."
    )
    attacks = found.facts["attacks"]
    not_computed(found)
    if not attacks:
        return
    _draw(attacks)
    if not any(each["column"] for each in attacks):
        quiet(
            "No column is marked as sensitive, so attacks on sensitive values were left out. "
            "Mark one under Columns to see them."
        )
    _left_out(found.facts.get("suppressed", ()))
    with ui.element("div").classes("celosia-cards q-mt-md"):
        for each in attacks:
            _card(each)


def _left_out(suppressed: Sequence[Mapping[str, Any]]) -> None:
    """What the attacks on classes do not count: records in no class keep their sensitive values."""
    if not suppressed:
        return
    with ui.card().classes("w-full celosia-tight celosia-warning q-mt-md").props('role="note"'):
        paragraph("Suppressed records still show their sensitive values").classes("text-bold")
        ui.label(
            n_(
                "{count} suppressed record is in no class, so all attacks but the linkages leave "
                "it out, and the release looks better than it is. Whoever fits no class must be "
                "it.",
                "{count} suppressed records are in no class, so all attacks but the linkages "
                "leave them out, and the release looks better than it is. Whoever fits no class "
                "must be among them.",
                suppressed[0]["records"],
            )
        )
        for each in suppressed:
            paragraph(
                "{column}: {same} of these {records} have the same value, so a guess among "
                "them is right in {share}.",
                column=each["column"],
                same=number(each["commonest"]),
                records=number(each["records"]),
                share=percent(each["commonest"] / each["records"]),
            )
        quiet("Leave suppressed records out of the file (under Models) to close this.")


def name_of(attack: Mapping[str, Any]) -> str:
    """What an attack is called, with the column that it is about."""
    name = {
        "homogeneity": _("Homogeneity"),
        "background knowledge, worst case": _("Background knowledge"),
        "skewness": _("Skewness"),
        "similarity": _("Similarity"),
        "linkage": _("Linkage"),
        "attribute linkage": _("Attribute linkage"),
    }.get(attack["name"], attack["name"])
    return name if attack["column"] is None else f"{name}: {attack['column']}"


def _draw(attacks: list[dict[str, Any]]) -> None:
    names = [name_of(each) for each in attacks]
    series = (
        (_("By guessing"), [each["baseline"] for each in attacks], "#7d8b8f"),
        (_("On the raw table"), [each["before"]["average"] for each in attacks], "#cc7447"),
        (_("On the release"), [each["average"] for each in attacks], "#0f7c93"),
    )
    option: Option = {
        "legend": {"data": [name for name, _v, _c in series]},
        "tooltip": {"trigger": "axis", "confine": True, "renderMode": "richText"},
        "grid": {"left": 20, "right": 30, "top": 40, "bottom": 50, "containLabel": True},
        "xAxis": axis(_("chance to be right, %"), max=100),
        "yAxis": {
            "type": "category",
            "data": names,
            "inverse": True,
            "axisLabel": {"width": 150, "overflow": "break", "lineHeight": 14},
        },
        "series": [
            {
                "type": "bar",
                "name": name,
                "data": [round(100 * value, 3) for value in values],
                "itemStyle": {"color": colour},
            }
            for name, values, colour in series
        ],
    }
    drawn = chart(
        option,
        description=_("How often each attack is right: by guessing, before and after."),
        columns=[_("attack"), *(name for name, _v, _c in series), _("people exposed")],
        rows=[
            [
                name_of(each),
                percent(each["baseline"], 2),
                percent(each["before"]["average"], 2),
                percent(each["average"], 2),
                each["exposed"],
            ]
            for each in attacks
        ],
        height=f"{max(16, 4 * len(attacks) + 8)}rem",
    )
    drawn.props["data-test"] = "attacks"


def _card(attack: Mapping[str, Any]) -> None:
    with ui.card().classes("celosia-tight"):
        heading(name_of(attack), 3)
        ui.label(_what(attack))
        quiet("The attacker: {assumption}.", assumption=_assumption(attack))
        with ui.row().classes("items-center no-wrap"):
            exposed = attack["exposed"] > 0
            ui.icon("gpp_bad" if exposed else "verified_user").props('aria-hidden="true"').style(
                f"color: var(--{'bad' if exposed else 'good'})"
            )
            ui.label(
                n_(
                    "{count} person exposed ({share} of those tried), {before} on the raw table",
                    "{count} people exposed ({share} of those tried), {before} on the raw table",
                    attack["exposed"],
                    share=percent(attack["share"], 2),
                    before=percent(attack["before"]["share"], 2),
                )
            )
        quiet(
            "Right on average in {average}, about the most exposed person in {greatest}; a "
            "guess without the release in {guess}.",
            average=percent(attack["average"], 2),
            greatest=percent(attack["greatest"], 1),
            guess=percent(attack["baseline"], 2 if attack["baseline"] > 0.001 else 4),
        )
        if exposed:
            paragraph("How to prevent it: {what}.", what=_repair(attack))


_MEANINGS = Words(
    {
        "homogeneity": "All records of a class have the same value, so the class discloses it.",
        "background knowledge, worst case": (
            "The attacker rules out one value, and the remaining records of the class disclose "
            "the other."
        ),
        "skewness": (
            "A value is so much more common in a class than in the table that it tells something."
        ),
        "similarity": "The values of a class differ, but all mean nearly the same.",
        "linkage": "The attacker looks up known people, and finds their records.",
        "attribute linkage": (
            "The attacker looks up known people, and all matching records have the same sensitive"
            " value."
        ),
    }
)


def _what(attack: Mapping[str, Any]) -> str:
    return _MEANINGS.get(attack["name"], "")


def _assumption(attack: Mapping[str, Any]) -> str:
    found: str = {
        "homogeneity": _("knows that a person is in the table, and the person's quasi-identifiers"),
        "background knowledge, worst case": _(
            "knows a person's quasi-identifiers and one value that the person does not have"
        ),
        "skewness": _("knows a person's quasi-identifiers, and how common each value is"),
        "similarity": _("knows a person's quasi-identifiers, and which values are alike"),
        "linkage": _("has a table with names and quasi-identifiers of people in the release"),
        "attribute linkage": _(
            "has a table with names and quasi-identifiers of people in the release"
        ),
    }.get(attack["name"], attack["assumption"])
    return found


def _repair(attack: Mapping[str, Any]) -> str:
    found: str = {
        "homogeneity": _("l-diversity, so that every class has several sensitive values"),
        "background knowledge, worst case": _("l-diversity with a larger l"),
        "skewness": _("t-closeness, so that no class is far from the whole table"),
        "similarity": _("t-closeness with a distance that knows which values are near"),
        "linkage": _("k-anonymity over every column that others may have"),
        "attribute linkage": _("l-diversity or t-closeness besides k-anonymity"),
    }.get(attack["name"], attack["mitigation"])
    return found
