"""Mask and synthesise: choose a sample or bring a table, or go on with what was begun."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.studio.language import _, n_
from celosia.studio.mask import jobs
from celosia.studio.mask.model import SAMPLES, Sample
from celosia.studio.shell import page, visitor
from celosia.studio.visitors import Work
from celosia.studio.widgets.job_progress import start
from celosia.studio.widgets.method_form import sample_cards
from celosia.studio.widgets.text import heading, lead, main_heading, quiet
from celosia.studio.widgets.upload import upload
from celosia.studio.worker import task

KIND = "mask"
"""What works of this door are called."""


@page("/mask", "Mask and synthesise", door="/mask")
def mask_start() -> None:
    """Show the samples, the place for a file, and earlier work."""
    main_heading("Mask or synthesise a table")
    lead(
        "Masking perturbs cells (noise, swapping, microaggregation) instead of "
        "generalising them; synthesis generates rows like the real ones. For both, the "
        "studio measures the remaining risk and the utility."
    )
    heading("Try with a sample")
    progress = ui.element("div").classes("w-full")

    def choose(sample: Sample) -> None:
        progress.clear()
        with progress:
            _begin(visitor().new_work(KIND), _(sample.title), sample=sample.name)

    sample_cards(SAMPLES, choose, lambda each: n_("{count} record", "{count} records", each.rows))
    heading("Bring a table")
    quiet("CSV with any delimiter, Excel, Parquet or JSON lines; one record for each person.")

    def arrived(work: Work, file: str, shown: str) -> None:
        _begin(work, shown, file=file, shown=shown)

    upload(lambda: visitor().new_work(KIND), arrived)
    _earlier()


def _begin(work: Work, title: str, **arguments: Any) -> None:
    address = f"/mask/{work.id}?step=recipe"
    start(
        _("Reading {name}", name=title),
        task(jobs.prepare, folder=str(work.folder), **arguments),
        on_done=lambda _result: ui.navigate.to(address),
        address=address,
        attend=True,
    )


def _earlier() -> None:
    found = [
        (work, facts) for work in visitor().works(KIND) if (facts := work.load("mask")) is not None
    ]
    if not found:
        return
    heading("Go on with")
    for work, facts in found[:8]:
        with ui.row().classes("items-center"):
            ui.link(str(facts["name"]), f"/mask/{work.id}?step=recipe").classes("celosia-break")
            quiet(n_("{count} record", "{count} records", facts["rows"]))
