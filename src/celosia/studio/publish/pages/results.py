"""The results of a run: how far it is, and then each view of it at an address of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.core.messages import capital
from celosia.studio import shell
from celosia.studio.jobs import Job
from celosia.studio.language import Words, _
from celosia.studio.publish import results
from celosia.studio.publish.form import PublishForm
from celosia.studio.publish.pages import (
    rail,
    results_attacks,
    results_compare,
    results_lattice,
    results_risk,
    results_rows,
    results_shapes,
    results_statistics,
    results_summary,
    results_take,
    results_tradeoff,
)
from celosia.studio.publish.pages.results_parts import Results, address
from celosia.studio.publish.pages.steps import PublishWorkbench, run, step_bar, title
from celosia.studio.publish.results_solutions import Solutions
from celosia.studio.runtime import studio
from celosia.studio.shell import in_thread, page, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import follow
from celosia.studio.widgets.text import lead, paragraph

VIEWS: dict[str, Callable[[Results], Any]] = {
    "summary": results_summary.show,
    "tradeoff": results_tradeoff.show,
    "lattice": results_lattice.show,
    "rows": results_rows.show,
    "shapes": results_shapes.show,
    "risk": results_risk.show,
    "statistics": results_statistics.show,
    "attacks": results_attacks.show,
    "compare": results_compare.show,
    "take": results_take.show,
}
"""The views in their order, by their name in the address."""
WITH_SOLUTIONS = ("tradeoff", "lattice", "compare")


@page("/publish/{work_id}/results", "Results", door="/publish")
async def show(work_id: str, request: Any, view: str = "summary") -> None:
    """Follow the run of a work, or show one view of what came of it."""
    work = visitor().work(work_id, "publish")
    wanted = view if view in VIEWS else "summary"
    form = PublishForm.load(work)
    title(form)
    step_bar(work.id, "results")
    job = _job(work)
    if job is not None and not job.over:
        _wait(work, job, wanted)
        return
    facts = results.load(work)
    if job is not None and job.state == "failed" and job.error is not None:
        _refused(work, job.error)
    if facts is None:
        _nothing(work, job)
        return
    solutions = None
    if wanted in WITH_SOLUTIONS:
        solutions = await in_thread(Solutions.load, work)
    if results.is_outdated(facts, form):
        with ui.card().classes("w-full q-mb-md").props('role="status"'):
            paragraph("The settings have changed since this run; these are its results.")
            ui.link(_("Run again"), f"/publish/{work.id}?step=models")
    _tabs(work, wanted)
    with ui.element("div").classes("celosia-railed"):
        with ui.element("div").classes("celosia-work"):
            found = VIEWS[wanted](Results(work, facts, solutions, dict(request.query_params)))
            if found is not None:
                await found
        rail.show_results(facts)


VIEW_NAMES = Words(
    {
        "summary": "Summary",
        "tradeoff": "Trade-off",
        "lattice": "Lattice",
        "rows": "Before and after",
        "shapes": "Distributions",
        "risk": "Risk",
        "statistics": "Numbers",
        "attacks": "Attacks",
        "compare": "Compare",
        "take": "Download",
    }
)
"""What a view is called."""


ICONS = {
    "summary": "summarize",
    "tradeoff": "scatter_plot",
    "lattice": "account_tree",
    "rows": "table_rows",
    "shapes": "bar_chart",
    "risk": "speed",
    "statistics": "functions",
    "attacks": "gpp_maybe",
    "compare": "compare",
    "take": "download",
}


def _tabs(work: Work, wanted: str) -> None:
    with ui.element("nav").classes("celosia-tabs").props(f'aria-label="{_("Views")}"'):
        for view in VIEWS:
            with ui.link(target=address(work.id, view)).classes("celosia-tab") as link:
                ui.icon(ICONS[view]).props('aria-hidden="true"')
                ui.label(VIEW_NAMES[view])
            link.props["data-test"] = f"view-{view}"
            if view == wanted:
                link.props('aria-current="page"')


def _job(work: Work) -> Job | None:
    """The last run of a work, if it is still remembered."""
    saved = work.load("run")
    return None if saved is None else studio().jobs.find(visitor().token, saved["job"])


def _wait(work: Work, job: Job, view: str) -> None:
    lead(
        "The table is being published, every solution tried and both sides measured. You may "
        "leave this page: the work goes on, and you find it in your jobs."
    )

    def ended() -> None:
        if job.state == "done":
            ui.navigate.to(address(work.id, view))
        else:
            _ways_on(work)

    follow(
        job,
        on_done=lambda result: None,
        on_error=lambda error: _refused(work, error),
        on_end=ended,
    )


def _refused(work: Work, error: CelosiaError) -> None:
    """Why a run was refused; whose record each one is can be said here, with a button each."""
    if error.code != "CEL-P068":
        shell.show_error(error)
        return
    column = str(error.details["column"])

    def again(**options: Any) -> None:
        workbench = PublishWorkbench(work)
        workbench.update(lambda form: form.with_options(household=False, **options))
        run(workbench)

    shell.show_problem(
        error.part("title"),
        f"{capital(error.what)} {error.why}",
        _("Say whose record each one is; the run then begins again."),
    )
    with ui.row().classes("q-my-md"):
        ui.button(
            _("Count people by {column}", column=column),
            icon="group",
            on_click=lambda: again(person=column, by_record=False),
        ).props('unelevated data-test="count-people"').classes("celosia-break")
        ui.button(
            _("Each record is another person"),
            icon="person",
            on_click=lambda: again(person=None, by_record=True),
        ).props('outline data-test="count-records"')


def _nothing(work: Work, job: Job | None) -> None:
    if job is not None and job.state == "cancelled":
        lead("The run was cancelled; nothing was kept.")
    else:
        lead("There are no results yet: choose models and run.")
    _ways_on(work)


def _ways_on(work: Work) -> None:
    ways = [
        (_("Back to the models"), f"/publish/{work.id}?step=models"),
        (_("Back to the columns"), f"/publish/{work.id}?step=columns"),
    ]
    if work.path(results.FILE).is_file():
        ways.append((_("Show the results of the run before"), address(work.id, "summary")))
    shell.ways_on(ways)
