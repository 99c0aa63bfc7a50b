"""Row-wise expressions for PostgreSQL, which lacks TRY and TRY_CAST, total all the same.

Questions come with `TRY(...)` around arithmetic and `TRY_CAST` for casts. Here numbers are decimal
ones of any length, which neither overflow nor fail beside doubles. What is beyond doubles, moments
outside the years 1 to 9999, and texts that are not numbers become NULL before they can fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.queries.algebra import Relation
from celosia.queries.emission.expression_types import (
    NUMBER,
    NUMERIC,
    ExpressionWriter,
    infer_type,
)
from celosia.queries.emission.fixed_point import DOUBLE, FixedPoint
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
    return _condition(tree, _Writer(relation, target))


def _condition(tree: exp.Expr, writer: _Writer) -> exp.Expr:
    """A condition, or any other expression, whose comparisons are decided in doubles if they can.

    Only where it is not inside of anything else, so that nothing is written too often.
    """
    match tree:
        case exp.And() | exp.Or():
            parts = [_condition(each, writer) for each in (tree.left, tree.right)]
            return type(tree)(this=parts[0], expression=parts[1])
        case exp.Not() | exp.Paren():
            return type(tree)(this=_condition(tree.this, writer))
    if isinstance(tree, _ORDERED):
        tree = _solved(tree, writer)
    exact = writer.write(tree)
    if not isinstance(tree, _ORDERED) or _is_with_written(tree) or _may_join(tree):
        return exact
    sides = _Sides.of(tree, writer)
    return exact if sides is None else sides.decided(tree, exact)


MOST_DIGITS = 6
"""Decimal digits that a number of single precision keeps."""


def _solved(tree: exp.Expr, writer: _Writer) -> exp.Expr:
    """`x * 2 > 100` as `x > 50`: a column beside a written number, where that decides the same.

    A column is taken as the decimal number that it is written as, the shortest that tells it from
    its neighbours. That rises with the column, so to compare it with a bound is to compare the
    column with the bound, if the bound is in the column's type and written as it is. A multiple of
    1/8 of at most six digits is, in single and double precision alike. NaN and infinities are above
    or below all bounds before and after.
    """
    left, bound = tree.this, _number_of(tree.expression)
    while bound is not None and not isinstance(left, exp.Column):
        if isinstance(left, exp.Paren | exp.Try):
            left = left.this
            continue
        by = _number_of(left.right) if isinstance(left, exp.Binary) else None
        match left:
            case exp.Add() if by is not None:
                bound -= by
            case exp.Sub() if by is not None:
                bound += by
            case exp.Mul() if by is not None and by > 0:
                bound /= by
            case _:
                return tree
        left = left.left
    if bound is None or writer.kind(left) != "number" or left is tree.this:
        return tree
    digits = f"{float(bound):f}".strip("-0").replace(".", "")
    if 8 % bound.denominator or abs(bound) >= 10**MOST_DIGITS or len(digits) > MOST_DIGITS:
        return tree
    written = exp.Literal.number(str(float(abs(bound))))
    return type(tree)(this=left.copy(), expression=exp.Neg(this=written) if bound < 0 else written)


def _number_of(tree: exp.Expr) -> Fraction | None:
    """A written number."""
    if isinstance(tree, exp.Neg):
        number = _number_of(tree.this)
        return None if number is None else -number
    if not isinstance(tree, exp.Literal) or tree.is_string:
        return None
    return Fraction(tree.name)


MOST_PRODUCTS = 4
"""The most multiplications and divisions of an expression that is computed in doubles."""
WITHIN = 10**15
"""The farthest from zero that columns and written numbers are computed with in doubles."""
APART = "1e-15"
"""The nearest to zero that they are, if they are not zero: all are doubles, and their products."""


MARGIN = "1e-5"
"""The part of its operands by which a comparison in doubles must be clear."""


def steps_in_doubles(
    argument: exp.Expr,
    relation: Relation,
    fixed: FixedPoint,
    exact: exp.Expr,
    *,
    target: Target,
    as_real: bool = False,
) -> exp.Expr:
    """The steps of sums, differences and products of columns and written numbers, in doubles.

    Quotients too, where the divisor is a written number.

    Decimal numbers of any length are 20 times slower, so they are left to rows with odd values.

    Let all factors be 0 or from 10^-15 to 10^15 away from it. Each is a whole multiple of 2^-102
    then, and so is what sums and differences of them are rounded to. A product of five, if it is
    not 0, is a multiple of 2^-510; and none comes near 2^1023. Doubles reach from the one to the
    other. To divide by such a number takes no more from a size than a product does, and what it is
    rounded to is a multiple of 2^-102 times that.

    Args:
        argument: of the question.
        relation: whose columns it speaks of.
        fixed: the grid.
        exact: the steps in decimal numbers.
        target: the engine.
        as_real: whether the steps may come as doubles.
    """
    tree = argument.copy()
    for each in tree.find_all(exp.Identifier):
        each.set("quoted", True)
    while isinstance(tree, exp.Paren | exp.Try):
        tree = tree.this
    if isinstance(tree, exp.Column | exp.Literal):
        return exact
    moved = _moved_column(tree)
    if moved is not None and infer_type(moved[0], relation, target=target) == "number":
        return fixed.tree_of_moved(*moved, target)
    columns: dict[str, exp.Column] = {}
    value = _double(tree, relation, target, columns)
    condition = _are_moderate([tree], columns, relation, target)
    if value is None or condition is None:
        return exact
    steps = fixed.tree_of_doubles(value, target, as_real=as_real)
    return exp.Case().when(condition, steps).else_(exact)


def _moved_column(tree: exp.Expr) -> tuple[exp.Column, Fraction] | None:
    """A column and a written number that is taken from it, as for the mean of a range."""
    if not isinstance(tree, exp.Sub) or not isinstance(tree.right, exp.Literal):
        return None
    left = tree.left.unnest()
    if not isinstance(left, exp.Column) or tree.right.is_string:
        return None
    number = Fraction(tree.right.name)
    return (left, number) if abs(number) <= WITHIN else None


def _are_moderate(
    trees: list[exp.Expr], columns: dict[str, exp.Column], relation: Relation, target: Target
) -> exp.Expr | None:
    """The condition that all columns of some expressions allow doubles; None if nothing does."""
    products = max(sum(1 for _ in tree.find_all(exp.Mul, exp.Div)) for tree in trees)
    if not columns or products > MOST_PRODUCTS:
        return None
    tests = []
    for column in columns.values():
        is_whole = infer_type(column, relation, target=target) == "integer"
        tests.append(_is_moderate(column, apart=not is_whole))
    return exp.and_(*tests)


def _may_join(tree: exp.Expr) -> bool:
    """Whether PostgreSQL may join two tables by an equality, for which it must see one."""
    left, right = (
        {each.table for each in side.find_all(exp.Column)} for side in (tree.this, tree.expression)
    )
    return isinstance(tree, exp.EQ) and bool(left and right) and left != right


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both sides of a comparison in doubles, and when they may be computed."""

    condition: exp.Expr
    left: exp.Expr
    right: exp.Expr

    @classmethod
    def of(cls, tree: exp.Expr, writer: _Writer) -> _Sides | None:
        columns: dict[str, exp.Column] = {}
        trees = [tree.this, tree.expression]
        left, right = (_double(each, writer.relation, writer.target, columns) for each in trees)
        condition = _are_moderate(trees, columns, writer.relation, writer.target)
        if left is None or right is None or condition is None:
            return None
        return cls(condition, left, right)

    def decided(self, tree: exp.Expr, exact: exp.Expr) -> exp.Expr:
        """The comparison in doubles where they are far enough apart, else the exact one.

        A column of single precision differs from its written value by a part of 2^-24, all else by
        less. With at most four products and some sums, both sides are off by far less than `MARGIN`
        times what they add up to without signs. So the exact comparison has the same result.
        """
        apart = exp.GT(
            this=exp.Abs(this=exp.Sub(this=_closed(self.left), expression=_closed(self.right))),
            expression=exp.Mul(
                this=exp.Literal.number(MARGIN),
                expression=exp.Paren(
                    this=exp.Add(this=_unsigned(self.left), expression=_unsigned(self.right))
                ),
            ),
        )
        # Cases are lazy, and in this order: what follows a condition is not computed before it.
        is_clear = exp.Case().when(self.condition, apart).else_(exp.false())
        fast = type(tree)(this=self.left.copy(), expression=self.right.copy())
        return exp.Case().when(is_clear, fast).else_(exact)


def _closed(tree: exp.Expr) -> exp.Paren:
    return exp.Paren(this=tree.copy())


def _unsigned(tree: exp.Expr) -> exp.Expr:  # noqa: PLR0911 - one for each kind of node
    """An expression with all its parts taken as positive, and none taken away."""
    match tree:
        case exp.Cast(this=exp.Literal()):
            return tree.copy()
        case exp.Paren():
            return exp.Paren(this=_unsigned(tree.this))
        case exp.Neg():
            return _unsigned(tree.this)
        case exp.Add() | exp.Sub():
            return exp.Add(this=_unsigned(tree.left), expression=_unsigned(tree.right))
        case exp.Mul():
            return exp.Mul(this=_unsigned(tree.left), expression=_unsigned(tree.right))
        case exp.Div():
            parts = _unsigned(tree.left), _unsigned(tree.right)
            return exp.Div(this=parts[0], expression=parts[1], typed=True, safe=True)
    return exp.Abs(this=tree.copy())


def _double(  # noqa: PLR0911 - one for each kind of node
    tree: exp.Expr, relation: Relation, target: Target, columns: dict[str, exp.Column]
) -> exp.Expr | None:
    match tree:
        case exp.Column() if infer_type(tree, relation, target=target) in ("integer", "number"):
            columns[tree.sql()] = tree
            return exp.Cast(this=tree.copy(), to=exp.DataType.build(DOUBLE, dialect="postgres"))
        case exp.Literal(is_string=False) if _is_moderate_number(tree.name):
            return exp.Cast(this=tree.copy(), to=exp.DataType.build(DOUBLE, dialect="postgres"))
        case exp.Try():
            return _double(tree.this, relation, target, columns)
        case exp.Paren() | exp.Neg():
            inner = _double(tree.this, relation, target, columns)
            return None if inner is None else type(tree)(this=inner)
        case exp.Div() if _is_divisor(tree.right):
            left, right = (
                _double(each, relation, target, columns) for each in (tree.left, tree.right)
            )
            if left is None or right is None:
                return None
            return exp.Div(this=left, expression=right, typed=True, safe=True)
        case exp.Add() | exp.Sub() | exp.Mul():
            left, right = (
                _double(each, relation, target, columns) for each in (tree.left, tree.right)
            )
            if left is None or right is None:
                return None
            return type(tree)(this=left, expression=right)
    return None


def _is_divisor(tree: exp.Expr) -> bool:
    """Whether a written number may divide."""
    return isinstance(tree, exp.Literal) and not tree.is_string and float(tree.name) != 0


def _is_moderate(column: exp.Column, *, apart: bool) -> exp.Expr:
    limit = exp.Literal.number(str(WITHIN))
    if not apart:
        return exp.Between(this=column.copy(), low=exp.Neg(this=limit), high=limit.copy())
    least = exp.Literal.number(APART)
    return exp.Paren(
        this=exp.or_(
            exp.Between(this=column.copy(), low=least, high=limit),
            exp.EQ(this=column.copy(), expression=exp.Literal.number("0")),
            exp.Between(
                this=column.copy(), low=exp.Neg(this=limit.copy()), high=exp.Neg(this=least.copy())
            ),
        )
    )


def _is_moderate_number(text: str) -> bool:
    size = abs(float(text))
    return size == 0 or float(APART) <= size <= WITHIN


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


_ORDERED = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ)
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
