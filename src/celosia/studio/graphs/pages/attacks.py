"""Attacks on a published graph: who is found before and after, by what the attacker knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from celosia.core.messages import Message, render
from celosia.studio.graphs import jobs
from celosia.studio.graphs.labels import FIRST, MORE, REPAIRS
from celosia.studio.graphs.pages.start import GraphWorkbench
from celosia.studio.language import _, current, number, percent
from celosia.studio.widgets.chart import bars
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, quiet
from celosia.studio.worker import task


def show(workbench: GraphWorkbench) -> None:
    """The attacks that every release meets, and more when asked for."""
    result = workbench.last_result("Nothing was published yet.", "Choose a method and publish")
    if result is None:
        return
    lead(
        "Each attack looks for every person of the original in the release. Before means "
        "the original graph with names removed."
    )
    if not result["attacks"]:
        quiet(
            "No vertex of this release corresponds to a person: it has groups, or is a "
            "new graph. Attacks on single vertices do not apply."
        )
        return
    if result["world"]:
        quiet("The release is not a plain graph: one random world of it is attacked.")
    _structural(result["attacks"])
    heading("More attacks")
    _more(workbench, result)


def _structural(found: Sequence[Mapping[str, Any]]) -> None:
    titles = [_title(each["name"]) for each in found]
    bars(
        titles,
        [
            (
                _("before: names hidden only"),
                [round(100 * each["before"]["exposed"], 3) for each in found],
            ),
            (_("release"), [round(100 * each["after"]["exposed"], 3) for each in found]),
        ],
        description=_("People found for certain by each attack, before and in the release."),
        x=_("what the attacker knows"),
        y=_("people found for certain (%)"),
    )
    show_table(
        [
            _("attack"),
            _("found before"),
            _("found after"),
            _("right guesses before"),
            _("right guesses after"),
            _("fewest candidates"),
        ],
        [
            [
                title,
                percent(each["before"]["exposed"]),
                percent(each["after"]["exposed"]),
                percent(each["before"]["chance"]),
                percent(each["after"]["chance"]),
                number(each["after"]["smallest"]),
            ]
            for title, each in zip(titles, found, strict=True)
        ],
        caption=_(
            "Found: one candidate is left, and it is the right one. Right guesses: one of the "
            "candidates is taken by lot. With 0 candidates nobody fits what the attacker knows."
        ),
    )
    with ui.element("div").classes("celosia-cards q-mt-md"):
        for name in FIRST:
            _words(name)


def _words(name: str) -> None:
    with ui.element("div").classes("celosia-card q-pa-md"):
        ui.label(_title(name)).classes("text-bold")
        _about(name)


def _title(name: str) -> str:
    return render(Message(f"methods.{name}.title"), current())


def _about(name: str) -> None:
    """What the attacker knows or does, and what helps."""
    ui.label(render(Message(f"methods.{name}.summary"), current()))
    quiet("What helps: {repair}", repair=_(REPAIRS[name]))


def _more(workbench: GraphWorkbench, result: Mapping[str, Any]) -> None:
    wanted = dict.fromkeys(MORE, True)
    with ui.element("div").classes("celosia-cards"):
        for name in MORE:
            with ui.element("div").classes("celosia-card q-pa-md"):
                ui.checkbox(
                    _title(name),
                    value=True,
                    on_change=lambda event, name=name: wanted.update({name: bool(event.value)}),
                ).classes("text-bold")
                _about(name)

    def attack() -> None:
        names = [name for name, yes in wanted.items() if yes]
        if not names:
            ui.notify(_("Choose at least one attack."), type="warning")
            return
        place.clear()
        drawn.clear()
        with place:
            start(
                _("Attacking {name}", name=workbench.name),
                task(
                    jobs.attack,
                    folder=workbench.folder,
                    names=names,
                    choice=result["choice"],
                    seed=result["seed"],
                ),
                on_done=draw,
                address=workbench.address("attacks"),
            )

    def draw(found: Sequence[Mapping[str, Any]]) -> None:
        drawn.clear()
        with drawn:
            _table(found)

    ui.button(_("Run these attacks"), icon="gpp_bad", on_click=attack).props(
        'data-test="attack"'
    ).classes("q-my-md")
    place = ui.element("div").classes("w-full")
    drawn = ui.element("div").classes("w-full").props('data-test="more"')
    known = workbench.work.load("attacks")
    if known is not None:
        draw(known)


def _table(found: Sequence[Mapping[str, Any]]) -> None:
    measures = {
        "subgraph": _("people identified correctly"),
        "hubs": _("people identified correctly"),
        "links": _("pairs distinguished; 50 % is guessing"),
        "propagation": _("people matched correctly"),
        "percolation": _("people matched correctly"),
        "seedless": _("people matched correctly"),
        "active": _("targets found for certain"),
    }
    show_table(
        [_("attack"), _("measure"), _("before"), _("after")],
        [
            [
                _title(each["name"]),
                measures[each["name"]],
                percent(each["before"]),
                _("not possible") if each["after"] is None else percent(each["after"]),
            ]
            for each in found
        ],
        caption=_("Success of each attack on the naive release, and on this one"),
    )
    if any(each["after"] is None for each in found):
        quiet("Planted accounts are looked for in plain graphs only.")
