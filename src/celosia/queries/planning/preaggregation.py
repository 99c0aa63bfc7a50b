"""Public tables are joined and aggregated by their join keys before a private row meets them.

    SELECT count(*) FROM visits v JOIN doctors d ON v.doctor = d.id
    JOIN doctors e ON d.specialty = e.specialty

turns one visit into as many rows as the specialty has doctors. The doctors are public, so this
number is the same in all neighbouring databases: it is counted first, and becomes a weight,

    SELECT sum(p.weight) FROM visits v
    JOIN (SELECT d.id, sum(...) AS weight FROM ... GROUP BY d.id) p ON v.doctor = p.id

A private row then meets at most one row for each value of its key and of the columns that the
question still speaks of, and the engine's work on private rows no longer depends on how often
public values repeat. COUNT(*) becomes SUM(weight), COUNT(x) and SUM(x) are weighted likewise, and
COUNT(DISTINCT x) stays as it is. Each counts the same rows as before, so all bounds hold as before.

Why: a private row v joins with the public rows that share its key, and
    sum over v of sum over partners p of x(v) = sum over v of x(v) w(key of v),
with w the number of partners: sums distribute over the join (eager aggregation, Yan & Larson 1995).
The weights follow from public tables only. They are constants in all neighbouring databases, so the
plan, its cost and its bounds may depend on them.

How the public tables are put together is in `join_tree`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from sqlglot import exp

from celosia.core.errors import EngineError
from celosia.queries import algebra
from celosia.queries.bounds.lineage import column_expression
from celosia.queries.emission import Target, syntax
from celosia.queries.ownership.owners import all_aliases, unused_name
from celosia.queries.planning.aggregates import format_aggregate
from celosia.queries.planning.facts import PublicFacts
from celosia.queries.planning.join_blocks import (
    JoinBlock,
    columns_in,
    flatten_joins,
    rebuild_joins,
    relations_in,
    rename_columns,
)
from celosia.queries.planning.join_tree import WEIGHT, Names, aggregation_query, facts_query
from celosia.queries.policy.values import ColumnPolicy, TablePolicy
from celosia.queries.sql import make_total

_WEIGHTED = frozenset({"rows", "count", "sum", "distinct"})

Executor = Callable[[exp.Expr], Any]


@dataclass(frozen=True, slots=True)
class Preaggregation:
    """A question whose public tables are aggregated, with what is known of these."""

    question: algebra.Question
    target: Target
    facts: PublicFacts


def preaggregate_public_tables(
    question: algebra.Question, target: Target, facts: PublicFacts, execute: Executor
) -> Preaggregation | None:
    """The same question with public tables aggregated by their join keys; None where it cannot be.

    Args:
        question: what is asked.
        target: the engine.
        facts: what is public.
        execute: runs a query over public tables only.
    """
    if not {each.kind for each in question.aggregates} <= _WEIGHTED:
        return None
    whole_block = flatten_joins(question.source)
    if whole_block is None:
        return None
    spoken: list[exp.Expr] = [
        each.argument for each in question.aggregates if each.argument is not None
    ]
    spoken += [each.expression for each in question.keys]
    made = _Preaggregator(question, target, facts, execute)
    return made.run(whole_block, spoken)


@dataclass(slots=True)
class _Preaggregator:
    """The tables that are made on the way."""

    question: algebra.Question
    target: Target
    facts: PublicFacts
    execute: Executor
    patterns: dict[str, str] = field(default_factory=dict)
    """By alias of an aggregated table, the patterns that it holds the solutions of."""

    def run(self, block: JoinBlock, spoken: list[exp.Expr]) -> Preaggregation | None:
        parts = [
            part for part in _connected_parts(block, self._is_public) if self._repeats(part, block)
        ]
        tables: list[tuple[_AggregatedTable, str]] = []
        left = block
        word = unused_name("celosia_public", all_aliases(self.question.source))
        for number, part in enumerate(parts, start=1):
            alias = f"{word}_{number}"
            made = self._table(part, left, spoken, alias)
            if made is None:
                continue
            tables.append((made, alias))
            self._keep_words(part, alias)
            left = _replace_part(left, part, algebra.Scan(made.policy.name, alias))
        if not tables:
            return None
        return self._question(left, tables)

    def _is_public(self, relation: algebra.Relation) -> bool:
        return all(self.facts.is_public(scan.table) for scan in algebra.scans(relation))

    def _repeats(self, part: list[algebra.Relation], block: JoinBlock) -> bool:
        """Whether a private row may meet several rows of these tables."""
        if len(part) > 1:
            return True
        (member,) = part
        mine = algebra.aliases(member)
        ends = [each for pair in block.pairs for each in pair if each.relation in mine]
        declared = (self.target.declared_column(column_expression(each), member) for each in ends)
        return not any(each is not None and each.unique for each in declared)

    def _table(
        self, part: list[algebra.Relation], block: JoinBlock, spoken: list[exp.Expr], alias: str
    ) -> _AggregatedTable | None:
        """The tables of a part as one, with what may be known of it."""
        inside = frozenset[str]().union(*map(algebra.aliases, part))
        visible = list(dict.fromkeys(_visible_columns(block, spoken, inside)))
        kinds = [
            self.target.declared_column(column_expression(each), _member_of(each, part))
            for each in visible
        ]
        known = [each for each in kinds if each is not None]
        if not visible or len(known) != len(kinds):
            return None  # a computed column, of which nothing is declared
        names = {each: f"column_{place}" for place, each in enumerate(visible, start=1)}
        query = aggregation_query(part, _inner_block(block, inside), names, self.target)
        words = sorted({scan.table for each in part for scan in algebra.scans(each)})
        try:
            size, most, *frequencies = self.execute(facts_query(query, list(names.values())))[0]
        except EngineError:
            return None  # too much even for public tables: the limit on work decides
        title = f"{', '.join(words)}, aggregated as {alias}"
        columns = [
            replace(each, name=names[place], unique=int(often) <= 1, most=None)
            for each, place, often in zip(known, visible, frequencies, strict=True)
        ]
        weight = ColumnPolicy(
            name=WEIGHT, type="integer", lower=Fraction(0), upper=Fraction(max(1, int(most)))
        )
        counted = dict(zip(names.values(), map(int, frequencies), strict=True))
        declared = TablePolicy(name=title, columns=(*columns, weight), public=True, rows=int(size))
        return _AggregatedTable(declared, query, names, counted)

    def _question(
        self, block: JoinBlock, tables: list[tuple[_AggregatedTable, str]]
    ) -> Preaggregation:
        names = {
            each: algebra.Column(alias, word)
            for made, alias in tables
            for each, word in made.names.items()
        }
        policy = replace(
            self.target.policy,
            tables=(*self.target.policy.tables, *(made.policy for made, _ in tables)),
        )
        target = replace(
            self.target,
            policy=policy,
            views={**self.target.views, **{made.policy.name: made.query for made, _ in tables}},
        )
        weights: list[exp.Expression] = [syntax.column(WEIGHT, alias) for _, alias in tables]
        weight = reduce(lambda one, other: exp.Mul(this=one, expression=other), weights)
        question = replace(
            self.question,
            source=rebuild_joins(block, names),
            aggregates=tuple(
                _weight_aggregate(each, weight, names) for each in self.question.aggregates
            ),
            keys=tuple(
                algebra.Key(each.name, rename_columns(each.expression, names))
                for each in self.question.keys
            ),
            wording=self._wording(names),
        )
        counts = {made.policy.name.lower(): made.frequencies for made, _ in tables}
        count = self.facts.count
        assert count is not None, "public tables are counted where they are aggregated"

        def counted(table: str, word: str | None) -> int:
            if table.lower() not in counts:
                return count(table, word)
            sized = policy.table(table)
            assert sized is not None
            return sized.rows or 0 if word is None else counts[table.lower()].get(word.lower(), 1)

        return Preaggregation(question, target, PublicFacts(policy, counted))

    def _keep_words(self, part: list[algebra.Relation], alias: str) -> None:
        if self.question.wording is not None:
            inside = [scan.alias for each in part for scan in algebra.scans(each)]
            known = [self.question.wording.scans.get(each, each) for each in inside]
            self.patterns[alias] = " . ".join(known)

    def _wording(self, names: dict[algebra.Column, algebra.Column]) -> algebra.Wording | None:
        wording = self.question.wording
        if wording is None:
            return None
        made = wording.renamed(names)
        made.scans.update(self.patterns)
        return made


@dataclass(frozen=True, slots=True)
class _AggregatedTable:
    """Public tables as one: declared like a table, made by a query."""

    policy: TablePolicy
    query: exp.Select
    names: Names
    frequencies: dict[str, int]


def _connected_parts(
    block: JoinBlock, is_public: Callable[[algebra.Relation], bool]
) -> Iterator[list[algebra.Relation]]:
    """The public members, in parts that equalities or conditions of their own connect."""
    waiting = [each for each in block.members if is_public(each)]
    links = [frozenset({one.relation, other.relation}) for one, other in block.pairs]
    links += [relations_in(each) for each in block.conditions]
    public = frozenset[str]().union(*map(algebra.aliases, waiting))
    links = [each for each in links if each <= public]
    while waiting:
        part, reached = [waiting.pop(0)], True
        while reached:
            mine = frozenset[str]().union(*map(algebra.aliases, part))
            near = [
                each
                for each in waiting
                if any(link & mine and link & algebra.aliases(each) for link in links)
            ]
            waiting = [each for each in waiting if each not in near]
            part += near
            reached = bool(near)
        yield part


def _inner_block(block: JoinBlock, inside: frozenset[str]) -> JoinBlock:
    """What holds among some members alone."""
    return JoinBlock(
        [each for each in block.members if algebra.aliases(each) <= inside],
        [(one, other) for one, other in block.pairs if {one.relation, other.relation} <= inside],
        [each for each in block.conditions if relations_in(each) and relations_in(each) <= inside],
        [],
    )


def _visible_columns(
    block: JoinBlock, spoken: Iterable[exp.Expr], inside: frozenset[str]
) -> Iterator[algebra.Column]:
    """The columns of some members that the rest of the question speaks of."""
    for one, other in block.pairs:
        if not {one.relation, other.relation} <= inside:
            yield from (each for each in (one, other) if each.relation in inside)
    outside = [each for each in block.conditions if not relations_in(each) <= inside]
    for tree in (*spoken, *outside):
        yield from (each for each in columns_in(tree) if each.relation in inside)
    for match in block.matches:
        yield from (one for one, _ in match.keys if one.relation in inside)
        if match.condition is not None:
            yield from (each for each in columns_in(match.condition) if each.relation in inside)


def _replace_part(block: JoinBlock, part: list[algebra.Relation], scan: algebra.Scan) -> JoinBlock:
    """The block with one table in the place of some members."""
    inside = frozenset[str]().union(*map(algebra.aliases, part))
    inner = _inner_block(block, inside)
    return JoinBlock(
        [*(each for each in block.members if each not in part), scan],
        [each for each in block.pairs if each not in inner.pairs],
        [each for each in block.conditions if not any(each is one for one in inner.conditions)],
        block.matches,
    )


def _weight_aggregate(
    aggregate: algebra.Aggregate,
    weight: exp.Expression,
    names: dict[algebra.Column, algebra.Column],
) -> algebra.Aggregate:
    """The aggregate over rows that stand for several."""
    argument = None if aggregate.argument is None else rename_columns(aggregate.argument, names)
    if aggregate.kind == "distinct":
        return replace(aggregate, argument=argument, label=format_aggregate(aggregate))
    if aggregate.kind == "rows" or argument is None:
        amount: exp.Expression = weight.copy()
    elif aggregate.kind == "count":
        missing = exp.Is(this=argument, expression=exp.Null())
        amount = exp.Case().when(missing, syntax.integer_literal(0)).else_(weight.copy())
    else:
        amount = exp.Mul(this=exp.Paren(this=argument), expression=weight.copy())
    return replace(
        aggregate, kind="sum", argument=make_total(amount), label=format_aggregate(aggregate)
    )


def _member_of(each: algebra.Column, part: list[algebra.Relation]) -> algebra.Relation:
    return next(member for member in part if each.relation in algebra.aliases(member))
