"""Why the bound for one entity of a graph cannot be had: decided from question and policy alone."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.core.errors import QueryRefused

_LEAVE_METHOD = "Leave the method to the planner: what each entity adds is then bounded by itself."


def not_a_pattern(what: str) -> QueryRefused:
    """A question that is not about stars of facts."""
    return QueryRefused(
        "CEL-Q070",
        f"elastic sensitivity of entities does not bound this question: {what}",
        why="It follows links between the entities of triple patterns.",
        fix=_LEAVE_METHOD,
    )


def not_counted() -> QueryRefused:
    """Groups, or an aggregate that is no count."""
    return QueryRefused(
        "CEL-Q071",
        "elastic sensitivity of entities bounds one count, without groups.",
        why="One entity may be in any number of groups, and add any value to a sum.",
        fix=_LEAVE_METHOD,
    )


def not_the_root() -> QueryRefused:
    """What is counted is not the centre that all links lead away from."""
    return QueryRefused("CEL-Q072")


def no_caps() -> QueryRefused:
    """All solutions are counted, and nothing bounds those of one entity."""
    return QueryRefused("CEL-Q073")


def no_class(predicates: Iterable[str]) -> QueryRefused:
    """A star that no class of the policy covers."""
    return QueryRefused("CEL-Q074", predicates=", ".join(sorted(predicates)))


def capped_objects(table: str) -> QueryRefused:
    """A cap that lets facts of one entity push out those of others."""
    return QueryRefused("CEL-Q075", table=table)
