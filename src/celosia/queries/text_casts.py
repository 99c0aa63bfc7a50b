"""Casts of columns that the policy declares as text and the database stores as another type."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from celosia.queries.emission.target import as_alias, column, identifier
from celosia.queries.policy.database_schema import DatabaseColumns, column_type
from celosia.queries.policy.values import Policy, TablePolicy

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
