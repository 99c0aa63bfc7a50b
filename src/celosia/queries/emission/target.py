"""What a query is written for: the tables of a policy, in the dialect of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from sqlglot import exp

from celosia.queries import algebra
from celosia.queries.bounds.lineage import as_column
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy

Dialect = Literal["duckdb", "postgres", "spark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The policy that declares the tables, and the engine that holds them."""

    policy: Policy
    dialect: Dialect = "duckdb"
    views: Mapping[str, exp.Select] = field(default_factory=dict, compare=False)
    """Tables of the policy that are made by a query, by their names."""

    def table(self, name: str) -> TablePolicy:
        """The declaration of a table."""
        found = self.policy.table(name)
        assert found is not None, "questions speak of declared tables only"
        return found

    def text(self, query: exp.Expr) -> str:
        """A query as the engine reads it."""
        return query.sql(dialect=self.dialect)

    def cast(self, tree: exp.Expr, kind: Literal["whole", "wide", "real", "text"]) -> exp.Cast:
        """A cast that cannot fail where it is used.

        `whole` has 64 bits; `wide` at least 126; `real` is a double in DuckDB and Spark, and a
        decimal number of any length in PostgreSQL, whose doubles fail where others become infinite.
        """
        names = {
            "duckdb": {"whole": "BIGINT", "wide": "HUGEINT", "real": "DOUBLE", "text": "VARCHAR"},
            "postgres": {"whole": "BIGINT", "wide": "DECIMAL", "real": "DECIMAL", "text": "TEXT"},
            "spark": {
                "whole": "BIGINT",
                "wide": "DECIMAL(38, 0)",  # 10^38 is more than 2^126
                "real": "DOUBLE",
                "text": "STRING",
            },
        }
        if kind == "real" and self.dialect == "postgres" and isinstance(tree, exp.Column):
            # By way of text: PostgreSQL's own cast drops all but 15 digits of a double.
            tree = self.cast(tree, "text")
        return exp.Cast(this=tree, to=_type(names[self.dialect][kind], self.dialect).copy())

    def hash_values(self, trees: list[exp.Expr]) -> exp.Expr:
        """A fixed but lawless number or text of some values, to order rows by."""
        if self.dialect != "postgres":
            function = "HASH" if self.dialect == "duckdb" else "XXHASH64"
            return exp.Anonymous(this=function, expressions=[tree.copy() for tree in trees])
        texts: list[exp.Expr] = [
            exp.func("COALESCE", self.cast(tree.copy(), "text"), exp.Literal.string(""))
            for tree in trees
        ]
        joined = texts[0]
        for text in texts[1:]:
            parted = exp.DPipe(this=joined, expression=exp.Literal.string("/"))
            joined = exp.DPipe(this=parted, expression=text)
        return exp.Anonymous(this="MD5", expressions=[joined])

    def declared_column(
        self, expression: exp.Expr | None, relation: algebra.Relation
    ) -> ColumnPolicy | None:
        """What is declared of the column that an expression is, if it is one, under any name."""
        column = as_column(expression)
        return None if column is None else self._origin(column, relation)

    def _origin(  # noqa: PLR0911 - one for each kind of relation
        self, column: algebra.Column, relation: algebra.Relation
    ) -> ColumnPolicy | None:
        if column.relation not in algebra.aliases(relation):
            return None
        match relation:
            case algebra.Scan(table=table):
                return self.table(table).column(column.name)
            case algebra.Filter(source=inner) | algebra.SemiJoin(left=inner):
                return self._origin(column, inner)
            case algebra.Join(left=left, right=right) | algebra.LeftJoin(left=left, right=right):
                return self._origin(column, left) or self._origin(column, right)
            case algebra.GroupedTable(source=source, keys=columns):
                named = [each for each in columns if each.name == column.name]
                return self.declared_column(named[0].expression, source) if named else None
            case algebra.DerivedTable(source=source, columns=columns):
                named = [each for each in columns if each.name == column.name]
                return self.declared_column(named[0].expression, source) if named else None
            case algebra.UnionAll(parts=parts):
                return self._of_all(
                    [algebra.Column(part.alias, column.name) for part in parts], parts
                )

    def _of_all(
        self, columns: list[algebra.Column], parts: tuple[algebra.DerivedTable, ...]
    ) -> ColumnPolicy | None:
        """The first part's declaration, if all parts have one of the same type.

        A whole number that a part has written is a key of its own, as the graph of `GRAPH ?g` is.
        """
        written = [_written_key(*each) for each in zip(columns, parts, strict=True)]
        if all(each is not None for each in written):
            keys = tuple(dict.fromkeys(each for each in written if each is not None))
            return ColumnPolicy(name=columns[0].name, type="integer", keys=keys)
        found = [self._origin(*each) for each in zip(columns, parts, strict=True)]
        types = {None if each is None else each.type for each in found}
        return found[0] if len(types) == 1 else None


def _written_key(column: algebra.Column, part: algebra.DerivedTable) -> int | None:
    """The whole number that a column of a part is in each row."""
    (named,) = [each for each in part.columns if each.name == column.name]
    tree = named.expression
    is_whole = isinstance(tree, exp.Literal) and not tree.is_string and str(tree.this).isdecimal()
    return int(str(tree.this)) if is_whole else None


@cache
def _type(word: str, dialect: Dialect) -> exp.DataType:
    """The type of a name, which is parsed once only."""
    return exp.DataType.build(word, dialect=dialect)
