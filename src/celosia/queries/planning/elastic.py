"""Totals with noise scaled by what is measured on the data, smoothed: method "elastic"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from sqlglot import exp

from celosia.accounting.losses import Loss
from celosia.core.messages import Message
from celosia.core.neighbours import Neighbours
from celosia.core.randomness import Source
from celosia.queries.bounds.elastic_sensitivity import ElasticSensitivity, elastic_sensitivity
from celosia.queries.bounds.facts import DeclaredFacts, Facts
from celosia.queries.bounds.noise import smooth_noise
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.emission import count_query, grouped_query
from celosia.queries.emission.syntax import (
    as_alias,
    column,
    group_by,
    identifier,
    integer_literal,
    select_from,
)
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.facts import PublicFacts

TableColumn = tuple[str, str]
"""A table and one of its columns."""
ONE = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class ElasticStep(plan.Step):
    """Totals with noise for the smooth bound of how far one row can move them.

    Guarantee: (epsilon, delta)-DP for one row, for each total, by the proof in `bounds.noise`. The
    frequencies, the bound and the scale of the noise depend on the data and are never released, so
    there is no interval. Counts and frequencies come from one statement, and so from one state of
    the data.
    """

    context: plan.StepContext
    totals: tuple[Total, ...]
    epsilon: Fraction
    """Of each total."""
    delta: Fraction
    """Of each total."""
    neighbours: Neighbours
    facts: PublicFacts
    groups: int

    def __post_init__(self) -> None:
        dry = dict.fromkeys(self.columns, 1)
        for total in self.totals:  # what is out of reach is refused here; degrees are public
            smooth(self._bound(total, dry).growth, beta=self.beta)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.totals)

    @cached_property
    def beta(self) -> Fraction:
        """How fast the bound may fall with the distance."""
        return choose_beta(self.epsilon, self.delta, cells=self.groups)

    @cached_property
    def columns(self) -> tuple[TableColumn, ...]:
        """The columns of private tables whose frequencies the bound needs."""
        asked = _RecordingFacts(self.facts)
        for total in self.totals:
            bound_total(self.context, total, asked, self.neighbours)
        return tuple(sorted(asked.seen))

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        dry = dict.fromkeys(self.columns, 1)
        return tuple(
            plan.Part(
                name=total.label,
                mechanism=Message("queries.mechanism.elastic"),
                bound=Message(
                    "queries.bound.elastic",
                    formula=str(self._bound(total, dry, step=total.step)),
                ),
                epsilon=self.epsilon,
                delta=self.delta,
            )
            for total in self.totals
        )

    def unit(self, number: int) -> Fraction:
        return self.totals[number].step

    def losses(self, groups: int) -> tuple[Loss, ...] | None:
        return None

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        question, target = self.context.question_for(self.totals), self.context.target
        if not question.keys and [each.kind for each in self.totals] == ["rows"]:
            query = count_query(question.source, target=target)
        else:
            lists = group_keys if question.keys else None
            query = grouped_query(
                question, target=target, fixed=plan.fixed_points(self.totals), group_keys=lists
            )
        for number, (table, word) in enumerate(self.columns, start=1):
            declared = target.table(table)
            spelled = declared.column(word)
            assert spelled is not None
            most = exp.Subquery(this=_frequency_query(declared.name, spelled.name))
            query = query.select(as_alias(most, f"frequency_{number}"), copy=False)
        yield query

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        (query,) = self.queries(group_keys)
        rows = execute(query)
        frequencies = rows[0][len(rows[0]) - len(self.columns) :]
        measured = {place: int(each) for place, each in zip(self.columns, frequencies, strict=True)}
        found = []
        for place, total in enumerate(self.totals, start=self.context.key_count):
            bound = self._bound(total, measured)
            smoothed = smooth(bound.growth, beta=self.beta).bound * bound.unit
            noise = smooth_noise(
                smoothed, epsilon=self.epsilon, size=plan.count_groups(group_keys), rng=rng
            )
            found.append(
                plan.ReleasedValues(
                    tuple(int(row[place]) + n for row, n in zip(rows, noise, strict=True))
                )
            )
        return tuple(found)

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        return (None,) * len(measured.values)  # the scale of the noise is a secret

    def _bound(
        self, total: Total, measured: Mapping[TableColumn, int], *, step: Fraction = ONE
    ) -> ElasticSensitivity:
        facts = _MeasuredFacts(self.facts, DeclaredFacts(self.facts.policy, measured))
        return bound_total(self.context, total, facts, self.neighbours, step=step)


def bound_total(
    context: plan.StepContext,
    total: Total,
    facts: Facts,
    neighbours: Neighbours,
    *,
    step: Fraction = ONE,
) -> ElasticSensitivity:
    """The elastic sensitivity of a total: in steps, or in the given value of a step.

    Raises:
        QueryRefused: CEL-Q060 to CEL-Q065 a frequency is missing, or a key cannot be bounded.
    """
    bounds = None
    if total.fixed is not None:
        bounds = total.fixed.low * step, total.fixed.high * step
    return elastic_sensitivity(
        context.question, total.aggregate, facts=facts, neighbours=neighbours, bounds=bounds
    )


@dataclass(frozen=True, slots=True)
class _PublicPart:
    """What a policy says; who extends it says what the frequencies of private columns are."""

    facts: PublicFacts

    def is_public(self, table: str) -> bool:
        return self.facts.is_public(table)

    def cap(self, table: str, column: str) -> int | None:
        return self.facts.cap(table, column)

    def displaced_rows(self, table: str) -> int:
        return self.facts.displaced_rows(table)

    def key(self, table: str) -> frozenset[str]:
        return self.facts.key(table)

    def containing_table(self, table: str) -> str | None:
        return self.facts.containing_table(table)


@dataclass(frozen=True, slots=True)
class _RecordingFacts(_PublicPart):
    """Facts that note which frequencies of private columns are asked for; all are taken as 1."""

    seen: set[TableColumn] = field(default_factory=set)

    def frequency(self, table: str, column: str) -> int | None:
        if self.is_public(table):
            return self.facts.frequency(table, column)
        self.seen.add((table.lower(), column.lower()))
        return 1


@dataclass(frozen=True, slots=True)
class _MeasuredFacts(_PublicPart):
    """Public facts, with measured frequencies of private columns."""

    private: DeclaredFacts

    def frequency(self, table: str, column: str) -> int | None:
        return (self.facts if self.is_public(table) else self.private).frequency(table, column)


def _frequency_query(table: str, word: str) -> exp.Select:
    """The most rows of a table that share a value, before any is left out."""
    rows = exp.Select(
        expressions=[column(word), as_alias(exp.Count(this=exp.Star()), "n")],
        from_=exp.From(this=exp.Table(this=identifier(table))),
        where=exp.Where(this=exp.Not(this=exp.Is(this=column(word), expression=exp.Null()))),
    )
    most = exp.func("COALESCE", exp.Max(this=column("n")), integer_literal(0))
    return select_from(group_by(rows, [word]), [as_alias(most, "n")])
