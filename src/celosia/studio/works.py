"""Everything that a visitor has begun, behind whichever door: to go on with, or to remove now."""

from __future__ import annotations

import time
from typing import Any

from nicegui import ui

from celosia.studio.doors import DOORS
from celosia.studio.language import _, n_, number
from celosia.studio.runtime import studio
from celosia.studio.settings import MEGABYTE
from celosia.studio.shell import page, visitor, ways_on
from celosia.studio.visitors import Work
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.text import lead, main_heading, paragraph, quiet

_TITLES = {address.strip("/"): name for address, name, _icon in DOORS} | {
    "related": "Related tables",
    "sweep": "Sweep parameters",
}
_ADDRESSES = {"sweep": "/collect/sweep/{work}"}


@page("/works", "Your work")
def works() -> None:
    """All of it, with its size."""
    main_heading("Your work")
    lead("All that this browser has begun here, behind every door. It is kept for a while only.")
    size = ui.label().classes("celosia-quiet")
    most = studio().settings.most_area
    mine = visitor()

    def measure() -> None:
        size.set_text(
            _(
                "{used} MB of at most {most} MB are used.",
                used=number(mine.size() / MEGABYTE, 1),
                most=number(most / MEGABYTE),
            )
        )

    found = mine.works()
    measure()
    if not found:
        draw_empty("release")
        paragraph("Nothing was begun yet.")
        ways_on([(_("To the first page"), "/")])
    with ui.element("div").classes("celosia-cards"):
        for work in found:
            _card(work, measure)


def _card(work: Work, measure: Any) -> None:
    kind = str(work.load("kind"))
    title = _(_TITLES.get(kind, kind))
    name = _name(work, kind) or title
    minutes = int((time.time() - work.folder.stat().st_mtime) // 60)
    address = _ADDRESSES.get(kind, "/{kind}/{work}").format(kind=kind, work=work.id)
    with ui.element("div").classes("celosia-card q-pa-md column") as card:
        link = ui.link(name, address).classes("celosia-h3 celosia-break")
        link.props["aria-label"] = _("Go on with {file}", file=name)
        quiet(f"{title}: {_('{size} MB', size=number(work.size() / MEGABYTE, 1))}")
        quiet(n_("changed {count} minute ago", "changed {count} minutes ago", minutes))
        ui.space()

        def delete() -> None:
            for job in studio().jobs.of(visitor().token):
                if work.id in job.address.split("?")[0].split("/"):
                    studio().jobs.cancel(job)
            work.remove()
            card.delete()
            measure()
            ui.notify(_("Removed: the table, the choices and all results."))

        button = ui.button(_("Delete now"), icon="delete", on_click=delete)
        button.props('flat color=negative data-test="delete"')
        button.props["aria-label"] = _("Delete {file} now", file=name)


def _name(work: Work, kind: str) -> str:
    """What the visitor calls it; doors keep that in places of their own."""
    form, state = work.load("form"), work.load(kind)
    if isinstance(form, dict) and form.get("file"):
        return str(form["file"])
    if isinstance(state, dict) and state.get("name"):
        return str(state["name"])
    return str(work.load("shown") or "")
