"""Documents: bring some, see what was found, review it, publish it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from nicegui import ui

from celosia.studio.language import _, n_, percent
from celosia.studio.shell import in_thread, page
from celosia.studio.texts import jobs
from celosia.studio.texts.pages.terms import terms_step
from celosia.studio.widgets.method_form import promise
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

_REPLACED = re.compile(r"\[[A-Z]+(?: \d+)?\]|P-[A-Z2-7]{6,40}|█+")
_MARK = 'style="background: #f6d365; color: #222; border-radius: 3px; padding: 0 2px"'


def _size(state: Mapping[str, Any]) -> str:
    return n_("{count} document", "{count} documents", state["documents"])


class TextWorkbench(Workbench):
    """One piece of work: documents, what was found in them, and the release."""

    door = Door(
        name="texts",
        title="Documents",
        steps=(
            WorkStep("find", "What was found", "search"),
            WorkStep("review", "Review", "visibility"),
            WorkStep("result", "Published texts", "article"),
            WorkStep("terms", "Term counts", "lock"),
        ),
        first="find",
        prepare=jobs.prepare,
        samples=jobs.SAMPLES,
        size=_size,
        heading="Publish documents",
        about="Names, numbers, dates and places in documents identify people. See what is found, "
        "choose what is published in its place, and take new files in which nothing of it is left.",
        bring="Bring a document",
        kinds="Text, Markdown, HTML, JSON, CSV, DOCX or PDF. Hidden content, comments and metadata "
        "are not in the new files.",
        suffixes=jobs.SUFFIXES,
        lenient="Take documents in other languages too, in which names and dates are missed",
    )


start_page(TextWorkbench.door)


@page("/texts/{work_id}", "Documents", door="/texts")
async def texts_steps(work_id: str, step: str = "find") -> None:
    """Show one step of a piece of work."""
    workbench, known = TextWorkbench.open_at(work_id, step)
    if known == "find":
        _find(workbench)
    elif known == "review":
        await _review(workbench)
    elif known == "terms":
        terms_step(workbench)
    else:
        _result(workbench)


def _kinds(counts: Mapping[str, int]) -> list[list[Any]]:
    from celosia.assess.recognisers import ROLES
    from celosia.texts.labels import KIND_LABELS, ROLE_LABELS

    return [
        [str(KIND_LABELS[kind]), str(ROLE_LABELS[ROLES[kind]]), count]
        for kind, count in counts.items()
    ]


def _find(workbench: TextWorkbench) -> None:
    state = workbench.state
    header = [_("kind"), _("what it is to an attacker"), _("findings")]
    show_table(header, _kinds(state["findings"]), caption=_("What was found"))
    heading("What is published in its place")
    ui.radio(
        {
            "label": _("The kind in brackets"),
            "redact": _("A black bar"),
            "surrogate": _("Invented names and numbers, shifted dates"),
            "pseudonym": _("Keyed pseudonyms"),
        },
        value=state["action"],
        on_change=lambda event: workbench.save(action=event.value),
    ).props('data-test="action"')
    ui.number(
        _("Persons of each remaining term, at least (empty: no limit)"),
        value=state["k"],
        min=2,
        on_change=lambda event: workbench.save(
            k=None if event.value is None else max(2, int(event.value))
        ),
    ).props("clearable debounce=400").classes("w-full")
    ui.input(
        _("Recogniser that you installed (empty: none)"),
        value=state["engine"],
        placeholder="spacy:es_core_news_sm",
        on_change=lambda event: workbench.save(engine=(event.value or "").strip()),
    ).props('debounce=400 data-test="engine"').classes("w-full")
    workbench.seed_box()
    workbench.run_button("Publish the documents", "Publishing {name}", lambda: _task(workbench))


def _task(workbench: TextWorkbench) -> Task[Any]:
    state = workbench.state
    return task(
        jobs.run,
        folder=workbench.folder,
        action=state["action"],
        k=state["k"],
        seed=workbench.seed,
    )


async def _review(workbench: TextWorkbench) -> None:
    """The only page with raw text: blurred until it is asked for."""
    notice("This page shows the documents themselves, with what was found in colour.")
    shown = await in_thread(jobs.review, workbench.folder) or []
    place = ui.element("div").style("filter: blur(7px)").props('data-test="raw" aria-hidden="true"')

    def reveal() -> None:
        place.style("filter: none").props('aria-hidden="false"')

    ui.button(_("Show the text"), icon="visibility", on_click=reveal).props('data-test="show"')
    with place:
        for pieces in shown:
            parts = [
                f'<mark {_MARK} title="{escape(kind)}">{escape(text)}</mark>'
                if kind
                else escape(text)
                for text, kind in pieces
            ]
            _text("".join(parts))


def _text(html: str) -> None:
    with ui.card().classes("w-full q-my-sm celosia-break"):
        # The text is escaped above; the marks are ours.
        ui.html(f'<div style="white-space: pre-wrap">{html}</div>', sanitize=False)


def _result(workbench: TextWorkbench) -> None:
    result = workbench.last_result("Nothing was published yet.", "Choose and publish")
    if result is None:
        return
    checked = result["verified"]
    figures(
        [
            (
                _("Findings replaced"),
                str(sum(result["findings"].values())),
                _("Places that held something that identifies a person."),
            ),
            (
                _("Characters as they were"),
                percent(result["untouched"]),
                _("The share of the text that was not touched."),
            ),
            (
                _("Verified"),
                str(checked["texts"]),
                _("Removed texts that were looked for in every layer of the new files."),
            ),
            (
                _("Singled out by three terms"),
                percent(result["singled_out"][1]),
                _("{share} of the persons before.", share=percent(result["singled_out"][0])),
            ),
        ]
    )
    promise(result["guarantee"], simulation=result["simulation"])
    heading("Published texts")
    quiet("What was replaced is in colour. Invented names look like any other name.")
    for text in result["texts"]:
        _text(_REPLACED.sub(lambda match: f"<mark {_MARK}>{match.group()}</mark>", escape(text)))
    workbench.take_away(
        [
            ("published.zip", "folder_zip", _("Documents"), _("the new files")),
            (
                "index.csv",
                "manage_search",
                _("Index"),
                n_(
                    "{count} term of several persons",
                    "{count} terms of several persons",
                    result["terms"],
                ),
            ),
            certificate_file("certificate.json", "published"),
            report_file("report.html"),
        ]
    )
    workbench.same_elsewhere([("Command line", _command(result))])


def _command(result: Mapping[str, Any]) -> str:
    model = "" if result["k"] is None else f" --model rare-terms:k={result['k']}"
    engine = f" --engine {result['engine']}" if result["engine"] else ""
    other = " --other-languages publish" if result.get("lenient") else ""
    given = f"--declare text.toml{model}{engine}{other}"
    return f"celosia text publish notes {given} -o safe --key key.bin"
