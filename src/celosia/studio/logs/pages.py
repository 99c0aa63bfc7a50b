"""Logs: bring one, see what its columns are taken for, choose a threshold, publish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia.core.messages import render
from celosia.studio.language import _, n_, number, percent
from celosia.studio.logs import jobs, model
from celosia.studio.logs.keys import show_keys
from celosia.studio.logs.measures import show_attacks, show_facts, show_left_out
from celosia.studio.logs.plan import show_plan
from celosia.studio.logs.sets import show_published_sets, show_set_methods
from celosia.studio.shell import in_thread, page
from celosia.studio.widgets.method_form import parameter_controls, promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import figures, heading, notice, quiet
from celosia.studio.workbench import (
    Door,
    Workbench,
    WorkStep,
    certificate_file,
    report_file,
    start_page,
)
from celosia.studio.worker import Task, task


def _size(state: Mapping[str, Any]) -> str:
    if state["kind"] == "sets":
        return n_("{count} basket", "{count} baskets", state["records"])
    people = n_("{count} person", "{count} persons", state["persons"])
    return n_("{count} record", "{count} records", state["records"]) + f", {people}"


class LogWorkbench(Workbench):
    """One piece of work: a log, the treatment of its fields, the threshold, and the release."""

    door = Door(
        name="logs",
        title="Logs",
        steps=(
            WorkStep("fields", "Method", "tune"),
            WorkStep("result", "Result", "list_alt"),
            WorkStep("keys", "Frequent keys", "key"),
            WorkStep("plan", "Plan", "table_chart"),
        ),
        first="fields",
        prepare=jobs.prepare,
        samples=model.SAMPLES,
        size=_size,
        heading="Publish logs",
        about="A few searches single out nearly everybody, and some name the person. Treat the "
        "fields that identify, keep only what several persons asked, and see what attackers find.",
        bring="Bring a log",
        kinds="A table or JSON lines with a column for the person and one for the query, the item "
        "or the web address, each known by its name (such as user, query, url), the access log of "
        "a web server, or baskets: a line each, items separated by tabs, commas or blanks.",
        suffixes=model.SUFFIXES,
        lenient="Drop damaged records and count them",
    )


start_page(LogWorkbench.door)


@page("/logs/{work_id}", "Logs", door="/logs")
async def logs_steps(work_id: str, step: str = "fields") -> None:
    """Show one step of a piece of work."""
    workbench, known = LogWorkbench.open_at(work_id, step)
    await in_thread(model.field_controls)  # loads the methods, once
    await in_thread(model.key_cards)
    is_sets = workbench.state["kind"] == "sets"
    if known == "keys":
        show_keys(KeyWorkbench(workbench.work))
    elif known == "plan":
        show_plan(workbench)
    elif is_sets:
        {"fields": show_set_methods, "result": show_published_sets}[known](workbench)
    else:
        {"fields": _fields, "result": _result}[known](workbench)


class KeyWorkbench(LogWorkbench):
    """The same work, where the chosen method is the one that names keys."""

    @property
    def choice(self) -> dict[str, Any]:
        """The chosen mechanism and its parameters."""
        return dict(self.state["key_choice"])

    def save(self, **values: Any) -> None:
        """Keep some values."""
        if "choice" in values:
            values["key_choice"] = values.pop("choice")
        super().save(**values)


def _fields(workbench: LogWorkbench) -> None:
    show_left_out(workbench.state["left_out"])
    columns = ui.refreshable(lambda: _columns(workbench))
    thresholds = ui.refreshable(lambda: _thresholds(workbench))

    def put(parameters: dict[str, Any]) -> None:
        workbench.save(fields=parameters)
        columns.refresh()

    def put_k(value: Any) -> None:
        if value is not None:
            workbench.save(k=max(2, int(value)))
            thresholds.refresh()

    heading("What the columns are")
    quiet(
        "By their names: read it over. Of a cell only the shape is shown, with 9 for a digit and "
        "a for a letter. For other columns, change the declaration and use the command line."
    )
    columns()
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"):
            heading("Treatment of fields")
            parameter_controls(
                "fields",
                model.field_controls(),
                workbench.state["fields"],
                [],
                put,
                prefix="log-",
            )
        with ui.element("div"):
            heading("Threshold over persons")
            ui.number(
                _("Persons that a published query has, at least"),
                value=workbench.state["k"],
                min=2,
                on_change=lambda event: put_k(event.value),
            ).props('debounce=400 data-test="threshold"').classes("w-full")
            thresholds()
            workbench.seed_box()
            workbench.run_button("Publish the log", "Publishing {name}", lambda: _task(workbench))


def _columns(workbench: LogWorkbench) -> None:
    state = workbench.state
    show_table(
        [_("column"), _("what it is"), _("shape of a cell"), _("what is published")],
        [
            [
                each["name"],
                ", ".join(model.ROLE_NAMES[role] for role in each["roles"] or [""]),
                each["shape"],
                model.treatment(each["roles"], state["fields"]),
            ]
            for each in state["columns"]
        ],
        label=_("What the columns are"),
    )


def _thresholds(workbench: LogWorkbench) -> None:
    chosen = workbench.state["k"]
    rows = [
        each
        for each in workbench.state["thresholds"]
        if each["k"] in model.LISTED or each["k"] == chosen
    ]
    quiet(
        "What a threshold keeps. The last column counts queries that many records and too few "
        "persons have. Queries with an identifier are dropped besides."
    )
    show_table(
        [_("persons"), _("queries"), _("records"), _("by records only")],
        [[each["k"], each["queries"], percent(each["records"]), each["wrong"]] for each in rows],
        label=_("What a threshold keeps"),
        marked=[place for place, each in enumerate(rows) if each["k"] == chosen],
    )


def _task(workbench: LogWorkbench) -> Task[Any]:
    state = workbench.state
    model.check(state["k"], state["fields"])
    return task(
        jobs.run,
        folder=workbench.folder,
        k=state["k"],
        fields=state["fields"],
        seed=workbench.seed,
    )


def _result(workbench: LogWorkbench) -> None:
    result = workbench.last_result("Nothing was published yet.", "Choose and publish")
    if result is None:
        return
    notice("What is shown here compares with the original: keep it to yourself.")
    for warning in result["warnings"]:
        notice(render(warning))
    records, attacks = result["records"], result["attacks"]
    boxes = [
        (
            _("Records kept"),
            percent(records["after"] / records["before"]),
            _(
                "{after} of {before} records.",
                after=number(records["after"]),
                before=number(records["before"]),
            ),
        ),
    ]
    if attacks:
        worst = max(attacks, key=lambda each: each["before"])
        boxes += [
            (
                _("Singled out before"),
                percent(worst["before"]),
                _(
                    "Persons found by: {attack}, in the log without names.",
                    attack=render(worst["name"]),
                ),
            ),
            (
                _("Singled out after"),
                percent(worst["after"]),
                _("The same attack on the release."),
            ),
        ]
    figures(boxes)
    promise(result["guarantee"], simulation=result["simulation"])
    show_attacks(attacks)
    show_facts(result)
    show_left_out(result["left_out"])
    state = workbench.state
    workbench.take_away(
        [
            ("published.csv", "list_alt", _("Published log"), _("CSV, to be published")),
            certificate_file("certificate.json", "published.csv"),
            report_file("report.html"),
            (state["file"], "list", _("Log"), _("the original, for the command below")),
            ("log.toml", "description", _("Declaration"), _("what its columns mean")),
        ]
    )
    workbench.same_elsewhere(
        model.code(
            state["sample"], state["file"], result["k"], result["fields"], seed=result["seed"]
        )
    )
