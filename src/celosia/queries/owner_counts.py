"""Counts of rows without an owner; private, for the curator only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from celosia.core.errors import InputError
from celosia.queries.catalogue import EnforcedConstraints, Executor, read_foreign_keys
from celosia.queries.emission.target import as_alias, column, identifier
from celosia.queries.ownership.ownerless import OwnerPath, owner_paths
from celosia.queries.policy.database_schema import DatabaseColumns
from celosia.queries.policy.values import Policy, TablePolicy
from celosia.queries.text_casts import make_text_cast

if TYPE_CHECKING:
    from celosia.engines import SqlEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerCounts:
    """Counts of a table's rows with and without an owner, along one path to the unit.

    The numbers are exact and private: they are for the curator.
    """

    table: str
    column: str
    """The column with which the way to the unit begins."""
    rows: int
    without_owner: int
    """Rows that lead to no key of a person: left out of every answer."""
    owner_missing: int
    """Rows whose person is missing in the table of the unit: counted, as that person's."""

    @property
    def is_complete(self) -> bool:
        """Whether each row leads to a person that the table of the unit holds."""
        return not self.without_owner and not self.owner_missing

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "table": self.table,
            "column": self.column,
            "rows": self.rows,
            "without_owner": self.without_owner,
            "owner_missing": self.owner_missing,
        }


def count_owners(
    policy: Policy, engine: SqlEngine, *, types: DatabaseColumns, timeout: float
) -> tuple[OwnerCounts, ...]:
    """The counts of all private tables, in one state of the rows; for the curator only.

    Unique columns must have been checked before: each row then has one way along the joins.
    """
    if policy.unit.is_row or policy.graph is not None:
        return ()
    cast = make_text_cast(policy, types)
    with engine.snapshot(timeout=timeout) as read:
        return tuple(
            _counts(path, lambda query: read(cast(query)))
            for table in policy.tables
            if not table.public
            for path in owner_paths(table, policy)
        )


def check_owners(
    policy: Policy, engine: SqlEngine, *, types: DatabaseColumns, timeout: float
) -> None:
    """Refuse rows without an owner, where the policy says so; for the curator only.

    Raises:
        InputError: CEL-Q304.
    """
    if not any(map(policy.refuses_ownerless, policy.tables)):
        return
    cast = make_text_cast(policy, types)
    with engine.snapshot(timeout=timeout) as read:
        check_owners_of_tables(
            policy, policy.tables, lambda query: read(cast(query)), dialect=engine.dialect
        )


def check_owners_of_tables(
    policy: Policy, tables: Iterable[TablePolicy], execute: Executor, *, dialect: str
) -> None:
    """Check some tables only, in one state of the data.

    What the server enforces by foreign keys and NOT NULL is believed, and costs nothing.

    Raises:
        InputError: CEL-Q304.
    """
    wanted = [table for table in tables if policy.refuses_ownerless(table)]
    if not wanted:
        return
    enforced = read_foreign_keys(execute, dialect)
    for table in wanted:
        for path in owner_paths(table, policy):
            if not _is_enforced(path, enforced):
                refuse_ownerless(policy, [_counts(path, execute)])


def refuse_ownerless(policy: Policy, counts: Iterable[OwnerCounts]) -> None:
    """Refuse rows without an owner that were counted, in tables whose policy says so.

    Raises:
        InputError: CEL-Q304.
    """
    for each in counts:
        table = policy.table(each.table)
        if each.is_complete or table is None or not policy.refuses_ownerless(table):
            continue
        unit = policy.unit
        raise InputError(
            "CEL-Q304",
            unit_name=unit.name,
            unit_table=unit.table,
            table=each.table,
            column=each.column,
        )


def _is_enforced(path: OwnerPath, enforced: EnforcedConstraints) -> bool:
    links = [(table.lower(), word.lower()) for table, word in path.links]
    targets = [(table.lower(), word.lower()) for table, word in path.targets]
    return enforced.filled.issuperset(links) and enforced.references.issuperset(
        (*link, *target) for link, target in zip(links, targets, strict=False)
    )


def _counts(path: OwnerPath, execute: Executor) -> OwnerCounts:
    """Follow the way by outer joins: a key that is not found is NULL."""
    source = exp.Select(
        from_=exp.From(this=_aliased(path.table, 0)),
        joins=[
            exp.Join(
                this=_aliased(table, place),
                side="LEFT",
                on=exp.EQ(
                    this=column(path.links[place - 1][1], _alias(place - 1)),
                    expression=column(key, _alias(place)),
                ),
            )
            for place, (table, key) in enumerate(path.targets, 1)
        ],
    )
    last = len(path.links) - 1
    reached = column(path.links[last][1], _alias(last))
    found = column(path.targets[last][1], _alias(last + 1)) if path.ends_at_key else reached
    query = source.select(
        as_alias(exp.Count(this=exp.Star()), "rows_all"),
        as_alias(exp.Count(this=reached.copy()), "rows_reached"),
        as_alias(exp.Count(this=found.copy()), "rows_found"),
    )
    ((rows, known, held),) = execute(query)
    return OwnerCounts(
        table=path.table,
        column=path.column,
        rows=int(rows),
        without_owner=int(rows) - int(known),
        owner_missing=int(known) - int(held),
    )


def _alias(place: int) -> str:
    return f"step_{place}"


def _aliased(table: str, place: int) -> exp.Table:
    return exp.Table(this=identifier(table), alias=exp.TableAlias(this=identifier(_alias(place))))
