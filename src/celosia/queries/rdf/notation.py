"""Terms in a notation for people: short addresses, and texts in quotes as in Turtle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from celosia.queries.rdf.terms import address_text, literal_text

STANDARD: Mapping[str, str] = MappingProxyType(
    {
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    }
)
"""Prefixes that need not be declared."""

_LITERAL = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"(?:@(?P<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(?P<type>.+))?',
    re.DOTALL,
)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_LOCAL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")


def expand_address(word: str, prefixes: Mapping[str, str]) -> str | None:
    """The address (IRI) that a word stands for; None if it is none.

    >>> [expand_address(word, STANDARD) for word in ("xsd:date", "<urn:x>", "nobody:age")]
    ['http://www.w3.org/2001/XMLSchema#date', 'urn:x', None]
    """
    if word.startswith("<") and word.endswith(">"):
        found = word[1:-1]
    else:
        prefix, colon, local = word.partition(":")
        if not colon or prefix not in prefixes:
            return None
        found = prefixes[prefix] + local
    return None if _FORBIDDEN.search(found) or ":" not in found else found


def parse_term(word: str, prefixes: Mapping[str, str]) -> str | None:
    r"""The canonical text of the term that a word stands for; None if it is none.

    >>> parse_term('"5"^^xsd:integer', STANDARD)
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    if not word.startswith('"'):
        found = expand_address(word, prefixes)
        return None if found is None else address_text(found)
    hit = _LITERAL.fullmatch(word)
    if hit is None:
        return None
    text = _unescape(hit["text"])
    datatype = None if hit["type"] is None else expand_address(hit["type"], prefixes)
    if text is None or (hit["type"] is not None and datatype is None):
        return None
    return literal_text(text, datatype=datatype, language=hit["language"])


def abbreviate(text: str, prefixes: Mapping[str, str]) -> str:
    """A canonical text with its addresses made short, where a prefix allows it.

    >>> abbreviate("<http://www.w3.org/2001/XMLSchema#date>", STANDARD)
    'xsd:date'
    """
    if text.startswith("<"):
        return _short(text, prefixes)
    body, mark, datatype = text.rpartition("^^<")
    return f"{body}^^{_short('<' + datatype, prefixes)}" if mark and text.endswith(">") else text


def _short(text: str, prefixes: Mapping[str, str]) -> str:
    written = text[1:-1]
    fitting = [
        (len(start), name)
        for name, start in prefixes.items()
        if start and written.startswith(start) and _LOCAL.fullmatch(written[len(start) :])
    ]
    if not fitting:
        return text
    length, name = max(fitting)
    return f"{name}:{written[length:]}"


def _unescape(text: str) -> str | None:
    wrong = False

    def meant(hit: re.Match[str]) -> str:
        nonlocal wrong
        code = hit[1] or hit[2]
        if code is not None:
            number = int(code, 16)
            wrong = wrong or number > 0x10FFFF or 0xD800 <= number < 0xE000
            return "" if wrong else chr(number)
        wrong = wrong or hit[3] not in _ESCAPES
        return _ESCAPES.get(hit[3], "")

    found = _ESCAPE.sub(meant, text)
    return None if wrong else found
