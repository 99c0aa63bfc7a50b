"""The choice of mechanisms where single rows are protected."""

from __future__ import annotations

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message, one_unit
from celosia.core.neighbours import ADD_REMOVE
from celosia.queries.algebra import Aggregate, Key, Question, scans
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.ownership import attach_owners
from celosia.queries.planning.context import MechanismChoice, PlanContext
from celosia.queries.planning.contribution_bounding import (
    choose_for_several_owners,
    gaussian_step,
    r2t_steps,
)
from celosia.queries.planning.elastic import ElasticStep, bound_total
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.planning.plan import Step, StepContext, count_groups, decimal_amount


def choose_for_rows(context: PlanContext) -> MechanismChoice:
    """The method and its steps.

    Raises:
        QueryRefused: what cannot be promised.
    """
    context.check_keys()
    method = context.method
    if method in ("r2t", "r2t-cap"):
        return _choose_r2t(context)
    if method in ("capped", "chosen-cap"):
        raise QueryRefused("CEL-Q143.bounds_people", method=method)
    if method == "elastic" and not context.required.totals:
        raise QueryRefused("CEL-Q143.ranks_only", method=method)
    step_context = StepContext(question=context.question, target=context.target)
    rows = count_moved_rows(context)
    if context.finds_keys and rows != 1:
        raise QueryRefused("CEL-Q143.repeated_rows", method=method or "global")
    steps = context.partition_steps(step_context, 1, context.delta)
    if context.required.totals:
        method = method or _choose_method(context, step_context)
        steps.append(_total_step(method, context, step_context))
    steps += context.rank_steps(step_context, rows)
    return MechanismChoice(
        method=method or "rank", steps=steps, derivations=context.required.derivations
    )


def count_moved_rows(context: PlanContext) -> int | None:
    """The most rows of the result that come or go with one row, if declared caps bound them.

    Groups feel a row that leaves and one that comes, so this is asked of a count by groups.
    """
    source = context.question.source
    grouped = Question(source, (Aggregate("rows", "n"),), (Key("any", exp.Column()),))
    try:
        limit = elastic_sensitivity(
            grouped, grouped.aggregates[0], facts=context.facts, neighbours=ADD_REMOVE
        )
    except QueryRefused:
        return None
    return None if limit.limit is None else int(limit.limit)


def _choose_method(context: PlanContext, step_context: StepContext) -> str:
    """A global bound wherever there is one: its noise is smaller, and its error public."""
    try:
        for total in context.required.totals:
            bound_total(step_context, total, context.facts, context.neighbours)
    except QueryRefused as refusal:
        if refusal.code != "CEL-Q060":
            raise
        if context.policy.elastic:
            return "elastic"
        if context.policy.graph is not None:
            term = _term(str(refusal.details["column"]))
            raise QueryRefused("CEL-Q060.uncapped_facts", term=term, **refusal.details) from None
        # What a declaration would buy, and what needs none.
        raise QueryRefused("CEL-Q060.uncapped_rows", **refusal.details) from None
    return "global"


def _total_step(method: str, context: PlanContext, step_context: StepContext) -> Step:
    totals = tuple(context.required.totals)
    if method in ("global", "gaussian"):
        shifts = []
        for total in totals:
            limit = bound_total(step_context, total, context.facts, context.neighbours).limit
            assert limit is not None, "without measured frequencies every bound is a cap"
            shifts.append(max(1, int(limit)))
        step = LaplaceStep(
            context=step_context,
            totals=totals,
            shifts=tuple(shifts),
            epsilon=context.share,
            bound=tuple(
                Message(
                    "queries.bound.shift",
                    one=one_unit(context.policy.unit.name),
                    most=decimal_amount(shift * total.step),
                )
                for total, shift in zip(totals, shifts, strict=True)
            ),
        )
        return step if method == "global" else gaussian_step(context, step)
    if not context.policy.elastic:
        raise QueryRefused("CEL-Q143.not_elastic", method="elastic")
    if not context.delta:
        raise QueryRefused("CEL-Q148.elastic")
    if context.finds_keys:
        raise QueryRefused("CEL-Q143.private_keys", method="elastic")
    return ElasticStep(
        context=step_context,
        totals=totals,
        epsilon=context.share,
        delta=context.delta / len(totals),
        neighbours=context.neighbours,
        facts=context.facts,
        groups=count_groups(context.keys.values) if context.question.keys else 1,
    )


def _choose_r2t(context: PlanContext) -> MechanismChoice:
    """Rows as people: each row of the result is shared out among the rows it is made of.

    A cap that is kept by leaving rows out is refused: one row more would then bring back, or push
    out, another one, and the totals would move by more than what the new row adds.
    """
    capped = [
        scan.table
        for scan in scans(context.question.source)
        if context.facts.displaced_rows(scan.table)
    ]
    if capped:
        raise QueryRefused("CEL-Q143.displacing_cap", method=context.method, table=capped[0])
    owned = attach_owners(context.question.source, policy=context.policy)
    if owned.unidentified:
        raise QueryRefused("CEL-Q143.unidentified_rows", method=context.method)
    if owned.owner_count > 1:
        return choose_for_several_owners(context, owned)
    step_context = StepContext(question=context.question, target=context.target, owned=owned)
    steps = r2t_steps(context, step_context, None, releases_candidates=context.method == "r2t")
    steps += context.rank_steps(step_context, count_moved_rows(context))
    return MechanismChoice(
        method=str(context.method),
        steps=steps,
        derivations=context.required.derivations,
        owned=owned,
    )


_TERMS = {"subject": "queries.fact_part.subject", "object": "queries.fact_part.object"}


def _term(column: str) -> Message:
    return Message(_TERMS.get(column, "queries.fact_part.other"), column=column)
