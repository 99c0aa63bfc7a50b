"""Basic graph patterns as stars, one for each entity, and the links between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import Column, Relation, SemiJoin
from celosia.queries.bounds.join_orders import build_join_graph
from celosia.queries.bounds.lineage import PinnedScan, find_pinned_scan
from celosia.queries.policy.values import ANY_PREDICATE, Policy

_Term = Column | int


@dataclass(frozen=True, slots=True)
class Pattern:
    """A scan of a predicate, with the filters on it alone."""

    relation: Relation
    fixed: PinnedScan

    @property
    def subject(self) -> Column:
        """The column of the entity."""
        return Column(self.fixed.alias, "subject")

    @property
    def object(self) -> Column:
        """The column of the value."""
        return Column(self.fixed.alias, "object")


@dataclass(frozen=True, slots=True)
class Star:
    """The patterns about one entity."""

    centre: frozenset[_Term]
    """Columns, and constants, that are all the entity itself."""
    patterns: tuple[Pattern, ...]
    is_private: bool

    @property
    def predicates(self) -> frozenset[str]:
        """The tables that are asked by name, in small letters."""
        names = (each.fixed.table.lower() for each in self.patterns)
        return frozenset(names) - {ANY_PREDICATE.lower()}


@dataclass(frozen=True, slots=True)
class Link:
    """A pattern of one star whose value is the centre of another."""

    pattern: Pattern
    start: int
    end: int

    @property
    def name(self) -> str:
        """The alias of its scan, under which its mp is known."""
        return self.pattern.fixed.alias


@dataclass(frozen=True, slots=True)
class StarDecomposition:
    """The stars of a question, and all links between them."""

    stars: tuple[Star, ...]
    links: tuple[Link, ...]

    def paths(self, root: int) -> Mapping[int, tuple[tuple[Link, ...], ...]]:
        """For each star that links lead to, the path from the root: steps, each of some links.

        The paths are a tree, the shortest ones; links of one step join the same two stars.
        """
        # Breadth first: every path gives a bound, and the shortest has the fewest factors.
        found: dict[int, tuple[tuple[Link, ...], ...]] = {root: ()}
        fresh = [root]
        while fresh:
            start = fresh.pop(0)
            steps: dict[int, list[Link]] = {}
            for link in self.links:
                if link.start == start and link.end not in found:
                    steps.setdefault(link.end, []).append(link)
            for end, parallel in steps.items():
                found[end] = (*found[start], tuple(parallel))
                fresh.append(end)
        return found

    def reaches(self, root: int) -> bool:
        """Whether links lead from a star to all private ones."""
        paths = self.paths(root)
        return all(place in paths for place, star in enumerate(self.stars) if star.is_private)

    def linked_facts(self, link: Link) -> Relation:
        """The facts of a link whose subjects match all patterns of their star."""
        relation = link.pattern.relation
        for other in self.stars[link.start].patterns:
            if other is not link.pattern:
                relation = SemiJoin(
                    relation, other.relation, ((link.pattern.subject, other.subject),)
                )
        return relation


def decompose_stars(source: Relation, *, policy: Policy) -> StarDecomposition:
    """The stars of a basic graph pattern."""
    if policy.graph is None or policy.unit.is_row:
        raise QueryRefused("CEL-Q070.no_entities")
    graph = build_join_graph(source)
    patterns = []
    for member in graph.members:
        fixed = find_pinned_scan(member)
        table = None if fixed is None else policy.table(fixed.table)
        if fixed is None or table is None or table.column("object") is None:
            raise QueryRefused("CEL-Q070.not_patterns")
        capped = [each.name for each in table.columns if each.most is not None and not each.unique]
        # Holding facts back by their object would let one entity bring back the facts of others.
        if not table.public and set(capped) - {"subject"}:
            raise QueryRefused("CEL-Q070.cap", table=table.name)
        patterns.append(Pattern(member, fixed))
    same = _classes(patterns, graph.classes)
    grouped: dict[frozenset[_Term], list[Pattern]] = {}
    for each in patterns:
        grouped.setdefault(same[each.subject], []).append(each)
    stars = tuple(
        Star(centre, tuple(some), any(not _is_public(each, policy) for each in some))
        for centre, some in grouped.items()
    )
    places = {star.centre: place for place, star in enumerate(stars)}
    links = tuple(
        Link(each, place, places[same[each.object]])
        for place, star in enumerate(stars)
        for each in star.patterns
        if places.get(same[each.object], place) != place
    )
    return StarDecomposition(stars, links)


def _is_public(pattern: Pattern, policy: Policy) -> bool:
    declared = policy.table(pattern.fixed.table)
    return declared is not None and declared.public


def _classes(
    patterns: Iterable[Pattern], joined: Iterable[frozenset[Column]]
) -> Mapping[_Term, frozenset[_Term]]:
    """For each subject and object, all columns and constants that it equals in every solution."""
    groups: list[frozenset[_Term]] = [frozenset(each) for each in joined]
    for each in patterns:
        alias = each.fixed.alias
        groups += [frozenset({each.subject}), frozenset({each.object})]
        groups += [frozenset({Column(alias, name), n}) for name, n in each.fixed.constants.items()]
        groups += [frozenset(Column(alias, name) for name in pair) for pair in each.fixed.pairs]
    merged: list[frozenset[_Term]] = []
    for group in groups:
        touched = [other for other in merged if other & group]
        merged = [other for other in merged if not other & group]
        merged.append(group.union(*touched))
    return {term: group for group in merged for term in group}
