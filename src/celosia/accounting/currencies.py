"""The currencies of a budget: epsilon and delta, a rho, or a Renyi curve.

A budget in rho or in Renyi divergences has a delta too. Half of it is for releases that have a
delta of their own, the other half is the slack: the delta at which rho or the curve is told as an
epsilon. Whatever is asked, all answers together are so (epsilon, delta)-differentially private,
with the epsilon and the delta that the budget is told as.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import ceil

from celosia.accounting.amounts import Spending, delta_amount, epsilon_amount
from celosia.accounting.filters import (
    Allowance,
    ConcentratedFilter,
    Filter,
    Price,
    RenyiCurveFilter,
)
from celosia.core.errors import InputError
from celosia.core.numbers import exact

SLACK = Fraction(1, 2)
"""The share of delta at which a rho or a curve is told as an epsilon."""
MOST_ORDERS = 32
LARGEST_ORDER = 10**6
PLACES = 10**6
"""Steps of an epsilon that is told: the same on every machine, whose last bits may differ."""
RULES = {"rho": "concentrated", "renyi": "renyi"}
"""The rule by which the charges of a currency add up."""

Curve = Iterable[tuple[object, object]]


def spending_of(*, delta: object, rho: object = None, curve: Curve = ()) -> Spending:
    """An amount in rho or in Renyi divergences, with the epsilon that it is told as.

    Args:
        delta: of which half is for the conversion, above 0.
        rho: the amount, or
        curve: pairs of an order above 1 and its most Renyi divergence.

    Raises:
        InputError: CEL-B060 not exactly one of both; CEL-B061 orders that are no curve; CEL-I060 an
            amount is out of range.

    >>> spending_of(rho=0.5, delta=1e-6).epsilon < 6
    True
    """
    orders = tuple(curve)
    if (rho is None) == (not orders):
        raise InputError("CEL-B060.rho_or_curve")
    failure = delta_amount(delta)
    made = Spending(epsilon=Fraction(0), delta=failure)
    if rho is not None:
        made = replace(made, rho=epsilon_amount(rho, name="rho"))
    else:
        made = replace(made, curve=_checked_curve(orders))
    rule = filter_of(made)
    whole = rule.converted(Price(dict(rule.limits)))
    assert whole is not None, "a slack above 0 gives an epsilon"
    return replace(made, epsilon=Fraction(ceil(Fraction(whole[0]) * PLACES), PLACES))


def _checked_curve(
    curve: tuple[tuple[object, object], ...],
) -> tuple[tuple[Fraction, Fraction], ...]:
    orders = [exact(order) for order, _ in curve]
    known = [order for order in orders if order is not None and 1 < order <= LARGEST_ORDER]
    if len(set(known)) < len(orders) or len({f"{float(each):g}" for each in known}) < len(known):
        raise InputError("CEL-B061.curve", most=LARGEST_ORDER)
    if len(orders) > MOST_ORDERS:
        raise InputError("CEL-B061.curve", most=LARGEST_ORDER)
    amounts = [epsilon_amount(bound, name="renyi") for _, bound in curve]
    return tuple(sorted(zip(known, amounts, strict=True)))


def filter_of(limit: Spending, *, rule: str = "basic") -> Filter:
    """The filter that keeps a limit in its currency.

    Args:
        limit: what may be spent.
        rule: how epsilons add up, where the limit is one; sums where delta is 0, for then no other
            rule does.
    """
    if limit.rho is not None:
        slack = limit.delta * SLACK
        return ConcentratedFilter(limit.rho, limit.delta - slack, slack)
    if limit.curve:
        slack = limit.delta * SLACK
        return RenyiCurveFilter(limit.curve, limit.delta - slack, slack)
    name = rule if limit.delta else "basic"
    return Allowance(epsilon=limit.epsilon, delta=limit.delta, filter=name).rule


def is_within(one: Spending, other: Spending) -> bool:
    """Whether one limit allows no more than another of the same currency."""
    if one.currency != other.currency or one.delta > other.delta:
        return False
    if one.rho is not None and other.rho is not None:
        return one.rho <= other.rho
    if one.curve:
        bounds = dict(one.curve)
        # An order less would promise less: there is one limit fewer.
        return all(order in bounds and bounds[order] <= most for order, most in other.curve)
    return one.epsilon <= other.epsilon
