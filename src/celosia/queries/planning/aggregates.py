"""The counts and sums that an answer is made of, each measured once.

The epsilon of a request is shared out equally over all different totals that it needs: COUNT(*),
COUNT(x), COUNT(DISTINCT x) and SUM(x) need one each; AVG(x) the sum and the count of x; VAR and
STDDEV, of a sample or of a population, the sum, the sum of squares and the count. SUM(x), AVG(x)
and COUNT(x) of the same x share theirs. MIN, MAX and quantiles need one each, and so does the
choice of groups whose keys are not public.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.queries.algebra import Aggregate, AggregateKind, Question
from celosia.queries.emission import FixedPoint, Target
from celosia.queries.ownership.owners import unused_name
from celosia.queries.planning.moments import squares_needed, where_both
from celosia.queries.planning.ranges import (
    Range,
    choose_fixed_point,
    infer_grid,
    infer_range,
    is_whole,
)
from celosia.queries.sql import in_words
from celosia.queries.sql import make_total as made_total

TotalKind = Literal["rows", "count", "distinct", "sum"]
RANKS = frozenset({"minimum", "maximum", "quantile"})
FUNCTION_NAMES: dict[AggregateKind, str] = {
    "rows": "COUNT",
    "count": "COUNT",
    "distinct": "COUNT DISTINCT",
    "sum": "SUM",
    "mean": "AVG",
    "variance": "VAR",
    "deviation": "STDDEV",
    "minimum": "MIN",
    "maximum": "MAX",
    "quantile": "QUANTILE",
    "covariance": "COVAR",
    "correlation": "CORR",
    "slope": "REGR_SLOPE",
    "intercept": "REGR_INTERCEPT",
    "determination": "REGR_R2",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A count, or a sum in whole steps of a grid."""

    name: str
    kind: TotalKind
    label: str
    argument: exp.Expression | None = None
    fixed: FixedPoint | None = None

    @property
    def aggregate(self) -> Aggregate:
        """What the engine is asked for."""
        return Aggregate(self.kind, self.name, self.argument)

    @property
    def reach(self) -> int:
        """The most that one row adds, in steps, up or down."""
        return max(1, self.fixed.reach) if self.fixed else 1

    @property
    def is_signed(self) -> bool:
        """Whether a row may lower it."""
        return self.fixed is not None and self.fixed.low < 0

    @property
    def step(self) -> Fraction:
        """The value of one step."""
        return self.fixed.step if self.fixed else Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """How an aggregate follows from totals; from a rank where it has none."""

    aggregate: Aggregate
    label: str
    totals: tuple[str, ...]
    """Names: of the total; of a sum and a count; of a sum, squares and a count."""
    centre: Fraction = Fraction(0)
    """What the values of a sum were counted from."""
    bounds: Range | None = None
    """Between what the values of a mean, a variance or a rank lie."""
    pair: tuple[Range, Fraction] | None = None
    """Of two values: the range of the second, and what it was counted from."""


@dataclass(slots=True)
class RequiredTotals:
    """The totals that an answer needs, and how its aggregates follow from them."""

    totals: list[Total]
    derivations: list[Derivation]
    prefix: str = "total"
    """What totals are called, with a number behind it: as no aggregate of the question is."""

    @property
    def ranks(self) -> list[Derivation]:
        """The aggregates that are chosen by rank."""
        return [each for each in self.derivations if each.aggregate.kind in RANKS]


def find_required_totals(
    question: Question, target: Target, *, centred: bool = True
) -> RequiredTotals:
    """The totals of a question, and how its aggregates follow from them.

    Args:
        question: what is asked.
        target: the engine.
        centred: whether means are taken of distances from the middle of the range, which may be
            below 0.

    Raises:
        QueryRefused: CEL-Q144 values without declared bounds.
    """
    required = RequiredTotals(
        [], [], unused_name("total", (each.name for each in question.aggregates))
    )
    for aggregate in question.aggregates:
        required.derivations.append(
            _derivation(aggregate, question, target, required, centred=centred)
        )
    return required


def _derivation(
    aggregate: Aggregate,
    question: Question,
    target: Target,
    required: RequiredTotals,
    *,
    centred: bool,
) -> Derivation:
    label, argument = format_aggregate(aggregate), aggregate.argument
    if aggregate.kind in ("rows", "count", "distinct"):
        found = _add_total(
            required, Total(name="", kind=aggregate.kind, label=label, argument=argument)
        )
        return Derivation(aggregate=aggregate, label=label, totals=(found,))
    bounds = infer_range(argument, question.source, target)
    if bounds is None or argument is None:
        raise QueryRefused("CEL-Q144.no_bounds", label=label)
    grid = infer_grid(argument, question.source, target)
    whole = is_whole(argument, question.source, target)
    fixed = choose_fixed_point(bounds, grid=grid, is_whole=whole)
    made = Derivation(aggregate=aggregate, label=label, totals=(), bounds=bounds)
    if aggregate.kind in RANKS:
        return made
    if aggregate.second is not None:
        return _pair_derivation(made, question, target, required)
    words = _sql_text(argument)
    shown = words if question.wording is None else _sql_text(in_words(argument, question.wording))
    named = f"SUM({shown})"
    if aggregate.kind == "sum" and aggregate.label is not None:
        named = aggregate.label
    plain = Total(name="", kind="sum", label=named, argument=argument, fixed=fixed)
    if aggregate.kind == "sum":
        return replace(made, totals=(_add_total(required, plain),))
    summed = {_sql_text(each.argument) for each in question.aggregates if each.kind == "sum"}
    centre = Fraction(0)
    if centred and (aggregate.kind != "mean" or words not in summed):
        plain, centre = _centre_total(plain, bounds, target)
    count = Total(name="", kind="count", label=f"COUNT({shown})", argument=argument)
    parts = [plain] if aggregate.kind == "mean" else [plain, _squares_total(plain, target)]
    names = tuple(_add_total(required, each) for each in [*parts, count])
    return replace(made, totals=names, centre=centre)


def _pair_derivation(
    made: Derivation, question: Question, target: Target, required: RequiredTotals
) -> Derivation:
    """The moments of two values: sums of each, of their product, and of squares where needed."""
    first, second = made.aggregate.argument, made.aggregate.second
    assert first is not None
    assert second is not None
    parts, centres, ranges = [], [], []
    for value, other in ((first, second), (second, first)):
        inside = infer_range(value, question.source, target)
        if inside is None:
            raise QueryRefused("CEL-Q144.no_bounds", label=made.label)
        fixed = choose_fixed_point(
            inside,
            grid=infer_grid(value, question.source, target),
            is_whole=is_whole(value, question.source, target),
        )
        both, words = where_both(value, other), f"SUM({_sql_text(value)})"
        plain = Total(name="", kind="sum", label=words, argument=both, fixed=fixed)
        total, centre = _centre_total(plain, inside, target)
        parts.append(total)
        centres.append(centre)
        ranges.append(inside)
    product = _product_total(parts[0], parts[1], target)
    squares = [
        _squares_total(each, target)
        for each, is_needed in zip(parts, squares_needed(made.aggregate), strict=True)
        if is_needed
    ]
    words = f"COUNT({_sql_text(first)}, {_sql_text(second)})"
    count = Total(name="", kind="count", label=words, argument=product.argument)
    names = tuple(_add_total(required, each) for each in (*parts, product, *squares, count))
    return replace(
        made, totals=names, centre=centres[0], bounds=ranges[0], pair=(ranges[1], centres[1])
    )


def _product_total(one: Total, other: Total, target: Target) -> Total:
    """The sum of products of two centred values."""
    assert one.fixed is not None
    assert other.fixed is not None
    assert one.argument is not None
    assert other.argument is not None
    farthest = [max(abs(each.lower), abs(each.upper)) for each in (one.fixed, other.fixed)]
    most = farthest[0] * farthest[1]
    left, right = _as_real(one.argument, target), _as_real(other.argument, target)
    tree = made_total(exp.Mul(this=left, expression=right))
    fixed = choose_fixed_point((-most, most), grid=None, is_whole=False)
    label = Message("queries.part_name.product", one=one.label, other=other.label)
    return Total(name="", kind="sum", label=label, argument=tree, fixed=fixed)


def _centre_total(total: Total, bounds: Range, target: Target) -> tuple[Total, Fraction]:
    """The sum of distances from the middle of the range: half the noise, or less, for a mean."""
    assert total.fixed is not None
    assert total.argument is not None
    lower, upper = bounds
    step = total.fixed.step
    # As it is written into the query, also where the steps are no decimals.
    centre = Fraction(repr(float(round((lower + upper) / 2 / step) * step)))
    moved = exp.Sub(this=_as_real(total.argument, target), expression=_decimal_literal(centre))
    fixed = FixedPoint(lower=lower - centre, upper=upper - centre, step=step)
    label = Message("queries.part_name.centred", label=total.label)
    tree = made_total(exp.Paren(this=moved))
    return replace(total, label=label, argument=tree, fixed=fixed), centre


def _as_real(tree: exp.Expression, target: Target) -> exp.Expr:
    """A number to compute with, as the double that it is rounded from in any case.

    DuckDB has no type for the square of a decimal number of many places, nor room in it for a
    centre beside them; and the square of a whole number may leave its type, and would be lost.
    PostgreSQL computes with decimal numbers of any length.
    """
    inner = exp.Paren(this=tree.copy())
    return inner if target.dialect == "postgres" else target.cast(inner, "real")


def _squares_total(centred: Total, target: Target) -> Total:
    assert centred.fixed is not None
    assert centred.argument is not None
    most = max(abs(centred.fixed.lower), abs(centred.fixed.upper)) ** 2
    value = _as_real(centred.argument, target)
    tree = made_total(exp.Mul(this=value, expression=value.copy()))
    fixed = choose_fixed_point((Fraction(0), most), grid=None, is_whole=False)
    label = Message("queries.part_name.squares", label=centred.label)
    return replace(centred, label=label, argument=tree, fixed=fixed)


def _add_total(required: RequiredTotals, wanted: Total) -> str:
    """The name of a total, an equal one's if there is one."""
    for each in required.totals:
        same = (each.kind, _sql_text(each.argument), each.fixed)
        if same == (wanted.kind, _sql_text(wanted.argument), wanted.fixed):
            return each.name
    name = f"{required.prefix}_{len(required.totals) + 1}"
    required.totals.append(replace(wanted, name=name))
    return name


def format_aggregate(aggregate: Aggregate) -> str:
    """An aggregate as one would write it."""
    if aggregate.label is not None:
        return aggregate.label
    if aggregate.argument is None:
        return "COUNT(*)"
    if aggregate.kind == "distinct":
        return f"COUNT(DISTINCT {_sql_text(aggregate.argument)})"
    share = "" if aggregate.share is None else f", {aggregate.share:g}"
    if aggregate.second is not None:
        share = f", {_sql_text(aggregate.second)}"
    word = FUNCTION_NAMES[aggregate.kind]
    if aggregate.kind in ("variance", "deviation", "covariance"):
        word += "_SAMP" if aggregate.sample else "_POP"
    return f"{word}({_sql_text(aggregate.argument)}{share})"


def _sql_text(tree: exp.Expression | None) -> str:
    if tree is None:
        return ""
    copy = tree.copy()
    for each in copy.find_all(exp.Identifier):
        each.set("quoted", False)
    return copy.sql(dialect="duckdb")


def _decimal_literal(number: Fraction) -> exp.Expr:
    """A decimal number as SQL; steps are decimals wherever the policy writes them so."""
    sign = exp.Literal.number(_decimal(abs(number)))
    return exp.Paren(this=exp.Neg(this=sign)) if number < 0 else sign


def _decimal(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    return repr(float(number))
