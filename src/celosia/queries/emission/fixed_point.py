"""Numbers as whole steps of a grid, inside the engine: sums of whole numbers know no order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.emission.target import Target, whole

FARTHEST = 2**62
"""Steps that a value may lie from zero: 2^64 such values still add up within 128 bits."""


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
            raise InputError(
                "CEL-Q130",
                f"from {self.lower} to {self.upper} are no steps of {self.step}, or too many.",
                why="Values are added up as whole steps between the bounds, within 128 bits.",
                fix="Declare lower < upper and a grid such as 0.01, not finer than 2^-62 of them.",
            )

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

    def tree(self, argument: exp.Expr, *, is_whole: bool, target: Target) -> exp.Expr:
        """The steps of an argument, a 64-bit number from `low` to `high`, or NULL.

        Args:
            argument: what is rounded.
            is_whole: whether it has a type of whole numbers, which doubles could not hold.
            target: the engine.
        """
        if is_whole and self.step.numerator == 1:
            return self._of_whole(argument, target)
        value = target.cast(argument.copy(), "real")
        # NULL first: LEAST and GREATEST pass over it, and would take the bound instead.
        is_missing = exp.Is(this=value.copy(), expression=exp.Null())
        not_a_number = target.cast(exp.Literal.string("NaN"), "real")
        is_not_a_number = exp.EQ(this=value.copy(), expression=not_a_number)
        steps: exp.Expr = exp.Mul(this=value.copy(), expression=self._real(self.step.denominator))
        if self.step.numerator != 1:
            divisor = self._real(self.step.numerator)
            # `typed` and `safe` keep SQLGlot from adding casts of its own.
            steps = exp.Div(this=steps, expression=divisor, typed=True, safe=True)
        # The cases come first and are lazy, so nothing that is rounded is out of reach; the bounds
        # again, because a double just inside may be rounded to just outside.
        rounded = target.cast(exp.Round(this=steps), "whole")
        inside = exp.func("GREATEST", exp.func("LEAST", rounded, whole(self.high)), whole(self.low))
        return (
            exp.Case()
            .when(exp.or_(is_missing, is_not_a_number), exp.null())
            .when(self._beyond(exp.LTE, value, self.low, target), self._whole(self.low, target))
            .when(self._beyond(exp.GTE, value, self.high, target), self._whole(self.high, target))
            .else_(inside)
        )

    def _of_whole(self, argument: exp.Expr, target: Target) -> exp.Expr:
        factor = self.step.denominator
        steps = exp.Mul(this=target.cast(argument.copy(), "whole"), expression=whole(factor))
        lowest, highest = (
            whole(floor(self.low / Fraction(factor))),
            whole(ceil(self.high / Fraction(factor))),
        )
        return (
            exp.Case()
            .when(exp.LTE(this=argument.copy(), expression=lowest), self._whole(self.low, target))
            .when(exp.GTE(this=argument.copy(), expression=highest), self._whole(self.high, target))
            .else_(steps)
        )

    def _beyond(
        self, test: type[exp.Binary], value: exp.Expr, steps: int, target: Target
    ) -> exp.Expr:
        bound = exp.Literal.string(repr(float(steps * self.step)))
        return test(this=value.copy(), expression=target.cast(bound, "real"))

    @staticmethod
    def _whole(steps: int, target: Target) -> exp.Expr:
        return target.cast(whole(steps), "whole")

    @staticmethod
    def _real(number: int) -> exp.Expr:
        return exp.Literal.number(str(number))
