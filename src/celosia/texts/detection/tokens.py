"""Words of a text with their places, and lists of terms that are found among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate, compress, count
from typing import Generic, TypeVar

import numpy as np

from celosia.assess.recognisers.identifiers import folded
from celosia.assess.recognisers.places import Places
from celosia.texts.detection.triggers import WORD, Group, triggers

Value = TypeVar("Value")

NEAR = 6
"""Letters from which on a word that is one edit away is taken for a misprint of a name."""


@dataclass(frozen=True)
class Words:
    """The words of a folded text: folded, with where they start and end.

    Every detector works on these words: a text is taken apart once.
    """

    text: str = field(repr=False)
    words: list[str] = field(repr=False)
    starts: list[int] = field(repr=False)
    ends: list[int] = field(repr=False)

    @cached_property
    def places(self) -> Places:
        """Where patterns of numbers may begin."""
        return Places(self.text, of_words=self._starts_of_words)

    def _starts_of_words(self, wanted: frozenset[str]) -> list[int]:
        pairs = zip(self.words, self.starts, strict=True)
        return [start for word, start in pairs if word in wanted]

    @cached_property
    def hits(self) -> dict[Group, list[int]]:
        """The places among the words of those that make detectors look closer, by detector."""
        found: dict[Group, list[int]] = defaultdict(list)
        known = triggers()
        for at in compress(count(), map(known.__contains__, self.words)):
            for group in known[self.words[at]]:
                found[group].append(at)
        return found

    @cached_property
    def long_capitals(self) -> list[int]:
        """The places of words with a capital that are long enough for a misprint to be told."""
        text, starts = self.text, self.starts
        long = [at for at, word in enumerate(self.words) if len(word) >= NEAR - 1]
        return [at for at in long if text[starts[at]].isupper()]

    @cached_property
    def possessives(self) -> list[int]:
        """The places of words that end with 's."""
        if "'" not in self.text:
            return []
        return [at for at, word in enumerate(self.words) if word[-2:] == "'s"]

    def starts_of(self, group: Group, back: int = 0) -> list[int]:
        """Where in the text the words of a detector begin, and as many words before them."""
        first = self.hits.get(group, [])
        if not back:
            return [self.starts[at] for at in first]
        wide = {each for at in first for each in range(max(0, at - back), at + 1)}
        return [self.starts[at] for at in sorted(wide)]

    def is_capital(self, at: int) -> bool:
        """Whether a word begins with a capital letter."""
        return self.text[self.starts[at]].isupper()

    def is_first(self, at: int) -> bool:
        """Whether a word begins a sentence or a line."""
        return is_first(self.text, self.starts[at])


def is_first(text: str, start: int) -> bool:
    """Whether what begins at a place begins a sentence or a line."""
    before = text[max(0, start - 12) : start].rstrip(" \t\"'([{«“¿¡*_-")
    return not before or before[-1] in ".!?\n:;•|"


_BLANK, _APOSTROPHE = b" '"
_PLAIN = bytes(
    ord(mark.lower()) if mark.isalnum() else _BLANK for mark in map(chr, range(128))
).ljust(256, b" ")
"""Letters and digits of ASCII in lower case; blanks for all else."""


def words_of(text: str) -> Words:
    """The words of a text.

    >>> words_of("Ana came.").words
    ['ana', 'came']
    """
    if text.isascii():
        return _plain_words(text)
    pieces = WORD.split(text)
    ends = list(accumulate(map(len, pieces)))
    return Words(text, list(map(folded, pieces[1::2])), ends[:-1:2], ends[1::2])


def _plain_words(text: str) -> Words:
    """The words of a text in ASCII: what `WORD` finds, four times as fast."""
    raw = text.encode("ascii")
    plain = raw.translate(_PLAIN)
    if _APOSTROPHE in raw:
        plain = _with_apostrophes(raw, plain)
    # A word begins and ends where a blank stands beside none; blanks stand around the text.
    is_blank = np.frombuffer(b" " + plain + b" ", dtype=np.uint8) == _BLANK
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1]).tolist()
    return Words(text, plain.decode("ascii").split(), edges[::2], edges[1::2])


def _with_apostrophes(raw: bytes, plain: bytes) -> bytes:
    """The apostrophes put back that join two parts to one word: of "a'b'c" the first alone."""
    joined = bytearray(plain)
    last = len(joined) - 1
    at = raw.find(_APOSTROPHE)
    while at >= 0:
        if 0 < at < last and joined[at - 1] != _BLANK != joined[at + 1]:
            start = at
            while start and joined[start - 1] not in (_BLANK, _APOSTROPHE):
                start -= 1
            if start < at and not (start and joined[start - 1] == _APOSTROPHE):
                joined[at] = _APOSTROPHE
        at = raw.find(_APOSTROPHE, at + 1)
    return bytes(joined)


class TermList(Generic[Value]):
    """Terms of one or several words, each with a value; found in one pass over the words."""

    def __init__(self, terms: Iterable[tuple[str, Value]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Value]]] = {}
        for term, value in terms:
            split = tuple(words_of(term).words)
            if split:
                self._by_first.setdefault(split[0], []).append((split, value))
        for found in self._by_first.values():
            found.sort(key=lambda each: -len(each[0]))

    def __bool__(self) -> bool:
        return bool(self._by_first)

    def find(
        self, words: Words, places: Iterable[int] | None = None
    ) -> Iterator[tuple[int, int, Value]]:
        """The first and the last word of every term, with its value; the longest at each place.

        Args:
            words: the words of a text.
            places: the places among the words at which terms may begin; all without it.
        """
        known = self._by_first
        if places is None:
            places = [at for at, word in enumerate(words.words) if word in known] if known else ()
        for at in places:
            for split, value in known[words.words[at]]:
                if tuple(words.words[at : at + len(split)]) == split:
                    yield at, at + len(split) - 1, value
                    break


@lru_cache(maxsize=1 << 14)
def edits(word: str) -> tuple[str, ...]:
    """The word with each letter left out: two words one edit apart share one of these."""
    return (word, *[word[:at] + word[at + 1 :] for at in range(len(word))])


def is_near(first: str, second: str) -> bool:
    """Whether two words are one edit apart: a letter more, less or other, or two exchanged.

    >>> is_near("martinez", "martines"), is_near("martinez", "matrinez"), is_near("gil", "sol")
    (True, True, False)
    """
    if abs(len(first) - len(second)) > 1 or first == second:
        return first == second
    place = next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    if len(first) == len(second):
        swapped = first[:place] + first[place + 1 : place + 2] + first[place : place + 1]
        return first[place + 1 :] == second[place + 1 :] or (swapped + first[place + 2 :] == second)
    longer, shorter = (first, second) if len(first) > len(second) else (second, first)
    return longer[place + 1 :] == shorter[place:]
