"""Advice: four questions, and which door, model and parameters to begin with."""

from __future__ import annotations

from dataclasses import asdict
from urllib.parse import urlencode

from nicegui import ui

from celosia.assess.advice import (
    QUESTION_TEXTS,
    QUESTIONS,
    AdviceOptions,
    advise,
    answer_text,
)
from celosia.core.messages import capital, say
from celosia.studio.language import _
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


def _show(asked: AdviceOptions) -> None:
    found = advise(asked)
    words = capital(str(found).removeprefix("celosia "))  # a page is no command line
    heading("{summary}", 2, summary=words).props["data-test"] = "advice"
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
