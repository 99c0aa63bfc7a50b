"""The first page: what this is, and the doors."""

from __future__ import annotations

from nicegui import ui

from celosia.studio.language import _
from celosia.studio.shell import DOORS, page

SENTENCES = {
    "/learn": "How each technique works, how it breaks and what repairs it, with examples to try.",
    "/publish": "Make a table safe to publish: choose models, compare all solutions, take one.",
    "/mask": "Change the cells instead of generalising them, or make an artificial table.",
    "/graphs": "Protect a social network: draw it before and after, attack it, measure it.",
    "/collect": "Learn from many devices without learning about any: watch it converge.",
    "/query": "Ask SQL or SPARQL of data that you may not see, under a privacy budget.",
    "/statistics": "Every published result that we build on, beside ours.",
}


@page("/", "Data privacy under one roof")
def home() -> None:
    """Say what this is and show the doors."""
    ui.label("Celosía").classes("celosia-h1").props("role=heading aria-level=1")
    ui.label(
        _(
            "A celosía is the lattice screen of a Spanish window: those inside see out, nobody "
            "sees in. This studio does the same for data: useful outside, private inside."
        )
    ).classes("celosia-lead")
    with ui.element("div").classes("celosia-cards q-mt-lg"):
        for address, name, icon in DOORS:
            with (
                ui.link(target=address)
                .classes("celosia-card q-pa-md")
                .style("text-decoration: none; display: block")
            ):
                ui.icon(icon, size="2rem").props('aria-hidden="true"')
                ui.label(_(name)).classes("celosia-h3").props("role=heading aria-level=2")
                ui.label(_(SENTENCES[address])).style("color: var(--ink)")
