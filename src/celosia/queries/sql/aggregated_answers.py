"""Queries over answers: SELECT ... FROM a grouped sub-query, as post-processing of that sub-query.

`WITH w AS (SELECT ward, COUNT(*) AS n ... GROUP BY ward) SELECT ward, n FROM w WHERE n > 100` asks
for groups of many people, so the sub-query is the private question. What stands around it looks at
released rows: its WHERE becomes HAVING, its expressions are computed from answers, and its
aggregates become windows over all answers, of which one row is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from celosia.queries.sql.parser import has_sets
from celosia.queries.sql.refusals import AGGREGATES
from celosia.queries.sql.subqueries import is_grouped

_OUTER = frozenset({"with_", "expressions", "from_", "where", "order", "limit"})
_INNER = frozenset({"with_", "expressions", "from_", "joins", "where", "group", "having"})


class _OtherFormError(Exception):
    """The query is not one of answers."""


def read_over_answers(select: exp.Select, columns: frozenset[str]) -> exp.Select | None:
    """The query with its grouped sub-query in the place of FROM; None where it has another form.

    Args:
        select: the statement.
        columns: the names of all columns of the tables, in small letters.
    """
    try:
        return _flattened(select, columns)
    except _OtherFormError:
        return None


def shows_rows(select: exp.Select) -> bool:
    """Whether the outermost query itself aggregates nothing."""
    return not is_grouped(select) and not select.args.get("distinct")


def _given(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value not in (None, False, [])}


@dataclass(frozen=True, slots=True)
class _Answers:
    """The columns of a grouped sub-query, by their names."""

    name: str
    columns: Mapping[str, exp.Expr]
    has_condition: bool

    def inside(self, node: exp.Expr) -> exp.Expr:
        """An expression over the sub-query as one of what it selects."""
        if isinstance(node, exp.Column):
            return self._column(node).copy()
        return node.copy().transform(self._changed)

    def _column(self, node: exp.Column) -> exp.Expr:
        is_own = not node.table or node.table.lower() == self.name
        if not is_own or node.name.lower() not in self.columns:
            raise _OtherFormError
        return self.columns[node.name.lower()]

    def _changed(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Subquery):
            return self._total(node)
        if isinstance(node, exp.Query):
            raise _OtherFormError
        if isinstance(node, exp.Column):
            made = self._column(node).copy()
            is_single = isinstance(made, (exp.Column, *AGGREGATES))
            return made if is_single else exp.Paren(this=made)
        return node

    def _total(self, node: exp.Subquery) -> exp.Expr:
        """`(SELECT SUM(n) FROM w)` beside the rows of w: a window over all of them."""
        inner = node.this
        if self.has_condition or not isinstance(inner, exp.Select):
            raise _OtherFormError
        source = inner.args.get("from_")
        is_same = source is not None and source.this.name.lower() == self.name
        if not is_same or _given(inner) != {"expressions", "from_"} or len(inner.expressions) != 1:
            raise _OtherFormError
        return self.over_all(inner.expressions[0].unalias())

    def over_all(self, node: exp.Expr) -> exp.Expr:
        """An aggregate of answers as a window over all of them."""

        def changed(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.AggFunc):
                made = part.copy()
                if not isinstance(part.this, exp.Star):
                    made.set("this", self.inside(part.this))
                return exp.Window(this=made)
            if isinstance(part, exp.Column | exp.Query | exp.Window):
                raise _OtherFormError
            return part

        return node.copy().transform(changed)


def _flattened(select: exp.Select, known: frozenset[str]) -> exp.Select:
    if not _given(select) <= _OUTER:
        raise _OtherFormError
    name, inner = _source(select)
    if not is_grouped(inner):
        inner = _flattened(inner, known)
    if not _given(inner) <= _INNER or not is_grouped(inner) or has_sets(inner.args.get("group")):
        raise _OtherFormError
    columns = {each.alias_or_name.lower(): each.unalias() for each in inner.expressions}
    if "" in columns or len(columns) < len(inner.expressions):
        raise _OtherFormError
    aliased = [each for each in inner.expressions if each.alias]
    if any(each.alias.lower() in known - {each.this.name.lower()} for each in aliased):
        raise _OtherFormError  # in GROUP BY such a name has two meanings
    where = select.args.get("where")
    answers = _Answers(name, columns, where is not None)
    made = inner.copy()
    _write_out_keys(made)
    write = answers.inside if shows_rows(select) else answers.over_all
    shown = _listed(select, columns)
    made.set("expressions", [_named(each, write(each.unalias())) for each in shown])
    if where is not None:
        kept = answers.inside(where.this)
        having = made.args.get("having")
        both = kept if having is None else exp.and_(having.this, kept)
        made.set("having", exp.Having(this=both))
    names = {each.alias_or_name.lower() for each in shown}
    if (order := select.args.get("order")) is not None:
        made.set(
            "order", exp.Order(expressions=[_moved(x, names, answers) for x in order.expressions])
        )
    made.set("limit", select.args.get("limit"))
    if not shows_rows(select):
        made.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    return made


def _listed(select: exp.Select, columns: Mapping[str, exp.Expr]) -> list[exp.Expr]:
    """The SELECT list; a star alone stands for all columns of the sub-query."""
    if len(select.expressions) == 1 and isinstance(select.expressions[0], exp.Star):
        return [exp.column(exp.to_identifier(name, quoted=True)) for name in columns]
    return list(select.expressions)


def _source(select: exp.Select) -> tuple[str, exp.Select]:
    """The sub-query or CTE that the query is about, with the other CTEs."""
    start = select.args.get("from_")
    source = None if start is None else start.this
    common = select.args.get("with_")
    tables = [] if common is None else list(common.expressions)
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Select):
        return source.alias.lower(), _with(source.this, tables)
    if isinstance(source, exp.Table):
        for place, each in enumerate(tables):
            if each.alias.lower() == source.name.lower() and isinstance(each.this, exp.Select):
                if each.args["alias"].args.get("columns") or tables[place + 1 :]:
                    raise _OtherFormError
                return source.alias_or_name.lower(), _with(each.this, tables[:place])
    raise _OtherFormError


def _with(select: exp.Select, tables: list[exp.Expr]) -> exp.Select:
    made = select.copy()
    if tables and made.args.get("with_") is not None:
        raise _OtherFormError
    if tables:
        made.set("with_", exp.With(expressions=[each.copy() for each in tables]))
    return made


def _write_out_keys(select: exp.Select) -> None:
    """Replace places and aliases in GROUP BY: what they stand for may be shown no more."""
    group = select.args.get("group")
    if group is None:
        return
    if group.args.get("all"):
        raise _OtherFormError
    aliased = {each.alias.lower(): each.this for each in select.expressions if each.alias}
    keys = []
    for each in group.expressions:
        if isinstance(each, exp.Literal) and each.name.isdecimal():
            place = int(each.name) if len(each.name) < 4 else 0
            if not 1 <= place <= len(select.expressions):
                raise _OtherFormError
            keys.append(select.expressions[place - 1].unalias().copy())
        elif isinstance(each, exp.Column) and not each.table and each.name.lower() in aliased:
            keys.append(aliased[each.name.lower()].copy())
        else:
            keys.append(each.copy())
    group.set("expressions", keys)


def _named(node: exp.Expr, made: exp.Expr) -> exp.Expr:
    name = node.alias_or_name
    if not name or (isinstance(made, exp.Column) and made.name.lower() == name.lower()):
        return made
    return exp.Alias(this=made, alias=exp.to_identifier(name, quoted=True))


def _moved(node: exp.Expr, shown: set[str], answers: _Answers) -> exp.Expr:
    made, inner = node.copy(), node.this
    # A name with its relation is a column of the sub-query, whatever the list calls so.
    is_shown = isinstance(inner, exp.Column) and not inner.table and inner.name.lower() in shown
    if not is_shown and not isinstance(inner, exp.Literal):
        made.set("this", answers.inside(inner))
    return made
