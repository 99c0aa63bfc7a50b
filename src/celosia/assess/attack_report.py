"""The report of attacks on a release: exposed people, confidence, and how to prevent each.

It counts people and names columns; what an attacker would learn is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.assess.attacks import Attack
from celosia.core import figures
from celosia.core.report import (
    Block,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Paragraph,
    Table,
)


def document(attacks: Sequence[Attack], *, rows: int) -> Document:
    """The whole report, as blocks."""
    worst = max(attacks, key=lambda attack: (attack.share, attack.greatest))
    summary = [
        KeyFigure("Attacks run", f"{len(attacks)}"),
        KeyFigure(
            "Most exposed", f"{worst.share:.1%}", f"{_name(worst)}: {worst.exposed_people:,} people"
        ),
        KeyFigure(
            "Greatest confidence",
            f"{max(attack.greatest for attack in attacks):.1%}",
            "for the person with the highest confidence",
        ),
    ]
    blocks: list[Block] = [KeyFigures(summary), Heading("Attack by attack"), _table(attacks)]
    blocks.append(
        Figure(
            figures.bars(
                [_name(attack) for attack in attacks],
                {"exposed": [attack.share for attack in attacks]},
                title="People exposed by each attack",
                x_label="share of the people tried",
                percent=True,
                horizontal=True,
            ),
            "Who is exposed",
            "; ".join(f"{_name(attack)} {attack.share:.1%}" for attack in attacks) + ".",
        )
    )
    for attack in attacks:
        blocks += _one(attack)
    return Document("Attacks on a release", f"{rows:,} released records.", tuple(blocks))


def _name(attack: Attack) -> str:
    return attack.name if attack.column is None else f"{attack.name}, {attack.column}"


def _table(attacks: Sequence[Attack]) -> Table:
    return Table(
        ["Attack", "People", "Exposed", "Share", "Average confidence", "Greatest", "Gain"],
        [
            [
                _name(attack),
                attack.people,
                attack.exposed_people,
                f"{attack.share:.2%}",
                f"{attack.average:.2%}",
                f"{attack.greatest:.2%}",
                "" if attack.greatest_gain is None else f"{attack.greatest_gain:.2%}",
            ]
            for attack in attacks
        ],
        "Confidence is the attacker's chance to be right; gain is what the release added to it",
        numeric=range(1, 7),
    )


def _one(attack: Attack) -> list[Block]:
    figures_told = [
        (name.replace("_", " ").capitalize(), "none" if value is None else f"{value:,.6g}")
        for name, value in attack.facts.items()
    ]
    return [
        Heading(_capital(_name(attack)), level=3),
        Paragraph(_capital(f"{attack}.")),
        Facts(
            [
                ("The attacker", _capital(f"{attack.assumption}.")),
                ("How to prevent it", _capital(f"{attack.mitigation}.")),
                *figures_told,
            ]
        ),
    ]


def _capital(text: str) -> str:
    # Not `capitalize`, which would also change the name of a column.
    return text[:1].upper() + text[1:]
