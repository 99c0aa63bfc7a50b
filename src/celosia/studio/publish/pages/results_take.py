"""Take away: the data, its certificate, the report, the recipe, and the text that does the same."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from celosia.studio import on_demand
from celosia.studio.language import _, number
from celosia.studio.publish import code, jobs
from celosia.studio.publish.form import HISTORY, PublishForm
from celosia.studio.publish.pages.results_parts import Results, begin, show_blocks
from celosia.studio.runtime import signing_key
from celosia.studio.widgets.code import show_code
from celosia.studio.widgets.text import heading, lead, paragraph, quiet
from celosia.studio.worker import Task, task
from celosia.tables.history import JointOutcome
from celosia.tables.report import joint_blocks


def show(found: Results) -> None:
    """All files, and the code drawer."""
    heading("Download the release", 2)
    if found.facts.get("joint") is not None:
        _history(found)
    if found.facts["form"].get("history") is None or found.facts.get("recorded"):
        lead(
            "The certificate says what is promised, how it was made and what the data file must "
            "look like; keep it with the data."
        )
    with ui.element("div").classes("celosia-cards"):
        for name, icon, title, text in _files():
            _card(found, name, icon, title, text)
    heading("The same elsewhere", 2)
    form = PublishForm.from_dict(found.facts["form"])
    quiet(
        _(
            "These texts publish the same table in the same way. Put {schema} beside the table "
            "first. Rows are shuffled anew each time, so files differ in their order.",
            schema=code.SCHEMA_FILE,
        )
        if not form.keep_order
        else _(
            "These texts publish the same table in the same way. Put {schema} beside the table "
            "first.",
            schema=code.SCHEMA_FILE,
        )
    )
    show_code(
        [
            (_("Command line"), code.command_text(form)),
            (_("Python"), code.python_text(form)),
            (_("Schema (TOML)"), code.schema_text(form)),
        ]
    )


def _history(found: Results) -> None:
    """The combined risk with the earlier releases, and the button that makes this one of them."""
    show_blocks(joint_blocks(JointOutcome(**found.facts["joint"])))
    if found.facts["recorded"]:
        with ui.row().classes("items-center no-wrap q-my-md"):
            ui.icon("check_circle").props('aria-hidden="true"')
            paragraph("This release is recorded in the history.")
        return
    lead(
        "The files are written when the release is recorded: from then on the next releases are "
        "checked together with it. Rows are shuffled anew."
    )

    def record() -> None:
        form = dict(found.facts["form"])
        begin(found, _("Recording the release"), asked(form))

    def asked(form: dict[str, Any]) -> Task[Any]:
        folder = str(found.work.folder)
        return task(jobs.record, folder=folder, form=form, key=signing_key())

    ui.button(_("Record the release and write its files"), icon="history", on_click=record).props(
        'unelevated data-test="record"'
    ).classes("q-mb-md")


def _files() -> list[tuple[str, str, str, str]]:
    return [
        (jobs.ARCHIVE, "folder_zip", _("Everything"), _("all of these in one archive")),
        ("release.csv", "table_view", _("Data, CSV"), _("opens in every program")),
        ("release.parquet", "view_column", _("Data, Parquet"), _("small, with types")),
        (
            "certificate.json",
            "verified",
            _("Certificate"),
            _("what is promised; beside the data call it release.csv.cert.json"),
        ),
        (
            jobs.SIGNATURE,
            "draw",
            _("Signature"),
            _(
                "of the house, for the certificate; beside it call it {name}, and check both "
                "with celosia verify",
                name="release.csv.cert.json.sig",
            ),
        ),
        (
            "report.pdf",
            "picture_as_pdf",
            _("Report, PDF"),
            _("for the data officer's file: promise, gaps, risk, use, attacks and signature"),
        ),
        ("report.html", "description", _("Report, HTML"), _("the same, to read in a browser")),
        ("schema.toml", "schema", _("Recipe: schema"), _("roles and hierarchies of the columns")),
        ("publish.sh", "terminal", _("Recipe: command"), _("the command line below, as a file")),
        ("publish.py", "code", _("Recipe: Python"), _("the Python below, as a file")),
        (HISTORY, "history", _("History of releases"), _("fingerprints and classes; no cell")),
        (
            f"{HISTORY}.key",
            "key",
            _("Key of the history"),
            _("keep it secret, and with the history: publish neither"),
        ),
    ]


def _card(found: Results, name: str, icon: str, title: str, text: str) -> None:
    if not on_demand.is_there(found.work, name):
        return
    path = found.work.path(name)
    with ui.card().classes("celosia-tight"):
        with ui.row().classes("items-center no-wrap"):
            ui.icon(icon, size="1.6rem").props('aria-hidden="true"')
            heading(title, 3)
        quiet(text)
        with ui.row().classes("items-center"):
            link = ui.link(_("Download {name}", name=name), f"/files/{found.work.id}/{name}")
            link.props["download"] = name
            if name == "report.html":
                ui.link(_("Read it here"), f"/files/{found.work.id}/{name}?show", new_tab=True)
            if path.is_file():
                quiet("{size} kB", size=number(max(1, path.stat().st_size // 1000)))
