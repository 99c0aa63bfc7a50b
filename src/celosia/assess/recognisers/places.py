"""Where in a text a pattern may begin, so that it is tried there and nowhere else.

Most identifiers begin with a number, or with a few letters and a number. One scan of the text finds
those places for all patterns; a pattern with an anchor of its own (a colon between hexadecimal
digits, the word ISBN) is tried a few characters before the anchor. What is found is what a search
of the whole text with each pattern would find.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal

_AFTER_LETTERS = re.compile(
    r"\d(?<!\d.)(?:(?<=[^\W_].)|(?<=[^\W\d_a-z][-. ].)|(?<=[^\W\d_][-. ].)(?<![^\W\d_]{2}[-. ].))"
)
"""A digit after letters, or after a mark and capitals or a single letter ("on 12" is neither)."""
_SIGNS = (re.compile(r"\+(?=\d)"), re.compile(r"\((?=\d)"))
_LONG = re.compile(
    r"\d(?<!\w.)(?=(?:[ ./()-]{0,3}+\d){6}|\d{3}[ -]?[A-Z]{3}|\d{0,2}(?:\.\d{1,3}){2}\.\d)"
    r"(?!(?:(?<=1)9|(?<=2)0)\d\d([./-])\d{1,2}\1\d{1,2}(?!\d)"
    r"|\d?([./-])\d{1,2}\2\d{2,4}(?![.\d]))"
)
"""Seven digits, the plate of a car, or the address of a machine: fewer digits identify nobody. No
number that begins with a whole date is an identifier."""
_MOST_LETTERS = 4
_APOSTROPHE = re.compile("'")


@cache
def _plain(pattern: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile("[0-9]" + pattern.pattern.removeprefix(r"\d"))


@dataclass(frozen=True, slots=True)
class Anchor:
    """What every match holds, and how many characters after the start of the match."""

    pattern: re.Pattern[str]
    back: tuple[int, ...] = ()
    """Empty: the match begins with all letters, digits and marks before the anchor."""
    marks: str = ""
    words: frozenset[str] = frozenset()
    """What the match begins with: where the words of a text are known, they are the anchor."""
    every: int = 1
    """The anchor is one character of a run of so many: only each such place is looked at."""


Begins = Literal["long number", "letters", "sign"] | Anchor | None
"""The first digit of a long number; one to four letters and, perhaps after a mark, a digit; a plus
or a parenthesis and a digit. None: anywhere."""


@dataclass(frozen=True, eq=False)
class Places:
    """The places of a text at which patterns may begin, in order."""

    text: str = field(repr=False)
    windows: tuple[tuple[int, int], ...] | None = None
    """Where matches may begin (first place, place after the last), in order; None: anywhere."""
    of_words: Callable[[frozenset[str]], list[int]] | None = None
    """Where some words of the text begin, folded, if somebody has taken the text apart."""

    def _scan(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        if self.windows is None:
            return pattern.finditer(self.text)
        return (each for window in self.windows for each in pattern.finditer(self.text, *window))

    def _scan_digits(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """A search for a pattern that begins with a digit; plain digits are found sooner."""
        return self._scan(_plain(pattern) if self.text.isascii() else pattern)

    @cached_property
    def letters(self) -> list[int]:
        """One to four letters before a digit."""
        text, found = self.text, []
        for match in self._scan_digits(_AFTER_LETTERS):
            place = match.start()
            is_letter = text[place - 1].isalnum()
            end = start = place - (not is_letter)
            while start > 0 and text[start - 1].isalpha() and end - start <= _MOST_LETTERS:
                start -= 1
            if 0 < end - start <= _MOST_LETTERS and (
                is_letter or end - start == 1 or text[start:end].isupper()
            ):
                found.append(start)
        return found

    @cached_property
    def _signs(self) -> list[int]:
        return sorted(match.start() for sign in _SIGNS for match in self._scan(sign))

    @cached_property
    def _long(self) -> list[int]:
        return [match.start() for match in self._scan_digits(_LONG)]

    def of(self, begins: Literal["long number", "letters", "sign"]) -> list[int]:
        """The places of one way to begin."""
        if begins == "long number":
            return self._long
        return self.letters if begins == "letters" else self._signs

    def starts(self, begins: Iterable[Begins]) -> list[int] | None:
        """Where something may begin, in order; None where the whole text must be searched."""
        starts: list[int] = []
        ways = tuple(begins)
        for each in ways:
            if each is None:
                return None
            more = self._anchored(each) if isinstance(each, Anchor) else self.of(each)
            starts = starts + more if starts else more
        return sorted(starts) if len(ways) > 1 else starts

    def _anchored(self, anchor: Anchor) -> list[int]:
        if anchor.words and self.of_words is not None:
            # "l'historia 12" is one word.
            inside = [match.start() + 1 for match in _APOSTROPHE.finditer(self.text)]
            return sorted([*self.of_words(anchor.words), *inside])
        if not anchor.back and self.windows:
            # What has no blank in it begins and ends in one line: a window needs no search.
            return []
        if anchor.every > 1:
            every, text = anchor.every, self.text
            sample = anchor.pattern.finditer(text[every - 1 :: every])
            found = [(each.start() + 1) * every - 1 for each in sample]
            return [run_start(text, at, anchor.marks, most=every) for at in found]
        found = [match.start() for match in self._scan(anchor.pattern)]
        if anchor.back:
            return sorted(at - back for at in found for back in anchor.back if back <= at)
        return [run_start(self.text, at, anchor.marks) for at in found]

    def search(self, pattern: re.Pattern[str], starts: list[int] | None) -> Iterator[re.Match[str]]:
        """The matches of a pattern from left to right, none over another."""
        if starts is None:
            return pattern.finditer(self.text)
        return matches_at(pattern, self.text, starts)


def run_start(text: str, place: int, marks: str, *, most: int = sys.maxsize) -> int:
    """Where the letters, digits and marks before a place begin; `most` of them are looked at."""
    last = max(0, place - most)
    while place > last and (text[place - 1].isalnum() or text[place - 1] in marks):
        place -= 1
    return place


def matches_at(
    pattern: re.Pattern[str], text: str, starts: Iterable[int]
) -> Iterator[re.Match[str]]:
    """The matches that begin at one of some places (in order), none over another.

    >>> [match.group() for match in matches_at(re.compile("[ab]+"), "aba b", [0, 1, 4])]
    ['aba', 'b']
    """
    end = 0
    for start in starts:
        if start >= end:
            match = pattern.match(text, start)
            if match is not None:
                end = match.end()
                yield match
