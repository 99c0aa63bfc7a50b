"""Learn: one technique, its example, the attack that breaks it, what repairs it, and a try."""

from __future__ import annotations

import re
from typing import Any

from nicegui import ui
from starlette.requests import Request

from celosia.studio.language import _, text_of
from celosia.studio.learn import jobs, techniques
from celosia.studio.learn.pages.parts import Address, LiveView, Stepper, show_parts
from celosia.studio.learn.pages.quiz import show_quiz
from celosia.studio.learn.parts import Facts, Lesson
from celosia.studio.runtime import studio
from celosia.studio.shell import page, visitor
from celosia.studio.widgets.formula import mathml, with_formulas
from celosia.studio.widgets.job_progress import follow, start
from celosia.studio.widgets.text import heading, main_heading
from celosia.studio.worker import task

SECTIONS = 4
"""Headings of every text: definition, why it breaks, what repairs it, sources."""

_computed: dict[str, Facts] = {}
"""What workers have computed: the same for all visitors and languages, and small."""


@page("/learn/{technique}", "Learn", door="/learn")
def technique_page(request: Request, technique: str) -> None:
    """The page of one technique."""
    subject = techniques.technique_of(technique)
    lesson = techniques.lesson_of(subject)
    ui.page_title(f"{_(subject.name)} · Celosía")
    ui.link(_("All techniques"), "/learn").classes("celosia-quiet")
    main_heading(subject.name)
    ui.label(f"{_(subject.years)} · {_(subject.sentence)}").classes("celosia-lead")
    definition, breaks, repairs, sources = sections(text_of(subject.text))
    _text(definition)
    heading("A worked example")
    example = ui.element("div")
    ui.markdown(breaks).classes("celosia-text")
    attack = ui.element("div")
    heading("Try it yourself")
    live = ui.element("div")
    ui.markdown(repairs).classes("celosia-text")
    with ui.expansion(_("Quiz: three questions"), icon="quiz").classes("w-full q-my-md") as quiz:
        show_quiz(subject.slug)
    quiz.props["data-test"] = "quiz"
    _onwards(subject)
    ui.markdown(sources).classes("celosia-text celosia-quiet")
    address = Address(f"/learn/{subject.slug}", dict(request.query_params))

    def draw(facts: Facts) -> None:
        _computed[subject.slug] = facts
        _draw(lesson, facts, (example, attack, live), address)

    if subject.slug in _computed:
        draw(_computed[subject.slug])
    else:
        _compute(subject, example, draw)


def _text(text: str) -> None:
    """A text of a lesson with its formulas."""
    for is_formula, part in with_formulas(text):
        if is_formula:
            ui.html(mathml(part), sanitize=False).classes("celosia-formula")  # all escaped there
        else:
            ui.markdown(part).classes("celosia-text")


def sections(text: str) -> list[str]:
    r"""The parts of a text, each from its heading on.

    >>> sections("## A\nx\n## B\ny\n## C\n## D\nz")
    ['## A\nx\n', '## B\ny\n', '## C\n', '## D\nz']
    """
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    return [part for part in parts if part.strip()][:SECTIONS]


def _compute(subject: techniques.Technique, place: ui.element, draw: Any) -> None:
    """Have a worker compute the lesson, or follow the one that does so already."""
    address = f"/learn/{subject.slug}"
    running = next(
        (
            job
            for job in studio().jobs.of(visitor().token)
            if job.address == address and not job.over
        ),
        None,
    )
    with place:
        if running is not None:
            follow(running, on_done=draw)
        else:
            start(
                _("Example: {name}", name=_(subject.name)),
                task(jobs.lesson, technique=subject.slug),
                on_done=draw,
                address=address,
            )


def _draw(
    lesson: Lesson,
    facts: Facts,
    places: tuple[ui.element, ui.element, ui.element],
    address: Address,
) -> None:
    example, attack, live = places
    with example:
        show_parts(lesson.example(facts))
    with attack:
        Stepper(lesson.stories(facts), address)
    with live:
        LiveView(lesson.controls(), lambda chosen: lesson.view(facts, chosen), address)


def _onwards(subject: techniques.Technique) -> None:
    """Links to the technique that comes next, and to the door that does this one in earnest."""
    following = subject.following
    with ui.row().classes("celosia-onwards"):
        if following is not None:
            ui.link(_("Next: {name}", name=_(following.name)), f"/learn/{following.slug}")
        if subject.door == "/publish":
            ui.link(_("Run an algorithm"), "/learn/run")
        ui.link(_("Do it with your own data"), subject.door)
        ui.link(_("Glossary"), "/learn/glossary")
