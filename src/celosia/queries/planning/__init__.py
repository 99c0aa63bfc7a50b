"""From a question to a plan: the mechanisms, what they cost and their error; no data is read.

`make_plan` compiles a query, aggregates public tables first where they multiply rows, checks the
cost, and chooses mechanisms by the privacy unit: `row_level` for rows, `contribution_bounding` for
people, `star_schema` for entities of a graph. A plan is a list of steps; a step holds the queries
that the engine runs and the noise that their exact numbers get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.queries.planning.plan import Part, Plan
    from celosia.queries.planning.planner import METHODS, compile_query, make_plan

__all__ = ["METHODS", "Part", "Plan", "compile_query", "make_plan"]

__getattr__, __dir__ = on_first_use(__name__)
