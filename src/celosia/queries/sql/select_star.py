"""Columns of a sub-query, each under its name; `*` stands for the declared columns.

Columns that the policy does not declare are not there, and those that it declares come in its
order. A name that two joined relations have means the left one where the join makes both equal;
otherwise it is ambiguous and is left out: a query that refers to it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.queries.algebra import Column, Join, Relation, walk
from celosia.queries.sql.conditions import read_expression
from celosia.queries.sql.forbidden_parts import star_refusal
from celosia.queries.sql.kinds import TypedExpression, typed_field
from celosia.queries.sql.names import Field, FromItem, Scope
from celosia.queries.sql.refusals import check_arguments, refusal


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


def read_selection(select: exp.Select, scope: Scope, relation: Relation) -> Selection:
    """The columns that a sub-query selects from its rows.

    Args:
        select: the sub-query.
        scope: its relations.
        relation: its rows, whose joins say which columns are equal.

    Raises:
        QueryRefused: CEL-Q026, CEL-Q028, CEL-Q042, and all that an expression may be refused for.
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
        raise star_refusal(select)
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
        raise _nothing_to_exclude(node, sorted(unknown)[0])
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
        raise refusal("CEL-Q026.no_relation_of_star", table=node.text("table"), at=node)
    return [item]


def _is_merged(name: str, field: Field, item: FromItem, node: exp.Expr, scope: Scope) -> bool:
    """Whether USING has put a column together with one that came before it."""
    if not isinstance(node, exp.Star) or name not in scope.merged:
        return False
    first, equal = scope.merged[name]
    return item.alias in equal and field.column != first.column


def _equal_columns(relation: Relation) -> Mapping[Column, set[Column]]:
    """The columns that joins make equal, each with all of them."""
    classes: dict[Column, set[Column]] = {}
    for part in walk(relation):
        for pair in part.keys if isinstance(part, Join) else ():
            together = set(pair).union(*(classes.get(each, set()) for each in pair))
            classes |= dict.fromkeys(together, together)
    return classes


def _nothing_to_exclude(node: exp.Expr, name: str) -> CelosiaError:
    return refusal("CEL-Q026.nothing_to_exclude", name=name, at=node)
