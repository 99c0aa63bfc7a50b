"""Elastic sensitivity: how far one row can move an answer, at every distance from the data.

The theorem (Johnson, Near & Song 2018, section 3): S^(k), computed from frequencies at distance k,
is at least the local sensitivity A^(k) of every database within k steps. By induction over the
algebra: `stability` bounds the rows that one step moves by frequencies; at distance k each of these
is at most f + k; and all rules are monotone in frequencies. A count moves by at most the rows that
move, a sum by these times the largest size of a clipped value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import ADD_REMOVE, Neighbours
from celosia.core.neighbours import Relation as Notion
from celosia.queries.algebra import Aggregate, Question, Relation, scans
from celosia.queries.bounds.facts import Facts
from celosia.queries.bounds.growth import Growth, Leaf, largest, product
from celosia.queries.bounds.stability import Rule, StabilityAnalysis
from celosia.queries.policy.values import Policy

COUNTS = frozenset({"rows", "count", "distinct"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticSensitivity:
    """The elastic sensitivity of an aggregate: over all its groups together, in the L1 norm.

    For the curator's eyes only where frequencies were measured; `str` and `limit` are public.
    """

    growth: Growth
    """In units of `unit`."""
    unit: Fraction
    neighbours: Neighbours

    def at(self, distance: int) -> Fraction:
        """A bound on the local sensitivity of every database within a distance."""
        return self.unit * self.growth.at(distance)

    @property
    def limit(self) -> Fraction | None:
        """The global sensitivity if caps give one: public, and so is the error it implies."""
        limit = self.growth.limit
        return None if limit is None else self.unit * limit

    @property
    def is_public(self) -> bool:
        """Whether no private table is asked: then the exact answer costs nothing."""
        return self.growth.limit == 0

    def as_dict(self) -> dict[str, Any]:
        """Plain public values for JSON."""
        limit = self.limit
        return {
            "formula": str(self.growth),
            "unit": str(self.unit),
            "limit": None if limit is None else str(limit),
            "neighbours": str(self.neighbours),
        }

    def __str__(self) -> str:
        return str(self.growth) if self.unit == 1 else f"{float(self.unit):.12g} * {self.growth}"


def elastic_sensitivity(
    question: Question,
    aggregate: Aggregate,
    *,
    facts: Facts,
    neighbours: Neighbours = ADD_REMOVE,
    bounds: tuple[Fraction, Fraction] | None = None,
    rule: Rule = "tight",
) -> ElasticSensitivity:
    """How far one step can move an aggregate of a question.

    One step removes rows, then adds rows, to one table (or to two, see `_is_exchanged`). Each half
    moves at most the stability of the relation; frequencies only fall in between. Where more rows
    of that table can only add rows to the relation (or only take away), the two halves work against
    each other, and one number moves by the larger half, not by their sum. Groups and sums feel both
    halves.

    Args:
        question: what is asked; its keys make the answer a histogram.
        aggregate: a count, a count of distinct values, or a sum.
        facts: what is declared or measured.
        neighbours: from `row_level_neighbours`, which refuses what this bound does not protect.
        bounds: what the values of a sum are clipped to.
        rule: as in `StabilityAnalysis`.

    Raises:
        QueryRefused: CEL-Q060 a frequency is missing, CEL-Q065 a key is computed, CEL-Q065 a join
            has no key, CEL-Q065 another aggregate, CEL-Q065 a sum without bounds.
    """
    low, high = _bounds(aggregate, bounds)
    analysis = StabilityAnalysis(facts, neighbours, rule)
    moves, directions = analysis.stabilities(question.source), analysis.directions(question.source)
    two_sided = {
        scan.table.lower()
        for scan in scans(question.source)
        if analysis.table_changes(scan.table)[1]
    }
    larger = max(abs(low), abs(high))
    weights: dict[str, Fraction] = {}
    for table in moves:
        # A row only comes, or only goes: it moves a sum by one value.
        if table not in two_sided:
            weights[table] = larger
        # The old and the new row may lie in two groups, or both push the same way: both count.
        elif question.keys or directions[table] == 0:
            weights[table] = 2 * larger
        else:
            # What comes and what goes work against each other: at the worst `high` replaces `low`.
            weights[table] = max(high, Fraction(0)) - min(low, Fraction(0))
    unit = Fraction(1, lcm(*(weight.denominator for weight in weights.values())))
    found = ElasticSensitivity(
        growth=_weight_moves(moves, {table: int(each / unit) for table, each in weights.items()}),
        unit=unit,
        neighbours=neighbours,
    )
    if neighbours.relation is Notion.ADD_REMOVE or not _is_exchanged(moves, facts):
        return found
    # Two steps of adding or removing lead from any row to any other (triangle inequality).
    half = elastic_sensitivity(question, aggregate, facts=facts, bounds=bounds, rule=rule)
    return _larger_of(found, half)


def _is_exchanged(moves: Mapping[str, Growth], facts: Facts) -> bool:
    """Whether a changed row may leave one table for another, where caps hold rows back.

    So a fact of a graph gets another predicate. Without caps one table then only loses a row and
    the other only gets one: the two halves work against each other, or `found` counts both.
    """
    is_shared = any(facts.containing_table(table) is not None for table in moves)
    return is_shared and len(moves) > 1 and any(facts.displaced_rows(table) for table in moves)


def _larger_of(found: ElasticSensitivity, half: ElasticSensitivity) -> ElasticSensitivity:
    """A bound that also covers two halves in different tables, each a step of its own."""
    unit = Fraction(1, lcm(found.unit.denominator, half.unit.denominator))
    scaled = product([Leaf(int(found.unit / unit)), found.growth])
    twice = product([Leaf(2 * int(half.unit / unit)), half.growth])
    return ElasticSensitivity(
        growth=largest([scaled, twice]), unit=unit, neighbours=found.neighbours
    )


def row_level_neighbours(policy: Policy, relation: Relation) -> Neighbours:
    """Whom elastic sensitivity protects in a relation: one row, which may be all of a person.

    It bounds what one row of one private table does. A person with rows in several tables, or
    several rows in one, is more than that.
    """
    private = {
        scan.table.lower()
        for scan in scans(relation)
        if (table := policy.table(scan.table)) is None or not table.public
    }
    unit = policy.unit
    if not unit.is_row and private - {str(unit.table).lower()}:
        if unit.columns:
            raise QueryRefused("CEL-Q065.not_a_row_by_columns", unit=unit.name)
        raise QueryRefused("CEL-Q065.not_a_row", unit=unit.name, table=unit.table)
    return Neighbours(policy.relation, unit=unit.name)


def _bounds(
    aggregate: Aggregate, bounds: tuple[Fraction, Fraction] | None
) -> tuple[Fraction, Fraction]:
    if aggregate.kind in COUNTS:
        return Fraction(0), Fraction(1)
    if aggregate.kind != "sum":
        raise QueryRefused("CEL-Q065.aggregate", kind=aggregate.kind_in_words)
    if bounds is None:
        raise QueryRefused("CEL-Q065.no_bounds", name=aggregate.name)
    return bounds


def _weight_moves(moves: Mapping[str, Growth], weights: Mapping[str, int]) -> Growth:
    return largest(product([Leaf(weights[table]), moved]) for table, moved in moves.items())
