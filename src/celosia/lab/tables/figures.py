"""The published charts: each metric against k, l and t, published and computed values together."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.utility import limits_of
from celosia.core import figures
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading, Paragraph
from celosia.lab.findings import Findings, Row
from celosia.lab.tolerance import Cell

GROUPS = {
    "loss %": Message("lab.tables.information_loss"),
    "average risk %": Message("lab.tables.average_risk_of_re_identification"),
    "average class": Message("lab.tables.average_class_size"),
    "maximum class": Message("lab.tables.largest_class"),
    "minimum class": Message("lab.tables.smallest_class"),
    "classes": Message("lab.tables.number_of_classes"),
    "tuples": Message("lab.tables.kept_records"),
    "suppressed": Message("lab.tables.suppressed_records"),
    "mean age (midpoint)": Message("lab.tables.mean_age_by_midpoints"),
    "mean age (lower limit)": Message("lab.tables.mean_age_by_lower_limits"),
    "maximum age": Message("lab.tables.greatest_age"),
    "minimum age": Message("lab.tables.least_age"),
    "mode": Message("lab.tables.mode_of_the_age"),
    "mode count": Message("lab.tables.records_with_the_mode"),
}
"""The fourteen published groups of charts, by the cell that they show."""

PARAMETERS = {
    "k": Message("lab.tables.k_of_k_anonymity"),
    "l": Message("lab.tables.l_of_recursive_4_l_diversity"),
    "t": Message("lab.tables.t_of_t_closeness_with_k"),
}


def sweeps(findings: Findings, progress: Progress) -> Sequence[Block]:
    """A section for each metric, with a chart for each parameter that was swept."""
    blocks: list[Block] = [
        Heading(say("lab.tables.the_published_charts")),
        Paragraph(say("lab.tables.the_first_two_groups_are_figures")),
    ]
    for done, (cell, words) in enumerate(GROUPS.items()):
        title = str(words)
        progress(Step(Message("lab.tables.drawing_the_figures"), done, len(GROUPS)))
        blocks.append(Heading(title, level=3))
        if cell == "mode":
            blocks.append(Paragraph(say("lab.tables.drawn_by_its_lower_limit_0")))
        rows = [row for row in findings.rows if row.cell == cell]
        blocks += [
            _chart(title, parameter, swept)
            for parameter in PARAMETERS
            if (swept := [row for row in rows if row.run.startswith(f"{parameter}=")])
        ]
    return blocks


def _chart(title: str, parameter: str, rows: Sequence[Row]) -> Figure:
    percent = rows[0].cell.endswith("%")
    places = [float(row.run.partition("=")[2]) for row in rows]
    drawing = figures.lines(
        places,
        {
            say("lab.report.published"): [_height(row.published, percent) for row in rows],
            say("lab.report.computed"): [_height(row.computed, percent) for row in rows],
        },
        title=say("lab.tables.against", title=title, parameter=parameter),
        x_label=str(PARAMETERS[parameter]),
        y_label=str(rows[0].cell).removesuffix(" %"),
        percent=percent,
    )
    values = ", ".join(say("lab.tables.at", published=row.published, run=row.run) for row in rows)
    agree = sum(row.matches is True for row in rows)
    return Figure(
        drawing,
        say(
            "lab.tables.against_of_published_values_match",
            title=title,
            parameter=parameter,
            agree=agree,
            rows=len(rows),
        ),
        say(
            "lab.tables.line_chart_of_against_published",
            lower=title.lower(),
            parameter=parameter,
            values=values,
        ),
    )


def _height(cell: Cell | None, percent: bool) -> float:
    """Where a cell is drawn; a label by its lower limit, and 0 for what names no number."""
    if cell is None:
        return 0.0
    if isinstance(cell, str):
        limits = limits_of(cell)
        return 0.0 if limits is None else float(limits[0])
    return cell / 100 if percent else float(cell)
