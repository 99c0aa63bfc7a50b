"""The least epsilon that promises a wished accuracy, from public facts only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor, log10
from typing import Protocol

from celosia.core.errors import QueryRefused
from celosia.core.methods import Parameter, bad_parameter
from celosia.mechanisms.parameters import EPSILON

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


def least_epsilon(
    make_plan: Callable[[float], PlannedAnswer],
    *,
    error: float,
    least: Fraction,
    most: Fraction,
) -> float:
    """The least epsilon, to three digits, whose plan has no typical error above the wished one.

    Plans are made of the policy and the question, so this costs nothing and reveals nothing. The
    error of a plan never grows with epsilon, so halving the range finds the least one.

    Args:
        make_plan: the plan of the question at an epsilon.
        error: the typical error to accept, in the unit of the answer.
        least: the least epsilon of a question.
        most: the most that may be spent.

    Raises:
        InputError: CEL-I060 the error is not above 0.
        QueryRefused: CEL-Q332 no epsilon up to `most` is enough, or the error is not public; and
            whatever the plan is refused for.
    """
    if not error > 0:
        raise bad_parameter("question", ERROR, error)
    most = min(most, Fraction(EPSILON.most or most))
    reached = _worst_error(make_plan(float(most)))
    if reached is None:
        raise QueryRefused("CEL-Q332.not_public")
    if reached > error:
        raise QueryRefused("CEL-Q332.out_of_reach", error=error, reached=reached, most=float(most))
    low, high = float(least), float(most)
    if _is_enough(make_plan(low), error):
        return low
    while (found := _rounded_up((low * high) ** 0.5)) < high:
        if _is_enough(make_plan(found), error):
            high = found
        elif found == low:
            break
        else:
            low = found
    return high


def _is_enough(plan: PlannedAnswer, error: float) -> bool:
    worst = _worst_error(plan)
    return worst is not None and worst <= error


def _worst_error(plan: PlannedAnswer) -> float | None:
    errors = [part.error for part in plan.parts]
    public = [each for each in errors if each is not None]
    return max(public) if public and len(public) == len(errors) else None


def _rounded_up(epsilon: float) -> float:
    """An epsilon with three significant digits, not below the one that is given."""
    step = Fraction(10) ** (floor(log10(epsilon)) - DIGITS + 1)
    return float(-(-Fraction(epsilon) // step) * step)
