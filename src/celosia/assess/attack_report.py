"""The report of attacks on a release: exposed people, confidence, and how to prevent each.

It counts people and names columns; what an attacker would learn is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.attacks import Attack
from celosia.assess.labels import label
from celosia.core import figures, report
from celosia.core.messages import capital, number, say


def document(attacks: Sequence[Attack], *, rows: int) -> report.Document:
    """The whole report, as blocks."""
    worst = max(attacks, key=lambda attack: (attack.share, attack.greatest))
    summary = [
        report.KeyFigure(say("assess.report.attacks_run"), f"{len(attacks)}"),
        report.KeyFigure(
            say("assess.report.most_exposed"),
            number(worst.share, ".1%"),
            say("assess.report.people", name=_name(worst), people=worst.exposed_people),
        ),
        report.KeyFigure(
            say("assess.report.greatest_confidence"),
            number(max(attack.greatest for attack in attacks), ".1%"),
            say("assess.report.greatest_note"),
        ),
    ]
    blocks: list[report.Block] = [
        report.KeyFigures(summary),
        report.Heading(say("assess.report.by_attack")),
        _table(attacks),
    ]
    blocks.append(
        report.Figure(
            figures.bars(
                [_name(attack) for attack in attacks],
                {say("assess.report.exposed_series"): [attack.share for attack in attacks]},
                title=say("assess.report.exposed_chart"),
                x_label=say("assess.report.share_tried"),
                percent=True,
                horizontal=True,
            ),
            say("assess.report.who_exposed"),
            "; ".join(f"{_name(each)} {number(each.share, '.1%')}" for each in attacks) + ".",
        )
    )
    for attack in attacks:
        blocks += _one(attack)
    return report.Document(
        say("assess.report.attacks_title"),
        say("assess.report.released_records", rows=rows),
        tuple(blocks),
    )


def tried_blocks(attacks: Sequence[Attack] | None) -> list[report.Block]:
    """The section of a release's report: which attacks were tried on it, and what they found.

    Args:
        attacks: those tried; None where the table is too large or not in memory.
    """
    blocks: list[report.Block] = [report.Heading(say("assess.report.tried"))]
    if not attacks:
        reason = "assess.report.tried_none" if attacks is None else "assess.report.tried_nothing"
        return [*blocks, report.Paragraph(say(reason))]
    prevented = dict.fromkeys((str(each.name), capital(f"{each.mitigation}.")) for each in attacks)
    return [
        *blocks,
        report.Paragraph(say("assess.report.tried_words")),
        _table(attacks),
        report.Details(
            say("assess.report.prevent"),
            [report.Facts([(capital(name), words) for name, words in prevented])],
        ),
    ]


def _name(attack: Attack) -> str:
    return str(attack.name) if attack.column is None else f"{attack.name}, {attack.column}"


def _table(attacks: Sequence[Attack]) -> report.Table:
    return report.Table(
        [
            say("assess.report.attack"),
            say("assess.report.people_header"),
            say("assess.report.exposed"),
            say("assess.report.share"),
            say("assess.report.average_confidence"),
            say("assess.report.greatest"),
            say("assess.report.gain"),
        ],
        [
            [
                capital(_name(attack)),
                attack.people,
                attack.exposed_people,
                number(attack.share, ".2%"),
                number(attack.average, ".2%"),
                number(attack.greatest, ".2%"),
                "" if attack.greatest_gain is None else number(attack.greatest_gain, ".2%"),
            ]
            for attack in attacks
        ],
        say("assess.report.confidence_note"),
        numeric=range(1, 7),
    )


def _one(attack: Attack) -> list[report.Block]:
    figures_told = [
        (
            str(label(name)).replace("_", " ").capitalize(),
            say("assess.report.none") if value is None else number(value, ",.6g"),
        )
        for name, value in attack.facts.items()
    ]
    return [
        report.Heading(capital(_name(attack)), level=3),
        report.Paragraph(capital(f"{attack}.")),
        report.Facts(
            [
                (say("assess.report.attacker"), capital(f"{attack.assumption}.")),
                (say("assess.report.prevent"), capital(f"{attack.mitigation}.")),
                *figures_told,
            ]
        ),
    ]
