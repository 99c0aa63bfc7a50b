"""A9, leak of text: documents in which at least one known direct identifier is left.

Recall averaged over mentions hides leaks: a name that is missed once identifies. So documents are
counted, and entities only if all of their mentions went.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from celosia.assess.recognisers import ROLES
from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.texts import word_lists
from celosia.texts.attacks.result import TextAttack
from celosia.texts.detection.facts import Facts
from celosia.texts.detection.people import name_words
from celosia.texts.detection.tokens import words_of
from celosia.texts.documents import Collection

SHORTEST = 4


def leak(original: Collection, texts: Sequence[str], facts: Facts) -> TextAttack:
    """The attacker knows the facts of each person, and looks for them in the person's documents.

    Args:
        original: the documents, which say whose each is.
        texts: their published texts, in the same order.
        facts: what is known of each person.

    Raises:
        InputError: CEL-N042 there are not as many texts as documents.
    """
    if len(texts) != len(original):
        raise InputError("CEL-N042", texts=len(texts), documents=len(original))
    leaking = surnames = 0
    entities: dict[tuple[str, str, str], bool] = {}
    kinds: dict[str, int] = defaultdict(int)
    for document, text in zip(original, texts, strict=True):
        own = facts.by_person.get(document.person or "", ())
        left = False
        words = set(words_of(text).words)
        squeezed = "".join(mark for mark in folded(text) if mark.isalnum())
        for kind, value in own:
            if ROLES[kind] != "direct":
                continue
            found = _is_left(kind, value, words, squeezed)
            entity = (document.unit, kind, value)
            entities[entity] = entities.get(entity, False) or found
            left = left or found
            kinds[kind] += found
            surnames += found and kind == "person"
        leaking += left
    closed = sum(not found for found in entities.values())
    return TextAttack(
        name=Message("texts.attack.leak"),
        knows=Message("texts.attack.leak_knows"),
        targets=len(original),
        successes=leaking,
        facts={
            "entities": len(entities),
            "entity_recall": closed / len(entities) if entities else 1.0,
            **{f"left_{kind}": count for kind, count in sorted(kinds.items()) if count},
        },
    )


def _is_left(kind: str, value: str, words: set[str], squeezed: str) -> bool:
    if kind == "person":
        # One rare word of a name is enough; given names and common words alone are not.
        telling = [
            word
            for word in name_words(value)
            if len(word) >= SHORTEST
            and word not in word_lists.common_words()
            and word not in word_lists.known_given()
        ]
        return any(word in words for word in telling)
    bare = "".join(mark for mark in folded(value) if mark.isalnum())
    return len(bare) >= SHORTEST and bare in squeezed
