"""The choice of mechanisms where a person is protected with all their rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message, unit_word, unit_words
from celosia.queries.algebra import Aggregate, GroupedTable, SemiJoin
from celosia.queries.bounds.caps import MOST
from celosia.queries.bounds.lineage import as_column, find_definitions
from celosia.queries.bounds.stability import StabilityAnalysis
from celosia.queries.ownership import OwnedRelation, attach_owners
from celosia.queries.planning.aggregates import Total, find_required_totals
from celosia.queries.planning.context import TYPICAL, MechanismChoice, PlanContext
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.planning.plan import Step, StepContext, count_groups
from celosia.queries.planning.semi_joins import (
    find_foreign_semi_joins,
    restore_owner_names,
    semi_join_terms,
)

if TYPE_CHECKING:
    from celosia.queries.planning.linear_programs import ProgramTerm

CHOSEN_SHARE = 0.7
"""What a chosen cap leaves of epsilon for the answer, see `PrivateCap.share`."""
MOST_R2T_GROUPS = 256
"""Groups that each have a run of R2T."""
MOST_KEYS = 8
"""Groups that one person counts for, at most, where groups are found by their people."""


def choose_for_people(context: PlanContext) -> MechanismChoice:
    """The method and its steps.

    Raises:
        QueryRefused: what cannot be promised.
    """
    if context.method == "elastic" and context.policy.graph is not None:
        from celosia.queries.planning.star_schema import (
            choose_for_entities,  # only where the plan needs it
        )

        return choose_for_entities(context)
    if context.method in ("global", "elastic"):
        raise QueryRefused("CEL-Q143.protects_rows", method=context.method)
    context.check_keys()
    foreign = find_foreign_semi_joins(context.question.source, policy=context.policy)
    if foreign:
        return choose_for_semi_joins(context, foreign)
    owned = attach_owners(context.question.source, policy=context.policy)
    if owned.owner_count > 1:
        return choose_for_several_owners(context, owned)
    rows = 1 if _counts_people(context, owned) else rows_per_person(context, owned)
    step_context = StepContext(question=context.question, target=context.target, owned=owned)
    method = context.method or _choose_method(rows, _rows_added_up(context))
    if method == "chosen-cap" and _rows_added_up(context) > 1:
        # Values of one person begin at 0 and are mostly far from the end of their range.
        context = replace(
            context, required=find_required_totals(context.question, context.target, centred=False)
        )
    # A person is in at most as many groups as they have rows.
    per_unit = 1 if rows is None else min(rows, MOST_KEYS)
    steps = context.partition_steps(step_context, per_unit, context.delta)
    if context.required.totals:
        steps += _total_steps(method, context, step_context, rows)
    elif context.method is None:
        method = "rank"
    steps += context.rank_steps(step_context, rows)
    return MechanismChoice(
        method=method, steps=steps, derivations=context.required.derivations, owned=owned
    )


def rows_per_person(context: PlanContext, owned: OwnedRelation) -> int | None:
    """The most rows of the result that one person owns, if declared caps bound them.

    Where rows belong to several people, a person has some as each of the owners.
    """
    analysis = StabilityAnalysis(context.facts, context.neighbours)
    rows = 0
    for owner in owned.owners:
        try:
            limit = analysis.frequency(owner, owned.relation).limit
        except QueryRefused:
            return None
        if limit is None:
            return None
        rows += limit
    return rows


def _counts_people(context: PlanContext, owned: OwnedRelation | None) -> bool:
    """Whether only people are counted, each once: COUNT(DISTINCT key of the person)."""
    if owned is None or context.question.keys or context.required.ranks:
        return False
    totals = context.required.totals
    return all(each.kind == "distinct" and owned.is_identified_by(each.argument) for each in totals)


def _choose_method(rows: int | None, inner: int) -> str:
    """The method of the smaller error: noise for the declared cap, or for a typical one.

    A declared cap costs noise of scale rows / epsilon; a chosen one TYPICAL / (0.7 epsilon), as the
    choice takes its share of epsilon. Where values are themselves counts or sums of so many inner
    rows, a person adds as much as with all of these. Only public numbers are compared.
    """
    is_small = rows is not None and rows * inner <= TYPICAL / CHOSEN_SHARE
    return "capped" if is_small else "chosen-cap"


def _rows_added_up(context: PlanContext) -> int:
    """The most rows that a sub-query counts or adds up into one value that is added up again."""
    found = 1
    for total in context.required.totals:
        column = as_column(total.argument) if total.kind == "sum" else None
        made = [] if column is None else find_definitions(column, context.question.source)
        while made:
            each, inner = made.pop()
            if isinstance(each, Aggregate) and isinstance(inner, GroupedTable):
                is_added = each.kind in ("rows", "count", "distinct", "sum")
                found = max(found, inner.most or 1) if is_added else found
            elif not isinstance(each, Aggregate) and (column := as_column(each)) is not None:
                made += find_definitions(column, inner)
    return found


def _total_steps(
    method: str, context: PlanContext, step_context: StepContext, rows: int | None
) -> list[Step]:
    if method == "capped":
        return [_capped_step(context, step_context, rows)]
    if method == "gaussian":
        return [gaussian_step(context, _capped_step(context, step_context, rows))]
    if method == "chosen-cap":
        return [_chosen_cap_step(context, step_context, rows)]
    return r2t_steps(context, step_context, rows, releases_candidates=method == "r2t")


def gaussian_step(context: PlanContext, step: LaplaceStep) -> Step:
    """The totals of a step with Gaussian noise, which takes all of delta.

    Raises:
        QueryRefused: CEL-Q143 groups are to be found as well, CEL-Q148 there is no delta.
    """
    from celosia.queries.planning.gaussian import with_gaussian_noise  # only where it is asked for

    if context.finds_keys:
        raise QueryRefused("CEL-Q143.private_keys", method="gaussian")
    return with_gaussian_noise(step, context.delta)


def _capped_step(context: PlanContext, step_context: StepContext, rows: int | None) -> LaplaceStep:
    if rows is None:
        raise QueryRefused("CEL-Q143.no_caps", method=context.method or "capped")
    unit = unit_word(context.policy.unit.name)
    if _counts_people(context, step_context.owned):
        bound = Message("queries.bound.once", unit=unit)
    elif context.policy.graph is None:
        bound = Message("queries.bound.rows", unit=unit, most=rows)
    else:
        bound = Message("queries.bound.solutions", unit=unit, most=rows)
    totals = tuple(context.required.totals)
    return LaplaceStep(
        context=step_context,
        totals=totals,
        shifts=tuple(context.shift(each, max(1, rows)) for each in totals),
        epsilon=context.share,
        bound=(bound,) * len(totals),
    )


def _chosen_cap_step(context: PlanContext, step_context: StepContext, rows: int | None) -> Step:
    from celosia.queries.planning.chosen_cap import ChosenCapStep  # only where the plan needs it

    return ChosenCapStep(
        context=step_context,
        totals=tuple(context.required.totals),
        most=tuple(largest_contribution(context, each, rows) for each in context.required.totals),
        epsilon=context.share,
        halved=context.changes,
        typical=TYPICAL,
    )


def r2t_steps(
    context: PlanContext,
    step_context: StepContext,
    rows: int | None,
    *,
    releases_candidates: bool,
    terms: Callable[[Total], tuple[ProgramTerm, ...]] | None = None,
) -> list[Step]:
    """One run of R2T for each total and each group; of linear programs, where there are terms."""
    from celosia.queries.planning.r2t import R2TStep  # only where the plan needs it

    name = "r2t" if releases_candidates else "r2t-cap"
    groups = count_groups(context.keys.values) if context.question.keys else 1
    if context.finds_keys:
        raise QueryRefused("CEL-Q143.private_keys", method=name)
    if groups > MOST_R2T_GROUPS:
        raise QueryRefused("CEL-Q146.too_many", number=groups, most=MOST_R2T_GROUPS)
    made: list[Step] = []
    for total in context.required.totals:
        if total.is_signed and terms is None:
            raise QueryRefused("CEL-Q143.negative_values", method=name, label=total.label)
        made.append(
            R2TStep(
                context=step_context,
                total=total,
                most=largest_contribution(context, total, rows),
                epsilon=context.share,
                groups=groups,
                # A person is in at most as many groups as they have rows.
                per_unit=groups if rows is None else max(1, min(rows, groups)),
                releases_candidates=releases_candidates,
                terms=() if terms is None else terms(total),
                halved=context.changes,
                typical=TYPICAL,
            )
        )
    return made


def largest_contribution(context: PlanContext, total: Total, rows: int | None) -> int:
    """The most that one unit may add to a total, in steps."""
    limit = context.policy.most_per_unit
    return min((limit if rows is None else max(1, min(limit, rows))) * total.reach, MOST)


def choose_for_several_owners(context: PlanContext, owned: OwnedRelation) -> MechanismChoice:
    """Rows of several owners: filled in turn, or shared out by a linear program.

    Solutions of a graph whose declared caps bound them may also be counted as they are, with noise
    for all that an entity is a part of: by the method `capped`, if it is asked for. Every fact has
    an owner, and caps leave out facts of the same owner alone.

    Raises:
        QueryRefused: CEL-Q144 what it does not answer, CEL-Q143 another method.
    """
    of_graph = context.policy.graph is not None and not context.policy.unit.is_row
    if context.method == "capped" and of_graph and not context.required.ranks:
        if context.finds_keys:
            raise QueryRefused("CEL-Q143.private_keys", method=context.method)
        rows = rows_per_person(context, owned)
        step = _capped_step(
            context,
            StepContext(question=context.question, target=context.target, owned=owned),
            rows,
        )
        return MechanismChoice(
            method="capped", steps=[step], derivations=context.required.derivations, owned=owned
        )
    from celosia.queries.planning.linear_programs import ProgramTerm  # only where the plan needs it

    plain = _without_centres(context, "CEL-Q143.several_owners", owners=owned.owner_count)
    step_context = StepContext(question=plain.question, target=plain.target, owned=owned)
    rows = None if plain.policy.unit.is_row else rows_per_person(plain, owned)
    return _choose_r2t(
        plain, step_context, rows, lambda total: (ProgramTerm(context=step_context, total=total),)
    )


def choose_for_semi_joins(context: PlanContext, foreign: tuple[SemiJoin, ...]) -> MechanismChoice:
    """Rows with, or without, partners of other owners: programs share out what they are joined to.

    Raises:
        QueryRefused: CEL-Q144, CEL-Q093 what they do not answer, CEL-Q143 another method.
    """
    plain = _without_centres(context, "CEL-Q143.foreign_partners")
    question, target = plain.question, plain.target
    terms = {
        total.name: semi_join_terms(question, total, foreign, target=target)
        for total in plain.required.totals
    }
    step_context = next(iter(terms.values()))[-1].context
    made = _choose_r2t(plain, step_context, None, lambda total: terms[total.name])
    assert step_context.owned is not None
    shown = restore_owner_names(step_context.owned, question.source, foreign, policy=plain.policy)
    return replace(made, owned=shown)


def _without_centres(context: PlanContext, refusal: str, **fields: object) -> PlanContext:
    """The context with totals that programs share out: means are not centred.

    Raises:
        QueryRefused: CEL-Q144 ranks, CEL-Q143 another method.
    """
    if context.required.ranks:
        raise QueryRefused(
            "CEL-Q144.rank_of_people",
            label=context.required.ranks[0].label,
            units=unit_words(context.policy.unit.name),
        )
    if context.method not in (None, "r2t", "r2t-cap"):
        units = unit_words(context.policy.unit.name)
        raise QueryRefused(refusal, method=context.method, units=units, **fields)
    # Values below 0 take a second program, so none are made by counting from the middle.
    return replace(
        context, required=find_required_totals(context.question, context.target, centred=False)
    )


def _choose_r2t(
    context: PlanContext,
    step_context: StepContext,
    rows: int | None,
    terms: Callable[[Total], tuple[ProgramTerm, ...]],
) -> MechanismChoice:
    releases_candidates = context.method == "r2t"
    steps = r2t_steps(
        context, step_context, rows, releases_candidates=releases_candidates, terms=terms
    )
    method = "r2t" if releases_candidates else "r2t-cap"
    return MechanismChoice(
        method=method,
        steps=steps,
        derivations=context.required.derivations,
        owned=step_context.owned,
    )
