"""Refusals of SQL: the construct, its position, the reason, and an alternative.

All of them are decided from the text of the query and the policy, before any data is touched, so a
refusal says nothing about the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from sqlglot import exp

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
from celosia.queries.positions import refusal_at


def position(node: exp.Expr | None) -> tuple[int, int] | None:
    r"""The line and column, from 1, where a part of a query begins; None where unknown.

    >>> import sqlglot
    >>> position(sqlglot.parse_one("SELECT a,\n  b + 1").selects[1])
    (2, 3)
    """
    if node is None:
        return None
    starts = [
        (int(meta["start"]), int(meta["line"]), int(meta["col"]) - int(meta["end"] - meta["start"]))
        for part in node.walk()
        if "start" in (meta := part.meta)
    ]
    # The first token of all parts; operators and keywords keep no place of their own.
    return min(starts)[1:] if starts else None


def refusal(key: str, /, *, at: exp.Expr | None = None, **fields: object) -> QueryRefused:
    """A refusal whose first sentence ends with the place in the query.

    Args:
        key: of the catalogue, whose template has `{at}` where the place is told.
        at: the part of the query that is meant.
        fields: of the template.
    """
    return refusal_at(key, position(at), fields)


def either(words: Iterable[str]) -> str:
    """Several words of which one is meant: `a or b`."""
    return reduce(lambda one, other: Message("queries.sql.either", first=one, second=other), words)


def both(words: Iterable[str]) -> str:
    """Several words that are all meant: `a and b`."""
    return reduce(lambda one, other: Message("queries.sql.both", first=one, second=other), words)


_CLAUSES = {
    "QUALIFY": "CEL-Q042.qualify",
    "SAMPLE": "CEL-Q042.sample",
    "WINDOWS": "CEL-Q042.windows",
    "ESCAPE": "CEL-Q042.escape",
}
"""Clauses to which there is an alternative."""


def check_arguments(node: exp.Expr, allowed: frozenset[str]) -> None:
    """Refuse a part of a query that carries anything beyond the named arguments.

    Parsers grow: a clause that is not known here must stop the query, not pass unseen.
    """
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            clause = name.strip("_").replace("_", " ").upper()
            raise refusal(
                _CLAUSES.get(clause, "CEL-Q042.clause"),
                clause=clause,
                part=type(node).__name__.upper(),
                at=value if isinstance(value, exp.Expr) else node,
            )


AGGREGATES = (exp.AggFunc, exp.WithinGroup, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)


def refuse_forbidden(node: exp.Expr) -> None:
    """Refuse stars, windows, sub-queries and aggregates in the place of a value."""
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
        raise refusal("CEL-Q042.star", at=node)
    if isinstance(node, exp.Window):
        raise refusal("CEL-Q042.window", at=node)
    if isinstance(node, exp.Query | exp.Exists | exp.Any | exp.All) or node.args.get("query"):
        raise refusal("CEL-Q043.value_as_a_value", at=node)
    if isinstance(node, AGGREGATES):
        word = _word(node) or Message("queries.sql.an_aggregate")
        raise refusal("CEL-Q054.not_a_value", word=word, at=node)


def _word(node: exp.Expr) -> str:
    inner = node.this if isinstance(node, exp.WithinGroup | exp.Filter) else node
    return inner.sql_name() if isinstance(inner, exp.Func) else ""
