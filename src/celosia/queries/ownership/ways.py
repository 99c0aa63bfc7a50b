"""The ways from a table to the person that its rows belong to, along declared foreign keys."""

from __future__ import annotations

from collections.abc import Iterator

from celosia.core.errors import QueryRefused
from celosia.queries.policy.values import Policy, TablePolicy

Steps = tuple[tuple[str, str, str], ...]
"""The way to a person: a table, its unique column that we have the value of, the next column."""


def ways(table: TablePolicy, *, policy: Policy) -> tuple[tuple[str, Steps], ...]:
    """All ways from a row of a table to the key of its person: the first column, then the steps.

    With a row as unit it is the way from the row to itself, by its first unique column.
    """
    if policy.unit.is_row:
        return tuple((each.name, ()) for each in table.columns if each.unique)[:1]
    return tuple(_ways(table, policy, frozenset()))


def _ways(table: TablePolicy, policy: Policy, seen: frozenset[str]) -> Iterator[tuple[str, Steps]]:
    unit = policy.unit
    assert unit.table is not None
    assert unit.key is not None
    if table.name.lower() == unit.table.lower():
        # A person's own row is theirs alone, whomever it points to.
        yield unit.key, ()
        return
    for column, target, key in table.references:
        parent = policy.table(target)
        if parent is None or parent.public or parent.name.lower() in seen | {table.name.lower()}:
            continue
        for following, steps in _ways(parent, policy, seen | {table.name.lower()}):
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
    firsts = {first.lower() for first, _ in ways(table, policy=policy)}
    for column in table.columns:
        if column.most is None or column.unique or {column.name.lower()} == firsts:
            continue
        raise QueryRefused(
            "CEL-Q123",
            f"the cap on {table.name}.{column.name} does not follow the {policy.unit.name}.",
            why="Rows of one person would push rows of others in or out, without a bound.",
            fix="Cap the column that leads to the owner instead, or take rows as the unit.",
            table=table.name,
            column=column.name,
        )


def no_way(table: str, policy: Policy) -> QueryRefused:
    """The refusal of a private table that nothing ties to people."""
    unit = policy.unit
    return QueryRefused(
        "CEL-Q120",
        f"no declared foreign key leads from the private table '{table}' to '{unit.table}'.",
        why=f"The {unit.name} that a row belongs to would be unknown.",
        fix=f"Declare in the policy which column of '{table}' references {unit.table}.{unit.key}, "
        f"or a table that leads there; or declare the table public.",
        table=table,
    )
