"""Counts of entities of a graph, with noise scaled by their links: "elastic" for entities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sqlglot import exp

from celosia.accounting.losses import Loss
from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.queries.algebra import Aggregate, Key, Question
from celosia.queries.bounds.growth import Growth
from celosia.queries.bounds.noise import smooth_noise
from celosia.queries.bounds.smooth_sensitivity import choose_beta, smooth
from celosia.queries.bounds.star_decomposition import Link, StarDecomposition
from celosia.queries.bounds.star_schema import find_required_links, star_bound
from celosia.queries.emission import Target, grouped_query, syntax
from celosia.queries.emission.aggregates import FlatQuery, aggregate_rows
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.context import MechanismChoice, PlanContext


@dataclass(frozen=True, kw_only=True)
class StarSchemaStep(plan.Step):
    """Counts with noise for the smooth bound of how far one entity can move them.

    Guarantee: (epsilon, delta)-DP for one entity with all its private facts, added, removed or
    replaced, for each count, by the proofs in `bounds.star_schema` and `bounds.noise`; whether the
    graph keeps to its classes does not matter. What is measured of links, the bound and the scale
    of the noise depend on the data and are never released, so there is no interval. Counts and
    links come from one statement, and so from one state of the data.
    """

    context: plan.StepContext
    totals: tuple[Total, ...]
    epsilon: Fraction
    """Of each count."""
    delta: Fraction
    """Of each count."""

    def __post_init__(self) -> None:
        for growth in self._dry.values():  # what is out of reach is refused here, from public facts
            smooth(growth, beta=self.beta)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.totals)

    @cached_property
    def beta(self) -> Fraction:
        """How fast the bound may fall with the distance."""
        return choose_beta(self.epsilon, self.delta)

    @cached_property
    def decomposition(self) -> tuple[StarDecomposition, tuple[Link, ...]]:
        """The stars of the question, and the links that are measured."""
        return find_required_links(self.context.question, policy=self.context.target.policy)

    @cached_property
    def _dry(self) -> Mapping[str, Growth]:
        ones = {link.name: 1 for link in self.decomposition[1]}
        return {total.name: self._bound(total, ones) for total in self.totals}

    @property
    def parts(self) -> tuple[plan.Part, ...]:
        return tuple(
            plan.Part(
                name=total.label,
                mechanism=Message("queries.mechanism.elastic"),
                bound=Message(
                    "queries.bound.elastic_of_entities", formula=str(self._dry[total.name])
                ),
                epsilon=self.epsilon,
                delta=self.delta,
            )
            for total in self.totals
        )

    def losses(self, groups: int) -> tuple[Loss, ...] | None:
        return None

    def queries(self, group_keys: plan.GroupKeys | None) -> Iterator[exp.Expr]:
        stars, links = self.decomposition
        query = grouped_query(self.context.question_for(self.totals), target=self.context.target)
        for number, link in enumerate(links, start=1):
            most = exp.Subquery(this=most_linked_query(stars, link, target=self.context.target))
            query = query.select(syntax.as_alias(most, f"linked_{number}"), copy=False)
        yield query

    def measure(
        self, execute: plan.Executor, *, group_keys: plan.GroupKeys | None, rng: Source
    ) -> tuple[plan.ReleasedValues, ...]:
        _, links = self.decomposition
        (query,) = self.queries(group_keys)
        (row,) = execute(query)
        measured = {
            link.name: int(each)
            for link, each in zip(links, row[len(row) - len(links) :], strict=True)
        }
        found = []
        for place, total in enumerate(self.totals):
            smoothed = smooth(self._bound(total, measured), beta=self.beta).bound
            (noise,) = smooth_noise(smoothed, epsilon=self.epsilon, size=1, rng=rng)
            found.append(plan.ReleasedValues((int(row[place]) + noise,)))
        return tuple(found)

    def bounds(
        self, number: int, measured: plan.ReleasedValues, confidence: float
    ) -> tuple[plan.Bounds | None, ...]:
        return (None,) * len(measured.values)  # the scale of the noise is a secret

    def _bound(self, total: Total, measured: Mapping[str, int]) -> Growth:
        return star_bound(
            self.context.question,
            policy=self.context.target.policy,
            measured=measured,
            aggregate=total.aggregate,
        )


def most_linked_query(stars: StarDecomposition, link: Link, *, target: Target) -> exp.Select:
    """The most entities of a star that are linked to one value, as a query of one number."""
    subject, value = (
        syntax.column(each.name, each.relation)
        for each in (link.pattern.subject, link.pattern.object)
    )
    question = Question(
        stars.linked_facts(link), (Aggregate("distinct", "n", subject),), (Key("value", value),)
    )
    flat = FlatQuery(question=question, target=target, fixed={})
    groups = aggregate_rows(flat, flat.rows(), flat.keys)
    ((word, _),) = flat.aggregates
    most = exp.func("COALESCE", exp.Max(this=syntax.column(word)), syntax.integer_literal(0))
    return syntax.select_from(groups, [syntax.as_alias(most, "n")], alias="links")


def choose_for_entities(context: PlanContext) -> MechanismChoice:
    """Method "elastic" where entities of a graph are protected.

    Raises:
        QueryRefused: CEL-Q070, CEL-Q072, CEL-Q073 no bound; CEL-Q143 the policy does not allow it,
            and without a delta.
    """
    if not context.policy.elastic:
        raise QueryRefused("CEL-Q143.not_elastic_for_entities", method="elastic")
    if not context.delta:
        raise QueryRefused("CEL-Q148.elastic")
    if context.required.ranks or not context.required.totals:
        raise QueryRefused("CEL-Q143.counts_only", method="elastic")
    totals = tuple(context.required.totals)
    step = StarSchemaStep(
        context=plan.StepContext(question=context.question, target=context.target),
        totals=totals,
        epsilon=context.share,
        delta=context.delta / len(totals),
    )
    return MechanismChoice(method="elastic", steps=[step], derivations=context.required.derivations)
