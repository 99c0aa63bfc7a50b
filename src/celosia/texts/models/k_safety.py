"""k-safety: what a person's documents still say fits at least k persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.texts.models.model import ModelResult, RemainingTexts, TextModel


@dataclass(frozen=True)
class KSafety(TextModel):
    """Remove terms until all that is left of a person is shared by k - 1 others.

    Guarantee (Chakaravarthy et al. 2008; k-confusability of Cumby & Ghani 2011): every set of terms
    that is left in a person's documents is contained in the terms of at least `k` - 1 other persons
    of the collection. Testing all terms together suffices, because a larger set fits fewer persons.
    """

    method_name: ClassVar[str] = "k-safety"

    k: int = parameter(5, least=2, start=3, is_main=True)

    def apply(self, texts: RemainingTexts) -> ModelResult:
        """For each person the terms that must go."""
        contexts = texts.by_person
        if len(contexts) < self.k:
            raise PrivacyError("CEL-N031", persons=len(contexts), k=self.k)
        removed = {
            unit: minimal_removal(terms, contexts, unit, self.k) for unit, terms in contexts.items()
        }
        return ModelResult(
            texts.places({unit: tuple(gone) for unit, gone in removed.items()}),
            {"terms_removed": sum(map(len, removed.values()))},
        )

    def promise(self) -> str:
        """What is left fits k persons."""
        return Message("texts.promise.k_safety", k=self.k)


def candidates(terms: frozenset[str], contexts: Mapping[str, frozenset[str]], unit: str) -> int:
    """How many other persons have all of the terms."""
    return sum(terms <= other for each, other in contexts.items() if each != unit)


def minimal_removal(
    terms: frozenset[str], contexts: Mapping[str, frozenset[str]], unit: str, k: int
) -> frozenset[str]:
    """Terms whose removal makes a person's set fit k - 1 others: greedy by candidates won.

    Each step removes the term that too few of the nearest persons have. The last step keeps as much
    as it can: it puts back every term that is not needed.
    """
    others = [other for each, other in contexts.items() if each != unit]
    # The k - 1 persons who share most: keeping the terms that they all have is always safe.
    chosen: list[frozenset[str]] = []
    kept = terms
    for _ in range(k - 1):
        best = max(
            (other for other in others if not any(other is each for each in chosen)),
            key=lambda other: len(kept & other),
        )
        chosen.append(best)
        kept &= best
    for term in sorted(terms - kept):
        if sum((kept | {term}) <= other for other in others) >= k - 1:
            kept |= {term}
    return terms - kept
