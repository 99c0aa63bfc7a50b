"""Owners put beside rows: by tables that the question joins anyway, else by hidden joins.

An analyst may give a column any name. With the name of the column that holds the owner, an analyst
could choose the owners of rows, and every bound on a person would be void.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, count

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.queries import algebra
from celosia.queries.bounds.lineage import as_column, column_expression
from celosia.queries.ownership.owned_relation import (
    Equalities,
    OwnedRelation,
    equal_columns,
    exact_pairs,
    lower_case,
)
from celosia.queries.ownership.paths import PathSteps, check_caps, key_paths, no_path
from celosia.queries.ownership.per_owner import close_groups, close_windows
from celosia.queries.policy.values import Policy, TablePolicy

OWNER = "celosia_owner"
PARENT = "celosia_parent"


@dataclass(frozen=True, slots=True)
class HiddenNames:
    """The names of one question's hidden columns and relations."""

    owner: str
    """What the columns of owners are called, with a number behind it."""
    parents: Iterator[str]
    """Aliases of tables that are joined to find an owner."""

    @classmethod
    def for_relation(cls, relation: algebra.Relation) -> HiddenNames:
        """Names for a relation that has its own."""
        columns = [
            each.name
            for part in algebra.walk(relation)
            if isinstance(part, algebra.DerivedTable | algebra.GroupedTable)
            for each in _named_parts(part)
        ]
        parent = unused_name(PARENT, all_aliases(relation))
        return cls(unused_name(OWNER, columns), (f"{parent}_{number}" for number in count(1)))

    def owners(self, size: int) -> tuple[str, ...]:
        """The names of so many columns of owners."""
        return tuple(f"{self.owner}_{number}" for number in range(1, size + 1))


def _named_parts(
    part: algebra.DerivedTable | algebra.GroupedTable,
) -> tuple[algebra.NamedExpression | algebra.Aggregate, ...]:
    if isinstance(part, algebra.DerivedTable):
        return part.columns
    return (*part.keys, *part.aggregates)


def all_aliases(relation: algebra.Relation) -> list[str]:
    """All aliases of a relation, also those that cannot be spoken of outside."""
    return [
        part.alias
        for part in algebra.walk(relation)
        if isinstance(
            part, algebra.Scan | algebra.DerivedTable | algebra.GroupedTable | algebra.UnionAll
        )
    ]


def unused_name(word: str, taken: Iterable[str]) -> str:
    """A word that is no name, and with a number behind it makes none.

    It stays short, however many are taken: PostgreSQL cuts names at 63 bytes.

    >>> unused_name("owner", ["price"]), unused_name("owner", ["Owner_1", "owner2"])
    ('owner', 'owner3')
    """
    names = {each.lower() for each in taken}
    found, number = word, 1
    while any(each == found or each.startswith(f"{found}_") for each in names):
        number += 1
        found = f"{word}{number}"
    return found


def attach_owners(relation: algebra.Relation, *, policy: Policy) -> OwnedRelation:
    """Give each row of a relation its owners, and say how many there can be.

    Raises:
        QueryRefused: CEL-Q120 no path from a private table to the unit, CEL-Q121 a partner's owner
            is not an owner of the row, CEL-Q120 UNION ALL of rows with and without owners,
            CEL-Q120 a cap on a column that does not determine the owner.
    """
    scope = _Scope(policy, HiddenNames.for_relation(relation))
    return scope.close(scope.gather(relation))


@dataclass(frozen=True, slots=True)
class _Owner:
    """An owner: the person that `steps` lead to from the value of a column."""

    column: algebra.Column
    steps: PathSteps
    table: str


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A column in sight that holds the first key of some steps, and the owner they lead to."""

    column: algebra.Column
    steps: PathSteps
    term: _Owner


@dataclass(slots=True)
class _Scope:
    """What is known inside one SELECT, of the relations that can be spoken of there."""

    policy: Policy
    hidden: HiddenNames
    equalities: Equalities = field(default_factory=Equalities)
    """What the question says of its rows; such columns are not NULL."""
    implied: Equalities = field(default_factory=Equalities)
    """What follows from it, see `infer_equalities`."""
    owners: list[_Owner] = field(default_factory=list)
    anchors: list[_Anchor] = field(default_factory=list)
    semi_joins: list[_Scope] = field(default_factory=list)
    not_null: set[algebra.Column] = field(default_factory=set)
    """Columns that are never NULL."""
    scans: list[algebra.Scan] = field(default_factory=list)
    """Of private tables."""
    is_outer: bool = False
    """Whether it is the right side of a left join."""
    unidentified: int = 0

    def gather(  # noqa: PLR0911 - one for each kind of relation
        self, relation: algebra.Relation
    ) -> algebra.Relation:
        """Note owners and equalities; sub-queries come back with their owners as columns."""
        match relation:
            case algebra.Scan():
                self._scan(relation)
                return relation
            case algebra.Filter(source=source, condition=condition):
                inner = self.gather(source)
                self.equalities.add(
                    exact_pairs(equal_columns(condition), source, policy=self.policy)
                )
                return algebra.Filter(inner, condition)
            case algebra.Join(left=left, right=right, keys=keys, condition=condition):
                sides = self.gather(left), self.gather(right)
                pairs = [*keys, *equal_columns(condition)]
                self.equalities.add(exact_pairs(pairs, left, right, policy=self.policy))
                return algebra.Join(*sides, keys, condition)
            case (
                algebra.SemiJoin(right=right, keys=keys, condition=condition)
                | algebra.LeftJoin(right=right, keys=keys, condition=condition)
            ):
                inner = self.gather(relation.left)
                is_outer = isinstance(relation, algebra.LeftJoin)
                partners = _Scope(self.policy, self.hidden, is_outer=is_outer)
                there = partners.gather(right)
                pairs = [*keys, *equal_columns(condition)]
                partners.equalities.add(
                    exact_pairs(pairs, relation.left, right, policy=self.policy)
                )
                self.semi_joins.append(partners)
                if self.policy.unit.is_row:  # no row identifies its partners
                    private = [each for each in algebra.scans(right) if self._is_private(each)]
                    self.unidentified += len(private)
                return replace(relation, left=inner, right=there)
            case algebra.DerivedTable(alias=alias):
                part = self._part(relation)
                self._show(alias, part.facts())
                return part.derived
            case algebra.GroupedTable():
                return self._group(relation)
            case algebra.UnionAll():
                return self._stack(relation)

    def close(self, relation: algebra.Relation) -> OwnedRelation:
        """The relation with hidden joins to parents where needed, and one column an owner."""
        self.infer_equalities()
        if not self.policy.unit.is_row:
            self._check_partners()
        terms = self.distinct_owners()
        owners: list[algebra.Column] = []
        for term in terms:
            column, steps = term.column, term.steps
            for table, key, following in steps:
                hidden = next(self.hidden.parents)
                parent = self.policy.table(table)
                assert parent is not None
                relation = algebra.Join(
                    relation,
                    algebra.Scan(parent.name, hidden),
                    ((column, algebra.Column(hidden, key)),),
                )
                column = algebra.Column(hidden, following)
            # Columns that must equal another one are never NULL where they come out.
            if (
                lower_case(column) not in self.not_null
                and len(self.equalities.members(column)) == 1
            ):
                relation = algebra.Filter(relation, _is_present(column))
            owners.append(column)
        return OwnedRelation(
            relation,
            tuple(owners),
            tuple(term.table for term in terms),
            tuple(
                self._determinants(term) | self.implied.members(column)
                for term, column in zip(terms, owners, strict=True)
            ),
            tuple(self.implied.members(column) for column in owners),
            self.unidentified,
        )

    def distinct_owners(self) -> list[_Owner]:
        """The owners that may be different people, each once."""
        found: dict[tuple[algebra.Column, PathSteps, str], _Owner] = {}
        for term in self.owners:
            found.setdefault(self.identity(term), self.shorten(term))
        return list(found.values())

    def infer_equalities(self) -> None:
        """Draw the conclusion from unique keys: the same key, the same row, the same owner."""
        self.implied = Equalities.of(self.equalities)
        grows = True
        while grows:
            grows = False
            for one, other in combinations(self.anchors, 2):
                if one.steps != other.steps or not self.implied.are_equal(one.column, other.column):
                    continue
                short, long = sorted(
                    (self.shorten(one.term), self.shorten(other.term)), key=lambda it: len(it.steps)
                )
                if short.steps == long.steps and not self.implied.are_equal(
                    short.column, long.column
                ):
                    self.implied.add([(short.column, long.column)])
                    grows = True

    def shorten(self, term: _Owner) -> _Owner:
        """The owner after all steps that tables in sight spare us."""
        steps, column = term.steps, term.column
        while steps:
            spared = next(
                (
                    each.term
                    for each in self.anchors
                    if each.steps == steps and self.implied.are_equal(each.column, column)
                ),
                None,
            )
            if spared is None:
                break
            column, steps = spared.column, spared.steps
        return replace(term, column=column, steps=steps)

    def identity(self, term: _Owner) -> tuple[algebra.Column, PathSteps, str]:
        """What two terms share if and only if they are known to be the same person."""
        normal = self.shorten(term)
        return self.implied.leader(normal.column), normal.steps, normal.table

    def _determinants(self, owner: _Owner) -> frozenset[algebra.Column]:
        states = [(each.column, self.identity(each)) for each in self.owners]
        states += [(each.column, self.identity(each.term)) for each in self.anchors]
        mine = self.identity(owner)
        columns = [column for column, state in states if state == mine]
        return frozenset(each for column in columns for each in self.implied.members(column))

    def _is_private(self, scan: algebra.Scan) -> bool:
        return not self._table(scan).public

    def _table(self, scan: algebra.Scan) -> TablePolicy:
        table = self.policy.table(scan.table)
        assert table is not None, "questions speak of declared tables only"
        return table

    def _scan(self, scan: algebra.Scan) -> None:
        table = self._table(scan)
        if table.public:
            return
        found = key_paths(table, policy=self.policy)
        unit = self.policy.unit
        space = table.name if unit.is_row else unit.table or unit.name
        if not found:
            if not self.policy.unit.is_row:
                raise no_path(table.name, self.policy)
            self.unidentified += 1
        check_caps(table, policy=self.policy)
        self.scans.append(scan)
        for first, steps in found:
            term = _Owner(algebra.Column(scan.alias, first), steps, space)
            self.owners.append(term)
            self.anchors.extend(
                _Anchor(
                    algebra.Column(scan.alias, each.name),
                    ((table.name, each.name, first), *steps),
                    term,
                )
                for each in table.columns
                if each.unique
            )

    def _part(self, derived: algebra.DerivedTable) -> _SubQuery:
        inner = _Scope(self.policy, self.hidden)
        owned = inner.close(inner.gather(derived.source))
        words = self.hidden.owners(len(owned.owners))
        closed = close_windows(derived, owned, words, partial(inner.is_fixed, owned))
        return _SubQuery(closed, inner, owned)

    def _group(self, grouped: algebra.GroupedTable) -> algebra.GroupedTable:
        keys = algebra.DerivedTable(grouped.source, grouped.alias, grouped.keys)
        part = self._part(keys)
        words = self.hidden.owners(len(part.owned.owners))
        is_fixed = partial(part.inner.is_fixed, part.owned)
        closed = close_groups(grouped, part.owned, words, is_fixed)
        self._show(grouped.alias, part.facts())
        return closed

    def is_fixed(self, owned: OwnedRelation, column: algebra.Column) -> bool:
        """Whether a column has one value for each owner: the key, or a column of their one row."""
        if owned.is_identified_by(column_expression(column)):
            return True
        own = [each for each in self.scans if each.alias == column.relation]
        return any(
            each.unique and owned.is_identified_by(exp.column(each.name, table=scan.alias))
            for scan in own
            for each in self._table(scan).columns
        )

    def _show(self, alias: str, facts: _SubQueryFacts) -> None:
        """Take over what a sub-query has found out, in its own column names."""
        self.unidentified += facts.unidentified
        self.equalities.add(
            (algebra.Column(alias, one), algebra.Column(alias, other)) for one, other in facts.equal
        )
        shown = [
            _Owner(algebra.Column(alias, word), (), table)
            for word, table in zip(self.hidden.owners(len(facts.tables)), facts.tables, strict=True)
        ]
        self.owners.extend(shown)
        self.not_null.update(lower_case(term.column) for term in shown)
        for name, steps, number in sorted(facts.anchors):
            self.anchors.append(_Anchor(algebra.Column(alias, name), steps, shown[number]))

    def _stack(self, stack: algebra.UnionAll) -> algebra.UnionAll:
        parts = [self._part(each) for each in stack.parts]
        widths = {len(each.owned.owners) for each in parts}
        if self.policy.unit.is_row and (
            len(widths) > 1 or len({each.owned.tables for each in parts}) > 1
        ):
            # Keys of different tables in one column: nothing identifies their rows.
            self.unidentified += max(each.owned.owner_count for each in parts)
            return stack
        if 0 in widths and len(widths) > 1:
            if self.policy.graph is not None:
                raise QueryRefused("CEL-Q120.mixed_patterns")
            raise QueryRefused("CEL-Q120.mixed_union")
        width = max(widths)
        facts = [each.pad_owners(width).facts() for each in parts]
        self._show(
            stack.alias,
            _SubQueryFacts(
                facts[0].tables,
                frozenset.intersection(*(each.equal for each in facts)),
                frozenset.intersection(*(each.anchors for each in facts)),
                max(each.unidentified for each in facts),
            ),
        )
        return algebra.UnionAll(
            tuple(each.pad_owners(width).derived for each in parts), stack.alias
        )

    def _check_partners(self) -> None:
        """Refuse partners whose owner need not be an owner of the row."""
        waiting = [(partners, self) for partners in self.semi_joins]
        while waiting:
            partners, around = waiting.pop()
            # What holds between a row and its partner holds only there, not in the scope around.
            both = _Scope(
                self.policy,
                self.hidden,
                Equalities.of(around.equalities, partners.equalities),
                anchors=[*around.anchors, *partners.anchors],
            )
            both.infer_equalities()
            mine = {both.identity(term) for term in self.owners}
            if not mine.issuperset(both.identity(term) for term in partners.owners):
                raise QueryRefused("CEL-Q036.outer_of_others" if partners.is_outer else "CEL-Q121")
            waiting.extend((each, both) for each in partners.semi_joins)


@dataclass(frozen=True, slots=True)
class _SubQueryFacts:
    """What is known of the columns of a sub-query, by name."""

    tables: tuple[str, ...]
    equal: frozenset[tuple[str, str]]
    anchors: frozenset[tuple[str, PathSteps, int]]
    unidentified: int


@dataclass(frozen=True, slots=True)
class _SubQuery:
    """A sub-query, closed."""

    source: algebra.DerivedTable
    inner: _Scope
    owned: OwnedRelation

    def pad_owners(self, width: int) -> _SubQuery:
        """With an owner repeated until there are as many as other parts have."""
        owned = self.owned
        missing = width - len(owned.owners)
        return replace(
            self,
            owned=replace(
                owned,
                owners=owned.owners + owned.owners[-1:] * missing,
                tables=owned.tables + owned.tables[-1:] * missing,
            ),
        )

    @property
    def derived(self) -> algebra.DerivedTable:
        """The sub-query with its owners as hidden columns."""
        columns = self.owned.owners
        words = self.inner.hidden.owners(len(columns))
        owners = (
            algebra.NamedExpression(word, column_expression(each))
            for word, each in zip(words, columns, strict=True)
        )
        return replace(
            self.source, source=self.owned.relation, columns=(*self.source.columns, *owners)
        )

    def facts(self) -> _SubQueryFacts:
        """What is known of the columns of the sub-query."""
        shown = [
            (each.name, column)
            for each in self.derived.columns
            if (column := as_column(each.expression)) is not None
        ]
        equal = self.inner.implied
        terms = self.inner.owners
        known = [*self.inner.anchors, *(_Anchor(term.column, term.steps, term) for term in terms)]
        order = [self.inner.identity(term) for term in self.inner.distinct_owners()]
        anchors = {
            (name, anchor.steps, order.index(self.inner.identity(anchor.term)))
            for name, column in shown
            for anchor in known
            if anchor.steps and equal.are_equal(anchor.column, column)
        }
        return _SubQueryFacts(
            self.owned.tables,
            frozenset(
                (one, other)
                for one, first in shown
                for other, second in shown
                if one != other and equal.are_equal(first, second)
            ),
            frozenset(anchors),
            self.owned.unidentified,
        )


def _is_present(column: algebra.Column) -> exp.Expression:
    return exp.Not(this=exp.Is(this=column_expression(column), expression=exp.Null()))
