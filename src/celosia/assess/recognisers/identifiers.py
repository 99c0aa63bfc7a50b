"""Identifiers of a text by their form, their check digit and the words around them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from celosia.assess.recognisers import check_digits
from celosia.assess.recognisers.kinds import KINDS
from celosia.assess.recognisers.places import Begins, Places
from celosia.assess.recognisers.recogniser import POSSIBLE, SURE, Recogniser, compact
from celosia.assess.recognisers.table import PROTECTED, RECOGNISERS

BEFORE, AFTER = 5, 2
"""Words before and after a number among which a trigger word counts."""

_WINDOW = 80
"""Characters in which those words are looked for."""

_RANK = {kind: place for place, kind in enumerate(KINDS)}


class Match(NamedTuple):
    """A place in a text: what stands there, how sure that is, and which recogniser says so."""

    start: int
    end: int
    kind: str
    by: str
    score: float


def find(
    text: str | Places, *, kinds: Iterable[str] = KINDS, least: float = POSSIBLE
) -> list[Match]:
    """Every identifier in a text, in order, none inside another.

    Args:
        text: the text, or places of it; offsets count its characters.
        kinds: those that are wanted.
        least: the least score.

    >>> [(match.kind, match.by) for match in find("DNI 12345678Z, tel. 600 123 456, a@b.org")]
    [('id', 'DNI'), ('contact', 'telephone (ES)'), ('contact', 'e-mail')]
    >>> find("Ley 39/2015, 20 mg, ISBN 978-0-306-40615-7")
    []
    """
    wanted = frozenset(kinds)
    places = Places(text) if isinstance(text, str) else text
    found = [each for each in _candidates(places, wanted) if each.score >= least]
    return longest(_unprotected(places, found))


def _candidates(places: Places, kinds: frozenset[str]) -> list[Match]:
    around = _Around(places.text)
    found: list[tuple[int, Match]] = []
    for begins, group in _groups(kinds):
        starts = places.starts(begins)
        if starts is not None and not starts:
            continue
        for order, recogniser in group:
            for match in places.search(recogniser.pattern, starts):
                start, end = _fitted(recogniser, match)
                has_context = around.has(recogniser.context, start, end)
                score = recogniser.judge(places.text[start:end], has_context=has_context)
                if score:
                    made = Match(start, end, recogniser.kind, recogniser.name, round(score, 3))
                    found.append((order, made))
    found.sort(key=lambda each: each[0])
    return [each for _, each in found]


@cache
def _groups(
    kinds: frozenset[str],
) -> list[tuple[tuple[Begins, ...], list[tuple[int, Recogniser]]]]:
    """The recognisers of some kinds that begin alike, each with its place in the table."""
    groups: dict[tuple[Begins, ...], list[tuple[int, Recogniser]]] = {}
    for order, recogniser in enumerate(RECOGNISERS):
        if recogniser.kind in kinds:
            groups.setdefault(recogniser.begins, []).append((order, recogniser))
    return list(groups.items())


def _fitted(recogniser: Recogniser, match: re.Match[str]) -> tuple[int, int]:
    """The place without what the pattern took too much of."""
    text = match.string
    start, end = match.span("value" if "value" in recogniser.pattern.groupindex else 0)
    if recogniser.name == "url":
        return start, start + len(text[start:end].rstrip(".,;:!?)]}"))
    if recogniser.name == "IBAN":
        length = check_digits.IBAN_LENGTHS.get(text[start : start + 2].upper(), 0)
        for place in range(start, end):
            length -= text[place].isalnum()
            if not length:
                return start, place + 1
    return start, end


_WORD = re.compile(r"[^\W_]+")


class _Around:
    """The folded words beside places of a text; each side of a place is read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._before: dict[int, frozenset[str]] = {}
        self._after: dict[int, frozenset[str]] = {}

    def has(self, context: frozenset[str], start: int, end: int) -> bool:
        """Whether a trigger word stands beside a place."""
        if not context:
            return False
        if start not in self._before:
            words = _WORD.findall(self._text, max(0, start - _WINDOW), start)
            self._before[start] = frozenset(map(folded, words[-BEFORE:]))
        if not context.isdisjoint(self._before[start]):
            return True
        if end not in self._after:
            words = _WORD.findall(self._text, end, end + _WINDOW)
            self._after[end] = frozenset(map(folded, words[:AFTER]))
        return not context.isdisjoint(self._after[end])


@cache
def _accents() -> dict[int, int]:
    letters = "áàâäãåéèêëíìîïóòôöõúùûüñçÁÀÂÄÃÅÉÈÊËÍÌÎÏÓÒÔÖÕÚÙÛÜÑÇ"
    return {ord(mark): ord(unicodedata.normalize("NFD", mark)[0]) for mark in letters}


@lru_cache(maxsize=1 << 16)
def folded(text: str) -> str:
    """A word in lower case without the accents of English and Spanish; as long as it was.

    >>> folded("TELÉFONO")
    'telefono'
    """
    lower = text.translate(_accents()).lower()
    return lower if len(lower) == len(text) else text.translate(_accents())


def _unprotected(places: Places, found: list[Match]) -> list[Match]:
    """Without what lies inside a number that identifies nobody, unless it is very sure."""
    if all(each.score > SURE for each in found):
        return found
    safe = sorted(
        match.span()
        for each in PROTECTED
        for match in places.search(each.pattern, places.starts(each.begins))
    )
    starts = [start for start, _ in safe]
    ends = [0, *accumulate((end for _, end in safe), max)]  # the last end of those before
    return [
        each
        for each in found
        if each.score > SURE or each.end > ends[bisect_right(starts, each.start)]
    ]


def longest(found: Iterable[Match]) -> list[Match]:
    """Matches without overlaps: the longest wins, then the surest, then the kind listed first."""
    order = sorted(
        found, key=lambda each: (each.start - each.end, -each.score, _RANK[each.kind], each.start)
    )
    kept: list[Match] = []
    taken: set[int] = set()
    for each in order:
        if each.start not in taken and each.end - 1 not in taken:
            taken.update(range(each.start, each.end))
            kept.append(each)
    return sorted(kept)


__all__ = ["PROTECTED", "RECOGNISERS", "Match", "compact", "find", "folded", "longest"]
