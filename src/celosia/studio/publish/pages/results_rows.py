"""The table before and after, side by side: classes coloured, suppressed records marked."""

from __future__ import annotations

from typing import Any

from nicegui import run, ui

from celosia.studio.language import _, n_, number
from celosia.studio.publish import results_table
from celosia.studio.publish.pages.results_parts import Results
from celosia.studio.publish.results_table import Side
from celosia.studio.widgets.table import html_table
from celosia.studio.widgets.text import heading, lead, quiet


async def show(found: Results) -> None:
    """One page of both tables, and a way to turn it."""
    heading("The table before and after", 2)
    lead(
        _(
            "Both sides are sorted by class, so that you can compare them: records of one colour "
            "and number look alike in the release. Rows do not correspond one to one, and in the "
            "file itself they are shuffled."
        )
        if not found.facts["form"]["keep_order"]
        else _(
            "Both sides are sorted by class, so that you can compare them: records of one colour "
            "and number look alike in the release. Within a class rows do not correspond."
        )
    )
    pages = await run.io_bound(results_table.pages, found.work) or 1
    suppressed = await run.io_bound(results_table.first_suppressed, found.work)
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
    with ui.element("div").classes("celosia-sides"):
        sides = []
        for name in (_("Before: the table as it is"), _("After: the release")):
            with ui.element("section").classes("celosia-side"):
                heading(name, 3)
                sides.append((ui.html(sanitize=False), ui.label().classes("celosia-quiet")))
    if not found.facts["solution"]["suppressed"]:
        quiet("No record is suppressed.")

    async def turn(page: int) -> None:
        both = await run.io_bound(results_table.page_of, found.work, page)
        for (body, place), side in zip(sides, both or (), strict=True):
            body.set_content(_table(side))
            place.set_text(_place(side, page))

    async def turned(event: Any) -> None:
        await turn(int(event.value))
        ui.navigate.history.replace(found.address("rows", page=int(event.value)))

    turner.on_value_change(turned)
    await turn(first)


def _table(side: Side) -> str:
    """One side; suppressed records are class 0 and step back."""
    hidden = [place for place, each in enumerate(side.classes) if each == -1]
    return html_table(
        side.rows.columns,
        list(side.rows.iter_rows()),
        classes=side.classes,
        faded=hidden,
        plain=True,
        caption=_("Class 0, faded: suppressed records") if hidden else "",
    )


def _place(side: Side, page: int) -> str:
    first = (page - 1) * results_table.SIZE + 1
    last = first + side.rows.height - 1
    if last < first:
        return n_(
            "All {count} record is on earlier pages",
            "All {count} records are on earlier pages",
            side.total,
        )
    return n_(
        "Record {first} to {last} of {count}",
        "Records {first} to {last} of {count}",
        side.total,
        first=number(first),
        last=number(last),
    )
