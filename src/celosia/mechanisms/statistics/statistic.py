"""The base of statistics of one column: a price, an answer for no rows, exact noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from celosia.accounting.noise_losses import LaplaceLoss
from celosia.core.errors import InputError
from celosia.core.neighbours import Relation
from celosia.core.randomness import Source
from celosia.mechanisms.grid import Grid
from celosia.mechanisms.mechanism import Mechanism, Output
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.parameters import EPSILON, LOWER, UPPER, check_epsilon, field_of
from celosia.mechanisms.statistics.bounded_grid import Span
from celosia.mechanisms.statistics.columns import Rows, numbers


@dataclass(frozen=True, kw_only=True)
class Statistic(Mechanism[Rows, Output]):
    """A number, or several, about the rows of one column."""

    epsilon: float = field_of(EPSILON)
    may_be_empty: bool = False
    """Whether no rows are an input like others. Where they are not, they are refused, and the
    refusal itself tells that there are none; the promise then covers tables with rows only."""

    @property
    @abstractmethod
    def noises(self) -> tuple[DiscreteLaplace, ...]:
        """The laws of the noise of what is released, in the order of their draws."""

    @property
    def noise(self) -> DiscreteLaplace:
        """The law of the noise of the first number that is released."""
        return self.noises[0]

    @cached_property
    def price(self) -> Fraction:
        """Epsilon as the exact number that it is written as."""
        return check_epsilon(self.epsilon)

    @property
    def counts_are_public(self) -> bool:
        """Whether neighbours have the same number of rows."""
        return self.neighbours.relation is Relation.CHANGE_ONE

    @property
    def void(self) -> int:
        """The largest count that is taken for no rows: a noisy 1 may well be that."""
        return 0 if self.counts_are_public else 1

    def rows(self, x: Rows) -> NDArray[Any]:
        """The rows as numbers.

        Raises:
            InputError: CEL-M080 not one column; CEL-M081 rows that are not finite numbers;
                CEL-M082 no rows, unless they may be.
        """
        values = numbers(x)
        self.check_filled(values.size)
        return values

    def check_filled(self, size: int) -> None:
        """Refuse no rows, unless they may be."""
        if size == 0 and not self.may_be_empty:
            raise InputError("CEL-M082")


@dataclass(frozen=True, kw_only=True)
class BoundedStatistic(Statistic[Output]):
    """A statistic of values that are clipped to a declared range and put on a grid one by one."""

    lower: float = field_of(LOWER)
    upper: float = field_of(UPPER)
    grid: Grid | None = None
    """What each row is rounded to before anything is added up; about 2**20 steps if not given."""

    def check(self) -> None:
        """Refuse a range that is none, or that its grid does not reach."""
        Span.between(self.lower, self.upper, self.grid)

    @cached_property
    def span(self) -> Span:
        """The range in whole steps of the grid."""
        return Span.between(self.lower, self.upper, self.grid)


@dataclass(frozen=True, kw_only=True)
class OneDrawStatistic(BoundedStatistic[float]):
    """A statistic of one draw of noise, which takes all of epsilon."""

    @property
    @abstractmethod
    def shift(self) -> int:
        """The sensitivity, in the steps that the noise is drawn in."""

    @cached_property
    def noises(self) -> tuple[DiscreteLaplace]:
        """The law of the noise, in the same steps."""
        return (laplace_hiding(self.shift, self.price),)

    def privacy_loss(self) -> LaplaceLoss:
        return LaplaceLoss(self.noise.scale, self.shift)


def laplace_hiding(shift: int, epsilon: Fraction) -> DiscreteLaplace:
    """The noise that hides `shift` steps at `epsilon`.

    >>> laplace_hiding(1, Fraction(3, 10)).scale
    Fraction(10, 3)

    Raises:
        InputError: CEL-M020 the scale is out of reach.
    """
    return DiscreteLaplace(shift / epsilon)


def draw_noise(laws: Sequence[DiscreteLaplace], rng: Source) -> list[int]:
    """One draw of each law, as Python integers: what they are added to cannot overflow."""
    return [int(law.draw(1, rng)[0]) for law in laws]
