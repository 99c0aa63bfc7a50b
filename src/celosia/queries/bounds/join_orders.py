"""Inner joins as a whole: relations, the columns they share, and every order to put them together.

A tree of inner joins, with whatever filters lie between them, is the same set of rows in every
order. So nothing depends on how it was written, and each connected order gives a bound.

Columns that joins make equal are one class. Where some rows, or values of some classes, are given,
a relation that has a column of a given class is entered next: it has at most as many rows as agree
in all its given columns, and then all its classes are given. The product over the relations bounds
the rows of the whole, in every such order, and the least of these products is looked for.

Why: let n_i be the rows that i relations make with the given ones. Each of them extends by at most
f rows of the relation that is entered next, f being the most rows of it that agree in its given
columns, so n_(i+1) <= f n_i, by induction from n_0 = 1. Conditions only take rows away. An order
that is not connected would have to count all rows of a relation, which no frequency bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from celosia.queries.algebra import Column, Filter, Join, Relation, aliases
from celosia.queries.bounds.growth import ONE, Growth, least, product

Cost = Callable[[int, tuple[Column, ...]], Growth | None]
"""How many rows of a relation agree in some columns, at most; None where it is unknown."""

MOST_STATES = 256
"""Sets of relations from which every continuation is compared; beyond them only the first is,
which can only loosen the bound."""


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """Relations that inner joins put together, and the columns that are equal in every row."""

    members: tuple[Relation, ...]
    classes: tuple[frozenset[Column], ...]

    def member(self, column: Column) -> int | None:
        """Which of the relations a column belongs to."""
        for place, member in enumerate(self.members):
            if column.relation in aliases(member):
                return place
        return None

    def with_columns(self, columns: Iterable[Column]) -> JoinGraph:
        """The same, with a class for each of some columns."""
        known = frozenset().union(*self.classes)
        alone = tuple(frozenset({each}) for each in dict.fromkeys(columns) if each not in known)
        return JoinGraph(self.members, (*self.classes, *alone))

    def class_mask(self, columns: Iterable[Column]) -> int:
        """The classes of some columns, as a bit mask."""
        given = set(columns)
        return sum(1 << place for place, each in enumerate(self.classes) if each & given)


def build_join_graph(relation: Relation) -> JoinGraph:
    """The block that a relation is: itself alone if it is no inner join.

    >>> from celosia.queries.algebra import Scan
    >>> one = (Column("a", "x"), Column("b", "x"))
    >>> two = (Column("a", "x"), Column("c", "x"))
    >>> first = Join(Scan("A", "a"), Scan("B", "b"), (one,))
    >>> found = build_join_graph(Join(first, Scan("C", "c"), (two,)))
    >>> len(found.members), [sorted(map(str, each)) for each in found.classes]
    (3, [['a.x', 'b.x', 'c.x']])
    """
    members, pairs = _parts(relation)
    classes: list[frozenset[Column]] = []
    for pair in pairs:
        touched = [each for each in classes if each & set(pair)]
        classes = [each for each in classes if each not in touched]
        classes.append(frozenset(pair).union(*touched))
    return JoinGraph(tuple(members), tuple(classes))


def bound_join_size(
    graph: JoinGraph, *, seeds: Iterable[int] = (), columns: Iterable[Column] = (), cost: Cost
) -> Growth | None:
    """How many rows of a block hold given rows of some relations, or values of some columns.

    Args:
        graph: the relations.
        seeds: relations of which one row is given.
        columns: columns of which the value is given.
        cost: how many rows of a relation agree in some of its columns.

    Returns:
        The least of the bounds of all orders; None if none leads to every relation.
    """
    given = tuple(columns)
    search = _Search(graph.with_columns(given), cost)
    return search.best(sum(1 << seed for seed in set(seeds)), search.graph.class_mask(given))


@dataclass(slots=True)
class _Search:
    """Sets of relations and of classes are bit masks."""

    graph: JoinGraph
    cost: Cost
    held: list[int] = field(init=False)
    """The classes of each relation."""
    done: dict[int, Growth | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns: list[list[Column]] = [[] for _ in self.graph.members]
        for column in frozenset().union(*self.graph.classes):
            place = self.graph.member(column)
            if place is not None:
                columns[place].append(column)
        self.held = [self.graph.class_mask(each) for each in columns]

    def best(self, inside: int, given_mask: int) -> Growth | None:
        if inside not in self.done:
            self.done[inside] = self._best(inside, given_mask)
        return self.done[inside]

    def _best(self, inside: int, given_mask: int) -> Growth | None:
        outside = [place for place in range(len(self.held)) if not inside >> place & 1]
        if not outside:
            return ONE
        given = self._given(inside, given_mask)
        open_ = [place for place in outside if self.held[place] & given]
        for place in open_:
            price = self.cost(place, self._columns(place, given))
            # Exchange argument: prices only fall as more columns are given. A relation of price 1,
            # or one whose given columns can no longer grow, costs the least that it ever can when
            # it is entered now, and only gives columns to the others. So some best order begins
            # with it.
            if self._is_settled(place, inside, given_mask) or (
                price is not None and price.limit == 1
            ):
                return self._onward(price, inside | 1 << place, given_mask)
        found: list[Growth] = []
        for place in open_:
            if found and len(self.done) > MOST_STATES:
                break
            price = self.cost(place, self._columns(place, given))
            onward = self._onward(price, inside | 1 << place, given_mask)
            if onward is not None:
                found.append(onward)
        return least(found) if found else None

    def _onward(self, price: Growth | None, inside: int, given_mask: int) -> Growth | None:
        rest = None if price is None else self.best(inside, given_mask)
        return None if price is None or rest is None else product([price, rest])

    def _given(self, inside: int, given_mask: int) -> int:
        for place, classes in enumerate(self.held):
            if inside >> place & 1:
                given_mask |= classes
        return given_mask

    def _columns(self, place: int, given: int) -> tuple[Column, ...]:
        names = aliases(self.graph.members[place])
        found = (
            column
            for number, each in enumerate(self.graph.classes)
            if given >> number & 1
            for column in each
            if column.relation in names
        )
        return tuple(sorted(found, key=str))

    def _is_settled(self, place: int, inside: int, given_mask: int) -> bool:
        """Whether no other relation can still give more columns of one before it is entered."""
        given = self._given(inside, given_mask)
        now = given & self.held[place]
        grown = -1
        while grown != given:
            grown = given
            for other, classes in enumerate(self.held):
                if other != place and classes & given:
                    given |= classes
        return now == given & self.held[place]


def _parts(relation: Relation) -> tuple[list[Relation], list[tuple[Column, Column]]]:
    inner = relation
    while isinstance(inner, Filter):
        inner = inner.source
    if not isinstance(inner, Join):
        return [relation], []
    left, left_pairs = _parts(inner.left)
    right, right_pairs = _parts(inner.right)
    return left + right, left_pairs + right_pairs + list(inner.keys)
