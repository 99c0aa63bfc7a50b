"""RareTerms: every term that is left occurs in the documents of at least k persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from celosia.core.errors import EngineError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.texts.models.model import ModelResult, RemainingTexts, TextModel

UNKNOWN_BITS = 27.0
"""The information of a word that no list has."""


@dataclass(frozen=True)
class RareTerms(TextModel):
    """Terms of fewer than k persons go.

    Guarantee: every term (a word without case, accents and plural endings) that is left occurs in
    documents of at least `k` persons of the collection. With `bits`, common words of the language
    stay: only terms rarer than 2 to the power of -bits go, which promises less.
    """

    method_name: ClassVar[str] = "rare-terms"

    k: int = parameter(5, least=2, start=5, is_main=True)
    bits: float | None = parameter(None, least=1, most=27)

    def apply(self, texts: RemainingTexts) -> ModelResult:
        """All places of terms that too few persons have."""
        rare = {term for term, units in texts.persons.items() if len(units) < self.k}
        if self.bits is not None:
            languages = {document.language for document in texts.collection}
            rare = {
                term
                for term in rare
                if max(information(term, language) for language in languages) > self.bits
            }
        return ModelResult(
            texts.places(rare), {"terms": len(texts.persons), "rare_terms": len(rare)}
        )

    def promise(self) -> str:
        """Every term has k persons."""
        if self.bits is None:
            return Message("texts.promise.rare_terms", k=self.k)
        return Message("texts.promise.rare_terms_bits", k=self.k, bits=self.bits)


def information(term: str, language: str) -> float:
    """The bits of a word: minus the logarithm of its share of all words (package wordfreq).

    Raises:
        EngineError: CEL-N015 wordfreq is not installed.
    """
    from math import log2

    try:
        from wordfreq import word_frequency
    except ImportError:
        raise EngineError("CEL-N015") from None
    share = float(word_frequency(term, language, wordlist="large"))
    return -log2(share) if share > 0 else UNKNOWN_BITS
