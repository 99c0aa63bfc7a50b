"""Refusals of SQL: the construct, its position, the reason, and an alternative.

All of them are decided from the text of the query and the policy, before any data is touched, so a
refusal says nothing about the data.
"""

from __future__ import annotations

from sqlglot import exp

from celosia.core.errors import QueryRefused
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


def refusal(
    key: str, literal: str | None = None, /, *, at: exp.Expr | None = None, **fields: object
) -> QueryRefused:
    """A refusal whose first sentence ends with the place in the query.

    Args:
        key: of the catalogue, whose template has `{at}` where the place is told.
        literal: the sentence itself, where the catalogue has none yet.
        at: the part of the query that is meant.
        fields: of the template.
    """
    return refusal_at(key, literal, position(at), fields)


_INSTEAD = {
    "QUALIFY": "Ask for groups, with ORDER BY and LIMIT: they work on the answers.",
    "SAMPLE": "Leave it out: noise is all that is needed, and all rows make for less of it.",
    "WINDOWS": "Ask for groups: ranks and running sums follow from their answers.",
    "ESCAPE": "Leave it out: patterns know % and _ only; CONTAINS(x, '100%') takes any text.",
}
"""Alternatives to some clauses."""


def check_arguments(node: exp.Expr, allowed: frozenset[str]) -> None:
    """Refuse a part of a query that carries anything beyond the named arguments.

    Parsers grow: a clause that is not known here must stop the query, not pass unseen.
    """
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            word = name.strip("_").replace("_", " ").upper()
            raise refusal(
                "CEL-Q042",
                f"{word} of {type(node).__name__.upper()} is not supported",
                at=value if isinstance(value, exp.Expr) else node,
                why="What it does to the rows that one person adds has not been bounded.",
                fix=_INSTEAD.get(word, "Leave the clause out."),
                clause=word,
            )
