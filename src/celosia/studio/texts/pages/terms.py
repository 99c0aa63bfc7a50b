"""Private term counts of documents, paid from one budget of the work."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from celosia.studio.language import _, n_, number
from celosia.studio.texts import term_jobs
from celosia.studio.widgets.budget import budget_boxes, price_boxes, show_left
from celosia.studio.widgets.empty import draw_empty
from celosia.studio.widgets.method_form import promise
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import heading, lead, quiet
from celosia.studio.workbench import certificate_file, report_file
from celosia.studio.worker import Task, task

if TYPE_CHECKING:
    from celosia.studio.texts.pages.start import TextWorkbench


def terms_step(workbench: TextWorkbench) -> None:
    """The choices of private term counts, and the last that were released."""
    lead(
        "Which terms many persons use, and how many, with differential privacy: one person with "
        "all documents is hidden. Every release is charged to one budget of these documents."
    )
    wanted, put = workbench.choices("terms", term_jobs.FIRST_TERMS)
    done = workbench.work.load("terms")
    with ui.element("div").classes("celosia-sides"):
        with ui.element("div"), ui.card().classes("w-full"):
            labels = {
                "epsilon": _("Epsilon of this release"),
                "delta": _("Delta: the chance of a term that one person alone has"),
                "per_person": _("Terms of a person that count"),
            }
            price_boxes(labels, wanted, put)
            budget_boxes(wanted, put, begun=done is not None)
            workbench.seed_box().classes("w-full")
            workbench.run_button(
                "Release term counts",
                "Counting terms of {name}",
                lambda: _task(workbench, wanted),
                result="terms",
            )
        with ui.element("div"):
            if done is None:
                draw_empty("release")
                quiet("Nothing was released privately yet.")
            else:
                _shown(workbench, done)


def _task(workbench: TextWorkbench, wanted: Mapping[str, Any]) -> Task[Any]:
    return task(
        term_jobs.release, folder=workbench.folder, wanted=dict(wanted), seed=workbench.seed
    )


def _shown(workbench: TextWorkbench, done: Mapping[str, Any]) -> None:
    heading("Terms of many persons")
    if done["unit"] == "document":
        quiet("It is not known whose the documents are: each one counts as a person.")
    promise(done["guarantee"], simulation=done["simulation"])
    show_left(done["left"])
    quiet(n_("{count} term", "{count} terms", done["count"]))
    if done["terms"]:
        show_table(
            [_("term"), _("noisy number")],
            [[term, number(value)] for term, value in done["terms"]],
            label=_("Terms of many persons"),
        )
    workbench.take_away(
        [
            ("terms.csv", "lock", _("Terms"), _("CSV, to be published")),
            certificate_file("terms-certificate.json", "terms.csv"),
            report_file("terms-report.html"),
        ]
    )
    workbench.same_elsewhere([("Command line", _command(done))])


def _command(done: Mapping[str, Any]) -> str:
    wanted = done["wanted"]
    parts = ["celosia", "text", "release", "terms", "notes", "--unit", done["unit"]]
    parts += ["--declare", "text.toml"] if done["unit"] == "person" else []
    for name in ("epsilon", "delta", "per_person"):
        parts += [f"--{name.replace('_', '-')}", f"{wanted[name]:g}"]
    parts += ["-o", "terms.csv"] + ([] if done["seed"] is None else ["--seed", str(done["seed"])])
    return " ".join(map(shlex.quote, parts))
