"""The paths from a table to the person that its rows belong to, and the rows that have none.

One rule holds for all of them. A row belongs to the person whose key its foreign keys lead to:

- Where no key is reached (a NULL on the path, or a row that is missing on it), the row has
  no owner. Nothing bounds what such rows add, so they are left out of every answer.
- A key that is reached is one person, also where the table of the unit has no such row. All rows
  with this key are that person's: they come and go together in neighbouring databases, and caps
  bound them together. So they are counted, as those of other people.

What is said here is made of the policy alone. How many such rows there are is private; the curator
sees it in `celosia policy check --connect`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

from celosia.core.errors import QueryRefused
from celosia.core.messages import Message
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
    if _is_unit(table.name, policy):
        assert unit.key is not None
        # A person's own row is theirs alone, whomever it points to.
        yield unit.key, ()
        return
    for word in unit.columns_of(table.name):
        held = table.column(word)
        yield held.name if held else word, ()
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
    """Refuse caps that let one person push rows of others in or out, see `emission.caps`."""
    if policy.unit.is_row:
        return
    firsts = {first.lower() for first, _ in key_paths(table, policy=policy)}
    for column in table.columns:
        if column.most is None or column.unique or {column.name.lower()} == firsts:
            continue
        if len(firsts) > 1 and column.name.lower() in firsts:
            raise QueryRefused(
                "CEL-Q120.cap_of_several_paths",
                unit=policy.unit.name,
                table=table.name,
                column=column.name,
                columns=sorted(firsts),
            )
        raise QueryRefused(
            "CEL-Q120.cap", unit=policy.unit.name, table=table.name, column=column.name
        )


def no_path(table: str, policy: Policy) -> QueryRefused:
    """The refusal of a private table that nothing ties to people."""
    unit = policy.unit
    if unit.columns:
        return QueryRefused("CEL-Q120.nobody_by_columns", unit=unit.name, table=table)
    return QueryRefused(
        "CEL-Q120.nobody", unit_table=unit.table, unit=unit.name, key=unit.key, table=table
    )


@dataclass(frozen=True, slots=True)
class OwnerPath:
    """A path from the rows of a table to the key of a person, column by column."""

    table: str
    links: tuple[tuple[str, str], ...]
    """Tables and columns that hold keys, the first of the table itself, the last of the person."""
    targets: tuple[tuple[str, str], ...]
    """Where each of them points to, as table and unique column; the last one to the unit, unless
    the last table is that of the unit, or no table lists the people."""

    @property
    def column(self) -> str:
        """The column of the table with which the path begins."""
        return self.links[0][1]

    @property
    def ends_at_key(self) -> bool:
        """Whether the last link is a foreign key, whose person may be missing in the unit table."""
        return len(self.targets) == len(self.links)


def owner_paths(table: TablePolicy, policy: Policy) -> tuple[OwnerPath, ...]:
    """All paths from a private table to the person that its rows belong to."""
    return tuple(
        _owner_path(table, first, steps, policy) for first, steps in key_paths(table, policy=policy)
    )


def _owner_path(table: TablePolicy, first: str, steps: PathSteps, policy: Policy) -> OwnerPath:
    links, targets = [(table.name, first)], []
    for parent, key, following in steps:
        targets.append((parent, key))
        links.append((parent, following))
    unit = policy.unit
    if unit.table is not None and unit.key is not None and not _is_unit(links[-1][0], policy):
        targets.append((unit.table, unit.key))
    return OwnerPath(table.name, tuple(links), tuple(targets))


def ownerless_notes(names: Iterable[str], policy: Policy) -> tuple[Message, ...]:
    """What happens to rows without an owner in an answer about some tables, a sentence each.

    Nothing is said of tables whose policy refuses such rows, nor of the unit's own table, whose key
    identifies people.
    """
    found: dict[Message, None] = {}
    for name in names:
        table = policy.table(name)
        if table is None or table.public or policy.refuses_ownerless(table):
            continue
        found.update(dict.fromkeys(_notes(table, policy)))
    return tuple(found)


def _notes(table: TablePolicy, policy: Policy) -> Iterator[Message]:
    unit = policy.unit
    for path in owner_paths(table, policy):
        if unit.is_row:
            yield Message("queries.ownership.null_key", table=table.name, column=path.column)
        elif not _is_unit(table.name, policy):
            gaps = reduce(_either_gap, _gaps(path, policy))
            yield Message("queries.ownership.no_owner", table=table.name, unit=unit.name, gaps=gaps)
        if path.ends_at_key and not unit.is_row:
            holder, column = path.links[-1]
            yield Message(
                "queries.ownership.missing_owner",
                column=f"{holder}.{column}",
                table=unit.table,
                unit=unit.name,
            )


def _either_gap(first: Message, second: Message) -> Message:
    return Message("queries.ownership.either_gap", first=first, second=second)


def _gaps(path: OwnerPath, policy: Policy) -> Iterator[Message]:
    """Where the path may end before a key is reached."""
    for place, (holder, column) in enumerate(path.links):
        name = f"{holder}.{column}"
        if place + 1 < len(path.links):
            target = path.targets[place][0]
            yield Message("queries.ownership.null_or_missing", column=name, table=target)
        elif path.ends_at_key or not place or not _is_unit(holder, policy):
            # Else it is the key that the unit's own table holds.
            yield Message("queries.ownership.null", column=name)


def _is_unit(table: str, policy: Policy) -> bool:
    return policy.unit.table is not None and table.lower() == policy.unit.table.lower()
