"""Refusals of SPARQL: the construct, its position, the reason, and an alternative.

All of them are decided from the text of the query and the policy, before any data is touched, so a
refusal says nothing about the data.
"""

from __future__ import annotations

from celosia.core.errors import EngineError, InputError, QueryRefused
from celosia.queries.positions import place_fields, refusal_at

Place = tuple[int, int]
"""A line and a column, both from 1."""


def refusal(key: str, /, *, at: Place | None = None, **fields: object) -> QueryRefused:
    """A refusal whose first sentence ends with the place in the query.

    Args:
        key: of the catalogue, whose template has `{at}` where the place is told.
        at: where it is, if that is known.
        fields: of the template.
    """
    return refusal_at(key, at, fields)


def not_sparql(key: str, /, *, at: Place | None = None, **fields: object) -> InputError:
    """The error of a text that is no SPARQL query."""
    return InputError(key, **place_fields(at), **fields)


def no_parser() -> EngineError:
    """The error where the extra that reads SPARQL is missing."""
    return EngineError("CEL-Q229.no_parser")
