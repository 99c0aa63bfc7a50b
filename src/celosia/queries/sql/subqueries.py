"""Sub-queries in FROM, CTEs and UNION ALL: rows under new names, without aggregates.

Columns that the policy does not declare are not there, and those that it declares come in its
order. A name that two joined relations have means the left one where the join makes both equal;
otherwise it is ambiguous and is left out: a query that refers to it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from celosia.core.messages import Message
from celosia.queries import algebra
from celosia.queries.sql.conditions import read_expression
from celosia.queries.sql.names import (
    Field,
    FromItem,
    Scope,
    TypedExpression,
    typed_field,
    unify_kinds,
)
from celosia.queries.sql.parser import set_operation_refusal
from celosia.queries.sql.refusals import AGGREGATES, check_arguments, refusal

if TYPE_CHECKING:
    from celosia.queries.sql.relations import RelationBuilder


@dataclass(frozen=True, slots=True)
class SelectedColumn:
    """A column of a sub-query."""

    name: str
    """Empty where the query gives none."""
    value: TypedExpression
    node: exp.Expr


@dataclass(frozen=True, slots=True)
class Selection:
    """All columns of a sub-query."""

    columns: tuple[SelectedColumn, ...]
    ambiguous: frozenset[str] = frozenset()
    """Names, in lower case, that `*` gives to several columns which need not be equal."""
    has_gaps: bool = False
    """Whether columns of one name were left out, so that places do not count any more."""

    @property
    def values(self) -> list[TypedExpression]:
        """The values of the columns."""
        return [each.value for each in self.columns]


def read_selection(select: exp.Select, scope: Scope, relation: algebra.Relation) -> Selection:
    """The columns that a sub-query selects from its rows.

    Args:
        select: the sub-query.
        scope: its relations.
        relation: its rows, whose joins say which columns are equal.

    Raises:
        QueryRefused: CEL-Q025, CEL-Q042, and all that an expression may be refused for.
    """
    columns: list[SelectedColumn] = []
    found: dict[str, Field] = {}
    ambiguous: set[str] = set()
    has_dropped, equal = False, _equal_columns(relation)
    for each in select.expressions:
        if not _is_star(each):
            columns.append(
                SelectedColumn(each.alias_or_name, read_expression(each.unalias(), scope), each)
            )
            continue
        for name, field in _expand_star(each, scope, ambiguous):
            if name not in found:
                found[name] = field
                columns.append(SelectedColumn(name, typed_field(field), each))
                continue
            has_dropped = True
            if field.column not in equal.get(found[name].column, {found[name].column}):
                ambiguous.add(name)
    kept = [each for each in columns if not (_is_star(each.node) and each.name in ambiguous)]
    if not kept:
        raise refusal("CEL-Q042.star", at=select)
    return Selection(tuple(kept), frozenset(ambiguous), has_dropped or bool(ambiguous))


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def _expand_star(node: exp.Expr, scope: Scope, ambiguous: set[str]) -> Iterator[tuple[str, Field]]:
    """The columns that a star stands for, in order; names in doubt are noted, and not given."""
    sign = node if isinstance(node, exp.Star) else node.this
    check_arguments(sign, frozenset({"except_"}))
    if isinstance(node, exp.Column):
        check_arguments(node, frozenset({"this", "table"}))
    left_out = {_excluded_name(each, node) for each in sign.args.get("except_") or []}
    items = _find_column(node, scope)
    unknown = left_out - {name for item in items for name in item.fields}
    if unknown:
        raise refusal("CEL-Q025.column_nothing_to_exclude", name=sorted(unknown)[0], at=node)
    for item in items:
        ambiguous |= item.ambiguous - left_out
        for name, field in item.fields.items():
            if name not in left_out and not _is_merged(name, field, item, node, scope):
                yield name, field


def _excluded_name(name: exp.Expr, node: exp.Expr) -> str:
    """The name of a column that EXCLUDE leaves out."""
    if isinstance(name, exp.Column):
        check_arguments(name, frozenset({"this"}))
        name = name.this
    if not isinstance(name, exp.Identifier):
        raise refusal("CEL-Q042.excluded", at=node)
    return name.name.lower()


def _find_column(node: exp.Expr, scope: Scope) -> list[FromItem]:
    if isinstance(node, exp.Star):
        return list(scope.items.values())
    item = scope.items.get(node.text("table").lower())
    if item is None:
        raise refusal("CEL-Q025.column_no_relation_of_star", table=node.text("table"), at=node)
    return [item]


def _is_merged(name: str, field: Field, item: FromItem, node: exp.Expr, scope: Scope) -> bool:
    """Whether USING has put a column together with one that came before it."""
    if not isinstance(node, exp.Star) or name not in scope.merged:
        return False
    first, equal = scope.merged[name]
    return item.alias in equal and field.column != first.column


def _equal_columns(relation: algebra.Relation) -> Mapping[algebra.Column, set[algebra.Column]]:
    """The columns that joins make equal, each with all of them."""
    classes: dict[algebra.Column, set[algebra.Column]] = {}
    for part in algebra.walk(relation):
        for pair in part.keys if isinstance(part, algebra.Join) else ():
            together = set(pair).union(*(classes.get(each, set()) for each in pair))
            classes |= dict.fromkeys(together, together)
    return classes


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A CTE: its query, and the CTEs that it may refer to itself."""

    node: exp.CTE
    query: exp.Query
    columns: tuple[str, ...]
    visible: Mapping[str, CommonTable]


VisibleTables = Mapping[str, CommonTable]


def read_common_tables(
    query: exp.Expr, visible: VisibleTables, *, builder: RelationBuilder
) -> VisibleTables:
    """The CTEs that a query can refer to: those around it, and its own."""
    clause = query.args.get("with_")
    if clause is None:
        return visible
    if clause.args.get("recursive"):
        raise refusal("CEL-Q042.recursive", at=clause)
    check_arguments(clause, frozenset({"expressions"}))
    known = dict(visible)
    for each in clause.expressions:
        check_arguments(each, frozenset({"this", "alias", "materialized"}))
        if not isinstance(each.this, exp.Query):
            raise refusal("CEL-Q025.not_a_table_not_a_select", at=each)
        columns = tuple(column.name for column in each.args["alias"].args.get("columns") or [])
        made = CommonTable(each, each.this, columns, dict(known))
        builder.declared.append(made)
        known[each.alias.lower()] = made
    return known


def check_used(builder: RelationBuilder) -> None:
    """Refuse a CTE that nothing refers to, since it has not been checked."""
    for each in builder.declared:
        if not any(each is used for used in builder.used):
            raise refusal("CEL-Q042.unused", alias=each.node.alias, at=each.node)


def read_derived_table(
    query: exp.Expr,
    name: str,
    columns: Sequence[str],
    *,
    builder: RelationBuilder,
    visible: VisibleTables,
) -> FromItem:
    """A sub-query as a relation of FROM.

    Args:
        query: SELECT, or several with UNION ALL between them.
        name: what it is called in FROM.
        columns: new names of its columns; none for the names it has.
        builder: of the question.
        visible: the CTEs that can be referred to.
    """
    parts = _parts(query, visible, builder)
    alias = builder.aliases.fresh(name)
    if len(parts) == 1:
        made, selected = _one(*parts[0], alias, columns, builder)
        fields = _fields(alias, made, selected.values)
        return FromItem(name, alias, made, fields, selected.ambiguous)
    stacked = [
        _one(part, known, builder.aliases.fresh(alias), columns, builder) for part, known in parts
    ]
    first = stacked[0][0]
    for made, selected in stacked:
        if selected.has_gaps:
            raise refusal("CEL-Q027.output_positions", use="UNION ALL", at=query)
        if len(made.columns) != len(first.columns):
            raise refusal("CEL-Q049.union_columns", at=query)
    same = tuple(each.name for each in first.columns)
    sides = tuple(_rename_columns(made, same) for made, _ in stacked)
    merged = []
    for place in range(len(same)):
        values = [selected.values[place] for _, selected in stacked]
        _, kind = unify_kinds(values, at=query, use="UNION ALL")
        plain = all(each.is_plain for each in values)
        merged.append(TypedExpression(exp.Null(), kind, plain))
    return FromItem(name, alias, algebra.UnionAll(sides, alias), _fields(alias, first, merged))


def _parts(
    query: exp.Expr, visible: VisibleTables, builder: RelationBuilder
) -> list[tuple[exp.Select, VisibleTables]]:
    """The SELECTs between UNION ALLs, each with the CTEs that it sees."""
    if isinstance(query, exp.Subquery):
        check_arguments(query, frozenset({"this", "with_"}))
        return _parts(query.this, read_common_tables(query, visible, builder=builder), builder)
    if isinstance(query, exp.Union) and not query.args.get("distinct"):
        check_arguments(query, frozenset({"this", "expression", "with_"}))
        visible = read_common_tables(query, visible, builder=builder)
        return _parts(query.this, visible, builder) + _parts(query.expression, visible, builder)
    if isinstance(query, exp.SetOperation):
        raise set_operation_refusal(query)
    if not isinstance(query, exp.Select):
        raise refusal("CEL-Q025.not_a_table_not_a_select", at=query)
    return [(query, visible)]


def _one(
    select: exp.Select,
    visible: VisibleTables,
    alias: str,
    columns: Sequence[str],
    builder: RelationBuilder,
) -> tuple[algebra.DerivedTable, Selection]:
    check_rows(select)
    rows = builder.rows(select, visible=visible)
    made = read_selection(select, rows.scope, rows.relation)
    if columns and made.has_gaps:
        raise refusal("CEL-Q027.output_positions", use=Message("queries.sql.new_names"), at=select)
    if columns and len(columns) != len(made.columns):
        raise refusal(
            "CEL-Q042.names_of_columns",
            column_count=len(made.columns),
            name_count=len(columns),
            at=select,
        )
    names = list(columns) or [each.name for each in made.columns]
    lowered = [name.lower() for name in names]
    for each, name in zip(made.columns, lowered, strict=True):
        if not name or lowered.count(name) > 1:
            raise refusal("CEL-Q027.output_no_name", at=each.node)
        if each.value.kind == "interval":
            raise refusal("CEL-Q049.interval_alone", at=each.node)
    named = zip(lowered, made.columns, strict=True)
    columns_made = tuple(algebra.NamedExpression(name, each.value.tree) for name, each in named)
    return algebra.DerivedTable(rows.relation, alias, columns_made), made


def check_rows(select: exp.Select) -> None:
    """Refuse a sub-query that does more to rows than choose and rename them."""
    is_aggregate = any(
        isinstance(node, AGGREGATES)
        for each in select.expressions
        for node in each.walk(prune=lambda node: isinstance(node, exp.Query | exp.Window))
    )
    if is_aggregate or select.args.get("group") or select.args.get("having"):
        raise refusal("CEL-Q043.aggregates", at=select)
    if select.args.get("distinct"):
        raise refusal("CEL-Q042.distinct", at=select)
    for name in ("limit", "offset", "order"):
        if (clause := select.args.get(name)) is not None:
            raise refusal("CEL-Q042.in_subquery", name=name.upper(), at=clause)


def _rename_columns(part: algebra.DerivedTable, names: Sequence[str]) -> algebra.DerivedTable:
    columns = tuple(
        algebra.NamedExpression(name, each.expression)
        for name, each in zip(names, part.columns, strict=True)
    )
    return algebra.DerivedTable(part.source, part.alias, columns)


def _fields(
    alias: str, part: algebra.DerivedTable, typed: Sequence[TypedExpression]
) -> dict[str, Field]:
    return {
        each.name: Field(algebra.Column(alias, each.name), value.kind, value.is_plain)
        for each, value in zip(part.columns, typed, strict=True)
    }
