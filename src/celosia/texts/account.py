"""What was found, what was done with it, and what is left of the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from celosia.assess.recognisers import KINDS, ROLES
from celosia.core.methods import PlainValues
from celosia.texts.detection.run import FoundTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAccount(PlainValues):
    """Counts that may be published: no text, no place."""

    documents: int = 0
    persons: int = 0
    characters: int = 0
    untouched: int = 0
    """Characters that are as they were."""
    findings: Mapping[str, int] = field(default_factory=dict)
    """Findings by kind."""
    entities: Mapping[str, int] = field(default_factory=dict)
    """Different values by kind."""
    kept: Mapping[str, int] = field(default_factory=dict)
    """Findings that were kept on purpose, by kind."""
    to_review: int = 0
    """Findings that are not sure, and that nobody decided."""

    @classmethod
    def of(
        cls,
        found: FoundTexts,
        replacements: Mapping[int, Sequence[tuple[int, int, str]]],
        kept: Mapping[str, int],
    ) -> TextAccount:
        """The account of a collection that was published."""
        groups = {(each.kind, each.group) for each in found.findings}
        entities = Counter(kind for kind, _ in groups)
        touched = sum(end - start for found in replacements.values() for start, end, _ in found)
        characters = found.collection.characters
        return cls(
            documents=len(found.collection),
            persons=found.collection.persons,
            characters=characters,
            untouched=characters - touched,
            findings=found.counts(),
            entities={kind: entities[kind] for kind in KINDS if entities[kind]},
            kept=dict(kept),
            to_review=len(found.to_review()),
        )

    @property
    def share_untouched(self) -> float:
        """The share of characters that are as they were."""
        return self.untouched / self.characters if self.characters else 1.0

    def rows(self) -> list[tuple[str, str, int, int]]:
        """Kind, role, findings and entities, for tables."""
        return [
            (kind, ROLES[kind], count, self.entities.get(kind, 0))
            for kind, count in self.findings.items()
        ]
