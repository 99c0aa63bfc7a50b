"""The scanner: words of a query with their positions, to refuse by before anything is parsed.

The parser keeps no places and takes its time with long texts. So what can be refused by a single
word is refused here, where the word stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from celosia.queries.sparql.refusals import Place, not_sparql, refusal, too_large

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


@dataclass(frozen=True, slots=True)
class _ForbiddenWord:
    code: str
    what: str
    why: str
    fix: str


_FORM = _ForbiddenWord(
    "CEL-Q242",
    "{} is not a question that is answered: only SELECT with aggregates is",
    "Facts are never shown, and nothing is ever changed.",
    "Ask for numbers: SELECT (COUNT(*) AS ?n) WHERE { ... }.",
)
_OTHERS = "ASK CONSTRUCT DESCRIBE INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH EXPLAIN"
_FORMS = tuple(_OTHERS.split())
_FORBIDDEN_WORDS: Mapping[str, _ForbiddenWord] = {
    "BASE": _ForbiddenWord(
        "CEL-Q244",
        "BASE is not supported",
        "Addresses are compared as they are written in full.",
        "Use PREFIX, or write addresses in full.",
    ),
    "FROM": _ForbiddenWord(
        "CEL-Q244",
        "FROM names another dataset",
        "Nothing but the graph of the policy is ever read, and nothing is fetched.",
        "Leave the clause out: a graph is asked by SELECT (COUNT(*) AS ?n) WHERE { ... }.",
    ),
    "GRAPH": _ForbiddenWord(
        "CEL-Q244",
        "GRAPH names a part of a dataset",
        "The facts of all graphs are one graph here.",
        "Write the patterns without GRAPH.",
    ),
    "SERVICE": _ForbiddenWord(
        "CEL-Q245",
        "SERVICE asks another endpoint",
        "It would send parts of the question elsewhere, and facts of others have no bound.",
        "Load the facts into the graph, or ask the other endpoint by itself.",
    ),
    "OPTIONAL": _ForbiddenWord(
        "CEL-Q246",
        "OPTIONAL is not supported",
        "A fact that is added there both takes a row away and brings others, without a bound.",
        "Leave the optional part out, or ask a second question in which it is required.",
    ),
    "UNION": _ForbiddenWord(
        "CEL-Q247",
        "UNION is not supported",
        "The same fact may add to every part, and no bound for that is proved.",
        "Ask each part by itself and add the answers; for several values of one variable use "
        "FILTER(?v IN (...)).",
    ),
    "MINUS": _ForbiddenWord(
        "CEL-Q248",
        "MINUS is not supported",
        "One fact may take away any number of solutions.",
        "Count all, count those that match, and subtract the answers.",
    ),
    "EXISTS": _ForbiddenWord(
        "CEL-Q249",
        "EXISTS is not supported",
        "One fact may let in, or take away, any number of solutions.",
        "Write its patterns beside the others, and count with COUNT(DISTINCT ?v).",
    ),
    "BIND": _ForbiddenWord(
        "CEL-Q251",
        "BIND is not supported",
        "How many facts share a computed value is not known from the policy.",
        "Write the expression into FILTER; join on the terms of facts as they are.",
    ),
    "REDUCED": _ForbiddenWord(
        "CEL-Q261",
        "SELECT REDUCED is not supported",
        "Solutions are never shown, only numbers about many of them.",
        "Count different values with COUNT(DISTINCT ?v).",
    ),
    "LATERAL": _ForbiddenWord(
        "CEL-Q250",
        "LATERAL is not supported",
        "One fact may change its solutions in any number of ways.",
        "Use plain patterns.",
    ),
    "UNDEF": _ForbiddenWord(
        "CEL-Q260",
        "UNDEF stands in VALUES",
        "It leaves a variable open, so that a solution may be counted twice.",
        "List the values that are meant.",
    ),
}


def scan(query: str) -> tuple[Word, ...]:
    """The words of a text that may be one SELECT query.

    Raises:
        InputError: CEL-Q240, the text is no SPARQL.
        QueryRefused: CEL-Q241 to CEL-Q251, CEL-Q260 and CEL-Q261, by a single word.
    """
    if not isinstance(query, str):
        raise not_sparql(f"a query is a text, got {type(query).__name__}")
    if len(query) > MOST_LETTERS:
        raise too_large(f"the query has {len(query):,} letters, of at most {MOST_LETTERS:,}")
    try:
        query.encode()
    except UnicodeEncodeError:
        raise not_sparql("the query holds half a letter") from None
    words = tuple(_words(query))
    if not words:
        raise not_sparql("the query is empty")
    if len(words) > MOST_WORDS:
        raise too_large(f"the query has more than {MOST_WORDS:,} words")
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
            raise not_sparql("a quote is left open", at=place)
        is_escape = "\\u" in text.lower() or text == "\\"
        if is_escape or (kind != "text" and not text.isprintable()):
            raise not_sparql("a letter is written as an escape, or cannot be shown", at=place)
        if kind == "number" and len(text) > MOST_NUMERALS:
            raise too_large("a number is too long")
        yield Word(kind, text, place)


def _check_form(words: tuple[Word, ...]) -> None:
    """Refuse all that is not SELECT, and more than one statement."""
    depth, seen = 0, False
    for before, each in zip([None, *words], words, strict=False):
        depth += (each.text in ("{", "(")) - (each.text in ("}", ")"))
        word = each.keyword
        if each.text == ";" and depth <= 0:
            raise _several(each.place)
        if before is not None and before.keyword == "PREFIX":
            continue
        if word in _FORMS and depth <= 0 and not seen:
            raise _forbidden_word_refusal(_FORM, word, each.place)
        if word == "SELECT" and depth > 0:
            raise refusal("CEL-Q250", at=each.place)
        if word in ("SELECT", *_FORMS) and depth <= 0 and seen:
            raise _several(each.place)
        seen = seen or word == "SELECT"
    if not seen:
        raise not_sparql("the query has no SELECT", at=words[0].place)


def _check_words(words: tuple[Word, ...]) -> None:
    inside: list[str] = []
    patterns = 1
    for each in words:
        if each.keyword in _FORBIDDEN_WORDS:
            raise _forbidden_word_refusal(_FORBIDDEN_WORDS[each.keyword], each.keyword, each.place)
        if each.text in ("{", "[", "("):
            inside.append(each.text)
        elif each.text in ("}", "]", ")") and inside:
            inside.pop()
        patterns += each.text in (".", ";", ",", "/", "[") and inside[-1:] in (["{"], ["["])
        if len(inside) > MOST_DEPTH:
            raise too_large("the query is nested too deeply")
    if patterns > MOST_PATTERNS + 1:
        raise too_large(f"the query has more than {MOST_PATTERNS} patterns")


def _forbidden_word_refusal(stop: _ForbiddenWord, word: str, at: Place) -> Exception:
    return refusal(stop.code, stop.what.format(word), at=at, why=stop.why, fix=stop.fix)


def _several(at: Place) -> Exception:
    return refusal("CEL-Q241", at=at)
