"""Numbers as whole steps of a grid, inside the engine: sums of whole numbers know no order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.emission.syntax import integer_literal
from celosia.queries.emission.target import Target

FARTHEST = 2**62
"""Steps that a value may lie from zero: 2^64 such values still add up within 128 bits."""
NEAR = 2**48
"""Steps from zero up to which doubles are rounded without a doubt."""
DOUBLE = "DOUBLE PRECISION"
HALF = "0.49999999999999994"
"""The double before a half: added to a number, it rounds halves up, and nothing that is less."""
TINY = "1e-300"
"""Nearer to zero a decimal may be no double, and a quotient may underflow: PostgreSQL fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPoint:
    """How a number becomes a whole number of steps.

    What is below `lower` or above `upper`, infinities among them, becomes the bound; NULL and NaN
    are left out, as if they were 0. What lies between is rounded to the nearest step.

    >>> fixed = FixedPoint(lower=Fraction(0), upper=Fraction(200), step=Fraction(1, 100))
    >>> fixed.low, fixed.high, fixed.reach
    (0, 20000, 20000)
    """

    lower: Fraction
    upper: Fraction
    step: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        sizes = (self.step.numerator, self.step.denominator)
        if self.step <= 0 or max(sizes) > FARTHEST or self.low > self.high or self.reach > FARTHEST:
            raise InputError("CEL-Q130.no_grid", lower=self.lower, upper=self.upper, step=self.step)

    @property
    def low(self) -> int:
        """The lowest number of steps."""
        return ceil(self.lower / self.step)

    @property
    def high(self) -> int:
        """The highest number of steps."""
        return floor(self.upper / self.step)

    @property
    def reach(self) -> int:
        """The most that one value adds to a sum, up or down."""
        return max(abs(self.low), abs(self.high))

    @property
    def is_exact_in_doubles(self) -> bool:
        """Whether sums in doubles are exact up to 2^53, see `FlatQuery.aggregate_expression`."""
        return self.low >= 0 and self.high <= NEAR

    def tree(
        self, argument: exp.Expr, *, is_whole: bool, target: Target, as_real: bool = False
    ) -> exp.Expr:
        """The steps of an argument, a whole number from `low` to `high`, or NULL.

        Args:
            argument: what is rounded.
            is_whole: whether it has a type of whole numbers, which doubles could not hold.
            target: the engine.
            as_real: whether the whole number may come as a double, where that saves work; else it
                has 64 bits.
        """
        if is_whole and self.step.numerator == 1:
            return self._of_whole(argument, target)
        if target.dialect == "postgres" and isinstance(argument, exp.Column):
            return self._of_column(argument, target, as_real=as_real)
        as_real = as_real and target.dialect != "postgres"  # whose other numbers are decimals
        value = target.cast(argument.copy(), "real")
        steps: exp.Expr = value.copy()
        if self.step.denominator != 1:
            steps = exp.Mul(this=steps, expression=self._real(self.step.denominator))
        if self.step.numerator != 1:
            divisor = self._real(self.step.numerator)
            # `typed` and `safe` keep SQLGlot from adding casts of its own.
            steps = exp.Div(this=steps, expression=divisor, typed=True, safe=True)
        # Cases are lazy, so nothing that is rounded is out of reach. What lies between the bounds
        # comes first, because nearly all values do: for the engine one test of a whole vector.
        inside = self._rounded(steps, target, as_real=as_real)
        if self.reach > NEAR:
            # A double just inside may be rounded to just outside. Nearer to zero it cannot: the
            # bound, the factor, the product and the quotient are each off by a part of at most
            # 2^-53, together by less than half a step of 2^48.
            inside = self._clamped(inside)
        lowest, highest = self._bound(self.low, target), self._bound(self.high, target)
        not_a_number = target.cast(exp.Literal.string("NaN"), "real")
        # To both engines NaN is above all numbers. It meets no case, nor does NULL.
        is_above = exp.and_(
            exp.GT(this=value.copy(), expression=highest.copy()),
            exp.NEQ(this=value.copy(), expression=not_a_number),
        )
        return (
            exp.Case()
            .when(exp.Between(this=value.copy(), low=lowest, high=highest), inside)
            .when(
                exp.LT(this=value, expression=lowest.copy()),
                self._end(self.low, target, as_real=as_real),
            )
            .when(is_above, self._end(self.high, target, as_real=as_real))
        )

    def _rounded(self, steps: exp.Expr, target: Target, *, as_real: bool) -> exp.Expr:
        """The nearest whole number to a double between the bounds, halves away from zero.

        What is not negative is rounded by half a step and TRUNC, as `_nearest` proves for doubles
        near zero. ROUND takes DuckDB a third longer, and Spark goes by way of decimal numbers; but
        Spark's cast to a whole number cuts off as TRUNC does.
        """
        if self.low < 0 or self.reach > NEAR or target.dialect == "postgres":
            inside: exp.Expr = exp.Round(this=steps)
            return inside if as_real else target.cast(inside, "whole")
        moved: exp.Expr = exp.Add(
            this=steps, expression=target.cast(exp.Literal.string(HALF), "real")
        )
        if target.dialect == "spark":
            inside = target.cast(moved, "whole")
            return target.cast(inside, "real") if as_real else inside
        inside = exp.Anonymous(this="TRUNC", expressions=[moved])
        return inside if as_real else target.cast(inside, "whole")

    def _of_column(
        self,
        argument: exp.Expr,
        target: Target,
        shift: Fraction = Fraction(0),
        *,
        as_real: bool = False,
    ) -> exp.Expr:
        """In PostgreSQL, of a column of doubles or decimals: doubles once they are between bounds.

        A column is compared with written numbers in its own type, which cannot fail; what is
        between the bounds is a double, and so is the number of its steps. Halves go away from zero,
        as in other engines.
        """
        ends = self.low * self.step + shift, self.high * self.step + shift
        if ends[0] >= 0 and 0 <= ends[1] <= NEAR * self.step and not shift % self.step:
            return self._of_positive_column(argument, target, shift, as_real=as_real)
        lowest, highest = (_written(float(each)) for each in ends)
        real: exp.Expr = _double(argument.copy())
        if shift:
            real = exp.Paren(this=exp.Sub(this=real, expression=_double(_written(float(shift)))))
        is_negative = exp.LT(this=argument.copy(), expression=_written(float(shift)))
        tiny = exp.Literal.number(TINY)
        is_tiny = exp.Between(this=argument.copy(), low=exp.Neg(this=tiny), high=tiny.copy())
        of_zero = min(max(_half_away(-shift / self.step), self.low), self.high)
        inside: exp.Expr = (
            exp.Case()
            .when(is_tiny, self._end(of_zero, target, as_real=as_real))
            .else_(self._nearest(real, is_negative, target, as_real=as_real))
        )
        if self.reach + abs(shift) / self.step > NEAR:
            inside = self._clamped(inside)
        is_number = _is_number(argument, target)
        above = exp.GT(this=argument.copy(), expression=highest.copy())
        return (
            exp.Case()
            .when(exp.Between(this=argument.copy(), low=lowest, high=highest), inside)
            .when(
                exp.LT(this=argument.copy(), expression=lowest.copy()),
                self._end(self.low, target, as_real=as_real),
            )
            .when(exp.and_(above, is_number), self._end(self.high, target, as_real=as_real))
        )

    def _of_positive_column(
        self, argument: exp.Expr, target: Target, shift: Fraction, *, as_real: bool
    ) -> exp.Expr:
        """The same of a column that is not cut off below 0, less whole steps.

        What is below `TINY` is cut off with all that is below the lowest bound: this is 0, or a
        step at least. So most values take two comparisons. The whole steps of a shift are taken
        away from steps and not from doubles: what is rounded is then the value itself.
        """
        moved = shift / self.step
        whole = FixedPoint(
            lower=(self.low + moved) * self.step,
            upper=(self.high + moved) * self.step,
            step=self.step,
        )
        first, highest = (
            max(float(whole.low * self.step), float(TINY)),
            float(whole.high * self.step),
        )
        inside = exp.Between(this=argument.copy(), low=_written(first), high=_written(highest))
        steps = whole._nearest(_double(argument.copy()), exp.false(), target, as_real=as_real)
        if moved:
            steps = exp.Sub(this=steps, expression=integer_literal(int(moved)))
        below = exp.LT(this=argument.copy(), expression=_written(first))
        above = exp.GT(this=argument.copy(), expression=_written(highest))
        return (
            exp.Case()
            .when(inside, steps)
            .when(below, self._end(self.low, target, as_real=as_real))
            .when(
                exp.and_(above, _is_number(argument, target)),
                self._end(self.high, target, as_real=as_real),
            )
        )

    def tree_of_moved(self, column: exp.Expr, shift: Fraction, target: Target) -> exp.Expr:
        """In PostgreSQL, the steps of a column less a number."""
        return self._of_column(column, target, shift)

    def tree_of_doubles(
        self, value: exp.Expr, target: Target, *, as_real: bool = False
    ) -> exp.Expr:
        """In PostgreSQL, the steps of doubles that are neither NULL nor infinite nor NaN."""
        lowest, highest = (_written(float(each * self.step)) for each in (self.low, self.high))
        inside = exp.Between(this=value.copy(), low=lowest, high=highest)
        below = exp.LT(this=value.copy(), expression=lowest.copy())
        return (
            exp.Case()
            .when(inside, self._nearest_within(value, target, as_real=as_real))
            .when(below, self._end(self.low, target, as_real=as_real))
            .else_(self._end(self.high, target, as_real=as_real))
        )

    def _nearest_within(self, value: exp.Expr, target: Target, *, as_real: bool) -> exp.Expr:
        is_negative = exp.LT(this=value.copy(), expression=exp.Literal.number("0"))
        inside = self._nearest(exp.Paren(this=value), is_negative, target, as_real=as_real)
        return self._clamped(inside) if self.reach > NEAR else inside

    def _nearest(
        self, value: exp.Expr, is_negative: exp.Expr, target: Target, *, as_real: bool
    ) -> exp.Expr:
        """The step next to a double between the bounds, in PostgreSQL; halves go away from zero.

        `HALF` is exact where a half itself is not: 0.49999999999999994 + 0.5 is 1 in doubles. With
        it, numbers below a half stay below the next whole number, and halves reach it: the sum is
        rounded to the nearest double, and that is the whole number, or to the even one of two.
        """
        steps: exp.Expr = value.copy()
        if self.step.denominator != 1:
            steps = exp.Mul(this=steps, expression=self._real(self.step.denominator))
        if self.step.numerator != 1:
            steps = exp.Div(
                this=steps, expression=self._real(self.step.numerator), typed=True, safe=True
            )
        half: exp.Expr = _double(exp.Literal.number(HALF))
        if self.low < 0:
            half = exp.Case().when(is_negative, exp.Neg(this=half)).else_(half.copy())
        moved = exp.Anonymous(this="TRUNC", expressions=[exp.Add(this=steps, expression=half)])
        return moved if as_real else target.cast(moved, "whole")

    def _clamped(self, tree: exp.Expr) -> exp.Expr:
        return exp.func(
            "GREATEST",
            exp.func("LEAST", tree, integer_literal(self.high)),
            integer_literal(self.low),
        )

    def _of_whole(self, argument: exp.Expr, target: Target) -> exp.Expr:
        factor = self.step.denominator
        steps = exp.Mul(
            this=target.cast(argument.copy(), "whole"), expression=integer_literal(factor)
        )
        lowest, highest = (
            integer_literal(floor(self.low / Fraction(factor))),
            integer_literal(ceil(self.high / Fraction(factor))),
        )
        is_inside = exp.and_(
            exp.GT(this=argument.copy(), expression=lowest),
            exp.LT(this=argument.copy(), expression=highest),
        )
        return (
            exp.Case()
            .when(is_inside, steps)
            .when(
                exp.LTE(this=argument.copy(), expression=lowest.copy()), self._end(self.low, target)
            )
            .when(
                exp.GTE(this=argument.copy(), expression=highest.copy()),
                self._end(self.high, target),
            )
        )

    def _bound(self, steps: int, target: Target) -> exp.Expr:
        return target.cast(exp.Literal.string(repr(float(steps * self.step))), "real")

    @staticmethod
    def _end(steps: int, target: Target, *, as_real: bool = False) -> exp.Expr:
        number = integer_literal(steps)
        return as_double(number, target) if as_real else target.cast(number, "whole")

    @staticmethod
    def _real(number: int) -> exp.Expr:
        return exp.Literal.number(str(number))


def as_double(tree: exp.Expr, target: Target) -> exp.Cast:
    """A cast to a double: of a whole number near zero, so it cannot fail."""
    return _double(tree) if target.dialect == "postgres" else target.cast(tree, "real")


def _written(number: float) -> exp.Expr:
    literal = exp.Literal.number(repr(abs(number)))
    return exp.Neg(this=literal) if number < 0 else literal


def _double(tree: exp.Expr) -> exp.Cast:
    """A written number as a double: as a decimal one it would be cast for every row."""
    return exp.Cast(this=tree, to=exp.DataType.build(DOUBLE, dialect="postgres"))


def _is_number(argument: exp.Expr, target: Target) -> exp.NEQ:
    """Whether a column is not NaN, of whatever type it is."""
    text = target.cast(argument.copy(), "text")
    return exp.NEQ(this=text, expression=exp.Literal.string("NaN"))


def _half_away(number: Fraction) -> int:
    """The nearest whole number; of two, the one that is farther from zero."""
    size = floor(abs(number) + Fraction(1, 2))
    return size if number >= 0 else -size
