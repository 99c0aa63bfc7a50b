"""Where in the text of a query something stands, as refusals tell it."""

from __future__ import annotations

from collections.abc import Mapping

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message


def refusal_at(
    key: str, literal: str | None, place: tuple[int, int] | None, fields: Mapping[str, object]
) -> QueryRefused:
    """A refusal with the line and column that are meant, where they are known."""
    if place is None:
        text = None if literal is None else f"{literal}."
        return QueryRefused(key, text, **{"at": "", **fields})
    line, column = place
    at = Message("words.at_position", line=line, column=column)
    text = None if literal is None else f"{literal}{at}."
    return QueryRefused(key, text, **{"at": at, "line": line, "column": column, **fields})
