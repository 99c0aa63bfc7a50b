r"""How far one entity of a graph can move a count, at every distance: stars and their links.

The facts of an entity are those with it as subject. The patterns of a question that share a subject
are a star; a pattern whose object is the subject of another star is a link, from star A to star B.
Let every private star be reached from the root star by links that lead away from it, and let mp of
a link be the most entities that match star A and are linked to one value.

Let entity e change, all its facts at once. A solution that comes or goes has e as the centre of
some star; let B be the first of these on the path from the root, along a fixed tree of links. All
centres before B are other entities, whose facts did not change: e has at most mp parents, each of
these has at most mp parents, and so on. So the solutions with e first in B have at most the product
of mp on the path to B different roots, and

    S^(k) = sum over private stars B of the product of (mp + k) on the path from the root to B

bounds how far COUNT(DISTINCT root) moves, because a changed entity adds at most one to any mp.
Everything else in the question (filters, further links, shared values) only takes solutions away.
One number of solutions falls when facts leave and grows when facts come, so an entity that is
replaced moves it by no more than one that is removed or added.

If every entity keeps to one class, in the database and in all its neighbours, e is the centre of
stars of one class only: then the largest sum over a class will do (`one_class_each`).

With declared caps on the facts of one subject, the solutions with a given path to B are bounded
too, and with them COUNT(*) and COUNT(DISTINCT ...) of anything.

Reference: the sound form of the entity-level analysis by star decomposition; Johnson, Near & Song
2018, section 3, for the distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from celosia.core.errors import QueryRefused
from celosia.queries.algebra import Aggregate, Question
from celosia.queries.bounds.facts import DeclaredFacts, Facts
from celosia.queries.bounds.growth import Growth, Leaf, largest, least, product, total
from celosia.queries.bounds.lineage import as_column
from celosia.queries.bounds.stability import StabilityAnalysis
from celosia.queries.bounds.star_decomposition import Link, Star, StarDecomposition, decompose_stars
from celosia.queries.policy.values import Policy

COUNTS = frozenset({"rows", "count", "distinct"})
KEY = frozenset({"subject", "object"})
"""Of a predicate's table: two known ends are one fact."""


def star_bound(
    question: Question,
    *,
    policy: Policy,
    measured: Mapping[str, int],
    aggregate: Aggregate | None = None,
    facts: Facts | None = None,
    one_class_each: bool = False,
) -> Growth:
    """How far one entity can move a count, at every distance.

    Args:
        question: a count over a basic graph pattern, without groups.
        policy: of a graph whose entities are protected.
        measured: the most entities of a star that are linked to one value, by `Link.name`.
        aggregate: the count that is meant, where there are several.
        facts: what is declared of caps; those of the policy if None.
        one_class_each: whether every entity keeps to one class of the policy, in this database and
            in all that may be its neighbours. Nothing enforces it but the owner.
    """
    (asked,) = (aggregate,) if aggregate is not None else question.aggregates
    if asked.kind not in COUNTS or question.keys:
        raise QueryRefused("CEL-Q070.one_count")
    found = decompose_stars(question.source, policy=policy)
    known = DeclaredFacts(policy) if facts is None else facts
    counting = _StarCount(found, policy, measured, StabilityAnalysis(known), one_class_each)
    counted = as_column(asked.argument) if asked.kind == "distinct" else None
    for place, star in enumerate(found.stars):
        if counted in star.centre and found.reaches(place):
            return counting.bound(place, with_rows=False)
    roots = [place for place in range(len(found.stars)) if found.reaches(place)]
    if not roots:
        raise QueryRefused("CEL-Q072")
    bounds = []
    for root in roots:
        # The bound of every root is true, so a root without declared caps may be left out.
        try:
            bounds.append(counting.bound(root, with_rows=True))
        except QueryRefused as refusal:
            if refusal.code not in ("CEL-Q060", "CEL-Q073"):
                raise
    if not bounds:
        raise QueryRefused("CEL-Q073") if counted is None else QueryRefused("CEL-Q072")
    return least(bounds)


def find_required_links(
    question: Question, *, policy: Policy
) -> tuple[StarDecomposition, tuple[Link, ...]]:
    """The stars of a question, and the links whose mp its bounds may need.

    Raises:
        QueryRefused: CEL-Q070.
    """
    found = decompose_stars(question.source, policy=policy)
    links = {
        link.name: link
        for root in range(len(found.stars))
        if found.reaches(root)
        for path in found.paths(root).values()
        for step in path
        for link in step
    }
    return found, tuple(links.values())


@dataclass(frozen=True, slots=True)
class _StarCount:
    stars: StarDecomposition
    policy: Policy
    measured: Mapping[str, int]
    analysis: StabilityAnalysis
    one_class_each: bool

    def bound(self, root: int, *, with_rows: bool) -> Growth:
        """The bound for a root: of different roots, or of all solutions."""
        paths = self.stars.paths(root)
        parts: dict[int, Growth] = {}
        for place, star in enumerate(self.stars.stars):
            if star.is_private:
                factors = [least(self._mp(link) for link in step) for step in paths[place]]
                if with_rows:
                    factors += self._others(paths, paths[place])
                parts[place] = product(factors)
        # An entity may be in all private stars at once: its moves add up. If it keeps to one
        # class, it is in the stars of that class only.
        if not self.one_class_each:
            return total(parts.values())
        assert self.policy.graph is not None
        classes = [frozenset(map(str.lower, names)) for _, names in self.policy.graph.classes]
        private = {place: self._private(self.stars.stars[place]) for place in parts}
        for names in private.values():
            if not any(names <= each for each in classes):
                raise QueryRefused("CEL-Q070.no_class", predicates=sorted(names))
        return largest(
            total(parts[place] for place, names in private.items() if names <= each)
            for each in classes
        )

    def _private(self, star: Star) -> frozenset[str]:
        facts = self.analysis.facts
        return frozenset(name for name in star.predicates if not facts.is_public(name))

    def _mp(self, link: Link) -> Growth:
        """Entities of a star for one value: a step changes one of them, if they are private."""
        fixed, facts = link.pattern.fixed, self.analysis.facts
        # It is the frequency of elastic sensitivity with entities in the place of rows.
        return Leaf(
            self.measured[link.name],
            grows=self.stars.stars[link.start].is_private,
            cap=facts.cap(fixed.table, "object"),
            name=f"{fixed.table}.object",
        )

    def _others(
        self, paths: Mapping[int, Sequence[Sequence[Link]]], path: Sequence[Sequence[Link]]
    ) -> list[Growth]:
        """How many facts each pattern has, whose subject is known, apart from those of a path.

        A link with both its ends known is one fact, unless its predicate is not.
        """
        if len(paths) < len(self.stars.stars):
            raise QueryRefused("CEL-Q073")
        known = {
            link.name
            for step in path
            for link in step
            if self.analysis.facts.key(_table(link)) == KEY
        }
        return [
            self.analysis.frequency(each.subject, each.relation)
            for star in self.stars.stars
            for each in star.patterns
            if each.fixed.alias not in known
        ]


def _table(link: Link) -> str:
    return link.pattern.fixed.table
