"""Refusals of the planner: decided from the policy and the question, before any data is touched."""

from __future__ import annotations

from celosia.core.errors import InputError, QueryRefused
from celosia.core.messages import Message
from celosia.core.wording import did_you_mean, unit_words

METHODS = ("capped", "chosen-cap", "r2t", "r2t-cap", "global", "elastic")


def check_method(method: object) -> str | None:
    """The name of a method, or None for the planner's choice.

    Raises:
        InputError: CEL-Q142 there is no such method.
    """
    if method is None or method in METHODS:
        return None if method is None else str(method)
    raise InputError(
        "CEL-Q142", method=method, hint=did_you_mean(method, METHODS), methods=", ".join(METHODS)
    )


def no_bounds(label: str) -> QueryRefused:
    """A sum of values that have no declared bounds."""
    return QueryRefused("CEL-Q144.no_bounds", label=label)


def uncapped_facts(table: str, column: str) -> QueryRefused:
    """A join of facts of a graph of which any number may share a term."""
    return QueryRefused("CEL-Q060.uncapped_facts", term=_term(column), table=table, column=column)


def _term(column: str) -> Message:
    match column:
        case "subject":
            return Message("queries.fact_part.subject")
        case "object":
            return Message("queries.fact_part.object")
    return Message("queries.fact_part.other", column=column)


def unbounded_rows(label: str) -> QueryRefused:
    """A rank over rows of which one row of a table may bring any number."""
    return QueryRefused("CEL-Q144.rank_of_rows", label=label)


def no_keys(name: str) -> QueryRefused:
    """Groups whose keys are private, without a delta."""
    return QueryRefused("CEL-Q146.no_keys", name=name)


def fractions_as_keys(name: str) -> QueryRefused:
    """Groups by numbers that need not be whole."""
    return QueryRefused("CEL-Q146.not_whole", name=name)


def too_many_groups(number: int, most: int) -> QueryRefused:
    """More groups than one answer may have."""
    return QueryRefused("CEL-Q146.too_many", number=number, most=most)


def delta_needed() -> QueryRefused:
    """A mechanism that keeps its promise only but for a chance."""
    return QueryRefused("CEL-Q148")


def several_owners(label: str, unit: str) -> QueryRefused:
    """What the linear program does not answer."""
    return QueryRefused("CEL-Q144.rank_of_people", label=label, units=unit_words(unit))
