"""The paths from a table to the person that its rows belong to, along declared foreign keys."""

from __future__ import annotations

from collections.abc import Iterator

from celosia.core.errors import QueryRefused
from celosia.queries.policy.values import Policy, TablePolicy

PathSteps = tuple[tuple[str, str, str], ...]
"""The path to a person: a table, its unique column that we have the value of, the next column."""


def key_paths(table: TablePolicy, *, policy: Policy) -> tuple[tuple[str, PathSteps], ...]:
    """All paths from a row of a table to the key of its person: the first column, then the steps.

    With a row as unit it is the path from the row to itself, by its first unique column.
    """
    if policy.unit.is_row:
        return tuple((each.name, ()) for each in table.columns if each.unique)[:1]
    return tuple(_key_paths(table, policy, frozenset()))


def _key_paths(
    table: TablePolicy, policy: Policy, visited: frozenset[str]
) -> Iterator[tuple[str, PathSteps]]:
    unit = policy.unit
    assert unit.table is not None
    assert unit.key is not None
    if table.name.lower() == unit.table.lower():
        # A person's own row is theirs alone, whomever it points to.
        yield unit.key, ()
        return
    for column, target, key in table.references:
        parent = policy.table(target)
        if parent is None or parent.public or parent.name.lower() in visited | {table.name.lower()}:
            continue
        for following, steps in _key_paths(parent, policy, visited | {table.name.lower()}):
            declared = parent.column(key)
            spelled = declared.name if declared else key
            if following.lower() == key.lower():
                yield column, steps
            else:
                yield column, ((parent.name, spelled, following), *steps)


def check_caps(table: TablePolicy, *, policy: Policy) -> None:
    """Refuse caps that let one person push rows of others in or out, see `emission.caps`.

    Raises:
        QueryRefused: CEL-Q123.
    """
    if policy.unit.is_row:
        return
    firsts = {first.lower() for first, _ in key_paths(table, policy=policy)}
    for column in table.columns:
        if column.most is None or column.unique or {column.name.lower()} == firsts:
            continue
        raise QueryRefused("CEL-Q123", unit=policy.unit.name, table=table.name, column=column.name)


def no_path(table: str, policy: Policy) -> QueryRefused:
    """The refusal of a private table that nothing ties to people."""
    unit = policy.unit
    return QueryRefused(
        "CEL-Q120", unit_table=unit.table, unit=unit.name, key=unit.key, table=table
    )
