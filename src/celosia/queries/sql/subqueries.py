"""Sub-queries in FROM, CTEs and UNION [ALL]: rows under new names, or groups of rows.

Columns that the policy does not declare are not there, and those that it declares come in its
order. A name that two joined relations have means the left one where the join makes both equal;
otherwise it is ambiguous and is left out: a query that refers to it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from celosia.core.messages import Message
from celosia.queries import algebra
from celosia.queries.sql.conditions import (
    Special,
    conjunction,
    read_condition,
    read_expression,
)
from celosia.queries.sql.grouped import distinct_rows, group_rows
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
from celosia.queries.sql.windows import WindowReader

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


def read_selection(
    select: exp.Select,
    scope: Scope,
    relation: algebra.Relation,
    *,
    special: Special | None = None,
) -> Selection:
    """The columns that a sub-query selects from its rows.

    Args:
        select: the sub-query.
        scope: its relations.
        relation: its rows, whose joins say which columns are equal.
        special: reads what is no row-wise expression, such as a window.

    Raises:
        QueryRefused: CEL-Q025, CEL-Q042, and all that an expression may be refused for.
    """
    columns: list[SelectedColumn] = []
    found: dict[str, Field] = {}
    ambiguous: set[str] = set()
    has_dropped, equal = False, _equal_columns(relation)
    for each in select.expressions:
        if not _is_star(each):
            typed = read_expression(each.unalias(), scope, special=special)
            columns.append(SelectedColumn(each.alias_or_name, typed, each))
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
    is_distinct = isinstance(query, exp.Union) and bool(query.args.get("distinct"))
    parts = _parts(query, visible, builder, distinct=is_distinct)
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
    stack = algebra.UnionAll(sides, alias)
    fields = _fields(alias, first, merged)
    if not is_distinct:
        return FromItem(name, alias, stack, fields)
    outer, shown = builder.aliases.fresh(name), builder.aliases.fresh(name)
    rows = [(word, typed_field(each), query) for word, each in fields.items()]
    relation, kept = distinct_rows(rows, stack, outer)
    named = tuple(algebra.NamedExpression(word, typed.tree) for word, typed, _ in kept)
    derived = algebra.DerivedTable(relation, shown, named)
    return FromItem(name, shown, derived, _fields(shown, derived, [each for _, each, _ in kept]))


def _parts(
    query: exp.Expr, visible: VisibleTables, builder: RelationBuilder, *, distinct: bool = False
) -> list[tuple[exp.Select, VisibleTables]]:
    """The SELECTs between UNION ALLs, or between UNIONs, each with the CTEs that it sees."""
    if isinstance(query, exp.Subquery):
        check_arguments(query, frozenset({"this", "with_"}))
        return _parts(query.this, read_common_tables(query, visible, builder=builder), builder)
    if isinstance(query, exp.Union) and bool(query.args.get("distinct")) == distinct:
        check_arguments(query, frozenset({"this", "expression", "with_", "distinct"}))
        visible = read_common_tables(query, visible, builder=builder)
        left = _parts(query.this, visible, builder, distinct=distinct and _is_union(query.this))
        return left + _parts(query.expression, visible, builder)
    if isinstance(query, exp.SetOperation):
        raise set_operation_refusal(query)
    if not isinstance(query, exp.Select):
        raise refusal("CEL-Q025.not_a_table_not_a_select", at=query)
    return [(query, visible)]


def _is_union(query: exp.Expr) -> bool:
    return isinstance(query, exp.Union) and bool(query.args.get("distinct"))


def _one(
    select: exp.Select,
    visible: VisibleTables,
    alias: str,
    columns: Sequence[str],
    builder: RelationBuilder,
) -> tuple[algebra.DerivedTable, Selection]:
    relation, made = select_rows(select, visible, alias, builder)
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
    return algebra.DerivedTable(relation, alias, columns_made), made


_MORE = frozenset({"group", "having", "distinct", "qualify", "order"})


def select_rows(
    select: exp.Select, visible: VisibleTables, alias: str, builder: RelationBuilder
) -> tuple[algebra.Relation, Selection]:
    """The rows of a sub-query, grouped or numbered where it says so, and its columns."""
    check_rows(select)
    rows = builder.rows(select, visible=visible, allowed=_MORE)
    relation = rows.relation
    if is_grouped(select):
        if select.args.get("distinct"):
            raise refusal("CEL-Q042.distinct_of_groups", at=select)
        made, columns = group_rows(select, rows.scope, relation, builder.aliases.fresh(alias))
        return made, _selection(columns)
    reader = WindowReader(rows.scope, builder.aliases.fresh(f"{alias}_rows"))
    found = read_selection(select, rows.scope, relation, special=reader.special)
    columns = [(each.name, each.value, each.node) for each in found.columns]
    conditions = _number_conditions(select, reader)
    if reader.windows:
        relation, columns = reader.place(relation, columns, conjunction(conditions))
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is None:
        relation, columns = distinct_rows(columns, relation, builder.aliases.fresh(alias))
    return relation, replace(
        _selection(columns), ambiguous=found.ambiguous, has_gaps=found.has_gaps
    )


def _selection(columns: list[tuple[str, TypedExpression, exp.Expr]]) -> Selection:
    return Selection(tuple(SelectedColumn(*each) for each in columns))


def _number_conditions(select: exp.Select, reader: WindowReader) -> list[exp.Expression]:
    """The conditions of QUALIFY and DISTINCT ON."""
    found = []
    if (qualify := select.args.get("qualify")) is not None:
        found.append(read_condition(qualify.this, reader.scope, special=reader.special))
    distinct, order = select.args.get("distinct"), select.args.get("order")
    on = None if distinct is None else distinct.args.get("on")
    if on is not None:
        parts = list(on.expressions) if isinstance(on, exp.Tuple) else [on.unnest()]
        number = reader.number_rows(parts, list(order.expressions) if order else [])
        found.append(exp.EQ(this=number.tree, expression=exp.Literal.number(1)))
    return found


def is_grouped(select: exp.Select) -> bool:
    """Whether a sub-query makes groups of rows."""
    if select.args.get("group") or select.args.get("having"):
        return True
    return any(
        isinstance(node, AGGREGATES)
        for each in select.expressions
        for node in each.walk(prune=lambda node: isinstance(node, exp.Query | exp.Window))
    )


def does_more(select: exp.Select) -> bool:
    """Whether a sub-query does more to rows than choose and rename them."""
    has_windows = any(
        isinstance(node, exp.Window)
        for each in select.expressions
        for node in each.walk(prune=lambda node: isinstance(node, exp.Query))
    )
    distinct = select.args.get("distinct")
    is_first = distinct is not None and distinct.args.get("on") is not None
    return is_grouped(select) or has_windows or is_first or bool(select.args.get("qualify"))


def check_rows(select: exp.Select) -> None:
    """Refuse a sub-query that keeps some rows by their place among all."""
    distinct = select.args.get("distinct")
    for name in ("limit", "offset", "order"):
        if name == "order" and distinct is not None and distinct.args.get("on") is not None:
            continue
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
