"""The result of an attack on published traces: who is found, how often chance would find one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from celosia.assess.intervals import wilson
from celosia.core.messages import Message, say, sentence
from celosia.core.methods import PlainValues, derived
from celosia.core.report import Block, Facts, Heading, Paragraph


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceAttack(PlainValues):
    """How many people an attack finds. No place and no person is in it."""

    name: str
    assumption: str
    """What the attacker must know."""
    mitigation: str
    """How to prevent it."""
    targets: int
    """The people who were attacked."""
    found: int
    """How many of them were found for certain, or near enough."""
    chance: float
    """The share that a random guess would find."""
    smallest: int | None = None
    """The fewest candidates that a target has; None where there are none to count."""
    left_out: int = 0
    """People of whom too little is known to attack them."""
    facts: Mapping[str, int | float] = field(default_factory=dict)
    """Figures of this attack alone."""

    @property
    @derived
    def share(self) -> float:
        """The share of the targets that were found."""
        return self.found / self.targets if self.targets else 0.0

    @property
    @derived
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        return wilson(self.found, self.targets)

    def blocks(self) -> list[Block]:
        """The attack as parts of a report."""
        facts = [
            (str(name).replace("_", " "), f"{value:,.4g}") for name, value in self.facts.items()
        ]
        return [
            Heading(sentence(self.name)[:-1], level=3),
            Paragraph(sentence(str(self))),
            Facts(
                [
                    (say("traces.report.attacker"), sentence(self.assumption)),
                    (say("traces.report.prevent"), sentence(self.mitigation)),
                    *facts,
                ]
            ),
        ]

    def __str__(self) -> str:
        low, high = self.interval
        return str(Message.of("traces.attack.line", self, low=low, high=high))
