"""The table before and after, in one: classes coloured, suppressed records marked."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.studio.language import _, n_, number
from celosia.studio.publish import results_table
from celosia.studio.publish.pages.results_parts import Results
from celosia.studio.publish.results_table import Joined
from celosia.studio.shell import in_thread
from celosia.studio.widgets.table import html_table
from celosia.studio.widgets.text import heading, lead, quiet


async def show(found: Results) -> None:
    """One page of the table, and a way to turn it."""
    heading("The table before and after", 2)
    lead(
        "Each record once, sorted by class: a quasi-identifier as it is, and beside it the label "
        "that is published. Records of one colour and number look alike in the release."
    )
    if not found.facts["form"]["keep_order"]:
        quiet("In the file itself the rows are shuffled.")
    pages = await in_thread(results_table.pages, found.work) or 1
    suppressed = await in_thread(results_table.first_suppressed, found.work)
    asked = found.query.get("page", "1")
    first = min(max(1, int(asked[:9]) if asked.isdecimal() else 1), pages)
    with ui.row().classes("items-center q-mb-sm"):
        turner = ui.pagination(1, pages, direction_links=True, value=first).props("max-pages=5")
        turner.props["aria-label"] = _("Pages")
        turner.set_visibility(pages > 1)
        if suppressed is not None:
            ui.button(
                _("Go to the suppressed records"),
                icon="visibility_off",
                on_click=lambda: turner.set_value(suppressed),
            ).props("flat")
    hidden = await in_thread(results_table.hidden_columns, found.work) or []
    unfold = ui.switch(
        n_(
            "Show the {count} column that is not published",
            "Show the {count} columns that are not published",
            len(hidden),
        )
    ).props('data-test="unfold"')
    unfold.set_visibility(bool(hidden))
    with ui.element("section").classes("celosia-side"):
        body, place = ui.html(sanitize=False), ui.label().classes("celosia-quiet")
    changed = [
        each["name"]
        for each in found.facts["form"]["columns"]
        if each["role"] == "quasi-identifier"
    ]
    if not found.facts["solution"]["suppressed"]:
        quiet("No record is suppressed.")

    async def turn(page: int) -> None:
        shown = await in_thread(
            results_table.joined, found.work, page, changed, folded=not unfold.value
        )
        if shown is not None:
            body.set_content(_table(shown))
            place.set_text(_place(shown, page))

    async def turned(event: Any) -> None:
        await turn(int(event.value))
        ui.navigate.history.replace(found.address("rows", page=int(event.value)))

    turner.on_value_change(turned)
    unfold.on_value_change(lambda: turn(int(turner.value)))
    await turn(first)


def _table(shown: Joined) -> str:
    """The records; suppressed ones are class 0 and step back."""
    hidden = [place for place, each in enumerate(shown.classes) if each == -1]
    return html_table(
        shown.heads,
        shown.rows,
        classes=shown.classes,
        faded=hidden,
        plain=True,
        caption=_("Class 0, faded: suppressed records") if hidden else "",
        label=_("The table before and after"),
        strong=shown.released,
    )


def _place(shown: Joined, page: int) -> str:
    first = (page - 1) * results_table.SIZE + 1
    return n_(
        "Record {first} to {last} of {count}",
        "Records {first} to {last} of {count}",
        shown.total,
        first=number(first),
        last=number(first + len(shown.rows) - 1),
    )
