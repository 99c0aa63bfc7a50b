"""What the structure says: lines with a label, columns of a table, keys and attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from celosia.assess.recognisers import Match
from celosia.assess.recognisers.identifiers import folded
from celosia.assess.recognisers.places import matches_at
from celosia.assess.risk.content import suggested
from celosia.texts.documents import Document, word_set

KINDS_OF_LABELS = {
    "e-mail address": "contact",
    "telephone number": "contact",
    "IP address": "device",
    "web address": "url",
    "card number": "account",
    "bank account": "account",
    "social security number": "id",
    "Spanish identity number": "id",
    "Chilean identity number": "id",
    "identity number": "id",
    "medical record number": "record",
    "vehicle identifier": "plate",
    "device identifier": "device",
    "birth date": "birth",
    "admission or discharge date": "date",
    "date": "date",
    "age": "age",
    "postal code": "address",
    "street address": "address",
    "geographic": "place",
    "personal name": "person",
    "key": "record",
}
"""What a label says, by the kinds of columns that `assess.risk` knows."""

_PEOPLE = word_set(
    "patient paciente doctor doctora dr dra relative familiar contact contacto madre padre "
    "mother father applicant solicitante author autor autora firmado signed physician "
    "medico nurse witness testigo interesado interesada titular declarante gp tutor tutora "
    "representante"
)
_LINE = re.compile(
    r"(?m)^[ \t>*|-]{0,6}(?P<label>[^\W\d_](?:[^\W_]|[ /.º°'()-]){0,38}?)[ \t]?:[ \t]{1,4}"
    r"(?P<value>[^\n]{1,200})$"
)
_COLON = re.compile(r":[ \t]")
_LONGEST_LABEL = 48
"""Characters from the start of a line to the colon after its label, at most."""
_NAME_WORD = r"(?:[^\W\d_]{1,3}\.|[^\W\d_](?:[^\W\d_]|['\u2019-]){0,30})"
_NAME_VALUE = re.compile(rf"{_NAME_WORD}(?:(?:,? |(?<=\.)){_NAME_WORD}){{0,6}}")
_WITH_DIGIT = frozenset(
    ("contact", "account", "id", "record", "plate", "device", "birth", "date", "age")
)
_AFTER_NAME = re.compile(r", (?=[^\W\d_]*[a-záéíóúñ]{2,} )| - | \(")
_AFTER_VALUE = re.compile(r"[;,(]|\. | - ")
LONGEST_VALUE = 90


@lru_cache(maxsize=4096)
def kind_of_label(label: str) -> str | None:
    """The kind that a label speaks of.

    >>> kind_of_label("Fecha de nacimiento"), kind_of_label("Paciente"), kind_of_label("Result")
    ('birth', 'person', None)
    """
    found = suggested(label, KINDS_OF_LABELS)
    if found == "key" and not re.search(r"\d|id$", folded(label)):
        found = None
    if found is not None:
        return KINDS_OF_LABELS[found]
    said = set(folded(label).replace(".", " ").split())
    return "person" if said & _PEOPLE else None


def find_lines(text: str) -> Iterator[Match]:
    """Values of lines with a label ("Patient: ...") in a folded text."""
    labelled = [_line_start(text, colon.start()) for colon in _COLON.finditer(text)]
    for match in matches_at(_LINE, text, labelled):
        kind = kind_of_label(match["label"])
        if kind is not None:
            yield from _value(text, match.start("value"), match.end("value"), kind, "label")


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", max(0, place - _LONGEST_LABEL), place) + 1


def find_parts(document: Document) -> Iterator[Match]:
    """Whole values whose column or key tells their kind, in the document's own text."""
    for part in document.parts:
        kind = kind_of_label(part.label) if part.label else None
        if kind is not None:
            yield from _value(document.text, part.start, part.end, kind, "column")


def _value(text: str, start: int, end: int, kind: str, by: str) -> Iterator[Match]:
    value = text[start:end]
    stripped = value.strip()
    if not stripped or len(stripped) > LONGEST_VALUE:
        return
    start += len(value) - len(value.lstrip())
    if kind == "person":
        match = _NAME_VALUE.match(text, start, start + len(stripped))
        if match is None or folded(match.group()) in (
            "no",
            "none",
            "ninguno",
            "ninguna",
            "yes",
            "si",
        ):
            return
        # "Madre: Ana Gil, 54 años": the name ends at what is no word of a name.
        named = _AFTER_NAME.split(match.group(), 1)[0].rstrip(" .,-")
        if named[:1].isupper() or by == "column":
            yield Match(start, start + len(named), kind, by, 0.85)
        return
    cut = _AFTER_VALUE.split(stripped, 1)[0].rstrip() if kind != "address" else stripped
    # "URL: Donate" and "Place: #7" say where to look, not what it is.
    if (kind == "url" and "." not in cut) or (kind == "place" and not cut[:1].isalpha()):
        return
    if kind in _WITH_DIGIT and not any(mark.isdigit() for mark in cut) and "@" not in cut:
        return
    if by == "label" and kind in ("date", "birth", "age", "place") and len(cut) > 40:
        return
    yield Match(start, start + len(cut), kind, by, 0.8)
