"""The result of an attack on published traces: who is found, how often chance would find one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt

from celosia.core.messages import Message, say, sentence
from celosia.core.methods import PlainValues
from celosia.core.report import Block, Facts, Heading, Paragraph

Z = 1.959963984540054
"""The 97.5 % quantile of the normal law: intervals hold 95 %."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927).

    >>> low, high = wilson(0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    if not trials:
        return 0.0, 1.0
    share = successes / trials
    middle = (share + Z * Z / (2 * trials)) / (1 + Z * Z / trials)
    half = Z / (1 + Z * Z / trials) * sqrt(share * (1 - share) / trials + Z * Z / (4 * trials**2))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceAttack(PlainValues):
    """How many people an attack finds. No place and no person is in it."""

    derived = ("share", "interval")
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
    def share(self) -> float:
        """The share of the targets that were found."""
        return self.found / self.targets if self.targets else 0.0

    @property
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
