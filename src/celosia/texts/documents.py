"""Documents as values: a text with its parts, places in it, and what was found there.

Offsets count code points of the text as it was read. A text is made of parts (a line of a table, a
run of a Word file, an attribute of HTML); what is found may reach over several of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from celosia.assess.recognisers import ROLES, Role

Language = Literal["en", "es"]


def word_set(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a text that is written back by itself, and the label that stands beside it."""

    start: int
    end: int
    label: str = ""
    """The column, the key or the attribute, where there is one."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document: its text, whose it is, and the parts that it is written back in."""

    number: int
    name: str = field(repr=False)
    text: str = field(repr=False)
    language: Language = "en"
    person: str | None = field(default=None, repr=False)
    """Whose document it is: the privacy unit. None where each document is its own person."""
    parts: tuple[Part, ...] = field(default=(), repr=False)
    file: int = 0
    """The number of the file that it stands in."""

    @property
    def unit(self) -> str:
        """The person, or the document itself where no person is known."""
        return f"#{self.number}" if self.person is None else self.person

    def digest(self) -> str:
        """What tells this version of the text from another one."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Span(NamedTuple):
    """A place: the document's number, the first code point and how many there are."""

    document: int
    start: int
    length: int

    @property
    def end(self) -> int:
        """The first code point after it."""
        return self.start + self.length


class Finding(NamedTuple):
    """What was found at a place: its kind, the entity it mentions, how sure that is, and by whom.

    It holds no text: findings can be printed, kept and sent.
    """

    span: Span
    kind: str
    group: int = 0
    """The number of the entity: all mentions of one person have the same."""
    score: float = 1.0
    by: tuple[str, ...] = ()

    @property
    def role(self) -> Role:
        """What its kind is to an attacker."""
        return ROLES[self.kind]


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that are published together."""

    documents: tuple[Document, ...]
    has_persons: bool = False
    """Whether it is known whose each document is."""

    def __post_init__(self) -> None:
        assert all(each.number == at for at, each in enumerate(self.documents))

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    @property
    def persons(self) -> int:
        """How many persons the documents are of."""
        return len({each.unit for each in self.documents})

    @property
    def characters(self) -> int:
        """Code points of all texts."""
        return sum(len(each.text) for each in self.documents)

    @classmethod
    def of(
        cls,
        texts: Sequence[str] | Mapping[str, str],
        *,
        language: Language | None = None,
        persons: Sequence[str] | None = None,
    ) -> Collection:
        """A collection of plain texts, in a language that is guessed where it is not given.

        >>> len(Collection.of(["Ana came.", "Eva left."]))
        2
        """
        from celosia.texts.word_lists import guess_language  # it knows languages from here

        named = (
            list(texts.items())
            if isinstance(texts, Mapping)
            else [(f"{at:04d}.txt", text) for at, text in enumerate(texts, 1)]
        )
        documents = tuple(
            Document(
                number=at,
                name=name,
                text=text,
                language=language or guess_language(text),
                person=None if persons is None else persons[at],
                parts=(Part(0, len(text)),),
                file=at,
            )
            for at, (name, text) in enumerate(named)
        )
        return cls(documents, has_persons=persons is not None)


def replaced(text: str, replacements: Sequence[tuple[int, int, str]]) -> str:
    """A text with other text at some places (start, end, new), which do not overlap.

    >>> replaced("Ana met Eva.", [(0, 3, "X"), (8, 11, "Y")])
    'X met Y.'
    """
    pieces, last = [], 0
    for start, end, new in sorted(replacements):
        pieces += [text[last:start], new]
        last = end
    return "".join([*pieces, text[last:]])


def replaced_parts(document: Document, replacements: Sequence[tuple[int, int, str]]) -> list[str]:
    """The text of each part after the replacements.

    What reaches over several parts is written into the first of them, and goes from the others.
    """
    order = sorted(replacements)
    texts, at = [], 0
    for part in document.parts:
        here: list[tuple[int, int, str]] = []
        while at < len(order) and order[at][1] <= part.start:
            at += 1
        place = at
        while place < len(order) and order[place][0] < part.end:
            start, end, new = order[place]
            first = start >= part.start
            here.append(
                (
                    max(start, part.start) - part.start,
                    min(end, part.end) - part.start,
                    new if first else "",
                )
            )
            place += 1
        texts.append(replaced(document.text[part.start : part.end], here))
    return texts
