"""The part of a policy file that declares a table and its columns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import cast, get_args

from celosia.core.messages import Message
from celosia.queries.policy.settings import Settings, describe_type
from celosia.queries.policy.values import ColumnPolicy, ColumnType, Ownerless, TablePolicy

_TABLE = {"public", "rows", "references", "columns", "ownerless"}
_COLUMN = frozenset({"type", "lower", "upper", "grid", "keys", "unique", "most"})


def read_table(tables: Settings, name: str) -> TablePolicy:
    """The table of a name, as far as it can be read; what cannot is a problem."""
    table = tables.section(name, f"[tables.{name}]", _TABLE)
    columns = table.section("columns", f"[tables.{name}.columns]")
    if not columns.table:
        table.problems.add("CEL-Q005.no_columns", name=name)
    return TablePolicy(
        name=name,
        columns=tuple(_column(columns, each, name) for each in columns.table),
        public=table.flag("public"),
        references=_references(table, name),
        rows=table.count("rows"),
        ownerless=read_ownerless(table),
    )


def read_ownerless(settings: Settings) -> Ownerless | None:
    """The treatment of rows without an owner; None where nothing is declared."""
    return cast(Ownerless | None, settings.word("ownerless", get_args(Ownerless)))


def _column(columns: Settings, name: str, table: str) -> ColumnPolicy:
    where = Message("queries.policy_part.column", table=table, column=name)
    written = columns.table[name]
    if isinstance(written, str):
        written = {"type": written}  # the short form
    if not isinstance(written, Mapping):
        columns.problems.add(
            "CEL-Q005.not_a_column", where=where, got=describe_type(written), name=name
        )
        return ColumnPolicy(name=name, type="text")
    column = Settings(written, where, columns.problems, _COLUMN)
    types = get_args(ColumnType)
    if not column.has("type"):
        columns.problems.add("CEL-Q005.no_type", where=where, types=", ".join(types))
    before = columns.problems.unread
    read = ColumnPolicy(
        name=name,
        type=cast(ColumnType, column.word("type", types, "text")),
        lower=column.number("lower"),
        upper=column.number("upper"),
        grid=column.number("grid"),
        keys=_keys(column),
        unique=column.flag("unique"),
        most=column.count("most"),
    )
    # Where one setting cannot be read, the others are not held against it.
    is_read = column.has("type") and columns.problems.unread == before
    return read if is_read else ColumnPolicy(name=name, type="text")


def _keys(column: Settings) -> tuple[str | int | bool, ...] | None:
    if not column.has("keys"):
        return None
    written = column.table["keys"]
    if not isinstance(written, list):
        column.add_wrong_type("CEL-Q005.not_a_list", "keys", written)
        return None
    keys: list[str | int | bool] = []
    for value in written:
        if isinstance(value, date) and not isinstance(value, datetime):
            keys.append(value.isoformat())
        elif isinstance(value, str | int | bool):
            keys.append(value)
        else:
            column.add_wrong_type("CEL-Q005.not_keys", "keys", value)
            return None
    return tuple(keys)


def _references(table: Settings, name: str) -> tuple[tuple[str, str, str], ...]:
    where = Message("queries.policy_part.references", table=name)
    written = table.section("references", where)
    found = []
    for column, target in written.table.items():
        pair = _target(target)
        if pair is None:
            table.problems.add("CEL-Q009.no_target", name=name, column=column)
        else:
            found.append((column, *pair))
    return tuple(found)


def _target(written: object) -> tuple[str, str] | None:
    """A table and a column: as one text, or as two where the column's name has a dot."""
    if isinstance(written, str):
        table, dot, column = written.rpartition(".")
        return (table, column) if dot and table and column else None
    if isinstance(written, Mapping) and set(written) == {"table", "column"}:
        table, column = written["table"], written["column"]
        if isinstance(table, str) and isinstance(column, str):
            return table, column
    return None
