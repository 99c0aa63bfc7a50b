"""The report of a published table: what was done, what risk is left, what use is left.

It holds aggregate figures of the original table (how many were unique), but no cell of it and no
label of a class, so it can be kept with the release.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from celosia.assess.risk import RiskProfile
from celosia.core import figures
from celosia.core.guarantee import Guarantee
from celosia.core.provenance import Provenance
from celosia.core.report import (
    Block,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
)
from celosia.core.wording import sentence
from celosia.tables.models import AverageRisk, Model, model_from_dict
from celosia.tables.search_report import method_blocks
from celosia.tables.solution import Solution


def document(  # noqa: PLR0913 - the parts of a release, one by one
    guarantee: Guarantee,
    provenance: Provenance,
    warnings: Sequence[str],
    solution: Solution,
    *,
    risk: RiskProfile,
    before: RiskProfile,
) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = []
    if guarantee.simulation:
        blocks.append(Notice(str(guarantee), tone="simulation"))
    blocks += [Notice(warning, tone="warning") for warning in warnings]
    models = [model_from_dict(each) for each in provenance.parameters.get("models", ())]
    blocks += _promise(guarantee, models)
    blocks += _summary(solution, risk)
    blocks += _risk(risk, before)
    blocks += _gauges(risk, models)
    blocks += _use(solution)
    blocks += method_blocks(solution, provenance)
    rows = f"{solution.rows:,} records, {len(solution.columns)} quasi-identifiers"
    return Document("Published table", f"{guarantee.promise}. {rows}.", tuple(blocks))


def _promise(guarantee: Guarantee, models: Sequence[Model]) -> list[Block]:
    blocks: list[Block] = [Heading("What is promised")]
    if len(models) > 1:
        blocks.append(
            Paragraph(
                f"{sentence(guarantee.promise)} What one model leaves open another may close; "
                "here is what each of them says by itself."
            )
        )
        for model in models:
            blocks += [
                Heading(model.promise(), level=3),
                Paragraph(sentence(model.protects())),
                Facts([("Leaves open", sentence(gap)) for gap in model.leaves_open()]),
            ]
        gaps: list[tuple[str, str]] = []
    else:
        blocks.append(Paragraph(sentence(guarantee.protects)))
        gaps = [("Does not protect against", sentence(text)) for text in guarantee.leaves_open]
    assumed = [("Assumes", sentence(text)) for text in guarantee.assumes]
    return [*blocks, Facts([("Privacy unit", guarantee.unit), *assumed, *gaps])]


def _summary(solution: Solution, risk: RiskProfile) -> list[Block]:
    return [
        Heading("In short"),
        KeyFigures(
            [
                KeyFigure("Average risk", f"{risk.average:.3%}", "chance of naming a kept record"),
                KeyFigure(
                    "Highest risk",
                    f"{risk.maximum:.3%}",
                    f"one of the smallest class of {risk.smallest:,}",
                ),
                KeyFigure(
                    "Information lost", f"{solution.loss:.3%}", "0 % raw, 100 % nothing left"
                ),
                KeyFigure(
                    "Suppressed",
                    f"{solution.suppressed_share:.2%}",
                    f"{solution.suppressed:,} of {solution.rows:,} records",
                ),
                KeyFigure(
                    "Classes",
                    f"{risk.classes:,}",
                    f"{risk.average_size:,.1f} records on average, {risk.largest:,} at most",
                ),
            ]
        ),
    ]


def _risk(risk: RiskProfile, before: RiskProfile) -> list[Block]:
    names = ["Average", "Highest", f"Records above {risk.threshold:.0%}"]
    chart = figures.bars(
        names,
        {
            "Original": [before.average, before.maximum, before.at_risk],
            "Released": [risk.average, risk.maximum, risk.at_risk],
        },
        title="Risk before and after",
        y_label="chance or share",
        percent=True,
    )
    return [
        Heading("The risk that is left"),
        Paragraph(
            "Judged for an attacker who knows that the person is in the table and knows all of the "
            "person's quasi-identifiers (the prosecutor)."
        ),
        Table(
            ["", "Original", "Released"],
            [
                ["Average risk", f"{before.average:.3%}", f"{risk.average:.3%}"],
                ["Highest risk", f"{before.maximum:.3%}", f"{risk.maximum:.3%}"],
                [
                    f"Records with a risk above {risk.threshold:.0%}",
                    f"{before.at_risk:.2%}",
                    f"{risk.at_risk:.2%}",
                ],
                ["Records alone in their class", f"{before.unique:,}", f"{risk.unique:,}"],
                ["Classes", f"{before.classes:,}", f"{risk.classes:,}"],
                ["Smallest class (records)", f"{before.smallest:,}", f"{risk.smallest:,}"],
                [
                    "Average class (records)",
                    f"{before.average_size:,.2f}",
                    f"{risk.average_size:,.2f}",
                ],
                ["Largest class (records)", f"{before.largest:,}", f"{risk.largest:,}"],
                ["Records counted", f"{before.records:,}", f"{risk.records:,}"],
            ],
            "Re-identification risk; suppressed records are not counted",
            numeric=[1, 2],
        ),
        Figure(chart, "Re-identification risk before and after", _in_words(risk, before)),
    ]


def _gauges(risk: RiskProfile, models: Sequence[Model]) -> list[Block]:
    """Highest and average risk, each against what the models accept."""
    smallest = max((model.smallest for model in models), default=1)
    # A class may be of one record where no model asks for more: then nothing is accepted or not.
    highest = 1 / smallest if smallest > 1 else None
    limits = [model.most for model in models if isinstance(model, AverageRisk)]
    average = min([*limits, *([] if highest is None else [highest])], default=None)
    return [
        _gauge("Highest risk", risk.maximum, highest, "chance of picking the most exposed record"),
        _gauge("Average risk", risk.average, average, "chance of picking a record drawn at random"),
    ]


def _gauge(name: str, value: float, accepted: float | None, caption: str) -> Figure:
    limit = "no limit is promised" if accepted is None else f"the promise accepts {accepted:.2%}"
    return Figure(
        figures.gauge(value, threshold=accepted, title=name, caption=caption),
        f"{name} against the promise",
        f"{name} {value:.2%}; {limit}.",
    )


def _in_words(risk: RiskProfile, before: RiskProfile) -> str:
    return (
        f"Average risk {before.average:.2%} before, {risk.average:.2%} after; highest risk "
        f"{before.maximum:.2%} before, {risk.maximum:.2%} after."
    )


def _use(solution: Solution) -> list[Block]:
    names = [column.name for column in solution.columns]
    losses = [column.loss for column in solution.columns]
    sizes = np.repeat(list(solution.class_sizes), list(solution.class_sizes.values()))
    columns = figures.bars(
        names,
        {"Loss": losses},
        title="Loss of each column",
        x_label="loss",
        percent=True,
        horizontal=True,
    )
    classes = figures.size_histogram(
        sizes, title="Records by size of their class", weight_by_records=True
    )
    return [
        Heading("The use that is left"),
        Paragraph(
            "The loss of a column is the share of its values that a released cell could stand for, "
            "0 % for the raw value and 100 % for * or a suppressed record; the loss of the table "
            "is the geometric mean of 1 + loss over the columns, less 1."
        ),
        Table(
            ["Column", "Level", "of", "Loss"],
            [
                [c.name, "by record" if c.level is None else c.level, c.height, f"{c.loss:.2%}"]
                for c in solution.columns
            ],
            "Generalisation chosen: level 0 is the raw value",
            numeric=[1, 2, 3],
        ),
        Figure(columns, "Where information was lost", "Loss of each quasi-identifier."),
        Figure(classes, "Crowds that records hide in", "Kept records by the size of their class."),
    ]
