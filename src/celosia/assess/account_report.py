"""The report of a masked or a synthetic table: record linkage risk and utility.

It tells columns, counts and moments; of single records, row numbers at most, and never a cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.accounts import MaskedAccount, SyntheticAccount
from celosia.assess.labels import label
from celosia.assess.linkage import AttributeDisclosure, Linkage, Membership, ProbabilisticLinkage
from celosia.assess.risk_utility import RiskUtilityMap
from celosia.assess.utility.numeric import Moments, NumericUtility
from celosia.core import figures, report
from celosia.core.messages import Message, say, say_of

PRIVATE = Message("assess.report.private_account")
_PROMISES_NOTHING = Message("assess.report.no_guarantee")


def masked_document(account: MaskedAccount) -> report.Document:
    """The whole report of a masked table."""
    return report.Document(
        say("assess.report.masked_title"),
        say_of("assess.report.masked_subtitle", account),
        [report.Notice(str(PRIVATE), tone="warning"), *masked_blocks(account)],
    )


def synthetic_document(account: SyntheticAccount) -> report.Document:
    """The whole report of a synthetic table."""
    return report.Document(
        say("assess.report.synthetic_title"),
        say(
            "assess.report.synthetic_subtitle", records=account.records, originals=account.originals
        ),
        [report.Notice(str(PRIVATE), tone="warning"), *synthetic_blocks(account)],
    )


def masked_blocks(account: MaskedAccount) -> list[report.Block]:
    """What the report of a release takes in: risk first, then use."""
    cards = [
        report.KeyFigure(
            say("assess.report.linked"),
            f"{account.risk:.1%}",
            say("assess.report.linked_note", chance=1 / account.originals),
        ),
        report.KeyFigure(
            say("assess.report.certain"),
            f"{account.distance.certain:,}",
            say("assess.report.certain_note"),
        ),
    ]
    return [
        report.Heading(say("assess.report.in_short_both")),
        report.KeyFigures([*cards, *_use_cards(account.utility)]),
        report.Heading(say("assess.report.who_linked")),
        _linkages(account),
        *_exposed_records(account.distance),
        *_intervals(account),
        *_attributes(account.attributes),
        *_use(account.utility),
    ]


def synthetic_blocks(account: SyntheticAccount) -> list[report.Block]:
    """What the report of a synthetic table takes in: risk first, then use."""
    replicas, chance = account.replicas, account.holdout_replicas
    cards = [
        report.KeyFigure(
            say("assess.report.repeated"),
            f"{replicas.repeated:,}",
            say("assess.report.repeated_note", uniques=replicas.uniques),
        )
    ]
    if account.membership is not None:
        cards.append(
            report.KeyFigure(
                say("assess.report.membership"),
                f"{account.membership.auc:.3f}",
                say("assess.report.auc"),
            )
        )
    words = [f"{replicas}."]
    if chance is not None:
        words.append(say("assess.report.held_back", chance=str(chance)))
    return [
        report.Notice(str(_PROMISES_NOTHING), tone="warning"),
        report.Heading(say("assess.report.in_short_both")),
        report.KeyFigures([*cards, *_use_cards(account.utility)]),
        report.Heading(say("assess.report.disclosed")),
        report.Paragraph(" ".join(words)),
        *_membership(account.membership),
        *_attributes(account.attributes),
        *_use(account.utility),
    ]


def map_blocks(found: RiskUtilityMap) -> list[report.Block]:
    """A risk-utility map as a drawing, and as numbers."""
    return [
        report.Heading(say("assess.report.map_title")),
        report.Figure(found.plot(), say("assess.report.ringed"), f"{found}."),
        report.Table(
            [
                say("assess.report.masking"),
                say("assess.report.risk"),
                say("assess.report.loss"),
                say("assess.report.best"),
            ],
            [
                [
                    each.name,
                    f"{each.risk:.2%}",
                    f"{each.loss:.4f}",
                    say("assess.report.yes") if each.is_best else "",
                ]
                for each in found.points
            ],
            say("assess.report.every_masking"),
        ),
    ]


def _linkages(account: MaskedAccount) -> report.Table:
    rows: list[list[str]] = [
        [str(label(name)), f"{each.share:.2%}", f"{each.certain:,}", f"{each.tied:,}"]
        for name, each in (("distance", account.distance), ("rank", account.rank))
    ]
    if account.probabilistic is not None:
        rows.append(_probabilistic(account.probabilistic))
    return report.Table(
        [
            say("assess.report.linkage"),
            say("assess.report.right"),
            say("assess.report.certain"),
            say("assess.report.tied"),
        ],
        rows,
        say("assess.report.linkages"),
    )


def _probabilistic(found: ProbabilisticLinkage) -> list[str]:
    certain, tied = (found.chances == 1).sum(), ((found.chances > 0) & (found.chances < 1)).sum()
    name = say("assess.report.agreement", records=found.chances.size)
    return [name, f"{found.share:.2%}", f"{certain:,}", f"{tied:,}"]


def _exposed_records(found: Linkage) -> list[report.Block]:
    rows = found.exposed()
    if not rows:
        return []
    # Counted from 1, as people count rows.
    words = ", ".join(f"{row + 1:,}" for row in rows)
    return [report.Paragraph(say("assess.report.surest", rows=words))]


def _intervals(account: MaskedAccount) -> list[report.Block]:
    found = account.intervals
    if found is None:
        return []
    return [
        report.Table(
            [
                say("assess.report.column"),
                say("assess.report.by_rank"),
                say("assess.report.by_deviation"),
            ],
            [
                [each.column, f"{each.by_rank:.2%}", f"{each.by_deviation:.2%}"]
                for each in found.columns
            ],
            say("assess.report.intervals", width=found.width),
        )
    ]


def _attributes(found: Sequence[AttributeDisclosure]) -> list[report.Block]:
    if not found:
        return []
    return [
        report.Table(
            [
                say("assess.report.column"),
                say("assess.report.measure"),
                say("assess.report.nearest"),
                say("assess.report.guess"),
                say("assess.report.gained"),
            ],
            [
                [
                    each.column,
                    str(label(each.measure)),
                    f"{each.attack:.2%}",
                    f"{each.baseline:.2%}",
                    f"{each.advantage:.2%}",
                ]
                for each in found
            ],
            say("assess.report.inferred"),
        )
    ]


def _membership(found: Membership | None) -> list[report.Block]:
    if found is None:
        return [report.Paragraph(say("assess.report.no_holdout"))]
    verdict = "assess.report.members_shown" if found.is_shown else "assess.report.members_hidden"
    return [report.Paragraph(f"{str(found).capitalize()}. {say(verdict)}")]


def _use_cards(found: NumericUtility) -> list[report.KeyFigure]:
    cards = []
    if found.loss is not None:
        cards.append(
            report.KeyFigure(
                say("assess.report.loss"),
                f"{found.loss.il1s:.3f}",
                say("assess.report.loss_note", squares=found.loss.squares),
            )
        )
    cards.append(
        report.KeyFigure(
            say("assess.report.distinguishable"),
            f"{found.propensity.ratio:.2f}",
            say("assess.report.pmse_note"),
        )
    )
    return cards


def _use(found: NumericUtility) -> list[report.Block]:
    blocks: list[report.Block] = [
        report.Heading(say("assess.report.good_for")),
        report.Table(
            [
                say("assess.report.column"),
                "Hellinger",
                say("assess.report.total_variation"),
                "Kolmogorov-Smirnov",
            ],
            [
                [
                    each.column,
                    f"{each.hellinger:.4f}",
                    f"{each.total_variation:.4f}",
                    "" if each.kolmogorov is None else f"{each.kolmogorov:.4f}",
                ]
                for each in found.marginals
            ],
            say("assess.report.moved"),
        ),
        *(() if found.moments is None else _moments(found.moments)),
    ]
    for each in found.regressions:
        blocks.append(
            report.Table(
                [
                    say("assess.report.term"),
                    say("assess.report.original"),
                    say("assess.report.after"),
                    say("assess.report.overlap"),
                ],
                [
                    [str(one.term), f"{one.before:.6g}", f"{one.after:.6g}", f"{one.overlap:.1%}"]
                    for one in each.coefficients
                ],
                say("assess.report.coefficients", regression=each.regression),
            )
        )
    return blocks


def _moments(found: Moments) -> list[report.Block]:
    blocks: list[report.Block] = [
        report.Table(
            [
                say("assess.report.column"),
                say("assess.report.mean"),
                say("assess.report.mean_after"),
                say("assess.report.deviation"),
                say("assess.report.deviation_after"),
            ],
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
            say("assess.report.means_deviations"),
        )
    ]
    if len(found.columns) > 1:
        numbers = range(1, len(found.eigenvalues_before) + 1)
        blocks += [
            report.Figure(
                figures.bars(
                    [str(number) for number in numbers],
                    {
                        say("assess.report.original"): [
                            max(0.0, value) for value in found.eigenvalues_before
                        ],
                        say("assess.report.after"): [
                            max(0.0, value) for value in found.eigenvalues_after
                        ],
                    },
                    title=say("assess.report.eigenvalues"),
                ),
                say("assess.report.eigenvalues"),
                say(
                    "assess.report.eigenvalues_words",
                    change=found.eigenvalue_change,
                    angle=found.angle,
                ),
            ),
            report.Table(
                [
                    say("assess.report.columns"),
                    say("assess.report.correlation"),
                    say("assess.report.after"),
                    say("assess.report.change"),
                ],
                [
                    [
                        f"{each.first}, {each.second}",
                        f"{each.correlation_before:.3f}",
                        f"{each.correlation_after:.3f}",
                        f"{each.correlation_change:.3f}",
                    ]
                    for each in sorted(found.pairs, key=lambda pair: -pair.correlation_change)
                ],
                say("assess.report.correlations"),
            ),
        ]
    return blocks
