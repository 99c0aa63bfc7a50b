"""Comparison of a policy with the schema of its database: names and types, no row is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from celosia.core.wording import did_you_mean
from celosia.queries.policy.problems import Problems
from celosia.queries.policy.type_comparison import are_comparable
from celosia.queries.policy.values import ColumnType, Policy, TablePolicy

DatabaseColumns = Mapping[str, Mapping[str, str]]
"""Of each table of a database, the type of each column as the engine writes it."""

_INTEGERS = {
    *("tinyint", "smallint", "integer", "int", "bigint", "hugeint", "int1", "int2", "int4", "int8"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "int16", "int32", "int64"),
    *("int128", "smallserial", "serial", "bigserial", "long", "short", "signed"),
}
# No unsigned numbers of 128 bits: beside signed ones the engine fails on the largest of them, and
# the error would reveal the row.
_NUMBERS = {"double", "double precision", "float", "float4", "float8", "real", "numeric", "decimal"}
_TEXTS = {"varchar", "text", "char", "bpchar", "character", "character varying", "string"}
_TEXTS |= {"uuid", "enum", "name"}
_TIMES = {"timestamp", "timestamptz", "datetime", "timestamp_s", "timestamp_ms", "timestamp_ns"}
_TIMES |= {"timestamp_ntz", "timestamp_ltz"}
_TIMES |= {"timestamp without time zone", "timestamp with time zone"}
_FAMILIES: dict[str, ColumnType] = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(_NUMBERS, "number"),
    **dict.fromkeys(_TEXTS, "text"),
    **dict.fromkeys(("boolean", "bool", "logical"), "boolean"),
    "date": "date",
    **dict.fromkeys(_TIMES, "timestamp"),
}
_PARAMETERS = re.compile(r"\s*\(.*\)", re.DOTALL)
LONGEST_TYPE = 80
"""Letters of a type that a message shows: an enumeration may list hundreds of values."""
_WHOLE = re.compile(r"(?:numeric|decimal)\s*\(\s*([0-9]+)\s*(?:,\s*0\s*)?\)", re.I)
MOST_DIGITS = 18
"""Digits of a decimal number that still fit into the whole numbers of every engine."""
_MERGED = re.compile(r"\bcollate\b|\bcitext\b", re.I)


def policy_type(database_type: str) -> ColumnType | None:
    """The type that a policy calls a column of a database type; None where it has no word for it.

    >>> policy_type("DECIMAL(15,2)"), policy_type("character varying(10)")
    ('number', 'text')
    >>> policy_type("DECIMAL(15,0)"), policy_type("BLOB"), policy_type("INTEGER[]")
    ('integer', None, None)
    >>> policy_type("numeric(38,0)"), policy_type("VARCHAR COLLATE NOCASE")
    ('number', None)
    """
    whole = _WHOLE.fullmatch(database_type.strip())
    if whole:
        return "integer" if int(whole[1]) <= MOST_DIGITS else "number"
    return _FAMILIES.get(_PARAMETERS.sub("", database_type).strip().lower())


def fits(declared: ColumnType, database_type: str) -> bool:
    """Whether a column of a database type can be declared so. A whole number is a number too.

    >>> fits("number", "BIGINT"), fits("integer", "DOUBLE")
    (True, False)
    """
    found = policy_type(database_type)
    return found == declared or (declared == "number" and found == "integer")


def check_against_database(policy: Policy, columns_in_database: DatabaseColumns) -> None:
    """Refuse a policy that declares tables or columns that the database does not have so.

    Tables and columns that the policy does not name are no problem: they cannot be asked.

    Raises:
        InputError: CEL-Q018 it does not; CEL-Q159 a foreign key whose types cannot be compared
            safely; CEL-Q160 a collation that merges texts; or CEL-Q003 for several problems.
    """
    problems = Problems()
    found = {name.lower(): columns for name, columns in columns_in_database.items()}
    for table in policy.tables:
        columns = found.get(table.name.lower())
        if columns is None:
            problems.add(
                "CEL-Q018.no_table",
                table_name=table.name,
                hint=did_you_mean(table.name, columns_in_database),
            )
        else:
            _check_table(table, columns, problems)
    if not problems.items:
        _check_references(policy, columns_in_database, problems)
    problems.refuse()


def _check_references(policy: Policy, columns: DatabaseColumns, problems: Problems) -> None:
    for table in policy.tables:
        for word, target, key in table.references:
            one, other = column_type(columns, table.name, word), column_type(columns, target, key)
            if one and other and not are_comparable(one, other, dialect=policy.database.kind):
                problems.add(
                    "CEL-Q159",
                    table_name=table.name,
                    column=word,
                    target=target,
                    key=key,
                    one=one[:LONGEST_TYPE],
                    other=other[:LONGEST_TYPE],
                )


def column_type(columns: DatabaseColumns, table: str, column: str) -> str | None:
    """The type of a column in the database; names have no case."""
    for name, types in columns.items():
        if name.lower() == table.lower():
            wanted = column.lower()
            return next((each for word, each in types.items() if word.lower() == wanted), None)
    return None


def _check_table(table: TablePolicy, columns: Mapping[str, str], problems: Problems) -> None:
    types = {name.lower(): type_ for name, type_ in columns.items()}
    for column in table.columns:
        type_ = types.get(column.name.lower())
        if type_ is None:
            problems.add(
                "CEL-Q018.no_column",
                table_name=table.name,
                column_name=column.name,
                hint=did_you_mean(column.name, columns),
            )
        elif _MERGED.search(_PARAMETERS.sub("", type_)):
            problems.add("CEL-Q160", table_name=table.name, column_name=column.name)
        elif not fits(column.type, type_):
            known = policy_type(type_)
            problems.add(
                "CEL-Q018.other_type" if known else "CEL-Q018.no_type",
                table_name=table.name,
                column_name=column.name,
                type=column.type,
                found=type_[:LONGEST_TYPE],
                known=known,
            )
