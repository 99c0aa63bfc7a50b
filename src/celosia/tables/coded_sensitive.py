"""Sensitive columns as numbers, which is how models and histograms see them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.frames import Codes, as_text, encode
from celosia.tables.hierarchies import Hierarchy, Ordered
from celosia.tables.models import SensitiveColumn
from celosia.tables.schema import Column


@dataclass(frozen=True, eq=False, slots=True)
class CodedSensitive:
    """A sensitive column: the number of each row's value, and what is public of the column.

    An empty cell is a value of its own: an attacker who learns that a cell is empty has learnt
    something.
    """

    column: SensitiveColumn
    value_of_row: NDArray[np.int32] = field(repr=False)


def code_sensitive(
    series: pl.Series, column: Column, counts: NDArray[np.int64] | None = None
) -> CodedSensitive:
    """Number the values of a sensitive column; `counts` says how many records each row stands for.

    Numbers and dates come by size, texts in the order that an `Ordered` rule gives them, else by
    the leaves of their hierarchy, whose order means nothing; an empty cell last.

    Raises:
        InputError: CEL-T013 values that the column's hierarchy does not cover.
    """
    codes = encode(series)
    _check_one_kind_of_empty(codes, column.name)
    values = codes.values
    value_of_row = codes.codes
    nodes = None
    if column.hierarchy is not None and len(values):
        hierarchy = column.hierarchy_for(values)
        leaf_of_value = _leaves(values, hierarchy, column.name)
        places = np.arange(len(values)) if _has_order(values.dtype) else leaf_of_value
        order = np.argsort(places, kind="stable")
        nodes = hierarchy.nodes[:, leaf_of_value[order]]
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.arange(order.size, dtype=np.int32)
        value_of_row = np.append(place, np.int32(-1))[value_of_row]
    if codes.missing:  # one more value, alone below the root of the hierarchy
        value_of_row = np.where(value_of_row < 0, np.int32(len(values)), value_of_row)
        nodes = None if nodes is None else _with_one_more(nodes)
    totals = np.zeros(len(values) + codes.missing, dtype=np.int64)
    np.add.at(totals, value_of_row, 1 if counts is None else counts)
    # An empty cell has no place among numbers.
    means_something = _has_order(values.dtype) or isinstance(column.hierarchy, Ordered)
    is_ordered = not codes.missing and means_something
    return CodedSensitive(
        SensitiveColumn(column.name, totals, is_ordered, nodes), value_of_row.astype(np.int32)
    )


def _check_one_kind_of_empty(codes: Codes, name: str) -> None:
    """Refuse what a file of text would show as the same: the models would count values in vain."""
    values = codes.values
    nothing = values.is_nan() if values.dtype.is_float() else as_text(values) == ""
    if codes.missing and nothing.any():
        is_nan = values.dtype.is_float()
        raise InputError("CEL-T014.nan" if is_nan else "CEL-T014.empty_text", column=name)


def _leaves(values: pl.Series, hierarchy: Hierarchy, name: str) -> NDArray[np.int32]:
    texts = as_text(values).to_list()
    leaves = np.array([hierarchy.index.get(text, -1) for text in texts], dtype=np.int32)
    lost = int((leaves < 0).sum())
    if lost:
        raise InputError("CEL-T013", column=name, values=lost)
    return leaves


def _with_one_more(nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    own = nodes.max(axis=1) + 1
    own[-1] = nodes[-1, 0]
    return np.column_stack([nodes, own]).astype(np.int32)


def _has_order(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal()
