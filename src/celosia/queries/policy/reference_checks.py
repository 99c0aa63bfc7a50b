"""Checks of foreign keys: every private row leads to its person, and none leads in a circle."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from celosia.core.wording import did_you_mean
from celosia.queries.policy.problems import Problems
from celosia.queries.policy.values import ColumnPolicy, Policy, TablePolicy


def check_references(policy: Policy, problems: Problems) -> None:
    """Note references that point nowhere, turn in a circle, or leave a private table unowned."""
    sound = True
    for table in policy.tables:
        for reference in table.references:
            sound = _check_reference(policy, table, reference, problems) and sound
        columns = [column.lower() for column, _, _ in table.references]
        if len(set(columns)) < len(columns):
            sound = False
            problems.add("CEL-Q009.check_references", table_name=table.name)
    if sound and _check_circles(policy, problems):
        _check_paths(policy, problems)


def _check_reference(
    policy: Policy, table: TablePolicy, reference: tuple[str, str, str], problems: Problems
) -> bool:
    name, target_name, key_name = reference
    target = policy.table(target_name)
    column, key = table.column(name), None if target is None else target.column(key_name)
    if column is None:
        what, why, fix = _unknown_name("starts at a column", name, table.columns)
    elif target is None:
        what, why, fix = _unknown_name("points to a table", target_name, policy.tables)
    elif key is None:
        what, why, fix = _unknown_name("points to a column", key_name, target.columns)
    elif not key.unique:
        what = "points to a column that is not unique"
        why = "A row would lead to several persons, and its own would be unknown."
        fix = "Declare the column unique = true if the database enforces it."
    elif column.type != key.type:
        what = f"joins a column of type {column.type} to one of type {key.type}"
        why = "Values that never meet would leave rows without their person."
        fix = "Correct the types."
    elif table.public and not target.public:
        what = "leads from a public table to a private one"
        why = "A public table must not depend on the people in the data."
        fix = "Declare the table private, or leave the reference out."
    else:
        return True
    written = f"the reference of {table.name}.{name} to {target_name}.{key_name}"
    problems.add("CEL-Q009", f"{written} {what}.", why=why, fix=fix)
    return False


def _unknown_name(
    what: str, name: str, known: Iterable[TablePolicy | ColumnPolicy]
) -> tuple[str, str, str]:
    near = did_you_mean(name, [each.name for each in known])
    return (
        f"{what} that is not declared{near}",
        "Only what is declared can be used.",
        "Declare it, or correct its name.",
    )


def _check_circles(policy: Policy, problems: Problems) -> bool:
    graph = {
        table.name.lower(): {target.lower() for _, target, _ in table.references}
        for table in policy.tables
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        problems.add("CEL-Q012", circle=circle)
        return False
    return True


def _check_paths(policy: Policy, problems: Problems) -> None:
    unit = policy.unit
    if unit.table is None or policy.table(unit.table) is None:
        return
    owned = {unit.table.lower()}
    grown = True
    while grown:  # at most once for each table
        more = {
            table.name.lower()
            for table in policy.tables
            if any(target.lower() in owned for _, target, _ in table.references)
        }
        grown = not more <= owned
        owned |= more
    for table in policy.tables:
        if not table.public and table.name.lower() not in owned:
            problems.add(
                "CEL-Q011",
                table_name=table.name,
                table=unit.table,
                unit_name=unit.name,
                key=unit.key,
            )
