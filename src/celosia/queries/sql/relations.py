"""FROM and WHERE as relations: tables, joins, sub-queries, conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.wording import did_you_mean
from celosia.queries.algebra import Column, Filter, Relation, Scan
from celosia.queries.policy.values import Policy
from celosia.queries.sql.conditions import conjunction, conjuncts
from celosia.queries.sql.joins import JoinCondition, analyse_condition, join_items, make_equality
from celosia.queries.sql.kinds import typed_field
from celosia.queries.sql.names import Aliases, Field, FromItem, Scope
from celosia.queries.sql.refusals import check_arguments, refusal
from celosia.queries.sql.semi_joins import OuterQuery, is_semi_join, read_semi_join
from celosia.queries.sql.subqueries import CommonTable, read_common_tables, read_derived_table

_ROWS = frozenset({"with_", "expressions", "from_", "joins", "where"})
_TABLE = frozenset({"this", "db", "catalog", "alias", "joins"})
_JOIN = frozenset({"this", "on", "using", "kind", "side", "method"})


@dataclass(frozen=True, slots=True)
class SelectRows:
    """The rows of a SELECT before they are shown or aggregated."""

    relation: Relation
    scope: Scope
    ties: tuple[JoinCondition, ...] = ()
    """Conditions that also refer to the query around it."""


@dataclass(frozen=True, slots=True)
class RelationBuilder:
    """Builds the relations of one question."""

    policy: Policy
    aliases: Aliases = field(default_factory=Aliases)
    declared: list[CommonTable] = field(default_factory=list)
    used: list[CommonTable] = field(default_factory=list)

    def rows(
        self,
        select: exp.Select,
        *,
        visible: Mapping[str, CommonTable],
        allowed: frozenset[str] = frozenset(),
        outer: Scope | None = None,
    ) -> SelectRows:
        """The rows that FROM and WHERE make.

        Args:
            select: the query.
            visible: the CTEs that can be referred to.
            allowed: clauses that the caller takes care of.
            outer: the scope around an EXISTS or IN.
        """
        check_arguments(select, _ROWS | allowed)
        visible = read_common_tables(select, visible, builder=self)
        scope = Scope(outer=outer)
        start = select.args.get("from_")
        if start is None:
            raise refusal("CEL-Q029.no_from", at=select)
        conditions = self._sources(start.this, scope, visible)
        for join in select.args.get("joins") or []:
            conditions += self._join(join, scope, visible)
        where = select.args.get("where")
        wanted = list(conjuncts(where.this if where else None))
        conditions += [analyse_condition(each, scope) for each in wanted if not is_semi_join(each)]
        own = [each for each in conditions if each.mentions <= scope.aliases]
        relation, rest = join_items(list(scope.items.values()), own)
        if (kept := conjunction([each.tree for each in rest])) is not None:
            relation = Filter(relation, kept)
        for each in wanted:
            if is_semi_join(each):
                relation = read_semi_join(
                    each, relation, OuterQuery(scope, wanted, visible), builder=self
                )
        ties = tuple(each for each in conditions if not each.mentions <= scope.aliases)
        return SelectRows(relation, scope, ties)

    def _join(
        self, join: exp.Join, scope: Scope, visible: Mapping[str, CommonTable]
    ) -> list[JoinCondition]:
        check_arguments(join, _JOIN)
        _check_kind(join)
        before = list(scope.items.values())
        conditions = self._sources(join.this, scope, visible)
        latest = list(scope.items.values())[-1].alias
        for name in join.args.get("using") or []:
            conditions.append(_using(name, before, scope, latest))
        for node in conjuncts(join.args.get("on")):
            conditions.append(analyse_condition(node, scope, joins=latest))
        return conditions

    def _sources(
        self, node: exp.Expr, scope: Scope, visible: Mapping[str, CommonTable]
    ) -> list[JoinCondition]:
        """Put what stands in FROM into the scope; the conditions of joins inside brackets."""
        conditions: list[JoinCondition] = []
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            check_arguments(node, frozenset({"this", "joins"}))
            conditions += self._sources(node.this, scope, visible)
        elif isinstance(node, exp.Subquery):
            check_arguments(node, frozenset({"this", "alias", "joins"}))
            alias, columns = _alias(node)
            scope.add(
                read_derived_table(
                    node.this, alias or "subquery", columns, builder=self, visible=visible
                ),
                at=node,
            )
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            scope.add(self._table(node, visible), at=node)
        else:
            raise _not_a_table(node)
        for join in node.args.get("joins") or []:
            conditions += self._join(join, scope, visible)
        return conditions

    def _table(self, node: exp.Table, visible: Mapping[str, CommonTable]) -> FromItem:
        check_arguments(node, _TABLE)
        name = ".".join(part.name for part in node.parts)
        alias, columns = _alias(node)
        if name.lower() in visible:
            common = visible[name.lower()]
            self.used.append(common)
            return read_derived_table(
                common.query,
                alias or name,
                columns or common.columns,
                builder=self,
                visible=common.visible,
            )
        table = self.policy.table(name)
        if table is None:
            raise self._unknown(node, name, visible)
        if columns:
            raise refusal("CEL-Q042.renamed_columns", at=node)
        unique = self.aliases.fresh(alias or node.name)
        fields = {
            each.name.lower(): Field(Column(unique, each.name), each.type, is_plain=True)
            for each in table.columns
        }
        return FromItem(alias or node.name, unique, Scan(table.name, unique), fields)

    def _unknown(
        self, node: exp.Table, name: str, visible: Mapping[str, CommonTable]
    ) -> CelosiaError:
        known = [table.name for table in self.policy.tables] + list(visible)
        return refusal("CEL-Q025", hint=did_you_mean(name, known), at=node, table=name)


def _alias(node: exp.Expr) -> tuple[str, tuple[str, ...]]:
    alias = node.args.get("alias")
    if alias is None:
        return "", ()
    return alias.name, tuple(column.name for column in alias.args.get("columns") or [])


def _using(name: exp.Expr, before: list[FromItem], scope: Scope, latest: str) -> JoinCondition:
    """USING (x): the one x so far equals the x of the relation that is joined."""
    column = exp.column(name.copy())
    last = next(item for item in scope.items.values() if item.alias == latest)
    sides = Scope(items={item.name.lower(): item for item in before}, merged=dict(scope.merged))
    left, right = sides.find(column), Scope(items={last.name.lower(): last}).find(column)
    made = make_equality(typed_field(left), typed_field(right), at=name, joins=latest)
    scope.merge(name.name.lower(), left, right)
    return made


def _check_kind(join: exp.Join) -> None:
    method, side, kind = (join.args.get(name) or "" for name in ("method", "side", "kind"))
    if method or isinstance(join.this, exp.Lateral) or kind in ("SEMI", "ANTI", "STRAIGHT"):
        word = method or ("LATERAL" if isinstance(join.this, exp.Lateral) else kind)
        raise refusal("CEL-Q036.join_kind", kind=word, at=join.this)
    if side or kind == "OUTER":
        raise refusal("CEL-Q034", side=side or kind, at=join.this)
    if kind == "CROSS":
        raise refusal("CEL-Q035.cross_join", at=join.this)
    if kind not in ("", "INNER"):
        raise refusal("CEL-Q036.join_kind", kind=kind, at=join.this)


def _not_a_table(node: exp.Expr) -> CelosiaError:
    if isinstance(node, exp.Lateral):
        return refusal("CEL-Q036.lateral", at=node)
    return refusal("CEL-Q029.not_a_table", at=node)
