"""The catalogue of a database: types, collations and enforced keys. No row is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp, parse_one

from celosia.queries.emission.target import column, identifier

if TYPE_CHECKING:
    from celosia.engines import SparkEngine, SqlEngine

Executor = Callable[[exp.Expr], Any]

COLLATED = "COLLATE"
"""Written behind the type of a text column whose collation holds different texts for equal."""
_SAME_TO_SOME = (("A", "a"), ("á", "a"))
"""Texts that collations of DuckDB merge: NOCASE the first pair, NOACCENT the second."""

# Types as the server writes them. A domain has checks that may fail, and an array is no value, so
# both keep names that no policy has a word for. The catalogue says which collations are not
# deterministic, that is, hold different texts for equal.
_POSTGRES_COLUMNS = """
SELECT c.relname, a.attname,
       CASE t.typtype WHEN 'e' THEN 'enum(' || format_type(a.atttypid, a.atttypmod) || ')'
                      WHEN 'd' THEN 'domain ' || format_type(a.atttypid, a.atttypmod)
                      ELSE format_type(a.atttypid, a.atttypmod) END,
       COALESCE(NOT l.collisdeterministic, FALSE)
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY c.relname, a.attnum
"""

# An index of one column that is complete and covers all rows. Tables that others inherit from do
# not count: the index of a parent does not see the rows of its children.
_POSTGRES_KEYS = """
SELECT c.relname, a.attname
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
WHERE c.relnamespace = current_schema()::regnamespace AND i.indisunique AND i.indisvalid
  AND i.indnkeyatts = 1 AND i.indpred IS NULL AND i.indexprs IS NULL
  AND (c.relkind = 'p' OR (c.relkind = 'r' AND NOT c.relhassubclass))
"""


# Columns that are never NULL. A constraint that was added without a look at the rows is no proof.
_POSTGRES_FILLED = """
SELECT c.relname, a.attname
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attnotnull AND c.relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint AS n
                  WHERE n.conrelid = c.oid AND n.contype = 'n' AND NOT n.convalidated)
"""

# Foreign keys of one column that hold for all rows, those of children of a table left aside.
_POSTGRES_REFERENCES = """
SELECT c.relname, a.attname, t.relname, k.attname
FROM pg_catalog.pg_constraint AS f
JOIN pg_catalog.pg_class AS c ON c.oid = f.conrelid
JOIN pg_catalog.pg_class AS t ON t.oid = f.confrelid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY(f.conkey)
JOIN pg_catalog.pg_attribute AS k ON k.attrelid = t.oid AND k.attnum = ANY(f.confkey)
WHERE f.contype = 'f' AND f.convalidated AND ARRAY_LENGTH(f.conkey, 1) = 1
  AND c.relnamespace = current_schema()::regnamespace
  AND t.relnamespace = current_schema()::regnamespace
  AND (c.relkind = 'p' OR (c.relkind = 'r' AND NOT c.relhassubclass))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnforcedConstraints:
    """Constraints that the server enforces, all names in lower case."""

    filled: frozenset[tuple[str, str]] = frozenset()
    """Tables and columns that are never NULL."""
    references: frozenset[tuple[str, str, str, str]] = frozenset()
    """Foreign keys: table and column, and the table and column that hold each of their values."""


def read_columns(engine: SqlEngine, *, timeout: float) -> dict[str, dict[str, str]]:
    """The tables of a database, with the type of each column.

    Behind the type of a text whose collation holds different texts for equal stands `COLLATE`.
    """
    if engine.dialect == "spark":
        return cast("SparkEngine", engine).columns()
    execute = _executor(engine, timeout)
    return _in_postgres(execute) if engine.dialect == "postgres" else _in_duckdb(execute)


def read_unique_columns(execute: Executor, dialect: str) -> frozenset[tuple[str, str]]:
    """The tables and columns, in lower case, in which the server lets no value repeat.

    DuckDB is not asked: its rows cannot change while they are open here, see `DuckDBEngine`.
    """
    if dialect != "postgres":
        return frozenset()
    found = execute(parse_one(_POSTGRES_KEYS, read="postgres"))
    return frozenset((str(table).lower(), str(word).lower()) for table, word in found)


def read_foreign_keys(execute: Executor, dialect: str) -> EnforcedConstraints:
    """Foreign keys that the server enforces; none for DuckDB, see `read_unique_columns`."""
    if dialect != "postgres":
        return EnforcedConstraints()
    filled = execute(parse_one(_POSTGRES_FILLED, read="postgres"))
    references = execute(parse_one(_POSTGRES_REFERENCES, read="postgres"))
    return EnforcedConstraints(
        filled=frozenset((str(table).lower(), str(word).lower()) for table, word in filled),
        references=frozenset(
            (str(table).lower(), str(word).lower(), str(target).lower(), str(key).lower())
            for table, word, target, key in references
        ),
    )


def _executor(engine: SqlEngine, timeout: float) -> Executor:
    return lambda query: engine.run(query, timeout=timeout)


def _in_postgres(execute: Executor) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for table, word, kind, merges in execute(parse_one(_POSTGRES_COLUMNS, read="postgres")):
        found.setdefault(str(table), {})[str(word)] = f"{kind} {COLLATED}" if merges else str(kind)
    return found


def _in_duckdb(execute: Executor) -> dict[str, dict[str, str]]:
    here = exp.Table(this=exp.to_identifier("columns"), db=exp.to_identifier("information_schema"))
    words = ("table_name", "column_name", "data_type")
    query = exp.Select(
        expressions=[exp.column(word) for word in words],
        from_=exp.From(this=here),
    ).where(
        exp.EQ(this=exp.column("table_schema"), expression=exp.Literal.string("main")),
        exp.EQ(this=exp.column("table_catalog"), expression=exp.Anonymous(this="current_database")),
        copy=False,
    )
    found: dict[str, dict[str, str]] = {}
    for table, word, kind in execute(query):
        found.setdefault(str(table), {})[str(word)] = str(kind)
    for table, columns in found.items():
        for word in _merging_columns(
            execute, table, [each for each in columns if columns[each] == "VARCHAR"]
        ):
            columns[word] += f" {COLLATED}"
    return found


def _merging_columns(execute: Executor, table: str, words: list[str]) -> list[str]:
    """The columns whose collation holds different texts for equal.

    DuckDB shows collations nowhere that views have, so it is asked whether it holds two texts of
    ours for equal when the first has the collation of the column; over no rows of the table.
    """
    if not words:
        return []
    tests = [
        exp.or_(
            *(
                exp.EQ(
                    this=exp.func("COALESCE", exp.Max(this=column(word)), exp.Literal.string(one)),
                    expression=exp.Literal.string(other),
                )
                for one, other in _SAME_TO_SOME
            )
        )
        for word in words
    ]
    query = exp.Select(
        expressions=tests,
        from_=exp.From(this=exp.Table(this=identifier(table))),
        where=exp.Where(this=exp.false()),
    )
    ((*answers,),) = execute(query)
    return [word for word, merges in zip(words, answers, strict=True) if merges]
