"""C-sanitised texts: no term that is left tells more about a protected entity than is permitted."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import Any, ClassVar

from celosia.core.messages import Message
from celosia.core.methods import check_list, parameter
from celosia.texts.detection.tokens import words_of
from celosia.texts.documents import Span
from celosia.texts.lexicon import sample
from celosia.texts.models.model import ModelResult, RemainingTexts, Selected, TextModel, stem

LEAST_DOCUMENTS = 3
"""Documents that two terms must share before their joint count is an estimate."""


def _entities(value: Any) -> tuple[str, ...]:
    found = (value,) if isinstance(value, str) else check_list(value)
    if not found or not all(isinstance(each, str) and each.strip() for each in found):
        raise ValueError
    return tuple(found)


@dataclass(frozen=True)
class CSanitised(TextModel):
    """Terms that give a protected entity away go.

    Guarantee (Sánchez & Batet 2016): for every entity c of `entities` that a document speaks of, no
    term t is left with PMI(c; t) above the information content of g(c), the permitted general term
    of c. Joint counts are those of the collection itself (documents, add one half); pairs of fewer
    than three documents give no estimate and are counted.
    """

    method_name: ClassVar[str] = "c-sanitised"

    entities: tuple[str, ...] = parameter(
        kind="values", check=_entities, allowed="texts.allowed.entities", example='["diabetes"]'
    )
    levels: int = parameter(1, least=0, most=10)

    def apply(self, texts: RemainingTexts) -> ModelResult:
        """In each document that speaks of an entity, the terms that tell too much of it."""
        collection = texts.collection
        count = len(collection)
        terms = [frozenset(term for term, _, _ in found) for found in texts.terms]
        spoken = {
            entity: [_speaks_of(document.text, entity) for document in collection]
            for entity in self.entities
        }
        removed: dict[int, set[str]] = {}
        unsure = 0
        for entity, flags in spoken.items():
            with_entity = sum(flags)
            if not with_entity:
                continue
            most = self.permitted(entity, with_entity, count)
            both: dict[str, int] = {}
            alone: dict[str, int] = {}
            for flag, own in zip(flags, terms, strict=True):
                for term in own:
                    alone[term] = alone.get(term, 0) + 1
                    both[term] = both.get(term, 0) + flag
            telling = set()
            for term, joint in both.items():
                if joint and joint < LEAST_DOCUMENTS:
                    unsure += 1
                elif joint and pmi(joint, with_entity, alone[term], count) > most:
                    telling.add(term)
            words = {stem(word) for word in words_of(entity).words}
            for number, flag in enumerate(flags):
                if flag:
                    removed.setdefault(number, set()).update(telling | words)
        selected = tuple(
            Selected(Span(number, start, end - start))
            for number, gone in removed.items()
            for term, start, end in texts.terms[number]
            if term in gone
        )
        return ModelResult(
            selected, {"terms_removed": len(selected), "pairs_without_estimate": unsure}
        )

    def permitted(self, entity: str, with_entity: int, count: int) -> float:
        """The information of what may be told of an entity, in bits.

        The general term's share of documents cannot be below the entity's: where the lexicon knows
        the entity, its information shrinks by the share of nodes that the general term covers.
        """
        own = -log2((with_entity + 0.5) / (count + 1))
        lexicon = sample()
        node = lexicon.node(entity)
        if node is None:
            return own
        above = node
        for _ in range(self.levels):
            above = lexicon.parent(above) or above
        return max(0.0, own - log2(lexicon.leaves(above) / lexicon.leaves(node)))

    def promise(self) -> str:
        """No term tells more than the general ones."""
        return Message("texts.promise.c_sanitised", entities=len(self.entities))

    def assumes(self) -> tuple[str, ...]:
        """The collection is like the texts an attacker has."""
        return (Message("texts.assumes.joint_counts"),)


def pmi(joint: int, first: int, second: int, count: int) -> float:
    """Pointwise mutual information in bits, from counts of documents with one half added.

    >>> round(pmi(5, 5, 5, 20), 3)
    1.933
    """
    total = count + 1
    return log2((joint + 0.5) * total / ((first + 0.5) * (second + 0.5)))


def _speaks_of(text: str, entity: str) -> bool:
    wanted = words_of(entity).words
    words = words_of(text).words
    size = len(wanted)
    return any(words[at : at + size] == wanted for at in range(len(words) - size + 1))
