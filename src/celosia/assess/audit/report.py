"""The report of audits: the claimed privacy loss beside the loss shown."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.audit.result import Audit
from celosia.assess.labels import label
from celosia.core import figures, report
from celosia.core.messages import say


def document(audits: Sequence[Audit]) -> report.Document:
    """The whole report, as blocks."""
    blocks: list[report.Block] = [report.KeyFigures(_summary(audits))]
    if any(audit.seed is not None for audit in audits):
        blocks.append(report.Notice(say("assess.audit.seeded"), "simulation"))
    blocks += [
        report.Paragraph(say("assess.audit.how")),
        report.Heading(say("assess.audit.claims")),
        figure(audits),
        _table(audits),
        report.Heading(say("assess.audit.by_audit")),
    ]
    for audit in audits:
        blocks += _one(audit)
    return report.Document(
        say("assess.audit.title"), say("assess.audit.audited", audits=len(audits)), tuple(blocks)
    )


def figure(audits: Sequence[Audit]) -> report.Figure:
    """Claims beside lower bounds, one pair of bars for each audit."""
    return report.Figure(
        figures.bars(
            [str(audit.name) for audit in audits],
            {
                say("assess.audit.claimed"): [
                    0.0 if a.claim is None else a.claim.epsilon for a in audits
                ],
                say("assess.audit.at_least"): [audit.lower for audit in audits],
            },
            title=say("assess.audit.chart"),
            x_label=say("assess.audit.epsilon"),
            horizontal=True,
        ),
        say("assess.audit.caption"),
        "; ".join(
            say("assess.audit.one", name=a.name, claim=_claim(a), lower=a.lower) for a in audits
        )
        + ".",
    )


def _summary(audits: Sequence[Audit]) -> list[report.KeyFigure]:
    violated = [audit for audit in audits if audit.verdict == "violated"]
    reach = [audit.reach for audit in audits if audit.reach is not None]
    cards = [
        report.KeyFigure(
            say("assess.audit.audits"),
            f"{len(audits)}",
            say("assess.audit.outputs", outputs=sum(a.samples for a in audits) * 2),
        ),
        report.KeyFigure(
            say("assess.audit.violated"),
            f"{len(violated)}",
            ", ".join(str(a.name) for a in violated) or say("assess.audit.none"),
        ),
    ]
    if reach:
        note = say("assess.audit.reach_note")
        cards.append(report.KeyFigure(say("assess.audit.reach"), f"{max(reach):.0%}", note))
    return cards


def _table(audits: Sequence[Audit]) -> report.Table:
    return report.Table(
        [
            say("assess.audit.mechanism"),
            say("assess.audit.claimed_epsilon"),
            say("assess.audit.delta"),
            say("assess.audit.at_least_header"),
            say("assess.audit.verdict"),
            say("assess.audit.samples"),
        ],
        [
            [
                str(audit.name),
                "" if audit.claim is None else f"{audit.claim.epsilon:.4g}",
                f"{audit.delta:.3g}",
                f"{audit.lower:.4g}",
                str(label(audit.verdict)),
                audit.samples,
            ]
            for audit in audits
        ],
        say("assess.audit.bounds_note"),
        numeric=(1, 2, 3, 5),
    )


def _one(audit: Audit) -> list[report.Block]:
    found = report.Facts(
        [
            (say("assess.audit.inputs"), str(audit.pair)),
            (say("assess.audit.event"), str(audit.event)),
            (
                say("assess.audit.likelier"),
                say("assess.audit.second" if audit.swapped else "assess.audit.first"),
            ),
            (say("assess.audit.there"), str(audit.more)),
            (say("assess.audit.other"), str(audit.less)),
            (say("assess.audit.confidence"), f"{audit.confidence:.6g}"),
            (say("assess.audit.time"), f"{audit.seconds:.1f} s"),
            *(
                [(say("assess.audit.detectable_fact"), str(audit.detectable))]
                if audit.verdict == "consistent"
                else []
            ),
        ]
    )
    sentence = say(
        "assess.audit.sentence",
        claim=_claim(audit),
        lower=audit.lower,
        verdict=label(audit.verdict),
    )
    return [
        report.Heading(str(audit.name), level=3),
        report.Paragraph(sentence[:1].upper() + sentence[1:]),
        found,
    ]


def _claim(audit: Audit) -> str:
    if audit.claim is None:
        return say("assess.audit.nothing")
    return say("assess.audit.claim", claim=str(audit.claim))
