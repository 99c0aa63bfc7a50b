"""Where in a text a pattern may begin, so that it is tried there and nowhere else.

Most identifiers begin with a number, or with a few letters and a number. One scan of the text finds
those places for all patterns; a pattern with an anchor of its own (a colon between hexadecimal
digits, the word ISBN) is tried a few characters before the anchor. What is found is what a search
of the whole text with each pattern would find.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

_RUN = re.compile(r"\d(?<!\d\d)")
_LONG = re.compile(r"(?:\d[ ./()-]{0,3}+){6}\d|\d{4}[ -]?[A-Z]{3}|(?:\d{1,3}\.){3}\d")
"""Seven digits, the plate of a car, or the address of a machine: fewer digits identify nobody."""
_MOST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Anchor:
    """What every match holds, and how many characters after the start of the match."""

    pattern: re.Pattern[str]
    back: tuple[int, ...] = ()
    """Empty: the match begins with all letters, digits and marks before the anchor."""
    marks: str = ""


Begins = Literal["number", "long number", "letters", "sign"] | Anchor | None
"""A digit that no letter or digit precedes; one of a long number; one to four letters and, perhaps
after a mark, a digit; a plus or a parenthesis and a digit. None: anywhere."""


@dataclass(frozen=True, eq=False)
class Places:
    """The places of a text at which patterns may begin, in order."""

    text: str = field(repr=False)
    windows: tuple[tuple[int, int], ...] | None = None
    """Where matches may begin (first place, place after the last), in order; None: anywhere."""

    def _scan(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        if self.windows is None:
            return pattern.finditer(self.text)
        return (each for window in self.windows for each in pattern.finditer(self.text, *window))

    @cached_property
    def _runs(self) -> tuple[list[int], list[int], list[int]]:
        numbers, letters, signs = [], [], []
        text = self.text
        for match in self._scan(_RUN):
            place = match.start()
            before = text[place - 1] if place else " "
            if before in "+(":
                signs.append(place - 1)
            is_letter = before.isalnum()
            if not is_letter and before != "_":
                numbers.append(place)
            if is_letter or before in "-. ":
                end = place - (not is_letter)
                start = end
                while start > 0 and text[start - 1].isalpha() and end - start <= _MOST_LETTERS:
                    start -= 1
                # Before a mark, only capitals or a single letter count: "on 12" is no beginning.
                if 0 < end - start <= _MOST_LETTERS and (
                    is_letter or end - start == 1 or text[start:end].isupper()
                ):
                    letters.append(start)
        return numbers, letters, signs

    @property
    def numbers(self) -> list[int]:
        """Digits that no letter, digit or underscore precedes."""
        return self._runs[0]

    @cached_property
    def _long(self) -> list[int]:
        return [place for place in self.numbers if _LONG.match(self.text, place)]

    def of(self, begins: Literal["number", "long number", "letters", "sign"]) -> list[int]:
        """The places of one way to begin."""
        if begins == "long number":
            return self._long
        return self._runs[("number", "letters", "sign").index(begins)]

    def starts(self, begins: Iterable[Begins]) -> list[int] | None:
        """Where something may begin, in order; None where the whole text must be searched."""
        starts: list[int] = []
        ways = tuple(begins)
        for each in ways:
            if each is None:
                return None
            if not isinstance(each, Anchor):
                starts = starts + self.of(each) if starts else self.of(each)
            elif each.back:
                found = [match.start() for match in self._scan(each.pattern)]
                starts = sorted(at - back for at in found for back in each.back if back <= at)
            else:
                # What has no blank in it begins and ends in one line: a window needs no search.
                found = [] if self.windows else [at.start() for at in self._scan(each.pattern)]
                starts = [run_start(self.text, at, each.marks) for at in found]
        return sorted(starts) if len(ways) > 1 else starts

    def search(self, pattern: re.Pattern[str], starts: list[int] | None) -> Iterator[re.Match[str]]:
        """The matches of a pattern from left to right, none over another."""
        if starts is None:
            return pattern.finditer(self.text)
        return matches_at(pattern, self.text, starts)


def run_start(text: str, place: int, marks: str) -> int:
    """Where the letters, digits and marks before a place begin."""
    while place and (text[place - 1].isalnum() or text[place - 1] in marks):
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
