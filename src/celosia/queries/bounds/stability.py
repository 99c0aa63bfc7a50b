r"""How many rows of a relation can move when one row of a table does, at every distance.

A relation is read as a signed bag: a vector of multiplicities. Let one step of the neighbour
relation change the bag of a table by D, |D| = the number of rows that come or go. Filters and
projections do not increase |D|; UNION ALL adds bags; an inner join is linear in each side, so

    (R + DR) (S + DS) - R S = R DS + DR S + DR DS,

and a row meets at most as many rows of the other side as share the key with it. For rows of L that
have a partner in R (or have none), with p(l) in {0, 1} for that,

    (L + DL) p' - L p = DL p' + L (p' - p),

where |DL p'| <= |DL|, and p' differs from p only at rows of L that share all keys with a row of DR:
at most mf(key of L) |DR| of them. So semi- and anti-joins move |DL| + mf(key of L) |DR| rows.

A left join with a public table turns each row of L into at most max(1, mf(key of R)) rows. Groups
of a sub-query (GROUP BY) and rows that a window function numbers are told apart by owner before
they come here (`ownership.per_owner`); what is bounded here is how many of them one owner has.

Frequencies grow by at most one a step, so the same holds at distance k with f + k, or with a cap.

Reference: Johnson, Near & Song 2018, "Towards Practical Differential Privacy for SQL Queries",
which takes all tables of a relation together and the joins in the order in which they are written
(`rule="elastic"`). By default tables are kept apart, because a step changes one of them, and all
orders of inner joins are considered; the result is never larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal, TypeVar

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.neighbours import Relation as Notion
from celosia.queries.algebra import (
    Column,
    DerivedTable,
    Filter,
    GroupedTable,
    Join,
    Keys,
    LeftJoin,
    Relation,
    Scan,
    SemiJoin,
    UnionAll,
    aliases,
)
from celosia.queries.bounds.facts import Facts
from celosia.queries.bounds.growth import (
    ONE,
    ZERO,
    Growth,
    Leaf,
    largest,
    least,
    product,
    total,
)
from celosia.queries.bounds.join_orders import JoinGraph, bound_join_size, build_join_graph
from celosia.queries.bounds.lineage import (
    PinnedScan,
    as_column,
    find_pinned_scan,
    numbered_limit,
    source_column,
)

Rule = Literal["tight", "elastic"]

MOST_COPIES = 4
"""How often a table may occur in one block of joins before only the written order is looked at."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StabilityAnalysis:
    """Stabilities and frequencies of relations, from facts.

    Args:
        facts: what is declared or measured.
        neighbours: add or remove one row, or change one.
        rule: `tight`, or `elastic` for exactly what FLEX publishes.
    """

    facts: Facts
    neighbours: Neighbours = ADD_REMOVE
    rule: Rule = "tight"

    def table_changes(self, table: str) -> tuple[int, bool]:
        """How many rows of a table one step can add or can remove, and whether it may do both."""
        displaced = self.facts.displaced_rows(table)
        if self.neighbours.relation is Notion.CHANGE_ONE:
            return 1 + displaced, True
        return max(1, displaced), displaced > 0

    def stabilities(self, relation: Relation) -> Mapping[str, Growth]:
        """For each private table, how many rows come (or go) when rows of that table do.

        A table that all rows of others belong to stands for those of its rows that belong to none
        of the others.

        Raises:
            QueryRefused: CEL-Q060 a frequency is missing, CEL-Q065 a key is computed,
                CEL-Q065 there is no key.
        """
        moved = self._stabilities(relation)
        if self.rule == "tight":
            return moved
        together = largest(moved.values())
        return dict.fromkeys(moved, together)

    def _stabilities(self, relation: Relation) -> dict[str, Growth]:  # noqa: PLR0911 - one a kind
        match relation:
            case Scan(table=table):
                if self.facts.is_public(table):
                    return {}
                return {table.lower(): Leaf(self.table_changes(table)[0])}
            case Filter(source=source) | DerivedTable(source=source):
                return dict(self.stabilities(source))
            case GroupedTable(source=source):
                # A row that comes or goes changes one group: one row goes, and another comes.
                return _times(Leaf(2), self.stabilities(source))
            case UnionAll(parts=parts):
                return self._sums([self.stabilities(part) for part in parts])
            case LeftJoin():
                return self._left_join_stabilities(relation)
            case SemiJoin(left=left, right=right, keys=keys):
                here, there = self.stabilities(left), self.stabilities(right)
                if not there:
                    return dict(here)
                # A row on the right that comes or goes switches every row on the left with its key.
                partners = self._key_frequency(_left(keys), left)
                return self._sums([here, _times(partners, there)])
            case Join():
                return self._join_stabilities(relation)

    def _left_join_stabilities(self, join: LeftJoin) -> dict[str, Growth]:
        here, there = self.stabilities(join.left), self.stabilities(join.right)
        found: list[Mapping[str, Growth]] = [_times(self._partners(join), here)]
        if there:
            # A right row that comes or goes brings its pairs, and takes or brings back left rows
            # that have no other partner: at most twice as many rows as share its key on the left.
            mine = self._key_frequency(_left(join.keys), join.left)
            found.append(_times(product([Leaf(2), mine]), there))
            found.append(
                {
                    table: product([moved, there[table]])
                    for table, moved in here.items()
                    if table in there
                }
            )
        return self._sums(found)

    def _partners(self, join: LeftJoin) -> Growth:
        """The rows that a row on the left becomes, at most: one where it has no partner."""
        return largest([ONE, self._key_frequency(_right(join.keys), join.right)])

    def _join_stabilities(self, join: Join) -> dict[str, Growth]:
        graph = build_join_graph(join)
        moved = (
            [self.stabilities(member) for member in graph.members] if self.rule == "tight" else []
        )
        copies = {
            table: [place for place, each in enumerate(moved) if self._of(each, table) is not None]
            for table in chain(*moved)
        }
        if self.rule == "elastic" or max(map(len, copies.values()), default=0) > MOST_COPIES:
            return self._pairwise(join)
        # A join is linear in each member. With D in the place of some copies of a table and the old
        # rows in that of the others, (R + D)(R + D)... - R R... is the sum over all non-empty sets
        # of copies; for two copies it is the m1 S2 + m2 S1 + S1 S2 of the published self-join rule.
        # The rows that hold one given row of each copy in the set are bounded by `_join_size`.
        found = {}
        for table, places in copies.items():
            rows = {place: self._of(moved[place], table) or ZERO for place in places}
            found[table] = total(
                product([*(rows[seed] for seed in seeds), self._join_size(graph, seeds=seeds)])
                for seeds in _seeds(places)
            )
        return found

    def _pairwise(self, join: Join) -> dict[str, Growth]:
        """The two-sided rule, for joins in the order in which they are written."""
        left, right = self.stabilities(join.left), self.stabilities(join.right)
        both = {}
        for table in dict.fromkeys(chain(left, right)):
            mine, other = self._of(left, table), self._of(right, table)
            if mine is not None and other is not None:
                both[table] = product([mine, other])
        # Johnson, Near & Song 2018, Fig. 3: S(join) = mf(right) S(left) + mf(left) S(right), and
        # the product where one table moves rows on both sides.
        found: list[Mapping[str, Growth]] = [both]
        if left:
            found.append(_times(self._key_frequency(_right(join.keys), join.right), left))
        if right:
            found.append(_times(self._key_frequency(_left(join.keys), join.left), right))
        return self._sums(found)

    def _of(self, moves: Mapping[str, Growth], table: str) -> Growth | None:
        """What a row of a table moves: also as a row of the table that it is a part of."""
        return moves.get(table, moves.get(self.facts.containing_table(table) or table))

    def _sums(self, parts: Iterable[Mapping[str, Growth]]) -> dict[str, Growth]:
        given = list(parts)
        return {
            table: total(self._of(part, table) or ZERO for part in given)
            for table in dict.fromkeys(chain(*given))
        }

    def frequency(self, column: Column, relation: Relation) -> Growth:
        """How many rows of a relation share one value of a column, nulls apart, at most.

        Raises:
            QueryRefused: as `moves`.
        """
        return self._joint_frequency((column,), relation)

    def _key_frequency(self, keys: Sequence[Column], relation: Relation) -> Growth:
        """How many rows of a relation agree with a given row in all keys.

        What is published takes them one by one, and the rarest decides.
        """
        if self.rule == "tight":
            return self._joint_frequency(keys, relation)
        return self._least(keys, lambda key: self.frequency(key, relation))

    def _joint_frequency(  # noqa: PLR0911, PLR0912 - one for each kind of relation
        self, columns: Sequence[Column], relation: Relation
    ) -> Growth:
        """How many rows agree in all of some columns, at most."""
        if not columns:
            raise QueryRefused("CEL-Q065.no_key")
        fixed = find_pinned_scan(relation)
        if fixed is not None:
            return self._table_frequency(columns, fixed)
        match relation:
            case Filter(source=source, condition=condition):
                limit = numbered_limit(columns, condition, source)
                if limit is not None:
                    return Leaf(limit)
                return self._joint_frequency(columns, source)
            case SemiJoin(left=source):
                return self._joint_frequency(columns, source)
            case GroupedTable():
                return self._group_frequency(columns, relation)
            case LeftJoin():
                return self._left_join_frequency(columns, relation)
            case DerivedTable(source=source):
                renamed = [source_column(column, relation) for column in columns]
                kept = [each for each in renamed if each is not None]
                if not kept:
                    raise QueryRefused("CEL-Q065.computed_key", column=columns[0])
                return self._joint_frequency(kept, source)
            case UnionAll(parts=parts):
                return total(
                    self._joint_frequency([Column(part.alias, each.name) for each in columns], part)
                    for part in parts
                )
            case Join() if self.rule == "tight":
                graph = build_join_graph(relation)
                if all(graph.member(each) is None for each in columns):
                    raise QueryRefused("CEL-Q065.computed_key", column=columns[0])
                return self._join_size(graph, columns=columns)
            case Join():
                return self._published_frequency(columns[0], relation)
        raise AssertionError("a scan is pinned")

    def _group_frequency(self, columns: Sequence[Column], grouped: GroupedTable) -> Growth:
        """One group has all keys given, or an owner who has one; else as many as rows."""
        names = {each.name for each in columns if each.relation == grouped.alias}
        own = {each.name for each in grouped.keys[: grouped.key_count]}
        if own <= names or names & grouped.owner_columns:
            return ONE
        renamed = [as_column(each.expression) for each in grouped.keys if each.name in names]
        kept = [each for each in renamed if each is not None]
        if not kept:
            raise QueryRefused("CEL-Q065.computed_key", column=columns[0])
        return self._joint_frequency(kept, grouped.source)

    def _left_join_frequency(self, columns: Sequence[Column], join: LeftJoin) -> Growth:
        """By columns of the left, times partners; a value on the right has partners only."""
        inside = aliases(join.left)
        left = [each for each in columns if each.relation in inside]
        right = [each for each in columns if each.relation not in inside]
        found: list[Callable[[], Growth]] = []
        if left:
            found.append(
                lambda: product([self._joint_frequency(left, join.left), self._partners(join)])
            )
        if right:
            found.append(
                lambda: product(
                    [
                        self._joint_frequency(right, join.right),
                        self._key_frequency(_left(join.keys), join.left),
                    ]
                )
            )
        return self._least(found, lambda bound: bound())

    def _published_frequency(self, column: Column, join: Join) -> Growth:
        """The published rule for one column; a join key is a column of both sides."""
        pairs = [pair for pair in join.keys if column in pair]
        left = [column] if column.relation in aliases(join.left) else [one for one, _ in pairs]
        right = [column] if column.relation in aliases(join.right) else [two for _, two in pairs]
        alternatives = [(each, join.left, _right(join.keys), join.right) for each in left]
        alternatives += [(each, join.right, _left(join.keys), join.left) for each in right]
        return self._least(
            alternatives,
            lambda each: product([self.frequency(*each[:2]), self._key_frequency(*each[2:])]),
        )

    def _table_frequency(self, columns: Sequence[Column], fixed: PinnedScan) -> Growth:
        """Of one table: the rarest column decides, and a whole key leaves one row.

        No two facts of a graph agree in subject, predicate and object: a pattern with one variable
        matches one fact for each value of it, in every graph.
        """
        names = dict.fromkeys(each.name.lower() for each in columns)
        key = self.facts.key(fixed.table)
        if key:
            settled = fixed.fixed_columns(frozenset(names), among=key)
            if settled == key:
                return ONE
            if self.rule == "tight":
                names |= dict.fromkeys(sorted(settled))
        return self._least(names, lambda name: self._column_frequency(fixed.table, name))

    def _join_size(
        self, graph: JoinGraph, *, seeds: Iterable[int] = (), columns: Iterable[Column] = ()
    ) -> Growth:
        missing: list[QueryRefused] = []

        def cost(place: int, keys: tuple[Column, ...]) -> Growth | None:
            try:
                return self._joint_frequency(keys, graph.members[place])
            except QueryRefused as refusal:
                missing.append(refusal)
                return None

        found = bound_join_size(graph, seeds=seeds, columns=columns, cost=cost)
        if found is None:
            raise missing[0] if missing else QueryRefused("CEL-Q065.no_key")
        return found

    def _least(self, alternatives: Iterable[T], bound: Callable[[T], Growth]) -> Growth:
        """The least of some bounds; an unknown one is no help, and no harm beside another.

        Rows that agree in all keys agree in each: every key alone gives a bound, at every distance.
        """
        found: list[Growth] = []
        missing: QueryRefused | None = None
        for each in alternatives:
            try:
                found.append(bound(each))
            except QueryRefused as refusal:
                missing = missing or refusal
        if not found:
            raise missing or QueryRefused("CEL-Q065.no_key")
        return least(found)

    def directions(self, relation: Relation) -> Mapping[str, int]:
        """As `directions`, where rows of a table may belong to another as well."""
        found = directions(relation)
        return {
            table: direction
            if found.get(self.facts.containing_table(table) or table, direction) == direction
            else 0
            for table, direction in found.items()
        }

    def _column_frequency(self, table: str, column: str) -> Growth:
        measured, cap = self.facts.frequency(table, column), self.facts.cap(table, column)
        name = f"{table}.{column}"
        if measured is None and cap is None:
            raise QueryRefused("CEL-Q060.column_frequency", table=table, column=column)
        # A step adds at most one row to a value, so mf at distance k is at most mf + k (Johnson,
        # Near & Song 2018, section 3); a cap that every neighbour obeys bounds it at all distances,
        # and a public table does not change at all.
        if measured is None:
            assert cap is not None
            return Leaf(cap, name=name)
        return Leaf(measured, grows=not self.facts.is_public(table), cap=cap, name=name)


def directions(relation: Relation) -> Mapping[str, int]:  # noqa: PLR0911 - one a kind
    """For each table, what more rows of it do to a relation: 1 adds, -1 takes away, 0 may do both.

    >>> from celosia.queries.algebra import Column, SemiJoin, Scan
    >>> key = (Column("a", "x"), Column("b", "x"))
    >>> directions(SemiJoin(Scan("A", "a"), Scan("B", "b"), (key,), negated=True))
    {'a': 1, 'b': -1}
    """
    match relation:
        case Scan(table=table):
            return {table.lower(): 1}
        case Filter(source=source) | DerivedTable(source=source):
            return directions(source)
        case GroupedTable(source=source):
            return dict.fromkeys(directions(source), 0)
        case LeftJoin(left=left, right=right):
            return _merged([directions(left), dict.fromkeys(directions(right), 0)])
        case UnionAll(parts=parts):
            return _merged([directions(part) for part in parts])
        case Join(left=left, right=right):
            return _merged([directions(left), directions(right)])
        case SemiJoin(left=left, right=right, negated=negated):
            sign = -1 if negated else 1
            there = {table: sign * direction for table, direction in directions(right).items()}
            return _merged([directions(left), there])


def _merged(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in parts:
        for table, direction in part.items():
            found[table] = direction if found.get(table, direction) == direction else 0
    return found


def _times(factor: Growth, moves: Mapping[str, Growth]) -> dict[str, Growth]:
    return {table: product([factor, moved]) for table, moved in moves.items()}


def _seeds(places: Iterable[int]) -> Iterable[frozenset[int]]:
    """Which occurrences of a table take part with a moved row: any but none of them."""
    given = list(places)
    sizes = range(1, len(given) + 1)
    return (frozenset(some) for size in sizes for some in combinations(given, size))


def _left(keys: Keys) -> tuple[Column, ...]:
    return tuple(left for left, _ in keys)


def _right(keys: Keys) -> tuple[Column, ...]:
    return tuple(right for _, right in keys)
