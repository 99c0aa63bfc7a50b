"""Intervals of numbers that are computed from released ones: interval arithmetic.

Where each exact number lies between its bounds, so does what is computed from them lie between the
bounds here. All numbers that an expression is made of keep to theirs together: whoever asks takes
each at a confidence of 1 - (1 - c) / m for m of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from math import ceil, floor, inf, isnan
from typing import Any

from sqlglot import exp

Bounds = tuple[float, float]
Known = Mapping[str, Bounds | None]
"""Bounds of numbers by their names; None where none are public."""


def propagate(tree: exp.Expr | None, known: Known) -> Bounds | None:  # noqa: PLR0911 - one a kind
    """Bounds of an expression of released numbers, or None.

    >>> import sqlglot
    >>> known = {"a": (90.0, 110.0), "n": (9.0, 11.0)}
    >>> propagate(sqlglot.parse_one("ROUND(100 * a / (n + 1), 1)"), known)
    (750.0, 1100.0)
    """
    match tree:
        case exp.Column():
            return known.get(tree.name)
        case exp.Literal() if not tree.is_string:
            return float(tree.name), float(tree.name)
        case exp.Paren() | exp.Try() | exp.Nullif():
            return propagate(tree.this, known)
        case exp.Case():
            results = [each.args["true"] for each in tree.args["ifs"]]
            return _hull([*results, tree.args.get("default")], known)
        case exp.Coalesce():
            return _hull([tree.this, *tree.expressions], known)
        case exp.Greatest() | exp.Least():
            return _extreme(tree, known)
        case exp.Neg():
            inner = propagate(tree.this, known)
            return None if inner is None else (-inner[1], -inner[0])
        case exp.Abs():
            inner = propagate(tree.this, known)
            return None if inner is None else _absolute(inner)
    if isinstance(tree, exp.Round | exp.Floor | exp.Ceil | exp.Cast):
        return _rounded(tree, propagate(tree.this, known))
    if isinstance(tree, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return _combined(tree, propagate(tree.left, known), propagate(tree.right, known))
    return None


def _hull(trees: Iterable[exp.Expr | None], known: Known) -> Bounds | None:
    """Bounds of a value that is one of several; NULL is none."""
    found = [
        propagate(each, known)
        for each in trees
        if each is not None and not isinstance(each, exp.Null)
    ]
    ends = [each for each in found if each is not None]
    if not ends or len(ends) < len(found):
        return None
    return min(low for low, _ in ends), max(high for _, high in ends)


def _extreme(tree: exp.Expr, known: Known) -> Bounds | None:
    found = [propagate(each, known) for each in (tree.this, *tree.expressions)]
    ends = [each for each in found if each is not None]
    if len(ends) < len(found):
        return None
    # NULL is passed over, so that any of the values may stand alone.
    return min(low for low, _ in ends), max(high for _, high in ends)


def _absolute(inner: Bounds) -> Bounds:
    low, high = inner
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return nearest, max(abs(low), abs(high))


def _rounded(tree: exp.Expr, inner: Bounds | None) -> Bounds | None:
    """Rounding never turns the order of two numbers around."""
    if inner is None:
        return None
    low, high = (_round(tree, end) for end in inner)
    return low, high


def _round(tree: exp.Expr, end: float) -> float:
    if end in (-inf, inf):
        return end
    match tree:
        case exp.Floor():
            return float(floor(end))
        case exp.Ceil():
            return float(ceil(end))
        case exp.Cast():
            is_whole = tree.to.this in exp.DataType.INTEGER_TYPES
            return float(_half_up(end, 0)) if is_whole else end
    digits: Any = tree.args.get("decimals")
    if digits is None:
        return float(_half_up(end, 0))
    places = -int(digits.this.name) if isinstance(digits, exp.Neg) else int(digits.name)
    return float(_half_up(end, places))


def _half_up(end: float, places: int) -> Decimal:
    return Decimal(repr(end)).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def _combined(tree: exp.Expr, one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if one is None or other is None:
        return None
    match tree:
        case exp.Add():
            return _span([one[0] + other[0], one[1] + other[1]])
        case exp.Sub():
            return _span([one[0] - other[1], one[1] - other[0]])
        case exp.Mul():
            return _span(a * b for a in one for b in other)
    if other[0] <= 0 <= other[1]:
        return None
    return _span(a / b for a in one for b in other)


def _span(ends: Iterable[float]) -> Bounds | None:
    found = list(ends)
    return None if any(map(isnan, found)) else (min(found), max(found))
