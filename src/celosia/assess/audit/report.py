"""The report of audits: the claimed privacy loss beside the loss shown."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.audit.result import Audit
from celosia.core import figures
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


def document(audits: Sequence[Audit]) -> Document:
    """The whole report, as blocks."""
    blocks: list[Block] = [KeyFigures(_summary(audits))]
    if any(audit.seed is not None for audit in audits):
        blocks.append(Notice("The outputs were drawn with a seed, to be repeatable.", "simulation"))
    blocks += [
        Paragraph(
            "Each mechanism was run many times on two neighbouring inputs. Half of the outputs "
            "chose the event that tells the inputs apart best; the other half bound its two "
            "probabilities, and so the least epsilon that the mechanism can have. A bound above "
            "the claim proves a violation; a bound below it proves nothing, but near the claim "
            "it shows that the audit was sensitive enough."
        ),
        Heading("Claims and lower bounds"),
        figure(audits),
        _table(audits),
        Heading("Audit by audit"),
    ]
    for audit in audits:
        blocks += _one(audit)
    return Document("Audit of mechanisms", f"{len(audits)} audited.", tuple(blocks))


def figure(audits: Sequence[Audit]) -> Figure:
    """Claims beside lower bounds, one pair of bars for each audit."""
    return Figure(
        figures.bars(
            [audit.name for audit in audits],
            {
                "claimed": [0.0 if a.claim is None else a.claim.epsilon for a in audits],
                "at least": [audit.lower for audit in audits],
            },
            title="Epsilon claimed and epsilon shown",
            x_label="epsilon",
            horizontal=True,
        ),
        "Epsilon claimed, and the lower bound shown",
        "; ".join(f"{a.name}: {_claim(a)}, at least {a.lower:.3g}" for a in audits) + ".",
    )


def _summary(audits: Sequence[Audit]) -> list[KeyFigure]:
    violated = [audit for audit in audits if audit.verdict == "violated"]
    reach = [audit.reach for audit in audits if audit.reach is not None]
    cards = [
        KeyFigure("Audits", f"{len(audits)}", f"{sum(a.samples for a in audits) * 2:,} outputs"),
        KeyFigure("Violated", f"{len(violated)}", ", ".join(a.name for a in violated) or "none"),
    ]
    if reach:
        note = "the lower bound as a part of the claim"
        cards.append(KeyFigure("Greatest reach", f"{max(reach):.0%}", note))
    return cards


def _table(audits: Sequence[Audit]) -> Table:
    return Table(
        ["Mechanism", "Claimed epsilon", "Delta", "At least", "Verdict", "Samples"],
        [
            [
                audit.name,
                "" if audit.claim is None else f"{audit.claim.epsilon:.4g}",
                f"{audit.delta:.3g}",
                f"{audit.lower:.4g}",
                audit.verdict,
                audit.samples,
            ]
            for audit in audits
        ],
        "The lower bounds hold at the delta beside them",
        numeric=(1, 2, 3, 5),
    )


def _one(audit: Audit) -> list[Block]:
    found = Facts(
        [
            ("Inputs", audit.pair),
            ("Event", audit.event),
            ("Likelier under", "the second input" if audit.swapped else "the first input"),
            ("Probability there", str(audit.more)),
            ("Probability under the other", str(audit.less)),
            ("Confidence", f"{audit.confidence:.6g}"),
            ("Time", f"{audit.seconds:.1f} s"),
        ]
    )
    sentence = f"{_claim(audit)}; epsilon is at least {audit.lower:.4g}: {audit.verdict}."
    return [Heading(audit.name, level=3), Paragraph(sentence[:1].upper() + sentence[1:]), found]


def _claim(audit: Audit) -> str:
    return "nothing claimed" if audit.claim is None else f"claimed {audit.claim}"
