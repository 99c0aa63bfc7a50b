"""Models choose what else must go by risk, not by a list: the base, and the terms they work on."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from celosia.assess.recognisers.identifiers import folded
from celosia.core.methods import Method
from celosia.texts import word_lists
from celosia.texts.detection.tokens import words_of
from celosia.texts.documents import Collection, Document, Finding, Span


@dataclass(frozen=True, slots=True)
class Selected:
    """A place that a model takes, and what stands there then; None leaves it to the action."""

    span: Span
    text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ModelResult:
    """What a model takes from the texts, and what it has to say about it."""

    selected: tuple[Selected, ...] = field(repr=False)
    facts: dict[str, Any] = field(default_factory=dict)


class TextModel(Method):
    """A condition on the texts that are left."""

    __slots__ = ()

    @abstractmethod
    def apply(self, texts: RemainingTexts) -> ModelResult:
        """The places that must go, beside those that were found."""

    @abstractmethod
    def promise(self) -> str:
        """What holds afterwards."""

    def assumes(self) -> tuple[str, ...]:
        """What must be true for it to hold."""
        return ()


@dataclass(frozen=True)
class RemainingTexts:
    """The words that detection leaves, with the persons that have them."""

    collection: Collection
    findings: tuple[Finding, ...] = field(repr=False)

    @cached_property
    def terms(self) -> list[list[tuple[str, int, int]]]:
        """For each document its remaining terms: the folded word, its place and its end."""
        taken: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for each in self.findings:
            taken[each.span.document].append((each.span.start, each.span.end))
        return [_terms(document, taken[document.number]) for document in self.collection]

    @cached_property
    def persons(self) -> dict[str, set[str]]:
        """The persons whose documents have each term."""
        found: dict[str, set[str]] = defaultdict(set)
        for document, terms in zip(self.collection, self.terms, strict=True):
            for term, _, _ in terms:
                found[term].add(document.unit)
        return found

    @cached_property
    def by_person(self) -> dict[str, frozenset[str]]:
        """The terms of each person."""
        found: dict[str, set[str]] = defaultdict(set)
        for document, terms in zip(self.collection, self.terms, strict=True):
            found[document.unit].update(term for term, _, _ in terms)
        return {unit: frozenset(terms) for unit, terms in found.items()}

    def places(self, removed: dict[str, Iterable[str]] | Iterable[str]) -> tuple[Selected, ...]:
        """Every place of some terms: everywhere, or in the documents of some persons."""
        by_unit = removed if isinstance(removed, dict) else None
        everywhere = frozenset() if by_unit is not None else frozenset(removed)
        made = []
        for document, terms in zip(self.collection, self.terms, strict=True):
            gone = everywhere if by_unit is None else frozenset(by_unit.get(document.unit, ()))
            made += [
                Selected(Span(document.number, start, end - start))
                for term, start, end in terms
                if term in gone
            ]
        return tuple(made)


def stem(word: str) -> str:
    """A word without the endings of its plural: what counts as one term.

    >>> stem("hospitales"), stem("notes"), stem("bus")
    ('hospital', 'note', 'bus')
    """
    if len(word) > 5 and word.endswith("es") and word[-3] in "lnrdjz":
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


def _terms(document: Document, taken: list[tuple[int, int]]) -> list[tuple[str, int, int]]:
    words = words_of(document.text)
    function = word_lists.function_words()
    taken = sorted(taken)
    found, at = [], 0
    for word, start, end in zip(words.words, words.starts, words.ends, strict=True):
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        is_taken = at < len(taken) and taken[at][0] < end
        if not is_taken and word not in function and len(word) > 1:
            found.append((stem(folded(word)), start, end))
    return found
