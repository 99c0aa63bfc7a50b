"""From a question to a plan: which mechanism, at which price, with which error; no data needed."""

from celosia.queries.planning.plan import Part, Plan
from celosia.queries.planning.planner import compile_query, make_plan
from celosia.queries.planning.refusals import METHODS

__all__ = ["METHODS", "Part", "Plan", "compile_query", "make_plan"]
