"""Where in the text of a query something stands, as refusals tell it."""

from __future__ import annotations

from collections.abc import Mapping

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message


def place_fields(place: tuple[int, int] | None) -> dict[str, object]:
    """The fields that tell a line and a column, where they are known."""
    if place is None:
        return {"at": ""}
    line, column = place
    at = Message("words.at_position", line=line, column=column)
    return {"at": at, "line": line, "column": column}


def refusal_at(
    key: str, place: tuple[int, int] | None, fields: Mapping[str, object]
) -> QueryRefused:
    """A refusal with the line and column that are meant, where they are known."""
    return QueryRefused(key, **{**place_fields(place), **fields})
