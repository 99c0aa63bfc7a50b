"""Refusals of SPARQL: the construct, its position, the reason, and an alternative.

All of them are decided from the text of the query and the policy, before any data is touched, so a
refusal says nothing about the data.
"""

from __future__ import annotations

from celosia.core.errors import EngineError, InputError, QueryRefused
from celosia.queries.positions import refusal_at

Place = tuple[int, int]
"""A line and a column, both from 1."""


def refusal(
    key: str, literal: str | None = None, /, *, at: Place | None = None, **fields: object
) -> QueryRefused:
    """A refusal whose first sentence ends with the place in the query.

    Args:
        key: of the catalogue, whose template has `{at}` where the place is told.
        literal: the sentence itself, where the catalogue has none yet.
        at: where it is, if that is known.
        fields: of the template.
    """
    return refusal_at(key, literal, at, fields)


def not_sparql(what: str, *, at: Place | None = None) -> InputError:
    """The error of a text that is no SPARQL query."""
    where = f" (line {at[0]}, column {at[1]})" if at else ""
    places = {"line": at[0], "column": at[1]} if at else {}
    return InputError("CEL-Q240", thing=what, where=where, **places)


def no_parser() -> EngineError:
    """The error where the extra that reads SPARQL is missing."""
    return EngineError("CEL-Q229.no_parser")


def too_large(what: str) -> QueryRefused:
    """The refusal of a query that is too much to read."""
    return refusal(
        "CEL-Q243",
        what,
        why="Queries are bounded so that none can keep the service busy.",
        fix="Shorten it, with fewer patterns, brackets and written values.",
    )
