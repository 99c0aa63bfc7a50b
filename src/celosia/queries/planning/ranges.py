"""Between which numbers an expression lies, as far as the policy declares it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor, log10, trunc

from sqlglot import exp

from celosia.queries.algebra import Aggregate, Column, GroupedTable, Relation
from celosia.queries.bounds.lineage import as_column, find_definitions
from celosia.queries.emission import FixedPoint, Target
from celosia.queries.emission.expression_types import infer_type

Range = tuple[Fraction, Fraction]

FINEST = 2**20
"""Steps between the bounds where no grid is declared."""
MOST_STEPS = 2**40
"""Steps of one value, at most: what one person adds must stay far within 64 bits."""
_THROUGH = (exp.Paren, exp.Try)
_INTEGERS = exp.DataType.INTEGER_TYPES | exp.DataType.REAL_TYPES


def infer_range(  # noqa: PLR0911 - one a kind
    tree: exp.Expr | None, source: Relation, target: Target
) -> Range | None:
    """Bounds of a row-wise expression from declared bounds, by interval arithmetic; or None.

    Whatever lies outside is clipped, so a wrong bound costs accuracy and never privacy.
    """
    declared = target.declared_column(tree, source)
    if declared is not None:
        if declared.lower is None or declared.upper is None:
            return None
        return declared.lower, declared.upper
    if (column := as_column(tree)) is not None:
        return _column_range(column, source, target)
    if isinstance(tree, exp.Window):
        return _window_range(tree, source, target)
    if isinstance(tree, exp.Greatest | exp.Least):
        low, high = _ends(tree, source, target)
        return None if low is None or high is None else (low, high)
    if isinstance(tree, exp.Cast) and infer_type(tree.this, source, target=target) == "boolean":
        return Fraction(0), Fraction(1)
    parts = _parts(tree)
    if parts is not None:
        return _hull(infer_range(each, source, target) for each in parts)
    if isinstance(tree, exp.Literal) and not tree.is_string:
        number = Fraction(tree.name)
        return number, number
    inner = [infer_range(each, source, target) for each in _operands(tree)]
    if tree is None or not inner or None in inner:
        return None
    return _combined(tree, [each for each in inner if each is not None])


def _column_range(column: Column, source: Relation, target: Target) -> Range | None:
    """Bounds of a column that a sub-query computes."""
    return _hull(
        infer_range(made, inner, target)
        if not isinstance(made, Aggregate)
        else _aggregate_range(made, inner, target)
        for made, inner in find_definitions(column, source)
    )


def _aggregate_range(aggregate: Aggregate, grouped: Relation, target: Target) -> Range | None:
    """Bounds of an aggregate of a group that has at least one row, and at most so many."""
    assert isinstance(grouped, GroupedTable)
    most = grouped.most
    if aggregate.kind in ("rows", "count", "distinct"):
        least = Fraction(1 if aggregate.kind == "rows" else 0)
        return None if most is None else (least, Fraction(most))
    inner = infer_range(aggregate.argument, grouped.source, target)
    if inner is None or aggregate.kind != "sum":
        return inner
    low, high = inner
    return None if most is None else (min(low, low * most), max(high, high * most))


def _window_range(window: exp.Window, source: Relation, target: Target) -> Range | None:
    """Bounds of a value of another row; numbers of rows have none from above."""
    is_value = isinstance(window.this, exp.Lag | exp.Lead | exp.FirstValue | exp.Min | exp.Max)
    return infer_range(window.this.this, source, target) if is_value else None


def choose_fixed_point(bounds: Range, *, grid: Fraction | None, is_whole: bool) -> FixedPoint:
    """The grid that a sum is taken on: the declared one, or whole numbers, or a million steps.

    A grid that is too fine for what one person may add is made coarser by powers of ten.
    """
    lower, upper = bounds
    widest = max(upper - lower, abs(lower), abs(upper))
    step = grid or Fraction(1)
    if grid is None and not is_whole and widest:
        step = Fraction(10) ** floor(log10(widest / FINEST))
    while widest / step > MOST_STEPS:
        step *= 10
    # A range that holds no point of the grid is widened to the points around it.
    low, high = floor(lower / step) * step, ceil(upper / step) * step
    inside = ceil(lower / step) <= floor(upper / step)
    return FixedPoint(lower=lower if inside else low, upper=upper if inside else high, step=step)


def infer_grid(tree: exp.Expr | None, source: Relation, target: Target) -> Fraction | None:
    """The declared grid that all values of an expression lie on, if it is one column's."""
    declared = target.declared_column(tree, source)
    if declared is not None:
        return declared.grid
    column = as_column(tree)
    made = [] if column is None else find_definitions(column, source)
    if len(made) != 1:
        return None
    ((found, inner),) = made
    if not isinstance(found, Aggregate):
        return infer_grid(found, inner, target)
    assert isinstance(inner, GroupedTable)
    is_value = found.kind in ("sum", "minimum", "maximum", "first", "last")
    return infer_grid(found.argument, inner.source, target) if is_value else None


def is_whole(tree: exp.Expr | None, source: Relation, target: Target) -> bool:
    """Whether an expression is made of whole numbers by sums, differences and products."""
    declared = target.declared_column(tree, source)
    if declared is not None:
        return declared.type == "integer" and declared.grid is None
    if (column := as_column(tree)) is not None:
        made = find_definitions(column, source)
        return bool(made) and all(
            is_whole(each, inner, target)
            if not isinstance(each, Aggregate)
            else _is_whole_aggregate(each, inner, target)
            for each, inner in made
        )
    if isinstance(tree, exp.Window):
        is_value = isinstance(tree.this, exp.Lag | exp.Lead | exp.FirstValue | exp.Min | exp.Max)
        return not is_value or is_whole(tree.this.this, source, target)
    parts = _parts(tree)
    if parts is None and isinstance(tree, exp.Add | exp.Sub | exp.Mul | exp.Neg | exp.Abs):
        parts = _operands(tree)
    if parts is not None:
        return all(is_whole(each, source, target) for each in parts)
    return isinstance(tree, exp.Literal) and not tree.is_string and tree.name.isdecimal()


def _is_whole_aggregate(aggregate: Aggregate, grouped: Relation, target: Target) -> bool:
    assert isinstance(grouped, GroupedTable)
    if aggregate.kind in ("rows", "count", "distinct"):
        return True
    is_value = aggregate.kind in ("sum", "minimum", "maximum", "first", "last")
    return is_value and is_whole(aggregate.argument, grouped.source, target)


def _parts(tree: exp.Expr | None) -> list[exp.Expr] | None:
    """The expressions of which the value is always one; NULL is no value."""
    match tree:
        case exp.Case():
            results = [each.args["true"] for each in tree.args["ifs"]]
            results.append(tree.args.get("default"))
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            results = [tree.this, *tree.expressions]
        case exp.If():
            results = [tree.args.get("true"), tree.args.get("false")]
        case exp.Nullif():
            results = [tree.this]
        case _ if isinstance(tree, _THROUGH):
            results = [tree.this]
        case _ if isinstance(tree, exp.Cast) and tree.to.this in _INTEGERS:
            results = [tree.this]
        case _:
            return None
    return [each for each in results if each is not None and not isinstance(each, exp.Null)]


def _operands(tree: exp.Expr | None) -> list[exp.Expr]:
    if isinstance(tree, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv):
        return [tree.left, tree.right]
    if isinstance(tree, exp.Neg | exp.Abs | exp.Round | exp.Ceil | exp.Floor):
        return [tree.this]
    return []


def _combined(tree: exp.Expr, inner: list[Range]) -> Range | None:  # noqa: PLR0911 - one a kind
    low, high = inner[0]
    match tree:
        case exp.Neg():
            return -high, -low
        case exp.Abs():
            return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(
                abs(low), abs(high)
            )
        case exp.Round() | exp.Ceil() | exp.Floor():
            return Fraction(floor(low)), Fraction(ceil(high))
    least, most = inner[1]
    match tree:
        case exp.Add():
            return low + least, high + most
        case exp.Sub():
            return low - most, high - least
        case exp.Mul():
            return _span(a * b for a in (low, high) for b in (least, most))
        case exp.Div():
            if least <= 0 <= most:
                return None
            return _span(a / b for a in (low, high) for b in (least, most))
        case exp.IntDiv():
            if least <= 0 <= most:
                return None
            return _span(Fraction(trunc(a / b)) for a in (low, high) for b in (least, most))
    return None


def _ends(
    tree: exp.Expr, source: Relation, target: Target
) -> tuple[Fraction | None, Fraction | None]:
    """What is known of the ends of a range: GREATEST(LEAST(x, 100), 0) has both, whatever x is.

    NULL is passed over, so only a written number is sure to hold GREATEST up, or LEAST down.
    """
    while isinstance(tree, _THROUGH):
        tree = tree.this
    if not isinstance(tree, exp.Greatest | exp.Least):
        return infer_range(tree, source, target) or (None, None)
    parts = [tree.this, *tree.expressions]
    ends = [_ends(each, source, target) for each in parts]
    lows = [low for low, _ in ends if low is not None]
    highs = [high for _, high in ends if high is not None]
    low = min(lows) if len(lows) == len(ends) else None
    high = max(highs) if len(highs) == len(ends) else None
    sure = [each for part, each in zip(parts, ends, strict=True) if part.find(exp.Column) is None]
    if isinstance(tree, exp.Greatest):
        return max((each[0] for each in sure if each[0] is not None), default=low), high
    return low, min((each[1] for each in sure if each[1] is not None), default=high)


def _span(numbers: Iterable[Fraction]) -> Range:
    found = list(numbers)
    return min(found), max(found)


def _hull(ranges: Iterable[Range | None]) -> Range | None:
    found = list(ranges)
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    return min(low for low, _ in known), max(high for _, high in known)
