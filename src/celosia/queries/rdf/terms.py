r"""Terms of an RDF graph: one text and one number for each, independent of the parser.

The text is the canonical N-Triples form: `<address>`, `_:label`, `"text"`, `"text"@language`,
`"text"^^<datatype>`. Languages are in lower case, `xsd:string` is not written, and only quotes,
backslashes, controls (U+0000 to U+001F, U+007F), U+FFFE and U+FFFF are escaped. Two terms of RDF
are equal if and only if these texts are.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from celosia.core.errors import InputError

XSD = "http://www.w3.org/2001/XMLSchema#"
STRING = f"<{XSD}string>"
LANGUAGE_STRING = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"
WHOLE_TYPES = tuple(
    f"<{XSD}{name}>"
    for name in (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
"""Ranges of the narrower types are not looked at: `"300"^^xsd:byte` counts as 300, as elsewhere."""
DECIMAL, FLOAT, DOUBLE = f"<{XSD}decimal>", f"<{XSD}float>", f"<{XSD}double>"
DATE, DATE_TIME = f"<{XSD}date>", f"<{XSD}dateTime>"

WHOLE_FORM = r"[+-]?[0-9]+"
DECIMAL_FORM = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
DOUBLE_FORM = DECIMAL_FORM + r"(?:[eE][+-]?[0-9]+)?"
ZONE_FORM = r"(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
DATE_FORM = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
TIME_FORM = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
ESCAPES = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\b": r"\b", "\f": r"\f", '"': r"\""} | {
    "\\": r"\\"
}
"""Escapes of characters in canonical texts; `NAMELESS` ones are written by their code."""
NAMELESS = tuple(
    chr(code) for code in (*range(0x20), 0x7F, 0xFFFE, 0xFFFF) if chr(code) not in ESCAPES
)
_ESCAPED = str.maketrans(ESCAPES | {mark: rf"\u{ord(mark):04X}" for mark in NAMELESS})
_UNESCAPED = {written: mark for mark, written in ESCAPES.items()}
_ESCAPE = re.compile(r"\\(?:u([0-9A-F]{4})|.)", re.DOTALL)
_NO_ADDRESS = re.compile(r'[\x00-\x20<>"{}|^`\\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedTerm:
    """A decoded term: the columns that the store keeps of an object."""

    kind: int
    """0 for an address, 1 for a blank node, 2 for a literal; only this has what follows."""
    text: str | None = None
    language: str | None = None
    datatype: int | None = None
    """The number of the address of the datatype."""
    number: float | None = None
    moment: datetime | None = None
    """In universal time, without a zone; None outside of the years 1 to 9999."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"moment": None if self.moment is None else self.moment.isoformat()}


def term_number(text: str) -> int:
    """The number of a term by its canonical text: the low 63 bits of half of its MD5.

    It needs no look at the data, and no secret is kept by it. The second eight bytes of the digest
    are read with the least first, as `md5_number_lower` of DuckDB does. Loading refuses two terms
    of one number.

    >>> term_number("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")
    3196482530602001455
    """
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little") & (2**63 - 1)


def canonical_text(term: Any) -> str:
    """The canonical text of a term of pyoxigraph or rdflib.

    >>> from rdflib import Literal
    >>> canonical_text(Literal("Adiós", lang="ES"))
    '"Adiós"@es'
    """
    module, name = type(term).__module__.partition(".")[0], type(term).__name__
    if module == "pyoxigraph" and name in ("NamedNode", "BlankNode", "Literal"):
        if getattr(term, "direction", None) is None:
            return str(term)  # the same form, proven so by the tests
    elif module == "rdflib" and name == "Literal":
        return literal_text(str(term), language=term.language, datatype=term.datatype)
    elif module == "rdflib" and name == "BNode":
        return f"_:{term}"
    elif module == "rdflib" and name == "URIRef":
        return address_text(str(term))
    raise InputError("CEL-Q220.not_a_term")


def address_text(iri: str) -> str:
    """The canonical text of an address.

    >>> address_text("http://example.org/a")
    '<http://example.org/a>'
    """
    if _NO_ADDRESS.search(iri):
        raise InputError("CEL-Q220.not_an_address")
    return f"<{iri}>"


def literal_text(text: str, *, language: str | None = None, datatype: str | None = None) -> str:
    r"""The canonical text of a literal.

    >>> literal_text("5", datatype="http://www.w3.org/2001/XMLSchema#integer")
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    >>> print(literal_text('say "no"\n'))
    "say \"no\"\n"
    """
    quoted = f'"{text.translate(_ESCAPED)}"'
    if language:
        return f"{quoted}@{language.lower()}"
    suffix = "" if datatype is None else address_text(str(datatype))
    return quoted if suffix in ("", STRING) else f"{quoted}^^{suffix}"


def decode(text: str) -> DecodedTerm:
    """Decode a canonical text; `term_sql.decode_sql` does the same in SQL.

    >>> decode('"2.50"^^<http://www.w3.org/2001/XMLSchema#decimal>').number
    2.5
    """
    if not text.startswith('"'):
        return DecodedTerm(kind=1 if text.startswith("_") else 0)
    quoted, _, suffix = text.rpartition('"')
    lexical = _ESCAPE.sub(_unescape, quoted[1:])
    if suffix.startswith("@"):
        language, datatype = suffix[1:].lower(), LANGUAGE_STRING
    else:
        language, datatype = None, suffix.removeprefix("^^") or STRING
    return DecodedTerm(
        kind=2,
        text=lexical,
        language=language,
        datatype=term_number(datatype),
        number=parse_number(lexical, datatype),
        moment=parse_moment(lexical, datatype),
    )


def parse_number(lexical: str, datatype: str) -> float | None:
    """The value of a numeric literal; None if it is none, ill-formed, not a number or infinite.

    >>> parse_number("0.1", FLOAT), parse_number("5.0", WHOLE_TYPES[0])
    (0.10000000149011612, None)
    """
    forms = dict.fromkeys(WHOLE_TYPES, WHOLE_FORM)
    forms |= {DECIMAL: DECIMAL_FORM, FLOAT: DOUBLE_FORM, DOUBLE: DOUBLE_FORM}
    form = forms.get(datatype)
    if form is None or not re.fullmatch(form, lexical):
        return None
    value = float(lexical)
    if datatype == FLOAT and math.isfinite(value):
        try:
            value = float(struct.unpack("f", struct.pack("f", value))[0])
        except OverflowError:
            return None
    return value if math.isfinite(value) else None


def parse_moment(lexical: str, datatype: str) -> datetime | None:
    """The value of a date (its midnight) or time in universal time; no zone counts as that.

    >>> parse_moment("2015-01-13T24:00:00+01:00", DATE_TIME)
    datetime.datetime(2015, 1, 13, 23, 0)
    """
    form = {DATE: "", DATE_TIME: f"T{TIME_FORM}"}.get(datatype)
    if form is None:
        return None
    found = re.fullmatch(f"({DATE_FORM})({form})({ZONE_FORM})", lexical)
    if found is None:
        return None
    day, time, zone = found.groups()
    try:
        moment = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
        if time:
            hours, minutes, seconds = time[1:].split(":")
            whole, _, part = seconds.partition(".")
            moment += timedelta(hours=int(hours), minutes=int(minutes), seconds=int(whole))
            moment += timedelta(microseconds=int(part[:6].ljust(6, "0")))  # what is finer is cut
        if zone not in ("", "Z"):
            shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
            moment += -shift if zone[0] == "+" else shift
    except (ValueError, OverflowError):  # no such day, or beyond the years 1 to 9999
        return None
    return moment.replace(tzinfo=None)


def _unescape(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _UNESCAPED[found[0]]
