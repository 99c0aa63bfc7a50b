"""The result of an attack on a published log or on published sets; counts only, no values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from celosia.assess.intervals import wilson
from celosia.core.messages import Message, say, sentence
from celosia.core.methods import PlainValues, derived
from celosia.core.report import Block, Facts, Heading, Paragraph


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAttack(PlainValues):
    """How many of the targets an attacker finds."""

    name: str
    assumption: str
    """What the attacker must know."""
    mitigation: str
    """How to prevent it."""
    targets: int
    exposed: int
    """Targets for whom the attack succeeds."""
    left_out: int = 0
    """Persons who have too few records to be attacked so."""
    chance: float = 0.0
    """The share of targets that a random choice among the candidates finds."""
    smallest: int | None = None
    """The fewest candidates that a target has."""
    facts: Mapping[str, int | float] = field(default_factory=dict)

    @property
    @derived
    def share_exposed(self) -> float:
        """The share of the targets for whom the attack succeeds."""
        return self.exposed / self.targets if self.targets else 0.0

    @property
    @derived
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the share (Wilson 1927): targets are a sample of what is known.

        >>> low, high = LogAttack(name="n", assumption="a", mitigation="m", targets=100,
        ...     exposed=50).interval
        >>> round(low, 3), round(high, 3)
        (0.404, 0.596)
        """
        return wilson(self.exposed, self.targets)

    def blocks(self) -> list[Block]:
        """The attack as parts of a report."""
        low, high = self.interval
        items = [
            (say("logs.report.attacker"), sentence(self.assumption)),
            (say("logs.report.interval"), f"{low:.2%} - {high:.2%}"),
            (say("logs.report.left_out_persons"), f"{self.left_out:,}"),
            (say("logs.report.prevent"), sentence(self.mitigation)),
        ]
        if self.smallest is not None:
            items.insert(2, (say("logs.report.smallest"), f"{self.smallest:,}"))
        return [
            Heading(sentence(self.name)[:-1], level=3),
            Paragraph(sentence(str(self))),
            Facts(items),
        ]

    def __str__(self) -> str:
        return Message.of("logs.attack.line", self, share=self.share_exposed).render()
