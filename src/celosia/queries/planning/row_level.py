"""The choice of mechanisms where single rows are protected."""

from __future__ import annotations

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.core.neighbours import ADD_REMOVE
from celosia.queries.algebra import Aggregate, Key, Question, scans
from celosia.queries.bounds.elastic_sensitivity import elastic_sensitivity
from celosia.queries.ownership import attach_owners
from celosia.queries.planning.amounts import format_amount
from celosia.queries.planning.context import MechanismChoice, PlanContext
from celosia.queries.planning.contribution_bounding import choose_for_several_owners, r2t_steps
from celosia.queries.planning.elastic import ElasticStep, bound_total
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.planning.refusals import (
    UNBOUNDED_FIX,
    delta_needed,
    uncapped_facts,
    unsuitable_method,
)
from celosia.queries.planning.step import Step, StepContext, count_groups


def choose_for_rows(situation: PlanContext) -> MechanismChoice:
    """The method and its steps.

    Raises:
        QueryRefused: what cannot be promised.
    """
    situation.check_keys()
    method = situation.method
    if method in ("race", "race-cap"):
        return _choose_r2t(situation)
    if method in ("capped", "chosen-cap"):
        raise unsuitable_method(method, "It bounds what a person adds, and the policy protects single rows.")
    if method == "elastic" and not situation.needs.totals:
        raise unsuitable_method(method, "It bounds counts and sums, and the question asks for ranks only.")
    scene = StepContext(question=situation.question, target=situation.target)
    rows = count_moved_rows(situation)
    if situation.finds_keys and rows != 1:
        raise unsuitable_method(
            method or "global",
            "Groups are found by their rows only where one row adds one row to the answer.",
            "Let the owner declare `keys` of the column, or ask without the join.",
        )
    steps = situation.key_steps(scene, 1, situation.delta)
    if situation.needs.totals:
        method = method or _choose_method(situation, scene)
        steps.append(_total_step(method, situation, scene))
    steps += situation.rank_steps(scene, rows)
    return MechanismChoice(method=method or "rank", steps=steps, recipes=situation.needs.recipes)


def count_moved_rows(situation: PlanContext) -> int | None:
    """The most rows of the result that come or go with one row, if declared caps tell it.

    Groups feel a row that leaves and one that comes, so this is asked of a count by groups.
    """
    source = situation.question.source
    grouped = Question(source, (Aggregate("rows", "n"),), (Key("any", exp.Column()),))
    try:
        limit = elastic_sensitivity(
            grouped, grouped.aggregates[0], facts=situation.facts, neighbours=ADD_REMOVE
        )
    except QueryRefused:
        return None
    return None if limit.limit is None else int(limit.limit)


def _choose_method(situation: PlanContext, scene: StepContext) -> str:
    """A global bound wherever there is one: its noise is smaller, and its error public."""
    try:
        for total in situation.needs.totals:
            bound_total(scene, total, situation.facts, situation.neighbours)
    except QueryRefused as refusal:
        if situation.policy.elastic and refusal.code == "CEL-Q060":
            return "elastic"
        if situation.policy.graph is not None and refusal.code == "CEL-Q060":
            details = refusal.details
            raise uncapped_facts(str(details["table"]), str(details["column"])) from None
        raise QueryRefused(
            refusal.code,
            refusal.what,
            why=refusal.why,
            fix=f"{refusal.fix} {UNBOUNDED_FIX}",
            **refusal.details,
        ) from None
    return "global"


def _total_step(method: str, situation: PlanContext, scene: StepContext) -> Step:
    totals = tuple(situation.needs.totals)
    if method == "global":
        shifts = []
        for total in totals:
            limit = bound_total(scene, total, situation.facts, situation.neighbours).limit
            assert limit is not None, "without measured frequencies every bound is a cap"
            shifts.append(max(1, int(limit)))
        return LaplaceStep(
            scene=scene,
            totals=totals,
            shifts=tuple(shifts),
            epsilon=situation.share,
            bound=tuple(
                f"one {situation.policy.unit.name} moves it by at most "
                f"{format_amount(shift * total.step)}, by declared caps"
                for total, shift in zip(totals, shifts, strict=True)
            ),
        )
    if not situation.policy.elastic:
        raise unsuitable_method(
            "elastic_sensitivity",
            "The policy does not allow noise that is scaled by the data.",
            "Let the owner declare caps (`most`) of the join keys, or write elastic = true.",
        )
    if not situation.delta:
        raise delta_needed("elastic sensitivity")
    if situation.finds_keys:
        raise unsuitable_method("elastic", "It needs groups whose keys are public.")
    return ElasticStep(
        scene=scene,
        totals=totals,
        epsilon=situation.share,
        delta=situation.delta / len(totals),
        neighbours=situation.neighbours,
        facts=situation.facts,
        groups=count_groups(situation.keys.known) if situation.question.keys else 1,
    )


def _choose_r2t(situation: PlanContext) -> MechanismChoice:
    """Rows as people: each row of the result is shared out among the rows it is made of."""
    capped = [
        scan.table
        for scan in scans(situation.question.source)
        if situation.facts.displaced(scan.table)
    ]
    if capped:
        raise unsuitable_method(
            str(situation.method),
            f"The cap on table {capped[0]} lets one row push another one out.",
        )
    owned = attach_owners(situation.question.source, policy=situation.policy)
    if owned.nameless:
        raise unsuitable_method(
            str(situation.method),
            "A private table takes part of which no unique column is declared, or partners of "
            "IN or EXISTS.",
            "Let the owner declare its primary key as unique.",
        )
    if owned.classes > 1:
        return choose_for_several_owners(situation, owned)
    scene = StepContext(question=situation.question, target=situation.target, owned=owned)
    steps = r2t_steps(situation, scene, None, to_top=situation.method == "race")
    steps += situation.rank_steps(scene, count_moved_rows(situation))
    return MechanismChoice(
        method=str(situation.method), steps=steps, recipes=situation.needs.recipes, owned=owned
    )
