"""An answer as a release: its rows with their guarantee and provenance."""

from __future__ import annotations

from math import exp
from typing import Any

from celosia.core.guarantee import Guarantee
from celosia.core.neighbours import Relation
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source
from celosia.core.wording import plural
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


def build_answer(  # noqa: PLR0913 - what an answer is made of
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
    what = "tables" if policy.graph is None else "predicates"
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
            promise=f"the exact answer of public {what}",
            unit=plan.neighbours.unit,
            protects="nothing private takes part in it",
            assumes=(f"the {what} that are declared public are public",),
            simulation=rng.simulation,
        ),
        provenance=Provenance.now(MADE_BY, {"question": plan.question_text}, seed=rng.seed),
    )


def _guarantee(plan: Plan, policy: Policy, *, simulation: bool) -> Guarantee:
    unit, epsilon, delta = plan.neighbours.unit, float(plan.epsilon), float(plan.delta)
    factor = format_rounded_up(exp(epsilon), 4)
    subject = f"whatever one {unit} holds"
    if plan.neighbours.relation is Relation.ADD_REMOVE:
        subject = f"whether or not one {unit} is in the data, and whatever it holds"
    protects = f"{subject}, no answer becomes more than {factor} times as likely by it"
    promise = f"{format_rounded_up(epsilon)}-differential privacy"
    if delta:
        protects += f", but for a further chance of {format_rounded_up(delta)}"
        promise = f"({format_rounded_up(epsilon)}, {format_rounded_up(delta)})-differential privacy"
    assumes = ["what the policy declares was chosen without looking at the data"]
    if policy.graph is not None and not policy.unit.is_row:
        assumes.append(f"a fact belongs to the {unit} that is its subject, and to no other")
    elif not policy.unit.is_row:
        assumes.append(
            f"rows belong to a {unit} as the foreign keys of the policy say, and "
            f"{policy.unit.table}.{policy.unit.key} tells every {unit} apart"
        )
    leaves = [
        "each further answer from the same data adds to the loss: the ledger keeps the sum",
        "what is true of many people is told on purpose, and may be guessed of one of them",
    ]
    if policy.unit.is_row:
        leaves.append(
            f"a person with several {plural(unit)} is protected less: the promise is for one {unit}"
        )
    if plan.neighbours.relation is Relation.CHANGE_ONE:
        leaves.append(f"how many {plural(unit)} there are is taken to be public")
    return Guarantee(
        promise=promise,
        unit=unit,
        protects=protects,
        neighbours=str(plan.neighbours),
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
        warnings.append(
            f"an epsilon of {float(plan.epsilon):g} protects hardly any person; take 1 or less"
        )
    if plan.delta >= LIKELY:
        warnings.append(
            f"a delta of {float(plan.delta):g} is the chance that the promise fails altogether; "
            "take it far below one divided by the number of people"
        )
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
