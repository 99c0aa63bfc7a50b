"""Progress of a job: a bar, what it is doing, a way to cancel, and what happens when it ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.studio import shell
from celosia.studio.jobs import Job
from celosia.studio.language import _, n_, percent
from celosia.studio.runtime import studio
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.text import paragraph, quiet
from celosia.studio.worker import T, Task

OFTEN = 0.15
"""Seconds between two looks at a job."""


def start(
    title: str,
    task: Task[T],
    *,
    on_done: Callable[[T], object],
    on_part: Callable[[Any], object] | None = None,
    on_end: Callable[[], object] | None = None,
    address: str = "",
    attend: bool = False,
) -> Job | None:
    """Submit a job for the visitor of this page and follow it here; None if it was refused.

    Args:
        title: what it is called, in the page's language.
        task: what a worker does.
        on_done: called with the result when it is there; it may draw, here.
        on_part: called with each part that the job shows on its way.
        on_end: called when it is over in any way.
        address: the page that shows its result, for the list of jobs.
        attend: whether an error moves the focus: where the visitor waits for this and nothing else.
    """
    try:
        job = studio().jobs.submit(shell.visitor().token, title, task, address=address)
    except CelosiaError as error:
        if attend:
            shell.show_error(error, attend=True)
        else:
            shell.notify_error(error)
        return None
    follow(job, on_done=on_done, on_part=on_part, on_end=on_end, attend=attend)
    return job


def follow(
    job: Job,
    *,
    on_done: Callable[[Any], object],
    on_part: Callable[[Any], object] | None = None,
    on_end: Callable[[], object] | None = None,
    on_error: Callable[[CelosiaError], object] | None = None,
    attend: bool = False,
    keeps: bool = False,
) -> None:
    """Show a job until it is over; then the bar goes and `on_done` or the error is shown here.

    `on_error` shows an error in another way than the usual one. A job that `keeps` what it has
    finished can be started again, and goes on.
    """
    jobs = studio().jobs
    seen = 0
    with ui.element("div").classes("w-full").props('aria-live="polite"') as place:
        with ui.row().classes("items-center no-wrap w-full") as row:
            bar = ui.linear_progress(show_value=False).props("indeterminate").classes("grow")
            bar.props["aria-label"] = job.title
            ui.button(_("Cancel"), icon="close", on_click=lambda: jobs.cancel(job)).props(
                "flat no-wrap"
            )
        stage = ui.label(job.title).classes("celosia-quiet")

    async def look() -> None:
        nonlocal seen
        while on_part is not None and seen < len(job.parts):
            seen += 1
            with place:
                await _called(on_part, job.parts[seen - 1])
        if not job.over:
            stage.set_text(_state_text(job, jobs.place(job)))
            if job.share is None:
                bar.props("indeterminate")
            else:
                bar.props(remove="indeterminate")
                bar.set_value(round(job.share, 3))
            return
        timer.deactivate()
        row.delete()
        stage.delete()
        with place:
            if job.state == "done":
                await _called(on_done, job.result)
            elif job.state == "cancelled":
                if keeps:
                    quiet("Cancelled; what was finished is kept.")
                else:
                    quiet("Cancelled; nothing was kept.")
            elif job.error is not None and on_error is not None:
                await _called(on_error, job.error)
            elif job.error is not None:
                shell.show_error(job.error, attend=attend)
            if on_end is not None:
                await _called(on_end)

    with place:
        timer = ui.timer(OFTEN, look)


def job_list() -> None:
    """All jobs of the visitor with their state; it keeps itself up to date."""
    holder = ui.column().classes("q-pa-md").style("min-width: 18rem")
    shown: list[tuple[str, str]] = []

    def draw() -> None:
        found = [job for job in studio().jobs.of(shell.visitor().token) if job.listed]
        state = [(job.id, _state_text(job, 0)) for job in found]
        if state == shown and shown:
            return
        shown[:] = state or [("", "")]
        holder.clear()
        with holder:
            if not found:
                draw_empty("jobs")
                paragraph("No jobs yet. Long jobs are listed here while you continue.")
            for job in found:
                with ui.row().classes("items-center no-wrap"):
                    if job.address:
                        ui.link(job.title, job.address)
                    else:
                        ui.label(job.title)
                    ui.label(_state_text(job, 0)).classes("celosia-quiet")

    with holder:
        ui.timer(1.0, draw)


def _state_text(job: Job, place: int) -> str:
    if job.state == "waiting":
        return n_("Waiting; {count} job in line", "Waiting; {count} jobs in line", max(place, 1))
    if job.state == "running":
        stage = _(job.step.stage) if job.step is not None else _("Starting")
        return stage if job.share is None else f"{stage}: {percent(job.share, 0)}"
    return {"done": _("Done"), "failed": _("Failed"), "cancelled": _("Cancelled")}[job.state]


async def _called(function: Callable[..., Any], *arguments: Any) -> None:
    result = function(*arguments)
    if isinstance(result, Awaitable):
        await result
