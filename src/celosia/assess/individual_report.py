"""The report of individual risk: how many records of a survey are exposed."""

from __future__ import annotations

import numpy as np

from celosia.assess.risk import IndividualRisk
from celosia.core import figures
from celosia.core.messages import say
from celosia.core.report import Document, Figure, Heading, KeyFigure, KeyFigures, Paragraph

BANDS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
"""Where one band of risk ends and the next begins."""


def bands(found: IndividualRisk) -> dict[str, int]:
    """How many records have a risk in each band; an upper end belongs to its band."""
    counts = np.bincount(np.searchsorted(BANDS, found.risk), minlength=len(BANDS) + 1)
    ends = [f"{end:.4g}" for end in (100 * limit for limit in BANDS)]
    names = [say("assess.report.up_to", percent=end) for end in ends]
    names.append(say("assess.report.over", percent=ends[-1]))
    return dict(zip(names, counts.tolist(), strict=True))


def individual_document(found: IndividualRisk) -> Document:
    """The whole report; it counts records and shows none."""
    facts, counted = found.as_dict(), bands(found)
    words = "; ".join(f"{name}: {count:,}" for name, count in counted.items()) + "."
    return Document(
        say("assess.report.individual_title"),
        str(found),
        (
            KeyFigures(
                [
                    KeyFigure(say("assess.report.records"), f"{facts['records']:,}"),
                    KeyFigure(
                        say("assess.report.expected"),
                        f"{facts['expected_reidentifications']:,.2f}",
                        say("assess.report.of_records", share=facts["average_risk"]),
                    ),
                    KeyFigure(say("assess.report.highest"), f"{facts['highest_risk']:.2%}"),
                    KeyFigure(
                        say("assess.report.above", percent=100 * found.threshold),
                        f"{facts['records_above_threshold']:,}",
                        say("assess.report.records_note"),
                    ),
                ]
            ),
            Heading(say("assess.report.spread")),
            Figure(
                figures.bars(
                    list(counted),
                    {
                        say("assess.report.records_note"): [
                            float(count) for count in counted.values()
                        ]
                    },
                    title=say("assess.report.by_risk"),
                    x_label=say("assess.report.risk_axis"),
                    y_label=say("assess.report.records_note"),
                ),
                say("assess.report.by_risk"),
                words,
            ),
            Paragraph(say("assess.report.individual_note")),
        ),
    )
