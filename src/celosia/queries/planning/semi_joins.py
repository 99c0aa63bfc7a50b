"""Rows that depend on partners of other people, as rows of a join that count once.

Whether a row has a partner (IN, EXISTS) in rows of other people depends on these people too. Such a
row is what several rows of a join show: one for each partner, each belonging to the owners of the
row and of that partner. It counts once, which is the program of distinct values (`r2t_program`).

The rows without a partner (NOT IN, NOT EXISTS) are all rows less those with one; with two such
conditions, less those with a partner of either kind, plus those with both. Each of these totals is
a program of its own and pays its part of epsilon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    GroupedTable,
    Join,
    Key,
    LeftJoin,
    NamedExpression,
    Question,
    Relation,
    SemiJoin,
    aliases,
    walk,
)
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission import Target
from celosia.queries.ownership import OwnedRelation, attach_owners
from celosia.queries.ownership.owners import all_aliases, unused_name
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.plan import StepContext
from celosia.queries.policy.values import Policy

if TYPE_CHECKING:
    from celosia.queries.planning.linear_programs import ProgramTerm

ROWS = "celosia_rows"
"""The rows before the join with their partners."""
NUMBER = "celosia_row"
MOST_ANTI_JOINS = 2
"""Conditions NOT IN or NOT EXISTS with rows of others in one question."""


def find_foreign_semi_joins(source: Relation, *, policy: Policy) -> tuple[SemiJoin, ...]:
    """The conditions of a question's rows that depend on rows of other people."""
    matches = tuple(_matches(source))
    found = []
    for one in matches:
        others = {id(each) for each in matches if each is not one}
        try:
            attach_owners(_drop_semi_joins(source, others), policy=policy)
        except QueryRefused as refusal:
            if refusal.code != "CEL-Q121":
                raise
            found.append(one)
    return tuple(found)


def semi_join_terms(
    question: Question, total: Total, foreign: tuple[SemiJoin, ...], *, target: Target
) -> tuple[ProgramTerm, ...]:
    """The programs that a total over rows with, or without, foreign partners is made of."""
    kept = [each for each in foreign if not each.negated]
    without = [each for each in foreign if each.negated]
    if len(without) > MOST_ANTI_JOINS:
        raise QueryRefused("CEL-Q093.too_many", most=MOST_ANTI_JOINS)
    if without and total.kind == "distinct":
        raise QueryRefused("CEL-Q093.distinct", label=total.label)
    bare = _drop_semi_joins(question.source, {id(each) for each in foreign})
    # Inclusion and exclusion: the rows that have a partner for none of the conditions in `without`
    # are the sum, over sets T of these, of (-1)^|T| times the rows with a partner for each in T.
    subsets = chain.from_iterable(combinations(without, n) for n in range(len(without) + 1))
    joined = _PartnerJoin(
        replace(question, source=bare), total, target, _rows_alias(question.source)
    )
    return tuple(joined.term([*kept, *some], -1 if len(some) % 2 else 1) for some in subsets)


def restore_owner_names(
    owned: OwnedRelation, source: Relation, foreign: tuple[SemiJoin, ...], *, policy: Policy
) -> OwnedRelation:
    """The owners of joined rows by the names that the question has for them, to be shown."""
    bare = attach_owners(_drop_semi_joins(source, {id(each) for each in foreign}), policy=policy)
    rows = _rows_alias(source)

    def shown(owner: Column) -> Column:
        # Of the rows before the join, the n-th column of owners holds their n-th owner.
        number = owner.name.rpartition("_")[2]
        return bare.owners[int(number) - 1] if owner.relation == rows else owner

    return replace(owned, owners=tuple(map(shown, owned.owners)))


@dataclass(frozen=True, slots=True)
class _PartnerJoin:
    """A total over rows that are joined with their partners."""

    question: Question
    total: Total
    target: Target
    rows: str
    """The alias of the rows before the join."""

    def term(self, partners: list[SemiJoin], sign: int) -> ProgramTerm:
        """The rows that have all these partners."""
        from celosia.queries.planning.linear_programs import (
            ProgramTerm,  # only where the plan needs it
        )

        question, total, result_column = self.question, self.total, None
        if partners:
            question, total = self._joined(partners)
            result_column = None if total.kind == "distinct" else Column(self.rows, NUMBER)
        owned = attach_owners(question.source, policy=self.target.policy)
        context = StepContext(question=question, target=self.target, owned=owned)
        return ProgramTerm(context=context, total=total, result_column=result_column, sign=sign)

    def _joined(self, partners: list[SemiJoin]) -> tuple[Question, Total]:
        bare, total = self.question.source, self.total
        inside = aliases(bare)
        trees = [key.expression for key in self.question.keys]
        trees += [] if total.argument is None else [total.argument]
        trees += [each.condition for each in partners if each.condition is not None]
        trees += [column_expression(left) for each in partners for left, _ in each.keys]
        words: dict[Column, str] = {}
        for said in chain.from_iterable(one.find_all(exp.Column) for one in trees):
            if said.table in inside:
                words.setdefault(Column(said.table, said.name), f"column_{len(words) + 1}")
        columns = [NamedExpression(word, column_expression(shown)) for shown, word in words.items()]
        # Any numbers will do: the program only asks which rows of the join show the same row.
        columns.append(NamedExpression(NUMBER, exp.Window(this=exp.RowNumber())))
        rename = _column_renamer(self.rows, words)
        relation: Relation = DerivedTable(bare, self.rows, tuple(columns))
        for each in partners:
            if _mentions(each.right, inside):
                raise QueryRefused("CEL-Q093.partner_of_partner")
            keys = tuple((Column(self.rows, words[left]), right) for left, right in each.keys)
            condition = None if each.condition is None else rename(each.condition)
            relation = Join(relation, each.right, keys, condition)
        renamed = tuple(Key(key.name, rename(key.expression)) for key in self.question.keys)
        argument = None if total.argument is None else rename(total.argument)
        return (
            replace(self.question, source=relation, keys=renamed),
            replace(total, argument=argument),
        )


def _rows_alias(source: Relation) -> str:
    return unused_name(ROWS, all_aliases(source))


def _matches(relation: Relation) -> Iterator[SemiJoin]:
    """The conditions on partners whose rows can be spoken of outside."""
    match relation:
        case Filter(source=source):
            yield from _matches(source)
        case Join(left=left, right=right):
            yield from _matches(left)
            yield from _matches(right)
        case SemiJoin(left=left):
            yield from _matches(left)
            yield relation


def _drop_semi_joins(relation: Relation, left_out: set[int]) -> Relation:
    """The relation without some of these conditions, which are compared by identity."""
    match relation:
        case Filter(source=source):
            return replace(relation, source=_drop_semi_joins(source, left_out))
        case Join(left=left, right=right):
            return replace(
                relation,
                left=_drop_semi_joins(left, left_out),
                right=_drop_semi_joins(right, left_out),
            )
        case SemiJoin(left=left):
            inner = _drop_semi_joins(left, left_out)
            return inner if id(relation) in left_out else replace(relation, left=inner)
    return relation


def _column_renamer(
    rows: str, words: dict[Column, str]
) -> Callable[[exp.Expression], exp.Expression]:
    def changed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and (word := words.get(Column(node.table, node.name))):
            return column_expression(Column(rows, word))
        return node

    def rename(expression: exp.Expression) -> exp.Expression:
        made = expression.transform(changed)
        assert isinstance(made, exp.Expression)
        return made

    return rename


def _mentions(relation: Relation, names: frozenset[str]) -> bool:
    return any(
        each.table in names
        for part in walk(relation)
        for one in _expressions(part)
        for each in one.find_all(exp.Column)
    )


def _expressions(part: Relation) -> Iterable[exp.Expression]:
    match part:
        case Filter(condition=condition):
            return [condition]
        case (
            Join(keys=keys, condition=condition)
            | LeftJoin(keys=keys, condition=condition)
            | SemiJoin(keys=keys, condition=condition)
        ):
            said = [column_expression(column) for pair in keys for column in pair]
            return [*said, *([] if condition is None else [condition])]
        case DerivedTable(columns=columns):
            return [each.expression for each in columns]
        case GroupedTable(keys=keys, aggregates=aggregates):
            parts = [part for each in aggregates for part in (each.argument, each.order) if part]
            return [*(each.expression for each in keys), *parts]
    return []
