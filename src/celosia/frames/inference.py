"""What a column of text holds, judged over all its rows."""

from __future__ import annotations

from typing import Literal

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.options import ColumnType
from celosia.frames.text import as_text

Narrow = Literal["integer", "decimal", "date"]
"""The types narrower than text."""

NARROW: tuple[Narrow, ...] = ("integer", "decimal", "date")
"""In the order in which they are tried."""

_DTYPES: dict[Narrow, type[pl.DataType]] = {
    "integer": pl.Int64,
    "decimal": pl.Float64,
    "date": pl.Date,
}

_EXPONENT = "[eE][+-]?[0-9]+"
_WHOLE = "(?:0|[1-9][0-9]*)"

_PATTERNS: dict[Narrow, str] = {
    # No leading zero and no plus sign: 05345 is a postcode, not the number 5345.
    "integer": "^(?:0|-?[1-9][0-9]{0,18})$",
    # A whole number of 16 digits or more would lose digits as a float: it is a name, not a number.
    "decimal": "^-?(?:(?:0|[1-9][0-9]{0,14})"
    rf"|(?:{_WHOLE}\.[0-9]*|\.[0-9]+)(?:{_EXPONENT})?|{_WHOLE}{_EXPONENT})$",
    "date": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
}

_SAMPLE = 200
"""Rows tried first: nearly every column of words is told from numbers by them."""


def parse(text: pl.Series, wanted: Narrow) -> pl.Series | None:
    """A column of text as values of the type; None if there is one that cannot be read so.

    >>> parse(pl.Series(["0", "-3", None]), "integer").to_list()
    [0, -3, None]
    >>> parse(pl.Series(["7", "05345"]), "integer") is None
    True
    """
    pattern = _PATTERNS[wanted]
    for part in (text.head(_SAMPLE), text):
        if not part.str.contains(pattern).all():
            return None
    values = _values(text, wanted)
    return values if values.null_count() == text.null_count() else None


def infer(text: pl.Series) -> pl.Series:
    """A column of text in the narrowest type that all its values have.

    A column without values stays text.

    >>> columns = (["1", "2.5"], ["2020-02-29"], ["1", "*"])
    >>> [str(infer(pl.Series(values)).dtype) for values in columns]
    ['Float64', 'Date', 'String']
    """
    if text.null_count() == len(text):
        return text
    tried = (parse(text, wanted) for wanted in NARROW)
    return next((values for values in tried if values is not None), text)


def _values(text: pl.Series, wanted: Narrow) -> pl.Series:
    """Text that matches the pattern of the type as values; missing where it is out of range."""
    if wanted == "date":
        return text.str.to_date("%Y-%m-%d", strict=False)
    values = text.cast(_DTYPES[wanted], strict=False)
    if wanted == "decimal" and not values.is_finite().all():
        return values.set(~values.is_finite(), None)
    return values


def convert(series: pl.Series, wanted: ColumnType, *, rows_before: int = 0) -> pl.Series:
    """The column as the declared type.

    Raises:
        InputError: CEL-F020, with the first row whose value is not of the type.
    """
    if wanted == "string":
        return as_text(series)
    if series.dtype.is_numeric() and wanted == "decimal":
        values = series.cast(pl.Float64)
        values = values.set(~values.is_finite(), None)
    else:
        text = as_text(series)
        matching = text.set(~text.str.contains(_PATTERNS[wanted]), None)
        values = _values(matching, wanted)
    bad = (values.is_null() & series.is_not_null()).arg_true()
    if len(bad):
        raise _not_of_type(series.name, wanted, rows_before + int(bad[0]) + 1, len(bad))
    return values


def _not_of_type(column: str, wanted: ColumnType, row: int, count: int) -> InputError:
    rule = {
        "integer": "whole numbers without leading zeros or a plus sign",
        "decimal": "finite numbers with a decimal point",
        "date": "days written as yyyy-mm-dd",
    }.get(wanted, "text")
    counted = "1 value is" if count == 1 else f"{count} values are"
    return InputError(
        "CEL-F020",
        f"column {column!r}: {counted} not of the declared type {wanted} (first at row {row}).",
        why=f"The type {wanted} takes {rule}.",
        fix="Clean the column, add the mark to the missing values, or declare it as string.",
        column=column,
        row=row,
        count=count,
    )
