"""The compiler of SQL: a text to a question of the relational algebra, or to a refusal.

Sub-queries that double a text (`t || t`) or an expression (`x * x`) double it again at each level:
sixty levels would fill any memory, but only where a row gets so far, and that would reveal it. The
bounds here follow from the text of the query alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from celosia.queries import algebra
from celosia.queries.policy.values import Policy
from celosia.queries.sql import compound
from celosia.queries.sql.conditions import FALLIBLE
from celosia.queries.sql.names import Aliases
from celosia.queries.sql.outputs import (
    Outputs,
    check_answerable,
    read_limit,
    read_outputs,
    read_post_processing,
)
from celosia.queries.sql.parser import Dialect, parse, set_operation_refusal
from celosia.queries.sql.refusals import refusal
from celosia.queries.sql.relations import RelationBuilder
from celosia.queries.sql.subqueries import check_used, is_grouped

if TYPE_CHECKING:
    from celosia.queries.sql.scalars import Evaluate

MOST_COPIES = 16
"""The most values of columns that one text is composed of."""
MOST_WRITTEN = 100_000
"""The most written letters in one text, those of sub-queries counted at each use."""
MOST_PARTS = 10_000
"""The most parts of an expression, once those of sub-queries stand in it."""
REPEATED = 3
"""Copies of a column in arithmetic and casts for PostgreSQL, which has no TRY."""

_JOINED = (exp.Concat, exp.DPipe)
_ONE_OF = (exp.Coalesce, exp.Greatest, exp.Least)
_NO_LONGER = (
    exp.Lower,
    exp.Upper,
    exp.Substring,
    exp.Left,
    exp.Right,
    exp.Trim,
    exp.Replace,
    exp.Nullif,
    exp.Paren,
    exp.Try,
)


@dataclass(frozen=True, slots=True)
class Size:
    """The largest size of an expression."""

    copies: int = 0
    """Of values of columns in its text; 0 for what is no text."""
    written: int = 0
    """Letters of the query in its text."""
    parts: int = 1


Sizes = Mapping[tuple[str, str], Size]
"""By the alias of a relation and the name of a column, in lower case; 1 copy if not there."""
_COLUMN = Size(copies=1)


def check_growth(question: algebra.Question) -> None:
    """Refuse what grows beyond bounds.

    Raises:
        QueryRefused: CEL-Q023.
    """
    sizes = _sizes(question.source)
    for key in question.keys:
        size_of(key.expression, sizes)
    for aggregate in question.aggregates:
        for tree in (aggregate.argument, aggregate.second):
            if tree is not None:
                size_of(tree, sizes)
    answers: dict[tuple[str, str], Size] = {}
    for named in question.post_processing.computed:  # each may refer to those before it
        answers["", named.name.lower()] = size_of(named.expression, answers)
    if question.post_processing.having is not None:
        size_of(question.post_processing.having, answers)


def _sizes(relation: algebra.Relation) -> Sizes:
    """The sizes of the columns of a relation, after all inside it was checked."""
    match relation:
        case algebra.Scan():
            return {}
        case algebra.Filter(source=source, condition=condition):
            found = _sizes(source)
            size_of(condition, found)
            return found
        case (
            algebra.Join(left=left, right=right)
            | algebra.LeftJoin(left=left, right=right)
            | algebra.SemiJoin(left=left, right=right)
        ):
            both = {**_sizes(left), **_sizes(right)}
            if relation.condition is not None:
                size_of(relation.condition, both)
            return both
        case algebra.DerivedTable():
            return _derived(relation, relation.alias)
        case algebra.GroupedTable():
            return _grouped(relation)
        case algebra.UnionAll(parts=parts, alias=alias):
            stacked: dict[tuple[str, str], Size] = {}
            for part in parts:
                for name, size in _derived(part, alias).items():
                    stacked[name] = _largest([size, stacked.get(name, size)])
            return stacked


def _derived(relation: algebra.DerivedTable, alias: str) -> Sizes:
    inside = _sizes(relation.source)
    return {
        (alias, each.name.lower()): size_of(each.expression, inside) for each in relation.columns
    }


def _grouped(relation: algebra.GroupedTable) -> Sizes:
    inside = _sizes(relation.source)
    made = {
        (relation.alias, each.name.lower()): size_of(each.expression, inside)
        for each in relation.keys
    }
    for each in relation.aggregates:
        if each.order is not None:
            size_of(each.order, inside)
        if each.argument is not None:
            made[relation.alias, each.name.lower()] = size_of(each.argument, inside)
    return made


def size_of(tree: exp.Expr, sizes: Sizes) -> Size:
    """The size of an expression over columns of known sizes.

    Raises:
        QueryRefused: CEL-Q023, it or a part of it is too large.
    """
    if isinstance(tree, exp.Column):
        return sizes.get((tree.table, tree.name.lower()), _COLUMN)
    if isinstance(tree, exp.Literal):
        return Size(written=len(tree.name))
    below = {id(each): size_of(each, sizes) for each in tree.iter_expressions()}
    repeats = isinstance(tree, (*FALLIBLE, exp.Cast))
    parts = 1 + sum(
        below[id(each)].parts * (REPEATED if repeats and _is_computed(each, below) else 1)
        for each in tree.iter_expressions()
    )
    text = _text([below[id(each)] for each in _sources(tree)], is_joined=isinstance(tree, _JOINED))
    return _check_size(Size(text.copies, text.written, parts))


def _is_computed(tree: exp.Expr, sizes: Mapping[int, Size]) -> bool:
    """Whether it is a column that a sub-query has computed."""
    return isinstance(tree, exp.Column) and sizes[id(tree)].parts > 1


def _sources(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of an expression whose texts may be in its own."""
    if isinstance(tree, exp.Concat):
        return list(tree.expressions)
    if isinstance(tree, exp.DPipe):
        return [tree.this, tree.expression]
    if isinstance(tree, exp.Case):
        return [*tree.args["ifs"], *filter(None, [tree.args.get("default")])]
    if isinstance(tree, exp.If):
        return [tree.args["true"]]
    if isinstance(tree, _ONE_OF):
        return [tree.this, *tree.expressions]
    return [tree.this] if isinstance(tree, (*_NO_LONGER, exp.Cast)) else []


def _text(sources: list[Size], *, is_joined: bool) -> Size:
    if not is_joined:
        return _largest(sources)
    return Size(sum(each.copies for each in sources), sum(each.written for each in sources))


def _largest(sizes: list[Size]) -> Size:
    return Size(
        max((each.copies for each in sizes), default=0),
        max((each.written for each in sizes), default=0),
        max((each.parts for each in sizes), default=1),
    )


def _check_size(size: Size) -> Size:
    if size.copies > MOST_COPIES or size.written > MOST_WRITTEN:
        raise refusal("CEL-Q023.text_grows", most_copies=MOST_COPIES, most_written=MOST_WRITTEN)
    if size.parts > MOST_PARTS:
        raise refusal("CEL-Q023.expression_grows", most_parts=MOST_PARTS)
    return size


_ANSWERS = frozenset({"group", "having", "order", "limit", "offset"})


def compile(
    query: str,
    policy: Policy,
    *,
    dialect: Dialect = "duckdb",
    evaluate: Evaluate | None = None,
    over_answers: bool = False,
) -> algebra.Question:
    """The question that a SQL text asks of the tables of a policy.

    What is decided here depends on the text and the policy, never on data. Every relation of the
    question has an alias of its own, and every expression has a value on every row.

    Args:
        query: one SELECT statement.
        policy: the tables and columns that there are.
        dialect: how the text is written.
        evaluate: the rows of a question about public tables, for sub-queries that stand for values.
        over_answers: whether aggregates over a grouped sub-query are taken of its noisy answers.

    Raises:
        InputError: CEL-Q020, the text is not SQL.
        QueryRefused: CEL-Q022 to CEL-Q042, what cannot be promised, with the place in the text.
    """
    statement = parse(query, dialect=dialect)
    try:
        if evaluate is not None and statement.find(exp.Subquery) is not None:
            from celosia.queries.sql.scalars import write_out  # few questions have one

            statement = write_out(
                statement,
                policy,
                compile_select=lambda select: _compile_select(select, policy, dialect),
                evaluate=evaluate,
            )
        if isinstance(statement, exp.Select) and (over_answers or not is_grouped(statement)):
            from celosia.queries.sql.aggregated_answers import read_over_answers  # few look so

            statement = read_over_answers(statement, _column_names(policy)) or statement
        return _compile_statement(statement, policy, dialect)
    except RecursionError:
        raise refusal("CEL-Q023.too_deep") from None


def _compile_statement(
    statement: exp.Select | exp.SetOperation, policy: Policy, dialect: Dialect
) -> algebra.Question:
    if isinstance(statement, exp.Select):
        return _compile_select(statement, policy, dialect)
    if not isinstance(statement, exp.Union):
        raise set_operation_refusal(statement)
    if compound.lists_values(statement):
        if not statement.args.get("distinct"):
            raise refusal("CEL-Q042.answers", at=statement.expression)
        return _compile_select(compound.as_distinct(statement), policy, dialect)
    parts = [_compile_select(each, policy, dialect) for each in compound.union_parts(statement)]
    return compound.stack(parts, statement, limit=read_limit(statement.args.get("limit")))


def _compile_select(select: exp.Select, policy: Policy, dialect: Dialect) -> algebra.Question:
    if (distinct := select.args.get("distinct")) is not None:
        if distinct.args.get("on") is not None or not compound.lists_values(select):
            raise refusal("CEL-Q042.distinct", at=select)
        return _compile_distinct(compound.as_count(select), policy, dialect)
    question, outputs = _compile_answer(select, policy, dialect)
    check_answerable(outputs, select)
    return compound.split_sets(question, outputs.sets) if outputs.sets else question


def _column_names(policy: Policy) -> frozenset[str]:
    return frozenset(each.name.lower() for table in policy.tables for each in table.columns)


def _compile_distinct(select: exp.Select, policy: Policy, dialect: Dialect) -> algebra.Question:
    """The question of GROUP BY that SELECT DISTINCT was rewritten to, with a count beside it."""
    question, outputs = _compile_answer(select, policy, dialect)
    count = algebra.Aggregate("rows", outputs.free("count"))
    steps = replace(question.post_processing, present=count.name)
    return replace(question, aggregates=(count,), post_processing=steps)


def _compile_answer(
    select: exp.Select, policy: Policy, dialect: Dialect
) -> tuple[algebra.Question, Outputs]:
    ending = "_rows" if policy.database.kind == "spark" else ""
    builder = RelationBuilder(policy, Aliases(ending=ending))
    rows = builder.rows(select, visible={}, allowed=_ANSWERS)
    check_used(builder)
    outputs = read_outputs(select, rows.scope)
    done = read_post_processing(select, outputs, dialect=dialect)
    aggregates, keys = outputs.parts()
    question = algebra.Question(rows.relation, aggregates, keys, done)
    check_growth(question)
    return question, outputs
