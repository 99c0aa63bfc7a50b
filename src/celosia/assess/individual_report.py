"""The report of the risk of records: how many are exposed, by each measure; it shows no record."""

from __future__ import annotations

import numpy as np

from celosia.assess.risk import (
    AttributeRisk,
    IndividualRisk,
    LogLinearRisk,
    RecordRisks,
    SudaScores,
)
from celosia.core import figures, report
from celosia.core.messages import say

BANDS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
"""Where one band of risk ends and the next begins."""


def bands(found: IndividualRisk) -> dict[str, int]:
    """How many records have a risk in each band; an upper end belongs to its band."""
    counts = np.bincount(np.searchsorted(BANDS, found.risk), minlength=len(BANDS) + 1)
    ends = [f"{end:.4g}" for end in (100 * limit for limit in BANDS)]
    names = [say("assess.report.up_to", percent=end) for end in ends]
    names.append(say("assess.report.over", percent=ends[-1]))
    return dict(zip(names, counts.tolist(), strict=True))


def _by_weights(found: IndividualRisk) -> list[report.Block]:
    facts, counted = found.as_dict(), bands(found)
    words = "; ".join(f"{name}: {count:,}" for name, count in counted.items()) + "."
    return [
        report.KeyFigures(
            [
                report.KeyFigure(say("assess.report.records"), f"{facts['records']:,}"),
                report.KeyFigure(
                    say("assess.report.expected"),
                    f"{facts['expected_reidentifications']:,.2f}",
                    say("assess.report.of_records", share=facts["average_risk"]),
                ),
                report.KeyFigure(say("assess.report.highest"), f"{facts['highest_risk']:.2%}"),
                report.KeyFigure(
                    say("assess.report.above", percent=100 * found.threshold),
                    f"{facts['records_above_threshold']:,}",
                    say("assess.report.records_note"),
                ),
            ]
        ),
        report.Heading(say("assess.report.spread")),
        report.Figure(
            figures.bars(
                list(counted),
                {say("assess.report.records_note"): [float(count) for count in counted.values()]},
                title=say("assess.report.by_risk"),
                x_label=say("assess.report.risk_axis"),
                y_label=say("assess.report.records_note"),
            ),
            say("assess.report.by_risk"),
            words,
        ),
        report.Paragraph(say("assess.report.individual_note")),
    ]


def figures_of(found: RecordRisks) -> list[tuple[str, dict[str, str]]]:
    """For each measure its title, and its figures as texts by what they are."""
    parts = []
    if found.by_weights is not None:
        counted = {name: f"{count:,}" for name, count in bands(found.by_weights).items()}
        parts.append((say("assess.report.by_risk"), counted))
    if found.suda is not None:
        parts.append((say("assess.report.suda_title"), _suda(found.suda)))
    if found.log_linear is not None:
        parts.append((say("assess.report.log_linear_title"), _log_linear(found.log_linear)))
    for each in found.sensitive:
        title = say("assess.report.attribute_title", column=each.sensitive)
        parts.append((title, _attribute(each)))
    return parts


def _suda(found: SudaScores) -> dict[str, str]:
    facts = found.as_dict()
    shares = {
        say("assess.report.column_share", column=name): f"{share:.1%}"
        for name, share in found.column_shares().items()
    }
    return {
        say("assess.report.special"): f"{facts['special_records']:,}",
        say("assess.report.sample_uniques"): f"{facts['sample_uniques']:,}",
        say("assess.report.dis"): f"{facts['dis']:.2%}",
        say("assess.report.highest_score"): f"{facts['highest_score']:,.0f}",
        say("assess.report.highest_dis"): f"{facts['highest_dis_suda']:.2%}",
    } | shares


def _log_linear(found: LogLinearRisk) -> dict[str, str]:
    fit = found.diagnostics
    return {
        say("assess.report.sample_uniques"): f"{found.sample_uniques:,}",
        say("assess.report.population_uniques"): f"{found.population_uniques:,.2f}",
        say("assess.report.correct_matches"): f"{found.correct_matches:,.2f}",
        say("assess.report.highest"): f"{float(found.risk.max()):.2%}",
        say("assess.report.deviance", degrees=fit.degrees_of_freedom): f"{fit.deviance:,.1f}",
        say("assess.report.pearson", degrees=fit.degrees_of_freedom): f"{fit.pearson:,.1f}",
        say("assess.report.dispersion"): f"{fit.dispersion:,.2f}",
    }


def _attribute(found: AttributeRisk) -> dict[str, str]:
    facts = found.as_dict()
    return {
        say("assess.report.distinct_l"): f"{facts['smallest_distinct_l']:,}",
        say("assess.report.entropy_l"): f"{facts['smallest_entropy_l']:,.2f}",
        say("assess.report.certainty"): f"{facts['highest_certainty']:.2%}",
        say("assess.report.largest_t"): f"{facts['largest_t']:.3f}",
        say("assess.report.average_t"): f"{facts['average_t']:.3f}",
        say("assess.report.no_diversity"): f"{facts['records_without_diversity']:,}",
    }


def individual_document(found: RecordRisks) -> report.Document:
    """The whole report; it counts records and shows none."""
    blocks = [] if found.by_weights is None else _by_weights(found.by_weights)
    notes = {
        say("assess.report.suda_title"): say("assess.report.suda_note"),
        say("assess.report.log_linear_title"): say("assess.report.log_linear_note"),
    }
    header = [say("cli.column.measure"), say("cli.column.value")]
    for title, measured in figures_of(found)[found.by_weights is not None :]:
        note = notes.get(title, say("assess.report.attribute_note"))
        table = report.Table(header, [list(row) for row in measured.items()], title)
        blocks += [report.Heading(title), table, report.Paragraph(note)]
    return report.Document(say("assess.report.individual_title"), str(found), tuple(blocks))
