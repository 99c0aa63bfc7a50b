"""Constants of a query: their types, and the numbers by which facts refer to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal
from urllib.parse import urljoin

from celosia.core.messages import did_you_mean
from celosia.queries.rdf.terms import XSD, address_text, literal_text, term_number
from celosia.queries.sparql.refusals import not_sparql, refusal
from celosia.queries.sparql.trees import is_shorthand, name_of, part_of

STRING = XSD + "string"
LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_WHOLE = """
integer byte short int long unsignedByte unsignedShort unsignedInt unsignedLong positiveInteger
negativeInteger nonPositiveInteger nonNegativeInteger
"""
WHOLE = tuple(XSD + word for word in _WHOLE.split())
NUMERIC = (*WHOLE, XSD + "decimal", XSD + "double", XSD + "float")
MOST_DIGITS = 15
"""Digits of a number that a double keeps exactly."""

Sort = Literal["address", "number", "string", "language", "boolean", "dateTime", "date", "other"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Constant:
    """A term that is written in the query."""

    sort: Sort
    text: str
    """The address, or the text of the literal."""
    number: int
    """Of the term, as in the facts."""
    language: str | None = None
    datatype: str | None = None
    is_shorthand: bool = False
    """Whether it is a number without quotes, whose exact spelling the parser does not keep."""

    @property
    def amount(self) -> str:
        """A number as SQL reads it.

        Facts hold numbers as doubles. A constant of up to 15 digits is never rounded to the same
        double as another number of up to 15 digits.
        """
        try:
            value = Decimal(self.text)
        except InvalidOperation:
            value = Decimal("NaN")
        digits = value.normalize().as_tuple().digits if value.is_finite() else ()
        is_double = self.datatype in (XSD + "double", XSD + "float")
        if not value.is_finite() or self.datatype == XSD + "float" or abs(value) > Decimal("1e300"):
            raise refusal("CEL-Q259.constant_not_finite", most_digits=MOST_DIGITS)
        if len(digits) > MOST_DIGITS and not is_double:
            raise refusal("CEL-Q259.constant_too_many_digits", most_digits=MOST_DIGITS)
        if value == value.to_integral_value() and abs(value) < 10**MOST_DIGITS:
            return str(int(value))
        written = repr(float(value))
        return written if "e" in written else f"{written}e0"

    @property
    def written(self) -> str:
        """The canonical text of the term."""
        if self.sort == "address":
            return address_text(self.text)
        datatype = None if self.language is not None else self.datatype
        return literal_text(self.text, datatype=datatype, language=self.language)

    @property
    def truth(self) -> bool:
        """The value of a boolean."""
        return self.text in ("true", "1")

    @property
    def moment(self) -> tuple[str, bool]:
        """A date or time in universal time, and whether a time zone is written."""
        found = _MOMENT.fullmatch(self.text)
        try:
            if found is None or (found[2] is None) != (self.sort == "date"):
                raise ValueError
            local = datetime.fromisoformat(found[1] + (found[2] or "T00:00:00"))
            zone = found[3]
            if zone and zone != "Z":
                shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:]))
                local = local - shift if zone[0] == "+" else local + shift
        except (ValueError, OverflowError):
            raise refusal("CEL-Q259.constant_moment", most_digits=MOST_DIGITS) from None
        return local.isoformat(sep=" "), zone is not None


def resolve(address: str, base: str | None) -> str:
    """An address in full, by the rules of RFC 3986."""
    if base is None or _SCHEME.match(address):
        return address
    if address.startswith("#"):  # a fragment, even an empty one, stays
        return base.partition("#")[0] + address
    return urljoin(base, address)


@dataclass(frozen=True, slots=True)
class TermReader:
    """Reads terms of the parser, with the prefixes of the query and of the policy."""

    prefixes: Mapping[str, str]
    base: str | None = None
    """What relative addresses begin with."""

    def address(self, node: Any) -> str:
        """The address of an IRI or a prefixed name."""
        if name_of(node) == "pname":
            prefix = str(part_of(node, "prefix") or "")
            if prefix not in self.prefixes:
                near = did_you_mean(prefix, list(self.prefixes))
                raise not_sparql("CEL-Q240.prefix", prefix=prefix, near=near)
            address = self.prefixes[prefix] + str(part_of(node, "localname") or "")
        else:
            address = resolve(str(node), self.base)
        if not _SCHEME.match(address):
            raise not_sparql("CEL-Q240.relative_address", address=address)
        return address

    def constant(self, node: Any) -> Constant:
        """The constant that a term is."""
        if name_of(node) == "literal":
            datatype = part_of(node, "datatype")
            language = part_of(node, "lang")
            return _literal(
                str(node["string"]),
                self.address(datatype) if datatype is not None else None,
                str(language).lower() if language is not None else None,
            )
        if is_shorthand(node):
            return _literal(str(node), str(node.datatype), None, is_shorthand=True)
        address = self.address(node)
        return Constant("address", address, term_number(address_text(address)))


def _literal(
    text: str, datatype: str | None, language: str | None, *, is_shorthand: bool = False
) -> Constant:
    number = term_number(literal_text(text, datatype=datatype, language=language))
    sort: Sort = "other"
    if language is not None:
        sort = "language"
    elif datatype in (None, STRING):
        sort = "string"
    elif datatype in NUMERIC and _is_number(text, datatype):
        sort = "number"
    elif datatype == XSD + "boolean" and text in ("true", "false", "1", "0"):
        sort = "boolean"
    elif datatype in (XSD + "dateTime", XSD + "date"):
        sort = "date" if datatype == XSD + "date" else "dateTime"
    return Constant(sort, text, number, language, datatype or STRING, is_shorthand)


def _is_number(text: str, datatype: str | None) -> bool:
    if datatype in WHOLE:
        return re.fullmatch(r"[+-]?\d+", text, re.ASCII) is not None
    if datatype == XSD + "decimal":
        return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text, re.ASCII) is not None
    pattern = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?INF|NaN"
    return re.fullmatch(pattern, text, re.ASCII) is not None


def negate(constant: Constant) -> Constant:
    """A number with a minus before it."""
    text = constant.text[1:] if constant.text.startswith("-") else f"-{constant.text.lstrip('+')}"
    return _literal(text, constant.datatype, None, is_shorthand=True)


def constant_number(constant: Constant) -> int:
    """The number of a constant that has to be the very same term as in a fact."""
    if constant.is_shorthand and constant.datatype == XSD + "double":
        raise refusal("CEL-Q259.constant_exponent", most_digits=MOST_DIGITS)
    return constant.number
