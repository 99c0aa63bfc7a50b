"""The deadline of an answer: a time class that public facts decide before any row is read.

The time that an engine takes depends on rows. So no answer leaves when it is ready: each leaves at
the deadline of its plan, which follows from the method, the engine, and the sizes that the policy
declares (`rows`). There are few classes, each four times the one before, so that a question has
room and a class says little more than how large the tables are declared to be. A policy may declare
one deadline for all questions instead.

The speeds below are a tenth, or less, of what the engines were measured to do on two cores: a
question should miss its deadline only where a table is far larger than declared.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from celosia.queries.planning.cost import Cost
from celosia.queries.planning.step import Step

CLASSES = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Seconds."""
_START = {"duckdb": 0.1, "postgres": 0.2, "spark": 6.0}
"""Seconds that an engine takes for a question about next to nothing."""
_SPEED = {"duckdb": 5_000_000, "postgres": 300_000, "spark": 1_000_000}
"""Rows that an engine reads and joins in a second, at least."""


def choose_deadline(
    cost: Cost, steps: Iterable[Step], *, dialect: str, declared: Fraction | None = None
) -> float:
    """The seconds to an answer: what the policy declares, else the time class of the question."""
    if declared is not None:
        return float(declared)
    passes = sum(step.passes for step in steps)
    seconds = _START[dialect] + passes * cost.rows / _SPEED[dialect]
    return next((each for each in CLASSES if seconds <= each), CLASSES[-1])
