"""The rows of a question as plain columns, and their counts and sums as exact whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from celosia.core.errors import InputError, QueryRefused
from celosia.queries.algebra import (
    Aggregate,
    Column,
    Filter,
    Join,
    Question,
    Relation,
    Scan,
    SemiJoin,
)
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.emission.fixed_point import FixedPoint, as_double
from celosia.queries.emission.relations import select, write_expression
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    group_by,
    identifier,
    integer_literal,
    order_by,
    select_from,
    sorted_by,
)
from celosia.queries.emission.target import Target
from celosia.queries.emission.timestamps import as_key
from celosia.queries.ownership import OwnedRelation

EXACT = 2**53
"""All whole numbers up to here are doubles."""
Value = str | int | bool
GroupKeys = Sequence[Sequence[Value]]
"""For each key of a question all values that are shown, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatQuery:
    """A question in columns of fixed names, whatever the names of the question."""

    question: Question
    target: Target
    owned: OwnedRelation | None = None
    fixed: Mapping[str, FixedPoint]
    group_keys: GroupKeys | None = None
    saturating: bool = False
    """Whether sums may end at 2^53, which is faster: only where they are not subtracted later."""

    def __post_init__(self) -> None:
        if self.group_keys is not None and (
            len(self.group_keys) != len(self.question.keys) or not all(self.group_keys)
        ):
            raise InputError("CEL-Q130.keys")

    @property
    def keys(self) -> list[str]:
        """The names of the columns with the keys."""
        return [f"key_{number}" for number, _ in enumerate(self.question.keys, start=1)]

    @property
    def owners(self) -> list[str]:
        """The names of the columns with the owners."""
        found = self.owned.owners if self.owned else ()
        return [f"owner_{number}" for number, _ in enumerate(found, start=1)]

    @property
    def aggregates(self) -> list[tuple[str, Aggregate]]:
        """Each aggregate, with the name of the column that its values are in."""
        return [
            (f"value_{number}", each)
            for number, each in enumerate(self.question.aggregates, start=1)
        ]

    def rows(
        self, *, only_group_keys: bool = False, condition: exp.Expr | None = None
    ) -> exp.Select:
        """The keys, owners and values of every row, or of some.

        Args:
            only_group_keys: whether only of rows with known keys.
            condition: on the columns of the relation, met before anything is computed.
        """
        source = self.owned.relation if self.owned else self.question.source
        columns: list[exp.Expr] = [
            as_alias(self._key(key.expression, source), word)
            for word, key in zip(self.keys, self.question.keys, strict=True)
        ]
        owners = self.owned.owners if self.owned else ()
        columns += [
            as_alias(column_expression(owner), word)
            for word, owner in zip(self.owners, owners, strict=True)
        ]
        columns += [
            as_alias(self._value(each), word)
            for word, each in self.aggregates
            if each.kind != "rows"
        ]
        made = select(source, columns or [as_alias(integer_literal(1), "one")], target=self.target)
        if condition is not None:
            made.where(condition, copy=False)
        if only_group_keys and self.group_keys is not None:
            made = select_from(made, [exp.Star()])
            for number, word in enumerate(self.keys):
                made.where(exp.In(this=column(word), expressions=self._listed(number)), copy=False)
        return made

    def _key(self, expression: exp.Expr, source: Relation) -> exp.Expr:
        tree = write_expression(expression, source, target=self.target)
        if self.group_keys is not None:
            return tree
        return as_key(tree, infer_type(expression, source, target=self.target), target=self.target)

    def _value(self, aggregate: Aggregate) -> exp.Expr:
        argument = aggregate.argument
        if aggregate.kind not in ("count", "distinct", "sum") or argument is None:
            raise QueryRefused("CEL-Q132.kind", name=aggregate.name, kind=aggregate.kind_in_words)
        source = self.question.source
        tree = write_expression(argument, source, target=self.target)
        if aggregate.kind != "sum":
            return tree
        if aggregate.name not in self.fixed:
            raise QueryRefused("CEL-Q132.no_bounds", name=aggregate.name)
        declared = self.target.declared_column(argument, source)
        is_whole = declared is not None and declared.type == "integer"
        fixed, is_real = self.fixed[aggregate.name], self._is_real(aggregate)
        steps = fixed.tree(tree, is_whole=is_whole, target=self.target, as_real=is_real)
        if self.target.dialect != "postgres":
            return steps
        from celosia.queries.emission.postgres import steps_in_doubles  # one dialect is needed

        steps = steps_in_doubles(
            argument, source, fixed, steps, target=self.target, as_real=is_real
        )
        return as_double(steps, self.target) if is_real else steps

    def _is_real(self, aggregate: Aggregate) -> bool:
        """Whether whole steps are added up in doubles."""
        return self.saturating and self.fixed[aggregate.name].is_exact_in_doubles

    def owners_in_order(self, rows: exp.Select, words: Sequence[str] = ()) -> exp.Select:
        """Rows in the order of owners, where that makes it faster to add up those of each.

        Args:
            rows: with owners and values.
            words: the names of the values that are wanted; whole or real numbers, which a sort
                carries along.
        """
        assert self.owned is not None
        if self.target.dialect != "postgres":
            return rows
        owner = column_expression(self.owned.owners[0])
        kind = infer_type(owner, self.owned.relation, target=self.target)
        if kind != "integer" or not all(map(self._is_numeric, words)):
            return rows
        return sorted_by(rows, "owner_1", words)

    def _is_numeric(self, word: str) -> bool:
        """Whether a column of values holds numbers."""
        aggregate = dict(self.aggregates)[word]
        if aggregate.kind == "sum":
            return True
        kind = infer_type(aggregate.argument, self.question.source, target=self.target)
        return kind in ("integer", "number")

    def aggregate_expression(self, word: str, aggregate: Aggregate) -> exp.Expr:
        """The aggregate of a group: a whole number, 0 for no rows.

        Whole numbers from 0 are added up in doubles without fault as long as no sum of some of them
        passes 2^53, and no such sum is above the whole. Once it is passed, more only leads further
        up, in whatever order: so the lesser of 2^53 and the sum is exact, always. Engines are three
        times as fast with doubles as with 128 bits, and no sum of so few bits is beyond a double.
        """
        match aggregate.kind:
            case "rows":
                return exp.Count(this=exp.Star())
            case "count":
                return exp.Count(this=column(word))
            case "distinct":
                return exp.Count(this=exp.Distinct(expressions=[column(word)]))
            case _ if self._is_real(aggregate):
                most = as_double(integer_literal(EXACT), self.target)
                # 0 first: LEAST passes over NULL, the sum of no rows.
                summed = zero_if_null(exp.Sum(this=column(word)))
                least = exp.Least(this=summed, expressions=[most], ignore_nulls=True)
                return self.target.cast(least, "whole")
            case _:
                return zero_if_null(exp.Sum(this=column(word)))

    def present_groups(self, groups: exp.Select, amounts: list[str]) -> exp.Select:
        """The groups in order: the known ones and no others, where keys are known."""
        if self.group_keys is None or not self.keys:
            projections: list[exp.Expr] = [column(each) for each in (*self.keys, *amounts)]
            return order_by(select_from(groups, projections), self.keys)
        lists = [f"known_{number}" for number, _ in enumerate(self.keys, start=1)]
        projections = [
            as_alias(column("key", source), word)
            for source, word in zip(lists, self.keys, strict=True)
        ]
        projections += [as_alias(zero_if_null(column(each, "part")), each) for each in amounts]
        made = exp.Select(expressions=projections)
        for number, source in enumerate(lists):
            rows = exp.Values(
                expressions=[
                    exp.Tuple(expressions=[integer_literal(place), value])
                    for place, value in enumerate(self._listed(number))
                ],
                alias=exp.TableAlias(
                    this=identifier(source), columns=[identifier("place"), identifier("key")]
                ),
            )
            if number == 0:
                made.set("from_", exp.From(this=rows))
            else:
                made.append("joins", exp.Join(this=rows, kind="CROSS"))
        agree = [
            exp.EQ(this=column("key", source), expression=column(word, "part"))
            for source, word in zip(lists, self.keys, strict=True)
        ]
        part = exp.Subquery(this=groups, alias=exp.TableAlias(this=identifier("part")))
        made.append("joins", exp.Join(this=part, side="LEFT", on=exp.and_(*agree)))
        order = [exp.Ordered(this=column("place", source), nulls_first=False) for source in lists]
        made.set("order", exp.Order(expressions=order))
        return made

    def _listed(self, number: int) -> list[exp.Expr]:
        """The known values of a key, in the type of its column, or of what it is computed from."""
        assert self.group_keys is not None
        expression, source = self.question.keys[number].expression, self.question.source
        declared = self.target.declared_column(expression, source)
        kind = declared.type if declared else infer_type(expression, source, target=self.target)
        literals = [_literal(value) for value in self.group_keys[number]]
        if kind in ("date", "timestamp"):
            # Written by the owner of the data, or found in it, where they are moments that every
            # engine has (see `as_key`): a cast fails always or never.
            return [exp.Cast(this=each, to=exp.DataType.build(kind)) for each in literals]
        if kind == "number" and self.target.dialect == "postgres":
            # Found in the data, they come as texts, which PostgreSQL compares with no number.
            # Decimal ones of any length, so that two of them never become one.
            return [self.target.cast(each, "real") for each in literals]
        return literals


def zero_if_null(tree: exp.Expr) -> exp.Expr:
    """0 where there is nothing to add up."""
    return exp.func("COALESCE", tree, integer_literal(0))


def aggregate_rows(flat: FlatQuery, source: exp.Select, by: list[str]) -> exp.Select:
    """All aggregates of a question over rows, by some columns."""
    if by == ["owner_1"]:
        words = [word for word, each in flat.aggregates if each.kind != "rows"]
        source = flat.owners_in_order(source, words)
    projections: list[exp.Expr] = [column(each) for each in by]
    projections += [
        as_alias(flat.aggregate_expression(word, each), word) for word, each in flat.aggregates
    ]
    return group_by(select_from(source, projections), by)


def _literal(value: Value) -> exp.Expr:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    return exp.Literal.string(value) if isinstance(value, str) else integer_literal(value)


NO_SUMS: Mapping[str, FixedPoint] = {}


def count_query(
    source: Relation, *, target: Target, argument: exp.Expression | None = None
) -> exp.Select:
    """How many rows a relation has, or how many have a value of an argument.

    The rows of a join in which either side may have many partners are not made at all: they are
    counted key by key on each side, and the products added up.
    """
    if argument is None and isinstance(source, Join) and _is_many_to_many(source, target):
        return _product_count(source, target)
    kind = Aggregate("rows", "n") if argument is None else Aggregate("count", "n", argument)
    return _single(source, kind, target, NO_SUMS)


def distinct_count_query(
    source: Relation, argument: exp.Expression, *, target: Target
) -> exp.Select:
    """How many different values an argument has, NULL not counted."""
    return _single(source, Aggregate("distinct", "n", argument), target, NO_SUMS)


def sum_query(
    source: Relation, argument: exp.Expression, *, fixed: FixedPoint, target: Target
) -> exp.Select:
    """The sum of an argument, in whole steps of its grid; one of values from 0 may end at 2^53."""
    return _single(source, Aggregate("sum", "n", argument), target, {"n": fixed})


def grouped_query(
    question: Question,
    *,
    target: Target,
    fixed: Mapping[str, FixedPoint] = NO_SUMS,
    group_keys: GroupKeys | None = None,
    owned: OwnedRelation | None = None,
) -> exp.Select:
    """The keys of each group and all its aggregates, in one pass.

    A sum of values from 0 may end at 2^53 steps: noise is added to what is far below.

    Args:
        question: what is asked; its keys may be none.
        target: the engine.
        fixed: how each sum is put on a grid, by the name of its aggregate.
        group_keys: all values of each key. Every combination then has a row, in order, and nothing
            else has one. Without it the rows are the groups that exist, which is for the curator.
        owned: adds a last column, the number of people that each group has rows of.
    """
    flat = FlatQuery(
        question=question,
        target=target,
        owned=owned,
        fixed=fixed,
        group_keys=group_keys,
        saturating=True,
    )
    groups = aggregate_rows(flat, flat.rows(), flat.keys)
    amounts = [word for word, _ in flat.aggregates]
    if owned is not None:
        amounts.append("people")
        groups = _with_people(groups, flat)
    return flat.present_groups(groups, amounts)


def _single(
    source: Relation, aggregate: Aggregate, target: Target, fixed: Mapping[str, FixedPoint]
) -> exp.Select:
    question = Question(source, (aggregate,))
    flat = FlatQuery(question=question, target=target, fixed=fixed, saturating=True)
    return aggregate_rows(flat, flat.rows(), [])


def _with_people(groups: exp.Select, flat: FlatQuery) -> exp.Select:
    """The groups with the number of different people in each; a row of two counts for both."""
    if len(flat.owners) == 1:
        return groups.select(as_alias(_different("owner_1"), "people"), copy=False)
    keys = [column(key) for key in flat.keys]
    parts = [
        select_from(flat.rows(), [*keys, as_alias(column(owner), "owner")]) for owner in flat.owners
    ]
    stacked: exp.Query = parts[0]
    for part in parts[1:]:
        stacked = exp.Union(this=stacked, expression=part, distinct=False)
    people = group_by(
        select_from(stacked, [*keys, as_alias(_different("owner"), "people")]), flat.keys
    )
    words = [*flat.keys, *(word for word, _ in flat.aggregates)]
    made = select_from(
        groups,
        [
            *(as_alias(column(each, "one"), each) for each in words),
            as_alias(column("people", "other"), "people"),
        ],
        alias="one",
    )
    same = [
        exp.NullSafeEQ(this=column(each, "one"), expression=column(each, "other"))
        for each in flat.keys
    ]
    other = exp.Subquery(this=people, alias=exp.TableAlias(this=identifier("other")))
    made.append("joins", exp.Join(this=other, on=exp.and_(*same) if same else exp.true()))
    return made


def _different(word: str) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[column(word)]))


def _is_many_to_many(join: Join, target: Target) -> bool:
    if join.condition is not None or not join.keys:
        return False
    left = [one for one, _ in join.keys]
    right = [other for _, other in join.keys]
    return not (_is_unique(join.left, left, target) or _is_unique(join.right, right, target))


def _is_unique(side: Relation, keys: list[Column], target: Target) -> bool:
    """Whether at most one row of a side has given values of the keys, as far as is declared."""
    match side:
        case Scan(table=table, alias=alias):
            mine = (each.name for each in keys if each.relation == alias)
            declared = (target.table(table).column(name) for name in mine)
            return any(each is not None and each.unique for each in declared)
        case Filter(source=inner) | SemiJoin(left=inner):
            return _is_unique(inner, keys, target)
        case Join(left=left, right=right):
            # A row stays alone if it finds at most one partner.
            ends = [one for one, _ in side.keys], [other for _, other in side.keys]
            return (_is_unique(left, keys, target) and _is_unique(right, ends[1], target)) or (
                _is_unique(right, keys, target) and _is_unique(left, ends[0], target)
            )
    return False


def _product_count(join: Join, target: Target) -> exp.Select:
    """Sum over keys of rows on the left times rows on the right.

    At most 2^63 rows on each side, so products and their sum stay below 2^126.
    """
    parts = []
    for side, place in ((join.left, 0), (join.right, 1)):
        words = [f"key_{number}" for number, _ in enumerate(join.keys, start=1)]
        rows = select(
            side,
            [
                as_alias(column_expression(pair[place]), word)
                for word, pair in zip(words, join.keys, strict=True)
            ],
            target=target,
        )
        counted = as_alias(target.cast(exp.Count(this=exp.Star()), "wide"), "n")
        parts.append(group_by(select_from(rows, [*map(column, words), counted]), words))
    product = exp.Mul(this=column("n", "one"), expression=column("n", "other"))
    made = select_from(
        parts[0], [as_alias(zero_if_null(exp.Sum(this=product)), "value_1")], alias="one"
    )
    agree = [exp.EQ(this=column(word, "one"), expression=column(word, "other")) for word in words]
    other = exp.Subquery(this=parts[1], alias=exp.TableAlias(this=identifier("other")))
    made.append("joins", exp.Join(this=other, on=exp.and_(*agree)))
    return made
