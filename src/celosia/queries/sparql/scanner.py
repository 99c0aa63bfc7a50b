"""The scanner: words of a query with their positions, to refuse by before anything is parsed.

The parser keeps no places and takes its time with long texts. So what can be refused by a single
word is refused here, where the word stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from celosia.queries.sparql.refusals import Place, not_sparql, refusal

MOST_LETTERS = 20_000
"""The longest query that is read."""
MOST_PATTERNS = 40
"""The most triple patterns, each step of a path counted."""
MOST_DEPTH = 20
"""The most brackets inside each other."""
MOST_WORDS = 2_000
"""The most words, numbers, names and signs."""

MOST_NUMERALS = 40
"""The longest number."""

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\#[^\n\r]*)
  | (?P<text>\"\"\"(?:\"{0,2}(?:[^"\\]|\\.))*\"\"\"|'''(?:'{0,2}(?:[^'\\]|\\.))*'''
            |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
  | (?P<address><[^<>"{}|^`\\\x00-\x20]*>)
  | (?P<variable>[?$]\w+)
  | (?P<blank>_:[\w.\-]+)
  | (?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<name>(?:[^\W\d_][\w\-.]*)?:[\w\-.:%]*)
  | (?P<word>[^\W\d][\w]*)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<sign>\^\^|&&|\|\||[<>!]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word, name, text, number or sign of a query."""

    kind: str
    text: str
    place: Place

    @property
    def keyword(self) -> str:
        """The word in capitals; nothing for what cannot be a keyword."""
        return self.text.upper() if self.kind == "word" else ""


_OTHERS = "ASK CONSTRUCT DESCRIBE INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH EXPLAIN"
_FORMS = tuple(_OTHERS.split())
_FORBIDDEN_WORDS: Mapping[str, str] = {
    "SERVICE": "CEL-Q247.service",
    "LATERAL": "CEL-Q247.sub_select_lateral",
}
"""Words that stop a query, with the refusal of each."""


def scan(query: str) -> tuple[Word, ...]:
    """The words of a text that may be one SELECT query.

    Raises:
        InputError: CEL-Q240, the text is no SPARQL.
        QueryRefused: CEL-Q242 to CEL-Q247, CEL-Q260 and CEL-Q261, by a single word.
    """
    if not isinstance(query, str):
        raise not_sparql("CEL-Q240.not_a_text", type_name=type(query).__name__)
    if len(query) > MOST_LETTERS:
        raise refusal("CEL-Q243.too_long", letters=len(query), most_letters=MOST_LETTERS)
    try:
        query.encode()
    except UnicodeEncodeError:
        raise not_sparql("CEL-Q240.half_letter") from None
    words = tuple(_words(query))
    if not words:
        raise not_sparql("CEL-Q240.empty")
    if len(words) > MOST_WORDS:
        raise refusal("CEL-Q243.too_many_words", most_words=MOST_WORDS)
    _check_form(words)
    _check_words(words)
    return words


def _words(query: str) -> Iterable[Word]:
    line, start = 1, 0
    for found in _TOKEN.finditer(query):
        kind, text = str(found.lastgroup), found.group()
        place = (line, found.start() - start + 1)
        if "\n" in text:
            line += text.count("\n")
            start = found.start() + text.rindex("\n") + 1
        if kind == "space":
            continue
        if kind == "sign" and text in "\"'":
            raise not_sparql("CEL-Q240.open_quote", at=place)
        is_escape = "\\u" in text.lower() or text == "\\"
        if is_escape or (kind != "text" and not text.isprintable()):
            raise not_sparql("CEL-Q240.escape", at=place)
        if kind == "number" and len(text) > MOST_NUMERALS:
            raise refusal("CEL-Q243.number_too_long")
        yield Word(kind, text, place)


def _check_form(words: tuple[Word, ...]) -> None:
    """Refuse all that is not SELECT, and more than one statement."""
    depth, seen = 0, False
    for before, each in zip([None, *words], words, strict=False):
        depth += (each.text in ("{", "(")) - (each.text in ("}", ")"))
        word = each.keyword
        if each.text == ";" and depth <= 0:
            raise refusal("CEL-Q242.several", at=each.place)
        if before is not None and before.keyword == "PREFIX":
            continue
        if word in _FORMS and depth <= 0 and not seen:
            raise refusal("CEL-Q242.form", word=word, at=each.place)
        if word in ("SELECT", *_FORMS) and depth <= 0 and seen:
            raise refusal("CEL-Q242.several", at=each.place)
        seen = seen or word == "SELECT"
    if not seen:
        raise not_sparql("CEL-Q240.no_select", at=words[0].place)


def _check_words(words: tuple[Word, ...]) -> None:
    inside: list[str] = []
    patterns = 1
    for each in words:
        if each.keyword in _FORBIDDEN_WORDS:
            raise refusal(_FORBIDDEN_WORDS[each.keyword], at=each.place)
        if each.text in ("{", "[", "("):
            inside.append(each.text)
        elif each.text in ("}", "]", ")") and inside:
            inside.pop()
        patterns += each.text in (".", ";", ",", "/", "[") and inside[-1:] in (["{"], ["["])
        if len(inside) > MOST_DEPTH:
            raise refusal("CEL-Q243.too_deep")
    if patterns > MOST_PATTERNS + 1:
        raise refusal("CEL-Q243.too_many_patterns", most_patterns=MOST_PATTERNS)
