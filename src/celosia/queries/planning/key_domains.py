"""The public values of the keys of GROUP BY: declared, or implied by the question and the policy.

Bands (`FLOOR(age / 10) * 10`), cases, truth values, months, numbers of rows in a sub-query, and
months between two dates of WHERE are all known without the data, and so are the values of a public
table: every group of them is shown, the empty ones too. Rows whose key is none of them, such as
values beyond declared bounds, are in no group. Keys that nothing bounds are found in the data, for
a delta (`partition_selection`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from math import ceil, floor
from typing import Any

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import Aggregate, Column, GroupedTable, Question, Relation
from celosia.queries.bounds.lineage import as_column, find_conditions, find_definitions
from celosia.queries.emission import Target, syntax
from celosia.queries.emission.expression_types import infer_type, rounded_places
from celosia.queries.planning.plan import Executor
from celosia.queries.planning.ranges import Range, infer_range, is_whole
from celosia.queries.policy.values import ColumnPolicy, Policy

MOST_GROUPS = 2**16
"""Groups of one answer."""
MOST_LISTED = 4096
"""Values of a key that are implied by bounds: more groups than that would drown in noise."""
_PARTS = {
    "month": (1, 12),
    "quarter": (1, 4),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "dow": (0, 6),
    "week": (1, 53),
    "doy": (1, 366),
}
"""Parts of a moment that have few values, whatever the data."""
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class KeyDomains:
    """The keys of a question: their public values, or None where any has none."""

    values: tuple[Values, ...] | None
    undeclared: tuple[str, ...]
    """Names of keys without declared values."""


def find_key_domains(
    question: Question, target: Target, *, finds_keys: bool, execute_public: Executor | None = None
) -> KeyDomains:
    """The public values of each key of GROUP BY: declared, or known from the query itself.

    Args:
        question: what is asked.
        target: the policy.
        finds_keys: whether keys of columns without declared ones may be found in the data; else
            whole numbers between declared bounds are all shown.
        execute_public: runs a query about public tables.
    """
    lists, undeclared, number = [], [], 1
    for key in question.keys:
        declared = target.declared_column(key.expression, question.source)
        values = None if declared is None else declared.keys
        if declared is not None and values is None and execute_public is not None:
            values = values_in_public_table(declared, target.policy, execute_public)
        if declared is None or (values is None and not finds_keys):
            values = implied_values(key.expression, question.source, target)
        if values is None:
            undeclared.append(key.name)
        else:
            lists.append(tuple(values))
            number *= len(values)
    if number > MOST_GROUPS:
        raise QueryRefused("CEL-Q146.too_many", number=number, most=MOST_GROUPS)
    return KeyDomains(None if undeclared else tuple(lists), tuple(undeclared))


def values_in_public_table(
    column: ColumnPolicy, policy: Policy, execute: Executor
) -> Values | None:
    """All values of a column of a public table, or None if there are none, or too many."""
    table = next(
        (each for each in policy.tables if any(one is column for one in each.columns)), None
    )
    if table is None or not table.public or column.type not in ("text", "integer"):
        return None
    name = syntax.column(column.name)
    query = exp.Select(
        expressions=[name],
        from_=exp.From(this=exp.Table(this=syntax.identifier(table.name))),
        where=exp.Where(this=exp.Not(this=exp.Is(this=name.copy(), expression=exp.Null()))),
        limit=exp.Limit(expression=syntax.integer_literal(MOST_LISTED + 1)),
    )
    found = [value for (value,) in execute(syntax.group_by(query, [column.name]))]
    return tuple(sorted(found)) if 0 < len(found) <= MOST_LISTED else None


def public_labels(question: Question, target: Target, execute: Executor | None) -> dict[int, str]:
    """Terms of public predicates that groups of a graph may be shown for, by their numbers."""
    graph = target.policy.graph
    if graph is None or execute is None:
        return {}
    numbers: set[str | int | bool] = set()
    for key in question.keys:
        declared = target.declared_column(key.expression, question.source)
        if declared is not None and declared.keys is None and declared.name in _TERMS:
            numbers.update(values_in_public_table(declared, target.policy, execute) or ())
    if not numbers:
        return {}
    from celosia.queries.rdf.notation import abbreviate  # tables do without

    listed = [syntax.integer_literal(int(each)) for each in sorted(numbers)]
    query = exp.Select(
        expressions=[syntax.column("id"), syntax.column("text")],
        from_=exp.From(this=exp.Table(this=syntax.identifier("terms"))),
        where=exp.Where(this=exp.In(this=syntax.column("id"), expressions=listed)),
    )
    return {int(number): abbreviate(text, dict(graph.prefixes)) for number, text in execute(query)}


_TERMS = ("subject", "object")
"""Columns of facts that hold numbers of terms."""


def implied_values(tree: exp.Expr, source: Relation, target: Target) -> Values | None:
    """All values of an expression that follow from the question and the policy, or None."""
    found = _Domain(source, target).of(tree)
    return found if found and len(found) <= MOST_LISTED else None


def is_whole_valued(tree: exp.Expr) -> bool:  # noqa: PLR0911 - one for each kind
    """Whether all values of an expression are whole numbers, by how it is made."""
    match tree:
        case exp.Paren() | exp.Try() | exp.Neg():
            return is_whole_valued(tree.this)
        case exp.Floor() | exp.Ceil():
            return tree.args.get("decimals") is None
        case exp.Round():
            return rounded_places(tree) <= 0
        case exp.Literal():
            return not tree.is_string and tree.name.isdecimal()
        case exp.IntDiv():
            return True
    if isinstance(tree, exp.Add | exp.Sub | exp.Mul):
        return is_whole_valued(tree.left) and is_whole_valued(tree.right)
    return False


@dataclass(frozen=True, slots=True)
class _Domain:
    """Values of expressions over the rows of one relation."""

    source: Relation
    target: Target

    def of(self, tree: exp.Expr | None) -> Values | None:  # noqa: PLR0911 - one for each kind
        while isinstance(tree, exp.Paren | exp.Try):
            tree = tree.this
        if tree is None or isinstance(tree, exp.Null):
            return ()
        if (column := as_column(tree)) is not None:
            return self._column(column, tree)
        match tree:
            case exp.Literal():
                return (tree.name,) if tree.is_string else _whole([Fraction(tree.name)])
            case exp.Extract():
                return self._part(tree)
            case exp.TimestampTrunc():
                return self._periods(tree)
            case exp.Case():
                results = [*(each.args["true"] for each in tree.args["ifs"])]
                return self._any_of([*results, tree.args.get("default")])
            case exp.Coalesce():
                return self._any_of([tree.this, *tree.expressions])
            case exp.Mod():
                return self._remainders(tree)
        if isinstance(tree, exp.Add | exp.Sub | exp.Mul):
            return self._computed(tree)
        if (numbers := self._rounded(tree)) is not None:
            return numbers
        is_truth = infer_type(tree, self.source, target=self.target) == "boolean"
        return (False, True) if is_truth else None

    def _column(self, column: Column, tree: exp.Expr) -> Values | None:
        declared = self.target.declared_column(tree, self.source)
        if declared is not None:
            if declared.keys is not None:
                return tuple(declared.keys)
            if declared.type == "boolean":
                return False, True
            if declared.type != "integer":
                return None
            return _between(infer_range(tree, self.source, self.target))
        found = [
            _Domain(inner, self.target).of(made)
            if not isinstance(made, Aggregate)
            else self._aggregate(made, inner)
            for made, inner in find_definitions(column, self.source)
        ]
        return _union(found) if found else None

    def _aggregate(self, aggregate: Aggregate, grouped: Relation) -> Values | None:
        assert isinstance(grouped, GroupedTable)
        if aggregate.kind in ("minimum", "maximum", "first", "last"):
            return _Domain(grouped.source, self.target).of(aggregate.argument)
        is_count = aggregate.kind in ("rows", "count", "distinct")
        if not is_count and not (
            aggregate.kind == "sum" and is_whole(aggregate.argument, grouped.source, self.target)
        ):
            return None
        name = exp.column(aggregate.name, table=grouped.alias)
        return _between(infer_range(name, grouped, self.target))

    def _any_of(self, trees: Iterable[exp.Expr | None]) -> Values | None:
        return _union([self.of(each) for each in trees])

    def _computed(self, tree: exp.Add | exp.Sub | exp.Mul) -> Values | None:
        sides = [self.of(tree.left), self.of(tree.right)]
        if any(each is None or not all(type(one) is int for one in each) for each in sides):
            return None
        left, right = (each or () for each in sides)
        if min(len(left), len(right)) != 1:  # whatever goes with whatever: too many to list
            return None
        function = {exp.Add: int.__add__, exp.Sub: int.__sub__, exp.Mul: int.__mul__}[type(tree)]
        return tuple(sorted({function(one, other) for one in left for other in right}))

    def _rounded(self, tree: exp.Expr) -> Values | None:
        """Whole numbers between the bounds of what is rounded, or tens, or hundreds."""
        is_cast = isinstance(tree, exp.Cast) and tree.to.this in exp.DataType.INTEGER_TYPES
        if isinstance(tree, exp.IntDiv):
            quotient = exp.Div(this=tree.left.copy(), expression=tree.right.copy())
            return _between(infer_range(quotient, self.source, self.target))
        if isinstance(tree, exp.Round) and rounded_places(tree) < 0:
            step = 10 ** -rounded_places(tree)
            inner = infer_range(tree.this, self.source, self.target)
            scaled = None if inner is None else (inner[0] / step, inner[1] / step)
            found = _between(scaled)
            return None if found is None else tuple(each * step for each in found)
        if is_cast or is_whole_valued(tree) or isinstance(tree, exp.Greatest | exp.Least):
            of = tree if isinstance(tree, exp.Greatest | exp.Least) else tree.this
            is_number = is_cast or is_whole_valued(tree) or is_whole(tree, self.source, self.target)
            return _between(infer_range(of, self.source, self.target)) if is_number else None
        return None

    def _remainders(self, tree: exp.Mod) -> Values | None:
        divisor = tree.right.unnest()
        while isinstance(divisor, exp.Nullif | exp.Paren):
            divisor = divisor.this
        if not (isinstance(divisor, exp.Literal) and divisor.name.isdecimal()):
            return None
        most = int(divisor.name) - 1
        inner = infer_range(tree.left, self.source, self.target)
        kind = infer_type(tree.left, self.source, target=self.target)
        if inner is None or not (kind == "integer" or is_whole_valued(tree.left)):
            return None
        return tuple(range(0 if inner[0] >= 0 else -most, most + 1)) if most < MOST_LISTED else None

    def _part(self, tree: exp.Extract) -> Values | None:
        part = tree.name.lower()
        if part in _PARTS:
            first, last = _PARTS[part]
            return tuple(range(first, last + 1))
        days = self._days(tree.expression)
        return (
            None if days is None or part != "year" else tuple(range(days[0].year, days[1].year + 1))
        )

    def _periods(self, tree: exp.TimestampTrunc) -> Values | None:
        """The beginnings of all months, or other periods, between two dates of WHERE."""
        days, unit = self._days(tree.this), tree.args["unit"].name.lower()
        if days is None or unit not in _NEXT:
            return None
        is_date = infer_type(tree.this, self.source, target=self.target) == "date"
        day, last = _begin(unit, days[0]), days[1]
        found: list[str] = []
        while day <= last and len(found) <= MOST_LISTED:
            found.append(day.isoformat() if is_date else f"{day.isoformat()}T00:00:00")
            day = _begin(unit, day + timedelta(days=_NEXT[unit]))
        return tuple(found)

    def _days(self, tree: exp.Expr) -> tuple[date, date] | None:
        """The first and last day that conditions of the question leave of a moment."""
        while isinstance(tree, exp.Paren | exp.Try | exp.Cast):
            tree = tree.this
        column = as_column(tree)
        if column is None:
            return None
        lows, highs = [], []
        for condition in find_conditions(column, self.source):
            low, high = _day_bounds(condition)
            lows += [] if low is None else [low]
            highs += [] if high is None else [high]
        if not lows or not highs or min(highs) < max(lows):
            return None
        return max(lows), min(highs)


_NEXT = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
"""Days after which the next period has begun, and not yet the one after it."""


def _begin(unit: str, day: date) -> date:
    """The first day of the period that a day is in."""
    match unit:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day


def _day_bounds(condition: exp.Expr) -> tuple[date | None, date | None]:
    """The first and last day that a condition on a column leaves; None where it bounds no end."""
    if isinstance(condition, exp.Between):
        return _day(condition.args["low"]), _day(condition.args["high"])
    assert isinstance(condition, exp.Binary)
    value, is_turned = condition.right, as_column(condition.left) is None
    if is_turned:
        value = condition.left
    if isinstance(condition.left, exp.Extract) and isinstance(value, exp.Literal):
        return date(int(value.name), 1, 1), date(int(value.name), 12, 31)
    day = _day(value)
    kind: type[exp.Expr] = type(condition)
    if is_turned:
        kind = _TURNED.get(kind, kind)
    if kind is exp.LT and day is not None and _is_midnight(value):
        return None, day - timedelta(days=1)
    return (day if kind in (exp.GT, exp.GTE, exp.EQ) else None), (
        day if kind in (exp.LT, exp.LTE, exp.EQ) else None
    )


_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}


def _day(value: exp.Expr) -> date | None:
    """A written date, or the day of a written moment."""
    while isinstance(value, exp.Paren | exp.Cast):
        value = value.this
    text = value.name if isinstance(value, exp.Literal) and value.is_string else ""
    try:
        day = date.fromisoformat(text[:10])
    except ValueError:
        return None
    return day if date(1000, 1, 1) < day < date(9000, 1, 1) else None


def _is_midnight(value: exp.Expr) -> bool:
    found = value.find(exp.Literal)
    return found is not None and not found.name[10:].strip(" T0:.")


def _between(bounds: Range | None) -> Values | None:
    """All whole numbers of a range, if they are not too many."""
    if bounds is None or bounds[1] - bounds[0] > MOST_LISTED:
        return None
    return tuple(range(floor(bounds[0]), ceil(bounds[1]) + 1))


def _whole(numbers: Iterable[Fraction]) -> Values | None:
    found = list(numbers)
    return tuple(map(int, found)) if all(each.denominator == 1 for each in found) else None


def _union(parts: list[Values | None]) -> Values | None:
    """All values of some lists, each once: numbers in order, texts as they come."""
    if any(each is None for each in parts):
        return None
    every = list(dict.fromkeys(value for part in parts for value in part or ()))
    if len({type(each) for each in every}) > 1:
        return None
    return tuple(every if every and isinstance(every[0], str) else sorted(every))
