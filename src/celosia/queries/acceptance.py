"""The last steps before a charge: the request, and whether the database accepts its queries.

Whether it accepts a query depends on the question and the types of columns, which the refusal may
therefore tell. No row is read to find out (see `SqlEngine.understands`), so neither a refusal nor
the time that it takes reveals data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from celosia.core.errors import EngineError, PrivacyError, QueryRefused
from celosia.queries.ledger import Request
from celosia.queries.planning import Plan
from celosia.queries.policy import Policy
from celosia.queries.results import list_planned_queries

if TYPE_CHECKING:
    from sqlglot import exp

    from celosia.engines import SqlEngine

ANYBODY = "anybody"
"""Who asks, where the policy names nobody."""


def request_of(plan: Plan, policy: Policy, analyst: str | None) -> Request:
    """What the ledger charges for a plan.

    Raises:
        QueryRefused: CEL-Q141 the policy names analysts, and none is given.
    """
    if analyst is None and policy.analysts:
        raise QueryRefused("CEL-Q141")
    plain = Request(
        analyst=ANYBODY if analyst is None else analyst,
        question=plan.normalised,
        epsilon=plan.epsilon,
        delta=plan.delta,
        parameters=plan.parameters,
    )
    try:
        return replace(plain, loss=plan.loss)
    except PrivacyError:  # parts that were rounded up one by one add up to a hair more
        return plain


def check_accepted(
    plan: Plan, engine: SqlEngine, *, cast: Callable[[exp.Expr], exp.Expr], timeout: float
) -> None:
    """Let the database look at every query of a plan, without running it.

    Args:
        plan: how the question will be answered.
        engine: the owner's database.
        cast: what is done to each query before it is asked.
        timeout: the seconds that each look may take.

    Raises:
        QueryRefused: CEL-Q162 it does not accept one, CEL-Q127 one cannot be written for it.
    """
    try:
        if all(
            engine.understands(cast(each), timeout=timeout) for each in list_planned_queries(plan)
        ):
            return
    except RecursionError:
        pass  # too deep to be written, which the question alone decides
    except EngineError as error:
        if error.code != "CEL-E011":
            return  # the database is gone: a failure like any other, see `Vault.sql`
    raise QueryRefused("CEL-Q162")
