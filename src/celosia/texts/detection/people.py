"""All forms of a name that was found once, and which mentions are of the same person."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from celosia.assess.recognisers import Match
from celosia.assess.recognisers.identifiers import folded
from celosia.texts import word_lists
from celosia.texts.detection.tokens import Words, edits, is_near
from celosia.texts.documents import word_set

_TITLES = word_set("mr mrs ms miss mx dr dra prof sir lady rev sr sra srta don dona d")
_PARTICLES = word_set("de del la las los y i da do dos di van von der den el")
NEAR = 6
"""Letters from which on a word that is one edit away is taken for a misprint of a name."""


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


def name_words(text: str) -> tuple[str, ...]:
    """The telling words of a name, folded.

    >>> name_words("Dra. María de la Cruz")
    ('maria', 'cruz')
    """
    if "," in text:  # "García López, Ana"
        family, _, given = text.partition(",")
        text = f"{given} {family}"
    text = re.sub(r"['\u2019][sS](?!\w)", "", text)
    found = [folded(word) for word in re.findall(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", text)]
    return tuple(word for word in found if word not in _TITLES and word not in _PARTICLES)


class NameSearch:
    """Looks for names in all their forms: full, surname alone, initials, one letter wrong."""

    def __init__(self, names: Iterable[tuple[str, ...]]) -> None:
        self._known: dict[str, bool] = {}
        """Each word of a name, and whether it may stand alone in lower case."""
        self._near: dict[str, set[str]] = defaultdict(set)
        self._initials: set[str] = set()
        common = word_lists.common_words() | word_lists.function_words()
        given = word_lists.known_given()
        for words in names:
            form = NameForms(words)
            for word in words:
                is_name = word in given or word in word_lists.known_surnames()
                if len(word) < 2 or (word in word_lists.function_words() and not is_name):
                    continue
                is_rare = word not in common and len(word) > 3
                is_given = word in form.given and word in given
                self._known[word] = self._known.get(word, False) or (is_rare and not is_given)
                if len(word) >= NEAR:
                    for each in edits(word):
                        self._near[each].add(word)
            if len(words) > 1:
                self._initials.add("".join(word[0] for word in words))

    def find(self, words: Words) -> Iterator[Match]:
        """Every run of words of the names, with initials before them."""
        at, count = 0, len(words.words)
        while at < count:
            if not self._fits(words, at):
                at += 1
                continue
            last = at
            while last + 1 < count and self._joins(words, last) and self._fits(words, last + 1):
                last += 1
            if at and words.is_capital(at) and self._joins(words, at - 1):
                # A short form of the given name, or another one, before a known surname.
                is_given = words.words[at - 1] in word_lists.known_given()
                at -= is_given and words.is_capital(at - 1)
            start = words.starts[at]
            before = re.search(
                r"(?:(?<!\w)[A-ZÀ-ÖØ-Þ]\.? ?){1,3}$", words.text[max(0, start - 9) : start]
            )
            if before is not None and words.is_capital(at):
                start -= len(before.group())
            yield Match(start, words.ends[last], "person", "propagation", 0.8)
            at = last + 1

    def _fits(self, words: Words, at: int) -> bool:
        word = words.words[at].removesuffix("'s").removesuffix("\u2019s")
        is_capital = words.is_capital(at)
        if word in self._known:
            return is_capital or self._known[word] or self._has_neighbour(words, at)
        if len(word) >= NEAR - 1 and is_capital and not word_lists.known_given() & {word}:
            # A known name is no misprint of another one.
            if word in word_lists.known_surnames():
                return False
            for each in edits(word):
                for known in self._near.get(each, ()):
                    if is_near(word, known):
                        return True
        return False

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
    numbers: dict[int, int] = {}
    count = 0
    # Long names first, so that short forms find them; the numbers follow the order of appearance.
    order = sorted(range(len(mentions)), key=lambda at: (-len(mentions[at][1]), at))
    raw = [0] * len(mentions)
    for at in order:
        unit, words = mentions[at]
        fitting = next((number for full, number in known[unit] if _is_form(words, full)), None)
        if fitting is None:
            fitting = count
            count += 1
            known[unit].append((words, fitting))
        raw[at] = fitting
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
