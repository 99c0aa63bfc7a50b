"""The report of the utility of a release, only for people who may see the original.

Its plots name values of the original and how often they occur, so it must not travel with the
release.
"""

from __future__ import annotations

from celosia.assess.utility import Aggregates, Learning, UtilityReport
from celosia.core import figures
from celosia.core.report import (
    Block,
    Document,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
)

PRIVATE = (
    "Confidential: only for people who may see the original table. The plots show its values and "
    "their frequencies, including rare ones. Do not publish this report beside the release."
)


def document(found: UtilityReport) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = [Notice(PRIVATE, tone="warning")]
    if found.is_simulation:
        blocks.append(
            Notice("Random counts and folds use a seed: another run gives the same results.")
        )
    blocks += _summary(found)
    blocks += _distributions(found)
    blocks += _associations(found)
    blocks += _aggregates(found)
    if found.learning is not None:
        blocks += _learning(found.learning)
    rows = f"{found.rows_after:,} released of {found.rows_before:,} records"
    return Document(
        "Utility of a release", f"{rows}, {found.suppressed:,} suppressed.", tuple(blocks)
    )


def _summary(found: UtilityReport) -> list[Block]:
    moved = [each.total_variation for each in found.distances]
    queries = found.queries
    cards = [
        KeyFigure(
            "Distributions",
            f"{sum(moved) / len(moved):.3f}",
            "mean total variation: 0 kept, 1 nothing in common",
        ),
        KeyFigure(
            "Associations",
            f"{found.associations.mean_change:.3f}",
            f"mean change over {len(found.associations.pairs)} pairs of columns",
        ),
        KeyFigure(
            "Counts",
            f"{queries.median:.1%}",
            f"median relative error of {queries.queries:,} random counts; nine of ten are within "
            f"{queries.ninetieth:.1%}",
        ),
    ]
    if found.learning is not None:
        best = max(found.learning.lessons, key=lambda lesson: lesson.accuracy)
        cards.append(
            KeyFigure(
                "Learning",
                f"{best.kept:.1%}",
                f"of the accuracy kept ({best.model}, {found.learning.target})",
            )
        )
    return [Heading("In short"), KeyFigures(cards)]


def _distributions(found: UtilityReport) -> list[Block]:
    blocks: list[Block] = [
        Heading("Columns before and after"),
        Paragraph(
            "A released label that stands for several values counts equally for each of them, "
            "because a reader of the release cannot know more."
        ),
        Table(
            ["Column", "Hellinger", "Total variation", "Earth mover's"],
            [
                [
                    each.column,
                    f"{each.hellinger:.4f}",
                    f"{each.total_variation:.4f}",
                    f"{each.earth_mover:.4f}",
                ]
                for each in found.distances
            ],
            "How far each distribution moved, from 0 to 1",
        ),
    ]
    for shown in found.distributions:
        largest = max(abs(a - b) for a, b in zip(shown.after, shown.before, strict=True))
        blocks.append(
            Figure(
                figures.before_after(
                    shown.values,
                    [min(share, 1.0) for share in shown.before],
                    [min(share, 1.0) for share in shown.after],
                    title=shown.column,
                ),
                f"{shown.column}: original and released",
                f"{len(shown.values):,} values; the share of one changes by {largest:.1%} at most.",
            )
        )
    return blocks


def _associations(found: UtilityReport) -> list[Block]:
    pairs = sorted(found.associations.pairs, key=lambda pair: -pair.change)
    if not pairs:
        return []
    return [
        Heading("Columns together"),
        Table(
            ["Columns", "Measure", "Original", "Released", "Change"],
            [
                [
                    f"{pair.first}, {pair.second}",
                    pair.measure,
                    f"{pair.before:.3f}",
                    f"{pair.after:.3f}",
                    f"{pair.change:.3f}",
                ]
                for pair in pairs
            ],
            "Association of each pair of columns, the largest change first",
        ),
    ]


def _aggregates(found: UtilityReport) -> list[Block]:
    if not found.aggregates:
        return []
    return [
        Heading("Means"),
        Table(
            ["Column", "Original", "Released", "Released, by lower limits"],
            [
                [each.column, mean(each.before), mean(each.after), mean(each.after, lower=True)]
                for each in found.aggregates
            ],
            "Mean of the numbers, an interval counting by its middle",
        ),
    ]


def mean(found: Aggregates, *, lower: bool = False) -> str:
    """The mean of a column by midpoints or lower limits, in words."""
    value = found.mean_lower if lower else found.mean_midpoint
    return "none" if value is None else f"{float(value):,.6g}"


def _learning(found: Learning) -> list[Block]:
    names = [lesson.model for lesson in found.lessons]
    chart = figures.bars(
        ["majority guess", *names],
        {
            "Original": [found.majority, *(lesson.original_accuracy for lesson in found.lessons)],
            "Released": [found.majority, *(lesson.accuracy for lesson in found.lessons)],
        },
        title=f"Accuracy of predicting {found.target}",
        y_label="accuracy",
        percent=True,
    )
    words = "; ".join(map(str, found.lessons))
    return [
        Heading("What can be learnt"),
        Paragraph(
            "Classifiers were trained on the release and on the original, and tested on original "
            f"records. {words}."
        ),
        Figure(chart, f"Predicting {found.target}", f"Majority {found.majority:.1%}; {words}."),
    ]
