"""Answers as tables of Arrow, whose schema is known before anything is charged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from celosia.queries.answer import QueryAnswer

_TYPES: Mapping[str, tuple[pa.DataType, Callable[[Any], Any]]] = {
    "integer": (pa.int64(), int),
    "number": (pa.float64(), float),
    "text": (pa.utf8(), str),
    "boolean": (pa.bool_(), bool),
}
"""For each kind of column its type, and how a value becomes one of it."""
_NUMBERS = frozenset({"integer", "number"})


def answer_schema(kinds: Mapping[str, str], *, intervals: bool) -> pa.Schema:
    """The columns of an answer; with intervals, each number is followed by its bounds."""
    fields = []
    for name, kind in kinds.items():
        fields.append(pa.field(name, _TYPES[kind][0]))
        if intervals and kind in _NUMBERS:
            fields += [pa.field(f"{name}_{end}", pa.float64()) for end in ("lower", "upper")]
    return pa.schema(fields)


def answer_table(answer: QueryAnswer, kinds: Mapping[str, str], *, intervals: bool) -> pa.Table:
    """The rows of an answer in the columns of `answer_schema`."""
    arrays = []
    for name, kind in kinds.items():
        dtype, convert = _TYPES[kind]
        values = [row.get(name) for row in answer.rows]
        arrays.append(
            pa.array([None if value is None else convert(value) for value in values], dtype)
        )
        if intervals and kind in _NUMBERS:
            ends = [bounds.get(name) for bounds in answer.intervals]
            arrays += [
                pa.array([_end(None if each is None else each[at]) for each in ends], pa.float64())
                for at in (0, 1)
            ]
    return pa.Table.from_arrays(arrays, schema=answer_schema(kinds, intervals=intervals))


def _end(value: float | None) -> float | None:
    """An end of an interval; one at infinity is not known."""
    return value if value is not None and isfinite(value) else None
