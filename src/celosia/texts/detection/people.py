"""All forms of a name that was found once, and which mentions are of the same person."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from celosia.assess.recognisers import Match
from celosia.assess.recognisers.identifiers import folded
from celosia.texts import word_lists
from celosia.texts.detection.tokens import NEAR, Words, edits, is_near
from celosia.texts.documents import word_set

_TITLES = word_set("mr mrs ms miss mx dr dra prof sir lady rev sr sra srta don dona d")
_PARTICLES = word_set("de del la las los y i da do dos di van von der den el")


@dataclass(frozen=True, slots=True)
class NameForms:
    """The words of a name, and which of them may stand alone."""

    words: tuple[str, ...]
    """Folded, without titles and particles."""

    @property
    def given(self) -> tuple[str, ...]:
        """The words before the first that is no given name; initials count."""
        known = word_lists.known_given()
        count = 0
        for word in self.words[:-1]:
            if word in known or len(word) == 1:
                count += 1
            else:
                break
        return self.words[: max(count, 1 if len(self.words) > 1 else 0)]

    @property
    def family(self) -> tuple[str, ...]:
        """The words after the given names; a name of one word is both."""
        return self.words[len(self.given) :]


_POSSESSIVE = re.compile(r"['\u2019][sS](?!\w)")
_NAME_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


@lru_cache(maxsize=1 << 14)
def name_words(text: str) -> tuple[str, ...]:
    """The telling words of a name, folded.

    >>> name_words("Dra. María de la Cruz")
    ('maria', 'cruz')
    """
    if "," in text:  # "García López, Ana"
        family, _, given = text.partition(",")
        text = f"{given} {family}"
    found = map(folded, _NAME_WORD.findall(_POSSESSIVE.sub("", text)))
    return tuple(word for word in found if word not in _TITLES and word not in _PARTICLES)


_INITIALS = re.compile(r"(?:(?<!\w)[A-ZÀ-ÖØ-Þ]\.? ?){1,3}$")


class NameSearch:
    """Looks for names in all their forms: full, surname alone, initials, one letter wrong."""

    def __init__(
        self, names: Iterable[tuple[str, ...]], ordinary: frozenset[str] = frozenset()
    ) -> None:
        self._known: dict[str, bool] = {}
        """Each word of a name, and whether it may stand alone in lower case."""
        self._near: dict[str, list[str]] = defaultdict(list)
        function = word_lists.plain_words()
        common, given = word_lists.ordinary_words(), word_lists.known_given()
        for words in names:
            first = NameForms(words).given
            for word in words:
                if len(word) < 2 or word in function or word in ordinary:
                    continue
                is_rare = word not in common and len(word) > 3
                is_given = word in first and word in given
                if word not in self._known and len(word) >= NEAR:
                    for each in edits(word):
                        self._near[each].append(word)
                self._known[word] = self._known.get(word, False) or (is_rare and not is_given)

    def find(self, words: Words) -> Iterator[Match]:
        """Every run of words of the names, with initials before them."""
        fitting = self._fitting(words)
        last = -1
        for at in fitting:
            if at <= last:
                continue
            last = at
            while last + 1 in fitting and self._joins(words, last):
                last += 1
            first = at
            if at and words.is_capital(at) and self._joins(words, at - 1):
                # A short form of the given name, or another one, before a known surname.
                is_given = words.words[at - 1] in word_lists.known_given()
                first -= is_given and words.is_capital(at - 1)
            start = words.starts[first]
            before = _INITIALS.search(words.text, max(0, start - 9), start)
            if before is not None and words.is_capital(first):
                start -= len(before.group())
            yield Match(start, words.ends[last], "person", "propagation", 0.8)

    def _fitting(self, words: Words) -> dict[int, None]:
        """The places among the words of those that are of a name, in order."""
        known, names = self._known, word_lists.known_names()
        found = [
            at
            for at, word in enumerate(words.words)
            if word in known
            and (known[word] or words.is_capital(at) or self._has_neighbour(words, at))
        ]
        for at in words.long_capitals:
            bare = words.words[at].removesuffix("'s")
            # A known name is no misprint of another one.
            if bare in known or (bare not in names and self._is_misprint(bare)):
                found.append(at)
        for at in words.possessives:
            bare = words.words[at][:-2]
            if bare in known and (
                known[bare] or words.is_capital(at) or self._has_neighbour(words, at)
            ):
                found.append(at)
        return dict.fromkeys(sorted(found))

    def _is_misprint(self, word: str) -> bool:
        if len(word) < NEAR - 1:
            return False
        near = self._near
        close = [near[each] for each in edits(word) if each in near]
        return any(is_near(word, known) for each in close for known in each)

    def _has_neighbour(self, words: Words, at: int) -> bool:
        """Whether a word of a name in lower case stands beside another one."""
        return any(
            0 <= near < len(words.words)
            and words.words[near] in self._known
            and words.words[near] != words.words[at]
            and self._joins(words, min(near, at))
            for near in (at - 1, at + 1)
        )

    @staticmethod
    def _joins(words: Words, at: int) -> bool:
        """Whether only a space, a line end or a particle stands between a word and the next."""
        between = words.text[words.ends[at] : words.starts[at + 1]]
        return between in (" ", "  ", "\n", " \n", "-", "-\n")


def groups(mentions: list[tuple[str, tuple[str, ...]]]) -> list[int]:
    """The number of the entity of each mention: (unit, words of the name).

    Within one person's documents, mentions are of one entity if one holds the words of the other,
    allowing initials and one wrong letter, or if they share a surname and their given names go
    together.

    >>> groups([("p", ("ana", "gil")), ("p", ("gil",)), ("p", ("eva", "gil")), ("q", ("ana",))])
    [0, 0, 1, 2]
    """
    known: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    same: dict[tuple[str, tuple[str, ...]], int] = {}
    numbers: dict[int, int] = {}
    count = 0
    # Long names first, so that short forms find them; the numbers follow the order of appearance.
    order = sorted(range(len(mentions)), key=lambda at: (-len(mentions[at][1]), at))
    raw = [0] * len(mentions)
    for at in order:
        unit, words = mentions[at]
        fitting = same.get(mentions[at])
        if fitting is None:
            fitting = next((number for full, number in known[unit] if _is_form(words, full)), None)
        if fitting is None:
            fitting = count
            count += 1
            known[unit].append((words, fitting))
        raw[at] = same[mentions[at]] = fitting
    for number in raw:
        numbers.setdefault(number, len(numbers))
    return [numbers[number] for number in raw]


def _is_form(words: tuple[str, ...], full: tuple[str, ...]) -> bool:
    """Whether a name may be a short form of a longer one."""
    rest = list(full)
    for word in words:
        place = next((at for at, each in enumerate(rest) if is_same_word(word, each)), None)
        if place is None:
            return False
        rest = rest[place + 1 :] if len(words) > 1 else rest
    return bool(words)


def is_same_word(word: str, full: str) -> bool:
    """Whether a word of a mention may stand for a word of the full name."""
    if word == full or (len(word) == 1 and full.startswith(word)):
        return True
    return len(word) >= NEAR - 1 and len(full) >= NEAR and is_near(word, full)


__all__ = ["NameForms", "NameSearch", "groups", "is_same_word", "name_words"]
