"""Whether the values of a column are all of one kind, for data that does not say so itself."""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections.abc import Iterable
from decimal import Decimal

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.frames.columns import mixed_column, nested_columns

NESTED = "a list or record"
NUMBER = "a number"
ZONED_TIME = "a time and zone"
_MESSAGES = {
    "text": "frames.kind.string",
    "true or false": "frames.kind.boolean",
    NUMBER: "frames.kind.number",
    "a date with time": "frames.kind.moment",
    "a date with time and zone": "frames.kind.zoned_moment",
    "a date": "frames.kind.date",
    "a time": "frames.kind.time",
    ZONED_TIME: "frames.kind.zoned_time",
    "a duration": "frames.kind.duration",
}
"""The kinds of values, and how a message calls each."""


def kind_of(value: object) -> str | None:
    """The kind of one value in words; None if it is missing.

    >>> kind_of(3), kind_of("x"), kind_of(True), kind_of(float("nan")), kind_of([1])
    ('a number', 'text', 'true or false', None, 'a list or record')
    """
    if is_missing(value):
        return None
    # Order matters: a boolean is an integer in Python, and a datetime a date.
    named: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (str, "text"),
        (bool, "true or false"),
        ((numbers.Real, Decimal), NUMBER),
        (dt.datetime, "a date with time"),
        (dt.date, "a date"),
        (dt.time, "a time"),
        (dt.timedelta, "a duration"),
    )
    if type(value).__name__ in {"bool", "bool_"}:
        return "true or false"
    kind = next((name for kinds, name in named if isinstance(value, kinds)), NESTED)
    zoned = isinstance(value, dt.datetime | dt.time) and value.tzinfo is not None
    return f"{kind} and zone" if zoned else kind


def check_one_kind(column: str, values: Iterable[object]) -> str | None:
    """The kind of a column; refused if it changes, naming the row where it does."""
    first: str | None = None
    for row, value in enumerate(values, 1):
        kind = kind_of(value)
        if kind is None:
            continue
        if kind == NESTED:
            raise nested_columns([column])
        if first is not None and kind != first:
            raise _changed_kind(column, row, first, kind)
        first = kind
    return first


class KindWatch:
    """Remembers the kind of each column, row after row."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}

    def fault(self, row: int, cells: Iterable[tuple[str, object]]) -> InputError | None:
        """What is wrong with the kinds of a row, if anything."""
        for column, value in cells:
            kind = kind_of(value)
            if kind is None:
                continue
            if kind == NESTED:
                return nested_columns([column])
            before = self._kinds.setdefault(column, kind)
            if before != kind:
                return _changed_kind(column, row, before, kind)
        return None


def _changed_kind(column: str, row: int, before: str, after: str) -> InputError:
    return mixed_column(column, row, Message(_MESSAGES[before]), Message(_MESSAGES[after]))


def is_missing(value: object) -> bool:
    """Whether a value stands for none: None, NaN of any sort, or a mark of pandas."""
    # pandas has missing marks of its own (NA, NaT), told by name so as not to import pandas.
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, Decimal) and value.is_nan())
        or type(value).__name__ in {"NAType", "NaTType"}
    )
