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

Frequencies grow by at most one a step, so the same holds at distance k with f + k, or with a cap.

Reference: Johnson, Near & Song 2018, "Towards Practical Differential Privacy for SQL Queries",
which takes all tables of a relation together and the joins in the order in which they are written
(`rule="elastic"`). By default tables are kept apart, because a step changes one of them, and all
orders of inner joins are considered; the result is never larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Literal

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.neighbours import Relation as Notion
from celosia.queries.algebra import (
    Column,
    Derived,
    Filter,
    Join,
    Keys,
    Match,
    Relation,
    Scan,
    Stack,
    aliases,
)
from celosia.queries.bounds.expansion import Block, Edge, block
from celosia.queries.bounds.facts import Facts
from celosia.queries.bounds.growth import Growth, Leaf, largest, least, product, total
from celosia.queries.bounds.lineage import inside

Rule = Literal["tight", "elastic"]

MOST_COPIES = 4
"""How often a table may occur in one block of joins before only the written order is looked at."""
MOST_WAYS = 32
"""How many ways to reach all relations of a block are compared; fewer only loosen the bound."""


@dataclass(frozen=True, slots=True)
class Analyst:
    """Stabilities and frequencies of relations, from facts.

    Args:
        facts: what is declared or measured.
        neighbours: add or remove one row, or change one.
        rule: `tight`, or `elastic` for exactly what FLEX publishes.
    """

    facts: Facts
    neighbours: Neighbours = ADD_REMOVE
    rule: Rule = "tight"

    def sides(self, table: str) -> tuple[int, bool]:
        """How many rows of a table one step can add or can remove, and whether it may do both."""
        displaced = self.facts.displaced(table)
        if self.neighbours.relation is Notion.CHANGE_ONE:
            return 1 + displaced, True
        return max(1, displaced), displaced > 0

    def moves(self, relation: Relation) -> Mapping[str, Growth]:
        """For each private table, how many rows come (or go) when rows of that table do.

        Raises:
            QueryRefused: CEL-Q060 a frequency is missing, CEL-Q063 a key is computed,
                CEL-Q064 there is no key.
        """
        moved = self._moves(relation)
        if self.rule == "tight":
            return moved
        together = largest(moved.values())
        return dict.fromkeys(moved, together)

    def _moves(self, relation: Relation) -> dict[str, Growth]:  # noqa: PLR0911 - one a kind
        match relation:
            case Scan(table=table):
                if self.facts.is_public(table):
                    return {}
                return {table.lower(): Leaf(self.sides(table)[0])}
            case Filter(source=source) | Derived(source=source):
                return dict(self.moves(source))
            case Stack(parts=parts):
                return _sums([self.moves(part) for part in parts])
            case Match(left=left, right=right, keys=keys):
                here, there = self.moves(left), self.moves(right)
                if not there:
                    return dict(here)
                partners = self._least(_left(keys), left)
                return _sums([here, _times(partners, there)])
            case Join():
                return self._joined(relation)

    def _joined(self, join: Join) -> dict[str, Growth]:
        whole = block(join)
        moved = [self.moves(member) for member in whole.members] if self.rule == "tight" else []
        copies = {table: sum(table in each for each in moved) for table in chain(*moved)}
        if self.rule == "elastic" or max(copies.values(), default=0) > MOST_COPIES:
            return self._pair(join)
        return {
            table: total(
                product([*(moved[seed][table] for seed in seeds), self._reached(seeds, whole)])
                for seeds in _seeds(place for place, each in enumerate(moved) if table in each)
            )
            for table in copies
        }

    def _pair(self, join: Join) -> dict[str, Growth]:
        """The two-sided rule, for joins in the order in which they are written."""
        left, right = self.moves(join.left), self.moves(join.right)
        found = [{table: product([left[table], right[table]]) for table in left if table in right}]
        if left:
            found.append(_times(self._least(_right(join.keys), join.right), left))
        if right:
            found.append(_times(self._least(_left(join.keys), join.left), right))
        return _sums(found)

    def frequency(self, column: Column, relation: Relation) -> Growth:  # noqa: PLR0911
        """How many rows of a relation share one value of a column, nulls apart, at most.

        Raises:
            QueryRefused: as `moves`.
        """
        match relation:
            case Scan(table=table):
                return self._base(table, column.name)
            case Filter(source=source):
                return self.frequency(column, source)
            case Match(left=left):
                return self.frequency(column, left)
            case Derived(source=source):
                renamed = inside(column, relation)
                if renamed is None:
                    raise _computed(column)
                return self.frequency(renamed, source)
            case Stack(parts=parts):
                return total(
                    self.frequency(Column(part.alias, column.name), part) for part in parts
                )
            case Join(left=left, right=right, keys=keys):
                if self.rule == "tight":
                    whole = block(relation)
                    place = whole.member(column)
                    if place is None:
                        raise _computed(column)
                    own = self.frequency(column, whole.members[place])
                    return product([own, self._reached(frozenset({place}), whole)])
                if column.relation in aliases(left):
                    return product([self.frequency(column, left), self._least(_right(keys), right)])
                return product([self.frequency(column, right), self._least(_left(keys), left)])

    def _reached(self, seeds: frozenset[int], whole: Block) -> Growth:
        """How many rows of a block hold given rows of some of its relations.

        Every way to reach the others gives a bound: a relation is entered over an edge, and one
        row has at most as many partners there as share the key.
        """
        known: dict[Edge, Growth] = {}
        missing: QueryRefused | None = None
        for edge in whole.edges:
            if edge.end not in seeds:
                try:
                    known[edge] = self._least(edge.keys, whole.members[edge.end])
                except QueryRefused as refusal:
                    missing = missing or refusal
        ways = Block(whole.members, tuple(known)).ways(seeds)
        found = [product(known[edge] for edge in way) for way in islice(ways, MOST_WAYS)]
        if not found:
            raise missing or _unconnected()
        return least(found)

    def _least(self, keys: Iterable[Column], relation: Relation) -> Growth:
        """How many rows of a relation agree with a given row in all keys: the rarest key decides.

        A key of unknown frequency is no help and no harm while there is another one.
        """
        found: list[Growth] = []
        missing: QueryRefused | None = None
        for key in keys:
            try:
                found.append(self.frequency(key, relation))
            except QueryRefused as refusal:
                missing = missing or refusal
        if not found:
            raise missing or _unconnected()
        return least(found)

    def _base(self, table: str, column: str) -> Growth:
        measured, cap = self.facts.frequency(table, column), self.facts.cap(table, column)
        name = f"{table}.{column}"
        if measured is None and cap is None:
            raise QueryRefused(
                "CEL-Q060",
                f"nothing is declared of how many rows of {table} share a value of {column}.",
                why="One row may meet all of them in the join, and the noise must cover that.",
                fix=f"Declare `unique = true` or `most = ...` for column {column} of table {table} "
                "in the policy, or allow measured frequencies with `elastic = true`.",
                table=table,
                column=column,
            )
        if measured is None:
            assert cap is not None
            return Leaf(cap, name=name)
        return Leaf(measured, grows=not self.facts.is_public(table), cap=cap, name=name)


def directions(relation: Relation) -> Mapping[str, int]:
    """For each table, what more rows of it do to a relation: 1 adds, -1 takes away, 0 may do both.

    >>> from celosia.queries.algebra import Column, Match, Scan
    >>> key = (Column("a", "x"), Column("b", "x"))
    >>> directions(Match(Scan("A", "a"), Scan("B", "b"), (key,), negated=True))
    {'a': 1, 'b': -1}
    """
    match relation:
        case Scan(table=table):
            return {table.lower(): 1}
        case Filter(source=source) | Derived(source=source):
            return directions(source)
        case Stack(parts=parts):
            return _merged([directions(part) for part in parts])
        case Join(left=left, right=right):
            return _merged([directions(left), directions(right)])
        case Match(left=left, right=right, negated=negated):
            sign = -1 if negated else 1
            there = {table: sign * way for table, way in directions(right).items()}
            return _merged([directions(left), there])


def _merged(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in parts:
        for table, way in part.items():
            found[table] = way if found.get(table, way) == way else 0
    return found


def _sums(parts: Iterable[Mapping[str, Growth]]) -> dict[str, Growth]:
    given = list(parts)
    tables = dict.fromkeys(chain(*given))
    return {table: total(part[table] for part in given if table in part) for table in tables}


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


def _computed(column: Column) -> QueryRefused:
    return QueryRefused(
        "CEL-Q063",
        f"the join key {column} is computed, not a column of a table.",
        why="Nobody has declared how many rows share a computed value.",
        fix="Join on columns as they are, and compute afterwards.",
    )


def _unconnected() -> QueryRefused:
    return QueryRefused(
        "CEL-Q064",
        "no column of one side of the join must equal a column of the other.",
        why="One row then meets every row of the other side, and no noise covers that.",
        fix="Join on `left.column = right.column`; other conditions may be added with AND.",
    )
