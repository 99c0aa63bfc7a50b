"""One query as it is asked: the same value in Python, on the command line, over HTTP, in a page."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Required, TypedDict

Language = Literal["SQL", "SPARQL"]


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A question with its price, and how it is to be answered.

    It is made once, where a question comes in, and passed whole from there. Nothing in it is
    checked yet: what a number or a text may be is checked where it is used.

    Args:
        query: one SELECT.
        epsilon: of the whole request: all its columns, groups and parts.
        delta: of the whole request; charged only where a mechanism needs it.
        method: one of `METHODS`; the planner's choice if None.
        confidence: of the intervals.
        analyst: who asks; needed where the policy names analysts.
        fresh: whether to pay for a new answer where one is stored; it takes the place of that.
        language: of the query; that of the policy if None.
        rank_intervals: whether MIN, MAX and quantiles get an interval too, for half of their
            epsilon: without, nothing public says how far they are off in the unit of the values.
    """

    query: str
    _: KW_ONLY
    epsilon: float
    delta: float = 0
    method: str | None = None
    confidence: float = 0.95
    analyst: str | None = None
    fresh: bool = False
    language: Language | None = None
    rank_intervals: bool = False

    def plan_body(self) -> dict[str, Any]:
        """What a service is sent to plan it."""
        asked = {"rank_intervals": True} if self.rank_intervals else {}
        return asked | {
            "query": self.query,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "method": self.method,
        }

    def query_body(self) -> dict[str, Any]:
        """What a service is sent to answer it; who asks is known by the token."""
        return self.plan_body() | {"confidence": self.confidence, "fresh": self.fresh}


class QueryOptions(TypedDict, total=False):
    """The fields of a `QueryRequest` beside its text and its language, as keywords."""

    epsilon: Required[float]
    delta: float
    method: str | None
    confidence: float
    analyst: str | None
    fresh: bool
    rank_intervals: bool
