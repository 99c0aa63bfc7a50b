"""Learn: the timeline of the techniques, and the glossary."""

from __future__ import annotations

from nicegui import ui

from celosia.studio.language import _
from celosia.studio.learn.glossary import terms
from celosia.studio.learn.techniques import TECHNIQUES
from celosia.studio.shell import page
from celosia.studio.widgets.text import heading, lead, main_heading


@page("/learn", "Learn", door="/learn")
def timeline() -> None:
    """All techniques in the order of their years, each with a sentence and a link."""
    main_heading("How privacy was broken and repaired")
    lead(
        "Each technique answers an attack on an earlier one, or looks after data that the "
        "others do not. Open one to read what it promises, to play the attack step by step, "
        "and to change its parameters yourself. They stand in the order in which one leads to "
        "the next; beside each, the years in which it was published."
    )
    with ui.element("ol").classes("celosia-timeline"):
        for technique in TECHNIQUES:
            with ui.element("li"):
                ui.label(_(technique.years)).classes("years")
                ui.link(_(technique.name), f"/learn/{technique.slug}").classes("celosia-h3")
                ui.label(_(technique.sentence))
    heading("Try and teach")
    with ui.row():
        ui.link(_("Run an algorithm on a sample"), "/learn/run")
        ui.link(_("Classroom: tasks for a class, and a board of results"), "/class")
    heading("Words")
    with ui.row():
        ui.link(_("Glossary: what each word means here"), "/learn/glossary")


@page("/learn/glossary", "Glossary", door="/learn")
def glossary() -> None:
    """The words, with their names in the other language."""
    main_heading("Glossary")
    lead("Each word has one meaning in Celosía; beside it, its name in the other language.")
    with ui.element("dl").classes("celosia-glossary"):
        for term in terms():
            with ui.element("dt"):
                ui.label(term.word)
                if term.elsewhere != term.word:
                    ui.label(f"({term.elsewhere})").classes("celosia-quiet")
            with ui.element("dd"):
                ui.label(term.meaning)
    ui.link(_("Back to the timeline"), "/learn")
