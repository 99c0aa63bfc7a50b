"""How many rows a question makes the engine touch, and its deadline, from public facts only.

A join can turn one private row into any number of rows. If that number is large, the time of an
answer reveals whether the private row exists. So the bound is computed from the policy and from
public tables only, and a question beyond a limit is refused before it is charged.

The bound is the one of `bounds.stability`: one row meets at most as many rows of another table as
share its key. For public tables this frequency is counted; for private tables it is the declared
cap. Where the policy declares no cap of a private column, a usual frequency is assumed: such joins
stay answerable, a long chain of them does not. What remains there is left to the deadline.

The time that an engine takes depends on rows. So no answer leaves when it is ready: each leaves at
the deadline of its plan, which follows from the method, the engine, and the sizes that the policy
declares (`rows`). There are few classes, each four times the one before, so that a question has
room and a class says little more than how large the tables are declared to be. A policy may declare
one deadline for all questions instead.

The speeds below are a tenth, or less, of what the engines were measured to do on two cores: a
question should miss its deadline only where a table is far larger than declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from celosia.core.errors import QueryRefused
from celosia.queries import algebra
from celosia.queries.bounds.growth import Growth, Leaf
from celosia.queries.bounds.stability import StabilityAnalysis
from celosia.queries.planning.facts import PublicFacts
from celosia.queries.planning.plan import Step

MOST_PUBLIC = 1_000
"""Rows of public tables that one private row may be joined with."""
MOST_PER_ROW = 10**9
"""Rows that one private row may be joined with, those of other private rows included."""
MOST_IN_ALL = 10**10
"""Rows that a question may make in all, where the policy declares the sizes of its tables."""
USUAL = 10
"""Rows of a private table that are taken to share a value where no cap is declared."""
USUAL_ROWS = 4_000_000
"""Rows that a private table is taken to have where the policy does not declare `rows`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A bound on what the engine does for a question; it follows from public facts."""

    public: int = 1
    """Rows of public tables that one private row is joined with."""
    per_row: int = 1
    """Rows that a row of one private table is joined with: of the table that repeats the least."""
    rows: int = USUAL_ROWS
    """Rows in all."""
    is_declared: bool = False
    """Whether `rows` follows from declared sizes."""


def estimate_cost(relation: algebra.Relation, facts: PublicFacts) -> Cost:
    """The cost that the rows of a question make."""
    joined = _join_partners(relation)
    public = max(_repeats(joined, _CostFacts(facts, private=1)), default=1)
    per_row = min(_repeats(joined, _CostFacts(facts, private=USUAL)), default=1)
    sizes = [
        _rows(scan.table, facts)
        for scan in algebra.scans(joined)
        if not facts.is_public(scan.table)
    ]
    declared = [size for size in sizes if size is not None]
    is_declared = len(declared) == len(sizes) and bool(sizes)
    largest = max(declared) if is_declared else max([USUAL_ROWS, *declared])
    return Cost(public=public, per_row=per_row, rows=largest * public, is_declared=is_declared)


def check_cost(cost: Cost) -> None:
    """Refuse a question that multiplies rows beyond the limits."""
    if cost.public > MOST_PUBLIC:
        raise QueryRefused("CEL-Q320.public_rows", rows=cost.public, most=MOST_PUBLIC)
    if cost.per_row > MOST_PER_ROW:
        raise QueryRefused("CEL-Q320.per_row", rows=cost.per_row, most=MOST_PER_ROW)
    if cost.is_declared and cost.rows > MOST_IN_ALL:
        raise QueryRefused("CEL-Q320.in_all", rows=cost.rows, most=MOST_IN_ALL)


@dataclass(frozen=True, slots=True)
class _CostFacts:
    """Public facts, with an assumed cap for private columns of which nothing is declared."""

    facts: PublicFacts
    private: int

    def is_public(self, table: str) -> bool:
        return self.facts.is_public(table)

    def frequency(self, table: str, column: str) -> int | None:
        return self.facts.frequency(table, column) if self.is_public(table) else None

    def cap(self, table: str, column: str) -> int | None:
        declared = self.facts.cap(table, column)
        if self.is_public(table):
            return declared
        return self.private if declared is None or self.private == 1 else declared

    def displaced_rows(self, table: str) -> int:
        return 0

    def key(self, table: str) -> frozenset[str]:
        return self.facts.key(table)

    def containing_table(self, table: str) -> str | None:
        return self.facts.containing_table(table)


@dataclass(frozen=True, slots=True)
class _CostAnalysis(StabilityAnalysis):
    """The analysis of stability, where a key that nothing bounds meets all rows of a relation."""

    def _joint_frequency(
        self, columns: Sequence[algebra.Column], relation: algebra.Relation
    ) -> Growth:
        try:
            return StabilityAnalysis._joint_frequency(self, columns, relation)
        except QueryRefused:
            return Leaf(_size(relation, self.facts))  # type: ignore[arg-type]


def _repeats(relation: algebra.Relation, facts: _CostFacts) -> list[int]:
    """For each private table the most rows of a relation that hold one given row of the table."""
    try:
        return [each.at(0) for each in _CostAnalysis(facts).stabilities(relation).values()]
    except QueryRefused:  # tables that no equality connects
        return [_size(relation, facts)]


def _size(relation: algebra.Relation, facts: _CostFacts) -> int:
    """A bound on the rows of a relation; of private tables as many as are assumed to agree."""
    match relation:
        case algebra.Scan(table=table):
            if not facts.is_public(table):
                return facts.private
            return max(1, facts.facts.size(table) or 1)
        case algebra.UnionAll(parts=parts):
            return sum(_size(part, facts) for part in parts)
        case _:
            return prod(_size(child, facts) for child in algebra.children(relation))


def _rows(table: str, facts: PublicFacts) -> int | None:
    declared = facts.policy.table(table)
    return None if declared is None else declared.rows


def _join_partners(relation: algebra.Relation) -> algebra.Relation:
    """The same with joins in the place of IN and EXISTS: the engine may compare as many pairs."""
    match relation:
        case algebra.Scan():
            return relation
        case algebra.Filter(source=source):
            return replace(relation, source=_join_partners(source))
        case algebra.DerivedTable(source=source) | algebra.GroupedTable(source=source):
            return replace(relation, source=_join_partners(source))
        case algebra.Join(left=left, right=right) | algebra.LeftJoin(left=left, right=right):
            return replace(relation, left=_join_partners(left), right=_join_partners(right))
        case algebra.SemiJoin(left=left, right=right, keys=keys):
            return algebra.Join(_join_partners(left), _join_partners(right), keys)
        case algebra.UnionAll(parts=parts):
            made = [replace(part, source=_join_partners(part.source)) for part in parts]
            return replace(relation, parts=tuple(made))


CLASSES = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Seconds."""
_START = {"duckdb": 0.1, "postgres": 0.2, "spark": 6.0}
"""Seconds that an engine takes for a question about next to nothing."""
_SPEED = {"duckdb": 5_000_000, "postgres": 300_000, "spark": 1_000_000}
"""Rows that an engine reads and joins in a second, at least."""


def choose_deadline(
    cost: Cost, steps: Iterable[Step], *, dialect: str, declared: Fraction | None = None
) -> float:
    """The seconds to an answer: what the policy declares, else the time class of the question."""
    if declared is not None:
        return float(declared)
    passes = sum(step.passes for step in steps)
    seconds = _START[dialect] + passes * cost.rows / _SPEED[dialect]
    return next((each for each in CLASSES if seconds <= each), CLASSES[-1])
