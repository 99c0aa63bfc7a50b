"""The rows of a question as plain columns: keys, owners and values, to be aggregated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from celosia.core.errors import InputError, QueryRefused
from celosia.queries.algebra import Aggregate, Question, Relation
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.emission.fixed_point import FixedPoint
from celosia.queries.emission.relations import select, write_expression
from celosia.queries.emission.target import (
    Target,
    as_alias,
    column,
    group_by,
    identifier,
    integer_literal,
    order_by,
    select_from,
)
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
            raise InputError("CEL-Q131")

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

    def rows(self, *, only_group_keys: bool = False) -> exp.Select:
        """The keys, owners and values of every row, if wished only of rows with known keys."""
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
            raise QueryRefused("CEL-Q132", name=aggregate.name, kind=aggregate.kind_in_words)
        source = self.question.source
        tree = write_expression(argument, source, target=self.target)
        if aggregate.kind != "sum":
            return tree
        if aggregate.name not in self.fixed:
            raise QueryRefused("CEL-Q133", name=aggregate.name)
        declared = self.target.declared_column(argument, source)
        is_whole = declared is not None and declared.type == "integer"
        return self.fixed[aggregate.name].tree(
            tree, is_whole=is_whole, target=self.target, as_real=self._is_real(aggregate)
        )

    def _is_real(self, aggregate: Aggregate) -> bool:
        """Whether whole steps are added up in doubles."""
        is_fast = self.saturating and self.target.dialect in ("duckdb", "spark")
        return is_fast and self.fixed[aggregate.name].is_exact_in_doubles

    def aggregate_expression(self, word: str, aggregate: Aggregate) -> exp.Expr:
        """The aggregate of a group: a whole number, 0 for no rows.

        Whole numbers from 0 are added up in doubles without fault as long as no sum of some of them
        passes 2^53, and no such sum is above the whole. Once it is passed, more only leads further
        up, in whatever order: so the lesser of 2^53 and the sum is exact, always. Engines are three
        times as fast with doubles as with 128 bits.
        """
        match aggregate.kind:
            case "rows":
                return exp.Count(this=exp.Star())
            case "count":
                return exp.Count(this=column(word))
            case "distinct":
                return exp.Count(this=exp.Distinct(expressions=[column(word)]))
            case _ if self._is_real(aggregate):
                most = self.target.cast(integer_literal(EXACT), "real")
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
    projections: list[exp.Expr] = [column(each) for each in by]
    projections += [
        as_alias(flat.aggregate_expression(word, each), word) for word, each in flat.aggregates
    ]
    return group_by(select_from(source, projections), by)


def _literal(value: Value) -> exp.Expr:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    return exp.Literal.string(value) if isinstance(value, str) else integer_literal(value)
