"""The compiler of SQL: a text to a question of the relational algebra, or to a refusal.

Sub-queries that double a text (`t || t`) or an expression (`x * x`) double it again at each level:
sixty levels would fill any memory, but only where a row gets so far, and that would reveal it. The
bounds here follow from the text of the query alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from celosia.queries import algebra
from celosia.queries.policy.values import Policy
from celosia.queries.sql.conditions import FALLIBLE
from celosia.queries.sql.outputs import check_answerable, read_outputs, read_post_processing
from celosia.queries.sql.parser import Dialect, parse
from celosia.queries.sql.refusals import refusal
from celosia.queries.sql.relations import RelationBuilder
from celosia.queries.sql.subqueries import check_used

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


def compile(query: str, policy: Policy, *, dialect: Dialect = "duckdb") -> algebra.Question:
    """The question that a SQL text asks of the tables of a policy.

    What is decided here depends on the text and the policy, never on data. Every relation of the
    question has an alias of its own, and every expression has a value on every row.

    Args:
        query: one SELECT statement.
        policy: the tables and columns that there are.
        dialect: how the text is written.

    Raises:
        InputError: CEL-Q020, the text is not SQL.
        QueryRefused: CEL-Q022 to CEL-Q042, what cannot be promised, with the place in the text.
    """
    select = parse(query, dialect=dialect)
    try:
        return _compile_select(select, policy, dialect)
    except RecursionError:
        raise refusal("CEL-Q023.too_deep") from None


def _compile_select(select: exp.Select, policy: Policy, dialect: Dialect) -> algebra.Question:
    if select.args.get("distinct"):
        raise refusal("CEL-Q042.distinct", at=select)
    builder = RelationBuilder(policy)
    rows = builder.rows(select, visible={}, allowed=_ANSWERS)
    check_used(builder)
    outputs = read_outputs(select, rows.scope)
    done = read_post_processing(select, outputs, dialect=dialect)
    check_answerable(outputs, select)
    aggregates, keys = outputs.parts()
    question = algebra.Question(rows.relation, aggregates, keys, done)
    check_growth(question)
    return question
