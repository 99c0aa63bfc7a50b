"""The published charts: each metric against k, l and t, published and computed values together."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.utility import limits_of
from celosia.core import figures
from celosia.core.progress import Progress, Step
from celosia.core.report import Block, Figure, Heading, Paragraph
from celosia.lab.findings import Findings, Row
from celosia.lab.tolerance import Cell

GROUPS = {
    "loss %": "Information loss",
    "average risk %": "Average risk of re-identification",
    "average class": "Average class size",
    "maximum class": "Largest class",
    "minimum class": "Smallest class",
    "classes": "Number of classes",
    "tuples": "Kept records",
    "suppressed": "Suppressed records",
    "mean age (midpoint)": "Mean age by midpoints",
    "mean age (lower limit)": "Mean age by lower limits",
    "maximum age": "Greatest age",
    "minimum age": "Least age",
    "mode": "Mode of the age",
    "mode count": "Records with the mode",
}
"""The fourteen published groups of charts, by the cell that they show."""

PARAMETERS = {
    "k": "k of k-anonymity",
    "l": "l of recursive (4, l)-diversity, with k = 5",
    "t": "t of t-closeness, with k = 5",
}


def sweeps(findings: Findings, progress: Progress) -> Sequence[Block]:
    """A section for each metric, with a chart for each parameter that was swept."""
    blocks: list[Block] = [
        Heading("The published charts"),
        Paragraph(
            "The first two groups are figures 11 and 12 of the publication, the others stand in "
            "its annex. Computed values are drawn over the published ones: where the two agree, "
            "one line is seen in two colours."
        ),
    ]
    for done, (cell, title) in enumerate(GROUPS.items()):
        progress(Step("Drawing the figures", done, len(GROUPS)))
        blocks.append(Heading(title, level=3))
        if cell == "mode":
            blocks.append(Paragraph("Drawn by its lower limit; 0 where the mode is *."))
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
            "published": [_height(row.published, percent) for row in rows],
            "computed": [_height(row.computed, percent) for row in rows],
        },
        title=f"{title} against {parameter}",
        x_label=PARAMETERS[parameter],
        y_label=rows[0].cell.removesuffix(" %"),
        percent=percent,
    )
    values = ", ".join(f"{row.published} at {row.run}" for row in rows)
    agree = sum(row.matches for row in rows)
    return Figure(
        drawing,
        f"{title} against {parameter}: {agree} of {len(rows)} published values match.",
        f"Line chart of {title.lower()} against {parameter}, published: {values}.",
    )


def _height(cell: Cell, percent: bool) -> float:
    """Where a cell is drawn; a label by its lower limit, and 0 for what names no number."""
    if isinstance(cell, str):
        limits = limits_of(cell)
        return 0.0 if limits is None else float(limits[0])
    return cell / 100 if percent else float(cell)
