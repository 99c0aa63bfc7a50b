"""The figures of the study: a hierarchy, and the risk-utility map of methods on incomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from celosia.core.figures import tree
from celosia.core.messages import Message, say, say_of
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Seeded
from celosia.core.report import Block, Figure, Heading, Paragraph
from celosia.lab.findings import Findings
from celosia.tables import Mask
from celosia.tables.masking.draws import normals
from celosia.tables.masking.risk_utility_map import map_methods

POSTCODES = ("08001", "08500", "17001", "17300")
"""Of two provinces; the first of Figure 4's is 08500."""
RECORDS = 1_000
COLUMNS = ("income", "tax", "savings")


def incomes(records: int = RECORDS, *, seed: int = 2005) -> pl.DataFrame:
    """Amounts of invented people, skewed and correlated as amounts are.

    Mask them with another seed: with the same one the noise would be the people over again.

    >>> incomes(3).columns
    ['income', 'tax', 'savings']
    """
    drawn = normals(Seeded(seed), 3 * records).reshape(3, records)
    income = np.exp(10 + 0.5 * drawn[0])
    tax = income * (0.25 + 0.03 * drawn[1])
    savings = np.exp(0.7 * np.log(income) + 0.8 * drawn[2])
    return pl.DataFrame(dict(zip(COLUMNS, (income, tax, savings), strict=True)))


def risk_map(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Five methods in four strengths each, by the records linked back and by what is lost."""
    progress(Step(Message("lab.masking.drawing_the_map"), 0))
    found = map_methods(incomes(), COLUMNS, rng=Seeded(1))
    best = "; ".join(say_of("lab.masking.linked_loss", each) for each in found.best)
    words = say(
        "lab.masking.risk_and_loss_of_maskings_of", points=len(found.points), records=RECORDS
    )
    return [
        _postcodes(),
        Heading(say("lab.masking.risk_and_use")),
        Paragraph(say("lab.masking.nothing_here_was_published_it_is")),
        Figure(found.plot(), words, say("lab.masking.the_best", words=words, best=best)),
    ]


def _postcodes() -> Figure:
    """Figure 4: a hierarchy of postcodes."""
    paths = Mask(levels=(3,)).build(pl.Series(POSTCODES)).paths()
    words = say("lab.masking.figure_4_drawn")
    listed = "; ".join(" → ".join(path) for path in paths)
    description = say("lab.collect.values_listed", words=words, listed=listed)
    return Figure(tree(paths), words, description)
