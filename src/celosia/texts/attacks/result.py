"""What an attack on published documents found: shares and counts, no text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from celosia.assess.intervals import wilson
from celosia.core.messages import Message, say
from celosia.core.report import Block, Facts, Heading, Paragraph


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAttack:
    """The result of an attack.

    Args:
        name: which attack it was.
        knows: what the attacker knows.
        targets: how many documents, persons or terms were attacked.
        successes: how many of them the attacker found.
        by_chance: the share that a guess would find.
        facts: further figures.
    """

    name: str
    knows: str
    targets: int
    successes: int
    by_chance: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of targets that were found."""
        return self.successes / self.targets if self.targets else 0.0

    def interval(self) -> tuple[float, float]:
        """The Wilson interval of the share, at 95 %.

        >>> attack = TextAttack(name="a", knows="b", targets=10, successes=5)
        >>> [round(each, 3) for each in attack.interval()]
        [0.237, 0.763]
        """
        return wilson(self.successes, self.targets)

    def as_dict(self) -> dict[str, Any]:
        low, high = self.interval()
        return {
            "name": self.name,
            "knows": self.knows,
            "targets": self.targets,
            "successes": self.successes,
            "share": self.share,
            "interval": [low, high],
            "by_chance": self.by_chance,
            "facts": self.facts,
        }

    def blocks(self) -> list[Block]:
        """For a report."""
        low, high = self.interval()
        items = [
            (say("texts.attack.targets"), f"{self.targets:,}"),
            (say("texts.attack.found"), f"{self.successes:,} ({self.share:.1%})"),
            (say("texts.attack.interval"), f"{low:.1%} - {high:.1%}"),
            (say("texts.attack.by_chance"), f"{self.by_chance:.1%}"),
        ]
        items += [
            (str(name).replace("_", " "), _shown(value)) for name, value in self.facts.items()
        ]
        return [Heading(str(self.name)), Paragraph(str(self.knows)), Facts(items)]

    def __str__(self) -> str:
        return str(Message.of("texts.attack.line", self))


def _shown(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
