"""The report of individual risk: how many records of a survey are exposed."""

from __future__ import annotations

import numpy as np

from celosia.assess.risk import IndividualRisk
from celosia.core import figures
from celosia.core.report import Document, Figure, Heading, KeyFigure, KeyFigures, Paragraph

BANDS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
"""Where one band of risk ends and the next begins."""


def bands(found: IndividualRisk) -> dict[str, int]:
    """How many records have a risk in each band; an upper end belongs to its band."""
    counts = np.bincount(np.searchsorted(BANDS, found.risk), minlength=len(BANDS) + 1)
    ends = [f"{end:.4g}" for end in (100 * limit for limit in BANDS)]
    names = [f"up to {ends[0]}%", *(f"up to {end}%" for end in ends[1:]), f"above {ends[-1]}%"]
    return dict(zip(names, counts.tolist(), strict=True))


def individual_document(found: IndividualRisk) -> Document:
    """The whole report; it counts records and shows none."""
    facts, counted = found.as_dict(), bands(found)
    words = "; ".join(f"{name}: {count:,}" for name, count in counted.items()) + "."
    return Document(
        "Individual risk",
        str(found),
        (
            KeyFigures(
                [
                    KeyFigure("Records", f"{facts['records']:,}"),
                    KeyFigure(
                        "Expected to be re-identified",
                        f"{facts['expected_reidentifications']:,.2f}",
                        f"{facts['average_risk']:.3%} of the records",
                    ),
                    KeyFigure("Highest risk", f"{facts['highest_risk']:.2%}"),
                    KeyFigure(
                        f"Above {100 * found.threshold:.4g}%",
                        f"{facts['records_above_threshold']:,}",
                        "records",
                    ),
                ]
            ),
            Heading("How the risk is spread"),
            Figure(
                figures.bars(
                    list(counted),
                    {"records": [float(count) for count in counted.values()]},
                    title="Records by their risk",
                    x_label="risk",
                    y_label="records",
                ),
                "Records by their risk",
                words,
            ),
            Paragraph(
                "The risk of a record is the probability that an attacker who searches the "
                "population for its person finds that person: the expectation of one over the "
                "number of people with the same keys, which is estimated from the weights of the "
                "sample (Benedetti and Franconi). It is a model: it assumes that the weights are "
                "those of the survey, and that the attacker does not know who is in the sample."
            ),
        ),
    )
