"""Many texts in one: every detector runs once over a batch, and short documents cost no more.

The texts stand far apart, so that nothing is found that reaches from one into the next and no word
of a text counts as the context of another; a word that is in no list stands between their words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from celosia.assess.recognisers import Match
from celosia.assess.recognisers import find as find_identifiers
from celosia.assess.recognisers.places import Places
from celosia.texts.detection import dates, names, structure, terms
from celosia.texts.detection.tokens import TermList, Words

SIZE = 1 << 17
"""Characters of a batch."""
SHORT = 1 << 12
"""A longer text is a batch by itself."""
_APART = "\n\n" + "\0" * 86 + "\n\n"
"""Longer than any context that a detector reads."""


_WRAPPED = re.compile(
    r"\n(?<=[^\W_].)[ \t]?(?:[+(]?\d|[A-Z0-9]{1,4}(?![^\W_])|[A-Z]{1,4}[-/ ]?\d)"
    r"|\n(?<=[^\w\s].)[ \t]?[(+]?\d",
    re.DOTALL,
)
"""Ends of lines that may cut a number in two."""
_REACH = 60
"""Characters of an identifier before the end of a line that it goes over, at most."""


def detect(texts: Sequence[Words], lists: TermList[str]) -> list[list[Match]]:
    """What patterns and lists find in each text of a batch."""
    offsets, joined = join(texts)
    found: list[list[Match]] = [[] for _ in texts]
    for start, end, kind, by, score in _detected(joined, lists):
        at = bisect_right(offsets, start) - 1
        offset = offsets[at]
        found[at].append(Match(start - offset, end - offset, kind, by, score))
    return found


def batches(texts: Sequence[Words]) -> Iterator[Sequence[Words]]:
    """Texts in order, as many at a time as make a batch."""
    first = size = 0
    for at, each in enumerate(texts):
        length = len(each.text) if len(each.text) <= SHORT else SIZE
        if at > first and size + length > SIZE:
            yield texts[first:at]
            first, size = at, 0
        size += length + len(_APART)
    yield texts[first:]


def join(texts: Sequence[Words]) -> tuple[list[int], Words]:
    """Where each text begins, and all of them as one."""
    if len(texts) == 1:
        return [0], texts[0]
    offsets: list[int] = []
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    offset = 0
    for each in texts:
        offsets.append(offset)
        words += each.words
        starts += [at + offset for at in each.starts]
        ends += [at + offset for at in each.ends]
        offset += len(each.text) + len(_APART)
        words.append("")
        starts.append(offset - 1)
        ends.append(offset - 1)
    return offsets, Words("".join(each.text + _APART for each in texts), words, starts, ends)


def _detected(words: Words, lists: TermList[str]) -> Iterator[Match]:
    text = words.text
    yield from find_identifiers(words.places)
    yield from dates.find(words)
    wrapped = _before_line_ends(text)
    if wrapped:
        for each in find_identifiers(Places(flat(text), wrapped)):
            if "\n" in text[each.start : each.end]:
                yield each
    yield from names.find(words)
    yield from terms.find(words, lists)
    yield from structure.find_lines(text)


def flat(text: str) -> str:
    """The text without ends of lines, as long as it was."""
    return text.replace("\r", " ").replace("\n", " ")


def _before_line_ends(text: str) -> tuple[tuple[int, int], ...]:
    """Where something may begin that goes over the end of a line."""
    windows: list[tuple[int, int]] = []
    for match in _WRAPPED.finditer(text):
        end = match.start()
        windows.append((max(windows[-1][1] if windows else 0, end - _REACH), end))
    return tuple(windows)
