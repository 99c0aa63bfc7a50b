"""Columns of PostgreSQL as types here, and as the server compares and passes them on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from celosia.engines.duckdb_relations import quoted
from celosia.engines.tables import unpublishable

_PLAIN: dict[int, pl.DataType] = {
    16: pl.Boolean(),
    20: pl.Int64(),
    21: pl.Int16(),
    23: pl.Int32(),
    25: pl.String(),
    700: pl.Float32(),
    701: pl.Float64(),
    1042: pl.String(),
    1043: pl.String(),
    1082: pl.Date(),
    1083: pl.Time(),
    1114: pl.Datetime("us"),
    1184: pl.Datetime("us", "UTC"),
    2950: pl.String(),
}
"""By the numbers of the server's own types, which are the same everywhere."""

_NUMERIC, _TEXT = 1700, 25

_MOST_DIGITS = 38


@dataclass(frozen=True, slots=True)
class ServerColumn:
    """A column of a table on the server."""

    name: str
    kind: pl.DataType
    number: int

    @property
    def compared(self) -> str:
        """What it is grouped by: text byte by byte, without padding, and one zero."""
        if self.kind == pl.String:
            return f'{self._cell}::text COLLATE "C"'
        return self.passed

    @property
    def passed(self) -> str:
        """What is written where it is not recoded."""
        cell = self._cell
        if self.kind.is_float():
            # -0.0 equals 0.0, and is another text in a file.
            return f"(CASE WHEN {cell} = 0 THEN abs({cell}) ELSE {cell} END)"
        return f"{cell}::text" if self.kind == pl.String and self.number != _TEXT else cell

    @property
    def _cell(self) -> str:
        """Of the source, which every query calls t: other tables may have the same names."""
        return f"t.{quoted(self.name)}"

    @property
    def strange(self) -> tuple[str, str] | None:
        """Which of its values are none here: what they are, and a condition with {} for a value."""
        if isinstance(self.kind, pl.Decimal):
            return "numeric with NaN", "{} = 'NaN'"
        if isinstance(self.kind, pl.Date | pl.Datetime):
            kind = "date" if self.kind == pl.Date else "timestamp"
            described = f"{kind} with infinite values or years out of 1 to 9999"
            return described, "NOT ({0} >= '0001-01-01' AND {0} < '10000-01-01')"
        if self.kind == pl.Time:
            return "time with 24:00", "{} = '24:00'"
        return None


def server_column(described: Any, enums: set[int]) -> ServerColumn:
    """A column as a cursor describes it.

    Raises:
        EngineError: CEL-E022 its type has no counterpart here.
    """
    name, number = described.name, described.type_code
    if number == _NUMERIC and described.precision and described.precision <= _MOST_DIGITS:
        return ServerColumn(name, pl.Decimal(described.precision, described.scale or 0), number)
    if number in enums:
        return ServerColumn(name, pl.String(), number)
    if number not in _PLAIN:
        type_name = "numeric without a precision" if number == _NUMERIC else described.type_display
        raise unpublishable(name, type_name)
    return ServerColumn(name, _PLAIN[number], number)


def server_type(kind: pl.DataType) -> str:
    """The type of a new column on the server."""
    if isinstance(kind, pl.Decimal):
        return f"numeric({kind.precision}, {kind.scale})"
    if isinstance(kind, pl.Datetime):
        return "timestamp" if kind.time_zone is None else "timestamptz"
    names: dict[type[pl.DataType], str] = {
        pl.Boolean: "boolean",
        pl.Int8: "smallint",
        pl.UInt8: "smallint",
        pl.Int16: "smallint",
        pl.UInt16: "integer",
        pl.Int32: "integer",
        pl.UInt32: "bigint",
        pl.Int64: "bigint",
        pl.UInt64: "numeric(20, 0)",
        pl.Float32: "real",
        pl.Float64: "double precision",
        pl.Date: "date",
        pl.Time: "time",
    }
    return names.get(type(kind), "text")
