"""Why the bound for one entity of a graph cannot be had: decided from question and policy alone."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.core.errors import QueryRefused


def no_entities() -> QueryRefused:
    """The policy protects something else."""
    return QueryRefused("CEL-Q070.no_entities")


def not_patterns() -> QueryRefused:
    """A question that is not about stars of facts."""
    return QueryRefused("CEL-Q070.not_patterns")


def not_counted() -> QueryRefused:
    """Groups, or an aggregate that is no count."""
    return QueryRefused("CEL-Q071")


def not_the_root() -> QueryRefused:
    """What is counted is not the centre that all links lead away from."""
    return QueryRefused("CEL-Q072")


def no_caps() -> QueryRefused:
    """All solutions are counted, and nothing bounds those of one entity."""
    return QueryRefused("CEL-Q073")


def no_class(predicates: Iterable[str]) -> QueryRefused:
    """A star that no class of the policy covers."""
    return QueryRefused("CEL-Q074", predicates=sorted(predicates))


def capped_objects(table: str) -> QueryRefused:
    """A cap that lets facts of one entity push out those of others."""
    return QueryRefused("CEL-Q075", table=table)
