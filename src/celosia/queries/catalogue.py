"""The catalogue of a database: types, collations, enforced keys, and what may be compared.

Types are facts of the schema, not of rows: a refusal tells nothing of the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp, parse_one

from celosia.core.errors import QueryRefused
from celosia.queries import algebra
from celosia.queries.bounds.lineage import Origin, as_column, find_origins
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    identifier,
)
from celosia.queries.policy.database import (
    LONGEST_TYPE,
    DatabaseColumns,
    DatabaseKeys,
    are_comparable,
    column_type,
)
from celosia.queries.policy.values import Policy, TablePolicy

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
    if engine.dialect in ("spark", "sparql"):
        return cast("SparkEngine", engine).columns()
    execute = _executor(engine, timeout)
    return _in_postgres(execute) if engine.dialect == "postgres" else _in_duckdb(execute)


# The owner's file is attached, and its tables are views of the database that is asked.
_DUCKDB_KEYS = """
SELECT table_name, constraint_column_names[1], referenced_table, referenced_column_names[1]
FROM duckdb_constraints()
WHERE database_name <> 'temp' AND schema_name = 'main'
  AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
  AND len(constraint_column_names) = 1
ORDER BY table_name, constraint_index
"""


def read_keys(engine: SqlEngine, *, timeout: float) -> DatabaseKeys:
    """The primary keys, unique columns and foreign keys that a database declares; no row is read.

    A policy is drafted from them. Spark and files declare none.
    """
    execute = _executor(engine, timeout)
    if engine.dialect == "postgres":
        unique = execute(parse_one(_POSTGRES_KEYS, read="postgres"))
        references = execute(parse_one(_POSTGRES_REFERENCES, read="postgres"))
    elif engine.dialect == "duckdb":
        found = execute(parse_one(_DUCKDB_KEYS, read="duckdb"))
        unique = [row[:2] for row in found if row[2] is None]
        references = [row for row in found if row[2] is not None]
    else:
        return DatabaseKeys()
    return DatabaseKeys(
        unique=frozenset((str(table), str(column)) for table, column in unique),
        references=tuple(
            (str(table), str(column), str(target), str(key))
            for table, column, target, key in references
        ),
    )


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


_NO_TEXT = {
    "duckdb": re.compile(r"uuid", re.I),
    "postgres": re.compile(r"uuid|enum\(.*\)", re.I | re.S),
    "spark": re.compile(r"(?!)"),  # all its texts are texts
}
"""Types whose values a text compares with after a cast only, which fails on other texts."""


def make_text_cast(policy: Policy, types: DatabaseColumns) -> Callable[[exp.Expr], exp.Expr]:
    """Rewrites a query so that such columns are cast where their table is read.

    Different values have different texts, so nothing is merged; and no cast to text fails.
    """
    odd = _NO_TEXT[policy.database.kind]
    wanted: dict[str, tuple[TablePolicy, frozenset[str]]] = {}
    for table in policy.tables:
        words = frozenset(
            each.name
            for each in table.columns
            if each.type == "text"
            and odd.fullmatch(column_type(types, table.name, each.name) or "")
        )
        if words:
            wanted[table.name] = table, words

    def rewritten(tree: exp.Expr) -> exp.Expr:
        if not isinstance(tree, exp.Table) or tree.db or tree.name not in wanted:
            return tree
        table, words = wanted[tree.name]
        columns = [
            as_alias(exp.cast(column(each.name), "text"), each.name)
            if each.name in words
            else column(each.name)
            for each in table.columns
        ]
        plain = exp.Table(this=identifier(table.name))
        rows = exp.Select(expressions=columns, from_=exp.From(this=plain))
        return exp.Subquery(
            this=rows, alias=exp.TableAlias(this=identifier(tree.alias or table.name))
        )

    return lambda query: query.transform(rewritten) if wanted else query


_COERCING = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.In, exp.Coalesce, exp.Greatest, exp.Least, exp.Nullif, exp.Case),
)
"""Operators that convert their operands to one common type."""


def check_comparisons(question: algebra.Question, policy: Policy, types: DatabaseColumns) -> None:
    """Refuse a question that compares columns whose types in the database do not go together."""
    for group in (group for each in question.each for group in _groups(each)):
        for one, other in combinations(dict.fromkeys(group), 2):
            kinds = [column_type(types, each.table, each.column) for each in (one, other)]
            if None in kinds or are_comparable(*map(str, kinds), dialect=policy.database.kind):
                continue
            first, second = (str(kind)[:LONGEST_TYPE] for kind in kinds)
            raise QueryRefused("CEL-Q161", one=one, first=first, other=other, second=second)


def _groups(  # noqa: PLR0912 - one for each kind of relation
    question: algebra.Question,
) -> Iterator[list[Origin]]:
    """Columns of tables that are taken to one type somewhere."""
    for relation in algebra.walk(question.source):
        match relation:
            case (
                algebra.Join(left=left, right=right, keys=keys)
                | algebra.LeftJoin(left=left, right=right, keys=keys)
                | algebra.SemiJoin(left=left, right=right, keys=keys)
            ):
                for one, other in keys:
                    yield [*_table_columns(one, left), *_table_columns(other, right)]
                if relation.condition is not None:
                    yield from _in_tree(relation.condition, (left, right))
            case algebra.Filter(source=source, condition=condition):
                yield from _in_tree(condition, (source,))
            case algebra.DerivedTable(source=source, columns=columns):
                for each in columns:
                    yield from _in_tree(each.expression, (source,))
            case algebra.GroupedTable(source=source, keys=columns, aggregates=aggregates):
                for each in columns:
                    yield from _in_tree(each.expression, (source,))
                for tree in (part for one in aggregates for part in (one.argument, one.order)):
                    yield from () if tree is None else _in_tree(tree, (source,))
            case algebra.UnionAll(parts=parts, alias=alias):
                for each in parts[0].columns:
                    yield _table_columns(algebra.Column(alias, each.name), relation)
    for tree in (
        *(each.argument for each in question.aggregates if each.argument is not None),
        *(each.second for each in question.aggregates if each.second is not None),
        *(each.expression for each in question.keys),
    ):
        yield from _in_tree(tree, (question.source,))


def _in_tree(tree: exp.Expression, sides: Iterable[algebra.Relation]) -> Iterator[list[Origin]]:
    sides = tuple(sides)
    for node in tree.find_all(*_COERCING):
        if isinstance(node, exp.Case):
            yield from _in_branches(node, sides)
        else:
            yield _of_operands(node.iter_expressions(), sides)


def _in_branches(case: exp.Case, sides: tuple[algebra.Relation, ...]) -> Iterator[list[Origin]]:
    branches = case.args["ifs"]
    results = [*(each.args["true"] for each in branches), case.args.get("default")]
    yield _of_operands(results, sides)
    if case.this is not None:
        yield _of_operands([case.this, *(each.this for each in branches)], sides)


def _of_operands(
    operands: Iterable[exp.Expr | None], sides: tuple[algebra.Relation, ...]
) -> list[Origin]:
    found: list[Origin] = []
    for operand in operands:
        column = as_column(operand)
        for side in sides if column is not None else ():
            if column is not None and column.relation in algebra.aliases(side):
                found += _table_columns(column, side)
                break
    return found


def _table_columns(column: algebra.Column, relation: algebra.Relation) -> list[Origin]:
    return list(find_origins(column, relation) or ())
