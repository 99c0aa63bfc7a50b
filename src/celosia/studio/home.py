"""The first page: what this is, for whom, the doors, and where to begin with sample data."""

from __future__ import annotations

from nicegui import ui

from celosia.studio.doors import DOORS
from celosia.studio.language import Words, _
from celosia.studio.shell import page
from celosia.studio.widgets.text import heading, lead, main_heading, paragraph


@page("/", "Data privacy: publish, query, collect and check")
def home() -> None:
    """Say what this is and show the doors."""
    with ui.element("div").classes("celosia-hero"):
        main_heading("Celosía")
        lead(
            "A celosía is the lattice screen of a Spanish window: those inside see out, nobody "
            "sees in. This studio does the same for data: useful outside, private inside."
        )
    heading("Choose a door")
    with ui.element("div").classes("celosia-cards celosia-entrances"):
        for address, name, icon in DOORS:
            with (
                ui.link(target=address)
                .classes("celosia-card q-pa-md")
                .style("text-decoration: none; display: block")
            ):
                ui.icon(icon, size="2rem").props('aria-hidden="true"')
                heading(_(name), 3)
                ui.label(_SENTENCES[address]).style("color: var(--ink)")
    ui.link(_("Which door? Four questions lead to advice."), "/advise").classes("q-mt-md block")
    heading("Try with sample data")
    paragraph("No installation and no data needed: three clicks to a result.")
    with ui.element("ul").classes("celosia-samples"):
        for address, link, text in _samples():
            with ui.element("li"):
                ui.link(link, address).props("data-test=sample")
                ui.label(text)
    _for_whom()


_SENTENCES = Words(
    {
        "/learn": (
            "How each technique works, how it breaks and what repairs it, with examples to try."
        ),
        "/publish": "Make a table safe to publish: choose models, compare all solutions, take one.",
        "/mask": "Change the cells instead of generalising them, or make an artificial table.",
        "/graphs": "Protect a social network: draw it before and after, attack it, measure it.",
        "/traces": "Publish locations: maps before and after, known points, attacks, noise.",
        "/texts": (
            "Make documents safe to publish: find names and numbers, replace them, verify the new"
            " files."
        ),
        "/logs": "Publish searches and visits: fields treated, a threshold over persons, attacks.",
        "/collect": (
            "Local differential privacy: estimate frequencies from randomised reports, and watch "
            "the estimates converge."
        ),
        "/query": "Query private data in SQL or SPARQL, within a privacy budget.",
        "/statistics": "Published results beside our own computation of them.",
    }
)
"""What one does behind each door."""


def _samples() -> list[tuple[str, str, str]]:
    """Where a first try begins: address, link, and what there is to see."""
    return [
        (
            "/learn/naive",
            _("Find a patient without a name"),
            _("An attack in six steps, with a list of voters."),
        ),
        (
            "/learn/k-anonymity",
            _("Protect eleven people with k-anonymity"),
            _("Move k and watch the table, its classes, its loss and its risk."),
        ),
        (
            "/publish",
            _("Publish an invented census"),
            _("A sample table with roles and hierarchies, ready to run."),
        ),
        (
            "/graphs",
            _("Protect a network of friends"),
            _("A small network, drawn before and after."),
        ),
        (
            "/traces",
            _("Publish the traces of a town"),
            _("See how few known points single out a person, and make traces alike."),
        ),
        (
            "/logs",
            _("Publish two weeks of searches"),
            _("See how few searches single out a person, and keep what several persons asked."),
        ),
        (
            "/collect",
            _("Collect from devices that randomise their answers"),
            _("Randomised reports arrive, and the histogram takes its shape."),
        ),
        (
            "/query",
            _("Query a shop within a budget"),
            _("Each answer has noise, an interval and a price."),
        ),
    ]


def _for_whom() -> None:
    heading("For whom")
    with ui.element("div").classes("celosia-split"):
        with ui.element("div"):
            heading("Teachers and students", 3)
            paragraph(
                "Read about a technique, play the attack that breaks it, change its "
                "parameters, and run it on a census. All numbers are computed here, by the "
                "same functions as in Python and on the command line."
            )
        with ui.element("div"):
            heading("Data officers", 3)
            paragraph(
                "Upload a table, see which records could be re-identified, compare all "
                "solutions, and download the release with a report and the command that "
                "repeats it."
            )
