"""The text that detection reads, with a map back to the text as it was written.

Accents are composed, soft hyphens and characters of no width go, digits and letters of full width
and digits of other scripts become plain ones, a word that is broken at the end of a line is joined,
and spaces at both ends of a line go. What is found in the folded text is mapped back to cover every
original character between its ends, and never splits a character that is shown as one.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field

_INVISIBLE = "\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ufe00-\ufe0f"
_PLACES = re.compile(
    rf"(?P<gone>[{_INVISIBLE}]+|[ \t]++(?=\r?\n)|(?<=\n)[ \t]++)"
    r"|(?<=[^\W\d_])(?P<broken>-\r?\n[ \t]*)(?=[^\W\d_])"
    r"|(?P<wide>[\uff01-\uff5e\u00a0\u2007\u202f\u3000])"
    r"|(?P<digit>(?![0-9])\d)"
    r"|(?P<marked>.[\u0300-\u036f]+)",
    re.DOTALL,
)
_IN_ASCII = (
    (("\n ", "\n\t"), re.compile(r"\n[ \t]++"), 1),
    ((" \n", " \r\n", "\t\n", "\t\r\n"), re.compile(r"[ \t]++(?=\r?\n)"), 0),
    (("-\n", "-\r\n"), re.compile(r"-(?<=[A-Za-z]-)\r?\n[ \t]*(?=[A-Za-z])"), 0),
)
"""What goes from plain letters: blanks at both ends of a line, and words broken at its end; what
tells that there is something to look for, and how many characters of a match stay."""
_LOOKALIKES = {"\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-",
               "\u2019": "'"}  # fmt: skip
_SINGLE = str.maketrans(_LOOKALIKES)
_JOINED = "\u200d"
"""Joins the characters before and after it to one that is shown (emoji)."""


@dataclass(frozen=True, slots=True)
class FoldedText:
    """The folded text, and where its stretches begin in it and in the original."""

    text: str
    size: int
    """Code points of the original."""
    starts: list[int] = field(repr=False, default_factory=list)
    """First folded code point of each stretch in which offsets run alike."""
    origins: list[int] = field(repr=False, default_factory=list)
    ends: list[int] = field(repr=False, default_factory=list)
    """The original code point after each stretch."""

    def origin(self, start: int, end: int, original: str) -> tuple[int, int]:
        """The place in the original that covers a place in the folded text."""
        if not self.starts:
            first, last = start, end
        else:
            first = self._first(start)
            last = self._first(end - 1, last=True)
        if original.isascii():
            return first, last
        while first > 0 and _goes_on(original, first):
            first -= 1
        while last < self.size and _goes_on(original, last):
            last += 1
        return first, last

    def _first(self, place: int, *, last: bool = False) -> int:
        at = bisect_right(self.starts, place) - 1
        inside = place - self.starts[at]
        stretch = self.ends[at] - self.origins[at]
        following = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.text)
        if following - self.starts[at] != stretch:  # folded: all of it stands for all of it
            return self.ends[at] if last else self.origins[at]
        return self.origins[at] + inside + last


def _goes_on(text: str, place: int) -> bool:
    """Whether the character at a place is shown as one with the one before it."""
    mark = text[place]
    return (
        mark == _JOINED
        or text[place - 1] == _JOINED
        or bool(unicodedata.combining(mark))
        or unicodedata.category(mark) in ("Mn", "Me")
        or "\U0001f3fb" <= mark <= "\U0001f3ff"
    )


def fold(text: str) -> FoldedText:
    r"""The text that patterns are matched with.

    >>> fold("Gar\u00adcía, sá-\nbado").text
    'García, sábado'
    """
    is_plain = text.isascii()
    plain = text if is_plain else text.translate(_SINGLE)
    changes = _gaps(plain) if is_plain else _changes(plain)
    if not changes:
        return FoldedText(plain, len(text))
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    ends: list[int] = []
    size = last = 0
    for first, after, new in [*changes, (len(text), len(text), "")]:
        if first < last:  # a blank line has its blanks at both ends
            continue
        for piece, origin, end in ((plain[last:first], last, first), (new, first, after)):
            if piece:
                pieces.append(piece)
                starts.append(size)
                origins.append(origin)
                ends.append(end)
                size += len(piece)
        last = after
    return FoldedText("".join(pieces), len(text), starts, origins, ends)


def _gaps(text: str) -> list[tuple[int, int, str]]:
    """What goes from a text of plain letters."""
    return sorted(
        (match.start() + stay, match.end(), "")
        for signs, pattern, stay in _IN_ASCII
        if any(each in text for each in signs)
        for match in pattern.finditer(text)
    )


def _changes(text: str) -> list[tuple[int, int, str]]:
    """What is written in another way, or goes."""
    found = []
    for match in _PLACES.finditer(text):
        what, written = match.lastgroup, match.group()
        if what == "digit":
            new = str(unicodedata.digit(written))
        elif what in ("wide", "marked"):
            new = unicodedata.normalize("NFKC" if what == "wide" else "NFC", written)
        else:
            new = ""
        found.append((*match.span(), new))
    return found
