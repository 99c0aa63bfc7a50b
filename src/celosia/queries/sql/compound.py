"""Several answers in one: GROUPING SETS, ROLLUP and CUBE, UNION ALL of answers, SELECT DISTINCT.

A grouping set is a question with some of the keys; the others are NULL in its rows. What follows
from one row is computed in each branch, what follows from several (windows, order and limit) in all
of them together. `SELECT DISTINCT a` is asked as a count by `a`, and shows the values whose count
is above its noise, or that were found in the data for a delta.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

from sqlglot import exp

from celosia.queries.algebra import NamedExpression, PostProcessing, Question
from celosia.queries.sql.parser import set_operation_refusal
from celosia.queries.sql.refusals import AGGREGATES, check_arguments, refusal

MOST_BRANCHES = 32
"""Questions in one: each gets a part of the price, and too small a part tells nothing."""
GROUPING = "celosia_grouping_"
"""Begins the names of columns that tell which keys a row has no value of."""
Keys = tuple[exp.Expr, ...]


def list_sets(group: exp.Expr) -> list[Keys]:
    """The sets of keys of GROUP BY, each once: plain keys are in all of them."""
    made = []
    for chosen in product(*(list(_sets(each)) for each in group.expressions)):
        made.append(tuple(dict.fromkeys(key for part in chosen for key in part)))
        if len(made) > MOST_BRANCHES:
            raise refusal("CEL-Q042.many_sets", most=MOST_BRANCHES, at=group)
    return list({frozenset(each): each for each in made}.values())


def _sets(node: exp.Expr) -> Iterator[Keys]:
    """The sets that a part of GROUP BY stands for, the finest first."""
    parts = [_keys(each) for each in node.expressions] if isinstance(node, _LISTS) else []
    if isinstance(node, exp.Rollup):
        for size in range(len(parts), -1, -1):
            yield tuple(key for part in parts[:size] for key in part)
    elif isinstance(node, exp.Cube):
        if len(parts) > MOST_BRANCHES.bit_length():
            raise refusal("CEL-Q042.many_sets", most=MOST_BRANCHES, at=node)
        for size in range(len(parts), -1, -1):
            for chosen in combinations(parts, size):
                yield tuple(key for part in chosen for key in part)
    elif isinstance(node, exp.GroupingSets):
        for each in node.expressions:
            yield from _sets(each)
    else:
        yield _keys(node)


_LISTS = (exp.Rollup, exp.Cube)


def _keys(node: exp.Expr) -> Keys:
    """The keys between brackets, or the one without."""
    if isinstance(node, exp.Tuple):
        return tuple(each.unnest() for each in node.expressions)
    return (node.unnest(),)


def split_sets(question: Question, sets: Iterable[frozenset[str]]) -> Question:
    """The question with a branch for each set of names of keys."""
    steps = question.post_processing
    by_row: list[NamedExpression] = []
    by_table: list[NamedExpression] = []
    later: set[str] = set()
    for each in steps.computed:
        words = {column.name for column in each.expression.find_all(exp.Column)}
        is_later = each.expression.find(exp.Window) is not None or bool(words & later)
        (by_table if is_later else by_row).append(each)
        later |= {each.name} if is_later else set()
    names = [*(each.name for each in question.keys), *(each.name for each in question.aggregates)]
    names += [each.name for each in by_row]
    trees = [each.expression for each in steps.computed]
    trees += [] if steps.having is None else [steps.having]
    asked = {column.name for tree in trees for column in tree.find_all(exp.Column)}
    flagged = [each.name for each in question.keys if GROUPING + each.name in asked]
    names += [GROUPING + name for name in flagged]
    branches = []
    for chosen in sets:
        missing = [
            NamedExpression(each.name, exp.Null())
            for each in question.keys
            if each.name not in chosen
        ]
        flags = [
            NamedExpression(GROUPING + name, exp.Literal.number(int(name not in chosen)))
            for name in flagged
        ]
        inner = PostProcessing(
            having=steps.having, computed=(*missing, *flags, *by_row), columns=tuple(names)
        )
        keys = tuple(each for each in question.keys if each.name in chosen)
        branches.append(replace(question, keys=keys, post_processing=inner))
    outer = replace(steps, having=None, computed=tuple(by_table))
    return replace(question, post_processing=outer, branches=tuple(branches))


def stack(questions: Sequence[Question], union: exp.Union, *, limit: int | None) -> Question:
    """Answers below each other, with the names of the first, in the order of the whole.

    Raises:
        QueryRefused: CEL-Q042 they have different numbers of columns, or sets of keys; CEL-Q057 an
            order by something else than a column.
    """
    first, *others = questions
    names = first.post_processing.columns
    if any(len(each.post_processing.columns) != len(names) for each in others):
        raise refusal("CEL-Q042.answers_columns", at=union.expression)
    if any(each.branches for each in questions) or len(questions) > MOST_BRANCHES:
        raise refusal("CEL-Q042.answers", at=union.expression)
    order = union.args.get("order")
    steps = PostProcessing(
        order=tuple(_ordered(each, names) for each in order.expressions) if order else (),
        limit=limit,
        columns=names,
    )
    return Question(first.source, first.aggregates, first.keys, steps, tuple(questions))


def _ordered(node: exp.Expr, names: Sequence[str]) -> tuple[str, bool]:
    inner = node.this if isinstance(node, exp.Ordered) else node
    known = {name.lower(): name for name in names}
    known |= {str(place): name for place, name in enumerate(names, start=1)}
    is_name = isinstance(inner, exp.Column | exp.Literal)
    if not is_name or inner.name.lower() not in known:
        raise refusal("CEL-Q057.order_without_answer", at=node)
    return known[inner.name.lower()], bool(node.args.get("desc"))


def union_parts(union: exp.Expr) -> list[exp.Select]:
    """The SELECTs between UNION ALLs; each sees the CTEs before all of them.

    Raises:
        QueryRefused: CEL-Q042 another operation, or one in brackets.
    """
    if isinstance(union, exp.Union) and not union.args.get("distinct"):
        known = frozenset({"this", "expression", "distinct", "order", "limit", "with_"})
        check_arguments(union, known)
        parts = union_parts(union.this) + union_parts(union.expression)
        common = union.args.get("with_")
        for each in parts if common is not None else ():
            tables = [
                table
                for given in (common, each.args.get("with_"))
                if given is not None
                for table in given.expressions
            ]
            each.set("with_", _used(tables, each))
        return parts
    if isinstance(union, exp.Subquery) and set(_given(union)) == {"this"}:
        return union_parts(union.this)
    if isinstance(union, exp.SetOperation):
        raise set_operation_refusal(union)
    assert isinstance(union, exp.Select)
    return [union]


def _used(tables: Sequence[exp.Expr], select: exp.Select) -> exp.With | None:
    """The CTEs that a SELECT refers to, also through others."""
    needed = {each.name.lower() for each in select.find_all(exp.Table)}
    kept: list[exp.Expr] = []
    for table in reversed(tables):
        if table.alias.lower() in needed:
            kept.insert(0, table.copy())
            needed |= {each.name.lower() for each in table.find_all(exp.Table)}
    return exp.With(expressions=kept) if kept else None


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value not in (None, False, [])]


def lists_values(query: exp.Expr) -> bool:
    """Whether a query shows values of rows, and no aggregate."""
    if isinstance(query, exp.SetOperation):
        return lists_values(query.this) and lists_values(query.expression)
    if isinstance(query, exp.Subquery):
        return lists_values(query.this)
    if not isinstance(query, exp.Select) or query.args.get("group") or query.args.get("having"):
        return False
    inside = (
        node
        for each in query.expressions
        for node in each.walk(prune=lambda part: isinstance(part, exp.Query))
    )
    return not any(isinstance(node, (*AGGREGATES, exp.Window, exp.Star)) for node in inside)


def as_distinct(union: exp.Union) -> exp.Select:
    """`a UNION b` as `SELECT DISTINCT * FROM (a UNION ALL b)`, with the order of the whole."""
    stacked = union.copy()
    made = exp.Select(distinct=exp.Distinct())
    for clause in ("order", "limit", "offset", "with_"):
        if (given := stacked.args.get(clause)) is not None:
            made.set(clause, given)
            stacked.set(clause, None)
    for each in stacked.walk(prune=lambda part: isinstance(part, exp.Select)):
        if isinstance(each, exp.Union):
            each.set("distinct", False)
    first = stacked
    while not isinstance(first, exp.Select):
        first = first.this
    words = [each.alias_or_name for each in first.expressions]
    made.set("expressions", [exp.column(word, quoted=True) for word in words])
    inner = exp.Subquery(this=stacked, alias=exp.TableAlias(this=exp.to_identifier("rows_of_all")))
    made.set("from_", exp.From(this=inner))
    return made


def as_count(select: exp.Select) -> exp.Select:
    """`SELECT DISTINCT a, b` as GROUP BY both."""
    made = select.copy()
    made.set("distinct", None)
    places = [exp.Literal.number(place) for place in range(1, len(made.expressions) + 1)]
    made.set("group", exp.Group(expressions=places))
    return made
