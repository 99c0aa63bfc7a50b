"""How long analysts wait where the policy declares no sizes, told to the curator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from celosia.core.errors import CelosiaError
from celosia.core.messages import Message
from celosia.queries.planning import make_plan
from celosia.queries.planning.cost import USUAL_ROWS
from celosia.queries.policy import Policy
from celosia.queries.policy.writer import toml_key
from celosia.queries.request import QueryRequest

SMALL = 100_000
"""Rows of a table that is small for every engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeclaredSize:
    """A private table, or a whole graph, whose size the policy does not declare."""

    table: str | None
    """None for a graph."""
    seconds: float
    """To the answer of a plain count, as it is."""
    seconds_if_small: float | None
    """To the same answer if 100,000 rows were declared; None where rows cannot be."""
    is_remote: bool = False
    """Whether an endpoint keeps the facts."""

    @property
    def message(self) -> Message:
        """What the curator can do about it."""
        if self.is_remote:
            return Message("queries.size.endpoint", seconds=self.seconds)
        if self.table is None:
            return Message("queries.size.graph", seconds=self.seconds, rows=USUAL_ROWS)
        return Message.of(
            "queries.size.table", self, rows=USUAL_ROWS, small=SMALL, key=toml_key(self.table)
        )


def undeclared_sizes(policy: Policy) -> tuple[UndeclaredSize, ...]:
    """What makes analysts wait for longer than they would if the policy declared more.

    It follows from the policy alone. Nothing where the policy declares a deadline, and no table
    whose answers would come no sooner.
    """
    return () if policy.deadline is not None else tuple(_found(policy))


def _found(policy: Policy) -> Iterator[UndeclaredSize]:
    if policy.graph is not None and policy.graph.endpoint:
        from celosia.queries.planning.remote import DEADLINE  # few policies need it

        yield UndeclaredSize(table=None, seconds=DEADLINE, seconds_if_small=None, is_remote=True)
        return
    if policy.graph is not None:
        asked = [
            f"SELECT (COUNT(*) AS ?n) WHERE {{ ?s <{each}> ?o }}"
            for each, _ in policy.graph.predicates
        ]
        seconds = max(
            (each for each in (_deadline(policy, query) for query in asked) if each), default=0.0
        )
        if seconds > 1:
            yield UndeclaredSize(table=None, seconds=seconds, seconds_if_small=None)
        return
    small = replace(policy, tables=tuple(replace(each, rows=SMALL) for each in policy.tables))
    for table in policy.tables:
        if table.public or table.rows is not None:
            continue
        quoted = table.name.replace('"', '""')
        query = f'SELECT COUNT(*) AS n FROM "{quoted}"'  # noqa: S608 - planned, and never run
        now, then = _deadline(policy, query), _deadline(small, query)
        if now is not None and then is not None and then < now:
            yield UndeclaredSize(table=table.name, seconds=now, seconds_if_small=then)


def _deadline(policy: Policy, query: str) -> float | None:
    """The deadline of a question; None where it is refused."""
    try:
        return make_plan(QueryRequest(query, epsilon=1), policy).deadline
    except CelosiaError:
        return None
