"""Rows are added up by owner before the table of owners is joined, where the result is the same.

In `visits JOIN people ON visits.person = people.person` the table of people has one row for each
person. If nothing but that key is asked of it, all that the join does is to leave out visits of
people that are not in the table: whole people, who can be left out after their visits are added up.
Then a million people are looked up and not ten million visits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from celosia.queries.algebra import (
    Column,
    Filter,
    Join,
    LeftJoin,
    Question,
    Relation,
    Scan,
    SemiJoin,
)
from celosia.queries.emission.aggregates import FlatQuery
from celosia.queries.emission.relations import table_source
from celosia.queries.emission.syntax import (
    column,
    select_from,
)


@dataclass(frozen=True, slots=True)
class DeferredJoin:
    """Rows without a table of their owners, and that table."""

    flat: FlatQuery
    table: Scan
    key: str

    def join_owners(self, entries: exp.Select) -> exp.Select:
        """The entries, one for each owner_1, of owners that are in the table."""
        target = self.flat.target
        words = [word for word, _ in self.flat.aggregates]
        made = select_from(entries, [column(word, "part") for word in words])
        # Under a name of ours: its own alias is of the analyst's choice, and may be "part".
        owners = table_source(self.table.table, alias="owners", target=target)
        same = exp.EQ(this=column("owner_1", "part"), expression=column(self.key, "owners"))
        made.append("joins", exp.Join(this=owners, on=same))
        return made


def defer_owner_join(flat: FlatQuery) -> DeferredJoin | None:
    """The same rows with the table of their owners left for later, or None where it is needed.

    It is left where the table is joined by one declared unique column of whole numbers (of which
    equal ones are the same, in any width) to the owner, is not filtered, and where no key, value,
    condition or other join speaks of it.
    """
    owned = flat.owned
    if owned is None or flat.keys or len(owned.owners) != 1:
        return None
    for join in _joins(owned.relation):
        for table, mine, other in _candidates(join):
            if not (_is_owner(flat, mine, other, table) and _is_silent(flat, join, table)):
                continue
            rest = _without(owned.relation, table)
            changed = replace(owned, relation=rest, owners=(other,))
            question = Question(rest, flat.question.aggregates)
            return DeferredJoin(replace(flat, owned=changed, question=question), table, mine.name)
    return None


def _joins(relation: Relation) -> Iterator[Join]:
    """All joins whose columns are known at the top."""
    match relation:
        case Filter(source=inner) | SemiJoin(left=inner):
            yield from _joins(inner)
        case Join(left=left, right=right):
            yield relation
            yield from _joins(left)
            yield from _joins(right)


def _candidates(join: Join) -> Iterator[tuple[Scan, Column, Column]]:
    """A table of the join, its column and that of the other side."""
    if len(join.keys) != 1 or join.condition is not None:
        return
    ((left, right),) = join.keys
    if isinstance(join.right, Scan):
        yield join.right, right, left
    if isinstance(join.left, Scan):
        yield join.left, left, right


def _is_owner(flat: FlatQuery, mine: Column, other: Column, table: Scan) -> bool:
    """Whether the join is by the owner, and both columns hold whole numbers, one of them unique."""
    assert flat.owned is not None
    ends = (
        flat.target.table(table.table).column(mine.name),
        flat.target.declared_column(column(other.name, other.relation), flat.owned.relation),
    )
    if any(end is None or end.type != "integer" for end in ends):
        return False
    return ends[0] is not None and ends[0].unique and flat.owned.owners[0] in (mine, other)


def _is_silent(flat: FlatQuery, join: Join, table: Scan) -> bool:
    """Whether nothing but one join speaks of a table."""
    assert flat.owned is not None
    spoken = [alias for each in _spoken(flat.owned.relation, join) for alias in each]
    for aggregate in flat.question.aggregates:
        spoken += _aliases(aggregate.argument)
    return table.alias.lower() not in {each.lower() for each in spoken}


def _spoken(relation: Relation, but: Join) -> Iterator[list[str]]:
    """The aliases that conditions and keys speak of, except those of one join."""
    match relation:
        case Filter(source=inner, condition=condition):
            yield _aliases(condition)
            yield from _spoken(inner, but)
        case (
            SemiJoin(left=left, right=right)
            | LeftJoin(left=left, right=right)
            | Join(left=left, right=right)
        ):
            if relation is not but:
                yield [end.relation for pair in relation.keys for end in pair]
                yield _aliases(relation.condition)
            yield from _spoken(left, but)
            if not isinstance(relation, SemiJoin):
                yield from _spoken(right, but)


def _aliases(condition: exp.Expr | None) -> list[str]:
    return [] if condition is None else [each.table for each in condition.find_all(exp.Column)]


def _without(relation: Relation, table: Scan) -> Relation:
    match relation:
        case Filter(source=inner):
            return replace(relation, source=_without(inner, table))
        case SemiJoin(left=left):
            return replace(relation, left=_without(left, table))
        case Join(left=left, right=right):
            if left is table:
                return right
            if right is table:
                return left
            return replace(relation, left=_without(left, table), right=_without(right, table))
    return relation
