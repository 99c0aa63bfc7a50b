"""The report of the utility of a release, only for people who may see the original.

Its plots name values of the original and how often they occur, so it must not travel with the
release.
"""

from __future__ import annotations

from celosia.assess.labels import label
from celosia.assess.utility import Aggregates, Learning, UtilityReport
from celosia.core import figures, report
from celosia.core.messages import Message, say, say_of

PRIVATE = Message("assess.report.private_utility")


def document(found: UtilityReport) -> report.Document:
    """The whole report, as blocks."""
    blocks: list[report.Block] = [report.Notice(str(PRIVATE), tone="warning")]
    if found.is_simulation:
        blocks.append(report.Notice(say("assess.report.seeded")))
    blocks += _summary(found)
    blocks += _distributions(found)
    blocks += _associations(found)
    blocks += _aggregates(found)
    if found.learning is not None:
        blocks += _learning(found.learning)
    return report.Document(
        say("assess.report.utility_title"),
        say_of("assess.report.utility_subtitle", found),
        tuple(blocks),
    )


def _summary(found: UtilityReport) -> list[report.Block]:
    moved = [each.total_variation for each in found.distances]
    queries = found.queries
    cards = [
        report.KeyFigure(
            say("assess.report.distributions"),
            f"{sum(moved) / len(moved):.3f}",
            say("assess.report.distributions_note"),
        ),
        report.KeyFigure(
            say("assess.report.associations"),
            f"{found.associations.mean_change:.3f}",
            say("assess.report.associations_note", pairs=len(found.associations.pairs)),
        ),
        report.KeyFigure(
            say("assess.report.counts"),
            f"{queries.median:.1%}",
            say("assess.report.counts_note", queries=queries.queries, ninetieth=queries.ninetieth),
        ),
    ]
    if found.learning is not None:
        best = max(found.learning.lessons, key=lambda lesson: lesson.accuracy)
        cards.append(
            report.KeyFigure(
                say("assess.report.learning"),
                f"{best.kept:.1%}",
                say(
                    "assess.report.kept_note",
                    model=best.title,
                    target=found.learning.target,
                ),
            )
        )
    return [report.Heading(say("assess.report.in_short")), report.KeyFigures(cards)]


def _distributions(found: UtilityReport) -> list[report.Block]:
    blocks: list[report.Block] = [
        report.Heading(say("assess.report.before_after")),
        report.Paragraph(say("assess.report.labels_note")),
        report.Table(
            [
                say("assess.report.column"),
                "Hellinger",
                say("assess.report.total_variation"),
                say("assess.report.earth_mover"),
            ],
            [
                [
                    each.column,
                    f"{each.hellinger:.4f}",
                    f"{each.total_variation:.4f}",
                    f"{each.earth_mover:.4f}",
                ]
                for each in found.distances
            ],
            say("assess.report.moved"),
        ),
    ]
    for shown in found.distributions:
        largest = max(abs(a - b) for a, b in zip(shown.after, shown.before, strict=True))
        blocks.append(
            report.Figure(
                figures.before_after(
                    shown.values,
                    [min(share, 1.0) for share in shown.before],
                    [min(share, 1.0) for share in shown.after],
                    title=shown.column,
                ),
                say("assess.report.column_both", column=shown.column),
                say("assess.report.column_words", values=len(shown.values), largest=largest),
            )
        )
    return blocks


def _associations(found: UtilityReport) -> list[report.Block]:
    pairs = sorted(found.associations.pairs, key=lambda pair: -pair.change)
    return report.table_section(
        say("assess.report.together"),
        [
            say("assess.report.columns"),
            say("assess.report.measure"),
            say("assess.report.original"),
            say("assess.report.released"),
            say("assess.report.change"),
        ],
        [
            [
                f"{pair.first}, {pair.second}",
                str(label(pair.measure)),
                f"{pair.before:.3f}",
                f"{pair.after:.3f}",
                f"{pair.change:.3f}",
            ]
            for pair in pairs
        ],
        say("assess.report.association_pairs"),
    )


def _aggregates(found: UtilityReport) -> list[report.Block]:
    return report.table_section(
        say("assess.report.means"),
        [
            say("assess.report.column"),
            say("assess.report.original"),
            say("assess.report.released"),
            say("assess.report.released_lower"),
        ],
        [
            [each.column, mean(each.before), mean(each.after), mean(each.after, lower=True)]
            for each in found.aggregates
        ],
        say("assess.report.means_note"),
    )


def mean(found: Aggregates, *, lower: bool = False) -> str:
    """The mean of a column by midpoints or lower limits, in words."""
    value = found.mean_lower if lower else found.mean_midpoint
    return say("assess.report.no_mean") if value is None else f"{float(value):,.6g}"


def _learning(found: Learning) -> list[report.Block]:
    names = [str(lesson.title) for lesson in found.lessons]
    chart = figures.bars(
        [say("assess.report.majority"), *names],
        {
            say("assess.report.original"): [
                found.majority,
                *(lesson.original_accuracy for lesson in found.lessons),
            ],
            say("assess.report.released"): [
                found.majority,
                *(lesson.accuracy for lesson in found.lessons),
            ],
        },
        title=say("assess.report.accuracy_of", target=found.target),
        y_label=say("assess.report.accuracy"),
        percent=True,
    )
    words = "; ".join(map(str, found.lessons))
    return [
        report.Heading(say("assess.report.learnt")),
        report.Paragraph(say("assess.report.learnt_words", words=words)),
        report.Figure(
            chart,
            say("assess.report.predicting", target=found.target),
            say("assess.report.majority_words", majority=found.majority, words=words),
        ),
    ]
