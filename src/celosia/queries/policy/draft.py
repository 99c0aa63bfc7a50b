"""Drafts of policy files, made of the names and types of columns only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from celosia.core.messages import say
from celosia.queries.policy.database_schema import DatabaseColumns, policy_type
from celosia.queries.policy.writer import quote, toml_key


def draft_policy(columns_in_database: DatabaseColumns, *, name: str = "my-data") -> str:
    """The text of a policy file with every table private, to be filled in by a curator.

    It is made of the names and types of columns and holds nothing of the data; but names may be
    private too, so it is for the curator. As it is it is refused: unit and budget must be chosen.

    >>> print(draft_policy({"visits": {"day": "DATE"}}).splitlines()[-1])
    day = "date"
    """
    parts = [f"name = {quote(name)}", say("queries.draft.head").rstrip()]
    parts += ["\n".join(_table(table, columns)) for table, columns in columns_in_database.items()]
    return "\n\n".join(parts) + "\n"


def _table(name: str, columns: Mapping[str, str]) -> Iterator[str]:
    yield f"[tables.{toml_key(name)}]"
    yield say("queries.draft.table")
    yield f"[tables.{toml_key(name)}.columns]"
    for column, database_type in columns.items():
        type_ = policy_type(database_type)
        if type_ is None:
            yield say("queries.draft.not_asked", column=toml_key(column))
            continue
        line = f"{toml_key(column)} = {quote(type_)}"
        hint = _hint(type_)
        yield line if hint is None else f"{line:<36} # {hint}"


def _hint(type_: str) -> str | None:
    """What else may be declared of a column."""
    match type_:
        case "integer":
            return say("queries.draft.integer")
        case "number":
            return say("queries.draft.number")
        case "text":
            return say("queries.draft.text")
    return None
