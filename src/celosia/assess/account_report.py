"""The report of a masked or a synthetic table: record linkage risk and utility.

It tells columns, counts and moments; of single records, row numbers at most, and never a cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.accounts import MaskedAccount, SyntheticAccount
from celosia.assess.linkage import AttributeDisclosure, Linkage, Membership, ProbabilisticLinkage
from celosia.assess.risk_utility import RiskUtilityMap
from celosia.assess.utility.numeric import Moments, NumericUtility
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
    "Confidential: only for people who may see the original table. The report lists rows that "
    "can be linked, and moments of the original."
)
_PROMISES_NOTHING = (
    "A synthetic table made without noise has no formal guarantee: the results below were "
    "measured for this table and these attacks."
)


def masked_document(account: MaskedAccount) -> Document:
    """The whole report of a masked table."""
    counts = f"{account.records:,} masked records of {account.originals:,}"
    return Document(
        "Risk and utility of a masked table",
        f"{counts}, linked by {', '.join(account.columns)}.",
        [Notice(PRIVATE, tone="warning"), *masked_blocks(account)],
    )


def synthetic_document(account: SyntheticAccount) -> Document:
    """The whole report of a synthetic table."""
    return Document(
        "Risk and utility of a synthetic table",
        f"{account.records:,} synthetic records from {account.originals:,} real ones.",
        [Notice(PRIVATE, tone="warning"), *synthetic_blocks(account)],
    )


def masked_blocks(account: MaskedAccount) -> list[Block]:
    """What the report of a release takes in: risk first, then use."""
    cards = [
        KeyFigure(
            "Linked correctly",
            f"{account.risk:.1%}",
            "of the records, by the best of the attacks; a random guess is right with a "
            f"probability of {1 / account.originals:.2g}",
        ),
        KeyFigure(
            "Certain",
            f"{account.distance.certain:,}",
            "records whose one nearest original is the true one",
        ),
    ]
    return [
        Heading("Risk and utility in short"),
        KeyFigures([*cards, *_use_cards(account.utility)]),
        Heading("Who can be linked"),
        _linkages(account),
        *_exposed_records(account.distance),
        *_intervals(account),
        *_attributes(account.attributes),
        *_use(account.utility),
    ]


def synthetic_blocks(account: SyntheticAccount) -> list[Block]:
    """What the report of a synthetic table takes in: risk first, then use."""
    replicas, chance = account.replicas, account.holdout_replicas
    cards = [
        KeyFigure(
            "Repeated",
            f"{replicas.repeated:,}",
            f"of {replicas.uniques:,} unique real records are in the synthetic table as they are",
        )
    ]
    if account.membership is not None:
        cards.append(
            KeyFigure("Membership", f"{account.membership.auc:.3f}", "AUC; 0.5 is random guessing")
        )
    words = f"{replicas}."
    if chance is not None:
        words += f" Of people who were held back: {chance}, by chance."
    return [
        Notice(_PROMISES_NOTHING, tone="warning"),
        Heading("Risk and utility in short"),
        KeyFigures([*cards, *_use_cards(account.utility)]),
        Heading("What it discloses about real people"),
        Paragraph(words),
        *_membership(account.membership),
        *_attributes(account.attributes),
        *_use(account.utility),
    ]


def map_blocks(found: RiskUtilityMap) -> list[Block]:
    """A risk-utility map as a drawing, and as numbers."""
    return [
        Heading("Risk and loss of each masking"),
        Figure(found.plot(), "The best maskings are ringed", f"{found}."),
        Table(
            ["Masking", "Risk", "Loss", "Best"],
            [
                [each.name, f"{each.risk:.2%}", f"{each.loss:.4f}", "yes" if each.is_best else ""]
                for each in found.points
            ],
            "Every masking that was tried",
        ),
    ]


def _linkages(account: MaskedAccount) -> Table:
    rows: list[list[str]] = [
        [name, f"{each.share:.2%}", f"{each.certain:,}", f"{each.tied:,}"]
        for name, each in (("distance", account.distance), ("rank", account.rank))
    ]
    if account.probabilistic is not None:
        rows.append(_probabilistic(account.probabilistic))
    return Table(
        ["Linkage", "Right", "Certain", "Tied"],
        rows,
        "Masked records linked with the right original one, by an attacker who has the original",
    )


def _probabilistic(found: ProbabilisticLinkage) -> list[str]:
    certain, tied = (found.chances == 1).sum(), ((found.chances > 0) & (found.chances < 1)).sum()
    name = f"agreement (over {found.chances.size:,} records)"
    return [name, f"{found.share:.2%}", f"{certain:,}", f"{tied:,}"]


def _exposed_records(found: Linkage) -> list[Block]:
    rows = found.exposed()
    if not rows:
        return []
    # Counted from 1, as people count rows.
    words = ", ".join(f"{row + 1:,}" for row in rows)
    return [Paragraph(f"The records linked most surely are those of the masked rows {words}.")]


def _intervals(account: MaskedAccount) -> list[Block]:
    found = account.intervals
    if found is None:
        return []
    return [
        Table(
            ["Column", "By rank", "By standard deviation"],
            [
                [each.column, f"{each.by_rank:.2%}", f"{each.by_deviation:.2%}"]
                for each in found.columns
            ],
            f"Original values inside an interval of {found.width:.0%} around the masked one",
        )
    ]


def _attributes(found: Sequence[AttributeDisclosure]) -> list[Block]:
    if not found:
        return []
    return [
        Table(
            ["Column", "Measure", "Nearest record", "Guess", "Gained"],
            [
                [
                    each.column,
                    each.measure,
                    f"{each.attack:.2%}",
                    f"{each.baseline:.2%}",
                    f"{each.advantage:.2%}",
                ]
                for each in found
            ],
            "How well sensitive columns can be inferred from the others",
        )
    ]


def _membership(found: Membership | None) -> list[Block]:
    if found is None:
        return [Paragraph("Without a holdout, membership cannot be measured.")]
    verdict = (
        "The attack distinguishes members from others better than chance."
        if found.is_shown
        else "This attack does not distinguish members from others better than chance."
    )
    return [Paragraph(f"{str(found).capitalize()}. {verdict}")]


def _use_cards(found: NumericUtility) -> list[KeyFigure]:
    cards = []
    if found.loss is not None:
        cards.append(
            KeyFigure("Loss", f"{found.loss.il1s:.3f}", f"IL1s; SSE/SST {found.loss.squares:.2%}")
        )
    cards.append(
        KeyFigure(
            "Distinguishable",
            f"{found.propensity.ratio:.2f}",
            "pMSE over that of chance (expected 1)",
        )
    )
    return cards


def _use(found: NumericUtility) -> list[Block]:
    blocks: list[Block] = [
        Heading("What the table is good for"),
        Table(
            ["Column", "Hellinger", "Total variation", "Kolmogorov-Smirnov"],
            [
                [
                    each.column,
                    f"{each.hellinger:.4f}",
                    f"{each.total_variation:.4f}",
                    "" if each.kolmogorov is None else f"{each.kolmogorov:.4f}",
                ]
                for each in found.marginals
            ],
            "How far each distribution moved, from 0 to 1",
        ),
        *(() if found.moments is None else _moments(found.moments)),
    ]
    for each in found.regressions:
        blocks.append(
            Table(
                ["Term", "Original", "After", "Overlap"],
                [
                    [one.term, f"{one.before:.6g}", f"{one.after:.6g}", f"{one.overlap:.1%}"]
                    for one in each.coefficients
                ],
                f"{each.regression}: coefficients, and overlap of their confidence intervals",
            )
        )
    return blocks


def _moments(found: Moments) -> list[Block]:
    blocks: list[Block] = [
        Table(
            ["Column", "Mean", "Mean after", "Deviation", "Deviation after"],
            [
                [
                    each.column,
                    f"{each.mean_before:.6g}",
                    f"{each.mean_after:.6g}",
                    f"{each.variance_before**0.5:.6g}",
                    f"{each.variance_after**0.5:.6g}",
                ]
                for each in found.columns
            ],
            "Means and standard deviations",
        )
    ]
    if len(found.columns) > 1:
        numbers = range(1, len(found.eigenvalues_before) + 1)
        blocks += [
            Figure(
                figures.bars(
                    [str(number) for number in numbers],
                    {
                        "Original": [max(0.0, value) for value in found.eigenvalues_before],
                        "After": [max(0.0, value) for value in found.eigenvalues_after],
                    },
                    title="Eigenvalues of the correlation matrix",
                ),
                "Eigenvalues of the correlation matrix",
                f"They change by {found.eigenvalue_change:.1%} of their sum; the first principal "
                f"component turns by {found.angle:.1f} degrees.",
            ),
            Table(
                ["Columns", "Correlation", "After", "Change"],
                [
                    [
                        f"{each.first}, {each.second}",
                        f"{each.correlation_before:.3f}",
                        f"{each.correlation_after:.3f}",
                        f"{each.correlation_change:.3f}",
                    ]
                    for each in sorted(found.pairs, key=lambda pair: -pair.correlation_change)
                ],
                "Correlations, the largest change first",
            ),
        ]
    return blocks
