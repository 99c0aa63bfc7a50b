"""Values of parameters as SQL literals, and the types of columns as PEP 249 names them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from celosia.core.errors import InputError

Date, Time, Timestamp = date, time, datetime
Binary = bytes


def DateFromTicks(ticks: float) -> date:  # noqa: N802 - the name that PEP 249 wants
    """The date of seconds since 1970, here."""
    return date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> time:  # noqa: N802
    """The time of seconds since 1970, here."""
    return datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime:  # noqa: N802
    """The date and time of seconds since 1970, here."""
    return datetime.fromtimestamp(ticks)


class TypeObject(frozenset[type]):
    """A kind of column; it equals each Python type that its values have."""

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, type) else super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = frozenset.__hash__


STRING = TypeObject({str})
NUMBER = TypeObject({int, float, bool})
BINARY = TypeObject({bytes})
DATETIME = TypeObject({date, datetime})
ROWID = TypeObject()


def type_of(values: Sequence[Any]) -> type | None:
    """The Python type of a column of released values; None where there is none.

    >>> type_of([None, 3]), type_of([3, 2.5]), type_of([None])
    (<class 'int'>, <class 'float'>, None)
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 else (str if kinds else None)


def bind(query: str, parameters: Sequence[Any]) -> str:
    """A question with each `?` replaced by the literal of its parameter.

    Question marks inside texts, names and comments are none: the text is read by the tokenizer
    that also reads it for the vault. A literal cannot end before its value does.

    Raises:
        InputError: CEL-Q340 there are more or fewer parameters than question marks, or one has a
            type that has no literal.

    >>> bind("SELECT count(*) FROM t WHERE name = ? AND x > ? -- why?", ["O'Neil", -3])
    "SELECT count(*) FROM t WHERE name = 'O''Neil' AND x > (-3) -- why?"
    """
    places = placeholders(query)
    if len(places) != len(parameters):
        raise InputError("CEL-Q340.count", marks=len(places), parameters=len(parameters))
    parts, last = list[str](), 0
    for number, (place, value) in enumerate(zip(places, parameters, strict=True), start=1):
        parts += [query[last:place], literal(value, number)]
        last = place + 1
    return "".join([*parts, query[last:]])


def placeholders(query: str) -> list[int]:
    """Where the question marks of parameters stand."""
    if "?" not in query:
        return []
    import sqlglot
    from sqlglot.errors import SqlglotError
    from sqlglot.tokenizer_core import TokenType

    try:
        tokens = sqlglot.tokenize(query, read="duckdb")
    except SqlglotError:
        raise InputError("CEL-Q020.open_quote") from None
    return [each.start for each in tokens if each.token_type is TokenType.PLACEHOLDER]


def literal(value: Any, number: int = 1) -> str:
    """A value as SQL.

    Raises:
        InputError: CEL-Q340 it has no literal.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime) and value.tzinfo is None:
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date) and not isinstance(value, datetime):
        return f"DATE '{value.isoformat()}'"
    text = _number(value)
    if text is None:
        raise InputError("CEL-Q340.type", number=number, type_name=type(value).__name__)
    # In parentheses, because two signs in a row begin a comment.
    return f"({text})" if text.startswith("-") else text


def _number(value: Any) -> str | None:
    """The digits of a number, also of NumPy's; None for anything else."""
    plain = value.item() if type(value).__module__ == "numpy" else value
    if isinstance(plain, Decimal):
        return format(plain, "f") if plain.is_finite() else None
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return None
    return repr(plain) if isfinite(plain) else None
