"""From a question to a plan: which mechanism, at which price, with which error; no data needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy import on_first_use

if TYPE_CHECKING:
    from celosia.queries.planning.plan import Part, Plan
    from celosia.queries.planning.planner import compiled, make_plan
    from celosia.queries.planning.refusals import METHODS

__all__ = ["METHODS", "Part", "Plan", "compiled", "make_plan"]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "plan": ("Part", "Plan"),
        "planner": ("compiled", "make_plan"),
        "refusals": ("METHODS",),
    },
)
