"""What a column of text holds, judged over all its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.columns import as_text
from celosia.frames.decimal_marks import (
    EXPONENT,
    SHORT_WHOLE,
    WHOLE,
    WITH_COMMA,
    Mark,
    pointed,
)
from celosia.frames.formats import ColumnType

Narrow = Literal["integer", "decimal", "decimal comma", "date"]
"""The types narrower than text; decimals are told apart by how they are written."""

_DTYPES: dict[Narrow, type[pl.DataType]] = {
    "integer": pl.Int64,
    "decimal": pl.Float64,
    "decimal comma": pl.Float64,
    "date": pl.Date,
}

_PATTERNS: dict[Narrow, str] = {
    # No leading zero and no plus sign: 05345 is a postcode, not the number 5345.
    "integer": "^(?:0|-?[1-9][0-9]{0,18})$",
    "decimal": f"^-?(?:{SHORT_WHOLE}"
    rf"|(?:{WHOLE}\.[0-9]*|\.[0-9]+)(?:{EXPONENT})?|{WHOLE}{EXPONENT})$",
    "decimal comma": WITH_COMMA,
    "date": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
}

_SAMPLE = 200
"""Rows tried first: nearly every column of words is told from numbers by them."""


def narrow(marks: Sequence[Mark]) -> tuple[Narrow, ...]:
    """The types narrower than text in the order in which they are tried.

    >>> narrow((",",)), narrow((".", ","))
    (('integer', 'decimal comma', 'date'), ('integer', 'decimal', 'date', 'decimal comma'))
    """
    if "." not in marks:
        return ("integer", "decimal comma", "date")
    pointed_first: tuple[Narrow, ...] = ("integer", "decimal", "date")
    return (*pointed_first, "decimal comma") if "," in marks else pointed_first


def mark_of(wanted: Narrow) -> Mark | None:
    """The decimal mark of a type, if it has one."""
    marks: dict[Narrow, Mark] = {"decimal": ".", "decimal comma": ","}
    return marks.get(wanted)


def parse(text: pl.Series, wanted: Narrow) -> pl.Series | None:
    """A column of text as values of the type; None if there is one that cannot be read so.

    >>> parse(pl.Series(["0", "-3", None]), "integer").to_list()
    [0, -3, None]
    >>> parse(pl.Series(["7", "05345"]), "integer") is None
    True
    >>> parse(pl.Series(["3,14", "1.234,5"]), "decimal comma").to_list()
    [3.14, 1234.5]
    """
    pattern = _PATTERNS[wanted]
    for part in (text.head(_SAMPLE), text):
        if not part.str.contains(pattern).all():
            return None
    values = _values(text, wanted)
    return values if values.null_count() == text.null_count() else None


def infer(text: pl.Series, tried: Sequence[Narrow]) -> tuple[Narrow | None, pl.Series]:
    """A column of text in the narrowest type that all its values have, and which that is.

    A column without values stays text.

    >>> columns = (["1", "2.5"], ["2020-02-29"], ["1", "*"])
    >>> [infer(pl.Series(values), narrow("."))[0] for values in columns]
    ['decimal', 'date', None]
    """
    if text.null_count() == len(text):
        return None, text
    for wanted in tried:
        values = parse(text, wanted)
        if values is not None:
            return wanted, values
    return None, text


def _values(text: pl.Series, wanted: Narrow) -> pl.Series:
    """Text that matches the pattern of the type as values; missing where it is out of range."""
    if wanted == "date":
        return text.str.to_date("%Y-%m-%d", strict=False)
    written = pointed(text) if wanted == "decimal comma" else text
    values = written.cast(_DTYPES[wanted], strict=False)
    if mark_of(wanted) is not None and not values.is_finite().all():
        return values.set(~values.is_finite(), None)
    return values


def misfits(text: pl.Series, wanted: Narrow) -> int:
    """How many values of a column of text are not of the type."""
    return 0 if parse(text, wanted) is not None else len(_converted(text, wanted)[1])


def convert(series: pl.Series, wanted: ColumnType | Narrow, *, rows_before: int = 0) -> pl.Series:
    """The column as the declared type.

    Raises:
        InputError: CEL-F020, with the first row whose value is not of the type.
    """
    if wanted == "string":
        return as_text(series)
    values, bad = _converted(series, wanted)
    if len(bad):
        raise _not_of_type(series.name, wanted, rows_before + int(bad[0]) + 1, len(bad))
    return values


def _converted(series: pl.Series, wanted: Narrow) -> tuple[pl.Series, pl.Series]:
    """The values, missing where they are not of the type, and the places where that is so."""
    if series.dtype.is_numeric() and wanted == "decimal":
        values = series.cast(pl.Float64)
        values = values.set(~values.is_finite(), None)
    else:
        text = as_text(series)
        matching = text.set(~text.str.contains(_PATTERNS[wanted]), None)
        values = _values(matching, wanted)
    return values, (values.is_null() & series.is_not_null()).arg_true()


def _not_of_type(column: str, wanted: Narrow, row: int, count: int) -> InputError:
    key = {
        "integer": "CEL-F020.integer",
        "decimal": "CEL-F020.decimal",
        "decimal comma": "CEL-F020.comma",
        "date": "CEL-F020.date",
    }[wanted]
    declared = wanted.partition(" ")[0]
    return InputError(key, declared=declared, column=column, row=row, count=count)
