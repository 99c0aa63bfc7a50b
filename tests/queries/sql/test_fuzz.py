"""Odd statements are answered with a question or a refusal, never with anything else.

Ten thousand of them with `CELOSIA_FUZZ=10000`, from another start with `CELOSIA_FUZZ_SEED=7`.
"""

from __future__ import annotations

import logging
import os

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from tests.effort import examples
from tests.queries.sql.mutants import statements
from tests.queries.sql.plain_sql import written
from tests.queries.sql.shop import COLUMNS, POLICY, in_duckdb

from celosia.core.errors import CelosiaError
from celosia.queries.algebra import DerivedTable, GroupedTable, Question, Scan, UnionAll, walk
from celosia.queries.sql import compile, describe, normalise

NUMBER = int(os.environ.get("CELOSIA_FUZZ", examples(4000)))
SEED = int(os.environ.get("CELOSIA_FUZZ_SEED", "1"))

FORBIDDEN = (
    exp.Anonymous,
    exp.Except,
    exp.Intersect,
    exp.Lateral,
    exp.Unnest,
    exp.Values,
    exp.TableSample,
    exp.Placeholder,
    exp.Parameter,
    exp.Rand,
    exp.CurrentDate,
    exp.CurrentTimestamp,
    exp.Into,
    exp.Command,
    exp.DDL,
    exp.DML,
    exp.Pivot,
    exp.Any,
    exp.Array,
    exp.Struct,
    exp.Bracket,
    exp.Lambda,
)


def forbidden(query: str) -> str | None:
    """What the query holds that no question may have come from; found in the text alone."""
    [tree] = [each for each in sqlglot.parse(query, read="duckdb") if each is not None]
    for node in tree.walk():
        found = _forbidden(node)
        if found:
            return found
    return None


def _forbidden(node: exp.Expr) -> str | None:
    for rule in (_clause, _source, _star, _misplaced, _window):
        if (found := rule(node)) is not None:
            return found
    if isinstance(node, exp.Anonymous) and node.name.lower() in ("date_part", "prefix", "suffix"):
        return None
    return type(node).__name__ if isinstance(node, FORBIDDEN) else None


def _clause(node: exp.Expr) -> str | None:
    is_outermost = node.find_ancestor(exp.Select) is None
    if isinstance(node, exp.Union | exp.Select) and node.args.get("distinct") and is_outermost:
        return "DISTINCT of answers" if node.find(exp.AggFunc, exp.Group) is not None else None
    if isinstance(node, exp.GroupingSets | exp.Rollup | exp.Cube) and not is_outermost_select(node):
        return "grouping sets in a sub-query"
    if isinstance(node, exp.Limit | exp.Order | exp.Offset) and isinstance(node.parent, exp.Select):
        first = node.parent.args.get("distinct")
        is_first = first is not None and first.args.get("on") and isinstance(node, exp.Order)
        is_inner = node.parent.find_ancestor(exp.Select) and not is_first
        return "LIMIT in a sub-query" if is_inner else None
    if isinstance(node, exp.Qualify) and is_outermost_select(node):
        return "QUALIFY"
    return None


def _window(node: exp.Expr) -> str | None:
    """A window over rows that are not told apart by anything."""
    if isinstance(node, exp.Window) and not is_outermost_select(node):
        return None if node.args.get("partition_by") else "window over all rows"
    return None


def is_outermost_select(node: exp.Expr) -> bool:
    """Whether a part is of the outermost SELECT itself."""
    select = node.parent_select
    return select is not None and select.find_ancestor(exp.Select) is None


def _source(node: exp.Expr) -> str | None:
    side = node.args.get("side") if isinstance(node, exp.Join) else None
    if isinstance(node, exp.Join) and (
        side not in (None, "LEFT")
        or node.args.get("method")
        or node.kind not in ("", "INNER", "OUTER" if side else "")
    ):
        return f"{node.args.get('side')} {node.kind} JOIN"
    if isinstance(node, exp.Table) and node.name.lower() not in COLUMNS:
        ctes = {cte.alias.lower() for cte in node.root().find_all(exp.CTE)}
        return None if node.name.lower() in ctes else f"table {node.name}"
    return None


def _star(node: exp.Expr) -> str | None:
    if not isinstance(node, exp.Star) or isinstance(node.parent, exp.Count):
        return None
    select = node.parent_select
    return None if select is not None and select.find_ancestor(exp.Select) else "* of rows shown"


def _misplaced(node: exp.Expr) -> str | None:
    """An aggregate in WHERE (of FILTER as well), or in another aggregate of the same SELECT."""
    if not isinstance(node, exp.AggFunc):
        return None
    around = node.find_ancestor(exp.Where, exp.Join, exp.Group, exp.AggFunc, exp.Select)
    if not isinstance(around, exp.Select) and node.find_ancestor(exp.Window) is None:
        return "aggregate in the place of a value"
    return None


def check(question: Question, shop: duckdb.DuckDBPyConnection) -> None:
    """A question is whole: known tables, aliases that differ, and SQL that runs on every row."""
    parts = list(walk(question.source))
    kinds = Scan | DerivedTable | GroupedTable | UnionAll
    named = [part.alias for part in parts if isinstance(part, kinds)]
    assert len(named) == len(set(named))
    assert {part.table for part in parts if isinstance(part, Scan)} <= set(COLUMNS)
    assert question.aggregates
    names = [key.name for key in question.keys] + [each.name for each in question.aggregates]
    names += [each.name for each in question.post_processing.computed]
    assert len(names) == len(set(names))
    assert set(question.post_processing.columns) <= set(names)
    assert str(describe(question))
    assert normalise(question)
    shop.execute(written(question)).fetchall()


def test_odd_statements_never_crash_and_never_pass_what_is_forbidden(
    caplog: pytest.LogCaptureFixture,
) -> None:
    codes: set[str] = set()
    shop, passed = in_duckdb(), 0
    tried = list(statements(SEED, NUMBER))
    caplog.clear()  # SQLGlot warns while it writes odd statements
    with caplog.at_level(logging.WARNING):
        for query in tried:
            try:
                question = compile(query, POLICY)
            except CelosiaError as error:
                codes.add(error.code)
                continue
            passed += 1
            assert forbidden(query) is None, f"{forbidden(query)}: {query}"
            check(question, shop)
    assert codes <= {f"CEL-Q0{number}" for number in range(20, 60)}
    assert passed > NUMBER // 50  # some are good questions, or nothing was tried
    assert caplog.text == ""  # the parser does not talk to the terminal


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        ";;",
        "\x00",
        "\ud800",
        "SELECT " * 500,
        "(" * 500,
        "SELECT COUNT(*) FROM orders" + "\u202e",
        "🙂",
    ],
)
def test_texts_that_are_no_queries_are_refused(text: str) -> None:
    with pytest.raises(CelosiaError):
        compile(text, POLICY)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_both_dialects_refuse_alike(dialect: str) -> None:
    for query in statements(99, 200):
        try:
            compile(query, POLICY, dialect=dialect)  # type: ignore[arg-type]
        except CelosiaError:
            continue
