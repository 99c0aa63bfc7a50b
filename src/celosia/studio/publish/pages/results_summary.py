"""The summary: what is promised in words, the figures that matter, and what to know before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.assess.risk import RiskProfile
from celosia.core.messages import render
from celosia.core.progress import Timings
from celosia.studio.language import _, figure, n_, number, percent
from celosia.studio.publish import model_kinds
from celosia.studio.publish.pages.results_parts import (
    Results,
    keep,
    level_text,
    metric_name,
    show_blocks,
)
from celosia.studio.publish.results_tray import Candidate
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import figures, heading, paragraph, quiet
from celosia.tables.account import RawColumns, timing_rows
from celosia.tables.history import JointOutcome
from celosia.tables.report import joint_blocks, raw_blocks


def show(found: Results) -> None:
    """Promise, key figures, columns and warnings."""
    facts = found.facts
    with ui.card().classes("w-full celosia-tight"):
        heading("The guarantee", 2)
        for model in facts["form"]["models"]:
            ui.label(model_kinds.promise(model))
        named = {model["method"] for model in facts["form"]["models"]}
        quiet(model_kinds.caveat(named))
        columns = ", ".join(column["name"] for column in facts["solution"]["columns"])
        if facts["form"].get("person") is None:
            quiet(
                "This holds if each person has at most one record, and if of what the table holds "
                "an attacker knows only: {columns}.",
                columns=columns,
            )
        else:
            quiet(
                "Counted by {unit}. This holds if of what the table holds an attacker knows one "
                "record of the victim, and of it only: {columns}.",
                unit=facts["form"]["person"],
                columns=columns,
            )
    _warnings(facts)
    heading("Key figures", 2)
    figures(_figures(found))
    heading("What became of each column", 2)
    _columns(found)
    if facts.get("raw") is not None:
        risk = RiskProfile.from_dict(facts["risk"])
        show_blocks(raw_blocks(RawColumns.from_dict(facts["raw"]), risk))
    if facts.get("joint") is not None:
        show_blocks(joint_blocks(JointOutcome.from_dict(facts["joint"])))
    ui.button(
        _("Add to the comparison"),
        icon="playlist_add",
        on_click=lambda: keep(found, Candidate.of_release(facts)),
    ).props("outline").classes("q-mt-md")


def _figures(found: Results) -> list[tuple[str, str, str]]:
    facts = found.facts
    solution, risk, before = facts["solution"], facts["risk"], facts["risk_before"]
    listed = [
        figure(
            "Loss",
            percent(solution["loss"]),
            "of the information; 0 % is the raw table, 100 % hides everything",
        ),
        figure(
            "Suppressed",
            n_("{count} record", "{count} records", solution["suppressed"]),
            "{share} of {rows}; up to {limit} were allowed",
            share=percent(solution["suppressed"] / solution["rows"]),
            rows=number(solution["rows"]),
            limit=percent(facts["form"]["suppression"]),
        ),
        figure(
            "Classes",
            number(risk["classes"]),
            "equivalence classes; {count} before",
            count=number(before["classes"]),
        ),
        figure(
            "Smallest class",
            n_("{count} record", "{count} records", risk["smallest"]),
            "{before} before; the models ask for {least}",
            before=number(before["smallest"]),
            least=number(solution["smallest_allowed"]),
        ),
        figure(
            "Average risk",
            percent(risk["average"], 2),
            "chance to pick the right record of a random person; {before} before",
            before=percent(before["average"], 2),
        ),
        figure(
            "Highest risk",
            percent(risk["maximum"], 2),
            "the same for the most exposed person; {before} before",
            before=percent(before["maximum"], 2),
        ),
        figure(
            "Records at risk",
            percent(risk["at_risk"], 2),
            "are in classes so small that the chance is above {threshold}; {before} before",
            threshold=percent(risk["threshold"], 0),
            before=percent(before["at_risk"], 2),
        ),
    ]
    if solution["metric"] != "loss":
        listed.insert(
            1,
            (
                metric_name(solution["metric"]),
                percent(solution["score"]),
                _("the metric that the search minimised, from 0 % to 100 %"),
            ),
        )
    return listed


def _columns(found: Results) -> None:
    solution = found.facts["solution"]
    show_table(
        [_("column"), _("what is shown of it"), _("loss")],
        [
            [
                column["name"],
                level_text(found, column["name"], column["level"], column["height"]),
                percent(column["loss"]),
            ]
            for column in solution["columns"]
        ],
    )
    if found.facts["identifiers"]:
        quiet(
            "Removed, because they identify people: {columns}.",
            columns=", ".join(found.facts["identifiers"]),
        )
    quiet(_how(found.facts))
    timings = Timings.from_dict(found.facts.get("timings", {}))
    if timings.seconds:
        listed = [f"{name} {seconds}" for name, seconds in timing_rows(timings)]
        quiet("How long it took: {stages}.", stages=", ".join(listed))


def _how(facts: Mapping[str, Any]) -> str:
    solution = facts["solution"]
    if solution["method"] != "lattice":
        return _("Recoded by Mondrian: each class has ranges of its own.")
    if facts["form"]["levels"] is not None:
        return _("These levels were chosen by hand.")
    if solution["rounds"] > 1:
        return n_(
            "Suppressed records were recoded again by themselves, in {count} round.",
            "Suppressed records were recoded again by themselves, in {count} rounds.",
            solution["rounds"],
        )
    if solution["exact"]:
        return _("This is the best of all generalisations: the search has proved it.")
    return _("This is the best generalisation that was found in time.")


def _warnings(facts: Mapping[str, Any]) -> None:
    for text in facts["warnings"]:
        with ui.card().classes("w-full celosia-tight celosia-warning q-mt-md").props('role="note"'):
            paragraph("Please note").classes("text-bold")
            ui.label(render(text))
