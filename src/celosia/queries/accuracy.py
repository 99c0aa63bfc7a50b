"""The least epsilon that promises a wished accuracy, from public facts only.

An error in the unit of the answer follows from plans alone. One in percent needs the size of the
answer, of which a policy tells nothing: it is taken from an answer that was released before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, log10
from typing import Protocol, TypeVar

from celosia.core.errors import QueryRefused
from celosia.core.methods import Parameter, bad_parameter
from celosia.core.numbers import real
from celosia.mechanisms.parameters import EPSILON
from celosia.queries.planning.plan import Plan
from celosia.queries.results import Outcome

AnyPlan = TypeVar("AnyPlan")
DIGITS = 3
"""Significant digits of the epsilon that is found."""
ERROR = Parameter(name="error", kind="number", above=0)


class PlannedPart(Protocol):
    """A number that a plan measures."""

    @property
    def error(self) -> float | None:
        """The typical size of its noise; None where it is not public."""


class PlannedAnswer(Protocol):
    """A plan, here or behind a service."""

    @property
    def parts(self) -> Sequence[PlannedPart]:
        """What it measures."""


@dataclass(frozen=True, slots=True)
class ErrorGoal:
    """The typical error to accept: in the unit of the answer, or as a share of the answer."""

    size: float
    is_share: bool = False

    @classmethod
    def read(cls, error: float | str) -> ErrorGoal:
        """An error as it is written.

        Raises:
            InputError: CEL-I060 it is not above 0.

        >>> ErrorGoal.read(20), ErrorGoal.read("5%")
        (ErrorGoal(size=20.0, is_share=False), ErrorGoal(size=0.05, is_share=True))
        """
        is_share = isinstance(error, str) and error.strip().endswith("%")
        number = error.strip().removesuffix("%") if isinstance(error, str) else error
        try:
            size = real(float(number))
        except ValueError:
            size = None
        if size is None or not size > 0:
            raise bad_parameter("question", ERROR, error)
        return cls(size / 100, is_share=True) if is_share else cls(size)

    def refusal(self, reached: float, most: Fraction) -> QueryRefused:
        """That no epsilon up to the most is enough."""
        if self.is_share:
            return QueryRefused(
                "CEL-Q332.share_out_of_reach", share=self.size, reached=reached, most=float(most)
            )
        return QueryRefused(
            "CEL-Q332.out_of_reach", error=self.size, reached=reached, most=float(most)
        )


def least_epsilon(
    make_plan: Callable[[float], AnyPlan],
    *,
    goal: ErrorGoal,
    least: Fraction,
    most: Fraction,
    error_of: Callable[[AnyPlan], float | None],
) -> float:
    """The least epsilon, to three digits, whose plan has no typical error above the wished one.

    Plans are made of the policy and the question, so this costs nothing and reveals nothing. The
    error of a plan never grows with epsilon, so halving the range finds the least one.

    Args:
        make_plan: the plan of the question at an epsilon.
        goal: the typical error to accept.
        least: the least epsilon of a question.
        most: the most that may be spent.
        error_of: the error of a plan in the unit of the goal; None where it is not public.

    Raises:
        QueryRefused: CEL-Q332 no epsilon up to `most` is enough, or the error is not public; and
            whatever the plan is refused for.
    """
    most = min(most, Fraction(EPSILON.most or most))
    reached = error_of(make_plan(float(most)))
    if reached is None:
        raise QueryRefused("CEL-Q332.not_public")
    if reached > goal.size:
        raise goal.refusal(reached, most)

    def is_enough(epsilon: float) -> bool:
        worst = error_of(make_plan(epsilon))
        return worst is not None and worst <= goal.size

    low, high = float(least), float(most)
    if is_enough(low):
        return low
    while (found := _rounded_up((low * high) ** 0.5)) < high:
        if is_enough(found):
            high = found
        elif found == low:
            break
        else:
            low = found
    return high


def worst_error(plan: PlannedAnswer) -> float | None:
    """The largest typical error of what a plan measures; None where one is not public."""
    errors = [part.error for part in plan.parts]
    public = [each for each in errors if each is not None]
    return max(public) if public and len(public) == len(errors) else None


def relative_error(plan: Plan, known: Outcome) -> float | None:
    """The largest typical error of a number of an answer, as a share of the number.

    Args:
        plan: how it would be answered.
        known: what was released for the same question before: it tells how large numbers are.

    Returns:
        None where an error is not public, or follows from more than a sum and a count; infinity
        where a released number may be 0, as far as its own noise tells.
    """
    if plan.branches:
        found = [relative_error(*pair) for pair in zip(plan.branches, known.branches, strict=True)]
        return None if None in found else max(each for each in found if each is not None)
    errors = {name: part.error for step in plan.steps for name, part in step.labelled}
    shares = list[float]()
    for recipe in plan.derivations:
        names = recipe.totals or (recipe.aggregate.name,)
        sizes = [known.amounts(name) for name in names]
        wrong = [errors[name] for name in names]
        if None in wrong or len(names) > 2 or (len(names) == 2 and recipe.aggregate.kind != "mean"):
            return None
        for place in known.kept_groups or range(len(sizes[0])):
            one, *count = [each[place] for each in sizes]
            off = float(wrong[0] or 0)
            if count:
                rows = count[0] - float(wrong[1] or 0)
                mean = float(recipe.centre) + one / count[0] if count[0] else 0.0
                off = (off + abs(one / count[0]) * float(wrong[1] or 0)) / rows if rows > 0 else inf
                one = mean
            shares.append(off / abs(one) if one else inf)
    return max(shares, default=None)


def _rounded_up(epsilon: float) -> float:
    """An epsilon with three significant digits, not below the one that is given."""
    step = Fraction(10) ** (floor(log10(epsilon)) - DIGITS + 1)
    return float(-(-Fraction(epsilon) // step) * step)
