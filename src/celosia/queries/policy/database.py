"""The database of a policy: its location, and whether its schema fits; no row is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.queries.policy.settings import Problems
from celosia.queries.policy.values import ColumnType, Database, Policy, TablePolicy

FILE_ENDINGS = (".csv", ".csv.gz", ".parquet")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_PASSWORDS = (
    re.compile(r"//[^:@/]*:(.+)@"),
    re.compile(r"password\s*=\s*([^&\s]*)", re.I),
    re.compile(r";\s*token\s*=\s*([^;\s]*)", re.I),  # of Spark Connect
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def database_url(database: Database, *, environment: Mapping[str, str] | None = None) -> str:
    """The address of PostgreSQL or Spark with each `$NAME` or `${NAME}` read from the environment.

    It may hold a password, so it belongs in no message, log or policy.

    Raises:
        InputError: CEL-Q017 a variable is not set, or there is no address.

    >>> database_url(Database(kind="postgres", url="$SHOP"), environment={"SHOP": "postgresql://"})
    'postgresql://'
    """
    if database.url is None:
        raise InputError("CEL-Q017.address_no_url", names=[])
    return expand_variables(database.url, os.environ if environment is None else environment)


def expand_variables(written: str, environment: Mapping[str, str]) -> str:
    """An address with each `$NAME` or `${NAME}` read from the environment.

    Raises:
        InputError: CEL-Q017 a variable is not set.
    """
    missing = sorted({_name(hit) for hit in _VARIABLE.finditer(written)} - set(environment))
    if missing:
        raise InputError("CEL-Q017.address_not_set", names=missing)
    return _VARIABLE.sub(lambda hit: environment[_name(hit)], written)


def _name(hit: re.Match[str]) -> str:
    return hit[1] or hit[2]


def check_database(policy: Policy, problems: Problems) -> None:
    """Note settings of [database] that do not go together, or that would give a secret away."""
    database = policy.database
    if database.kind == "postgres":
        if database.path is not None or database.files:
            problems.add("CEL-Q017.postgres_files")
        if not database.url:
            problems.add("CEL-Q017.no_url")
        elif _holds_password(database.url):
            problems.add("CEL-Q017.password")
        return
    if database.kind == "spark":
        _check_spark(policy, problems)
        return
    if database.url is not None:
        problems.add("CEL-Q017.duckdb_url")
    for written in (database.path, *(path for _, path in database.files)):
        if written is not None and (not written or "\0" in written or _is_remote(written)):
            problems.add("CEL-Q017.not_a_path")
    _check_files(policy, problems)


def _check_spark(policy: Policy, problems: Problems) -> None:
    database = policy.database
    if database.path is not None:
        problems.add("CEL-Q017.spark_path")
    if database.url is not None and _holds_password(database.url):
        problems.add("CEL-Q017.password")
    if any(not written or "\0" in written for _, written in database.files):
        problems.add("CEL-Q017.not_a_path_of_spark")
    _check_files(policy, problems)


def _holds_password(url: str) -> bool:
    written = [hit[1] for each in _PASSWORDS for hit in each.finditer(url)]
    return any(_VARIABLE.fullmatch(word) is None for word in written)


def _is_remote(written: str) -> bool:
    # One letter and a colon is a drive of Windows.
    return _SCHEME.match(written) is not None


def _check_files(policy: Policy, problems: Problems) -> None:
    database = policy.database
    names = [table.name for table in policy.tables]
    seen = [name.lower() for name, _ in database.files]
    for name, path in database.files:
        if policy.table(name) is None:
            problems.add("CEL-Q017.unknown_table", name=name, hint=did_you_mean(name, names))
        if seen.count(name.lower()) > 1:
            problems.add("CEL-Q017.repeated_table", name=name)
        # Spark reads folders of Parquet files, which may have any name.
        if database.kind != "spark" and not path.lower().endswith(FILE_ENDINGS):
            problems.add("CEL-Q017.file_ending", name=name, file_endings=", ".join(FILE_ENDINGS))
    # A Spark elsewhere has tables of its own, in its catalogue.
    if database.path is None and not (database.kind == "spark" and database.url is not None):
        for name in names:
            if name.lower() not in seen:
                problems.add("CEL-Q017.no_place", name=name)


# Digits of each whole number, so that decimals can be weighed against it.
_DIGITS = {
    **dict.fromkeys(("tinyint", "utinyint", "smallint", "usmallint", "int2"), 5),
    **dict.fromkeys(("integer", "int", "int4", "uinteger"), 10),
    **dict.fromkeys(("bigint", "int8"), 19),
    "ubigint": 20,
}
_HUGE = "hugeint"
_FLOATS = frozenset({"float", "double", "real", "double precision"})
_DECIMAL = re.compile(r"(?:numeric|decimal)(?:\((\d+)(?:,(\d+))?\))?")
_LENGTH = re.compile(r"\(\d+\)$")
MOST_DECIMAL_DIGITS = 38
"""Of a decimal number in DuckDB."""


def are_comparable(one: str, other: str, *, dialect: str) -> bool:
    """Whether `=` between columns of two types never fails and is true for one value each.

    An allow-list: equal types, and pairs that are known to be safe. DuckDB casts texts to UUID and
    wide numbers to narrower decimals, which fails on some values; whole numbers to fractions
    of limited precision, where two of them become one; moments to finer ones, which fails far from
    our time. PostgreSQL has no operator for some pairs, and ignores blanks at the end of CHAR.

    >>> are_comparable("INTEGER", "BIGINT", dialect="duckdb")
    True
    >>> are_comparable("UUID", "VARCHAR", dialect="duckdb")
    False
    """
    first, second = _plain(one), _plain(other)
    if first == second:
        return True
    if first in _FLOATS and second in _FLOATS:
        return True
    if {_text(first, dialect), _text(second, dialect)} == {"text"}:
        return True
    if {first, second} <= {*_DIGITS, _HUGE}:
        return True
    return _decimals(first, second, dialect)


def _plain(written: str) -> str:
    """A type in lower case, as short as it can be; an enumeration keeps its values."""
    if written.lower().startswith("enum"):
        return written
    short = re.sub(r"\s*([(),])\s*", r"\1", written.strip().lower())
    return short.replace("character varying", "varchar")


def _text(plain: str, dialect: str) -> Literal["text", ""]:
    """Whether a type is a text that is compared letter by letter."""
    if dialect == "duckdb" and plain.lower().startswith("enum"):
        return "text"  # compared by their texts
    return "text" if _LENGTH.sub("", plain) in {"varchar", "text", "string"} else ""


def _decimals(first: str, second: str, dialect: str) -> bool:
    """Exact numbers, of which a common type holds every digit."""
    sizes = [_size(first), _size(second)]
    if None in sizes:
        return False
    if dialect == "postgres":
        return True  # numeric has no limit that a value of another type could pass
    (before, behind), (before_too, behind_too) = (size or (0, 0) for size in sizes)
    return max(before, before_too) + max(behind, behind_too) <= MOST_DECIMAL_DIGITS


def _size(plain: str) -> tuple[int, int] | None:
    """Digits before and behind the point, at most; None for what is no exact number."""
    if plain in _DIGITS:
        return _DIGITS[plain], 0
    found = _DECIMAL.fullmatch(plain)
    if found is None:
        return None
    width, scale = int(found[1] or 18), int(found[2] or (0 if found[1] else 3))
    return width - scale, scale


DatabaseColumns = Mapping[str, Mapping[str, str]]
"""Of each table of a database, the type of each column as the engine writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseKeys:
    """The keys of one column that the catalogue of a database declares."""

    unique: frozenset[tuple[str, str]] = frozenset()
    """Tables with their primary keys and other columns in which no value repeats."""
    references: tuple[tuple[str, str, str, str], ...] = ()
    """Foreign keys: table and column, and the table and unique column that they refer to."""


NO_KEYS = DatabaseKeys()

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
        InputError: CEL-Q018 it does not; CEL-Q018 a foreign key whose types cannot be compared
            safely; CEL-Q018 a collation that merges texts; or CEL-Q003 for several problems.
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
                    "CEL-Q018.key_types",
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
            problems.add("CEL-Q018.collation", table_name=table.name, column_name=column.name)
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
