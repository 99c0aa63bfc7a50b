"""What is done with a finding: the base of all actions, and what they know while they work."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from celosia.core.errors import InputError
from celosia.core.methods import Method
from celosia.core.pseudonyms.keys import Key, normal_form
from celosia.texts.detection.people import name_words
from celosia.texts.documents import Document, Finding


@dataclass(frozen=True, slots=True)
class Mention:
    """One finding with its text, as an action sees it."""

    finding: Finding
    document: Document = field(repr=False)
    text: str = field(repr=False)
    canonical: str = field(repr=False)
    """The longest form of its entity within the scope."""


@dataclass(slots=True)
class ActionContext:
    """What all actions share while a collection is published."""

    scope: str
    key: Key | None = field(repr=False)
    forbidden: frozenset[str] = field(repr=False, default=frozenset())
    """Words of all names of the collection, folded: no surrogate may be one of them."""
    memory: dict[object, str] = field(default_factory=dict, repr=False)
    """What was chosen for an entity, by scope: equal values stay equal."""
    used: dict[str, set[str]] = field(default_factory=dict, repr=False)
    """Surrogates that are taken, by scope."""
    orders: dict[tuple[str, ...], list[str]] = field(default_factory=dict, repr=False)
    """Lists in their keyed order, which are used again and again."""

    def scope_of(self, mention: Mention) -> str:
        """The text of the scope that a mention lies in: what pseudonyms are keyed by."""
        if self.scope == "document":
            return f"document {mention.document.number}"
        if self.scope == "person":
            return f"person {mention.document.unit}"
        return "collection"

    def order(self, key: Key, values: list[str], *parts: str) -> list[str]:
        """The values in the order of the key, found once."""
        if parts not in self.orders:
            self.orders[parts] = key.order(values, *parts)
        return self.orders[parts]

    def secret(self) -> Key:
        """The key, which some actions need.

        Raises:
            InputError: CEL-N020 there is none.
        """
        if self.key is None:
            raise InputError("CEL-N020")
        return self.key


class Action(Method):
    """Turns a mention into the text that is published in its place."""

    __slots__ = ()
    needs_key: ClassVar[bool] = False
    is_reversible: ClassVar[bool] = False
    """Whether the holder of the key can find the original text."""
    is_linkable: ClassVar[bool] = False
    """Whether equal values stay equal within the scope."""

    @abstractmethod
    def replacement(self, mention: Mention, context: ActionContext) -> str:
        """The text that is published in the place of a mention."""


def entity_form(mention: Mention) -> str:
    """The value of an entity as it is hashed: a name without titles, case and accents."""
    if mention.finding.kind == "person":
        words = name_words(mention.canonical)
        if words:
            return " ".join(words)
    return normal_form(mention.canonical)
