"""Types of a database that `=` compares without failing and without merging values."""

from __future__ import annotations

import re
from typing import Literal

# Digits of each whole number, so that decimals can be weighed against it.
_DIGITS = {
    **dict.fromkeys(("tinyint", "utinyint", "smallint", "usmallint", "int2"), 5),
    **dict.fromkeys(("integer", "int", "int4", "uinteger"), 10),
    **dict.fromkeys(("bigint", "int8"), 19),
    "ubigint": 20,
}
_HUGE = "hugeint"
_FLOATS = frozenset({"float", "double", "real", "double precision"})
_DECIMAL = re.compile(r"(?:numeric|decimal)(?:\((\d+)(?:,(\d+))?\))?")
_LENGTH = re.compile(r"\(\d+\)$")
MOST_DIGITS = 38
"""Of a decimal number in DuckDB."""


def are_comparable(one: str, other: str, *, dialect: str) -> bool:
    """Whether `=` between columns of two types never fails and is true for one value each.

    An allow-list: equal types, and pairs that are known to be safe. DuckDB casts texts to UUID and
    wide numbers to narrower decimals, which fails on some values; whole numbers to fractions
    of limited precision, where two of them become one; moments to finer ones, which fails far from
    our time. PostgreSQL has no operator for some pairs, and ignores blanks at the end of CHAR.

    >>> are_comparable("INTEGER", "BIGINT", dialect="duckdb")
    True
    >>> are_comparable("UUID", "VARCHAR", dialect="duckdb")
    False
    """
    first, second = _plain(one), _plain(other)
    if first == second:
        return True
    if first in _FLOATS and second in _FLOATS:
        return True
    if {_text(first, dialect), _text(second, dialect)} == {"text"}:
        return True
    if {first, second} <= {*_DIGITS, _HUGE}:
        return True
    return _decimals(first, second, dialect)


def _plain(written: str) -> str:
    """A type in lower case, as short as it can be; an enumeration keeps its values."""
    if written.lower().startswith("enum"):
        return written
    short = re.sub(r"\s*([(),])\s*", r"\1", written.strip().lower())
    return short.replace("character varying", "varchar")


def _text(plain: str, dialect: str) -> Literal["text", ""]:
    """Whether a type is a text that is compared letter by letter."""
    if dialect == "duckdb" and plain.lower().startswith("enum"):
        return "text"  # compared by their texts
    return "text" if _LENGTH.sub("", plain) in {"varchar", "text", "string"} else ""


def _decimals(first: str, second: str, dialect: str) -> bool:
    """Exact numbers, of which a common type holds every digit."""
    sizes = [_size(first), _size(second)]
    if None in sizes:
        return False
    if dialect == "postgres":
        return True  # numeric has no limit that a value of another type could pass
    (before, behind), (before_too, behind_too) = (size or (0, 0) for size in sizes)
    return max(before, before_too) + max(behind, behind_too) <= MOST_DIGITS


def _size(plain: str) -> tuple[int, int] | None:
    """Digits before and behind the point, at most; None for what is no exact number."""
    if plain in _DIGITS:
        return _DIGITS[plain], 0
    found = _DECIMAL.fullmatch(plain)
    if found is None:
        return None
    width, scale = int(found[1] or 18), int(found[2] or (0 if found[1] else 3))
    return width - scale, scale
