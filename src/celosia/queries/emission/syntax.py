"""Pieces of a query: quoted names, whole numbers, and the clauses of a SELECT."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def identifier(word: str) -> exp.Identifier:
    """A quoted identifier."""
    return exp.to_identifier(word, quoted=True)


def column(word: str, relation: str | None = None) -> exp.Column:
    """A quoted column."""
    return exp.column(word, table=relation, quoted=True)


def integer_literal(number: int) -> exp.Expr:
    """A written whole number."""
    literal = exp.Literal.number(str(abs(number)))
    return exp.Neg(this=literal) if number < 0 else literal


def as_alias(tree: exp.Expr, word: str) -> exp.Alias:
    """An expression under a quoted name."""
    return exp.Alias(this=tree, alias=identifier(word))


def select_from(
    source: exp.Query, projections: list[exp.Expr], *, alias: str = "part"
) -> exp.Select:
    """A SELECT of expressions from a query."""
    inner = exp.Subquery(this=source, alias=exp.TableAlias(this=identifier(alias)))
    return exp.Select(expressions=projections, from_=exp.From(this=inner))


def group_by(select: exp.Select, keys: list[str]) -> exp.Select:
    """The same SELECT by some columns of its source; without any, one group, empty or not."""
    if keys:
        select.set("group", exp.Group(expressions=[column(key) for key in keys]))
    return select


def order_by(select: exp.Select, keys: list[str]) -> exp.Select:
    """The same SELECT with its rows in the order of some columns."""
    if keys:
        order = [exp.Ordered(this=column(key), nulls_first=False) for key in keys]
        select.set("order", exp.Order(expressions=order))
    return select


def sorted_by(source: exp.Query, word: str, others: Sequence[str] = ()) -> exp.Select:
    """Rows by a column of whole numbers: PostgreSQL then adds up its groups as it reads them.

    It sorts a single column of numbers in half the time that a hash table of many groups takes, and
    a few columns still faster than that where the table does not fit in the memory of a query, of
    which there are 4 MB by default. Rows are read first, and then sorted: to read them by an index
    takes longer.

    Args:
        source: the rows.
        word: the column.
        others: those that are kept besides.
    """
    words = [word, *others]
    rows = computed_once(select_from(source, [*map(column, words)]))
    return order_by(select_from(rows, [*map(column, words)]), [word])


def computed_once(select: exp.Select) -> exp.Select:
    """A SELECT that PostgreSQL does not merge with the one around it.

    Merged, a column of it would be computed again wherever it is named.
    """
    select.set("offset", exp.Offset(expression=exp.Literal.number("0")))
    return select


def at_most(limited: exp.Expr, number: int) -> exp.LTE:
    """The condition that a number is not above another."""
    return exp.LTE(this=limited, expression=integer_literal(number))


def row_number(by: list[exp.Expr], order: list[exp.Expr]) -> exp.Window:
    """The place of a row among those that agree in some columns."""
    return exp.Window(
        this=exp.RowNumber(),
        partition_by=by,
        order=exp.Order(expressions=[exp.Ordered(this=each, nulls_first=False) for each in order]),
    )
