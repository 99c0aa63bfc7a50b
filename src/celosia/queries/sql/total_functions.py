"""Expressions made total: they fail on no row, so no error reveals data.

`1 / (salary - 4200)` fails, or not, by whether somebody earns 4200. After this rewrite every
expression has a value on every row, NULL where it would have failed:

- a divisor `b` becomes `NULLIF(b, 0)`: division by zero is NULL (DuckDB alone says infinity);
- `CAST` becomes `TRY_CAST`, except of a written date or timestamp, which has been checked;
- arithmetic, which may overflow, is put in `TRY(...)`, once around the whole of it.

DuckDB has all three. An engine that lacks TRY or TRY_CAST has to put something in
their place that never fails.
"""

from __future__ import annotations

from sqlglot import exp

DIVISIONS = (exp.Div, exp.IntDiv, exp.Mod)

FALLIBLE = (
    *DIVISIONS,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Neg,
    exp.Abs,
    exp.Round,
    exp.Ceil,
    exp.Floor,
    exp.Extract,
    exp.TimestampTrunc,
)
"""Operations that can overflow or leave the calendar. As each keeps NULL, one TRY covers a nest."""


def make_total(tree: exp.Expression) -> exp.Expression:
    """Rewrite an expression so that it has a value on every row.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("1 / (x - 1) > CAST(y AS INT)", read="duckdb")
    >>> print(make_total(tree).sql("duckdb"))
    TRY(1 / NULLIF((x - 1), 0)) > TRY_CAST(y AS INT)
    """
    return _total(tree, is_covered=False)


def _total(node: exp.Expr, *, is_covered: bool) -> exp.Expression:
    """A copy that is total; `is_covered` where a TRY around it catches what fails."""
    is_fallible = isinstance(node, FALLIBLE) and not _is_written(node)
    covers = is_fallible or isinstance(node, exp.Try) or (is_covered and _is_passage(node))
    copy = _rebuilt(node, is_covered=covers)
    if isinstance(copy, DIVISIONS) and not _is_safe_divisor(copy.expression):
        copy.set("expression", exp.Nullif(this=copy.expression, expression=exp.Literal.number(0)))
    if type(copy) is exp.Cast and not _is_written_moment(copy):
        copy = exp.TryCast(this=copy.this, to=copy.args["to"])
    return exp.Try(this=copy) if is_fallible and not is_covered else copy


def _rebuilt(node: exp.Expr, *, is_covered: bool) -> exp.Expression:
    def again(value: object) -> object:
        if isinstance(value, list):
            return [again(each) for each in value]
        return _total(value, is_covered=is_covered) if isinstance(value, exp.Expr) else value

    made = type(node)(**{name: again(value) for name, value in node.args.items()})
    assert isinstance(made, exp.Expression)
    return made


def _is_passage(node: exp.Expr) -> bool:
    """Whether a NULL inside makes a NULL outside, so that the TRY around is enough."""
    if isinstance(node, exp.Nullif):
        return isinstance(node.expression, exp.Literal)
    return isinstance(node, exp.Paren)


def _is_safe_divisor(divisor: exp.Expr) -> bool:
    if isinstance(divisor, exp.Nullif):
        return bool(divisor.expression == exp.Literal.number(0))
    return isinstance(divisor, exp.Literal) and float(divisor.name) != 0


def _is_written_moment(node: exp.Cast) -> bool:
    kinds = (exp.DType.DATE, exp.DType.TIMESTAMP)
    return isinstance(node.this, exp.Literal) and node.args["to"].this in kinds


def _is_written(node: exp.Expr) -> bool:
    """Whether it is a written number below zero, which cannot fail."""
    return isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal)
