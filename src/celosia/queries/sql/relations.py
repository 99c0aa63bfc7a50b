"""FROM and WHERE as relations: tables, equijoins, semi-joins of IN and EXISTS, conditions.

Inner joins commute, so ON, USING and WHERE all give the same pool of conditions. Relations are
joined from left to right as the query has them, each as soon as an equality ties it to the rest.

They are joins as far as privacy goes: one row of the inner table can bring in or take out many of
the outer one.

NOT IN is another matter: where the inner column or the outer one is NULL, it keeps nothing, or
everything, by the rules of three-valued logic, and that is no anti-join. It is taken only where
both are said to be not NULL by conditions of the query, which makes the two the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message, did_you_mean
from celosia.queries.algebra import (
    Column,
    Filter,
    Join,
    Keys,
    LeftJoin,
    Relation,
    Scan,
    SemiJoin,
)
from celosia.queries.policy.values import Policy
from celosia.queries.sql import subqueries
from celosia.queries.sql.conditions import (
    conjunction,
    conjuncts,
    mentioned_aliases,
    read_condition,
    read_expression,
)
from celosia.queries.sql.names import (
    Aliases,
    Field,
    FromItem,
    Scope,
    TypedExpression,
    typed_field,
    unify_kinds,
)
from celosia.queries.sql.parser import set_operation_refusal
from celosia.queries.sql.refusals import check_arguments, refusal


@dataclass(frozen=True, slots=True)
class JoinCondition:
    """One of the conditions that AND puts together."""

    node: exp.Expr
    """As it is written."""
    tree: exp.Expression
    mentions: frozenset[str]
    pair: tuple[Column, Column] | None
    """The columns of tables that it says are equal; None for any other condition."""
    joins: str | None
    """The alias of the relation whose ON or USING it is from; None for WHERE."""


def analyse_condition(node: exp.Expr, scope: Scope, *, joins: str | None = None) -> JoinCondition:
    """A condition with what a join needs to know of it."""
    tree = read_condition(node, scope)
    pair = None
    if isinstance(node, exp.EQ):
        left, right = read_expression(node.this, scope), read_expression(node.expression, scope)
        if left.is_plain and right.is_plain:
            pair = (_column(left.tree), _column(right.tree))
    return JoinCondition(node, tree, mentioned_aliases(tree), pair, joins)


def make_equality(
    left: TypedExpression, right: TypedExpression, *, at: exp.Expr, joins: str | None = None
) -> JoinCondition:
    """The condition of USING and of IN: two columns are equal."""
    unify_kinds([left, right], at=at, use="join")
    tree = exp.EQ(this=left.tree, expression=right.tree)
    made = JoinCondition(tree, tree, mentioned_aliases(tree), None, joins)
    if not (left.is_plain and right.is_plain):
        raise not_an_equijoin(made, Message("queries.sql.other_side"), at=at)
    return replace(made, node=at, pair=(_column(left.tree), _column(right.tree)))


def _column(tree: exp.Expression) -> Column:
    assert isinstance(tree, exp.Column)
    return Column(tree.table, tree.name)


def find_join_keys(
    conditions: Sequence[JoinCondition], left: frozenset[str], right: frozenset[str]
) -> tuple[Keys, list[JoinCondition]]:
    """The pairs that tie two sides, each once and the left one first; and their conditions."""
    keys: dict[tuple[Column, Column], None] = {}
    used = []
    for each in conditions:
        if each.pair is None:
            continue
        first, second = each.pair
        if first.relation in right and second.relation in left:
            first, second = second, first
        if first.relation in left and second.relation in right:
            keys[(first, second)] = None
            used.append(each)
    return tuple(keys), used


def join_items(
    items: Sequence[FromItem],
    conditions: Sequence[JoinCondition],
    outer: Mapping[str, Sequence[JoinCondition]],
) -> tuple[Relation, list[JoinCondition]]:
    """One relation of all items, and the conditions of WHERE that it did not need.

    Args:
        items: what stands in FROM, in order.
        conditions: of inner joins and WHERE.
        outer: by the alias of each item of a left join, the conditions of its ON.

    Raises:
        QueryRefused: CEL-Q036, where nothing ties an item to the others.
    """
    first, *waiting = items
    relation, done = first.relation, frozenset({first.alias})
    rest = list(conditions)
    while waiting:
        place = next((at for at, item in enumerate(waiting) if item.alias in outer), len(waiting))
        if place == 0:
            item = waiting.pop(0)
            relation = _left_join(relation, item, done, outer[item.alias])
            done |= {item.alias}
            continue
        after = waiting[place:]
        relation, done, rest = _join_inner(relation, done, waiting[:place], rest)
        waiting = after
    return relation, rest


def _left_join(
    relation: Relation, item: FromItem, done: frozenset[str], on: Sequence[JoinCondition]
) -> LeftJoin:
    keys, used = find_join_keys(on, done, frozenset({item.alias}))
    if not keys:
        raise _no_join_key(item, done, on)
    rest = conjunction([each.tree for each in on if each not in used])
    return LeftJoin(relation, item.relation, keys, rest)


def _join_inner(
    relation: Relation,
    done: frozenset[str],
    items: Sequence[FromItem],
    conditions: Sequence[JoinCondition],
) -> tuple[Relation, frozenset[str], list[JoinCondition]]:
    """The relation with more items, the aliases in it, and the conditions that are left."""
    waiting, rest = list(items), list(conditions)
    while waiting:
        for item in waiting:
            keys, used = find_join_keys(rest, done, frozenset({item.alias}))
            if keys:
                break
        else:
            raise _no_join_key(waiting[0], done, rest)
        waiting.remove(item)
        done |= {item.alias}
        rest = [each for each in rest if each not in used]
        extra = [each for each in rest if each.joins is not None and each.mentions <= done]
        rest = [each for each in rest if each not in extra]
        relation = Join(relation, item.relation, keys, conjunction([each.tree for each in extra]))
    return relation, done, rest


def _no_join_key(
    item: FromItem, done: frozenset[str], conditions: Sequence[JoinCondition]
) -> CelosiaError:
    """Say which condition was meant to join, and why it does not."""
    own = [each for each in conditions if each.joins == item.alias]
    across = [each for each in conditions if item.alias in each.mentions and each.mentions & done]
    for each in across or own:
        return not_an_equijoin(each, f"'{item.name}'")
    return refusal("CEL-Q036.cross_not_tied", relation=item.name)


def not_an_equijoin(given: JoinCondition, side: str, *, at: exp.Expr | None = None) -> CelosiaError:
    """The refusal of a condition that ties a relation, but not by an equality of two columns.

    Args:
        given: the condition.
        side: what it ties, in words.
        at: the part of the query that is meant, if it is not the condition.
    """
    node, columns = given.node, list(given.tree.find_all(exp.Column))
    place = node if at is None else at
    if isinstance(node, exp.Or):
        return refusal("CEL-Q036.or", side=side, at=place)
    if not columns:
        return refusal("CEL-Q036.constant", side=side, at=place)
    if isinstance(node, exp.EQ) and len(given.mentions) > 1:
        return refusal("CEL-Q036.computed", at=place)
    if len(given.mentions) == 1:
        return refusal("CEL-Q036.one_side", side=side, at=place)
    return refusal("CEL-Q036.not_by_equality", side=side, at=place)


def is_semi_join(node: exp.Expr) -> bool:
    """Whether a condition is [NOT] EXISTS (SELECT ...) or x [NOT] IN (SELECT ...)."""
    inner = _without_not(node)
    return isinstance(inner, exp.Exists) or (
        isinstance(inner, exp.In) and inner.args.get("query") is not None
    )


def _without_not(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Not | exp.Paren):
        node = node.this
    return node


def _is_negated(node: exp.Expr) -> bool:
    negated = False
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return negated


@dataclass(frozen=True, slots=True)
class OuterQuery:
    """The query around a sub-query."""

    scope: Scope
    conditions: Sequence[exp.Expr]
    """All conditions that AND puts together with the one that holds the sub-query."""
    visible: Mapping[str, subqueries.CommonTable]
    node: exp.Expr | None = None
    """The condition that holds it."""


def read_semi_join(
    node: exp.Expr, left: Relation, around: OuterQuery, *, builder: RelationBuilder
) -> SemiJoin:
    """The rows of a relation that meet a condition with a sub-query.

    Args:
        node: the condition.
        left: the rows so far.
        around: the query that it is in.
        builder: of the question.
    """
    inner, negated = _without_not(node), _is_negated(node)
    select = _select(inner)
    shown, rows = _partner_rows(select, replace(around, node=inner), builder)
    ties = list(rows.ties)
    if isinstance(inner, exp.In):
        check_arguments(inner, frozenset({"this", "query"}))
        ties.insert(0, _membership(inner, shown, around.scope, rows))
        if negated:
            _check_not_in(inner, select, around.conditions)
    else:
        # What EXISTS selects makes no difference, but it must be something that could be selected.
        subqueries.read_selection(shown, rows.scope, rows.relation)
    keys, used = find_join_keys(ties, around.scope.aliases, rows.scope.aliases)
    if not keys:
        raise _no_semi_join_key(inner, ties)
    rest = [each.tree for each in ties if each not in used]
    return SemiJoin(left, rows.relation, keys, conjunction(rest), negated)


def _partner_rows(
    select: exp.Select, around: OuterQuery, builder: RelationBuilder
) -> tuple[exp.Select, SelectRows]:
    """What the sub-query of IN or EXISTS selects, and its rows; how often each is plays no part."""
    if subqueries.does_more(select) and isinstance(around.node, exp.Exists):
        raise refusal("CEL-Q043.exists_of_groups", at=select)
    if subqueries.does_more(select):
        item = subqueries.read_derived_table(
            select, "partners", (), builder=builder, visible=around.visible
        )
        scope = Scope()
        scope.add(item, at=select)
        shown = exp.Select(expressions=[exp.column(name, quoted=True) for name in item.fields])
        return shown, SelectRows(item.relation, scope)
    subqueries.check_rows(select)
    allowed = frozenset({"distinct"})
    rows = builder.rows(select, visible=around.visible, outer=around.scope, allowed=allowed)
    return select, rows


def _select(node: exp.Expr) -> exp.Select:
    query = node.args["query"] if isinstance(node, exp.In) else node.this
    while isinstance(query, exp.Subquery):
        check_arguments(query, frozenset({"this"}))
        query = query.this
    if isinstance(query, exp.SetOperation):
        raise set_operation_refusal(query)
    if not isinstance(query, exp.Select):
        raise refusal("CEL-Q043.value_not_a_select", at=node)
    return query


def _membership(node: exp.In, select: exp.Select, scope: Scope, inner: SelectRows) -> JoinCondition:
    """`x IN (SELECT y ...)` as the equality of x and y."""
    made = subqueries.read_selection(select, inner.scope, inner.relation)
    if len(made.columns) != 1 or made.has_gaps:
        raise refusal(
            "CEL-Q043.not_tied_several_columns", column_count=len(made.columns), at=select
        )
    return make_equality(read_expression(node.this, scope), made.columns[0].value, at=node.this)


def _check_not_in(node: exp.In, select: exp.Select, beside: Sequence[exp.Expr]) -> None:
    where = select.args.get("where")
    within = list(conjuncts(where.this if where else None))
    if _says_not_null(node.this, beside) and _says_not_null(
        select.expressions[0].unalias(), within
    ):
        return
    raise refusal("CEL-Q043.not_in", at=node)


def _says_not_null(column: exp.Expr, conditions: Sequence[exp.Expr]) -> bool:
    for each in conditions:
        inner = each.this.unnest() if isinstance(each, exp.Not) else each
        negated = isinstance(each, exp.Not) != bool(inner.args.get("negate"))
        if (
            negated
            and isinstance(inner, exp.Is)
            and isinstance(inner.expression, exp.Null)
            and inner.this.unnest() == column.unnest()
        ):
            return True
    return False


def _no_semi_join_key(node: exp.Expr, ties: Sequence[JoinCondition]) -> CelosiaError:
    for each in ties:
        return not_an_equijoin(each, Message("queries.sql.sub_query"))
    return refusal("CEL-Q043.not_tied_not_tied", at=node)


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
    declared: list[subqueries.CommonTable] = field(default_factory=list)
    used: list[subqueries.CommonTable] = field(default_factory=list)

    def rows(
        self,
        select: exp.Select,
        *,
        visible: Mapping[str, subqueries.CommonTable],
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
        visible = subqueries.read_common_tables(select, visible, builder=self)
        scope = Scope(outer=outer)
        start = select.args.get("from_")
        if start is None:
            raise refusal("CEL-Q025.not_a_table_no_from", at=select)
        outer_joins: dict[str, list[JoinCondition]] = {}
        conditions = self._sources(start.this, scope, visible)
        for join in select.args.get("joins") or []:
            conditions += self._join(join, scope, visible, outer_joins)
        where = select.args.get("where")
        wanted = list(conjuncts(where.this if where else None))
        conditions += [analyse_condition(each, scope) for each in wanted if not is_semi_join(each)]
        own = [each for each in conditions if each.mentions <= scope.aliases]
        relation, rest = join_items(list(scope.items.values()), own, outer_joins)
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
        self,
        join: exp.Join,
        scope: Scope,
        visible: Mapping[str, subqueries.CommonTable],
        outer_joins: dict[str, list[JoinCondition]] | None = None,
    ) -> list[JoinCondition]:
        check_arguments(join, _JOIN)
        is_left = join.args.get("side") == "LEFT" and outer_joins is not None
        if not is_left or not isinstance(join.this, exp.Table | exp.Subquery):
            _check_kind(join)
        before = list(scope.items.values())
        conditions = self._sources(join.this, scope, visible)
        if is_left and len(scope.items) > len(before) + 1:
            raise refusal("CEL-Q036.outer_of_joins", at=join.this)
        latest = list(scope.items.values())[-1].alias
        for name in join.args.get("using") or []:
            conditions.append(_using(name, before, scope, latest))
        for node in conjuncts(join.args.get("on")):
            conditions.append(analyse_condition(node, scope, joins=latest))
        if is_left and outer_joins is not None:
            outer_joins[latest] = conditions
            return []
        return conditions

    def _sources(
        self, node: exp.Expr, scope: Scope, visible: Mapping[str, subqueries.CommonTable]
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
                subqueries.read_derived_table(
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

    def _table(self, node: exp.Table, visible: Mapping[str, subqueries.CommonTable]) -> FromItem:
        check_arguments(node, _TABLE)
        name = ".".join(part.name for part in node.parts)
        alias, columns = _alias(node)
        if name.lower() in visible:
            common = visible[name.lower()]
            self.used.append(common)
            return subqueries.read_derived_table(
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
        self, node: exp.Table, name: str, visible: Mapping[str, subqueries.CommonTable]
    ) -> CelosiaError:
        known = [table.name for table in self.policy.tables] + list(visible)
        return refusal("CEL-Q025.table", hint=did_you_mean(name, known), at=node, table=name)


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
        raise refusal("CEL-Q036.outer", side=side or kind, at=join.this)
    if kind == "CROSS":
        raise refusal("CEL-Q036.cross_cross_join", at=join.this)
    if kind not in ("", "INNER"):
        raise refusal("CEL-Q036.join_kind", kind=kind, at=join.this)


def _not_a_table(node: exp.Expr) -> CelosiaError:
    if isinstance(node, exp.Lateral):
        return refusal("CEL-Q036.lateral", at=node)
    return refusal("CEL-Q025.not_a_table_not_a_table", at=node)
