"""Plans whose exact numbers come from a remote endpoint, which is asked by aggregates alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message, unit_word
from celosia.core.neighbours import Relation
from celosia.queries.planning.laplace import LaplaceStep
from celosia.queries.planning.plan import GroupKeys, Plan, Step
from celosia.queries.policy.values import Policy
from celosia.queries.sparql.remote import Star, write_remote

REMOTE = "celosia_remote"
"""Where a query tells what the endpoint is asked in its place."""
DEADLINE = 60.0
"""Seconds to an answer where the policy declares none: how fast a remote server is, is unknown."""


@dataclass(frozen=True, kw_only=True)
class RemoteStep(LaplaceStep):
    """Totals of a remote endpoint, which enforces the caps, with noise from here.

    Guarantee: that of `LaplaceStep`. The queries cut off what each unit contributes, or leave a
    unit out, so that its shift bounds every unit, also one that does not keep to declared caps.
    """

    star: Star
    plan: Plan
    caps: tuple[int, ...]

    def queries(self, group_keys: GroupKeys | None) -> Iterator[exp.Expr]:
        for query in super().queries(group_keys):
            query.meta[REMOTE] = write_remote(
                self.star, self.plan, self.totals, self.caps, group_keys or ()
            )
            yield query


def ask_by_aggregates(plan: Plan, query: str, policy: Policy) -> Plan:
    """The same plan, with its exact numbers from the endpoint of the policy.

    Raises:
        QueryRefused: CEL-Q346 a question that has no sound bound this way.
    """
    if plan.method == "public":
        raise QueryRefused("CEL-Q346.public")
    if plan.branches or plan.question != plan.original:
        raise QueryRefused("CEL-Q346.shape")
    star = Star.read(query, policy, plan)
    steps = tuple(_remote_step(each, star, plan, policy) for each in plan.steps)
    for each in steps:
        list(each.queries(plan.group_keys))  # refuses what cannot be written, before any charge
    note = Message("queries.plan.remote", unit=unit_word(policy.unit.name))
    deadline = plan.deadline if policy.deadline is not None else max(plan.deadline, DEADLINE)
    return replace(plan, steps=steps, notes=(*plan.notes, note), deadline=deadline)


def _remote_step(step: Step, star: Star, plan: Plan, policy: Policy) -> RemoteStep:
    if type(step) is not LaplaceStep:
        raise QueryRefused("CEL-Q346.caps")
    # Who is replaced takes one contribution away and brings another: twice the cap, but for a
    # single number that cannot fall below zero, where the larger of the two decides.
    halved = policy.relation is Relation.CHANGE_ONE
    caps = tuple(
        shift // 2 if halved and (plan.question.keys or total.is_signed) else shift
        for total, shift in zip(step.totals, step.shifts, strict=True)
    )
    if not all(caps):
        raise QueryRefused("CEL-Q346.caps")
    own = {each.name: getattr(step, each.name) for each in fields(step)}
    return RemoteStep(**own, star=star, plan=plan, caps=caps)
