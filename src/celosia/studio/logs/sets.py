"""Baskets: how few known items single out a basket, a method, and what it leaves."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.core.messages import render
from celosia.studio.language import _, n_, percent
from celosia.studio.logs import jobs, model
from celosia.studio.logs.measures import show_attacks, show_facts, show_left_out
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, notice, quiet
from celosia.studio.workbench import Workbench, certificate_file, report_file
from celosia.studio.worker import Task, task


def show_set_methods(workbench: Workbench) -> None:
    """The risk of the baskets as they are, and the methods to choose."""
    state = workbench.state
    show_left_out(state["left_out"])
    if state["sample"] is None:
        _groups(workbench)
    methods = workbench.methods(
        model.SET_FAMILIES, model.set_cards(), prefix="set-", beside=lambda: _sensitive(workbench)
    )
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"):
            heading("Baskets singled out")
            show_table(
                [_("attack"), _("found")],
                [[render(each["name"]), percent(each["share"])] for each in state["known"]],
                caption=_("Baskets that are alone with a few of their items."),
            )
        with ui.element("div"):
            methods.form()
            workbench.run_button(
                "Publish the baskets", "Publishing {name}", lambda: _task(workbench)
            )
    methods.cards()


def _groups(workbench: Workbench) -> None:
    """Groups of items, which uploaded baskets do not have: methods that generalise need them."""
    place = workbench.work.path("items.csv")
    first = place.read_text("utf-8").strip() if place.exists() else ""
    count = ui.refreshable(
        lambda text: quiet(
            n_("{count} line of groups", "{count} lines of groups", len(text.splitlines()))
        )
    )

    def put(text: str) -> None:
        if text:
            place.write_text(text + "\n", "utf-8")
        else:
            place.unlink(missing_ok=True)
        workbench.save(has_hierarchy=bool(text))
        count.refresh(text)

    ui.textarea(
        _("Groups of items, one item a line: item;group;larger group;*"),
        value=first,
        on_change=lambda event: put((event.value or "").strip()),
    ).props('debounce=400 data-test="groups"').classes("w-full")
    count(first)
    quiet("Methods that generalise need groups of items; the others do without.")


def _sensitive(workbench: Workbench) -> None:
    if workbench.choice["method"] in model.SET_FAMILIES["Sensitive items"]:
        ui.textarea(
            _("Sensitive items, one a line"),
            value=workbench.state["sensitive"],
            on_change=lambda event: workbench.save(sensitive=event.value or ""),
        ).props('debounce=400 data-test="sensitive"').classes("w-full")


def _task(workbench: Workbench) -> Task[Any]:
    from celosia.logs import method_from

    choice = workbench.choice
    method_from(choice["method"], choice["parameters"])  # refused before any work
    return task(jobs.run_sets, folder=workbench.folder, choice=choice, seed=workbench.seed)


def show_published_sets(workbench: Workbench) -> None:
    """What is promised of published baskets, and what risk and use is left."""
    result = workbench.last_result("Nothing was published yet.", "Choose and publish")
    if result is None:
        return
    notice("What is shown here compares with the original: keep it to yourself.")
    promise(result["guarantee"], simulation=result["simulation"])
    if result["violations"] == 0:
        quiet("Code that shares nothing with the method has checked the promise.")
    show_attacks(result["attacks"])
    show_facts(result)
    show_left_out(result["left_out"])
    state = workbench.state
    files = [
        (result["file"], "list_alt", _("Published baskets"), _("to be published")),
        certificate_file("certificate.json", result["file"]),
        report_file("report.html"),
        (state["file"], "list", _("Baskets"), _("the original, for the command below")),
    ]
    if state["has_hierarchy"]:
        files.append(("items.csv", "account_tree", _("Groups of items"), _("the hierarchy")))
    if result["has_secrets"]:
        files.append(("sensitive.txt", "lock", _("Sensitive items"), _("one a line")))
    workbench.take_away(files)
    workbench.same_elsewhere(model.set_code(state, result["choice"], seed=result["seed"]))
