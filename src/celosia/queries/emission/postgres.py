"""Row-wise expressions for PostgreSQL, which lacks TRY and TRY_CAST, total all the same.

Questions come with `TRY(...)` around arithmetic and `TRY_CAST` for casts. Here numbers are decimal
ones of any length, which neither overflow nor fail beside doubles. What is beyond doubles, moments
outside the years 1 to 9999, and texts that are not numbers become NULL before they can fail.
"""

from __future__ import annotations

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.queries.algebra import Relation
from celosia.queries.emission.expression_types import NUMBER, NUMERIC, ExpressionWriter
from celosia.queries.emission.target import Target
from celosia.queries.emission.timestamps import SINGLE_TYPED, cast_dates

MOST_FACTORS = 200
"""The most multiplications and divisions of an expression: 131,072 digits hold 400 doubles."""
LARGEST = "1e309"
MOST_YEARS = 4000
"""Back from the year 1: PostgreSQL's time begins in 4713 BC."""


def rewrite_for_postgres(tree: exp.Expr, relation: Relation, *, target: Target) -> exp.Expr:
    """The same expression, total in PostgreSQL.

    Args:
        tree: of the question; TRY and TRY_CAST say where it could fail.
        relation: whose columns it speaks of.
        target: the policy, for the types of columns.
    """
    if sum(1 for _ in tree.find_all(exp.Mul, exp.Div)) > MOST_FACTORS:
        raise QueryRefused("CEL-Q127.factors", most_factors=MOST_FACTORS)
    if isinstance(tree, exp.Column):
        return tree.copy()  # as it is, so that values which differ in the last digit still do
    return _Writer(relation, target).write(tree)


class _Writer(ExpressionWriter):
    __slots__ = ()
    nested = "CEL-Q127.nested"

    def write(self, tree: exp.Expr) -> exp.Expr:  # noqa: PLR0911 - one for each kind of node
        match tree:
            case exp.Column() if self.kind(tree) == "number":
                return self.target.cast(tree.copy(), "real")
            case exp.Column() | exp.DataType() | exp.Literal() | exp.Interval():
                return tree.copy()
            case exp.Try():
                return self.write(tree.this)
            case exp.TryCast():
                return self._cast(tree.this, tree.args["to"])
            case _ if isinstance(tree, _COMPARED) and _is_with_written(tree):
                return tree.copy()  # written numbers take the type of the column
            case exp.Extract(this=part):
                moment = self._moment(tree.expression)
                return exp.Extract(this=part.copy(), expression=moment)
            case exp.TimestampTrunc():
                unit = tree.args["unit"].copy()
                return exp.TimestampTrunc(this=self._moment(tree.this), unit=unit)
        if isinstance(tree, exp.Add | exp.Sub) and self.kind(tree) != "number":
            return self._shifted(tree)
        if isinstance(tree, NUMERIC):
            return self._arithmetic(tree)
        # Dates and timestamps are compared as they are, but one type is made of both by a cast.
        return self.rebuilt(cast_dates(tree, self.kind) if isinstance(tree, SINGLE_TYPED) else tree)

    def _arithmetic(self, tree: exp.Expr) -> exp.Expr:
        if isinstance(tree, exp.IntDiv):
            parts = [self._number(tree.left), self._number(tree.right)]
            return exp.Anonymous(this="DIV", expressions=parts)
        made = tree.copy()
        made.set("this", self._number(tree.this))
        if isinstance(tree, exp.Binary):
            made.set("expression", self._number(tree.expression))
        if isinstance(tree, exp.Div):
            made.set("typed", True)  # decimal already: SQLGlot need not cast
            made.set("safe", True)
        return made

    def _number(self, tree: exp.Expr) -> exp.Expr:  # noqa: PLR0911 - one for each kind of node
        """An operand as a decimal number of at most 310 digits before the point."""
        match tree:
            case exp.Paren():
                return exp.Paren(this=self._number(tree.this))
            case exp.Try():
                return self._number(tree.this)
            case exp.Nullif():
                return exp.Nullif(this=self._number(tree.this), expression=tree.expression.copy())
            case exp.Literal():
                return self.target.cast(tree.copy(), "real")
        if isinstance(tree, NUMERIC):
            return self.write(tree)
        written = self.short(tree)
        if self.kind(tree) == "integer":
            return self.target.cast(written, "wide")
        value = written if _is_real(written) else self.target.cast(written, "real")
        largest = self._real(LARGEST)
        within = exp.LTE(this=exp.Abs(this=value.copy()), expression=largest)
        odd = exp.In(
            this=value.copy(),
            expressions=[self._real(each) for each in ("NaN", "Infinity", "-Infinity")],
        )
        return exp.Case().when(exp.or_(within, odd), value)

    def _real(self, text: str) -> exp.Expr:
        return self.target.cast(exp.Literal.string(text), "real")

    def _moment(self, tree: exp.Expr) -> exp.Expr:
        """A timestamp from the year 1 to 9999, or NULL."""
        value = self.short(tree)
        first, last = (
            exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build("date"))
            for text in ("0001-01-01", "9999-12-30")
        )
        inside = exp.Between(this=value.copy(), low=first, high=last)
        return exp.Case().when(
            inside, exp.Cast(this=value, to=exp.DataType.build("timestamp", dialect="postgres"))
        )

    def _shifted(self, tree: exp.Add | exp.Sub) -> exp.Expr:
        """A moment and a span, a date and days, or the days between two dates."""
        for span in tree.find_all(exp.Interval):
            if span.args["unit"].name.upper() == "YEAR" and int(span.this.name) > MOST_YEARS:
                raise QueryRefused("CEL-Q127.long_interval", most_years=MOST_YEARS)
        is_long = self.kind(tree) == "timestamp"
        sides = []
        for side in (tree.left, tree.right):
            if self.kind(side) not in ("date", "timestamp"):
                sides.append(self.write(side))
                continue
            moment = self._moment(side)
            date = exp.DataType.build("date")
            sides.append(moment if is_long else exp.Cast(this=moment, to=date))
        return type(tree)(this=sides[0], expression=sides[1])

    def _cast(self, tree: exp.Expr, to: exp.DataType) -> exp.Expr:  # noqa: PLR0911 - one a pair
        source, wanted = self.kind(tree), self.kind(exp.Cast(this=tree.copy(), to=to.copy()))
        value = self.short(tree)
        plain = exp.Cast(this=value, to=to.copy())
        numbers = ("integer", "number")
        match source, wanted:
            case (_, "text"):
                return plain
            case ("timestamp", "timestamp") | ("date", "date") | ("timestamp", "date"):
                return plain
            case ("boolean", "boolean"):
                return plain
            case ("date", "timestamp"):
                return self._moment(tree)
            case ("boolean", kind) if kind in numbers:
                one, zero = exp.Literal.number(1), exp.Literal.number(0)
                return exp.Case().when(value, one).when(exp.Not(this=value.copy()), zero)
            case (kind, "boolean") if kind in numbers:
                return exp.NEQ(this=value, expression=exp.Literal.number(0))
            case ("text", "boolean"):
                return self.truth(value)
            case (kind, other) if kind in (*numbers, "text") and other in numbers:
                number = self._text_number(value) if kind == "text" else self._number(tree)
                return self._bounded(number, to)
        known = source or Message("queries.emission.unknown_kind")
        raise QueryRefused("CEL-Q127.cast", source=known, target=wanted)

    def _text_number(self, value: exp.Expr) -> exp.Expr:
        is_number = exp.RegexpLike(this=value, expression=exp.Literal.string(NUMBER))
        return exp.Case().when(is_number, self.target.cast(value.copy(), "real"))

    def _bounded(self, value: exp.Expr, to: exp.DataType) -> exp.Expr:
        """A number in the wanted type, NULL where it does not fit."""
        bits = {exp.DType.TINYINT: 8, exp.DType.SMALLINT: 16, exp.DType.INT: 32}
        if to.this in exp.DataType.INTEGER_TYPES:
            limit, scale = 2 ** (bits.get(to.this, 64) - 1), 0
        elif to.this == exp.DType.DECIMAL and to.expressions:
            digits, *rest = (int(each.name) for each in to.expressions)
            scale = rest[0] if rest else 0
            limit = 10 ** (digits - scale)
        else:
            return value  # a double: decimal numbers hold all of them
        rounded = exp.Round(this=value, decimals=exp.Literal.number(scale))
        fits = exp.LT(this=exp.Abs(this=rounded), expression=self._real(str(limit)))
        return exp.Case().when(fits, exp.Cast(this=rounded.copy(), to=to.copy()))


_COMPARED = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ, exp.Between, exp.In)


def _is_with_written(tree: exp.Expr) -> bool:
    """Whether a column is compared with written values only.

    Not two columns: a decimal one may hold what is beyond doubles, and fail beside one of these.
    """
    if isinstance(tree, exp.Between):
        others = [tree.args["low"], tree.args["high"]]
    else:
        others = tree.expressions if isinstance(tree, exp.In) else [tree.expression]
    written = [each.this if isinstance(each, exp.Neg) else each for each in others]
    return isinstance(tree.this, exp.Column) and all(
        isinstance(each, exp.Literal) for each in written
    )


def _is_real(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Cast) and tree.is_type("decimal")
