"""Refusals of SPARQL: the construct, its position, the reason, and an alternative.

All of them are decided from the text of the query and the policy, before any data is touched, so a
refusal says nothing about the data.
"""

from __future__ import annotations

from celosia.core.errors import EngineError, InputError, QueryRefused

Place = tuple[int, int]
"""A line and a column, both from 1."""


def refusal(
    code: str, what: str, *, why: str, fix: str, at: Place | None = None, **details: object
) -> QueryRefused:
    """A refusal whose first sentence ends with the place in the query.

    Args:
        code: of the catalogue.
        what: the construct, without a full stop.
        why: why it cannot be promised.
        fix: what would be answered.
        at: where it is, if that is known.
        details: facts for programs.
    """
    if at is None:
        return QueryRefused(code, f"{what}.", why=why, fix=fix, **details)
    line, column = at
    where = f"{what} (line {line}, column {column})."
    return QueryRefused(code, where, why=why, fix=fix, line=line, column=column, **details)


def not_sparql(what: str, *, at: Place | None = None) -> InputError:
    """The error of a text that is no SPARQL query."""
    where = f" (line {at[0]}, column {at[1]})" if at else ""
    places = {"line": at[0], "column": at[1]} if at else {}
    return InputError(
        "CEL-Q240",
        f"{what}{where}.",
        why="Only what is understood in full can be promised anything about.",
        fix="Write one SELECT query, such as SELECT (COUNT(*) AS ?n) WHERE { ?s ex:p ?o }.",
        **places,
    )


def no_parser() -> EngineError:
    """The error where the extra that reads SPARQL is missing."""
    return EngineError(
        "CEL-Q229",
        "rdflib is not installed.",
        why="It reads SPARQL.",
        fix="Run `pip install 'celosia[rdf]'`.",
    )


def too_large(what: str) -> QueryRefused:
    """The refusal of a query that is too much to read."""
    return refusal(
        "CEL-Q243",
        what,
        why="Queries are bounded so that none can keep the service busy.",
        fix="Shorten it, with fewer patterns, brackets and written values.",
    )
