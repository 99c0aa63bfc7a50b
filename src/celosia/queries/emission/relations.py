"""Relations of the algebra as FROM and WHERE, with declared caps kept.

Which rows stay? A row stays if, for each capped column, it is among the first `most` rows of its
value, in an order that follows from the contents of rows alone (a hash of them, then the contents).
All ranks are those in the whole table; no column is cut after another. NULL is no value, and no
cap concerns it; nor a unique column.

Let K(D) be the rows of D that stay, with j capped columns, and r a row that is added.

- For each capped column, r moves later rows of its value back by one place. So at most one row
  leaves the first `most`, and none comes in but r: K(D + r) is K(D), perhaps with r, without at
  most j others. One row changes at most 1 + j rows.
- No rule does better than one displaced row, j = 1: of `most` + 1 rows of one value, one must go.
  Without any of them all others stay, so the rule moves by two rows (one comes, one goes) for
  each of the `most` that it kept.
- To drop all rows of a value that has too many is worse: the row that is one too many takes
  `most` others away.
- A count, or a sum of values that are not negative, of K(D) itself moves by no more than one row
  can add, while j = 1: both K(D) and K(D + r) are one row more than what they share.

With a person as unit all this would fail for a capped column that does not determine the owner: a
person with a thousand rows makes place for a thousand rows of others, whatever their own
contribution is clipped to. Such a cap is refused (CEL-Q120). Where the column determines all owners
of a row, the rows of one value all belong to the same people, come and go with them, and displace
rows of no other person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from sqlglot import exp

from celosia.queries.algebra import (
    DerivedTable,
    Filter,
    GroupedTable,
    Join,
    LeftJoin,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
)
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission import syntax
from celosia.queries.emission.expression_types import infer_type
from celosia.queries.emission.target import Dialect, Target
from celosia.queries.emission.timestamps import DATE_TYPES, as_timestamp
from celosia.queries.policy.values import ColumnPolicy, TablePolicy

CAPPED = "celosia-capped-table"
"""Marks a sub-query with its table, for readers that know that all rows of the table stay."""


def table_source(table: str, *, alias: str, target: Target) -> exp.Expr:
    """A table under an alias, without the rows that are beyond its caps."""
    declared = target.table(table)
    if declared.name in target.views:
        query = target.views[declared.name].copy()
        return exp.Subquery(this=query, alias=exp.TableAlias(this=syntax.identifier(alias)))
    if not capped_columns(declared):
        return exp.Table(
            this=syntax.identifier(declared.name),
            alias=exp.TableAlias(this=syntax.identifier(alias)),
        )
    rows = _kept_rows(_CappedTable(declared, target.dialect, target))
    made = exp.Subquery(this=rows, alias=exp.TableAlias(this=syntax.identifier(alias)))
    made.meta[CAPPED] = declared.name
    return made


@dataclass(frozen=True, slots=True)
class _CappedTable:
    """All that the rows within caps depend on."""

    table: TablePolicy
    dialect: Dialect
    target: Target = field(compare=False)


@lru_cache(maxsize=512)
def _kept_rows(capped: _CappedTable) -> exp.Union:
    """The rows of a table within its caps: one tree for all questions, which nothing may change.

    Queries are rewritten and written as copies, so all that they do to it is to point at it.
    """
    declared, target = capped.table, capped.target
    caps = capped_columns(declared)
    columns = [each.name for each in declared.columns]
    crowds = [crowded_values(declared.name, each, target.dialect) for each in caps]
    if target.dialect == "postgres":
        few, many, common = _parted_in_postgres(declared.name, columns, caps, crowds)
        return _merged(declared, caps, (few, many), target, common)
    among: list[exp.Expr] = [
        exp.In(this=syntax.column(cap.name), query=exp.Subquery(this=crowd))
        for cap, crowd in zip(caps, crowds, strict=True)
    ]
    return _merged(declared, caps, _parted(declared.name, columns, among), target)


def _parted(table: str, columns: list[str], among: list[exp.Expr]) -> tuple[exp.Select, exp.Select]:
    """The rows without a crowded value, and those with one; ranks matter to no other row.

    Of such a value all rows are crowded, so their ranks are those in the whole table. The crowded
    ones are asked for without COALESCE, so that an index of the server finds them.
    """
    absent = [exp.not_(exp.func("COALESCE", each.copy(), exp.false())) for each in among]
    return _rows(table, columns, exp.and_(*absent)), _rows(table, columns, exp.or_(*among))


def _merged(
    declared: TablePolicy,
    caps: list[ColumnPolicy],
    parts: tuple[exp.Select, exp.Select],
    target: Target,
    common: exp.With | None = None,
) -> exp.Union:
    """The rows without a crowded value, and the first ones of those with one."""
    few, many = parts
    columns = [each.name for each in declared.columns]
    # Which rows stay depends on their values alone, in an order that no other row changes: so one
    # row that comes pushes out at most one row of each value that it shares (`table_changes`).
    # A unique column orders rows as well as all columns do, and faster.
    unique = [each.name for each in declared.columns if each.unique][:1] or columns
    order = [
        target.hash_values([syntax.column(each) for each in unique]),
        *map(syntax.column, unique),
    ]
    for number, cap in enumerate(caps):
        place = syntax.row_number([syntax.column(cap.name)], [each.copy() for each in order])
        many.select(
            exp.Alias(this=place, alias=syntax.identifier(f"celosia_place_{number}")), copy=False
        )
    kept = syntax.select_from(many, [syntax.column(each) for each in columns])
    for number, cap in enumerate(caps):
        assert cap.most is not None
        place_fits = syntax.at_most(syntax.column(f"celosia_place_{number}"), cap.most)
        kept.where(exp.or_(_is_null(cap.name), place_fits), copy=False)
    return exp.Union(this=few, expression=kept, distinct=False, with_=common)


Crowds = Mapping[str, Sequence[int | str]]
"""For each capped column of a table, the values that more rows share than the cap allows."""


def rows_within_caps(
    declared: TablePolicy, *, alias: str, crowds: Crowds, target: Target
) -> exp.Expr:
    """The same rows as those of `table_source`, where the crowded values are known.

    Args:
        declared: the table.
        alias: its name in the query.
        crowds: all values of its rows that are crowded.
        target: the engine.
    """
    named = exp.TableAlias(this=syntax.identifier(alias))
    caps = [each for each in capped_columns(declared) if crowds[each.name]]
    if not caps:
        return exp.Table(this=syntax.identifier(declared.name), alias=named)
    columns = [each.name for each in declared.columns]
    among: list[exp.Expr] = [
        exp.In(this=syntax.column(cap.name), expressions=list(map(_written, crowds[cap.name])))
        for cap in caps
    ]
    rows = _merged(declared, caps, _parted(declared.name, columns, among), target)
    return exp.Subquery(this=rows, alias=named)


def _written(value: int | str) -> exp.Expr:
    return syntax.integer_literal(value) if isinstance(value, int) else exp.Literal.string(value)


def replace_capped(tree: Any, source: Callable[[str, str], exp.Expr | None]) -> Any:
    """A copy of a query with other sources in the place of capped tables, which are not copied.

    Args:
        tree: the query, or a part of it.
        source: makes the source of a table under an alias; None to leave it as it is.
    """
    if isinstance(tree, list):
        return [replace_capped(each, source) for each in tree]
    if not isinstance(tree, exp.Expr):
        return tree
    table = tree.meta.get(CAPPED)
    if table is not None and (made := source(table, tree.alias)) is not None:
        return made
    copy = tree.__class__(
        **{word: replace_capped(value, source) for word, value in tree.args.items()}
    )
    if tree.meta:
        copy.meta.update(tree.meta)
    return copy


def capped_columns(declared: TablePolicy) -> list[ColumnPolicy]:
    """The columns of a table whose caps leave rows out."""
    return [each for each in declared.columns if each.most is not None and not each.unique]


def _rows(table: str, columns: list[str], condition: exp.Expr) -> exp.Select:
    return exp.Select(
        expressions=[syntax.column(each) for each in columns],
        from_=exp.From(this=exp.Table(this=syntax.identifier(table))),
        where=exp.Where(this=condition),
    )


def _is_null(word: str) -> exp.Expr:
    return exp.Is(this=syntax.column(word), expression=exp.Null())


def crowded_values(table: str, cap: ColumnPolicy, dialect: Dialect) -> exp.Select:
    """The values that too many rows share."""
    assert cap.most is not None
    rows = _rows(table, [cap.name], exp.not_(_is_null(cap.name)))
    if dialect == "postgres" and cap.type == "integer":
        ordered = syntax.sorted_by(rows, cap.name)
        rows = syntax.select_from(ordered, [syntax.column(cap.name)])
    crowd = syntax.group_by(rows, [cap.name])
    size = exp.Count(this=exp.Star())
    crowd.set("having", exp.Having(this=exp.not_(syntax.at_most(size, cap.most))))
    return crowd


def _parted_in_postgres(
    table: str, columns: list[str], caps: list[ColumnPolicy], crowds: list[exp.Select]
) -> tuple[exp.Select, exp.Select, exp.With]:
    """The rows without a crowded value, those with one, and the crowds, found once for both.

    PostgreSQL computes a sub-query of IN anew in every worker and for every use. A CTE that is kept
    is computed once. Without COALESCE it joins the many with it, and reads nothing where no value
    is crowded; with it, the few are told apart row by row, without a sort.
    """
    words = [f"celosia_crowd_{number}" for number, _ in enumerate(caps)]
    common = [
        exp.CTE(this=crowd, alias=exp.TableAlias(this=syntax.identifier(word)), materialized=True)
        for word, crowd in zip(words, crowds, strict=True)
    ]
    among = [
        exp.In(
            this=syntax.column(cap.name),
            query=exp.Subquery(
                this=exp.Select(
                    expressions=[syntax.column(cap.name)],
                    from_=exp.From(this=exp.Table(this=syntax.identifier(word))),
                )
            ),
        )
        for word, cap in zip(words, caps, strict=True)
    ]
    absent = [exp.not_(exp.func("COALESCE", each.copy(), exp.false())) for each in among]
    few = _rows(table, columns, exp.and_(*absent))
    return few, _rows(table, columns, exp.or_(*among)), exp.With(expressions=common)


def select(relation: Relation, projections: Iterable[exp.Expr], *, target: Target) -> exp.Select:
    """A SELECT of expressions over the rows of a relation."""
    body = _body(relation, target)
    return body.select([each.copy() for each in projections])


def write_expression(expression: exp.Expr, relation: Relation, *, target: Target) -> exp.Expr:
    """An expression of a question over a relation, every name quoted, total in the engine."""
    tree = expression.copy()
    for each in tree.find_all(exp.Identifier):
        each.set("quoted", True)
    match target.dialect:
        case "postgres":
            from celosia.queries.emission.postgres import (
                rewrite_for_postgres,  # one dialect is needed
            )

            return rewrite_for_postgres(tree, relation, target=target)
        case "spark":
            from celosia.queries.emission.spark import rewrite_for_spark

            return rewrite_for_spark(tree, relation, target=target)
    for cut in tree.find_all(exp.TimestampTrunc):
        # DuckDB cuts the first and last moment of a column when it plans, where no TRY around
        # helps if they are at the ends of time. Of TRY it knows no first and last.
        cut.set("this", exp.Try(this=cut.this))
    return tree


@dataclass(frozen=True, slots=True)
class _Body:
    """What FROM and WHERE hold: trees of its own, which become parts of one SELECT."""

    sources: tuple[exp.Expr, ...]
    conditions: tuple[exp.Expr, ...] = ()

    def select(self, projections: list[exp.Expr]) -> exp.Select:
        first, *others = self.sources
        # A plain list, with all conditions in WHERE: the engine finds the order of joins. Beside a
        # left join, whose ON speaks of all before it, a comma would bind too loosely.
        kind = "CROSS" if any(isinstance(each, exp.Join) for each in others) else None
        joins = [each if isinstance(each, exp.Join) else exp.Join(this=each) for each in others]
        for each in joins:
            if kind is not None and not each.side:
                each.set("kind", kind)
        made = exp.Select(expressions=projections, from_=exp.From(this=first), joins=joins)
        if self.conditions:
            made.set("where", exp.Where(this=exp.and_(*self.conditions, copy=False)))
        return made


def _body(relation: Relation, target: Target) -> _Body:  # noqa: PLR0911 - one a kind
    match relation:
        case Scan(table=table, alias=alias):
            return _Body((table_source(table, alias=alias, target=target),))
        case Filter(source=source, condition=condition):
            inner = _body(source, target)
            return _Body(
                inner.sources,
                (*inner.conditions, write_expression(condition, source, target=target)),
            )
        case Join(left=left, right=right):
            one, other = _body(left, target), _body(right, target)
            agree = _join_conditions(relation, target)
            return _Body(one.sources + other.sources, (*one.conditions, *other.conditions, *agree))
        case LeftJoin(left=left, right=right):
            one, other = _body(left, target), _body(right, target)
            (partner,) = other.sources
            on = exp.and_(*other.conditions, *_join_conditions(relation, target), copy=False)
            outer = exp.Join(this=partner, side="LEFT", on=on)
            return _Body((*one.sources, outer), one.conditions)
        case SemiJoin(left=left, right=right, negated=negated):
            one, other = _body(left, target), _body(right, target)
            partners = _Body(
                other.sources, (*other.conditions, *_join_conditions(relation, target))
            )
            found: exp.Expr = exp.Exists(this=partners.select([syntax.integer_literal(1)]))
            test = exp.Not(this=found) if negated else found
            return _Body(one.sources, (*one.conditions, test))
        case DerivedTable(source=source, alias=alias):
            inner_query = select(source, _columns(relation, target), target=target)
            return _Body((_subquery(inner_query, alias),))
        case GroupedTable(alias=alias):
            return _Body((_subquery(_grouped(relation, target), alias),))
        case UnionAll(parts=parts, alias=alias):
            queries = [
                select(part.source, _columns(part, target), target=target)
                for part in _align_dates(parts, target)
            ]
            stacked: exp.Query = queries[0]
            for query in queries[1:]:
                stacked = exp.Union(this=stacked, expression=query, distinct=False)
            return _Body((_subquery(stacked, alias),))


def _grouped(grouped: GroupedTable, target: Target) -> exp.Select:
    """The groups of a sub-query; each value is exact, whatever the order of rows."""
    from celosia.queries.emission.sub_aggregates import argument_columns, group_value

    counted = _counted_within_cap(grouped, target)
    if counted is not None:
        return counted
    columns: list[exp.Expr] = []
    values: list[exp.Expr] = []
    # The owner is often a key as well: grouped by once, under the first of its names.
    by: dict[exp.Expr, str] = {}
    for each in grouped.keys:
        if each.expression in by:
            values.append(syntax.as_alias(syntax.column(by[each.expression]), each.name))
            continue
        by[each.expression] = each.name
        tree = write_expression(each.expression, grouped.source, target=target)
        columns.append(syntax.as_alias(tree, each.name))
        values.append(syntax.column(each.name))
    for aggregate in grouped.aggregates:
        columns += [
            syntax.as_alias(tree, word)
            for word, tree in argument_columns(aggregate, grouped.source, target)
        ]
        values.append(syntax.as_alias(group_value(aggregate, target), aggregate.name))
    columns = columns or [syntax.as_alias(syntax.integer_literal(1), "one")]
    inner = select(grouped.source, columns, target=target)
    return syntax.group_by(syntax.select_from(inner, values), list(by.values()))


def _counted_within_cap(grouped: GroupedTable, target: Target) -> exp.Select | None:
    """The rows of each value of a capped column, counted in the whole table; None for other groups.

    Of a value the first `most` rows stay (see above), whichever they are, and where no other column
    has a cap, all of these: the least of their number and the cap. So nothing needs to be put in
    order, and no value beyond the cap needs to be searched for.
    """
    if not isinstance(grouped.source, Filter) or not isinstance(grouped.source.source, Scan):
        return None
    scan = grouped.source.source
    declared = target.table(scan.table)
    caps = capped_columns(declared)
    if len(caps) != 1 or declared.name in target.views or not grouped.keys:
        return None
    capped = syntax.column(caps[0].name, scan.alias)
    # NULL is no value and has no cap, so a group of it may not be there.
    if grouped.source.condition != exp.Not(this=exp.Is(this=capped, expression=exp.Null())):
        return None
    if any(each.expression != capped for each in grouped.keys) or any(
        each.kind != "rows" for each in grouped.aggregates
    ):
        return None
    assert caps[0].most is not None
    key = grouped.keys[0].name
    number = exp.func("LEAST", exp.Count(this=exp.Star()), syntax.integer_literal(caps[0].most))
    values: list[exp.Expr] = [
        syntax.as_alias(syntax.column(key), each.name) for each in grouped.keys
    ]
    values += [syntax.as_alias(number.copy(), each.name) for each in grouped.aggregates]
    table = exp.Table(
        this=syntax.identifier(declared.name),
        alias=exp.TableAlias(this=syntax.identifier(scan.alias)),
    )
    rows = exp.Select(
        expressions=[syntax.as_alias(capped, key)],
        from_=exp.From(this=table),
        where=exp.Where(this=write_expression(grouped.source.condition, scan, target=target)),
    )
    return syntax.group_by(syntax.select_from(rows, values), [key])


def _join_conditions(pair: Join | LeftJoin | SemiJoin, target: Target) -> tuple[exp.Expr, ...]:
    equal = (
        exp.EQ(this=column_expression(left), expression=column_expression(right))
        for left, right in pair.keys
    )
    if pair.condition is None:
        return tuple(equal)
    # The condition of a semi-join speaks of both sides, as that of a join does.
    both = Join(pair.left, pair.right, pair.keys)
    return (*equal, write_expression(pair.condition, both, target=target))


def _align_dates(parts: tuple[DerivedTable, ...], target: Target) -> list[DerivedTable]:
    """The parts of a stack, dates cast where other parts have timestamps."""
    kinds = [
        [infer_type(each.expression, part.source, target=target) for each in part.columns]
        for part in parts
    ]
    mixed = [set(place).issuperset(DATE_TYPES) for place in zip(*kinds, strict=True)]
    return [
        replace(
            part,
            columns=tuple(
                replace(each, expression=as_timestamp(each.expression))
                if is_mixed and kind == "date"
                else each
                for each, kind, is_mixed in zip(part.columns, own, mixed, strict=True)
            ),
        )
        for part, own in zip(parts, kinds, strict=True)
    ]


def _columns(derived: DerivedTable, target: Target) -> list[exp.Expr]:
    return [
        syntax.as_alias(write_expression(each.expression, derived.source, target=target), each.name)
        for each in derived.columns
    ]


def _subquery(query: exp.Query, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=syntax.identifier(alias)))
