"""The tables of Flight SQL about tables: what the public schema tells, and nothing of rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from celosia.core.errors import InputError
from celosia.queries.service.flight.messages import FlightMessage

ARROW_TYPES: Mapping[str, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "text": pa.utf8(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
"""How a declared column is called in Arrow."""
NOWHERE = ""
"""Tables are in no catalog and in no schema: a question names them alone."""
_NO_ACTION = 3


def _schema(text: str) -> pa.Schema:
    """A schema from the names of its columns; `!` marks those that are never null, `:` a type."""
    fields = []
    for each in text.split():
        name, _, kind = each.rstrip("!").partition(":")
        dtype = {"": pa.utf8(), "int32": pa.int32(), "uint8": pa.uint8(), "binary": pa.binary()}
        fields.append(pa.field(name, dtype[kind], nullable=not each.endswith("!")))
    return pa.schema(fields)


_KEYS = _schema(
    "pk_catalog_name pk_db_schema_name pk_table_name! pk_column_name! fk_catalog_name "
    "fk_db_schema_name fk_table_name! fk_column_name! key_sequence:int32! fk_key_name pk_key_name "
    "update_rule:uint8! delete_rule:uint8!"
)
_TABLES = _schema("catalog_name db_schema_name table_name! table_type!")
_INFO_VALUES: tuple[tuple[str, pa.DataType], ...] = (
    ("string_value", pa.utf8()),
    ("bool_value", pa.bool_()),
    ("bigint_value", pa.int64()),
    ("int32_bitmask", pa.int32()),
    ("string_list", pa.list_(pa.utf8())),
    ("int32_to_int32_list_map", pa.map_(pa.int32(), pa.list_(pa.int32()))),
)
_INFO = pa.schema(
    [
        pa.field("info_name", pa.uint32(), nullable=False),
        pa.field(
            "value",
            pa.dense_union([pa.field(name, dtype) for name, dtype in _INFO_VALUES]),
            nullable=False,
        ),
    ]
)
_SCHEMAS: Mapping[str, pa.Schema] = {
    "CommandGetCatalogs": _schema("catalog_name!"),
    "CommandGetDbSchemas": _schema("catalog_name db_schema_name!"),
    "CommandGetTables": _TABLES,
    "CommandGetTableTypes": _schema("table_type!"),
    "CommandGetPrimaryKeys": _schema(
        "catalog_name db_schema_name table_name! column_name! key_name key_sequence:int32!"
    ),
    "CommandGetImportedKeys": _KEYS,
    "CommandGetExportedKeys": _KEYS,
    "CommandGetCrossReference": _KEYS,
    "CommandGetSqlInfo": _INFO,
}


def metadata_schema(command: FlightMessage) -> pa.Schema:
    """The columns of the table that a command asks for.

    Raises:
        InputError: CEL-Q347 the command asks for something else.
    """
    found = _SCHEMAS.get(command.name)
    if found is None:
        raise InputError("CEL-Q347.not_offered")
    if command.name == "CommandGetTables" and command.flag(5):
        return found.append(pa.field("table_schema", pa.binary(), nullable=False))
    return found


def metadata_table(command: FlightMessage, tables: Mapping[str, Any]) -> pa.Table:
    """The table that a command asks for.

    Args:
        command: one of Flight SQL.
        tables: of the public schema.

    Raises:
        InputError: CEL-Q347 the command asks for something else.
    """
    schema = metadata_schema(command)
    match command.name:
        case "CommandGetSqlInfo":
            return _info(command.numbers(1))
        case "CommandGetCatalogs":
            rows: Sequence[tuple[Any, ...]] = [(NOWHERE,)]
        case "CommandGetDbSchemas":
            rows = [(NOWHERE, NOWHERE)] if _fits(command) else []
        case "CommandGetTableTypes":
            rows = [("TABLE",)]
        case "CommandGetTables":
            rows = _table_rows(command, tables)
        case "CommandGetPrimaryKeys":
            rows = [
                (NOWHERE, NOWHERE, table, column, None, 1)
                for table in _named(tables, command.text(3))
                for column in unique_columns(tables[table])[:1]
            ]
        case name:
            rows = _key_rows(name, command, tables)
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(list(each), field.type) for each, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def unique_columns(table: Mapping[str, Any]) -> list[str]:
    """The columns of a table that are declared unique."""
    return [name for name, facts in table["columns"].items() if facts.get("unique")]


def table_schema(table: Mapping[str, Any]) -> pa.Schema:
    """The columns of a table with their types."""
    return pa.schema(
        [(name, ARROW_TYPES[facts["type"]]) for name, facts in table["columns"].items()]
    )


def _table_rows(command: FlightMessage, tables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    kinds, pattern = command.texts(4), command.text(3)
    if not _fits(command) or (kinds and "TABLE" not in kinds):
        return []
    rows: list[tuple[Any, ...]] = []
    for name in sorted(tables):
        if pattern is not None and not like(name, pattern):
            continue
        row = (NOWHERE, NOWHERE, name, "TABLE")
        schema = (table_schema(tables[name]).serialize().to_pybytes(),) if command.flag(5) else ()
        rows.append(row + schema)
    return rows


def _key_rows(
    name: str, command: FlightMessage, tables: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """The references of tables to others, as far as the command wants them."""
    of = {
        "CommandGetImportedKeys": (None, command.text(3)),
        "CommandGetExportedKeys": (command.text(3), None),
        "CommandGetCrossReference": (command.text(3), command.text(6)),
    }[name]
    return [
        (NOWHERE, NOWHERE, target, key, NOWHERE, NOWHERE, table, column, 1, None, None, rule, rule)
        for table in sorted(tables)
        for column, (target, _, key) in _references(tables[table])
        for rule in (_NO_ACTION,)
        if of[0] in {None, target} and of[1] in {None, table}
    ]


def _references(table: Mapping[str, Any]) -> Iterable[tuple[str, tuple[str, str, str]]]:
    return ((column, text.rpartition(".")) for column, text in table["references"].items())


def _named(tables: Mapping[str, Any], name: str | None) -> list[str]:
    return [name] if name in tables and name is not None else []


def _fits(command: FlightMessage) -> bool:
    """Whether a catalog and a pattern of schemas leave our tables in."""
    catalog, pattern = command.text(1), command.text(2)
    return catalog in {None, NOWHERE} and (pattern is None or like(NOWHERE, pattern))


def like(text: str, pattern: str) -> bool:
    """Whether a text fits a pattern of LIKE.

    >>> like("visits", "vis%"), like("visits", "v_s"), like("", "%")
    (True, False, True)
    """
    words = [{"%": ".*", "_": "."}.get(letter, re.escape(letter)) for letter in pattern]
    return re.fullmatch("".join(words), text, re.DOTALL) is not None


def _info(wanted: Sequence[int]) -> pa.Table:
    """What a driver may know of the server: that it reads, and has no transactions."""
    known: dict[int, str | bool | int] = {
        0: "Celosía",
        1: version("celosia"),
        2: pa.__version__,
        3: True,  # read only
        4: True,  # SQL
        5: False,  # no Substrait
        8: 0,  # no transactions
        9: False,  # a question that was charged is not cancelled
        500: False,
        501: False,
        502: False,
        504: '"',
        506: True,  # all tables can be asked about
        529: NOWHERE,
        530: NOWHERE,
        531: NOWHERE,  # no catalogs
        563: False,
    }
    names = [name for name in known if not wanted or name in wanted]
    columns: list[list[Any]] = [[] for _ in _INFO_VALUES]
    kinds, places = [], []
    for name in names:
        kind = {str: 0, bool: 1, int: 3}[type(known[name])]
        kinds.append(kind)
        places.append(len(columns[kind]))
        columns[kind].append(known[name])
    arrays = [pa.array(each, dtype) for each, (_, dtype) in zip(columns, _INFO_VALUES, strict=True)]
    values = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()),
        pa.array(places, pa.int32()),
        arrays,
        [name for name, _ in _INFO_VALUES],
    )
    return pa.Table.from_arrays([pa.array(names, pa.uint32()), values], schema=_INFO)
