"""Advice: four questions, and which door, model and parameters to begin with."""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import urlencode

from nicegui import ui

from celosia.assess.advice import (
    QUESTION_TEXTS,
    QUESTIONS,
    Advice,
    AdviceOptions,
    advise,
    answer_text,
)
from celosia.core.messages import Message, capital, render, say
from celosia.studio.doors import DOORS
from celosia.studio.language import _, short
from celosia.studio.shell import page
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.text import heading, lead, main_heading, quiet

DOOR_PAGES = {
    "publish": "/publish",
    "mask": "/mask",
    "synthesise": "/mask",
    "stream": "/mask",
    "graph": "/graphs",
    "trace": "/traces",
    "text": "/texts",
    "log": "/logs",
    "query": "/query",
    "release": "/query",
    "collect": "/collect",
}
"""Where the studio does what a command does, or the nearest to it."""


@page("/advise", "Advice")
def advice(
    data: str = "table",
    reader: str = "public",
    keep: str = "records",
    attacker: str = "acquaintance",
) -> None:
    """The questions; all answers are in the address."""
    main_heading("Advice")
    lead(
        "Four answers lead to a door, a model and parameters to begin with. No data is read. "
        "Measure the result before you publish it."
    )
    given = {"data": data, "reader": reader, "keep": keep, "attacker": attacker}
    answers = {
        name: value if value in QUESTIONS[name] else QUESTIONS[name][0]
        for name, value in given.items()
    }
    place = ui.column().classes("w-full")

    def show() -> None:
        ui.navigate.history.replace(f"/advise?{urlencode(answers)}")
        place.clear()
        with place:
            _show(AdviceOptions(**answers))  # type: ignore[arg-type]  # it checks them

    with ui.element("div").classes("celosia-sides"):
        for name, listed in QUESTIONS.items():
            ui.select(
                {each: capital(answer_text(each)) for each in listed},
                label=say(QUESTION_TEXTS[name]),
            ).bind_value(answers, name).on_value_change(show)
    place.move(target_index=-1)
    show()


def summary(found: Advice) -> str:
    """The door, the model and its parameters, as the pages of the studio call them."""
    names = {
        "differential-privacy": _("Differential privacy"),
        "local-differential-privacy": _("Local differential privacy"),
        "l-diversity": _("l-diversity"),
        "min-people": _("A least number of people"),
        "surrogates": _("Invented names in the place of real ones"),
    }
    doors = {address: _(name) for address, name, _icon in DOORS}
    models = " + ".join(
        names[each] if each in names else render(Message(f"methods.{each}.title"))
        for each in found.model.split(" and ")
    )
    listed = ", ".join(f"{name} = {short(value)}" for name, value in found.parameters.items())
    return f"{doors[DOOR_PAGES[found.door]]}: {models}" + (f" ({listed})" if listed else "")


def _show(asked: AdviceOptions) -> None:
    found = advise(asked)
    heading("{summary}", 2, summary=summary(found)).props["data-test"] = "advice"
    with ui.element("ul"):
        for each in found.reasons:
            with ui.element("li"):
                ui.label(str(each))
    for each in found.warnings:
        quiet("{warning}", warning=say("assess.advice.beware", warning=each))
    ui.link(_("Open this door in the studio"), DOOR_PAGES[found.door])
    arguments = ", ".join(
        f"{name}={value!r}" for name, value in asdict(asked).items() if value is not None
    )
    show_code(
        [
            (_("Command line"), "\n".join(found.commands)),
            ("Python", f"import celosia\n\nprint(celosia.advise({arguments}))"),
        ]
    )
