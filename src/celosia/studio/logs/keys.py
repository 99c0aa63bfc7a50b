"""Frequent keys with differential privacy: a mechanism, and what it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.studio.budget import FIRST
from celosia.studio.language import _, n_, number
from celosia.studio.logs import jobs, model
from celosia.studio.widgets.budget import budget_boxes, show_left
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, notice, quiet
from celosia.studio.workbench import Workbench, certificate_file, report_file
from celosia.studio.worker import Task, task


def show_keys(workbench: Workbench) -> None:
    """The mechanisms that name keys, and below what was named last."""
    quiet(
        "Which queries or items may be named at all, with differential privacy for persons: a key "
        "is named only if its noisy number of persons is large. Do not choose the number of keys "
        "of a person from these data. Every release is charged to one budget of the log."
    )
    budget, put = workbench.choices("budget", FIRST)
    methods = workbench.methods(
        model.KEY_FAMILIES, model.key_cards(), prefix="key-", beside=lambda: _named(workbench)
    )
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"):
            methods.form()
            budget_boxes(budget, put, begun=workbench.work.load("keys") is not None)
            workbench.run_button(
                "Name frequent keys",
                "Naming keys of {name}",
                lambda: _task(workbench, budget),
                result="keys",
            )
        with ui.element("div"):
            _result(workbench)
    methods.cards()


def _named(workbench: Workbench) -> None:
    """What is named: of baskets only items and pairs of them."""
    if workbench.choice["method"] == "itemsets":
        return
    is_sets = workbench.state["kind"] == "sets"
    choices = [of for of in model.KEYS if not (is_sets and "clicks" in of)]
    ui.select(
        {of: model.KEY_NAMES[of] for of in choices},
        value=workbench.state["of"],
        label=_("What is named"),
        on_change=lambda event: workbench.save(of=event.value),
    ).props('data-test="key-of"').classes("w-full")


def _task(workbench: Workbench, budget: Mapping[str, Any]) -> Task[Any]:
    from celosia.core.methods import build

    choice = workbench.choice
    build(model.key_methods(), choice["method"], choice["parameters"])  # refused before any work
    return task(
        jobs.release_keys,
        folder=workbench.folder,
        choice=choice,
        of=workbench.state["of"],
        budget=dict(budget),
        seed=workbench.seed,
    )


def _result(workbench: Workbench) -> None:
    result = workbench.work.load("keys")
    if result is None:
        return
    heading("What was named")
    if result["is_large_delta"]:
        notice("Delta is not below one in the number of persons: choose a smaller one.")
    quiet(n_("{count} key", "{count} keys", result["count"]))
    columns = [_("key"), _("noisy number")] if result["has_numbers"] else [_("key")]
    show_table(
        columns,
        [
            [key, number(value)] if result["has_numbers"] else [key]
            for key, value in result["keys"].items()
        ],
        label=_("What was named"),
    )
    promise(result["guarantee"], simulation=result["simulation"])
    show_left(result["left"])
    workbench.take_away(
        [
            ("keys.csv", "key", _("Frequent keys"), _("CSV, to be published")),
            certificate_file("keys-certificate.json", "keys.csv"),
            report_file("keys-report.html"),
        ]
    )
    workbench.same_elsewhere(
        model.key_code(workbench.state, result["choice"], result["of"], seed=result["seed"])
    )
