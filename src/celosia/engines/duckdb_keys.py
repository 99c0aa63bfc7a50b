"""Combinations of values as whole numbers, found in DuckDB by a join of these alone.

Each value of a column has a number, and those of all columns are packed into words of 63 bits. So a
row finds its combination by one or two whole numbers, however long its texts are.
"""

# ruff: noqa: S608 - names are quoted, and all else in a query is ours

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.engines.duckdb_relations import Relation, as_type, literal
from celosia.engines.recoded_classes import CLASS, place_of
from celosia.engines.tables import Order
from celosia.frames import encode

MOST_LISTED = 64
"""The longest list in which texts are looked up. DuckDB does that once for each entry of a
file's own list of texts, not for each row; more would be slow where a file has no such list."""

RANGE = 1 << 20
"""Whole numbers that lie within such a range are their own numbers, counted from the least."""

WORD = 1 << 62
"""Packed numbers stay below this bound, so that no sum overflows 64 bits."""


@dataclass(frozen=True, slots=True)
class Digit:
    """How the values of one column are numbered."""

    times: Callable[[int], str]
    """The number of a row's value, times a factor, in SQL; NULL for one that was not counted."""
    join: str
    """The join that this needs; empty for most."""
    size: int
    """All numbers are below it."""
    of_value: NDArray[np.int64] = field(repr=False)
    """The number of each counted value."""


def digit(column: str, table: str, values: pl.Series, *, listed: bool) -> Digit:
    """Number the values of a column.

    Args:
        column: the column in SQL.
        table: a table of the values with their places (`value`, `code`), for a join.
        values: the same values, in the order of their places.
        listed: whether the source keeps lists of texts, as Parquet does.
    """
    size = len(values)
    own = np.arange(size, dtype=np.int64)
    if listed and size <= MOST_LISTED and values.dtype == pl.String and is_simple(values):
        place = position(column, values)

        # The factor is in the list: so it is multiplied once for each text, not for each row.
        def extracted(factor: int) -> str:
            products = ", ".join(str(number * factor) for number in range(size))
            return f"list_extract([{products}]::BIGINT[], {place})"

        return Digit(extracted, "", size, own)
    if values.dtype.is_integer():
        found = _ranged(column, values)
        if found is not None:
            return found
    join = f" LEFT JOIN {table} ON {column} IS NOT DISTINCT FROM {table}.value"
    return Digit(lambda factor: f"{table}.code::BIGINT * {factor}", join, size, own)


def _ranged(column: str, values: pl.Series) -> Digit | None:
    low, high = values.min(), values.max()
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    if high - low >= RANGE or not -WORD < low <= high < WORD:
        return None
    width = high - low + 1
    # A number out of the range must not be taken for one of the next column.
    inside = f"WHEN {column} BETWEEN {low} AND {high} THEN {column}::BIGINT - {low}"
    empty = f"WHEN {column} IS NULL THEN {width}" if values.null_count() else ""
    places = [width if each is None else each - low for each in values]
    return Digit(
        lambda factor: f"(CASE {empty} {inside} END) * {factor}",
        "",
        width + 1,
        np.array(places, dtype=np.int64),
    )


def is_simple(values: pl.Series) -> bool:
    """Whether SQL can spell each text: no character in it ends a query."""
    return not values.str.contains(r"\x00").any()


@dataclass(frozen=True, slots=True)
class PackedKeys:
    """Several digits as few whole numbers."""

    expressions: tuple[str, ...]
    """In SQL, of a row."""
    values: tuple[NDArray[np.int64], ...] = field(repr=False)
    """Of each counted combination."""


def pack(digits: Sequence[Digit], codes: Sequence[NDArray[np.int64]]) -> PackedKeys:
    """Pack the digits of rows, and of combinations, of which each has a place in each column."""
    expressions: list[str] = []
    values: list[NDArray[np.int64]] = []
    product = 1
    for each, places in zip(digits, codes, strict=True):
        number = each.of_value[places]
        if not expressions or product > WORD // each.size:
            expressions.append(each.times(1))
            values.append(number)
            product = each.size
        else:
            expressions[-1] += f" + {each.times(product)}"
            values[-1] = values[-1] + number * product  # below WORD, as is the product of sizes
            product *= each.size
    return PackedKeys(tuple(expressions), tuple(values))


def recoding_query(
    source: Relation,
    names: Sequence[str],
    *,
    digits: Sequence[Digit],
    words: PackedKeys,
    keep: Sequence[str],
    listed: Mapping[str, pl.Series],
    order: Order,
) -> str:
    """A query for the class of each row, by the table `celosia_classes`, and for what stays."""
    cells = [f"{source.column(name)} AS k{n}" for n, name in enumerate(names)]
    shown = [f"c.class AS {CLASS}"]
    for number, name in enumerate(keep):
        if name in names:
            continue
        place = place_of(number)
        cells.append(f"{source.column(name)} AS {place}")
        if name in listed:  # as its place, an empty cell last; NULL for a text that is not there
            texts = [*listed[name], None]
            found = position(f"r.{place}", pl.Series(texts, dtype=pl.String))
            shown.append(f"({found} - 1)::TINYINT AS {place}")
        else:
            shown.append(f"r.{place}")
    ordered = ""
    if order == "kept":  # joins do not keep it
        cells.append("row_number() OVER () AS row")
        ordered = " ORDER BY r.row"
    joins = "".join(each.join for each in digits)
    same = " AND ".join(f"c.w{n} = {each}" for n, each in enumerate(words.expressions))
    return (
        f"SELECT {', '.join(shown)} FROM (SELECT {', '.join(cells)} FROM {source.text}) AS r{joins}"
        f" LEFT JOIN celosia_classes AS c ON {same}{ordered}"
    )


def position(column: str, values: pl.Series) -> str:
    """The place of a text in a list, counted from 1, in SQL."""
    texts = ", ".join("NULL" if each is None else literal(each) for each in values)
    return f"list_position([{texts}]::VARCHAR[], {column})"


def coded(series: pl.Series, kind: pl.DataType) -> tuple[pl.Series, NDArray[np.int64]]:
    """The distinct values of a column, an empty cell last, and the place of each row's."""
    found = encode(as_type(series, kind))
    places = found.codes.astype(np.int64)
    if not found.missing:
        return found.values, places
    places[places < 0] = len(found.values)
    return found.values.append(pl.Series([None], dtype=kind)), places
