"""Grouping sets and answers put together by UNION ALL: one plan, in equal parts of the price.

Each branch is a question of its own over the same rows, so epsilon and delta add up (sequential
composition). Every branch gets the same part of both, which the parts of the plan tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.queries.algebra import Question
from celosia.queries.planning.context import PlanRequest
from celosia.queries.planning.plan import Part, Plan
from celosia.queries.policy.values import Policy
from celosia.queries.sql import normalise


def plan_branches(
    question: Question,
    policy: Policy,
    wanted: PlanRequest,
    plan: Callable[[Question, Policy, PlanRequest], Plan],
) -> Plan:
    """The plan of a question with branches.

    Args:
        question: what is asked.
        policy: what is declared.
        wanted: the price of all branches together.
        plan: makes the plan of one.

    Raises:
        QueryRefused: CEL-Q042 a branch is about public tables only; all that one may be refused
            for.
    """
    number = len(question.branches)
    share = replace(wanted, epsilon=wanted.epsilon / number, delta=wanted.delta / number)
    plans = tuple(plan(each, policy, share) for each in question.branches)
    if any(each.method == "public" for each in plans):
        raise QueryRefused("CEL-Q042.public_branch")
    parts = tuple(
        _named(part, place, each)
        for place, each in enumerate(plans, start=1)
        for part in each.parts
    )
    declared = policy.deadline
    return Plan(
        question_text=wanted.text,
        tree=tuple(line for each in plans for line in each.tree),
        parts=parts,
        epsilon=wanted.epsilon,
        delta=sum((each.delta for each in plans), Fraction(0)),
        neighbours=plans[0].neighbours,
        method=", ".join(dict.fromkeys(each.method for each in plans)),
        notes=tuple(dict.fromkeys(note for each in plans for note in each.notes)),
        normalised=normalise(question),
        question=replace(question, branches=tuple(each.question for each in plans)),
        original=replace(question, branches=tuple(each.original for each in plans)),
        derivations=(),
        steps=tuple(step for each in plans for step in each.steps),
        deadline=float(declared or sum(each.deadline for each in plans)),
        branches=plans,
    )


def _named(part: Part, place: int, plan: Plan) -> Part:
    """A part under a name that tells its branch, with its share of the price."""
    keys = [each.name for each in plan.question.keys]
    word = Message("queries.plan.branch", number=place, name=part.name)
    if keys:
        word = Message("queries.plan.branch_by", number=place, name=part.name, keys=keys)
    return replace(part, name=word)
