"""An answer as a release: its rows with their guarantee and provenance."""

from __future__ import annotations

from math import exp
from typing import Any

from celosia.core.guarantee import Guarantee
from celosia.core.messages import Message
from celosia.core.neighbours import Relation
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source
from celosia.core.wording import one_unit, unit_word, unit_words
from celosia.mechanisms.guarantees import LIKELY, WEAK, format_rounded_up
from celosia.mechanisms.intervals import below_zero
from celosia.queries.answer import Intervals, QueryAnswer
from celosia.queries.ledger import StoredAnswer
from celosia.queries.planning import Plan
from celosia.queries.policy import Policy, policy_hash
from celosia.queries.post_processing import post_process
from celosia.queries.results import Outcome

MADE_BY = "celosia.queries.Vault"
COUNTS = frozenset({"rows", "count", "distinct"})


def build_answer(
    outcome: Outcome,
    kept: StoredAnswer,
    *,
    policy: Policy,
    confidence: float,
    rng: Source,
    stored: bool,
) -> QueryAnswer:
    """The answer of released numbers."""
    plan = outcome.plan

    def at(sureness: float) -> Intervals:
        return [bounds for _, bounds in outcome.table(sureness)]

    table = outcome.table_with_noise(confidence)
    return QueryAnswer(
        question=plan.question_text,
        rows=[row for row, _, _ in table],
        intervals=[bounds for _, bounds, _ in table],
        noise=[noise for _, _, noise in table],
        confidence=confidence,
        epsilon=float(plan.epsilon),
        delta=float(plan.delta),
        method=plan.method,
        caps=outcome.caps(),
        entry=kept.reservation,
        head=str(kept.head),
        stored=stored,
        answered=kept.at,
        at=at,
        guarantee=_guarantee(plan, policy, simulation=rng.simulation),
        provenance=Provenance.now(MADE_BY, _parameters(plan, policy), seed=rng.seed),
        warnings=(*_warnings(plan), *_below_zero(outcome)),
    )


def answer_public(
    plan: Plan, rows: list[dict[str, Any]], *, policy: Policy, confidence: float, rng: Source
) -> QueryAnswer:
    """The exact answer of public tables, or predicates."""
    kept = [
        row
        for _, row in post_process(list(map(plan.label_keys, rows)), plan.question.post_processing)
    ]
    words = {each.name for each in plan.question.aggregates}
    is_graph = policy.graph is not None
    exact = [{name: (value, value) for name, value in row.items() if name in words} for row in kept]
    return QueryAnswer(
        question=plan.question_text,
        rows=kept,
        intervals=exact,  # type: ignore[arg-type]
        noise=[dict.fromkeys(row, 0.0) for row in exact],
        confidence=confidence,
        epsilon=0.0,
        method=plan.method,
        at=lambda _: exact,  # type: ignore[arg-type,return-value]
        guarantee=Guarantee(
            promise=Message(
                "queries.promise.exact_predicates" if is_graph else "queries.promise.exact_tables"
            ),
            unit=unit_word(plan.neighbours.unit),
            protects=Message("queries.promise.nothing_private"),
            assumes=(
                Message(
                    "queries.promise.public_predicates"
                    if is_graph
                    else "queries.promise.public_tables"
                ),
            ),
            simulation=rng.simulation,
        ),
        provenance=Provenance.now(MADE_BY, {"question": plan.question_text}, seed=rng.seed),
    )


def _guarantee(plan: Plan, policy: Policy, *, simulation: bool) -> Guarantee:
    name = plan.neighbours.unit
    one, unit, units = one_unit(name), unit_word(name), unit_words(name)
    epsilon, delta = format_rounded_up(float(plan.epsilon)), format_rounded_up(float(plan.delta))
    factor = format_rounded_up(exp(float(plan.epsilon)), 4)
    subject = Message("queries.promise.held", one=one)
    if plan.neighbours.relation is Relation.ADD_REMOVE:
        subject = Message("queries.promise.present", one=one)
    protects = Message("queries.promise.protects", subject=subject, factor=factor)
    promise = Message("queries.promise.pure", epsilon=epsilon)
    if plan.delta:
        protects = Message(
            "queries.promise.protects_approximately", subject=subject, factor=factor, delta=delta
        )
        promise = Message("queries.promise.approximate", epsilon=epsilon, delta=delta)
    assumes = [Message("queries.assumes.declarations")]
    if policy.graph is not None and not policy.unit.is_row:
        assumes.append(Message("queries.assumes.subjects", unit=unit))
    elif not policy.unit.is_row:
        table, key = policy.unit.table, policy.unit.key
        assumes.append(Message("queries.assumes.foreign_keys", unit=unit, table=table, key=key))
    leaves = [Message("queries.leaves_open.sum"), Message("queries.leaves_open.many")]
    if policy.unit.is_row:
        leaves.append(Message("queries.leaves_open.several_rows", units=units, one=one))
    if plan.neighbours.relation is Relation.CHANGE_ONE:
        leaves.append(Message("queries.leaves_open.number", units=units))
    return Guarantee(
        promise=promise,
        unit=unit,
        protects=protects,
        neighbours=plan.neighbours.message,
        assumes=tuple(assumes),
        leaves_open=tuple(leaves),
        simulation=simulation,
    )


def _parameters(plan: Plan, policy: Policy) -> dict[str, Any]:
    return {
        "question": plan.question_text,
        "epsilon": float(plan.epsilon),
        "delta": float(plan.delta),
        "method": plan.method,
        "policy": policy_hash(policy),
    }


def _warnings(plan: Plan) -> tuple[str, ...]:
    warnings = []
    if plan.epsilon >= WEAK:
        warnings.append(Message("queries.warning.epsilon", epsilon=float(plan.epsilon)))
    if plan.delta >= LIKELY:
        warnings.append(Message("queries.warning.delta", delta=float(plan.delta)))
    return (*warnings, *plan.notes)


def _below_zero(outcome: Outcome) -> list[str]:
    """A warning where noise took a single count below zero."""
    recipes = outcome.plan.derivations
    if (
        len(recipes) > 1
        or outcome.group_keys is not None
        or recipes[0].aggregate.kind not in COUNTS
    ):
        return []
    (name,) = recipes[0].totals
    return [below_zero()] if outcome.measured[name].values[0] < 0 else []
