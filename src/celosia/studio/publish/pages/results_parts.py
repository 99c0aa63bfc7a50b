"""What the views of the results share: their addresses, headings, a chosen solution and its use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from nicegui import ui

from celosia.core.errors import CelosiaError
from celosia.core.report import Block, Facts, Heading, Paragraph, Table
from celosia.studio import shell
from celosia.studio.language import Words, _, figure, n_, number, percent
from celosia.studio.publish import jobs, results_tray
from celosia.studio.publish.results_solutions import Levels, Point, Solutions
from celosia.studio.publish.results_tray import Candidate
from celosia.studio.runtime import signing_key, studio
from celosia.studio.visitors import Work
from celosia.studio.widgets.table import show_table
from celosia.studio.widgets.text import figures, heading, paragraph, quiet
from celosia.studio.worker import Task, task


@dataclass(frozen=True, slots=True)
class Results:
    """What a view shows: a work, what was measured, and all solutions."""

    work: Work
    facts: Mapping[str, Any]
    solutions: Solutions | None
    query: Mapping[str, str]

    def address(self, view: str, **query: str | int) -> str:
        """The address of a view."""
        return address(self.work.id, view, **query)

    @property
    def rows(self) -> int:
        """Records of the table."""
        return int(self.facts["solution"]["rows"])

    @property
    def chosen(self) -> Levels | None:
        """The levels of the release, where all records share them."""
        levels = tuple(column["level"] for column in self.facts["solution"]["columns"])
        return None if None in levels else levels


def address(work_id: str, view: str, **query: str | int) -> str:
    """The address of a view of the results."""
    return f"/publish/{work_id}/results?{urlencode({'view': view, **query})}"


def not_computed(found: Results) -> None:
    """Say which figures failed; nothing of the release depends on them."""
    names = {
        "attacks": _("attacks"),
        "distributions": _("distributions"),
        "statistics": _("statistics"),
    }
    failed = [names.get(each, each) for each in found.facts.get("not_computed", ())]
    if failed:
        paragraph(
            "Not computed: {figures}. They need more memory than there is here, or failed; the "
            "release is as good without them.",
            figures=", ".join(failed),
        ).classes("text-bold").props('role="alert" data-test="not-computed"')


def show_blocks(blocks: Iterable[Block]) -> None:
    """Headings, paragraphs, facts and tables of the report, which are in the page's language."""
    for block in blocks:
        if isinstance(block, Heading):
            heading(block.text, 2)
        elif isinstance(block, Paragraph):
            quiet(block.text)
        elif isinstance(block, Facts):
            figures([(name, value, "") for name, value in block.items])
        elif isinstance(block, Table):
            show_table(list(block.header), [list(row) for row in block.rows])


def picker(label: str, options: Mapping[Any, str], value: Any, test: str) -> ui.select:
    """A labelled list to choose from."""
    found = ui.select(dict(options), value=value, label=label).props("outlined dense")
    found.classes("q-mb-md").style("min-width: 14rem")
    found.props["data-test"] = test
    return found


_METRICS = Words(
    {
        "loss": "Loss",
        "arithmetic-loss": "Mean loss",
        "precision": "Precision loss",
        "height": "Height",
        "discernibility": "Discernibility",
        "average-class-size": "Average class size",
        "entropy": "Entropy loss",
        "ambiguity": "Ambiguity",
        "publisher-payoff": "Missing payoff",
    }
)


def metric_name(metric: str) -> str:
    """What a metric is called, as the name of an axis."""
    return _METRICS.get(metric, metric)


def level_text(found: Results, column: str, level: int | None, height: int) -> str:
    """A level in words, with a label that occurs there."""
    if level is None:
        return _("ranges of its own in each class")
    if level == 0:
        return _("level 0 of {height}: as it is", height=height)
    labels = found.facts["labels"].get(column, ())
    if level == height or level >= len(labels):
        return _("level {level} of {height}: hidden", level=level, height=height)
    count, example = labels[level]
    return n_(
        "level {level} of {height}: {count} label, such as {example}",
        "level {level} of {height}: {count} labels, such as {example}",
        int(count),
        level=level,
        height=height,
        example=example,
    )


def show_point(found: Results, levels: Levels) -> None:
    """A node that was clicked: its levels, its figures, and what can be done with it."""
    solutions = found.solutions
    assert solutions is not None
    heading("Levels {levels}", 3, levels=" ".join(map(str, levels)))
    if solutions.has(levels):
        _figures(found, solutions.point(levels))
    else:
        ui.label(
            _(
                "This node does not meet the models within the suppression limit, so the table "
                "cannot be published like this."
            )
            if not solutions.is_cut
            else _("This node was not tried, or it does not meet the models.")
        )
    show_table(
        [_("column"), _("what is shown of it")],
        [
            [name, level_text(found, name, level, size - 1)]
            for name, level, size in zip(solutions.columns, levels, solutions.shape, strict=True)
        ],
    )
    if solutions.has(levels):
        _actions(found, solutions.point(levels))


def _figures(found: Results, point: Point) -> None:
    assert found.solutions is not None
    figures(
        [
            (
                metric_name(found.solutions.metric),
                percent(point.score),
                _("from 0 % (the raw table) to 100 % (everything is hidden)"),
            ),
            figure(
                "Suppressed",
                n_("{count} record", "{count} records", point.suppressed),
                "{share} of the table",
                share=percent(point.suppressed / found.rows),
            ),
            figure(
                "Classes", number(point.classes), "groups of records with equal quasi-identifiers"
            ),
            figure(
                "Smallest class",
                n_("{count} record", "{count} records", point.smallest),
                "highest risk {risk}",
                risk=percent(point.highest_risk),
            ),
            figure(
                "Average risk",
                percent(point.average_risk, 2),
                "chance to pick the right record of a random person",
            ),
        ]
    )


def _actions(found: Results, point: Point) -> None:
    with ui.row().classes("q-my-md items-center"):
        if point.levels == found.chosen:
            ui.icon("check_circle").props('aria-hidden="true"')
            paragraph("This is the release as it is now.")
        else:
            button = ui.button(
                _("Apply: publish like this"),
                icon="published_with_changes",
                on_click=lambda: apply(found, point.levels),
            )
            button.props["data-test"] = "apply"
        assert found.solutions is not None
        candidate = Candidate.of_point(point, found.solutions, found.facts)
        ui.button(
            _("Add to the comparison"),
            icon="playlist_add",
            on_click=lambda: keep(found, candidate),
        ).props("outline")


def keep(found: Results, candidate: Candidate) -> None:
    """Put a candidate on the tray."""
    try:
        tray = results_tray.add(found.work, candidate)
    except CelosiaError as error:
        shell.notify_error(error)
        return
    ui.notify(
        n_(
            "{count} candidate in the comparison",
            "{count} candidates in the comparison",
            len(tray),
        )
    )


def apply(found: Results, levels: Levels) -> None:
    """Publish at these levels, and show how far it is."""
    assert found.solutions is not None
    names = found.solutions.columns
    asked = task(
        jobs.apply,
        folder=str(found.work.folder),
        form=dict(found.facts["form"]),
        levels=dict(zip(names, levels, strict=True)),
        key=signing_key(),
    )
    title = _("Publishing at levels {levels}", levels=" ".join(map(str, levels)))
    begin(found, title, asked, view="summary")


def begin(found: Results, title: str, asked: Task[Any], *, view: str = "take") -> None:
    """Start a job that publishes anew, and show how far it is."""
    try:
        job = studio().jobs.submit(shell.visitor().token, title, asked, address=found.address(view))
    except CelosiaError as error:
        shell.notify_error(error)
        return
    found.work.save("run", {"job": job.id})
    ui.navigate.to(found.address(view))
